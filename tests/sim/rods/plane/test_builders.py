"""Rods drawn as curves, against closed forms of beams."""

from collections.abc import Callable

import numpy as np
import pytest

from sim.core.arrays import Floats
from sim.rods.plane.actuation import Actuator, Pulses
from sim.rods.plane.builders import RodDraft, along_arc, along_curve, along_line
from sim.rods.plane.options import CONSERVING
from sim.rods.plane.rod import Rod, RodMaterial, RoundSection
from sim.rods.plane.simulate import simulate
from sim.rods.plane.statics import solve_static
from sim.rods.plane.world import NodeLoad, World

THICK = RodMaterial(3.0e6, 1000.0, 2.0e-3, 10.0e-3)
THIN = RodMaterial(3.0e6, 1000.0, 1.0e-3, 10.0e-3)
LENGTH, FORCE, SMALL = 0.06, 1.0e-6, 1.0e-8


def beam(spacing: float, stiffness: float = np.inf, tip: float = 0.0) -> RodDraft:
    """A beam clamped at the origin, its last part `tip` long and thin."""
    draft = RodDraft()
    root = np.array([[0.0, 0.0], [LENGTH - tip, 0.0]])
    draft.curve(along_line(root, spacing), THICK)
    if tip:
        outer = np.array([[LENGTH - tip, 0.0], [LENGTH, 0.0]])
        draft.curve(along_line(outer, spacing), THIN)
    draft.clamps.append((0, stiffness))
    return draft


def sag(draft: RodDraft, at: tuple[float, float]) -> float:
    """Deflection of the node at a place under a force down on it, m."""
    node = draft.node(at)
    world = World(draft.rod(), gravity=(0.0, 0.0), load=NodeLoad([node], (0.0, -FORCE)))
    return at[1] - float(solve_static(world, tolerance=1e-13).x[node, 1])


def limit(of: Callable[[float], float]) -> float:
    """What a result of order 2 tends to, from two spacings."""
    return (4.0 * of(0.0015) - of(0.003)) / 3.0


def test_a_clamped_beam_sags_as_bernoulli_says_at_order_two():
    exact = FORCE * LENGTH**3 / (3.0 * THICK.bending)
    errors = [sag(beam(h), (LENGTH, 0.0)) / exact - 1.0 for h in (0.006, 0.003, 0.0015)]
    assert abs(errors[2]) < 1e-3
    ratios = [errors[0] / errors[1], errors[1] / errors[2]]
    assert ratios == pytest.approx([4.0, 4.0], rel=0.05)


def test_a_soft_clamp_adds_its_turn():
    stiffness = 0.002
    found = limit(lambda h: sag(beam(h, stiffness), (LENGTH, 0.0)))
    bent = FORCE * LENGTH**3 / (3.0 * THICK.bending)
    assert found == pytest.approx(bent + FORCE * LENGTH**2 / stiffness, rel=1e-4)


def test_a_stepped_beam_sags_by_both_its_sections():
    tip = 0.5 * LENGTH
    found = limit(lambda h: sag(beam(h, tip=tip), (LENGTH, 0.0)))
    root = (LENGTH**3 - tip**3) / THICK.bending
    assert found == pytest.approx(
        FORCE / 3.0 * (root + tip**3 / THIN.bending), rel=1e-4
    )


def frame(spacing: float) -> RodDraft:
    """A thick stem with a thin bar across its top, joined rigidly."""
    draft = RodDraft()
    draft.curve(along_line(np.array([[0.0, 0.0], [0.0, 0.03]]), spacing), THICK)
    bar = np.array([[-0.03, 0.03], [0.0, 0.03], [0.03, 0.03]])
    draft.curve(along_line(bar, spacing), THIN)
    draft.clamps.append((0, np.inf))
    return draft


def test_a_rigid_joint_of_two_sections_carries_the_moment():
    found = limit(lambda h: sag(frame(h), (0.03, 0.03)))
    arm = stem = 0.03
    bar = arm**3 / (3.0 * THIN.bending)
    turned = arm**2 * stem / THICK.bending
    pressed = stem / THICK.stretching
    assert found == pytest.approx(FORCE * (bar + turned + pressed), rel=2e-4)


