"""How many runs a figure shows, in which order, and what they must have."""

from pathlib import Path

import pandas as pd
import pytest

from pipeline.figures.read_runs import Row, draw
from pipeline.terminal import InputError

ONE, TWO = Row("one", Path("one")), Row("two", Path("two"))


def test_a_figure_says_which_runs_it_shows_where_there_are_others():
    with pytest.raises(InputError, match="shows one run, not 2: the case box"):
        draw("zhu-filipov-8", [ONE, TWO])
    with pytest.raises(InputError, match="shows 3 runs, not 1: a plate, modes, a cell"):
        draw("fold-mechanics", [ONE])


def test_a_run_that_lacks_what_a_figure_shows_is_refused_with_a_remedy(tmp_path):
    row = Row("one", tmp_path)
    with pytest.raises(InputError, match=r"has no steps.csv: run a case such as reach"):
        draw("reachable-shapes", [row])
    pd.DataFrame({"step": [0]}).to_csv(tmp_path / "steps.csv")
    with pytest.raises(InputError, match=r"steps.csv has no sigma: run a case such as"):
        draw("reachable-shapes", [row])
