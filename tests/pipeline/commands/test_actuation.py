"""Cases of actuation, their command and their figure."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

from pipeline.cases.actuation import ActuationCase
from pipeline.cases.driven_paths import DrivenFourBar, DrivenMorph
from pipeline.cases.morph import MorphCase
from pipeline.commands.actuation import main
from pipeline.figures.actuation import draw
from pipeline.results.shown import Row
from pipeline.terminal.errors import InputError
from sim.morph.library.linkages import FourBar
from sim.morph.library.sheets import triangle_sheet
from sim.morph.mobility.units import rescaled
from sim.morph.morphing.reactions import reactions
from sim.morph.targets.goals import Goals
from tests.helpers.tables import rows_of
from tests.pipeline.conftest import ROOT
from tests.recorded import table
from tests.sim.morph.linkages import dead_centres

BACKWARD = [0.5, -2.0, 1.5]  # slope at the last of three, to second order


@pytest.fixture(autouse=True)
def at_home(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)


def run(out: Path, *words: str) -> tuple[list[dict[str, str]], dict[str, Any]]:
    assert main([*words, "--out", str(out)]) == 0
    rows = rows_of(out / "actuation.csv")
    return rows, dict(json.loads((out / "run.json").read_text())["result"])


def test_four_bar_names_the_joint_that_is_placed_best(tmp_path: Path) -> None:
    rows, result = run(tmp_path, "case=drive_four_bar", "case.path.increments=36")
    assert (result["motions"], result["driven"], result["held"]) == (1, 1, "yes")
    gain = [float(row["gain"]) for row in rows]
    chosen = [int(row["chosen"]) for row in rows]
    assert chosen == [int(g == max(gain)) for g in gain]
    assert_allclose(float(rows[0]["stroke"]), 2.0 * np.pi)


@pytest.mark.parametrize("unit", [1.0, 10.0, 0.1])
def test_the_moment_of_a_joint_is_the_slope_of_the_loads_work(unit: float) -> None:
    bar = FourBar(2.0 * unit, 0.8 * unit, 2.2 * unit, 1.6 * unit)
    judged = table(ActuationCase(DrivenFourBar(bar, increments=8)), "actuation.csv")
    case = ActuationCase(DrivenFourBar(bar, increments=360))
    (row,) = [row for row in judged if row["chosen"]]
    ends = list(case.path.configurations())[-3:]
    driven = case.path.names.index(str(row["coordinate"]))
    height = np.dot(BACKWARD, [end.r[:, 1].sum() for end in ends])
    turn = np.dot(BACKWARD, [end.values[driven] for end in ends])
    assert_allclose(row["effort"], height / turn, rtol=1e-3)


@pytest.mark.parametrize("unit", [1.0, 10.0])
def test_the_force_of_a_driven_link_is_what_its_multiplier_says(unit: float) -> None:
    sheet = rescaled(triangle_sheet(1, 1, variation=0.1), 1.0 / unit)
    goals = 1.1 * sheet.r0 + 0.2 * unit * np.sin(sheet.r0[:, [1, 2, 0]] / unit)
    morph = MorphCase(sheet, Goals(goals), method="newton", tolerance=1e-11)
    *_, end = morph.steps()
    tension = reactions(sheet, end.state, end.g).tension
    struts = [body for body in sheet.bodies if len(body) == 2]
    judged = table(ActuationCase(DrivenMorph(morph, struts)), "actuation.csv")
    links = sheet.constraints.nodes[:, :2].tolist()
    names = {f"length({a}, {b})": tension[k] for k, (a, b) in enumerate(links)}
    rows = [row for row in judged if row["chosen"]]
    assert len(rows) == 6
    pulled = [-float(row["effort"]) for row in rows]
    exact = [names[str(row["coordinate"])] for row in rows]
    assert np.abs(exact).max() > 0.01 * unit
    assert_allclose(pulled, exact, atol=1e-8 * unit)


def test_two_bars_have_the_barrier_of_the_closed_form(tmp_path: Path) -> None:
    rows, result = run(tmp_path, "case=snap_two_bars")
    barrier = 50.0 * (np.hypot(1.0, 0.3) - 1.0) ** 2
    assert_allclose(result["barrier"], barrier, rtol=1e-9)
    assert [row["stable"] for row in rows] == ["1", "0", "1"]
    assert_allclose(float(rows[0]["barrier_onward"]), barrier, rtol=1e-9)


def test_barrier_of_a_pyramid_is_the_work_of_its_driver(tmp_path: Path) -> None:
    rows, result = run(tmp_path, "case=snap_pyramid")
    assert [row["stable"] for row in rows] == ["1", "0", "1"]
    steps = rows_of(tmp_path / "steps.csv")
    moved, force = (np.array([float(s[k]) for s in steps]) for k in ("moved", "force"))
    top = int(np.argmin(np.abs(moved - float(rows[1]["moved"]))))
    work = np.trapezoid(force[: top + 1], moved[: top + 1])
    assert_allclose(result["barrier"], work, rtol=5e-3)
    # its creases are soft beside its panels: the other state is the mirrored one
    assert_allclose(float(rows[2]["moved"]), -0.008, rtol=1e-2)
    assert float(rows[2]["energy"]) < 0.01 * result["barrier"]


def test_pyramid_pushed_by_more_than_its_apex_is_refused(
    capsys: pytest.CaptureFixture[str],
) -> None:
    asked = "case.of.phases.0.force=[0,0.1,-1]"
    assert main(["case=snap_pyramid", asked]) == 2
    assert "let it act on node 0 alone, along z" in capsys.readouterr().err


def test_one_crease_drives_a_simulated_miura_sheet(tmp_path: Path) -> None:
    size = ["case.path.of.pattern.rows=3", "case.path.of.pattern.columns=3"]
    held = "case.path.of.supports=[[0,1,1,1],[1,0,1,1],[4,0,0,1]]"
    rows, result = run(tmp_path, "case=drive_miura", *size, held)
    assert (result["motions"], result["driven"]) == (1, 1)
    (driver,) = [row for row in rows if row["chosen"] == "1"]
    # creases that are flat at rest resist: the driver pushes on, the way it went
    assert float(driver["effort"]) * float(driver["end"]) > 0.0
    # the driver carries the moments of all creases at their common rate
    assert all(float(row["condition_alone"]) < 10.0 for row in rows)


def test_morph_tells_the_drivers_among_its_struts(tmp_path: Path) -> None:
    rows, result = run(tmp_path, "case=drive_pentapod", "case.path.of.tolerance=1e-3")
    assert (result["motions"], result["driven"]) == (1, 1)
    assert [row["coordinate"] for row in rows if row["chosen"] == "1"] == [
        "length(0, 7)"
    ]


FIVE_BAR = {
    "nodes": [[0, 0, 0], [-0.5, 1, 0], [0.8, 2.1, 0], [2.2, 1.1, 0], [2, 0, 0]],
    "links": [[0, 1], [1, 2], [2, 3], [3, 4]],
    "fixed": [0, 4],
    "planar": "z",
    "leading": [2],
    "goals": [[1.2, 1.6, 0.0]],
}


def test_five_bar_is_driven_at_two_of_its_joints(tmp_path: Path) -> None:
    (tmp_path / "bars.json").write_text(json.dumps(FIVE_BAR))
    given = f"case.structure.path={tmp_path}/bars.json"
    rows, result = run(tmp_path, "case=structure_file", given)
    assert (result["motions"], result["driven"], result["held"]) == (2, 2, "yes")
    names = ["(4, 0, 1)", "(0, 1, 2)", "(1, 2, 3)", "(2, 3, 4)", "(0, 4, 3)"]
    assert {row["coordinate"] for row in rows} == {f"angle{name}" for name in names}
    drivers = [row for row in rows if row["chosen"] == "1"]
    assert len(drivers) == 2
    assert all(abs(float(row["stroke"])) > 0.05 for row in drivers)


def test_nothing_to_drive_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    one = {"nodes": [[0, 0, 0], [1, 0, 0]], "links": [[0, 1]], "leading": [1]}
    one["goals"] = [[0.0, 1.0, 0.0]]
    (tmp_path / "bar.json").write_text(json.dumps(one))
    given = f"case.structure.path={tmp_path}/bar.json"
    assert main(["case=structure_file", given, "--out", str(tmp_path)]) == 2
    assert "no two bodies share a node: give lengths" in capsys.readouterr().err


def test_what_cannot_be_driven_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["case=star_robot", "--out", str(tmp_path)]) == 2
    assert "nothing here tells what may be driven" in capsys.readouterr().err
    assert main(["case=drive_pentapod", "case.path.lengths=[[0,99]]"]) == 2
    assert "length(0, 99) cannot be driven" in capsys.readouterr().err
    assert main(["case=drive_four_bar", "case.path.linkage.crank=1.9"]) == 2
    assert "does not turn all around" in capsys.readouterr().err
    assert main(["case=single_fold"]) == 2
    assert "set compliant to false" in capsys.readouterr().err


def test_figure_marks_dead_centres_rests_and_the_driver(tmp_path: Path) -> None:
    run(tmp_path / "a", "case=drive_four_bar")
    run(tmp_path / "b", "case=snap_two_bars")
    run(tmp_path / "c", "case=drive_miura")
    rows = [Row(name, tmp_path / name) for name in "abc"]
    drawn = draw(rows)
    joints = drawn.tables["joints"]
    worst = joints.loc[joints["condition_3"].idxmax(), "along"]
    dead = np.array(dead_centres(FourBar()))
    assert np.abs(worst - dead).min() < np.radians(2.0)
    assert (drawn.tables["creases"]["chosen"] == 1).sum() == 1
    with pytest.raises(InputError, match="3 runs, not 1"):
        draw(rows[:1])
    with pytest.raises(InputError, match="no column condition_3"):
        draw(rows[::-1])
