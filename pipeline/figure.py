"""Draw a figure: python -m pipeline.figure NAME --row ... --out DIR.

Writes NAME.pdf, NAME.png, the plotted numbers as CSV, motions as SVG that play in a
browser, and for each of them the keys of the runs behind it as .trace.json.
"""

import importlib
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import repeat
from pathlib import Path
from typing import Any

from matplotlib import rc_context
from matplotlib.figure import Figure

from analysis.figures.style import RC
from pipeline.arguments import OneLineParser
from pipeline.errors import InputError, command
from pipeline.figures.names import figure_names, module_of
from pipeline.figures.shown import Drawn, Row
from pipeline.files import replacing, write_text
from pipeline.plan_file import needed_keys
from pipeline.provenance.sidecar import Origin, origin_text, write_sidecars

PNG_DPI = 250
NOWHERE = Origin()


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
    draw: Callable[[Sequence[Row]], Drawn] = importlib.import_module(
        module_of(config.figure)
    ).draw
    drawn = draw(rows)
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
    write_sidecars(files, origin)
    return {"figure": config.figure, "rows": len(rows), "shows": " ".join(drawn.keys)}


def save(figure: Figure, stem: Path, origin: Origin) -> list[Path]:
    """Write STEM.pdf and STEM.png, their origin in their metadata; return both."""
    made = {"Title": stem.name, "Creator": "morphtrack"}
    pdf = made | {"Keywords": origin_text(origin), "CreationDate": None}
    png = made | {"Description": origin_text(origin), "Software": "morphtrack"}
    files = [stem.with_name(f"{stem.name}{suffix}") for suffix in (".pdf", ".png")]
    for path, metadata in zip(files, (pdf, png), strict=True):
        with rc_context(RC), replacing(path) as temporary:
            figure.savefig(
                temporary,
                format=path.suffix[1:],
                metadata=metadata,
                facecolor="white",
                dpi=PNG_DPI,
            )
    return files


def perform_figure(job: Any, needs: Mapping[str, Any], out: Path) -> dict[str, Any]:
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


def _rows(given: Sequence[Sequence[str]]) -> list[Row]:
    for words in given:
        if len(words) not in (2, 4):
            raise InputError(
                f"--row {' '.join(words)} has {len(words)} words: "
                "give LABEL SIMULATED, or LABEL SIMULATED COMPARISON INGEST"
            )
    return [Row(label, *map(Path, folders)) for label, *folders in given]


@command
def main(argv: list[str] | None = None) -> int:
    """Draw one figure from the folders of finished runs."""
    parser = OneLineParser(prog="python -m pipeline.figure", description=__doc__)
    parser.add_argument("figure", help=f"one of {', '.join(figure_names())}")
    parser.add_argument(
        "--row",
        nargs="+",
        action="append",
        required=True,
        metavar="LABEL SIMULATED",
        help="a name, the folder of a simulation and, where the figure shows scans, "
        "those of the comparison and of the ingest; once for each row",
    )
    parser.add_argument("--out", type=Path, required=True, help="folder to write into")
    given = parser.parse_args(argv)
    rows = _rows(given.row)
    run_step(FigureConfig(given.figure, tuple(r.label for r in rows)), rows, given.out)
    print(f"wrote {given.out / given.figure}.pdf, .png and its numbers as CSV")
    return 0


if __name__ == "__main__":
    sys.exit(main())
