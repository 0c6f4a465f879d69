"""How many runs a figure shows, in which order."""

from pathlib import Path

import pytest

from pipeline.results.shown import Row, only_row, runs_shown
from pipeline.terminal.errors import InputError

ONE, TWO = Row("one", Path("one")), Row("two", Path("two"))


def test_a_figure_says_which_runs_it_shows_where_there_are_others() -> None:
    assert only_row([ONE]) == ONE
    assert runs_shown([ONE, TWO], "a crease", "a sheet") == [("one", ""), ("two", "")]
    with pytest.raises(InputError, match="shows one run, not 2: the case box"):
        only_row([ONE, TWO], "the case box")
    with pytest.raises(InputError, match="shows 2 runs, not 1: a crease, a sheet"):
        runs_shown([ONE], "a crease", "a sheet")
