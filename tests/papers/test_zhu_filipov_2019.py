"""[ZF19]: its contact, its models and its examples, under the published rules.

data/zhu_filipov_2019.npz holds what an independent implementation of the published
method computed: single evaluations of the contact force, the tables of bars and
springs of each example, and histories of displacement. The paper prints curves, but
few numbers; where it prints one, the test names its figure.
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pipeline.cases.origami import OrigamiCase
from sim.contact.contact_energy import pair_terms
from sim.contact.near_pairs import find_pairs
from sim.core.arrays import Floats
from sim.origami.fold_and_load_phases import Fold, Load
from sim.origami.folding.fold_simulation import OrigamiStep, run
from sim.origami.folding.sheet import Rules, build_surface, hinge_angles
from tests.helpers.cases import composed
from tests.recorded import summary
from tests.sim.contact.surfaces import surface_of

DATA = np.load(Path(__file__).parent / "data" / "zhu_filipov_2019.npz")
MODELS = {
    "single_fold": "single",
    "double_fold": "double",
    "box": "box",
    "box_corner": "corner",
    "folding_sequence": "sequence",
    "interlocking": "link",
}
PAIRS = {  # candidate pairs of nodes and triangles, by the paper's rules of omission
    "single_fold": 32,
    "double_fold": 104,
    "box": 432,
    "box_corner": 394,
    "folding_sequence": 316,
    "interlocking": 7328,
}
case = partial(composed, OrigamiCase)


def published(name: str, *overrides: str) -> OrigamiCase:
    return case(name, "case.contact.rules=paper", *overrides)


def run_all(chosen: OrigamiCase) -> list[OrigamiStep]:
    return list(chosen.steps())


def test_forces_of_single_pairs_agree_to_1e_11():
    """91 places in all zones: energy, distance and the forces on four nodes."""
    for row in DATA["single_evaluations"]:
        ke, d0, x = row[0], row[1], row[5:17].reshape(4, 3)
        surface = surface_of(np.array([[1, 2, 3]]), x, reach=d0)
        surface = surface._replace(
            point=np.array([0]), point_panel=np.empty((1, 0), dtype=np.int64)
        )
        pairs = find_pairs(surface, x, d0)
        g, h = np.zeros(12), np.zeros((12, 12))
        energy, d = 0.0, np.inf
        if len(pairs.row):
            energy, d = pair_terms(pairs, 0, ke, x, g, h)
        if d < np.inf:
            assert d == pytest.approx(row[17], rel=1e-11)
        scale = max(abs(row[19:]).max(), 1e-300)
        assert energy == pytest.approx(row[18], rel=1e-11, abs=1e-13 * ke)
        assert abs(g - row[19:]).max() <= 1e-11 * max(scale, ke / d0)


@pytest.mark.parametrize("name", MODELS)
def test_nodes_bars_and_triangles_are_those_of_the_examples(name):
    mesh, key = case(name).mesh, MODELS[name]
    assert abs(mesh.rest - DATA[f"{key}_node"]).max() < 1e-12
    assert (mesh.bar == DATA[f"{key}_bar"]).all()
    assert mesh.bar_length == pytest.approx(DATA[f"{key}_bar_length"], rel=1e-12)
    mine = np.unique(np.sort(mesh.triangle, axis=1), axis=0)
    theirs = np.unique(np.sort(DATA[f"{key}_triangle"], axis=1), axis=0)
    assert (mine == theirs).all()


@pytest.mark.parametrize("name", [n for n in MODELS if n != "interlocking"])
def test_areas_of_bars_are_those_of_the_examples(name):
    """Not for interlocking: its table sums the lengths of a panel's bars wrongly."""
    area = case(name).mesh.bar_stiffness / 2.0e9
    assert area == pytest.approx(DATA[f"{MODELS[name]}_bar_area"], rel=1e-12)


@pytest.mark.parametrize("name", MODELS)
def test_springs_are_those_of_the_examples(name):
    """Stiffness and final rest angle about each bar; wings may be named in any order,

    and the angle of a spring whose wings are swapped counts from the other side.
    """
    chosen, key = case(name), MODELS[name]
    mesh, fold = chosen.mesh, chosen.phases[0]
    assert isinstance(fold, Fold)
    target = fold.targets(mesh)
    folds = (mesh.hinge_crease >= 0) & np.isfinite(target[mesh.hinge_crease])
    rest = np.full(len(mesh.hinge), np.pi)
    share = mesh.hinge_share[folds]
    rest[folds] += share * (target[mesh.hinge_crease[folds]] - np.pi)
    theirs = {tuple(sorted(s[1:3])): i for i, s in enumerate(DATA[f"{key}_spring"])}
    assert len(theirs) == len(mesh.hinge)
    for hinge, k, angle in zip(mesh.hinge, mesh.hinge_stiffness, rest, strict=True):
        i = theirs[tuple(sorted(hinge[1:3]))]
        same = tuple(DATA[f"{key}_spring"][i]) in (tuple(hinge), tuple(hinge[::-1]))
        expected = DATA[f"{key}_spring_target"][i]
        assert k == pytest.approx(DATA[f"{key}_spring_k"][i], rel=1e-12)
        assert angle == pytest.approx(expected if same else 2 * np.pi - expected)


@pytest.mark.parametrize("name", PAIRS)
def test_as_many_pairs_are_looked_at_as_in_the_examples(name):
    chosen = published(name)
    surface = build_surface(chosen.mesh, chosen.sheet.contact)
    assert find_pairs(surface, chosen.mesh.rest, 10.0).weight.sum() == PAIRS[name]


