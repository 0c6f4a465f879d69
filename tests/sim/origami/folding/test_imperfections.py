"""Sheets that are off by a little."""

from dataclasses import replace

import numpy as np
import pytest

from sim.core.arrays import Floats
from sim.origami.fold_and_load_phases import Fold
from sim.origami.folding.fold_simulation import run
from sim.origami.folding.imperfections import (
    Imperfections,
    sampled,
)
from sim.origami.folding.outcome import reached_folds
from sim.origami.folding.sheet import Contact
from tests.sim.origami.sheets import compliant_strip, concentrated_strip, sheet

NONE = Imperfections(vertices=0.0, angles=0.0, speeds=0.0)


def spread(values: Floats) -> float:
    return float(np.std(values))


def test_draws_are_off_by_what_is_asked():
    chosen = sheet(compliant_strip(16))
    creases = chosen.mesh.pattern.creases.tolist()
    fold = Fold(creases, [1.5] * len(creases))
    off, (phase,) = sampled(Imperfections(reach=[1e-4, 2e-3]), 3, chosen, [fold])
    assert isinstance(phase, Fold)
    corners = off.mesh.corner
    moved = off.mesh.rest[corners] - chosen.mesh.rest[corners]
    assert spread(moved) == pytest.approx(2e-4, rel=0.2)
    assert spread(np.array(phase.start)) == pytest.approx(1.0, rel=0.35)
    assert spread(np.array(phase.speeds)) == pytest.approx(0.1, rel=0.6)
    assert min(phase.speeds) == pytest.approx(1.0)
    assert 1e-4 <= (off.contact.d0_edge or 0.0) <= 2e-3
    again, _ = sampled(Imperfections(), 3, chosen, [fold])
    other, _ = sampled(Imperfections(), 4, chosen, [fold])
    assert (again.mesh.rest == off.mesh.rest).all()
    assert not (other.mesh.rest == off.mesh.rest).any()


def test_a_sheet_without_imperfections_is_the_sheet_as_drawn():
    chosen = sheet(compliant_strip(3))
    fold = Fold([2, 5], [1.4, 0.7], stages=[2, 1], increments=3)
    *_, plain = run(chosen, [fold])
    off, phases = sampled(NONE, 0, chosen, [fold])
    *_, same = run(off, phases)
    assert (same.x == plain.x).all()


def test_creases_start_where_they_are_at_rest_before_they_fold():
    mesh = concentrated_strip(3)
    fold = Fold([2, 5], [1.4, 0.7], stages=[1, 2], start=[0.0, 10.0], increments=2)
    steps = list(run(sheet(mesh, Contact(enabled=False)), [fold]))
    assert np.degrees(reached_folds(mesh, steps[2].x)) == pytest.approx([72.0, 10.0])
    assert np.degrees(reached_folds(mesh, steps[4].x)) == pytest.approx([72.0, -54.0])


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"draws": 28}, "28 draws are too few .* give 29 or more"),
        ({"draws": 0}, "draws is 0: give a whole number from 1 up, or a list"),
        ({"draws": 61.5}, "draws is 61.5: give a whole number from 1 up"),
        ({"draws": [200, 61]}, "or a list of increasing totals"),
        ({"draws": [10, 28]}, "28 draws are too few"),
        ({"draws": []}, "0 draws are too few"),
        ({"vertices": -1.0}, "vertices must be 0 or more"),
        ({"reach": [2e-3, 1e-3]}, "give the smallest and largest d0"),
    ],
)
def test_imperfections_that_make_no_sense_are_refused(change, said):
    with pytest.raises(ValueError, match=said):
        replace(Imperfections(), **change)  # type: ignore[arg-type]
    with pytest.raises(
        ValueError, match="start must have one value per crease: 2, not 1"
    ):
        Fold([2, 5], [1.5, 1.5], start=[1.0])
