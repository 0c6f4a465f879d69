"""A Kresling cell is stable where its bars have their lengths."""

import numpy as np
import pytest
from scipy.optimize import minimize, minimize_scalar

from analysis.designs.energy_profile import rests
from sim.arrays import Floats
from sim.origami.folding.folding import run
from sim.origami.folding.sheet import Sheet
from sim.origami.loading.phases import Displace
from sim.origami.model.concentrated import concentrated_mesh
from sim.origami.model.contact import Contact
from sim.origami.model.material import SheetMaterial
from sim.origami.pattern.units import kresling

SOFT = SheetMaterial(2e9, 2e9, 2e-4, 1e-5, 2e-3)
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
