"""What captions say of our numbers beside those that the papers print."""

import pandas as pd

from analysis.figures.huang_2020 import long_steps
from analysis.figures.pressed_folds import sweeps_in_words


def test_grounds_on_which_long_steps_are_slower_are_counted():
    h = [0.005, 0.01, 0.02] * 3
    ratio = [2.0, 2.1, 9.0, 1.0, 4.0, 3.0, 2.2, 2.1, 5.0]  # the last one is quicker
    names = [name for name in "abc" for _ in range(3)]
    table = pd.DataFrame({"scenario": names, "h": h, "ratio": ratio})
    assert long_steps(table) == {"longer": 2, "grounds": 3}


def test_heights_at_the_full_load_and_the_ratio_that_leaves_the_edges_are_said():
    table = pd.DataFrame(
        {
            "value": [0.001, 0.001, 0.004, 0.004],
            "load": [0.0, 1.0, 0.0, 1.0],
            "height": [6e-3, 9.6e-4, 6e-3, 5e-3],
        }
    )
    shares = {"ratio": [0.7, 0.8, 0.9], "centre": [0, 0.001, 1], "edge": [1, 0.999, 0]}
    tables = {"d0": table, "ratio": pd.DataFrame(shares)}
    tables["reactions"] = pd.DataFrame({"simulated": [1.0], "statics": [1.0]})
    said = sweeps_in_words(tables)
    assert said["at_edges"] == 0.8
    assert said["ends"] == ["0.96 mm for 1 mm", "5.00 mm for 4 mm"]
