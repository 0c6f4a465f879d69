"""What [dJ23] says of its figures, beside the numbers that ours plot.

The figures plot the tables tested here.  The paper prints no number of Figs 2, 3 and 5,
and neither sizes nor scans are public: what can be checked is what its text and its
captions say.  One sentence does not come out and is asserted as it does: "The residual
error of the pentapod was relatively large", for ours reaches its target (its sizes and
its target are not printed).
"""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from analysis.figures.figure_interface import DrawnFigure
from pipeline.cases.morph import MorphCase
from pipeline.config.build_objects import build
from pipeline.config.hydra import Composer
from pipeline.figures.read_runs import Row, draw
from pipeline.steps.compare import run_step as compare
from pipeline.steps.settings import ComparisonSettings
from pipeline.steps.simulate import record_steps
from sim.mechanism.shape_measures import characteristic_length
from tests.analysis.mechanisms import Scan, scanned
from tests.pipeline.comparison_files import write_ingest
from tests.recorded import summary

TOLERANCE = 1e-6  # Fig. 3: "below 1e-6"
COARSER = {"octahedra_organic": 1e-5}  # stated in the case: it creeps for thousands
FIG_2 = ("pentapod", "squares_circle", "octahedra_organic")
FIG_3 = ("triangles_circle", "triangles_cylinder", "triangles_ellipsoid")
SCALE_MM = 40.0


def run_of(name: str, folder: Path) -> tuple[MorphCase, Path]:
    """A shipped case and the directory of its run."""
    composer = Composer()
    case = build(composer.compose("simulate", [f"case={name}"])["case"], "case")
    assert isinstance(case, MorphCase)
    out = folder / name
    out.mkdir()
    record_steps(case, name, out)
    return case, out


def ends(table: pd.DataFrame) -> pd.DataFrame:
    """The last step of each case."""
    return table.groupby("case").last()


@pytest.fixture(scope="module")
def fig_2(tmp_path_factory):
    folder = tmp_path_factory.mktemp("fig2")
    runs = {name: run_of(name, folder) for name in FIG_2}
    drawn = draw("dejong-2", [Row(name, out) for name, (_, out) in runs.items()])
    return runs, drawn.tables["steps"]


@pytest.mark.parametrize("name", FIG_2)
def test_fig_2_starts_at_S_of_one_and_approaches_its_target(fig_2, name):
    table = fig_2[1]
    rows = table[table["case"] == name]
    assert rows["S"].iloc[0] == pytest.approx(1.0, rel=1e-12)
    assert rows["E"].iloc[-1] < 0.5 * rows["E"].iloc[0]
    change = abs(rows["E"].iloc[-1] - rows["E"].iloc[-2])
    assert change < COARSER.get(name, TOLERANCE)


def test_fig_2_the_pentapod_expands_and_the_others_shrink(fig_2):
    """ "with increasing shape factor while the shape factor of both other structures
    reduced"."""
    S = ends(fig_2[1])["S"]
    assert S["pentapod"] > 1.0
    assert S["squares_circle"] < 1.0
    assert S["octahedra_organic"] < 1.0


def test_fig_2_our_pentapod_reaches_its_target(fig_2):
    """Not as printed: see the text above."""
    assert ends(fig_2[1])["E"]["pentapod"] < 1e-3


def test_fig_2a_five_nodes_lead_and_one_motion_changes_the_shape(fig_2):
    case, _ = fig_2[0]["pentapod"]
    assert len(case.structure.leading) == 5
    assert summary(case)["mobility"] == 6 + 1


def test_fig_2b_stays_in_one_plane(fig_2):
    case, out = fig_2[0]["squares_circle"]
    with np.load(out / "steps.npz") as steps:
        assert np.abs(steps["r"][:, :, 2]).max() < 1e-12
    assert 0 < len(case.structure.leading) < len(case.structure.r0)


