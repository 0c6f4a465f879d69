"""What is said of a folding: patterns of which theory knows the end."""

import re
from dataclasses import replace

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from sim.core.arrays import Floats
from sim.origami.fold_and_load_phases import Fold, Load, over_and_short, over_folds
from sim.origami.folding.flat_state_branching import (
    held_in_place,
    placed_nodes,
)
from sim.origami.folding.fold_simulation import run
from sim.origami.folding.outcome import (
    FoldVerdict,
    HeldBy,
    fold_report,
    reached_folds,
)
from sim.origami.folding.sheet import Contact, Sheet, StartError
from sim.origami.model.mesh import concentrated_mesh
from sim.origami.pattern.generators import yoshimura
from tests.sim.origami.known_folds import (
    PATTERNS,
    M,
    V,
    folded,
    rolled,
    sheet_of,
    star,
)
from tests.sim.origami.sheets import MATERIAL, compliant_strip, held_at, sheet

QUICK = ["pleat", "kawasaki", "tube of four", "two lines"]


LONG = [
    pytest.param(name, marks=pytest.mark.long)
    for name in sorted(set(PATTERNS) - set(QUICK))
]


@pytest.mark.parametrize("name", [*QUICK, *LONG])
def test_patterns_end_as_theory_says(name):
    known = PATTERNS[name]
    report, _ = folded(known.pattern(), known.fraction)
    assert (report.verdict is FoldVerdict.POPPED) == (report.wrong_way > 0)
    assert (report.why == "") == (report.verdict is FoldVerdict.FOLDED)
    assert report.verdict is known.ends


def test_there_are_patterns_of_every_kind():
    kinds = [known.ends for known in PATTERNS.values()]
    assert len(kinds) >= 30
    assert min(kinds.count(kind) for kind in set(kinds)) >= 5
    assert set(kinds) == set(FoldVerdict) - {FoldVerdict.NOTHING, FoldVerdict.FAR}


@pytest.mark.parametrize(
    ("asked", "verdict"), [((40, 10), FoldVerdict.FAR), ((10, 40), FoldVerdict.FOLDED)]
)
def test_a_sheet_is_not_folded_where_no_crease_is_near_what_is_asked(asked, verdict):
    """Folds of opposite creases are 1 : 4.6 here, whatever is asked (Kawasaki)."""
    big, small = np.radians(asked) / np.pi
    report, _ = folded(star([85, 70, 95, 110], [-small, big, -small, -big]), 1.0)
    assert report.verdict is verdict
    ratio = np.abs(report.reached[[0, 1]])
    assert ratio.max() / ratio.min() == pytest.approx(4.6, rel=0.1)


def folds_rigidly(sectors: Floats, folds: Floats) -> bool:
    """Three creases of one sign less than 180 degrees apart, the fourth of the other.

    Abel et al., J. Comput. Geom. 7, 2016, 171: bird's foot.
    """
    odd = np.flatnonzero(folds * folds.sum() < 0)
    return len(odd) == 1 and bool(sectors[odd[0]] + sectors[odd[0] - 1] < 180.0)


@pytest.mark.long
def test_vertices_of_four_creases_fold_where_they_have_a_birds_foot(rng):
    found: list[bool] = []
    while len(found) < 80:
        sectors = rng.uniform(25.0, 150.0, 4)
        sectors *= 360.0 / sectors.sum()
        pairs = sectors + np.roll(sectors, 1)
        clear = np.abs(pairs - 180.0).min() > 8.0
        if not clear or not 20.0 < sectors.min() < sectors.max() < 165.0:
            continue
        folds = rng.choice([M, V], 4)
        report, _ = folded(star(sectors.tolist(), folds.tolist()), 0.4)
        found.append(report.verdict is FoldVerdict.FOLDED)
        assert found[-1] == folds_rigidly(sectors, folds), (sectors, folds, report.why)
    assert 10 < sum(found) < 70


def test_a_flat_sheet_is_left_along_its_assignment():
    """By rounding alone 31 of the 96 creases went the wrong way in one increment."""
    pattern = yoshimura(6, 6, width=0.02, height=0.0173)
    report, last = folded(pattern, 0.04, increments=1)
    assert last.converged
    assert report.wrong_way == 0
    side = np.sign(report.asked)
    assert (side * report.reached > 0.2 * np.abs(report.asked)).all()


