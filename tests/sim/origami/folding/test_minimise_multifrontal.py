"""Large sheets fold as small ones do, and stop at what they meet."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from sim.origami.fold_and_load_phases import Fold, Load, Phase
from sim.origami.folding.fold_simulation import OrigamiStep, run
from sim.origami.folding.minimise_multifrontal import moved_far
from sim.origami.folding.sheet import (
    Contact,
    Sheet,
    StartError,
    build_problem,
    hinge_angles,
)
from sim.origami.model import large_sheet_stiffness
from sim.origami.model.mesh import concentrated_mesh
from sim.origami.pattern.generators import miura
from tests.sim.origami.sheets import (
    MATERIAL,
    compliant_strip,
    concentrated_strip,
    held_at,
    sheet,
)


def both_ways(
    chosen: Sheet, phases: Sequence[Phase], monkeypatch: pytest.MonkeyPatch
) -> tuple[OrigamiStep, OrigamiStep]:
    """The last step by rows, and by fronts."""
    *_, rows = run(chosen, phases)
    monkeypatch.setattr(large_sheet_stiffness, "LARGE_FROM", 0.0)
    *_, fronts = run(chosen, phases)
    return rows, fronts


def test_a_miura_sheet_folds_the_same_by_rows_and_by_fronts(monkeypatch):
    mesh = concentrated_mesh(miura(4, 4, width=0.02, height=0.02, angle=60.0), MATERIAL)
    fold = Fold(fraction=0.6, increments=6, tolerance=1e-8)
    rows, fronts = both_ways(sheet(mesh), [fold], monkeypatch)
    assert fronts.x == pytest.approx(rows.x, abs=1e-9)
    assert fronts.energies == pytest.approx(rows.energies, rel=1e-6, abs=1e-15)
    assert fronts.iterations < rows.iterations


def test_a_pressed_fold_ends_the_same_by_rows_and_by_fronts(monkeypatch):
    """The far panel meets the near one, then a load presses on it."""
    mesh = compliant_strip(3)
    contact = Contact("full", 0.02, 1e-3, 1e-3)
    chosen = replace(sheet(mesh, contact), supports=held_at(mesh))
    phases = [
        Fold(creases=[2, 5], angles=[1.85, 1.85], increments=12, tolerance=1e-8),
        Load(nodes=[10], force=[0.0, 0.0, -1e-3], increments=3, tolerance=1e-8),
    ]
    rows, fronts = both_ways(chosen, phases, monkeypatch)
    assert fronts.energies[4] > 0.0
    assert fronts.x == pytest.approx(rows.x, abs=1e-7)
    assert fronts.contact_force == pytest.approx(rows.contact_force, abs=1e-5)


@pytest.mark.parametrize("least", [large_sheet_stiffness.LARGE_FROM, 0.0])
def test_a_sheet_that_can_move_is_refused_however_large(monkeypatch, least):
    monkeypatch.setattr(large_sheet_stiffness, "LARGE_FROM", least)
    loose = replace(sheet(compliant_strip(2)), supports=[[0, 1, 1, 1]])
    with pytest.raises(StartError, match="can move without resistance"):
        list(run(loose, [Fold(creases=[2], angles=[1.2], increments=1)]))


@pytest.mark.parametrize("common", [0.0, 1.0])
def test_a_far_move_ends_where_panels_meet_and_not_before(common):
    """The last panel, 2 mm above the first two, is to go down by 20 mm, while all of
    the strip flies off by ten lengths and is stretched, or not."""
    mesh = concentrated_strip(3)
    problem, length = build_problem(sheet(mesh), Fold()), mesh.rest[:, 0].max()
    x, down = mesh.rest.copy(), np.zeros_like(mesh.rest)
    last = x[:, 0] > 0.7 * length
    x[last] = x[last] * [-1.0, 1.0, 0.0] + [1.2 * length, 0.0, 2e-3]
    down[last, 2] = -0.02
    away = common * (10.0 * length + 0.4 * x)
    end, done = moved_far(problem, x, away + down)
    meets = 0.1 / (1.0 - 0.04 * common)  # where 2 mm have gone
    assert 0.85 * meets < done < meets
    assert end == pytest.approx(x + done * (away + down), abs=1e-12)
    assert moved_far(problem, x, away)[1] == pytest.approx(1.0)


def test_a_pushed_strip_buckles_by_rows_and_by_fronts(monkeypatch):
    """Straight it is in balance, at a saddle: the hinge of stiffness k turns by theta
    where P L sin(theta) = k theta."""
    mesh = concentrated_strip(2)
    hinge = mesh.hinge_stiffness[mesh.hinge_crease >= 0].sum()
    ends = np.flatnonzero(mesh.rest[:, 0] > 0.99 * mesh.rest[:, 0].max())
    push = [-1.5 * hinge / 0.02 / len(ends), 0.0, 0.0]
    load = Load(nodes=ends.tolist(), force=push, increments=1, tolerance=1e-9)
    rows, fronts = both_ways(sheet(mesh), [load], monkeypatch)
    for step in (rows, fronts):
        crease = np.flatnonzero(mesh.hinge_crease >= 0)
        theta = np.abs(hinge_angles(mesh, step.x)[crease] - np.pi)
        assert 1.5 * np.sin(theta) == pytest.approx(theta, rel=0.01)
    assert fronts.energies.sum() == pytest.approx(rows.energies.sum(), rel=1e-6)
