"""A sheet that is folded from outside."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from sim.convergence import NotConvergedError
from sim.origami.folding.folding import run
from sim.origami.folding.sheet import Sheet
from sim.origami.folding.stepping import FoldWorld
from sim.origami.loading.phases import Fold
from sim.origami.model.concentrated import concentrated_mesh
from sim.origami.model.contact import Contact
from sim.origami.model.material import SheetMaterial
from sim.origami.pattern.tessellations import miura
from tests.sim.origami.sheets import compliant_strip, sheet


def small_sheet() -> Sheet:
    pattern = miura(2, 2, width=0.02, height=0.02, angle=60.0)
    mesh = concentrated_mesh(pattern, SheetMaterial(2e9, 2e9, 5e-4, 1e-4, 2e-3))
    held = [[0, 1, 1, 1], [1, 0, 1, 1], [3, 0, 0, 1]]
    return Sheet(mesh, held, Contact().filled(mesh))


def test_steps_are_the_increments_of_a_folding_to_the_last_bit() -> None:
    sheet, phase = small_sheet(), Fold(fraction=0.5, increments=8)
    world = FoldWorld(sheet, phase)
    for step in list(run(sheet, [phase]))[1:]:
        world.act(step.angles)
        seen = world.step(0.125)
        assert_array_equal(seen.x, step.x)
        assert_array_equal(seen.energies, step.energies)
    assert np.abs(seen.folds).max() > 1.0


def test_a_crease_with_a_width_is_seen_to_fold_as_it_was_told() -> None:
    """Its middle is two lines that turn together: their sum was half as much more."""
    mesh = compliant_strip(2)
    (crease,) = map(int, mesh.pattern.creases)
    world = FoldWorld(sheet(mesh, Contact(enabled=False)), Fold(tolerance=1e-9))
    world.act({crease: 0.5})
    assert_allclose(world.step(0.1).folds, 0.5, atol=1e-6)


def test_world_folds_back_and_goes_back() -> None:
    sheet = small_sheet()
    world = FoldWorld(sheet)
    saved, signs = world.save(), np.sign(sheet.mesh.pattern.assignment)
    folds = {int(c): 0.1 * float(signs[c]) for c in sheet.mesh.pattern.creases}
    world.act(folds)
    folded = world.step(0.1)
    assert np.abs(folded.x[:, 2]).max() > 1e-4
    world.act(dict.fromkeys(folds, 0.0))
    flat = world.step(0.1)
    assert_allclose(flat.folds, 0.0, atol=1e-4)
    world.restore(saved)
    world.act(folds)
    assert_array_equal(world.step(0.1).x, folded.x)


def test_step_that_fails_leaves_the_world_as_it_was() -> None:
    sheet = small_sheet()
    few = Sheet(sheet.mesh, sheet.supports, sheet.contact, max_iterations=1)
    world = FoldWorld(few)
    before = world.observe()
    world.act(dict.fromkeys(map(int, sheet.mesh.pattern.creases), 3.0))
    with pytest.raises(NotConvergedError, match="fold less in a step"):
        world.step(1.0)
    assert world.observe() is before


def test_what_is_no_crease_is_refused() -> None:
    world = FoldWorld(small_sheet())
    with pytest.raises(ValueError, match="edge 0 is not a crease"):
        world.act({0: 0.1})
    with pytest.raises(ValueError, match="at most pi"):
        world.act({int(small_sheet().mesh.pattern.creases[0]): 4.0})
