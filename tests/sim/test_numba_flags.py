"""Options of numba are the same exactly where all of them have the same values."""

import gc
import itertools
import threading

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


def test_python_collects_as_before_after_two_threads_compiled() -> None:
    before = gc.get_threshold()
    first_is_in, first_may_leave = threading.Event(), threading.Event()
    second_is_in, first_has_left = threading.Event(), threading.Event()

    def first() -> None:
        with few_collections():
            first_is_in.set()
            first_may_leave.wait(30)
        first_has_left.set()

    def second() -> None:
        first_is_in.wait(30)
        with few_collections():
            second_is_in.set()
            first_has_left.wait(30)

    threads = [threading.Thread(target=each) for each in (first, second)]
    for each in threads:
        each.start()
    second_is_in.wait(0.2)  # it would come in between, were it let
    first_may_leave.set()
    for each in threads:
        each.join()
    assert gc.get_threshold() == before


def test_python_collects_as_before_after_compiling() -> None:
    before = gc.get_threshold()
    with few_collections():
        assert gc.get_threshold() != before
    assert gc.get_threshold() == before
