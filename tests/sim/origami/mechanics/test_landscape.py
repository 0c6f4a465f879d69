"""Energies by held folds: of rigid vertices, of square twists, of a Kresling cell."""

import itertools
from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import minimize, minimize_scalar

from analysis.designs.energy_profile import rests
from sim.arrays import Floats
from sim.origami.folding.folding import run
from sim.origami.folding.sheet import Sheet
from sim.origami.loading.phases import Displace, Fold
from sim.origami.mechanics.basins import basins
from sim.origami.mechanics.landscape import landscape
from sim.origami.model.concentrated import concentrated_mesh
from sim.origami.model.contact import Contact
from sim.origami.model.material import SheetMaterial
from sim.origami.pattern.holding import largest_panel_held
from sim.origami.pattern.pattern import CreasePattern
from sim.origami.pattern.units import kresling, square_twist, vertex

SOFT = SheetMaterial(2e9, 2e9, 2e-4, 1e-5, 2e-3)


def held(pattern: CreasePattern, material: SheetMaterial = SOFT) -> Sheet:
    mesh = concentrated_mesh(pattern, material)
    return Sheet(
        mesh, largest_panel_held(pattern), Contact(rules="full", enabled=False)
    )


def edge(pattern: CreasePattern, *ends: int) -> int:
    return pattern.edges.tolist().index(sorted(ends))


FLAT = vertex([60, 80, 120, 100], radius=0.03)


def energy_at(first: float, second: float) -> float:
    """Of the vertex, least over the ways to two folds that the grid has, degrees."""
    way = np.linspace(0, 1, 15)
    axes = [np.sort(np.radians(way * fold)) for fold in (first, second)]
    one, other = edge(FLAT, 0, 1), edge(FLAT, 0, 2)
    fold = Fold(creases=[one], angles=[1.0], increments=1, tolerance=1e-10)
    found = {s.at: s for s in landscape(held(FLAT), fold, [[one], [other]], axes)}
    corner = tuple(0 if fold < 0 else len(way) - 1 for fold in (first, second))
    assert np.degrees(found[corner].asked) == pytest.approx([first, second])
    return found[corner].energy


def test_a_vertex_of_four_creases_folds_free_along_two_lines() -> None:
    """tan of half the folds of neighbours is in one of two ratios (Tachi, 2009; Lang,
    2018): with the sector between them and that after the second,
    -cos((A + B)/2) / cos((A - B)/2) and -sin((A + B)/2) / sin((A - B)/2)."""
    A, B = np.radians([60.0, 80.0])
    ratios = [
        -np.cos((A + B) / 2) / np.cos((A - B) / 2),
        np.sin((A + B) / 2) / np.sin((A - B) / 2),
    ]
    creases = sum(SOFT.whole_crease(0.03) for _ in range(4))
    for ratio in ratios:
        first = 70.0 if abs(ratio) < 1 else 20.0
        second = np.degrees(2 * np.arctan(ratio * np.tan(np.radians(first / 2))))
        free = energy_at(first, second)
        assert free < creases * np.pi**2 / 2
        assert energy_at(first, -second) > 100 * free


def test_the_slope_of_the_energy_is_the_moment_that_holds_the_creases() -> None:
    one, other = edge(FLAT, 0, 1), edge(FLAT, 0, 2)
    axes = [np.radians([39.0, 40.0, 41.0]), np.radians([24.0, 25.0, 26.0])]
    fold = Fold(creases=[one], angles=[1.0], increments=1, tolerance=1e-10)
    stiff = held(FLAT, replace(SOFT, crease_thickness=1e-4))
    steps = {s.at: s for s in landscape(stiff, fold, [[one], [other]], axes)}
    for k, (low, high) in enumerate([((0, 1), (2, 1)), ((1, 0), (1, 2))]):
        rise = steps[high].energy - steps[low].energy
        turn = steps[high].reached - steps[low].reached
        middle = steps[1, 1].moment
        assert rise == pytest.approx(middle @ turn, rel=2e-3)
        assert abs(middle[k] * turn[k]) > 0.1 * abs(rise)


@pytest.mark.parametrize("signs", ["MMMM", "MVMV", "MMVV", "MVVV"])
def test_a_square_twist_has_a_barrier_where_the_signs_of_its_square_do_not_change_twice(
    signs: str,
) -> None:
    changes = sum(p != q for p, q in itertools.pairwise(signs + signs[0]))
    twist = square_twist(signs, side=0.02, flap=0.03, angle=45.0)
    sides = [edge(twist, k, (k + 1) % 4) for k in range(4)]
    driven = sides[:1] if changes == 2 else sides
    axis = np.radians(np.arange(10.0, 176.0, 5.0))
    fold = Fold(fraction=0.05, increments=1, tolerance=1e-9)
    energy = np.empty(len(axis))
    for step in landscape(held(twist), fold, [driven], [axis]):
        energy[step.at] = step.energy
    two = sorted(basins(energy), key=lambda basin: basin.at)
    if changes == 2:
        assert len(two) == 1
        assert (np.diff(energy) > 0).all()
        return
    assert [basin.at for basin in two] == [(0,), (len(axis) - 1,)]
    assert energy.max() > 50 * energy[-1]


