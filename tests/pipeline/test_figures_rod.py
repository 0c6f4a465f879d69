"""The figures of [Hu20], drawn from runs as the pipeline leaves them."""

from pathlib import Path

import numpy as np
import pytest

from pipeline.cases.rod import ActuatorCase, JumperCase, StarCase
from pipeline.errors import InputError
from pipeline.figures import huang_2c, huang_3, huang_4, huang_5, huang_7
from pipeline.figures.shown import Row
from pipeline.simulate import Case, record_steps


def _row(case: Case, out: Path, label: str) -> Row:
    out.mkdir()
    record_steps(case, label, out)
    return Row(label, out)


@pytest.fixture(scope="module")
def robot(tmp_path_factory: pytest.TempPathFactory) -> Row:
    out = tmp_path_factory.mktemp("runs") / "robot"
    return _row(StarCase(duration=2.0, every=20), out, "star_robot")


def test_snapshots_are_at_the_times_of_the_paper(robot: Row) -> None:
    titles = [ax.get_title() for ax in huang_4.draw([robot]).figure.axes]
    assert titles == [f"t = {t:g} s" for t in huang_4.TIMES]


def test_each_ground_has_its_way(robot: Row) -> None:
    drawn = huang_5.draw([robot])
    line = drawn.figure.axes[0].lines[0]
    assert np.asarray(line.get_xdata())[-1] == pytest.approx(2.0)
    assert np.asarray(line.get_ydata())[0] == 0.0
    assert list(drawn.tables) == ["star_robot"]


def test_the_law_and_the_jumper_are_drawn_from_their_runs(tmp_path: Path) -> None:
    law = _row(ActuatorCase(), tmp_path / "law", "actuator_law")
    assert len(huang_3.draw([law]).tables["law"]) == 601
    jump = _row(JumperCase(duration=0.1), tmp_path / "jump", "jumper")
    assert huang_7.draw([jump]).figure.axes


def test_four_ribbons_at_rest_are_drawn_without_a_run() -> None:
    drawn = huang_2c.draw([])
    assert [ax.get_title() for ax in drawn.figure.axes] == [
        rf"$\Gamma_g = {gamma:g}$" for gamma in huang_2c.GAMMAS
    ]
    assert drawn.tables["shapes"]["height_over_R"].is_monotonic_increasing


def test_a_figure_refuses_runs_it_cannot_show(robot: Row, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="give one, the case star_robot"):
        huang_4.draw([robot, robot])
    with pytest.raises(InputError, match="has no steps"):
        huang_3.draw([Row("none", tmp_path)])
