"""Drag, loads that spread or turn, and ends that move in time, against closed forms."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from sim.core.arrays import Floats
from sim.rods.plane.builders import RodDraft
from sim.rods.plane.ground import GroundPlane
from sim.rods.plane.options import Integrator, StepOptions
from sim.rods.plane.rod import GRAVITY, Rod, RodMaterial, cantilever, ring
from sim.rods.plane.simulate import simulate
from sim.rods.plane.state import RodStep
from sim.rods.plane.statics import hung, solve_static
from sim.rods.plane.world import (
    Damping,
    DistributedLoad,
    Fluid,
    FollowerForce,
    NodeLoad,
    World,
)
from sim.rods.prescribed_motion import UP, PrescribedMotion, TurningEdge
from tests.sim.rods.known import SOFT, end_of, straight, turned_tip

LENGTH, FREE = 0.1, (0.0, 0.0)
EI, DENSITY = SOFT.bending, SOFT.line_density
EXACT = StepOptions(integrator=Integrator.ENERGY_MOMENTUM, tolerance=1e-13)
UNDAMPED = Damping(beta=0.0)
FIRST = 1.8751040687 / LENGTH  # 1/m, wave number of a clamped beam


def _steps(world: World, h: float, duration: float) -> list[RodStep]:
    return list(simulate(world, replace(EXACT, h=h), duration))


def test_a_slanting_rod_sinks_at_the_speeds_of_both_drags():
    """Weight over drag along it and across it, each by itself; weight is all drag."""
    tangent = np.array([np.cos(0.7), np.sin(0.7)])
    normal = np.array([-tangent[1], tangent[0]])
    rod = straight(LENGTH, 11, SOFT)
    turned = replace(rod, nodes=rod.nodes @ np.array([tangent, normal]))
    world = World(turned, fluid=Fluid(0.2, 0.3), damping=UNDAMPED)
    *_, before, last = _steps(world, 2e-3, 1.0)
    weight = np.array([0.0, -GRAVITY * DENSITY])
    speed = weight @ tangent / 0.2 * tangent + weight @ normal / 0.3 * normal
    assert last.v == pytest.approx(np.tile(speed, (11, 1)), rel=1e-9, abs=1e-12)
    fallen = before.gravity - last.gravity
    assert last.damped - before.damped == pytest.approx(fallen, rel=1e-6)


def _flutter(share: float) -> float:
    """How much farther Beck's column goes from 3 to 6 of its periods than before."""
    rod = cantilever(LENGTH, 31, SOFT)
    period = 2.0 * np.pi / (FIRST**2 * np.sqrt(EI / DENSITY))
    push = FollowerForce(len(rod.nodes) - 1, -share * 20.0509536 * EI / LENGTH**2)
    kick = np.zeros_like(rod.nodes)
    kick[:, 1] = 1e-7 * (rod.nodes[:, 0] - rod.nodes[0, 0]) / period
    kick[rod.held] = 0.0
    world = World(
        rod, gravity=FREE, damping=UNDAMPED, velocity=kick, follower_forces=(push,)
    )
    steps = _steps(world, period / 100.0, 6.0 * period)
    way = np.abs([step.x[-1, 1] for step in steps])
    assert abs(steps[-1].out_of_balance) < 1e-6 * max(
        map(abs, (s.energy for s in steps))
    )
    return float(way[len(way) // 2 :].max() / way[: len(way) // 2].max())


def test_becks_column_flutters_from_its_load_on():
    """20.05 EI / L^2: Beck, Z. angew. Math. Phys. 3 (1952)."""
    assert _flutter(0.97) < 1.2
    assert _flutter(1.03) > 3.0


def _pressed(share: float) -> tuple[Floats, Floats, RodStep]:
    """Half a period of a ring's ovalling under a share of its critical pressure."""
    n, R = 48, LENGTH
    rod = ring(R, n, SOFT)
    out = rod.nodes - rod.nodes.mean(axis=0)
    out /= np.linalg.norm(out, axis=1)[:, None]
    angle = np.arctan2(out[:, 1], out[:, 0])
    along = np.column_stack([-out[:, 1], out[:, 0]])
    rate = np.sqrt(EI * 36.0 / (5.0 * DENSITY * R**4))
    oval = (
        np.cos(2.0 * angle)[:, None] * out - 0.5 * np.sin(2.0 * angle)[:, None] * along
    )
    inward = DistributedLoad(list(range(n)), across=share * 3.0 * EI / R**3)
    world = World(
        rod, gravity=FREE, damping=UNDAMPED, velocity=1e-6 * R * rate * oval,
        distributed_loads=(inward,),
    )  # fmt: skip
    steps = _steps(world, 0.06 / rate, np.pi / rate)
    way = [np.sum((step.x - rod.nodes) * oval) for step in steps]
    time = np.array([step.time for step in steps])
    return rate * time, np.array(way) / (1e-6 * R * np.sum(oval**2)), steps[-1]


@pytest.mark.parametrize("share", [0.5, 1.5])
def test_a_ring_under_pressure_swings_and_buckles_at_levys(share):
    """3 EI / R^3: Levy, J. Math. Pures Appl. 10 (1884); omega^2 falls in proportion."""
    time, way, last = _pressed(share)
    rate = np.sqrt(abs(1.0 - share))
    swing = np.sin if share < 1.0 else np.sinh
    assert way == pytest.approx(swing(rate * time) / rate, abs=0.02 * np.abs(way).max())
    assert abs(last.out_of_balance) < 1e-6 * last.given


def _spin(rod: Rod, step: RodStep) -> float:
    """Angular momentum about the middle, N m s."""
    x = step.x - step.x.mean(axis=0)
    return float(rod.mass @ (x[:, 0] * step.v[:, 1] - x[:, 1] * step.v[:, 0]))


def test_two_forces_that_turn_with_the_ends_spin_a_rod_up():
    """A couple of force times length, whichever way the rod points; work is kept."""
    rod = straight(LENGTH, 11, RodMaterial(4.0e7, 1000.0, 4.0e-3, 2.0e-3))
    forces = tuple(FollowerForce(node, 0.0, 1e-3) for node in (0, 10))
    world = World(rod, gravity=FREE, damping=UNDAMPED, follower_forces=forces)
    last = _steps(world, 1e-3, 0.5)[-1]
    chord = last.x[10] - last.x[0]
    assert _spin(rod, last) == pytest.approx(1e-3 * LENGTH * 0.5, rel=2e-3)
    assert np.linalg.norm(chord) == pytest.approx(LENGTH, rel=1e-2)
    assert last.x.mean(axis=0) == pytest.approx(rod.nodes.mean(axis=0), abs=1e-9)
    assert last.given == pytest.approx(last.energy, rel=1e-6)


def test_a_distributed_load_moves_a_rod_as_its_weight_does_and_then_ends():
    rod = cantilever(LENGTH, 13, SOFT)
    spread = DistributedLoad(list(range(len(rod.edges))), (0.0, -GRAVITY * DENSITY))
    heavy = _steps(World(rod), 2e-3, 0.05)[-1]
    loaded = World(rod, gravity=FREE, distributed_loads=(spread,))
    last = _steps(loaded, 2e-3, 0.05)[-1]
    assert last.x == pytest.approx(heavy.x, abs=1e-12)
    short = replace(spread, force=(0.3, 0.0), start=0.011, duration=0.02)
    free = World(straight(LENGTH, 13, SOFT), gravity=FREE, distributed_loads=(short,))
    end = _steps(free, 2e-3, 0.05)[-1]
    assert end.v[:, 0] == pytest.approx(0.3 / DENSITY * 0.02, rel=1e-9)


def test_what_spreads_or_turns_is_refused_where_it_is_not_known():
    rod = straight(LENGTH, 11, SOFT)
    turned = World(rod, follower_forces=(FollowerForce(10, 1.0),))
    with pytest.raises(ValueError, match="remove distributed and follower loads"):
        hung(turned, NodeLoad([10], (0.0, 1.0)))
    with pytest.raises(ValueError, match="use minimum=False"):
        solve_static(turned)
    brief = World(rod, load=NodeLoad([10], (0.0, 1.0), duration=0.2))
    with pytest.raises(
        ValueError, match=r"0 s for 0.2 s, but at rest loads act all the"
    ):
        solve_static(brief)
    with pytest.raises(ValueError, match="node 11 does not exist: choose 0 to 10"):
        replace(turned, follower_forces=(FollowerForce(11, 1.0),))
    with pytest.raises(ValueError, match="2 edges meet there: choose a free end"):
        replace(turned, follower_forces=(FollowerForce(5, 1.0),))
    with pytest.raises(ValueError, match="edge 10 does not exist: choose 0 to 9"):
        replace(turned, distributed_loads=(DistributedLoad([10]),))
    with pytest.raises(ValueError, match="fluid: across must be 0 or more, not -1"):
        Fluid(1.0, -1.0)


def _settled_tip(load: float, edges: int) -> Floats:
    """Where the tip rests under a force across it that turns with it, over L."""
    rod = cantilever(LENGTH, edges + 1, SOFT)
    push = FollowerForce(len(rod.nodes) - 1, 0.0, load * EI / LENGTH**2)
    world = World(rod, gravity=FREE, fluid=Fluid(1.0, 1.0), follower_forces=(push,))
    return np.asarray(solve_static(world, minimum=False).x[-1] / LENGTH)


@pytest.mark.parametrize("load", [2.0, 10.0])
def test_a_rod_settles_under_a_force_that_turns_as_its_elastica_does(load):
    tip = turned_tip(load)
    coarse, fine = (np.abs(_settled_tip(load, n) - tip).max() for n in (10, 20))
    assert fine < 4e-3
    assert coarse / fine == pytest.approx(4.0, abs=0.5)


def test_a_column_under_a_spread_load_leaves_its_saddle():
    """7.837 EI / L^3: Greenhill, Proc. Camb. Phil. Soc. 4 (1881)."""
    rod = cantilever(LENGTH, 31, SOFT)
    upright = replace(rod, nodes=rod.nodes @ np.array([[0.0, 1.0], [-1.0, 0.0]]))
    edges = list(range(len(rod.edges)))

    def lean(share: float) -> float:
        load = DistributedLoad(edges, (0.0, -share * 7.837 * EI / LENGTH**3))
        x = solve_static(World(upright, gravity=FREE, distributed_loads=(load,))).x
        return float(np.abs(x[:, 0]).max() / LENGTH)

    assert lean(0.97) < 1e-6
    assert lean(1.05) > 0.1


KEEPING = StepOptions(integrator=Integrator.ENERGY_MOMENTUM, tolerance=1e-12, h=5e-3)


def _clamped(edges: int, *, pinned: bool = False) -> Rod:
    draft = RodDraft()
    draft.curve(np.linspace([0.0, 0.0], [LENGTH, 0.0], edges + 1), SOFT)
    draft.clamps.append((0, np.inf))
    if pinned:
        draft.pins.append(edges)
    return draft.rod()


def _turning(
    edge: int,
    times: Sequence[float],
    angles: Sequence[float],
    moves: Sequence[Sequence[float]] = ((0.0, 0.0, 0.0),),
) -> TurningEdge:
    """About the origin, where clamps are."""
    ways = [(*row, 0.0) for row in moves]
    return TurningEdge(edge, PrescribedMotion((0.0,) * 3, UP, times, angles, ways))


def test_turning_a_beam_on_a_pin_takes_the_work_of_its_spring():
    """3 EI / L turns the near end of a beam pinned at the far one: in 2 s of 4."""
    world = World(_clamped(20, pinned=True), gravity=FREE, damping=Damping(alpha=20.0))
    angle = float(np.radians(0.05))
    turn = _turning(20, [0.0, 2.0], [0.0, angle])
    end = end_of(replace(world, turning=(turn,)), KEEPING, 4.0)
    work = 1.5 * EI / LENGTH * angle**2
    assert end.stretching + end.bending == pytest.approx(work, rel=5e-3)
    balance = end.given - end.damped + end.out_of_balance - end.energy
    assert abs(balance) < 1e-9 * end.given


def test_moving_a_clamp_across_a_beam_on_a_pin_takes_the_work_of_its_spring():
    """3 EI / L^3 across; along, it moves whatever is not held at no cost."""
    world = World(_clamped(20, pinned=True), gravity=FREE, damping=Damping(alpha=20.0))
    for across, moved in ((True, world), (False, replace(world, rod=_clamped(20)))):
        way = 1e-4
        moves = [[0.0, 0.0, 0.0], [2.0, 0.0 if across else way, way]]
        turn = _turning(20, [0.0], [0.0], moves)
        end = end_of(replace(moved, turning=(turn,)), KEEPING, 4.0)
        work = 1.5 * EI / LENGTH**3 * way**2
        found = end.stretching + end.bending
        assert found == pytest.approx(
            work if across else 0.0, rel=5e-3, abs=1e-5 * work
        )
        balance = end.given - end.damped + end.out_of_balance - end.energy
        assert abs(balance) < 1e-9 * end.given


@pytest.mark.parametrize("integrator", list(Integrator))
def test_the_end_is_where_the_table_has_it_after_every_step(integrator):
    rod = _clamped(10)
    moves = [[0.02, 0.0, 0.0], [0.03, 0.002, -0.001]]
    turn = _turning(10, [0.01, 0.033, 0.05], [0.0, 0.3, -0.1], moves)
    world = World(rod, gravity=FREE, turning=(turn,))
    options = replace(KEEPING, integrator=integrator, h=4e-3)
    for step in simulate(world, options, 0.07):
        angle = np.interp(step.time, [0.01, 0.033, 0.05], [0.0, 0.3, -0.1])
        way = np.interp(step.time, [0.02, 0.03], [0.0, 1.0]) * np.array([2e-3, -1e-3])
        place = way - 0.01 * np.array([np.cos(angle), np.sin(angle)])
        assert step.x[11] == pytest.approx(place, abs=1e-15)
        assert step.x[0] == pytest.approx(way, abs=1e-15)
        balance = step.given - step.damped + step.out_of_balance - step.energy
        assert abs(balance) < 1e-9 * max(step.kinetic, 1e-9)


def test_what_cannot_turn_is_refused():
    rod = _clamped(10)
    world = World(rod, turning=(_turning(10, [0.0], [0.0]),))
    with pytest.raises(ValueError, match="edge 5 is not held: clamp it"):
        replace(world, turning=(_turning(5, [0.0], [0.0]),))
    with pytest.raises(ValueError, match="1 s follows 2 s: times must increase"):
        _turning(10, [0.0, 2.0, 1.0], [0.0, 0.1, 0.2])
    with pytest.raises(ValueError, match="begin with the value 0"):
        _turning(10, [0.0, 1.0], [0.1, 0.2])
    with pytest.raises(ValueError, match="moves: the first row is 0 m and 1 m and 0 m"):
        _turning(10, [0.0], [0.0], [[0.0, 0.0, 1.0]])
    with pytest.raises(ValueError, match="moves: give one or more rows of time, x, y"):
        _turning(10, [0.0], [0.0], [[0.0, 0.0]])
    for down in (
        _turning(10, [0.0], [0.0], [[0.0, 0.0, 0.0], [1.0, 0.0, -0.01]]),
        _turning(10, [0.0, 1.0], [0.0, 2.5]),
    ):
        with pytest.raises(
            ValueError, match=r"ground: a moving clamp .* below the ground"
        ):
            World(rod, GroundPlane(height=-5e-3), turning=(down,))
    with pytest.raises(ValueError, match="`turns` and `moves` work in motions only"):
        solve_static(world)
    for last, told in ((2.0 * np.pi, "360"), (-0.6 * np.pi, "108")):
        round_a_step = _turning(10, [0.0, 0.3, 0.3 + KEEPING.h], [0.0, 0.0, last])
        fast = replace(world, turning=(round_a_step,))
        with pytest.raises(ValueError, match=f"turns by {told} degrees in a step of 0"):
            next(simulate(fast, KEEPING, 0.1))
    with pytest.raises(ValueError, match="set accuracy to 0"):
        next(simulate(world, replace(KEEPING, accuracy=1e-6), 0.1))


def _decay(edges: int) -> float:
    """Rate of the first mode of a clamped filament over that of its equation, less 1.

    rho A y'' + c y' + EI y'''' = 0, overdamped: Wiggins and Goldstein, Phys. Rev. Lett.
    80 (1998), without its inertia.
    """
    rod = cantilever(LENGTH, edges + 1, SOFT)
    free = np.flatnonzero(~rod.held.any(axis=1))
    s = rod.nodes[:, 0] - rod.nodes[free[0] - 1, 0]
    z, k = FIRST * LENGTH, FIRST * s
    q = (np.cosh(z) + np.cos(z)) / (np.sinh(z) + np.sin(z))
    mode = np.cosh(k) - np.cos(k) - q * (np.sinh(k) - np.sin(k))
    start = rod.nodes.copy()
    start[free, 1] += 5e-6 * mode[free]
    spring = EI * FIRST**4
    drag = 100.0 * np.sqrt(spring * DENSITY)
    rate = (drag - np.sqrt(drag**2 - 4.0 * DENSITY * spring)) / (2.0 * DENSITY)
    world = World(
        replace(rod, nodes=start),
        gravity=FREE,
        damping=UNDAMPED,
        fluid=Fluid(0.5 * drag, drag),
    )
    way = [
        (one.time, one.x[-1, 1] - rod.nodes[-1, 1])
        for one in _steps(world, 0.01 / rate, 1.0 / rate)
    ]
    (t0, y0), (t1, y1) = way[20], way[-1]
    return float(np.log(y0 / y1) / (t1 - t0) / rate) - 1.0


def test_a_bent_filament_decays_as_the_beam_equation_with_drag_has_it():
    coarse, fine = _decay(10), _decay(20)
    assert abs(fine) < 5e-3
    assert coarse / fine == pytest.approx(4.0, abs=0.3)