def test_the_pair_at_fault_and_what_holds_each_crease_are_named():
    report, _ = folded(rolled([2, 1, 2], [V, V]), 1.0)
    assert report.why.startswith("panel 0 presses panel 2; crease 5 (2-6) from")
    assert report.held == (HeldBy.CONTACT, HeldBy.CONTACT)


def test_the_vertex_at_fault_is_named_where_a_crease_pops():
    report, _ = folded(star([60, 90, 120, 90], [V] * 4), 0.6)
    assert report.verdict is FoldVerdict.POPPED
    assert "creases on the wrong side: 1" in report.why
    assert report.why.endswith("cannot fold this way at vertex 0, (0, 0) m")
    assert set(report.held) == {HeldBy.CLOSURE}


def test_a_crease_that_was_to_stay_flat_and_folds_is_no_folded_sheet():
    """Three folds of a vertex cannot close without the fourth (Maekawa, Kawasaki)."""
    report, _ = folded(star([60, 90, 120, 90], [M, V, V, 0.0]), 0.5)
    assert report.verdict is FoldVerdict.OPEN
    assert re.match(
        r"crease \d+ \(0-4\) from \(0, 0\) m to \([-.\de]+, -0.02\) m is at "
        r"-?\d+ degrees, target 0 degrees \(flat\)$",
        report.why.partition(";")[0],
    )


def test_closure_holds_what_is_missing_of_a_miura_sheet():
    report, _ = folded(sheet_of(2, 2), 0.5)
    missing = np.degrees(np.abs(report.asked - report.reached))
    assert report.verdict is FoldVerdict.FOLDED
    assert 15 < missing.max() < 25
    assert set(report.held) == {HeldBy.CLOSURE}


def test_creases_are_over_or_short_by_the_side_that_is_asked():
    asked = np.array([108, 108, -108, -108, 0, np.nan, 108])
    reached = np.array([158, 70, -146, -101, -9, 30, -2])
    over = over_folds(asked, reached)
    assert over.tolist() == [50, -38, 38, -7, 9, 0, -110]
    assert over_and_short(over[:4], "°") == "at most 50° over, 38° short"
    assert over_and_short(over[:1], "°") == "at most 50° over"


def test_softness_holds_a_crease_that_a_load_bends_back():
    mesh = compliant_strip(2)
    chosen = sheet(mesh, Contact(enabled=False))
    fold = Fold([2], [1.3], increments=5)
    press = Load([5, 6], [0.0, 0.0, -2e-3], increments=3)
    *_, last = run(chosen, [fold, press])
    report = fold_report(chosen, [fold, press], last)
    assert report.verdict is FoldVerdict.OPEN
    assert report.why.endswith("limited by compliance")


@pytest.mark.parametrize("whole", [0.02, 1.2])
def test_nodes_are_placed_where_the_folds_are_those_given(whole):
    mesh = concentrated_mesh(rolled([1, 1, 2], [V, M]), MATERIAL)
    folds = np.array([whole, -0.7 * whole])
    x = placed_nodes(mesh, folds)
    assert reached_folds(mesh, x) == pytest.approx(folds, abs=1e-9)
    held = np.zeros_like(x, dtype=bool)
    for node, *axes in held_at(mesh):
        held[node] = np.array(axes) != 0
    turned = Rotation.from_rotvec([0.1, -0.2, 0.3]).apply(x) + 0.003
    assert held_in_place(turned, mesh.rest, held) == pytest.approx(x, abs=1e-9)


def together(fold: Fold) -> list[float]:
    """Energies of a Miura sheet by increment."""
    mesh = concentrated_mesh(sheet_of(2, 2), MATERIAL)
    held = Sheet(mesh, held_at(mesh), Contact(rules="full").filled(mesh))
    return [float(step.energies.sum()) for step in run(held, [fold])]


def test_creases_that_arrive_together_bend_no_panel():
    straight = together(Fold(fraction=0.5, increments=5))
    rigid = together(Fold(fraction=0.5, increments=5, together=True))
    assert max(rigid[1:]) < 1e-3 * min(straight[1:])


def test_creases_that_cannot_arrive_together_are_refused():
    mesh = concentrated_mesh(star([120] * 3, [V] * 3), MATERIAL)
    fold = Fold(fraction=0.5, increments=2, together=True)
    with pytest.raises(StartError, match="around vertex 0 at 5% of the target"):
        list(run(sheet(mesh), [fold]))
    with pytest.raises(ValueError, match="several stages or speeds"):
        replace(fold, creases=[2], angles=[1.5], speeds=[1.0])
