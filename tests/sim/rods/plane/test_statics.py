"""Shapes at rest, rings that lie on themselves and free vibrations, against theory."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.linalg import eigh
from scipy.optimize import brentq
from scipy.special import ellipk

from pipeline.cases.ribbon import HeavyRingCase
from sim.core.arrays import Floats
from sim.core.options import NotConvergedError
from sim.rods.plane.builders import RodDraft
from sim.rods.plane.contact_impulses import OPEN, coulomb, scratch
from sim.rods.plane.ground import GroundPlane, Wave, set_on_ground
from sim.rods.plane.rod import (
    GRAVITY,
    Rod,
    RodMaterial,
    cantilever,
    moved,
    ring,
)
from sim.rods.plane.state import RodStep
from sim.rods.plane.statics import hung, solve_static
from sim.rods.plane.world import DistributedLoad, NodeLoad, World
from tests.recorded import summary
from tests.sim.rods.heavy_elastica import heavy_ring
from tests.sim.rods.known import THIN, dense_stiffness, ribbon, straight, table

L = 0.1
R = 0.05


def _under_weight(W: float, n: int) -> Floats:
    """Tip (x, drop) / L of a cantilever under W = rho A g L^3 / EI."""
    g = W * THIN.bending / (THIN.line_density * L**3)
    end = solve_static(World(cantilever(L, n, THIN), gravity=(0.0, -g)))
    return np.array([end.x[-1, 0], -end.x[-1, 1]]) / L


@pytest.mark.parametrize("row", table("cantilever_weight.csv"), ids=lambda r: r["W"])
def test_a_cantilever_hangs_as_the_elastica_does(row):
    x, drop = _under_weight(row["W"], 84)
    assert x == pytest.approx(row["x_tip_over_L"], abs=5e-4)
    assert drop == pytest.approx(row["drop_over_L"], rel=5e-4)


@pytest.mark.parametrize("row", table("cantilever_tip.csv"), ids=lambda r: r["P"])
def test_a_force_bends_a_cantilever_as_the_elastica(row):
    rod = cantilever(L, 84, THIN)
    force = row["P"] * THIN.bending / L**2
    end = solve_static(
        World(rod, gravity=(0.0, 0.0), load=NodeLoad([83], (0.0, -force)))
    )
    tip = np.array([end.x[-1, 0], -end.x[-1, 1]]) / L
    assert tip == pytest.approx([row["x_tip_over_L"], row["drop_over_L"]], rel=1e-3)


def test_the_drop_of_a_cantilever_converges_with_order_two():
    row = next(row for row in table("cantilever_weight.csv") if row["W"] == 5.0)
    errors = [abs(_under_weight(5.0, n)[1] - row["drop_over_L"]) for n in (11, 21, 41)]
    # n - 1.5 edges make up the length
    sizes = 1.0 / (np.array([11, 21, 41]) - 1.5)
    slope = np.polyfit(np.log(sizes), np.log(errors), 1)[0]
    assert slope == pytest.approx(2.0, abs=0.1)


def _ring_at_rest(gamma: float, n: int = 120) -> RodStep:
    """On a node of its polygon, which would fall on an edge."""
    world = World(ribbon(gamma, R, n), GroundPlane(), friction=0.0)
    return solve_static(world, minimum=False)


@pytest.mark.parametrize("row", table("heavy_ring.csv"), ids=lambda r: r["gamma"])
def test_a_heavy_ring_rests_as_the_boundary_value_problem(row):
    end = _ring_at_rest(row["gamma"])
    height, width = np.ptp(end.x[:, 1]) / R, np.ptp(end.x[:, 0]) / R
    assert height == pytest.approx(row["height_over_R"], rel=1e-3)
    assert width == pytest.approx(row["width_over_R"], rel=1e-3)
    touching = np.count_nonzero(end.reaction[:, 1] > 0.0)
    assert (touching - 1) / 120 == pytest.approx(row["contact_fraction"], abs=1 / 120)
    weight = ribbon(row["gamma"], R, 120).mass.sum() * GRAVITY
    assert end.reaction[:, 1].sum() == pytest.approx(weight, rel=1e-6)


def test_the_drop_of_a_very_stiff_ring_is_that_of_small_deflections():
    """(pi^2 / 4 - 2) w R^4 / EI, as handbooks give it; N = 120."""
    free = ribbon(12.0, R, 120).nodes
    drop = (np.ptp(free[:, 1]) - np.ptp(_ring_at_rest(12.0).x[:, 1])) / R
    assert drop == pytest.approx((np.pi**2 / 4.0 - 2.0) / 12.0**3, rel=5e-3)


def _curvature_at_contact(gamma: float, n: int) -> float:
    """Curvature of the lowest node of a ring that stands on it alone."""
    rod = ribbon(gamma, R, n)
    rod.held[0] = True
    rod.held[n // 2, 0] = True  # it would fall over
    x = solve_static(World(rod)).x
    e, f = x[0] - x[-1], x[1] - x[0]
    return float(e[0] * f[1] - e[1] * f[0])


def test_line_contact_begins_at_the_critical_gamma():
    sizes = np.array([60, 120, 240])
    zeros = [brentq(_curvature_at_contact, 1.1, 1.3, args=(n,)) for n in sizes]
    limit = np.polyfit(1.0 / sizes**2, zeros, 1)[1]
    assert limit == pytest.approx(1.19028, abs=0.02)


def _pressed(load: float, side: float, **options: bool) -> Floats:
    """(2,) where the top of a clamped column ends, over L; load over that of Euler."""
    rod = cantilever(L, 42, THIN)
    force = load * np.pi**2 * THIN.bending / (4.0 * L**2)
    pressing = NodeLoad([41], (-force, side * force))
    end = solve_static(World(rod, gravity=(0.0, 0.0), load=pressing), **options)
    top: Floats = end.x[-1] / L
    return top


def _bent_column(load: float) -> float:
    """Deflection of the elastica over L: 2 k / K, K(k) = pi / 2 sqrt(P / P_E)."""
    root = brentq(lambda m: ellipk(m) - 0.5 * np.pi * np.sqrt(load), 0.1, 0.999)
    return float(2.0 * np.sqrt(root) / ellipk(root))


def test_a_column_at_twice_its_buckling_load_bends_to_its_side_load():
    """By 0.797 L; at 0.9 of that load it stays straight.

    A side load of 1e-4 decides the side; straight, it stays where it is unstable.
    """
    deflection = _bent_column(2.0)
    assert deflection == pytest.approx(0.797, abs=1e-3)
    assert _pressed(2.0, 1e-4)[1] == pytest.approx(deflection, rel=2e-3)
    assert _pressed(2.0, -1e-4)[1] == pytest.approx(-deflection, rel=2e-3)
    assert abs(_pressed(2.0, 0.0)[1]) == pytest.approx(deflection, rel=2e-3)
    assert abs(_pressed(2.0, 1e-4, minimum=False)[1]) < 1e-3
    assert _pressed(0.9, 0.0)[1] == pytest.approx(0.0, abs=1e-9)


@pytest.mark.parametrize(
    ("load", "side"), [(1.7, 1e-4), (2.5, 3e-4), (6.0, 1e-4), (7.0, 1e-3)]
)
def test_a_pressed_column_sinks_to_the_side_of_its_side_load(load, side):
    """A long step from a shape near the saddle ended on the other side, or never."""
    assert _pressed(load, side)[1] == pytest.approx(_bent_column(load), rel=4e-3)


@pytest.mark.parametrize(("nodes", "start"), [(3, 0.05), (3, 0.15), (6, 0.15)])
def test_a_rod_without_friction_rests_in_a_trough_and_on_no_crest(nodes, start):
    """The force of the ground bows down over a crest: its middle node leaves it."""
    wave = Wave(start=start)  # of 200 mm, with a crest or a trough at 0
    rod = moved(straight(0.01, nodes, RodMaterial(1e7)), by=np.array([-0.005, 0.0]))
    rod = set_on_ground(rod, wave, 0.0 if start == 0.05 else 3e-3)
    x = rod.mass @ solve_static(World(rod, wave, friction=0.0)).x / rod.mass.sum()
    assert abs(x[0]) == pytest.approx(0.1 if start == 0.05 else 0.0, abs=1e-6)


def test_a_rest_on_curved_ground_stays_where_it_is_settled_again():
    """A step of many seconds goes far by no force: what still slides does not rest."""
    wave = Wave(6.5e-3, 0.2, start=0.017)
    material = RodMaterial(1.03e6, 1912.0, 2e-3, 18e-3)
    rod = moved(straight(0.2, 14, material), by=np.array([-0.1, 0.0]))
    rod = set_on_ground(rod, wave, 0.054)
    told = solve_static(World(rod, wave, friction=0.0)).x
    again = solve_static(World(replace(rod, nodes=told), wave, friction=0.0)).x
    assert np.abs(again - told).max() < 1e-5 * rod.rest_length[0]


def _frequencies(rod: Rod, unit: float, count: int) -> Floats:
    """The lowest frequencies that are not rigid motions, in units of `unit`."""
    free = ~rod.held.ravel()
    K = dense_stiffness(rod, rod.nodes)[np.ix_(free, free)]
    M = np.diag(np.repeat(rod.mass, 2)[free])
    square = eigh(K, M, eigvals_only=True)
    elastic = square[square > 1e-2 * unit**2]
    return np.asarray(np.sqrt(elastic[:count]) / unit)


def test_a_cantilever_vibrates_as_a_beam():
    unit = np.sqrt(THIN.bending / (THIN.line_density * L**4))
    found = _frequencies(cantilever(L, 168, THIN), unit, 3)
    assert found == pytest.approx([3.516015268, 22.03449156, 61.69721441], rel=1e-3)


def test_a_free_ring_vibrates_as_an_inextensible_ring():
    unit = np.sqrt(THIN.bending / (THIN.line_density * R**4))
    theory = np.repeat([2.683281573, 7.589466384, 14.5521375], 2)
    sizes = np.array([60, 120, 240])
    found = [_frequencies(ring(R, n, THIN), unit, 6) for n in sizes]
    assert found[-1] == pytest.approx(theory, rel=1e-3)
    errors = [np.abs(f / theory - 1.0).max() for f in found]
    slope = np.polyfit(np.log(sizes), np.log(errors), 1)[0]
    assert slope == pytest.approx(-2.0, abs=0.1)


def test_an_equilibrium_that_does_not_exist_is_reported():
    """Nothing stops a rod that falls freely."""
    with pytest.raises(NotConvergedError, match="no equilibrium"):
        solve_static(World(straight(L, 5, THIN)), max_steps=20)


def test_a_beam_under_a_weight_sinks_by_the_inverse_of_its_modulus():
    """P L^3 / 3 EI at the tip."""
    material = RodMaterial(modulus=3.0e6)
    rod = cantilever(0.1, 40, material)
    world = World(rod, gravity=(0.0, 0.0))
    force = 1e-5
    rest = hung(world, NodeLoad([39], (0.0, -force)))
    tip = rest.rod.nodes[-1, 1]
    assert tip == pytest.approx(-force * 1e-3 / (3.0 * material.bending), rel=2e-3)


@pytest.mark.parametrize("row", table("heavy_ring.csv")[:2], ids=lambda r: r["gamma"])
def test_the_elastica_are_those_of_the_boundary_value_problem(row):
    ring = heavy_ring(row["gamma"])
    assert ring.height == pytest.approx(row["height_over_R"], abs=1e-7)
    assert ring.on_ground == pytest.approx(row["contact_fraction"], abs=1e-7)


ON_ITSELF = [
    pytest.param(gamma, 480, marks=pytest.mark.long)
    for gamma in (0.57, 0.55, 0.5, 0.45, 0.4, 0.35, 0.3)
]


@pytest.mark.parametrize(
    ("gamma", "nodes"), [(0.75, 480), (0.6, 480), (0.5, 240), *ON_ITSELF]
)
def test_a_ring_rests_as_the_elastica_its_top_free_or_on_its_bottom(gamma, nodes):
    """The top is above the bottom, if only by a skin: not beside it on the ground."""
    found, known = summary(HeavyRingCase(gamma, nodes)), heavy_ring(gamma)
    assert found["height_over_R"] > 0.0
    assert found["height_over_R"] == pytest.approx(known.height, abs=1e-3)
    assert found["highest_over_R"] == pytest.approx(known.highest, abs=1e-3)
    assert found["contact_fraction"] == pytest.approx(known.on_ground, abs=1e-3)
    assert found["self_contact_fraction"] == pytest.approx(known.on_itself, abs=1e-3)


def test_a_ring_of_few_nodes_comes_to_rest_on_itself():
    """Its nodes lie on nodes, and its contacts come by turns: once without an end."""
    found, known = summary(HeavyRingCase(0.35, 120)), heavy_ring(0.35)
    assert found["height_over_R"] == pytest.approx(known.height, abs=1e-3)
    assert found["contact_fraction"] == pytest.approx(known.on_ground, abs=2e-3)
    assert found["self_contact_fraction"] == pytest.approx(known.on_itself, abs=0.01)


def test_contacts_without_friction_that_say_the_same_are_solved():
    """30 pairs of equal rows: any share between the two of a pair is right."""
    rng = np.random.default_rng(3)
    for _ in range(20):
        one = rng.standard_normal((30, 30))
        two = np.repeat(one @ one.T, 2, axis=0).repeat(2, axis=1)
        W = np.zeros((120, 120))
        W[::2, ::2] = two + 1e-9 * np.diag(np.diag(two))
        W[1::2, 1::2] = np.eye(60)
        b = np.zeros(120)
        b[::2] = np.repeat(rng.standard_normal(30), 2)
        p, state = np.zeros(120), np.full(60, OPEN, dtype=np.int64)
        left = coulomb(W, b, 0.0, state, p, scratch(60, 60))
        assert left < 1e-9
        assert p[::2].min() >= 0.0
        assert (b + W @ p)[::2].min() > -1e-9


@pytest.mark.parametrize("slope", [-20.0, 20.0])
@pytest.mark.parametrize("kind", ["weight", "load", "spread"])
def test_an_upright_rod_falls_to_the_lower_side(kind, slope):
    """It stands on a pin above a slope, by its weight, a force, or a load along it."""
    draft, s = RodDraft(pins=[0]), np.linspace(0.0, 0.1, 6)
    draft.curve(np.column_stack([0.0 * s, s]), THIN)
    rod = draft.rod()
    force, still = GRAVITY * float(rod.mass.sum()), {"gravity": (0.0, 0.0)}
    spread = DistributedLoad([*range(5)], force=(0.0, -10.0 * force))
    own = {
        "weight": {},
        "load": {**still, "load": NodeLoad([5], (0.0, -force))},
        "spread": {**still, "distributed_loads": (spread,)},
    }[kind]
    world = World(rod, GroundPlane(slope, -0.03), friction=0.0, **own)
    assert solve_static(world).x[-1, 0] * np.sign(slope) < -0.07
