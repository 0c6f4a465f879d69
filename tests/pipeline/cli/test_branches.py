"""The command and the cases that follow branches."""

import json

import numpy as np
import pytest

from pipeline.cases.branches_and_snaps import BranchCase
from pipeline.cli.app import called
from pipeline.io.structure_file import structure_file
from sim.mechanism.bifurcations import CrossingKind
from tests.helpers.tables import rows_of
from tests.recorded import recorded

FLAT = "conf/structure/flat_four_bar.json"
BARS = ["case=four_bar_branches"]
START, REST = ["--branches", "start"], ["--branches", "rest"]


def test_the_flat_four_bar_has_exactly_two_branches(tmp_path, capsys):
    words = ["case=four_bar_branches", "case.steps_each_way=20", *START]
    assert called(["mobility", *words, "--out", str(tmp_path)]) == 0
    assert "2 branches of dimension 1 meet" in capsys.readouterr().out
    result = json.loads((tmp_path / "run.json").read_text())["result"]
    assert result["branches"] == 2
    assert result["null_space"] == 2
    rows = rows_of(tmp_path / "branches.csv")
    ways = [(row["branch"], row["way"]) for row in rows]
    assert ways == [("0", "1"), ("0", "-1"), ("1", "1"), ("1", "-1")]
    assert all(row["mobility"] == "1" for row in rows)
    S = [float(row["S"]) for row in rows]
    assert S[:2] != pytest.approx(S[2:], abs=1e-3)
    r = np.load(tmp_path / "steps.npz")["r"]
    assert r.shape == (81, 4, 3)
    assert len((tmp_path / "steps.csv").read_text().splitlines()) == 82


def test_a_pressed_strut_ends_on_either_side(tmp_path, capsys):
    words = ["case=toggle_branches", *START, "--out", str(tmp_path)]
    assert called(["mobility", *words]) == 0
    assert "a saddle: E falls along 1 motion, both ways" in capsys.readouterr().out
    ends = np.load(tmp_path / "steps.npz")["r"]
    way = np.array([int(row["way"]) for row in rows_of(tmp_path / "steps.csv")])
    heights = [ends[way == side][-1, 1, 1] for side in (1, -1)]
    assert heights == pytest.approx([0.6614378, -0.6614378], abs=1e-6)
    assert max(float(row["E"]) for row in rows_of(tmp_path / "branches.csv")) < 1e-8


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (
            ["case=pentapod", *START],
            "regular: one smooth set of configurations, dimension 1",
        ),
        (["case=triangles_ellipsoid", *REST], "a minimum: no motion lowers E"),
    ],
)
def test_morphs_are_told_where_they_begin_and_where_they_rest(
    words, said, tmp_path, capsys
):
    assert called(["mobility", *words, "--out", str(tmp_path)]) == 0
    assert said in capsys.readouterr().out
    assert not (tmp_path / "branches.csv").exists() or not rows_of(
        tmp_path / "branches.csv"
    )


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["case=star_robot", *START], "no constraints that could branch"),
        ([*BARS, "case.seed=-1", *START], "seed must be a whole number"),
        ([*BARS, *REST], "--branches rest needs a morphing case"),
        ([*BARS, "case=toggle_branches", *START], "two cases are named"),
        (
            ["case=triangles_cylinder", "case.structure.rows=15",
             "case.structure.columns=15", "case.structure.variation=0", *START],
            "unknowns, but at most 3000 are supported",
        ),
    ],
)  # fmt: skip
def test_what_cannot_branch_is_refused(words, said, tmp_path, refused):
    out = tmp_path / "out"
    assert said in refused("mobility", *words, "--out", str(out))
    assert not out.exists()


def test_a_file_is_no_folder_to_write_into(tmp_path, refused):
    file = tmp_path / "notes.txt"
    file.write_text("mine")
    assert "notes.txt is a file, not a folder" in refused(
        "mobility", "case=four_bar_branches", "--out", str(file)
    )
    assert file.read_text() == "mine"


def test_tangents_of_a_run_are_kept_with_it():
    case = BranchCase(structure=structure_file(FLAT), steps_each_way=2)
    _, recorder = recorded(case)
    assert case.crossing.kind is CrossingKind.BRANCHES
    assert recorder.fixed_arrays()["directions"].shape == (2, 4, 3)
    assert recorder.summary()["configuration"] == "branches"
