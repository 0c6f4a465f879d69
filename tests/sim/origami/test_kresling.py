"""A Kresling cell is stable where its bars have their lengths."""

import numpy as np
import pytest

from analysis.energy_profile import rests
from sim.core.arrays import Floats
from sim.origami.fold_and_load_phases import Displace
from sim.origami.folding.fold_simulation import run
from sim.origami.folding.sheet import Contact, Sheet
from sim.origami.model.mesh import concentrated_mesh
from sim.origami.model.sheet_material import SheetMaterial
from sim.origami.pattern.generators import kresling

SIDES, R, H, TWIST = 6, 0.02, 0.022, 45.0


def lengths(h: float, twist: float) -> Floats:
    """(2,) of a mountain and a valley between polygons, m."""
    turns = np.array([twist, twist + 2 * np.pi / SIDES])
    return np.asarray(np.sqrt(h**2 + 4 * R**2 * np.sin(turns / 2) ** 2))


def test_a_kresling_cell_is_stable_at_both_heights_of_its_bars():
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
    assert H + found[2].moved == pytest.approx(height, abs=5e-5)
