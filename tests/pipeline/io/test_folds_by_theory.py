"""Crease patterns of known kind, read from files, end as theory says."""

import pytest

from tests.pipeline.io.foreign_patterns import Foreign
from tests.pipeline.io.test_foreign_patterns import ended
from tests.sim.origami.folds_by_theory import CONTACT, FOLDED, THEORY

QUICK = ["zigzags, cut", "pop-up askew", "tetrahedron too far", "odd one beyond"]
LONG = [pytest.param(n, marks=pytest.mark.long) for n in THEORY if n not in QUICK]


@pytest.mark.parametrize("name", [*QUICK, *LONG])
def test_patterns_end_as_theory_says(name, tmp_path):
    known = THEORY[name]
    file = Foreign(known.text, known.ends, known.fraction, known.more)
    assert ended(file, tmp_path / "it.fold") in known.ends, known.why


def test_there_are_patterns_of_every_kind():
    kinds = [known.ends for known in THEORY.values()]
    stiff = [kind for kind in kinds if kind not in (FOLDED, CONTACT)]
    assert min(kinds.count(FOLDED), kinds.count(CONTACT), len(stiff)) >= 6
    assert len(kinds) >= 30
