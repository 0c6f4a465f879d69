"""Rod cases as the configuration builds them, and as a user runs them.

The star robot and robots of files, free to leave their plane.
"""

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hydra.utils import instantiate
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from pipeline.cases.ribbon import RibbonCase
from pipeline.cases.robots import StarCase
from pipeline.cases.star_robot_in_space import StarSpaceCase
from pipeline.cases.user_rods import OwnRodCase, RodFileCase
from sim.rods.plane.actuation import LeftOfContact
from sim.rods.plane.builders import Ribbon, StarShape
from sim.rods.plane.contact_impulses import ContactRule
from sim.rods.plane.options import Integrator, StepOptions
from tests.pipeline.conftest import ROOT
from tests.pipeline.shipped_cases import config_of
from tests.recorded import recorded, summary

GRIPPER = {"path": str(ROOT / "conf/robot/gripper.yaml")}


def build(name: str, **values: Any) -> Any:
    values = (GRIPPER if name == "rod_file" else {}) | values
    return instantiate(config_of(name) | values, _convert_="object")


def test_rods_of_users_keep_energy_and_those_of_the_paper_its_rule():
    nodes = [[0.0, 0.1], [0.01, 0.1], [0.02, 0.1]]
    own = [OwnRodCase(nodes), RodFileCase(GRIPPER["path"]), build("own_rod")]
    for case in (*own, build("rod_file")):
        assert case.options.integrator is Integrator.ENERGY_MOMENTUM
    for name in ("star_robot", "jumper", "ribbon_incline"):
        assert build(name).options.integrator is Integrator.NEWMARK


def test_a_run_of_the_star_keeps_shapes_and_what_draws_them():
    steps, recorder = recorded(build("star_robot", duration=0.1, every=20))
    assert [step.step for step in steps] == [0, 20, 40]
    assert recorder.arrays(steps[0])["x"].shape == (84, 2)
    fixed = recorder.fixed_arrays()
    assert fixed["edges"].shape == (84 + 7 - 7, 2)
    assert fixed["ground"].shape[1] == 2
    assert recorder.summary()["nodes"] == 84


def test_a_run_tells_the_largest_residual_of_all_its_steps():
    """By the paper's rules, whose worst steps lie while the robot moves."""
    rules = StepOptions(contact=ContactRule.MODIFIED_MASS)
    steps, recorder = recorded(build("star_robot", duration=1.0, options=rules))
    worst = max(step.complementarity for step in steps)
    assert worst > 1e3 * steps[-1].complementarity
    assert recorder.summary()["complementarity"] == worst


@pytest.mark.parametrize(
    "options",
    [
        StepOptions(h=1.25e-3),
        StepOptions(landing=0.01, contact_gap=0.02),
        StepOptions(h=1.25e-3, landing=0.01, contact_gap=0.02),
    ],
)
def test_sag_and_way_of_the_star_are_near_their_limits_at_84_nodes(options):
    """Half an edge at a joint by the trapezoidal rule would sag 1.9 % too far.

    At h = 2.5 ms cuts down to gaps of 1e-4 let ways vary by 0.02 % with the nodes.
    """
    more = {"duration": 3.0, "every": 10**6, "options": options}
    sag, way = [], []
    for refinement in (1, 2, 4):
        case = build("star_robot", refinement=refinement, **more)
        sunk = (case.unsettled.rod.nodes - case.world.rod.nodes)[:, 1]
        sag.append(float(np.average(sunk, weights=case.world.rod.mass)))
        way.append(float(summary(case)["way_over_H"]))
    for coarse, middle, fine in (sag, way):
        limit = fine + (fine - middle) / 3.0
        assert coarse == pytest.approx(limit, rel=0.005)
        assert abs(fine - middle) < 1e-3 * limit
    assert abs(way[1] - way[2]) < 0.3 * abs(way[0] - way[1])


@pytest.mark.parametrize("name", ["star_robot_crest", "star_robot_up_6", "jumper"])
def test_a_robot_starts_at_rest_on_its_ground(name):
    later: dict[str, Any] = {"first_pulse": 1.0}
    if name != "jumper":
        later = {"schedule": LeftOfContact(1.0, 3.0)}
    case = build(name, duration=0.02, every=1, **later)
    first, *_, last = case.steps()
    assert np.abs(last.x - first.x).max() < 5e-4
    assert last.contact.any()


def test_a_rod_of_ones_own_is_the_same_rod():
    """The star, named node by node, moves as the star does.

    Its bends have the stiffness of their printed law, the star's that of small turns.
    """
    star = build("star_robot", duration=0.3)
    rod = star.world.rod
    plain = len(rod.bends) - len(rod.joints.fold)
    own = OwnRodCase(
        nodes=rod.nodes.tolist(),
        edges=rod.edges.tolist(),
        bends=rod.bends[:plain].tolist(),
        joints=np.unique(rod.bends[plain:, 1]).tolist(),
        limbs=rod.edge_limb.tolist(),
        ground=star.ground,
        schedule=star.schedule,
        duration=0.3,
    )
    assert np.array_equal(own.world.rod.bend_limb, rod.bend_limb)
    assert own.world.rod.joints.half == pytest.approx(rod.joints.half, rel=0.02)
    assert own.world.rod.mass == pytest.approx(rod.mass, rel=1e-3)
    *_, last = own.steps()
    assert last.x[:, 0].mean() > rod.nodes[:, 0].mean() + 5e-3  # it rolls


@pytest.mark.slow
def test_a_ribbon_rolls_as_far_on_the_arcs_of_50_nodes_as_of_100():
    """On its nodes it comes 9 and 5 % less far."""

    def way(n: int, arcs: bool) -> float:
        options = StepOptions(h=5e-4)
        ribbon = RibbonCase(Ribbon(2.0, n), arcs=arcs, duration=2.0, options=options)
        ends = summary(ribbon)
        assert (ends["polygon_loss"] == 0.0) == arcs
        return float(ends["travelled"])

    assert way(50, arcs=True) == pytest.approx(way(100, arcs=True), rel=2e-3)
    assert way(50, arcs=False) < 0.95 * way(50, arcs=True)


def test_code_of_the_page_on_controllers_does_what_it_says():
    page = (ROOT / "docs/how-to/controllers.md").read_text(encoding="utf-8")
    names: dict[str, Any] = {}
    for block in re.findall(r"```python\n(.*?)```", page, flags=re.DOTALL):
        exec(block, names)
    way = names["centroid"](names["seen"].x, names["mass"])[0]
    assert way == max(names["ends"].values())
    start = names["centroid"](names["world"].world.rod.nodes, names["mass"])[0]
    assert way - start > 0.2 * names["robot"].height


COARSE = StarShape(arc_edges=4, tail_edges=2)


@pytest.mark.slow
def test_a_pushed_star_falls_over_its_rims():
    """A rigid body tips at push 1."""
    star, options = StarCase(COARSE, schedule=None), StepOptions(4e-3)
    falls = summary(StarSpaceCase(star, 1.3, 0.16, every=4, options=options))
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
        ends.append(summary(case))
    assert not ends[0]["fallen"]
    assert ends[0]["tilt"] < 20.9  # arctan(b / h)
    assert ends[1]["tilt"] > 30.0


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
