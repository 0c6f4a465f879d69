"""Options of numba are the same exactly where all of them have the same values."""

import itertools

from numba.core.compiler import Flags

import sim.kernels  # noqa: F401  (compares by what is set from here on)
from sim.numba_flags import few_collections


def _flags(**values: object) -> Flags:
    made = Flags()
    for name, value in values.items():
        setattr(made, name, value)
    return made


OPTIONS = [
    _flags(),
    _flags(nrt=False),  # its default
    _flags(nrt=True),
    _flags(nrt=True, no_cpython_wrapper=True),
    _flags(no_cpython_wrapper=True, nrt=True, noalias=False),
    _flags(error_model="numpy"),
    _flags(error_model="python"),
    _flags(inline="always"),
    _flags(inline="never"),
]


def test_options_are_equal_where_all_their_values_are() -> None:
    equal = 0
    for one, other in itertools.combinations(OPTIONS, 2):
        same = one.values() == other.values()  # numba's own comparison
        assert (one == other) is same
        if same:
            equal += 1
            assert hash(one) == hash(other)
    assert equal >= 2
    assert len({hash(one) for one in OPTIONS}) > 2
    assert OPTIONS[0] != "options"


def test_python_collects_as_before_after_compiling() -> None:
    import gc

    before = gc.get_threshold()
    with few_collections():
        assert gc.get_threshold() != before
    assert gc.get_threshold() == before
