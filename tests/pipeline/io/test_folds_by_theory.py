"""Crease patterns of known kind, read from files, end as theory says."""

from pathlib import Path

import pytest

from tests.pipeline.io.foreign_patterns import Foreign
from tests.pipeline.io.test_foreign_patterns import ended
from tests.sim.origami.folds_by_theory import CONTACT, FOLDED, THEORY

QUICK = ["zigzags, cut", "pop-up askew", "tetrahedron too far", "odd one beyond"]


def told(name: str, path: Path) -> str:
    known = THEORY[name]
    return ended(Foreign(known.text, known.ends, known.fraction, known.more), path)


@pytest.mark.parametrize("name", QUICK)
def test_a_few_patterns_end_as_theory_says(name, tmp_path):
    assert told(name, tmp_path / "it.fold") in THEORY[name].ends, THEORY[name].why


@pytest.mark.long
@pytest.mark.parametrize("name", sorted(set(THEORY) - set(QUICK)))
def test_patterns_end_as_theory_says(name, tmp_path):
    assert told(name, tmp_path / "it.fold") in THEORY[name].ends, THEORY[name].why


def test_there_are_patterns_of_every_kind():
    kinds = [known.ends for known in THEORY.values()]
    stiff = [kind for kind in kinds if kind not in (FOLDED, CONTACT)]
    assert min(kinds.count(FOLDED), kinds.count(CONTACT), len(stiff)) >= 6
    assert len(kinds) >= 30