def test_pools_of_a_double_well_meet_at_its_pass() -> None:
    x, y = np.linspace(-1.5, 1.5, 61), np.linspace(-0.5, 0.5, 11)
    energy = (x[:, None] ** 2 - 1) ** 2 + 0.1 * x[:, None] + y**2
    deep, shallow = basins(energy)
    assert (x[deep.at[0]], y[deep.at[1]]) == pytest.approx((-1.0, 0.0), abs=0.03)
    assert (x[shallow.at[0]], y[shallow.at[1]]) == pytest.approx((1.0, 0.0), abs=0.03)
    assert deep.climb == np.inf
    along = (x**2 - 1) ** 2 + 0.1 * x
    top = along[(x > -0.5) & (x < 0.5)].max()
    assert shallow.climb == pytest.approx(top - shallow.energy)
    assert deep.inside
    assert shallow.inside
    (rim,) = basins(np.array([3.0, 2.0, 1.0]))
    assert (rim.at, rim.inside) == ((2,), False)


SIDES, R, H, TWIST = 6, 0.02, 0.022, 45.0


def lengths(h: float, twist: float) -> Floats:
    """(2,) of a mountain and a valley between polygons, m."""
    turns = np.array([twist, twist + 2 * np.pi / SIDES])
    return np.asarray(np.sqrt(h**2 + 4 * R**2 * np.sin(turns / 2) ** 2))


def _stretched(bar: Floats, rest: Floats, EA: Floats) -> float:
    return float((0.5 * EA * rest * ((bar**2 - rest**2) / (2 * rest**2)) ** 2).sum())


def truss(h: float, twist: float) -> float:
    """Energy of bars, J: the cell's rims, and each triangle's spokes by its own three
    lengths, their middle where it is least."""
    side = 2 * R * np.sin(np.pi / SIDES)
    now, rest = lengths(h, twist), lengths(H, np.radians(TWIST))
    total = 0.0
    for order in ((side, 1, 0), (side, 1, 0)):
        was = np.array([order[0], rest[1], rest[0]])
        here = np.array([order[0], now[1], now[0]])
        corners = [_triangle(was), _triangle(here)]
        spokes = np.linalg.norm(corners[0] - corners[0].mean(axis=0), axis=1)
        s = was.sum() / 2
        area = np.sqrt(s * np.prod(s - was))
        EA = SOFT.panel_bar(2e-4, area, was.sum() + spokes.sum())
        total += _stretched(here[1:], was[1:], np.full(2, EA))

        def inside(
            c: Floats, corners: list[Floats] = corners, spokes: Floats = spokes,
            EA: float = EA,
        ) -> float:  # fmt: skip
            now = np.linalg.norm(corners[1] - c, axis=1)
            return 1e3 * _stretched(now, spokes, np.full(3, EA))

        total += minimize(inside, corners[1].mean(axis=0), tol=1e-12).fun / 1e3
    return SIDES * total


def _triangle(sides: Floats) -> Floats:
    a, b, c = sides
    x = (a**2 + c**2 - b**2) / (2 * a)
    return np.array([[0, 0], [a, 0], [x, np.sqrt(c**2 - x**2)]])


def test_a_kresling_cell_is_stable_at_both_heights_of_its_bars() -> None:
    """Bars keep their lengths at two heights: the twists lie alike on both sides of
    90 degrees less half a side's angle."""
    pattern = kresling(SIDES, radius=R, height=H, twist=TWIST)
    stiff = SheetMaterial(2e9, 2e9, [2e-4] * 12 + [1e-2], 2e-5, 2e-3)
    mesh = concentrated_mesh(pattern, stiff)
    ground = [[k, 1, 1, 1] for k in range(SIDES)]
    sheet = Sheet(mesh, ground, Contact(rules="full", enabled=False))
    top = int(mesh.centre[-1])
    push = Displace([top], [0, 0, -1.0], watch=top, distance=-2e-4, increments=60,
                    tolerance=1e-9)  # fmt: skip
    steps = list(run(sheet, [push]))
    moved = np.array([s.displacement for s in steps])
    energy = np.array([s.energies.sum() for s in steps])
    force = -np.array([s.factor for s in steps])
    found = rests(moved, energy, force)
    assert [bool(rest.stable) for rest in found] == [True, False, True]
    other = np.pi - 2 * np.pi / SIDES - np.radians(TWIST)
    b2 = lengths(H, np.radians(TWIST))[0] ** 2
    height = np.sqrt(b2 - 4 * R**2 * np.sin(other / 2) ** 2)
    assert H + found[2].at == pytest.approx(height, abs=5e-5)
    for step in steps[10:60:16]:
        h = H + step.displacement
        least = minimize_scalar(
            lambda twist, h=h: truss(h, twist), bounds=(0.5, 1.5), method="bounded"
        )
        assert step.energies[2] == pytest.approx(least.fun, rel=0.01)
