"""A number changed in conf: what of a figure changes, and what stays to the byte.

A figure of each kind is drawn from runs of the shipped conf and of one with a single
number changed. Of several runs one holds it: tables of the others stay. Captions differ
in numbers alone, and only where a result or the number itself is told.
"""

import re
from dataclasses import dataclass
from pathlib import Path

import pytest
from PIL import Image

from pipeline.results import saved_figure
from pipeline.steps.figure import FigureConfig, run_step
from tests.pipeline.conftest import ROOT
from tests.pipeline.figure_runs import rows_of
from tests.pipeline.figures.test_captions import IDENTITY

CAPTIONS = {"caption.md", "caption.tex"}


@dataclass(frozen=True)
class Change:
    """One number of conf, and what follows from it in a figure.

    Parameters
    ----------
    file : of conf
    old, new : its text
    tables : of the figure, those that change
    words : of the caption that change: how many
    """

    file: str
    old: str
    new: str
    tables: str
    words: int


CHANGES = {
    "dejong-5": Change("case/bumps", "[1.8, 1.7, 0.0]", "[1.8, 1.6, 0.0]", "steps", 3),
    "branches": Change("case/toggle_branches", "-9", "-2", "ways", 1),
    "actuation": Change("case/snap_two_bars", "50.0", "60.0", "energy rests", 1),
    "mechanism-motion": Change(
        "case/slider_crank_motion", "360.0", "300.0", "slider_crank", 0
    ),
    "rod-motion": Change("case/own_rod", "times: [0.5]", "times: [0.7]", "shapes", 2),
    "zhu-filipov-8": Change("case/box", "[1.3, 1.3,", "[1.29, 1.29,", "energy", 3),
    "measured-nist_spheres": Change(
        "measured/nist_spheres", "aim: 0.2\n", "aim: 0.3\n", "verdicts", 0
    ),
}


def drawn(name: str, out: Path) -> dict[str, bytes]:
    """What a figure leaves, without what names keys."""
    rows = rows_of(name, out / "runs")
    labels = tuple(row.label for row in rows)
    run_step(FigureConfig(name, labels, identity=False), rows, out / name)
    found = {}
    for path in sorted((out / name).iterdir()):
        if path.suffix in (".md", ".tex", ".csv"):
            found[path.name] = IDENTITY.sub("", path.read_text()).encode()
    with Image.open(out / name / f"{name}.png") as picture:
        return found | {"picture": picture.tobytes()}


@pytest.mark.long
@pytest.mark.parametrize("name", CHANGES)
def test_one_number_changes_the_tables_the_words_and_the_picture_that_hold_it(
    name: str, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(saved_figure, "PNG_DPI", 100)
    (project / "data").symlink_to(ROOT / "data")
    of = CHANGES[name]
    before, again = (drawn(name, project / there) for there in ("before", "again"))
    assert before == again
    conf = project / "conf" / f"{of.file}.yaml"
    assert conf.read_text().count(of.old) == 1
    conf.write_text(conf.read_text().replace(of.old, of.new))
    after = drawn(name, project / "after")
    changed = {part for part in before if before[part] != after[part]}
    held = {f"{name}-{table}.csv" for table in of.tables.split()}
    held |= {"picture"} | (CAPTIONS if of.words else set())
    assert changed == held
    one, other = (each["caption.md"].decode().split() for each in (before, after))
    pairs = [pair for pair in zip(one, other, strict=True) if pair[0] != pair[1]]
    assert len(pairs) == of.words
    assert all(re.search(r"\d", word) for pair in pairs for word in pair)
