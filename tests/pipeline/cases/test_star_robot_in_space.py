"""The star robot and robots of files, free to leave their plane."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from pipeline.cases.robots import StarCase
from pipeline.cases.star_robot_in_space import StarSpaceCase
from pipeline.cases.user_rods import OwnRodCase, RodFileCase
from sim.rods.plane.actuation import Pulses
from sim.rods.plane.builders import StarShape
from sim.rods.plane.options import StepOptions
from tests.pipeline.conftest import ROOT
from tests.recorded import recorded

COARSE = StarShape(arc_edges=4, tail_edges=2)


def _star(push: float, duration: float, **more: Any) -> dict[str, Any]:
    case = StarSpaceCase(
        StarCase(COARSE, **more), push, duration, every=4, options=StepOptions(4e-3)
    )
    _, recorder = recorded(case)
    return recorder.summary()


def test_a_pushed_star_falls_over_its_rims():
    """A rigid body tips at push 1."""
    falls = _star(1.3, 0.16, schedule=None)
    assert falls["fallen"]
    assert falls["out_of_plane_over_H"] > 0.5
    assert falls["contact_gap"] < 1e-9


def test_a_star_that_is_pushed_the_other_way_falls_as_its_mirror_image():
    """Before it has fallen: both ends lift, along z with the sign of the push."""
    ends = []
    for push in (1.3, -1.3):
        case = StarSpaceCase(
            StarCase(COARSE, schedule=None), push, 0.03, options=StepOptions(4e-3)
        )
        *_, last = case.steps()
        ends.append(last.x)
    assert np.abs(ends[0][:, 2]).max() > 1e-3
    assert np.abs(ends[0] * [1.0, 1.0, -1.0] - ends[1]).max() < 1e-7


def test_the_skin_of_a_star_is_one_and_is_not_wrung():
    """Also where its first edge meets its last, and edges that run the other way."""
    case = StarSpaceCase(StarCase(COARSE, schedule=None), duration=0.001)
    steps, recorder = recorded(case)
    r, fixed = recorder.arrays(steps[0])["r"], recorder.fixed_arrays()
    faces, edges = fixed["triangles"], case.space_world.rod.edges
    pairs = np.concatenate([faces[:, :2], faces[:, 1:]])
    joined = coo_array((np.ones(len(pairs)), pairs.T), shape=2 * (len(r),))
    assert connected_components(joined, directed=False)[0] == 1
    along = np.linalg.norm(np.ptp(r[fixed["edges"]], axis=1), axis=1)
    length = np.linalg.norm(np.ptp(case.space_world.rod.nodes[edges], axis=1), axis=1)
    assert along.max() < length.max() + 2.0 * case.radii.max()


@pytest.mark.long
def test_the_threshold_of_falling_is_that_of_a_rigid_body():
    """Of the robot as it is shipped; a tenth less and more."""
    ends = []
    for push in (0.9, 1.2):
        case = StarSpaceCase(StarCase(schedule=None), push, 0.2, every=8)
        _, recorder = recorded(case)
        ends.append(recorder.summary())
    assert not ends[0]["fallen"]
    assert ends[0]["tilt"] < 20.9  # arctan(b / h)
    assert ends[1]["tilt"] > 30.0


BRIDGE = {
    "nodes": [[0.0, 0.006], [0.01, 0.016], [0.02, 0.018], [0.03, 0.016], [0.04, 0.006]],
    "limbs": [-1, 0, 0, -1],
    "duration": 0.1,
    "every": 100,
}


def test_one_option_takes_a_rod_of_ones_own_into_space():
    """Its limb, its weight and a pull; and until it lands, its ground."""
    values = BRIDGE | {
        "schedule": Pulses([0.011], [0]),
        "options": StepOptions(tolerance=1e-12),
    }
    flat, free = (OwnRodCase(dimension=k, **values) for k in (2, 3))
    ends = [list(case.steps())[-1].x for case in (flat, free)]
    assert np.abs(ends[0] - np.array(BRIDGE["nodes"])).max() > 0.02
    assert np.abs(ends[1][:, :2] - ends[0]).max() <= 1e-9


@pytest.mark.parametrize(
    ("name", "near"),
    [
        ("tree", 1e-6), ("gripper", 1e-6), ("cantilever", 1e-6), ("arch", 1e-6),
        ("chain", 2e-4), ("ring", 2e-4), ("swimmer", 1e-6),
    ],
)  # fmt: skip
def test_one_option_takes_a_robot_of_a_file_into_space(name, near):
    """Its joints, sections, soft clamps, limbs, fluid; stiff bars, and what lands,
    less closely."""
    path = str(Path(ROOT) / f"conf/robot/{name}.yaml")
    options, lasts = StepOptions(tolerance=1e-12), 0.6 if name == "swimmer" else 0.14
    cases = [
        RodFileCase(path, duration=lasts, every=1000, options=options, dimension=k)
        for k in (2, 3)
    ]
    *_, flat = cases[0].steps()
    steps, recorder = recorded(cases[1])
    way = np.abs(flat.x - cases[0].world.rod.nodes).max()
    assert way > 1e-4
    assert np.abs(steps[-1].x[:, :2] - flat.x).max() <= near * way + 1e-11
    assert recorder.summary()["stop"] == "duration"
