"""A figure drawn from finished runs, with the keys of the runs behind each file."""

import importlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import repeat
from pathlib import Path
from typing import Any

from analysis.figures.style import drawn_for, letters_of, page_of
from pipeline.results.caption_facts import caption_of
from pipeline.results.saved_figure import (
    NOWHERE,
    Saving,
    save,
    write_caption,
    write_small,
)
from pipeline.results.shown import DrawnFigure, Row
from pipeline.steps.figure_names import module_of
from pipeline.store.files import replacing
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
    width : mm of the page, or "slide": see analysis.figures.style.page_of
    identity, svg : see pipeline.results.saved_figure.Saving
    """

    figure: str
    labels: tuple[str, ...]
    width: int | str = 183
    identity: bool = True
    svg: bool = False

    def __post_init__(self) -> None:
        module_of(self.figure)
        try:
            page_of(self.width)
        except ValueError as error:
            raise InputError(str(error)) from error
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
    how many rows, and the keys shown
    """
    with drawn_for(config.width):
        drawn, caption = _with_caption(config.figure, rows)
        out.mkdir(parents=True, exist_ok=True)
        keys = tuple(dict.fromkeys([*drawn.keys, *origin.keys]))
        origin = replace(origin, keys=tuple(key for key in keys if key))
        saving = Saving(config.identity, config.svg)
        files = save(drawn.figure, out / config.figure, origin, saving)
    write_small(out / config.figure)
    files += _tables(drawn, out / config.figure)
    files += write_caption(caption, out, origin)
    write_sidecars(files, origin)
    return {
        "figure": config.figure,
        "rows": len(rows),
        "shows": " ".join(drawn.keys),
    }


def _with_caption(figure: str, rows: Sequence[Row]) -> tuple[DrawnFigure, str]:
    """A figure for the present page, and its caption."""
    module = importlib.import_module(module_of(figure))
    draw: Callable[[Sequence[Row]], DrawnFigure] = module.draw
    drawn = draw(rows)
    said = {"letters": letters_of(drawn.figure), **drawn.said}
    return drawn, caption_of(figure, module.CAPTION, rows, said)


def _tables(drawn: DrawnFigure, stem: Path) -> list[Path]:
    """Write the numbers plotted; the files."""
    files = []
    for name, table in drawn.tables.items():
        files.append(stem.with_name(f"{stem.name}-{name}.csv"))
        with replacing(files[-1]) as temporary:
            table.to_csv(temporary, index=False, lineterminator="\n")
    return files


def rows_of(labels: Sequence[str], needs: Needs) -> list[Row]:
    """The rows of a figure: their labels, with the directories of what it reads."""
    nothing = repeat(None)
    compared = (needs.get(role) or nothing for role in ("comparisons", "spheres"))
    return [
        Row(*row) for row in zip(labels, needs["simulated"], *compared, strict=False)
    ]


def perform(job: Job, needs: Needs, out: Path) -> Numbers:
    """Draw the figure of a planned job."""
    config = FigureConfig(**{**job.config, "labels": tuple(job.config["labels"])})
    rows = rows_of(config.labels, needs)
    return run_step(config, rows, out, Origin(tuple(needed_keys(job)), run=job.key))