@pytest.fixture(scope="module")
def fig_3(tmp_path_factory):
    """Fig. 3 with scans of the end states: 0.05 mm of noise, in some pose and order."""
    folder = tmp_path_factory.mktemp("fig3")
    rng = np.random.default_rng(5)
    rows = []
    for name in FIG_3:
        _, run = run_of(name, folder)
        with np.load(run / "steps.npz") as steps:
            last = SCALE_MM * steps["r"][-1]
        scan: Scan = scanned(last, rng, sd_mm=0.05)
        spheres = write_ingest(folder / f"{name}_spheres", scan)
        compare(ComparisonSettings(SCALE_MM), spheres, run, folder / f"{name}_compared")
        rows.append(Row(name, run, folder / f"{name}_compared", spheres))
    return draw("dejong-3", rows)


def simulated(fig_3: DrawnFigure) -> pd.DataFrame:
    table = fig_3.tables["steps"]
    return table[~table["s"].astype(str).str.startswith("scanned")]


@pytest.mark.parametrize("name", FIG_3)
def test_fig_3_stops_once_E_changes_by_less_than_1e_6(fig_3, name):
    table = simulated(fig_3)
    rows = table[table["case"] == name]
    change = np.abs(np.diff(rows["E"]))
    assert change[-1] < TOLERANCE
    assert (change[:-1] >= TOLERANCE).all()
    assert rows["S"].iloc[0] == pytest.approx(1.0, rel=1e-12)


def test_fig_3_one_structure_takes_three_shapes(fig_3):
    """One initial configuration; S and the final shapes differ."""
    nodes = fig_3.tables["nodes"]
    first = [
        nodes[(nodes["case"] == name) & (nodes["state"] == "initial")] for name in FIG_3
    ]
    for other in first[1:]:
        np.testing.assert_array_equal(
            other[["x", "y", "z"]].to_numpy(), first[0][["x", "y", "z"]].to_numpy()
        )
    assert np.diff(np.sort(ends(simulated(fig_3))["S"])).min() > 0.02


def final(fig_3: DrawnFigure, name: str) -> pd.DataFrame:
    nodes = fig_3.tables["nodes"]
    return nodes[(nodes["case"] == name) & (nodes["state"] == "final")]


@pytest.mark.parametrize("name", FIG_3)
def test_fig_3_the_drawn_nodes_lie_on_the_target(fig_3, name):
    """E of the table is that of the drawn nodes: "the resulting shapes matched"."""
    composer = Composer()
    case = build(composer.compose("simulate", [f"case={name}"])["case"], "case")
    r = final(fig_3, name)[["x", "y", "z"]].to_numpy()
    lead = case.structure.leading
    away = np.linalg.norm(r[lead] - case.shape.closest(r[lead]), axis=1)
    L = characteristic_length(case.structure.r0)
    E = np.sqrt(np.sum(away**2) / len(r)) / L
    expected = ends(simulated(fig_3))["E"][name]
    assert pytest.approx(expected, rel=1e-6, abs=1e-12) == E
    assert E < 1e-4


@pytest.mark.parametrize("name", FIG_3)
def test_fig_3_a_scan_of_the_shape_has_its_shape_factor(fig_3, name):
    """ "it could approximate the shape factor"; our scans are synthetic."""
    table = fig_3.tables["steps"]
    rows = table[table["case"] == name]
    scan = rows[rows["s"].astype(str).str.startswith("scanned")].iloc[0]
    assert scan["s"] == "scanned (synthetic)"
    end = ends(simulated(fig_3))["S"][name]
    assert abs(scan["S"] - end) < 4 * scan["S_u"]
    assert scan["S_u"] < 2e-3


def test_fig_5_moves_in_a_plane_to_the_nearest_bump(tmp_path):
    case, out = run_of("bumps", tmp_path)
    with np.load(out / "steps.npz") as steps:
        r, g = steps["r"], steps["g"]
    assert np.abs(r[:, :, 2]).max() < 1e-12
    bumps = case.shape.closest(r[0])
    lead = case.structure.leading
    np.testing.assert_allclose(g[0][lead], bumps[lead])
    every = np.unique(np.round(bumps, 9), axis=0)
    apart = np.linalg.norm(r[0][lead][:, None] - every, axis=2)
    np.testing.assert_allclose(
        np.linalg.norm(g[0][lead] - r[0][lead], axis=1), apart.min(axis=1)
    )