def pull(points: Floats, spacing: float, way: tuple[float, float]) -> float:
    """How far the end of a line through `points`, clamped at its first, gives way."""
    draft = RodDraft()
    draft.curve(along_line(points, spacing), THICK)
    draft.clamps.append((0, np.inf))
    end = len(draft.points) - 1
    load = NodeLoad([end], (SMALL * way[0], SMALL * way[1]))
    found = solve_static(
        World(draft.rod(), gravity=(0.0, 0.0), load=load), tolerance=1e-14
    )
    return float((found.x[end] - points[-1]) @ way)


@pytest.mark.parametrize("turn", [30.0, 90.0, 120.0, 150.0, 179.0])
def test_a_corner_is_as_soft_as_its_arms_at_order_two(turn):
    """Two arms of one length; unit loads, with the moment of the load along both."""
    sharp = np.radians(turn)
    way = np.array([[0.0, 0.0], [1.0, 0.0], [1.0 + np.cos(sharp), np.sin(sharp)]])
    stem, arm = np.sin(sharp) ** 2 * LENGTH**3, np.sin(sharp) ** 2 * LENGTH**3 / 3.0
    stretch = LENGTH * (1.0 + np.cos(sharp) ** 2) / THICK.stretching
    exact = SMALL * ((stem + arm) / THICK.bending + stretch)
    errors = [pull(LENGTH * way, h, (1.0, 0.0)) / exact - 1.0 for h in (0.006, 0.003)]
    assert abs(errors[1]) < 2e-3
    assert abs(errors[1]) < 0.4 * abs(errors[0]) + 1e-4


@pytest.mark.parametrize("turn", [10.0, 24.9, 25.1, 120.0])
def test_a_zigzag_of_five_corners_gives_at_order_two_whatever_they_turn_by(turn):
    half = np.radians(0.5 * turn)
    share = np.arange(7.0)[:, None] * np.cos(half)
    rise = (np.arange(7) % 2)[:, None] * np.sin(half)
    points = 0.03 * np.hstack([share, -rise])
    along = 0.18
    bent = (along * np.cos(half)) ** 2 * along / (3.0 * THICK.bending)
    exact = SMALL * (bent + np.sin(half) ** 2 * along / THICK.stretching)
    errors = [pull(points, h, (0.0, 1.0)) / exact - 1.0 for h in (0.006, 0.003)]
    assert abs(errors[1]) < 2e-4
    assert abs(errors[1]) < 0.3 * abs(errors[0])


def test_an_arc_of_edges_that_turn_by_twenty_degrees_bends_as_an_arc():
    radius = 0.04
    exact = 0.5 * np.pi * radius * (radius**2 / THICK.bending + 1 / THICK.stretching)
    for degrees, within in ((20.0, 0.006), (10.0, 0.0015)):
        spacing = radius * np.radians(degrees)
        points = along_arc((0.0, 0.0), radius, 0.0, np.pi, spacing)
        found = pull(points, 1.0, (1.0, 0.0)) / (SMALL * exact)
        assert found == pytest.approx(1.0, abs=within)


def unbent(corner: float, n: int) -> float:
    """How far a limb of 2 rad, n edges, between two rods turns where it stays on, rad.

    It is tangent to the first and meets the second at a corner.
    """
    draft, edge, on = RodDraft(), 0.04 / n, 2.0 + np.radians(corner)
    arc = along_arc((0.0, 0.02), 0.02, -0.5 * np.pi, 2.0 - 0.5 * np.pi, edge)
    way = edge * np.arange(4)[:, None]
    draft.curve(way[::-1] * [-1.0, 0.0], THICK)
    draft.curve(arc, THICK, limb=0)
    draft.curve(arc[-1] + way * [np.cos(on), np.sin(on)], THICK)
    world = World(
        draft.rod(), gravity=(0.0, 0.0), actuator=Actuator(delay=1e3),
        schedule=Pulses([0.0], [0]),
    )  # fmt: skip
    *_, last = simulate(world, CONSERVING, 0.5)
    first, end = np.diff(last.x, axis=0)[[0, -1]] @ [1.0, 1.0j]
    return float(np.angle(end / first))


