"""Creases that are turned, beside what one crease does by itself."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from sim.origami.fold_and_load_phases import Fold, Moments, Phase
from sim.origami.folding.fold_simulation import OrigamiStep, run
from sim.origami.folding.outcome import reached_folds
from sim.origami.folding.sheet import Contact, Sheet
from tests.sim.origami.sheets import (
    MATERIAL,
    compliant_strip,
    concentrated_strip,
    sheet,
)

NO_CONTACT = Contact(rules="full", enabled=False)


def ended(given: Sheet, *phases: Phase) -> OrigamiStep:
    return list(run(given, phases))[-1]


@pytest.mark.parametrize("build", [concentrated_strip, compliant_strip])
def test_a_moment_folds_a_crease_by_moment_over_stiffness(build):
    mesh = build(3)  # type: ignore[operator]
    k = MATERIAL.whole_crease(0.02)
    first, last = (int(c) for c in mesh.pattern.creases)
    asked = Moments([first, last], [0.4 * k, -0.2 * k], increments=3, tolerance=1e-9)
    step = ended(sheet(mesh, NO_CONTACT), asked)
    folds = reached_folds(mesh, step.x)
    assert_allclose(folds, [0.4, -0.2], rtol=1e-6)
    work = 0.5 * k * (0.4 * folds[0] - 0.2 * folds[1])
    assert step.energies[:4].sum() == pytest.approx(work, rel=1e-2)


def test_a_moment_presses_a_folded_crease_flat_and_leaves_with_its_phase():
    mesh = concentrated_strip(2)
    crease, given = int(mesh.pattern.creases[0]), sheet(mesh, NO_CONTACT)
    fold = 0.3
    bent = Fold([crease], [1.0 + fold / np.pi], increments=2)
    k = MATERIAL.whole_crease(0.02)
    press = Moments([crease], [-k * fold], increments=2, tolerance=1e-9)
    pressed = ended(given, bent, press)
    assert reached_folds(mesh, pressed.x)[0] == pytest.approx(0.0, abs=1e-6)
    assert pressed.energies[0] == pytest.approx(0.5 * k * fold**2, rel=1e-4)
    again = ended(given, bent, press, bent)
    assert reached_folds(mesh, again.x)[0] == pytest.approx(fold, rel=1e-4)


def test_what_cannot_be_driven_is_refused():
    bare = sheet(concentrated_strip(2), NO_CONTACT)
    with pytest.raises(ValueError, match="edge 0 is not a crease"):
        next(run(bare, [Moments([0], [1.0])]))
    for creases, moments, increments, said in (
        ([2], [], 1, "0 moments for 1 creases"),
        ([2, 2], [1.0, 1.0], 1, "listed twice"),
        ([2], [np.nan], 1, "nan among moments is not finite"),
        ([2], [1.0], 0, "increments must be a whole number"),
        ([], [], 1, "has no creases"),
    ):
        with pytest.raises(ValueError, match=said):
            Moments(creases, moments, increments=increments)
