"""Folds of rigid panels that go together."""

import numpy as np
from numpy.testing import assert_allclose

from analysis.designs.drivers import choose, condition
from sim.arrays import Floats
from sim.origami.folding.driving import closure_matrix, fold_motions
from sim.origami.folding.outcome import reached_folds
from sim.origami.model.concentrated import concentrated_mesh
from sim.origami.model.material import SheetMaterial
from sim.origami.pattern.tessellations import miura

ANGLE = 60.0


def folded(rows: int, columns: int, fold: float) -> Floats:
    """A Miura sheet of unit sides whose zigzags are lifted by the angle `fold`, rad.

    Panels are parallelograms: a step (0, S, 0) along and steps between rows
    (+-V, V', H) in turn, columns lifted in turn. Schenk and Guest (2013), eqs. (1)-(4).
    """
    g = np.radians(ANGLE)
    H = np.sin(fold) * np.sin(g)
    S = np.cos(fold) * np.tan(g) / np.sqrt(1.0 + np.cos(fold) ** 2 * np.tan(g) ** 2)
    V = 1.0 / np.sqrt(1.0 + np.cos(fold) ** 2 * np.tan(g) ** 2)
    L = np.sqrt(1.0 - np.sin(fold) ** 2 * np.sin(g) ** 2)
    return np.array(
        [
            [c * S, r * L + (c % 2) * V, H * (r % 2)]
            for r in range(rows + 1)
            for c in range(columns + 1)
        ]
    )


def test_one_crease_drives_a_folded_miura_sheet() -> None:
    pattern, x = miura(4, 5, width=1.0, height=1.0, angle=ANGLE), folded(4, 5, 0.7)
    panel = x[list(pattern.panels[7])]
    assert_allclose(np.linalg.norm(np.roll(panel, -1, axis=0) - panel, axis=1), 1.0)
    motions, gap = fold_motions(pattern, x, 1e-9)
    assert motions.shape == (len(pattern.creases), 1)
    assert gap < 1e-9
    assert_allclose(closure_matrix(pattern, x) @ motions, 0.0, atol=1e-12)
    for crease in range(len(motions)):
        assert condition(motions, np.array([crease])) < 50.0
    assert choose(motions).rank == 1


def test_flat_sheet_has_more_motions_to_first_order() -> None:
    pattern = miura(4, 5, width=1.0, height=1.0, angle=ANGLE)
    motions, _ = fold_motions(pattern, pattern.vertices, 1e-9)
    inner = 3 * 4
    assert motions.shape[1] == len(pattern.creases) - 2 * inner


def test_motions_are_the_changes_of_folds_along_the_path() -> None:

    pattern = miura(3, 3, width=1.0, height=1.0, angle=ANGLE)
    material = SheetMaterial(2e9, 2e9, 5e-4, 1e-4, 2e-3)
    mesh = concentrated_mesh(pattern, material)

    def nodes(fold: float) -> Floats:
        x = folded(3, 3, fold)
        middle = [x[list(panel)].mean(axis=0) for panel in pattern.panels]
        return np.concatenate([x, middle])

    h = 1e-5
    ahead, behind = (reached_folds(mesh, nodes(0.7 + s * h)) for s in (1, -1))
    change = (ahead - behind) / (2.0 * h)
    motion = fold_motions(pattern, nodes(0.7), 1e-9)[0][:, 0]
    assert_allclose(motion / motion[0], change / change[0], rtol=1e-7)
