"""A figure of finished runs: files, caption, and the keys of the runs."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import repeat
from pathlib import Path
from typing import Any

import pandas as pd
from matplotlib.figure import Figure
from PIL import Image

from analysis.comparison.error_sources import STOP
from analysis.figures import style
from analysis.figures.captions import LATEX, filled, listed, written
from analysis.figures.figure_interface import DrawnFigure
from pipeline.figures.figure_names import entry_of
from pipeline.figures.read_runs import Row, draw
from pipeline.runs.atomic_files import replacing, write_table, write_text
from pipeline.runs.run_directory import (
    Job,
    Needs,
    Numbers,
    needed_keys,
    record_or_empty,
)
from pipeline.runs.sidecars import Origin, origin_text, write_sidecars
from pipeline.runs.step_jobs import is_synthetic_run
from pipeline.steps.settings import FigureConfig
from pipeline.terminal import InputError

PNG_DPI = 600
SMALLER = 3  # times: what a page embeds has 200 dots an inch
SMALL = "-small.png"  # what follows the name of a figure in that of its small picture
CAPTION_FILE = "caption.md"  # in the folder of a figure
NOWHERE = Origin()


def save(
    figure: Figure,
    stem: Path,
    origin: Origin,
    *,
    identity: bool = True,
    svg: bool = False,
) -> list[Path]:
    """Write STEM.pdf, STEM.png and, if asked, STEM.svg, with their origin.

    Parameters
    ----------
    identity : whether a line below the art names the runs
    """
    if not identity:
        style.hide_runs(figure)
    box = style.freeze_layout(figure)
    kinds = (".pdf", ".png", ".svg") if svg else (".pdf", ".png")
    files = [stem.with_name(f"{stem.name}{suffix}") for suffix in kinds]
    for path in files:
        with style.styled(), replacing(path) as temporary:
            figure.savefig(
                temporary,
                format=path.suffix[1:],
                metadata=_metadata(path, origin),
                facecolor="white",
                bbox_inches=box,
                dpi=PNG_DPI,
            )
    return files


def _metadata(path: Path, origin: Origin) -> dict[str, Any]:
    """Title and origin, by the keys that the kind of file has; no date."""
    made, text = {"Title": path.stem, "Creator": "morphtrack"}, origin_text(origin)
    if path.suffix == ".png":
        return made | {"Description": text, "Software": "morphtrack"}
    if path.suffix == ".svg":
        return made | {"Description": text, "Date": None}
    return made | {"Keywords": text, "CreationDate": None}


def write_small(stem: Path) -> None:
    """STEM-small.png, for pages: STEM.png a third as wide, in 256 colours."""
    small = stem.with_name(stem.name + SMALL)
    picture = stem.with_name(f"{stem.name}.png")
    with Image.open(picture) as whole, replacing(small) as temporary:
        few = whole.convert("RGB").reduce(SMALLER).quantize(256)
        few.save(temporary, format="PNG", optimize=True)


def write_caption(caption: str, out: Path, origin: Origin) -> list[Path]:
    """Write caption.md and caption.tex; a remark at their end names the runs by key.

    Parameters
    ----------
    caption : marked text (analysis.figures.captions)
    """
    made = origin_text(origin)
    texts = {
        CAPTION_FILE: f"{caption}\n\n<!-- {made} -->\n",
        "caption.tex": f"{written(caption, LATEX)}\n% {made}\n",
    }
    for name, text in texts.items():
        write_text(out / name, text)
    return [out / name for name in texts]


def caption_in(directory: Path) -> str:
    """The caption, marked text, of the figure in a folder; "" where it has none."""
    path = directory / CAPTION_FILE
    return path.read_text(encoding="utf-8").partition("\n")[0] if path.is_file() else ""


OF_STUDY = "="  # in the label of a row that a study gives: what varies, and its value
SYNTHETIC = "Synthetic data: computed by simulation, not measured"
COMPUTED = "All data are computed; none are measured."
TIMED = "Run times are measured; all other data are computed."


def caption_of(
    figure: str, template: str, rows: Sequence[Row], more: Mapping[str, Any]
) -> str:
    """The caption of a figure, as marked text (analysis.figures.captions).

    Parameters
    ----------
    more : what the module of the figure adds to `facts`
    """
    known = facts(rows)
    try:
        text = filled(template, {**known, **more})
    except (ValueError, TypeError, KeyError) as error:
        raise InputError(
            f"the caption of {figure} cannot be filled ({error}): use the runs listed "
            "for this figure in conf/workflow.yaml"
        ) from error
    return " ".join(filter(None, (text, known["nature"], known["named"])))


def facts(rows: Sequence[Row]) -> dict[str, Any]:
    """What every template may name.

    Returns
    -------
    rows : of each, `label`, `case` (its configuration), `result`, `compared` (its row
        of comparison.csv)
    nature : whether what is shown was measured, with the seeds of what was computed
    named : the runs by name
    """
    facts = [_row_facts(row) for row in rows]
    return {"rows": facts, "nature": _nature(facts), "named": _named(facts)}


def _row_facts(row: Row) -> dict[str, Any]:
    record = record_or_empty(row.simulated)
    compared: dict[str, Any] = {}
    if row.comparison is not None:
        # What the print and its errors add to u of the solver is in S_u_val, E_u_val.
        compared, budget = read_comparison(row.comparison)
        compared |= numerical_u(budget)
    config = record.get("config", {})
    return {
        "label": row.label,
        "case": config.get("case", config),
        "result": record.get("result", {}),
        "compared": compared,
        "study": record.get("tags", {}).get("study", ""),
        "measured": record.get("tags", {}).get("measured_set", ""),
        "synthetic": is_synthetic_run(record) or bool(compared.get("synthetic")),
        "seed": _seed(row.ingest),
    }


def read_comparison(directory: Path) -> tuple[dict[str, Any], list[dict[Any, Any]]]:
    """The row of comparison.csv, and the rows of budget.csv."""
    row, budget = (
        pd.read_csv(directory / name).to_dict("records")
        for name in ("comparison.csv", "budget.csv")
    )
    return {str(column): value for column, value in row[0].items()}, budget


def numerical_u(budget: Sequence[Mapping[Any, Any]]) -> dict[str, float]:
    """What a simulation that stops early leaves open of its S and of its E."""
    stop = next((line for line in budget if line["source"] == STOP), {})
    return {
        f"{name}_simulated_u": float(stop.get(f"{name}_u", float("nan")))
        for name in ("S", "E")
    }


def _seed(ingest: Path | None) -> int | None:
    """The seed of the virtual scan that an ingest read, where that run is at hand."""
    if ingest is None:
        return None
    scan = record_or_empty(ingest).get("needs", {}).get("scan")
    made = record_or_empty(ingest.resolve().parent / str(scan))
    return int(made["config"]["seed"]) if made else None


def _nature(rows: Sequence[Mapping[str, Any]]) -> str:
    if any(row["synthetic"] for row in rows):
        seeds = [row["seed"] for row in rows if row["seed"] is not None]
        word = "seed" if len(seeds) == 1 else "seeds"
        return f"{SYNTHETIC}{f' ({word} {listed(seeds)})' if seeds else ''}."
    if any("machine" in row["result"] for row in rows):
        return TIMED
    return "" if any(row["measured"] for row in rows) else COMPUTED


def _named(rows: Sequence[Mapping[str, Any]]) -> str:
    """The runs by their names, those of a study together."""
    own = [f"`{row['label']}`" for row in rows if OF_STUDY not in row["label"]]
    of_study = [row["study"] for row in rows if OF_STUDY in row["label"]]
    if of_study:
        own.append(f"the {len(of_study)} of the study `{of_study[0]}`")
    return f"Runs: {listed(own)}." if own else ""


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
    with style.page_width(config.width):
        plotted = draw(config.figure, rows)
        more = {"letters": style.letters_of(plotted.figure), **plotted.caption}
        template = entry_of(config.figure).template
        caption = caption_of(config.figure, template, rows, more)
        out.mkdir(parents=True, exist_ok=True)
        keys = tuple(dict.fromkeys([*plotted.keys, *origin.keys]))
        origin = replace(origin, keys=tuple(key for key in keys if key))
        how = {"identity": config.identity, "svg": config.svg}
        files = save(plotted.figure, out / config.figure, origin, **how)
    write_small(out / config.figure)
    files += _tables(plotted, out / config.figure)
    files += write_caption(caption, out, origin)
    write_sidecars(files, origin)
    return {
        "figure": config.figure,
        "rows": len(rows),
        "shows": " ".join(plotted.keys),
    }


def _tables(plotted: DrawnFigure, stem: Path) -> list[Path]:
    """Write the numbers plotted; the files."""
    files = []
    for name, table in plotted.tables.items():
        files.append(stem.with_name(f"{stem.name}-{name}.csv"))
        write_table(files[-1], table)
    return files


def rows_of(labels: Sequence[str], needs: Needs) -> list[Row]:
    """The rows of a figure: their labels, with the directories of what it reads."""
    nothing = repeat(None)
    compared = (needs.get(role) or nothing for role in ("comparisons", "spheres"))
    return [
        Row(*row) for row in zip(labels, needs["simulated"], *compared, strict=False)
    ]


def perform(job: Job, needs: Needs, out: Path) -> Numbers:
    """Draw the figure of a job."""
    config = FigureConfig(**{**job.config, "labels": tuple(job.config["labels"])})
    rows = rows_of(config.labels, needs)
    return run_step(config, rows, out, Origin(tuple(needed_keys(job)), run=job.key))