@pytest.fixture(scope="module")
def single_fold():
    """The mesh of the single fold, and all of its steps."""
    chosen = published("single_fold")
    return chosen.mesh, run_all(chosen)


def test_single_fold_moves_as_published_to_1e_7_m(single_fold):
    mesh, steps = single_fold
    folded = np.array([s.x for s in steps[1:21]]) - mesh.rest
    assert abs(folded - DATA["single_fold_u"]).max() < 1e-7
    pressed = [s.x[6, 2] - mesh.rest[6, 2] for s in steps[21:]]
    assert abs(np.array(pressed) - DATA["single_load_u"]).max() < 1e-7


def test_single_fold_is_pushed_by_contact_as_published(single_fold):
    """The table has internal forces, of the state before the last Newton step."""
    force = single_fold[1][-1].contact_force
    scale = abs(force).max()
    assert abs(force + DATA["single_contact_force"]).max() < 1e-3 * scale


def test_box_corner_without_contact_moves_as_published_to_1e_7_m():
    chosen = published("box_corner_free")
    steps = run_all(chosen)
    folded = np.array([s.x for s in steps[1:41]]) - chosen.mesh.rest
    assert abs(folded - DATA["corner_fold_u"]).max() < 1e-7
    pulled = [s.x[11, 0] - chosen.mesh.rest[11, 0] for s in steps[41:]]
    assert abs(np.array(pulled) - DATA["corner_load_u"]).max() < 1e-7
    energies = np.array([s.energies[:4] for s in steps[41:]])
    assert energies == pytest.approx(DATA["corner_load_energies"], rel=1e-8)


def test_interlocking_sheets_move_as_published_to_1e_7_m():
    """With the table's own areas of bars, see above."""
    chosen = published("interlocking")
    mesh = replace(chosen.mesh, bar_stiffness=2.0e9 * DATA["link_bar_area"])
    steps = list(run(replace(chosen.sheet, mesh=mesh), chosen.phases))
    lifted = [s.x[20, 2] - mesh.rest[20, 2] for s in steps[31:]]
    assert abs(np.array(lifted) - DATA["link_load_u"]).max() < 1e-7


def fig_10(sequence: str, *words: str) -> dict[str, Any]:
    """What a run of a sequence says of itself."""
    return summary(case("folding_sequence", f"case.sequence={sequence}", *words))


@pytest.mark.parametrize(("sequence", "ends"), [("1-2-2-3", "lock"), ("1-1-1-2", "no")])
def test_fig_10_one_sequence_locks_as_drawn_another_does_not(sequence, ends):
    """By the published rules imperfect sheets differ."""
    words = "case.contact.rules=paper", "case.imperfections=null"
    assert fig_10(sequence, *words)["verdict"] == ends


def test_fig_10_one_sequence_locks():
    """With as few imperfect sheets and increments as do."""
    few = "case.imperfections.draws=29", "case.phases.0.increments=20"
    result = fig_10("1-2-2-3", *few)
    assert result["verdict_as_drawn"] == result["verdict"] == "lock"


@pytest.mark.long  # imperfect sheets are drawn in four stages
def test_fig_10_another_does_not():
    result = fig_10("1-1-1-2")
    assert result["verdict_as_drawn"] == result["verdict"] == "no"


@pytest.mark.parametrize("name", ["single_fold", "double_fold"])
@pytest.mark.parametrize("rules", [rule.value for rule in Rules])
def test_fig_7_supports_carry_the_load_with_its_lever(name, rules):
    """Fig. 7j, k: reactions are those of statics, whatever carries them inside."""
    chosen = case(name, f"case.contact.rules={rules}")
    step, load = run_all(chosen)[-1], chosen.phases[-1]
    assert isinstance(load, Load)
    held = np.array([int(row[0]) for row in chosen.supports])
    force = chosen.recorder().arrays(step)["support_force"]
    assert not np.delete(force, held, axis=0).any()
    R = force[held, 2]
    total = -len(load.nodes) * load.force[2] * step.factor
    assert R.sum() == pytest.approx(total, rel=1e-4)
    applied = total * step.x[np.array(load.nodes), :2].mean(axis=0)
    assert R @ step.x[held, :2] == pytest.approx(applied, abs=1e-3 * total * 0.02)


def test_an_unloaded_fold_stores_no_energy_until_panels_meet():
    """Fig. 8b: the first stage of the box is free of strain, its end is not."""
    steps = run_all(published("box"))
    energy = [float(s.energies[:4].sum()) for s in steps]
    assert max(energy[:31]) < 1e-12
    assert energy[-1] > 1e-5


def test_hinges_of_the_folded_single_fold_reach_their_rest_angles(single_fold):
    mesh, steps = single_fold
    step = steps[20]
    angles = hinge_angles(mesh, step.x)
    folds = mesh.hinge_share > 0
    assert angles[folds] == pytest.approx(step.angles[folds], abs=1e-6)


def rows_of(steps: Sequence[OrigamiStep]) -> Floats:
    return np.array([s.x for s in steps])


def test_published_rules_give_the_same_whatever_the_skin(monkeypatch, single_fold):
    """Pairs are sought anew only after nodes have moved: that changes nothing."""
    usual = rows_of(single_fold[1])
    monkeypatch.setattr("sim.origami.folding.sheet.SKIN_SHARE", 1e-6)
    assert (rows_of(run_all(published("single_fold"))) == usual).all()