@pytest.mark.parametrize("corner", [-120, -60, -30, -20, 0, 20, 30, 60, 90, 120])
def test_a_limb_unbends_over_all_its_length_whatever_it_meets(corner):
    """A free body without forces: the corner, and 0.21 of the 2 rad it is drawn by."""
    exact = 0.42 + np.radians(corner)
    errors = [unbent(corner, n) - exact for n in (12, 24)]
    assert abs(errors[0]) < 3e-3
    assert abs(errors[1]) < max(0.35 * abs(errors[0]), 3e-4)


def test_a_limb_unbends_at_a_corner_up_to_a_right_angle():
    for limb, turn, joints in (
        (-1, 20.0, 0),
        (-1, 90.0, 1),
        (0, 90.0, 0),
        (0, 120.0, 1),
    ):
        draft, on = RodDraft(), np.radians(turn)
        way = np.array([[-1.0, 0.0], [0.0, 0.0], [np.cos(on), np.sin(on)]])
        draft.curve(along_line(0.05 * way, 0.005), THICK, limb=limb)
        assert len(draft.rod().joints.fold) == joints


def test_a_hinge_has_no_bend_and_a_closed_curve_no_end():
    draft = RodDraft()
    circle = along_arc((0.0, 0.0), 0.02, 0.0, 2.0 * np.pi, 0.001)
    draft.curve(circle, THICK, closed=True)
    ring = draft.rod()
    assert len(ring.nodes) == len(ring.edges) == len(ring.bends) == 126
    draft.hinges[draft.node((-0.02, 0.0))] = 0.0
    assert len(draft.rod().bends) == 125


def test_mass_is_that_of_the_rods_and_what_hangs_on_them():
    draft = beam(0.003, tip=0.03)
    draft.masses.append((draft.node((0.06, 0.0)), 0.004))
    rod = draft.rod()
    own = 0.03 * (THICK.line_density + THIN.line_density)
    clamp = 0.003 * THICK.line_density * 0.5  # of the held edge behind the clamp
    assert rod.mass.sum() == pytest.approx(own + clamp + 0.004, rel=1e-12)


def test_the_clamp_of_an_arc_bends_over_half_an_edge_as_the_arc_does():
    draft = RodDraft()
    draft.curve(along_arc((0.0, 0.0), 0.02, np.pi, 0.0, 0.001), THICK, limb=0)
    draft.clamps.append((0, np.inf))
    rod: Rod = draft.rod()
    assert rod.curvature == pytest.approx(-50.0, rel=2e-3)
    assert set(rod.bend_limb.tolist()) == {0}
    turned = float(rod.curvature @ rod.voronoi)  # all but half the last of 63 edges
    assert turned == pytest.approx(-np.pi * 62.5 / 63.0, rel=1e-3)


def test_a_curve_is_divided_evenly():
    through = np.array([[0.0, 0.0], [0.01, 0.01], [0.03, 0.0], [0.04, 0.03]])
    edges = np.linalg.norm(np.diff(along_curve(through, 0.001), axis=0), axis=1)
    assert np.ptp(edges) < 0.02 * edges.mean()
    assert edges.mean() == pytest.approx(0.001, rel=0.02)


def test_a_tube_is_a_round_rod_less_its_bore():
    tube, core = (RoundSection(1.0e6, 1e3, d, b) for d, b in ((4e-3, 2e-3), (2e-3, 0)))
    whole = RoundSection(1.0e6, 1e3, 4e-3)
    for name in ("stretching", "bending", "line_density"):
        rest = getattr(whole, name) - getattr(core, name)
        assert getattr(tube, name) == pytest.approx(rest, rel=1e-12)
    assert whole.bending == pytest.approx(1.0e6 * np.pi * (2e-3) ** 4 / 4.0, rel=1e-12)


def test_a_clamp_between_two_rods_is_refused():
    draft = beam(0.003)
    draft.clamps = [(draft.node((0.03, 0.0)), np.inf)]
    with pytest.raises(ValueError, match=r"needs a free end, but 2 edges meet there"):
        draft.rod()
