"""Loads at which rods snap, against a closed form and printed numbers."""

import numpy as np
import pytest

from sim.rods.plane.builders import RodDraft, along_arc
from sim.rods.plane.rod import RodMaterial, cantilever
from sim.rods.plane.statics import loaded_slowly
from sim.rods.plane.world import DistributedLoad, FollowerForce, NodeLoad, World
from tests.sim.rods.known import THIN

SPAN, RISE = 0.1, 0.02  # m, of half a truss
BAR = RodMaterial(1.0e7, 1000.0, 2.0e-3, 10.0e-3)
REST = np.hypot(SPAN, RISE)


def _truss() -> World:
    """Two bars on pins, joined by a hinge that is pressed down by 1 N."""
    draft = RodDraft(hinges={1: 0.0}, pins=[0, 2])
    for ends in ([[0.0, 0.0], [SPAN, RISE]], [[SPAN, RISE], [2.0 * SPAN, 0.0]]):
        draft.curve(np.array(ends), BAR)
    load = NodeLoad([1], (0.0, -1.0))
    return World(draft.rod(), gravity=(0.0, 0.0), load=load)


def _carried(height: float) -> float:
    """N, of the truss with its hinge at a height: 2 EA y (1 / l - 1 / l0)."""
    length = np.hypot(SPAN, height)
    return 2.0 * BAR.stretching * height * (1.0 / length - 1.0 / REST)


def test_a_truss_of_two_bars_snaps_at_the_largest_load_that_it_carries():
    *_, last = steps = list(loaded_slowly(_truss(), 5))
    longest = (REST * SPAN**2) ** (1.0 / 3.0)  # there the load is largest
    limit = _carried(np.sqrt(longest**2 - SPAN**2))
    assert last.snaps == pytest.approx([limit], rel=1e-6)
    for step in steps:
        y = step.x[1, 1]
        assert _carried(y) == pytest.approx(step.share, rel=1e-6)
        assert (y < 0.0) == (step.share > limit) == bool(step.snaps)


LEE = 1.855  # printed as 1.85 to 1.86 (Schweizerhof and Wriggers 1986)


def _lee(spacing: float) -> float:
    """The load at which the frame of Lee et al. snaps: E 720, A 6, I 2, L 120."""
    draft, most = RodDraft(), 2.5
    for ends in ([[0, 0], [0, 120]], [[0, 120], [24, 120]], [[24, 120], [120, 120]]):
        share = np.linspace(0.0, 1.0, round(np.ptp(ends) / spacing) + 1)[:, None]
        a, b = np.array(ends, dtype=np.float64)
        draft.curve(a + share * (b - a), RodMaterial(720.0, 1.0, 2.0, 3.0))
    draft.pins = [draft.node((0.0, 0.0)), draft.node((120.0, 120.0))]
    load = NodeLoad([draft.node((24.0, 120.0))], (0.0, -most))
    *_, last = loaded_slowly(World(draft.rod(), gravity=(0.0, 0.0), load=load), 1)
    return most * last.snaps[0]


ARCH = 8.97  # P R^2 / EI, printed (DaDeppo and Schmidt 1975)


def _arch(edges: int) -> float:
    """P R^2 / EI at which an arch over 215 degrees snaps, clamped and pinned."""
    radius, begin, end = 0.1, np.radians(197.5), np.radians(-17.5)
    spacing = radius * (begin - end) / edges
    draft = RodDraft(clamps=[(0, np.inf)], pins=[edges])
    draft.curve(along_arc((0.0, 0.0), radius, begin, end, spacing), THIN)
    unit = THIN.bending / radius**2
    load = NodeLoad([edges // 2], (0.0, -10.0 * unit))
    *_, last = loaded_slowly(World(draft.rod(), gravity=(0.0, 0.0), load=load), 1)
    return 10.0 * last.snaps[0]


@pytest.mark.parametrize(
    ("snap", "sizes", "printed"), [(_lee, (12.0, 6.0), LEE), (_arch, (30, 60), ARCH)]
)
def test_a_frame_and_a_deep_arch_snap_at_the_printed_load(snap, sizes, printed):
    coarse, fine = (snap(size) for size in sizes)
    assert coarse > fine
    assert (4.0 * fine - coarse) / 3.0 == pytest.approx(printed, rel=2e-3)


def test_a_column_that_buckles_does_not_snap():
    length = 0.1
    euler = np.pi**2 * THIN.bending / (4.0 * length**2)
    load = NodeLoad([21], (-1.5 * euler, 0.0))
    world = World(cantilever(length, 22, THIN), gravity=(0.0, 0.0), load=load)
    steps = list(loaded_slowly(world, 4))
    side = np.abs([step.x[-1, 1] for step in steps])
    assert side[:2].max() < 1e-6 * length
    assert side[2:].min() > 0.3 * length
    assert steps[-1].snaps == ()


def test_a_rod_that_any_load_moves_does_not_snap():
    draft = RodDraft(pins=[0])
    draft.curve(np.column_stack([np.linspace(0.0, 0.1, 3), np.zeros(3)]), THIN)
    *_, last = loaded_slowly(World(draft.rod()), 2)
    assert last.share == 1.0
    assert np.abs(last.x[:, 0]).max() < 1e-6
    assert last.snaps == ()


@pytest.mark.parametrize("kind", ["gravity", "load", "spread", "follower", "moment"])
def test_small_deflections_grow_with_each_kind_of_load(kind):
    rod = cantilever(0.1, 12, THIN)
    force = 1e-4 * THIN.bending / 0.1**2
    own = {
        "gravity": {"gravity": (0.0, -force / rod.mass.sum())},
        "load": {"load": NodeLoad([11], (0.0, -force))},
        "spread": {"distributed_loads": (DistributedLoad([9, 10], across=-force),)},
        "follower": {"follower_forces": (FollowerForce(11, across=-force),)},
        "moment": {"follower_forces": (FollowerForce(11, moment=-0.1 * force),)},
    }[kind]
    world = World(rod, **{"gravity": (0.0, 0.0), **own})
    minimum = kind in ("gravity", "load")
    half, whole = loaded_slowly(world, 2, minimum=minimum)
    drop = [-step.x[-1, 1] for step in (half, whole)]
    assert drop[1] > 1e-8
    assert drop[0] == pytest.approx(0.5 * drop[1], rel=1e-4)
