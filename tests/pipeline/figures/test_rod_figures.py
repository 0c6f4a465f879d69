"""The figures of [Hu20], drawn from runs as the pipeline leaves them."""

from pathlib import Path

import numpy as np
import pytest

from pipeline.cases.ribbon import RibbonCase
from pipeline.cases.robots import ComputingTimeCase
from pipeline.cases.user_rods import OwnRodCase
from pipeline.figures.read_runs import Row, draw
from pipeline.runs.atomic_files import write_json
from pipeline.steps.figure import TIMED, facts
from pipeline.steps.simulate import Case, record_steps
from pipeline.terminal import InputError
from sim.rods.plane.builders import Ribbon
from sim.rods.plane.ground import GroundPlane

KEY = "0123456789abcdef"


def _row(case: Case, out: Path, label: str) -> Row:
    out.mkdir()
    result = record_steps(case, label, out)
    config = {"case": {"material": {"modulus": 3.0e6}}}
    write_json(out / "run.json", {"key": KEY, "config": config, "result": result})
    return Row(label, out)


@pytest.fixture(scope="module")
def ribbons(tmp_path_factory):
    """One that slides and one that rolls."""
    folder = tmp_path_factory.mktemp("ribbons")
    return [
        _row(
            RibbonCase(Ribbon(5.0, nodes=40), ratio=ratio, duration=1.0, every=2),
            folder / f"{ratio:g}",
            f"{ratio:g}",
        )
        for ratio in (0.0, 1.2)
    ]


def test_a_sliding_point_goes_beside_the_centroid_a_rolling_one_around_it(ribbons):
    """In the frame of the slope, over the radius."""
    routes = draw("huang-2a", ribbons).tables["routes"]
    for ratio, height in ((0.0, 0.0), (1.2, 2.0)):
        route = routes[routes["ratio"] == ratio]
        assert np.ptp(route["y_b"]) == pytest.approx(height, abs=0.05)
        assert np.ptp(route["y_c"]) < 0.05
        assert route["x_c"].iloc[-1] > 1.0


def test_computing_times_are_measured_by_ground_and_step(tmp_path):
    case = ComputingTimeCase(
        {"star_robot": GroundPlane(), "star_robot_up_3": GroundPlane(3.0)},
        [5e-3, 1e-2],
        0.1,
        3,
    )
    row = _row(case, tmp_path / "times", "computing_time")
    drawn = draw("huang-6", [row])
    assert len(drawn.tables["times"]) == 4
    times = drawn.tables["times"]
    assert (times["ratio"] > 0.0).all()
    assert (times["most"] >= times["ratio"]).all()
    bars = drawn.figure.axes[0].collections[0].get_segments()  # type: ignore[attr-defined]
    assert [bar[1][1] for bar in bars] == times["most"].tolist()
    assert facts([row])["rows"][0]["result"]["machine"]
    assert facts([row])["nature"] == TIMED
    names = [text.get_text() for text in drawn.figure.legends[0].texts]
    assert names[:2] == ["0\N{DEGREE SIGN}", "+3\N{DEGREE SIGN}"]


def test_any_moving_rod_is_drawn(tmp_path):
    case = OwnRodCase([[0.0, 0.01], [0.01, 0.012], [0.02, 0.01]], duration=0.2, every=8)
    drawn = draw("rod-motion", [_row(case, tmp_path / "own", "mine")])
    titles = [ax.get_title() for ax in drawn.figure.axes]
    assert titles[0] == "$t$ = 0 s"
    assert titles[-1] == "$t$ = 0.2 s"
    heights = drawn.tables["shapes"].groupby("time")["y"].mean()
    assert np.all(np.diff(heights) < 0)  # it falls


def test_a_figure_refuses_runs_it_cannot_show(tmp_path):
    with pytest.raises(InputError, match="shows one run, not 2: the case star_robot"):
        draw("huang-4", [Row("none", tmp_path)] * 2)
    with pytest.raises(InputError, match="has no steps"):
        draw("huang-3", [Row("none", tmp_path)])
