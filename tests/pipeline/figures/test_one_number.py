"""A number changed in conf: what of a figure changes, and what stays to the byte.

A figure of each kind is drawn from runs of the shipped conf and of one with a single
number changed. Of several runs one holds it: tables of the others stay. Captions differ
in numbers alone, and only where a result or the number itself is told.
"""

import io
import re
from dataclasses import dataclass
from pathlib import Path

import pandas as pd
import pytest
import yaml
from PIL import Image

from pipeline.steps import figure
from pipeline.steps.figure import run_step
from pipeline.steps.settings import FigureConfig
from tests.pipeline.conftest import ROOT, Command
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
    "mechanism-motion": Change(
        "case/slider_crank_motion", "360.0", "300.0", "slider_crank", 0
    ),
    "rod-motion": Change("case/own_rod", "times: [0.5]", "times: [0.7]", "shapes", 1),
    "zhu-filipov-8": Change("case/box", "[1.3, 1.3,", "[1.29, 1.29,", "energy", 3),
    "measured-nist_spheres": Change(
        "measured/nist_spheres", "aim: 0.2\n", "aim: 0.3\n", "verdicts", 0
    ),
}
WORKFLOW = {
    "style": {"identity": False},
    "shared": {"sphere_radius_mm": 6.0, "scale_mm": 40.0, "input_draws": 10},
    "comparisons": {
        name: {"case": f"triangles_{name}", "scan": {"virtual": {"seed": seed}}}
        for seed, name in enumerate(("circle", "cylinder"), start=1)
    },
    "figures": {
        "dejong-3": {"comparisons": ["circle", "cylinder"]},
        "chain": {"comparisons": ["cylinder"]},
    },
}


def drawn(name: str, out: Path) -> dict[str, bytes]:
    """What a figure leaves, without what names keys."""
    rows = rows_of(name, out / "runs")
    labels = tuple(row.label for row in rows)
    run_step(FigureConfig(name, labels, identity=False), rows, out / name)
    return left_in(out / name)


def left_in(folder: Path) -> dict[str, bytes]:
    """The files of a figure, without what names keys."""
    found = {}
    for path in sorted(folder.iterdir()):
        if path.suffix in (".md", ".tex", ".csv"):
            found[path.name] = IDENTITY.sub("", path.read_text()).encode()
    with Image.open(folder / f"{folder.name}.png") as picture:
        return found | {"picture": picture.tobytes()}


def made(command: Command, project: Path) -> dict[str, dict[str, bytes]]:
    """What `make` leaves of each figure."""
    done = command("make")
    assert done.returncode == 0, done.stdout + done.stderr
    return {
        name: left_in(project / "results" / "figure" / name)
        for name in WORKFLOW["figures"]
    }


@pytest.mark.slow
def test_a_number_of_one_comparison_leaves_the_figures_of_others_to_the_byte(
    command, project
):
    (project / "conf" / "workflow.yaml").write_text(yaml.safe_dump(WORKFLOW))
    before = made(command, project)
    case = project / "conf" / "case" / "triangles_circle.yaml"
    assert case.read_text().count("radius: 4.2") == 1
    case.write_text(case.read_text().replace("radius: 4.2", "radius: 4.3"))
    after = made(command, project)
    assert before["chain"] == after["chain"]
    one, other = before["dejong-3"], after["dejong-3"]
    steps, nodes = "dejong-3-steps.csv", "dejong-3-nodes.csv"
    changed = {part for part in one if one[part] != other[part]}
    assert changed == CAPTIONS | {steps, nodes, "picture"}
    for name in (steps, nodes):
        tables = [pd.read_csv(io.BytesIO(each[name])) for each in (one, other)]
        own = [t[t["case"] == "cylinder"].reset_index(drop=True) for t in tables]
        assert len(own[0]) > 0
        pd.testing.assert_frame_equal(*own, check_exact=True)
    words = [each["caption.md"].decode().split() for each in (one, other)]
    pairs = [pair for pair in zip(*words, strict=True) if pair[0] != pair[1]]
    assert pairs
    assert all(re.search(r"\d", word) for pair in pairs for word in pair)
    rest = [" ".join(w).partition("`cylinder`")[2] for w in words]
    assert rest[0] == rest[1]


@pytest.mark.long
@pytest.mark.parametrize("name", CHANGES)
def test_one_number_changes_the_tables_the_words_and_the_picture_that_hold_it(
    name, project, monkeypatch
):
    monkeypatch.setattr(figure, "PNG_DPI", 100)
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
