"""A figure drawn from finished runs, with the keys of the runs behind each file."""

import importlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import repeat
from pathlib import Path
from typing import Any

from pipeline.results.caption_facts import caption_of
from pipeline.results.saved_figure import NOWHERE, save, write_caption
from pipeline.results.shown import DrawnFigure, Row
from pipeline.steps.figure_names import module_of
from pipeline.store.files import replacing, write_text
from pipeline.store.plan_file import needed_keys
from pipeline.store.provenance.sidecar import Origin, write_sidecars
from pipeline.store.runs import Job, Needs, Numbers
from pipeline.terminal.errors import InputError


@dataclass(frozen=True)
class FigureConfig:
    """Which figure, and what its rows are called.

    Parameters
    ----------
    figure : its name, such as dejong-3
    labels : one for each row
    """

    figure: str
    labels: tuple[str, ...]

    def __post_init__(self) -> None:
        module_of(self.figure)
        if len(set(self.labels)) != len(self.labels):
            twice = next(x for x in self.labels if self.labels.count(x) > 1)
            raise InputError(
                f"two rows of {self.figure} are called {twice!r}: rename one"
            )


def run_step(
    config: FigureConfig, rows: Sequence[Row], out: Path, origin: Origin = NOWHERE
) -> dict[str, Any]:
    """Draw the figure from finished runs into `out`.

    Parameters
    ----------
    origin : the run that draws, and those it reads; the figure may name more

    Returns
    -------
    the files written and the keys shown
    """
    module = importlib.import_module(module_of(config.figure))
    draw: Callable[[Sequence[Row]], DrawnFigure] = module.draw
    drawn = draw(rows)
    caption = caption_of(config.figure, module.CAPTION, rows, drawn.said)
    out.mkdir(parents=True, exist_ok=True)
    keys = tuple(dict.fromkeys([*drawn.keys, *origin.keys]))
    origin = replace(origin, keys=tuple(key for key in keys if key))
    files = save(drawn.figure, out / config.figure, origin)
    for name, table in drawn.tables.items():
        path = out / f"{config.figure}-{name}.csv"
        with replacing(path) as temporary:
            table.to_csv(temporary, index=False, lineterminator="\n")
        files.append(path)
    for name, text in drawn.moving.items():
        path = out / f"{config.figure}-{name}.svg"
        write_text(path, text)
        files.append(path)
    files += write_caption(caption, out, origin)
    write_sidecars(files, origin)
    return {"figure": config.figure, "rows": len(rows), "shows": " ".join(drawn.keys)}


def perform(job: Job, needs: Needs, out: Path) -> Numbers:
    """Draw the figure of a planned job."""
    config = FigureConfig(str(job.config["figure"]), tuple(job.config["labels"]))
    nothing = repeat(None)
    rows = [
        Row(*row)
        for row in zip(
            config.labels,
            needs["simulated"],
            needs.get("comparisons") or nothing,
            needs.get("spheres") or nothing,
            strict=False,
        )
    ]
    return run_step(config, rows, out, Origin(tuple(needed_keys(job)), run=job.key))
