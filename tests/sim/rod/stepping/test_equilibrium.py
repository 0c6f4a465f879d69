"""Shapes at rest and free vibrations against elastic rod theory."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.integrate import solve_bvp
from scipy.linalg import eigh
from scipy.optimize import brentq, minimize
from scipy.special import ellipk

from sim.arrays import Floats
from sim.convergence import NotConvergedError
from sim.rod.contact.ground import GroundPlane, Wave
from sim.rod.contact.standing import standing
from sim.rod.gravity import GRAVITY
from sim.rod.rod.rod import (
    Rod,
    RodMaterial,
    cantilever,
    hold,
    moved,
    ring,
)
from sim.rod.stepping.equilibrium import hung, settle
from sim.rod.stepping.step import RodStep
from sim.rod.stepping.world import NodeLoad, World
from tests.sim.rod.known import THIN, dense_stiffness, ribbon, straight, table

L = 0.1
R = 0.05


def _under_weight(W: float, n: int) -> Floats:
    """Tip (x, drop) / L of a cantilever under W = rho A g L^3 / EI."""
    g = W * THIN.bending / (THIN.line_density * L**3)
    end = settle(World(cantilever(L, n, THIN), gravity=(0.0, -g)))
    return np.array([end.x[-1, 0], -end.x[-1, 1]]) / L


@pytest.mark.parametrize("row", table("cantilever_weight.csv"), ids=lambda r: r["W"])
def test_a_cantilever_hangs_as_the_elastica_does(row: dict[str, float]) -> None:
    x, drop = _under_weight(row["W"], 84)
    assert x == pytest.approx(row["x_tip_over_L"], abs=5e-4)
    assert drop == pytest.approx(row["drop_over_L"], rel=5e-4)


@pytest.mark.parametrize("row", table("cantilever_tip.csv"), ids=lambda r: r["P"])
def test_a_force_bends_a_cantilever_as_the_elastica(row: dict[str, float]) -> None:
    rod = cantilever(L, 84, THIN)
    force = row["P"] * THIN.bending / L**2
    end = settle(World(rod, gravity=(0.0, 0.0), load=NodeLoad([83], (0.0, -force))))
    tip = np.array([end.x[-1, 0], -end.x[-1, 1]]) / L
    assert tip == pytest.approx([row["x_tip_over_L"], row["drop_over_L"]], rel=1e-3)


def test_the_drop_of_a_cantilever_converges_with_order_two() -> None:
    row = next(row for row in table("cantilever_weight.csv") if row["W"] == 5.0)
    errors = [abs(_under_weight(5.0, n)[1] - row["drop_over_L"]) for n in (11, 21, 41)]
    # n - 1.5 edges make up the length
    sizes = 1.0 / (np.array([11, 21, 41]) - 1.5)
    slope = np.polyfit(np.log(sizes), np.log(errors), 1)[0]
    assert slope == pytest.approx(2.0, abs=0.1)


def _ring_at_rest(gamma: float, n: int = 120) -> RodStep:
    """On a node of its polygon, which would fall on an edge."""
    world = World(ribbon(gamma, R, n), GroundPlane(), friction=0.0)
    return settle(world, minimum=False)


@pytest.mark.parametrize("row", table("heavy_ring.csv"), ids=lambda r: r["gamma"])
def test_a_heavy_ring_rests_as_the_boundary_value_problem(
    row: dict[str, float],
) -> None:
    end = _ring_at_rest(row["gamma"])
    height, width = np.ptp(end.x[:, 1]) / R, np.ptp(end.x[:, 0]) / R
    assert height == pytest.approx(row["height_over_R"], rel=1e-3)
    assert width == pytest.approx(row["width_over_R"], rel=1e-3)
    touching = np.count_nonzero(end.reaction[:, 1] > 0.0)
    assert (touching - 1) / 120 == pytest.approx(row["contact_fraction"], abs=1 / 120)
    weight = ribbon(row["gamma"], R, 120).mass.sum() * GRAVITY
    assert end.reaction[:, 1].sum() == pytest.approx(weight, rel=1e-6)


def _height_on_a_point(gamma: float) -> float:
    """height / R of a heavy elastic ring on a point, from the bottom to the top.

    With R = EI = 1 and w = 1 / gamma^3: kappa' = -(F_y cos theta - F_x sin theta),
    F_y = w (s - pi), F_x constant and unknown.
    """
    w = gamma**-3

    def slope(s: Floats, y: Floats, p: Floats) -> Floats:
        theta, kappa = y[0], y[1]
        bend = -(w * (s - np.pi) * np.cos(theta) - p[0] * np.sin(theta))
        return np.array([kappa, bend, np.cos(theta), np.sin(theta)])

    def ends(a: Floats, b: Floats, p: Floats) -> Floats:
        del p
        return np.array([a[0], a[2], a[3], b[0] - np.pi, b[2]])

    s = np.linspace(0.0, np.pi, 200)
    circle = np.array([s, np.ones_like(s), np.sin(s), 1.0 - np.cos(s)])
    found = solve_bvp(slope, ends, s, circle, p=np.array([0.0]), tol=1e-8)
    assert found.success
    return float(found.y[3, -1])


def _drop(gamma: float, end: RodStep) -> float:
    """How much lower it is than without weight, over R."""
    free = ribbon(gamma, R, len(end.x)).nodes
    return float(np.ptp(free[:, 1]) - np.ptp(end.x[:, 1])) / R


@pytest.mark.parametrize("gamma", [1.2, 2.0, 5.0])
def test_a_stiff_ring_rests_on_a_point(gamma: float) -> None:
    end = _ring_at_rest(gamma)
    height = _height_on_a_point(gamma)
    assert np.ptp(end.x[:, 1]) / R == pytest.approx(height, rel=1e-3)
    assert _drop(gamma, end) == pytest.approx(2.0 - height, rel=3e-3)
    assert np.count_nonzero(end.reaction[:, 1] > 0.0) == 1


def test_the_drop_of_a_very_stiff_ring_is_that_of_small_deflections() -> None:
    """(pi^2 / 4 - 2) w R^4 / EI, as handbooks give it; N = 120."""
    drop = _drop(12.0, _ring_at_rest(12.0))
    assert drop == pytest.approx((np.pi**2 / 4.0 - 2.0) / 12.0**3, rel=5e-3)


def _curvature_at_contact(gamma: float, n: int) -> float:
    """Curvature of the lowest node of a ring that stands on it alone."""
    rod = ribbon(gamma, R, n)
    rod.held[0] = True
    rod.held[n // 2, 0] = True  # it would fall over
    x = settle(World(rod)).x
    e, f = x[0] - x[-1], x[1] - x[0]
    return float(e[0] * f[1] - e[1] * f[0])


def test_line_contact_begins_at_the_critical_gamma() -> None:
    sizes = np.array([60, 120, 240])
    zeros = [brentq(_curvature_at_contact, 1.1, 1.3, args=(n,)) for n in sizes]
    limit = np.polyfit(1.0 / sizes**2, zeros, 1)[1]
    assert limit == pytest.approx(1.19028, abs=0.02)


def _pressed(load: float, side: float, **options: bool) -> Floats:
    """(2,) where the top of a clamped column ends, over L; load over that of Euler."""
    rod = cantilever(L, 42, THIN)
    force = load * np.pi**2 * THIN.bending / (4.0 * L**2)
    pressing = NodeLoad([41], (-force, side * force))
    end = settle(World(rod, gravity=(0.0, 0.0), load=pressing), **options)
    top: Floats = end.x[-1] / L
    return top


def test_a_column_at_twice_its_buckling_load_bends_to_its_side_load() -> None:
    """Elastica: K(k) = pi / 2 sqrt(P / P_E), deflection 2 k / K = 0.797 L.

    A side load of 1e-4 decides the side; straight, it stays where it is unstable.
    """
    root = brentq(lambda m: ellipk(m) - 0.5 * np.pi * np.sqrt(2.0), 0.1, 0.95)
    deflection = 2.0 * np.sqrt(root) / ellipk(root)
    assert deflection == pytest.approx(0.797, abs=1e-3)
    assert _pressed(2.0, 1e-4)[1] == pytest.approx(deflection, rel=2e-3)
    assert _pressed(2.0, -1e-4)[1] == pytest.approx(-deflection, rel=2e-3)
    assert abs(_pressed(2.0, 0.0)[1]) == pytest.approx(deflection, rel=2e-3)
    assert abs(_pressed(2.0, 1e-4, minimum=False)[1]) < 1e-3


@pytest.mark.parametrize(
    ("load", "side"), [(1.7, 1e-4), (2.5, 3e-4), (6.0, 1e-4), (7.0, 1e-3)]
)
def test_a_pressed_column_sinks_to_the_side_of_its_side_load(
    load: float, side: float
) -> None:
    """A long step from a shape near the saddle ended on the other side, or never."""
    root = brentq(lambda m: ellipk(m) - 0.5 * np.pi * np.sqrt(load), 0.1, 0.999)
    deflection = 2.0 * np.sqrt(root) / ellipk(root)
    assert _pressed(load, side)[1] == pytest.approx(deflection, rel=4e-3)


@pytest.mark.parametrize(("nodes", "start"), [(3, 0.05), (3, 0.15), (6, 0.15)])
def test_a_rod_without_friction_rests_in_a_trough_and_on_no_crest(
    nodes: int, start: float
) -> None:
    """The force of the ground bows down over a crest: its middle node leaves it."""
    wave = Wave(start=start)  # of 200 mm, with a crest or a trough at 0
    rod = moved(straight(0.01, nodes, RodMaterial(1e7)), by=np.array([-0.005, 0.0]))
    rod = standing(rod, wave, 0.0 if start == 0.05 else 3e-3)
    x = rod.mass @ settle(World(rod, wave, friction=0.0)).x / rod.mass.sum()
    assert abs(x[0]) == pytest.approx(0.1 if start == 0.05 else 0.0, abs=1e-6)


class _Obstacle:
    """Energy of a rod above a wave, over weight and edge, and how far it is above."""

    def __init__(self, rod: Rod, material: RodMaterial, wave: Wave) -> None:
        self.rod, self.material, self.wave = rod, material, wave
        self.edge = float(rod.rest_length[0])
        self.free = ~rod.held.ravel()

    def placed(self, z: Floats) -> Floats:
        x = self.rod.nodes.ravel().copy()
        x[self.free] = self.edge * z
        return x.reshape(-1, 2)

    def energy(self, x: Floats) -> float:
        e, unit = np.diff(x, axis=0), self.edge
        length = np.hypot(e[:, 0], e[:, 1])
        cross = e[:-1, 0] * e[1:, 1] - e[:-1, 1] * e[1:, 0]
        cosine = length[:-1] * length[1:] + (e[:-1] * e[1:]).sum(axis=1)
        stored = self.material.stretching * unit * np.square(length / unit - 1.0).sum()
        stored += self.material.bending / unit * np.square(2.0 * cross / cosine).sum()
        mass = self.rod.mass
        return float(0.5 * stored / GRAVITY + mass @ x[:, 1]) / (
            unit * float(mass.sum())
        )

    def above(self, x: Floats) -> Floats:
        wave = self.wave
        phase = 2.0 * np.pi * (x[:, 0] + wave.start) / wave.wavelength
        found: Floats = (x[:, 1] - wave.amplitude * np.sin(phase)) / self.edge
        return found

    def rest(self) -> Floats:
        """By SLSQP."""
        found = minimize(
            lambda z: self.energy(self.placed(z)),
            self.rod.nodes.ravel()[self.free] / self.edge,
            method="SLSQP",
            constraints={"type": "ineq", "fun": lambda z: self.above(self.placed(z))},
            options={"maxiter": 2000, "ftol": 1e-15},
        )
        return self.placed(found.x)


@pytest.mark.parametrize(
    ("modulus", "start", "x", "size", "held"),
    [
        (1e5, 0.05, 0.0, 1.0, True),
        (1e6, 0.05, 0.0, 1.0, True),
        (1e5, 0.05, 0.02, 1.0, False),
        (1e6, 0.15, 0.02, 100.0, False),
    ],
)
def test_a_heavy_rod_rests_on_the_wave_as_on_an_obstacle(
    modulus: float, start: float, x: float, size: float, held: bool
) -> None:
    """Held on the crest, or slid from where it lies into a trough; nothing rubs."""
    material = RodMaterial(modulus * size, 1912.0, 2e-3 * size, 18e-3 * size)
    wave = Wave(6.5e-3 * size, 0.2 * size, start=start * size)
    rod = moved(straight(0.1 * size, 11, material), by=np.array([-0.05 * size, 0.0]))
    rod = standing(rod, wave, x * size)
    rod = hold(rod, [5]) if held else rod
    told = settle(World(rod, wave, friction=0.0)).x
    obstacle = _Obstacle(rod, material, wave)
    found = obstacle.rest()
    assert abs(obstacle.above(told).min()) < 1e-9
    assert obstacle.energy(told) < obstacle.energy(found) + 1e-9
    off = (told - found) / obstacle.edge
    assert np.abs(off).max() < (1e-5 if held else 5e-3)  # SLSQP ends before its trough
    if not held:
        middle = rod.mass @ told[:, 0] / rod.mass.sum() / size
        assert middle == pytest.approx(0.1 if start == 0.05 else 0.0, abs=1e-6)


def test_a_rest_on_curved_ground_stays_where_it_is_settled_again() -> None:
    """A step of many seconds goes far by no force: what still slides does not rest."""
    wave = Wave(6.5e-3, 0.2, start=0.017)
    material = RodMaterial(1.03e6, 1912.0, 2e-3, 18e-3)
    rod = moved(straight(0.2, 14, material), by=np.array([-0.1, 0.0]))
    rod = standing(rod, wave, 0.054)
    told = settle(World(rod, wave, friction=0.0)).x
    again = settle(World(replace(rod, nodes=told), wave, friction=0.0)).x
    assert np.abs(again - told).max() < 1e-5 * rod.rest_length[0]


def test_a_column_below_its_buckling_load_stays_straight() -> None:
    assert _pressed(0.9, 0.0)[1] == pytest.approx(0.0, abs=1e-9)


def _frequencies(rod: Rod, unit: float, count: int) -> Floats:
    """The lowest frequencies that are not rigid motions, in units of `unit`."""
    free = ~rod.held.ravel()
    K = dense_stiffness(rod, rod.nodes)[np.ix_(free, free)]
    M = np.diag(np.repeat(rod.mass, 2)[free])
    square = eigh(K, M, eigvals_only=True)
    elastic = square[square > 1e-2 * unit**2]
    return np.asarray(np.sqrt(elastic[:count]) / unit)


def test_a_cantilever_vibrates_as_a_beam() -> None:
    unit = np.sqrt(THIN.bending / (THIN.line_density * L**4))
    found = _frequencies(cantilever(L, 168, THIN), unit, 3)
    assert found == pytest.approx([3.516015268, 22.03449156, 61.69721441], rel=1e-3)


def test_a_free_rod_vibrates_as_a_beam() -> None:
    unit = np.sqrt(THIN.bending / (THIN.line_density * L**4))
    found = _frequencies(straight(L, 168, THIN), unit, 3)
    assert found == pytest.approx([22.37328545, 61.67282287, 120.9033917], rel=1e-3)


def test_a_free_ring_vibrates_as_an_inextensible_ring() -> None:
    unit = np.sqrt(THIN.bending / (THIN.line_density * R**4))
    theory = np.repeat([2.683281573, 7.589466384, 14.5521375], 2)
    sizes = np.array([60, 120, 240])
    found = [_frequencies(ring(R, n, THIN), unit, 6) for n in sizes]
    assert found[-1] == pytest.approx(theory, rel=1e-3)
    errors = [np.abs(f / theory - 1.0).max() for f in found]
    slope = np.polyfit(np.log(sizes), np.log(errors), 1)[0]
    assert slope == pytest.approx(-2.0, abs=0.1)


def test_an_equilibrium_that_does_not_exist_is_reported() -> None:
    """Nothing stops a rod that falls freely."""
    with pytest.raises(NotConvergedError, match="no equilibrium"):
        settle(World(straight(L, 5, THIN)), max_steps=20)


def test_a_beam_under_a_weight_sinks_by_the_inverse_of_its_modulus() -> None:
    """P L^3 / 3 EI at the tip."""
    material = RodMaterial(modulus=3.0e6)
    rod = cantilever(0.1, 40, material)
    world = World(rod, gravity=(0.0, 0.0))
    force = 1e-5
    rest = hung(world, NodeLoad([39], (0.0, -force)))
    tip = rest.rod.nodes[-1, 1]
    assert tip == pytest.approx(-force * 1e-3 / (3.0 * material.bending), rel=2e-3)
