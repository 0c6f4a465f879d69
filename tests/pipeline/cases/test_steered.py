"""The robot that is steered, its figure, and the code in docs/control.md."""

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hydra import compose, initialize_config_dir
from hydra.errors import InstantiationException
from hydra.utils import instantiate

from pipeline.cases.steered import SteeredCase
from pipeline.figures.steering import draw
from pipeline.results.shown import Row
from pipeline.steps.recording import record_steps
from pipeline.terminal.errors import InputError
from tests.recorded import summary

ROOT = Path(__file__).parents[3]
HALF_A_STRIDE = 0.1325  # H


def steered(**values: Any) -> SteeredCase:
    with initialize_config_dir(str(ROOT / "conf"), version_base="1.3"):
        config = compose("simulate", ["case=star_robot_steered"])["case"]
    case = instantiate({**config, **values}, _convert_="object")
    assert isinstance(case, SteeredCase)
    return case


@pytest.mark.parametrize(("goal", "end"), [(0.6, 9.0), (-0.3, 6.0)])
def test_robot_stops_where_it_is_wanted(
    tmp_path: Path, goal: float, end: float
) -> None:
    result = record_steps(steered(goal=goal, duration=end), "steered", tmp_path)
    assert result["reached"]
    table = pd.read_csv(tmp_path / "steps.csv")
    assert abs(table["way_over_H"].iloc[-1] - goal) < HALF_A_STRIDE
    late = table[table["time"] > end - 1.0]["way_over_H"]
    assert np.ptp(late) < 1e-3  # and stays
    drawn = draw([Row("steered", tmp_path)])
    assert (drawn.tables["ways"]["goal_over_H"] == goal).all()


def test_the_stride_is_the_way_of_a_cycle_of_the_robot_that_is_steered() -> None:
    robot = replace(steered().robot, duration=3.0, every=10**6)
    assert steered().stride == SteeredCase().stride == 2.0 * HALF_A_STRIDE
    way = summary(robot)["way_over_H"]
    assert way == pytest.approx(SteeredCase().stride, rel=5e-3)


def test_figure_says_what_is_no_run_of_the_robot(tmp_path: Path) -> None:
    pd.DataFrame({"time": [0.0]}).to_csv(tmp_path / "steps.csv")
    with pytest.raises(InputError, match="no column way_over_H"):
        draw([Row("a", tmp_path)])


def test_period_that_is_no_multiple_of_records_is_refused() -> None:
    with pytest.raises(InstantiationException, match=r"no multiple of the 0\.025 s"):
        steered(period=0.04)


def test_code_of_the_page_on_controllers_does_what_it_says() -> None:
    page = (ROOT / "docs/control.md").read_text(encoding="utf-8")
    names: dict[str, Any] = {}
    for block in re.findall(r"```python\n(.*?)```", page, flags=re.DOTALL):
        exec(block, names)
    way = names["centroid"](names["seen"].x, names["mass"])[0]
    assert abs(way - names["goal"]) < 0.5 * names["stride"]
    ahead = max(names["ends"].values()) - way
    assert ahead > 0.2 * names["robot"].height
