"""The figures: what each shows and reads, and the template of its caption.

Each is a file captions/NAME.md. Above its template stand the module of analysis.figures
with the function draw_NAME, and what it asks of the runs that it shows.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from pipeline.config.config_files import CONF
from pipeline.terminal import natural, no_such

CAPTIONS = Path(__file__).with_name("captions")
SETS = CONF / "measured"
OF_SET = "measured-"  # what the figure of a measured set is called before its name


@dataclass(frozen=True)
class Entry:
    """A figure.

    Parameters
    ----------
    module : of analysis.figures
    shows : what a list of figures says of it
    template : of the caption
    rows : the runs that it shows, if these are certain ones; else any number
    needs : what a run must have, such as steps.npz:r, an array, or parts.csv, with
        blanks between; one text for each of the rows, or for all
    remedy : for runs that lack it
    """

    module: str
    shows: str
    template: str
    rows: Sequence[str] = ()
    needs: Sequence[str] = ()
    remedy: str = "give a finished run of a case that writes this file"


def figure_names() -> list[str]:
    """The figures of the folder captions, and one of each measured set."""
    own = {path.stem for path in CAPTIONS.glob("*.md")} - {OF_SET.strip("-")}
    sets = sorted(f"{OF_SET}{path.stem}" for path in SETS.glob("*.yaml"))
    return [*sorted(own, key=natural), *sets]


def _file(figure: str) -> Path:
    name = OF_SET.strip("-") if figure.startswith(OF_SET) else figure
    return CAPTIONS / f"{name}.md"


def entry_of(figure: str) -> Entry:
    """A figure by its name."""
    if figure not in figure_names():
        raise no_such("unknown figure", figure, figure_names())
    return _read(_file(figure))


@cache
def _read(path: Path) -> Entry:
    _, head, template = path.read_text(encoding="utf-8").split("---\n", 2)
    return Entry(template=template, **yaml.safe_load(head))


def module_of(figure: str) -> str:
    """The module that draws `figure`."""
    return f"analysis.figures.{entry_of(figure).module}"


def figure_config(
    figure: str, labels: Sequence[str], style: Mapping[str, Any]
) -> dict[str, Any]:
    """The configuration of the step that draws a figure; of its caption a digest."""
    from pipeline.runs.run_keys import file_digest  # numpy is slow to import

    entry_of(figure)
    caption = file_digest(_file(figure))[:16]
    return {"figure": figure, "labels": tuple(labels), "caption": caption, **style}
