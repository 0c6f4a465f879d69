"""Modes and stiffness of two panels on a crease are those of a hinge."""

from dataclasses import replace

import numpy as np
import pytest

from analysis.energy_profile import rests
from sim.origami.fold_and_load_phases import Displace, Fold
from sim.origami.folding.fold_simulation import run
from sim.origami.folding.sheet import Contact, Sheet
from sim.origami.mechanics import (
    Probe,
    eigenmodes,
    stiffness_along,
)
from sim.origami.model.mesh import concentrated_mesh
from sim.origami.model.sheet_material import SheetMaterial
from sim.origami.pattern.generators import kresling
from tests.sim.origami.sheets import MATERIAL, sheet, strip

LENGTH = 0.02
RIGID = replace(MATERIAL, panel_thickness=5e-3, crease_thickness=5e-5)
HINGE = RIGID.whole_crease(LENGTH)


@pytest.fixture(scope="module")
def folded():
    """Two rigid squares, the crease between them by 60 degrees."""
    mesh = concentrated_mesh(strip(2), RIGID)
    two = sheet(mesh)
    crease = int(mesh.pattern.creases[0])
    fold = Fold(creases=[crease], angles=[4 / 3], increments=4, tolerance=1e-10)
    *_, last = run(two, [fold])
    return two, fold, last


def tip(two: Sheet) -> list[int]:
    """The far corners of the second panel."""
    rest = two.mesh.rest
    return np.flatnonzero(np.abs(rest[:, 0] - 2 * LENGTH) < 1e-9).tolist()


def test_the_softest_mode_turns_a_panel_about_its_crease(folded):
    two, fold, last = folded
    soft = eigenmodes(two, fold, last, 3)
    panel = [*tip(two), int(two.mesh.centre[1])]
    squares = 2 * LENGTH**2 + (LENGTH / 2) ** 2
    assert soft.values[0] == pytest.approx(HINGE / squares, rel=1e-3)
    assert soft.values[1] > 100 * soft.values[0]
    normal = np.array([-np.sin(np.pi / 3), 0.0, np.cos(np.pi / 3)])
    assert np.abs(soft.shapes[0, tip(two)] @ normal) == pytest.approx(
        LENGTH / np.sqrt(squares), rel=1e-3
    )
    still = np.delete(soft.shapes[0], panel, axis=0)
    assert np.abs(still).max() < 1e-3


def test_a_panel_resists_at_its_tip_as_its_crease_and_where_held_without_end(folded):
    two, fold, last = folded
    normal = [-np.sin(np.pi / 3), 0.0, np.cos(np.pi / 3)]
    found = stiffness_along(two, fold, last, Probe(tip(two), normal))
    assert found == pytest.approx(HINGE / LENGTH**2, rel=1e-3)
    along = [np.cos(np.pi / 3), 0.0, np.sin(np.pi / 3)]
    assert stiffness_along(two, fold, last, Probe(tip(two), along)) > 1e3 * found
    held = int(two.supports[0][0])
    assert stiffness_along(two, fold, last, Probe([held], [0, 0, 1])) == np.inf


@pytest.mark.parametrize(
    ("nodes", "direction", "said"),
    [
        ([1], [0, 0, 0], "direction"),
        ([1], [0, 1], "give x, y and z"),
        ([], [0, 0, 1], "no nodes"),
    ],
)
def test_probes_that_push_nothing_are_refused(nodes, direction, said):
    with pytest.raises(ValueError, match=said):
        Probe(nodes, direction)


SIDES, R, H, TWIST = 6, 0.02, 0.022, 45.0


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
    b2 = H**2 + 4 * R**2 * np.sin(np.radians(TWIST) / 2) ** 2  # of a mountain
    height = np.sqrt(b2 - 4 * R**2 * np.sin(other / 2) ** 2)
    assert H + found[2].moved == pytest.approx(height, abs=5e-5)
