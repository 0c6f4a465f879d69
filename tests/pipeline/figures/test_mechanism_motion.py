"""The figure of mechanisms in motion refuses what it does not show."""

import pytest

from pipeline.figures.read_runs import draw
from pipeline.terminal import InputError
from tests.pipeline.figure_runs import run_of


def test_the_figure_of_motions_tells_their_energy_and_refuses_others(tmp_path):
    with pytest.raises(InputError, match="3 runs, not 0"):
        draw("mechanism-motion", [])
    names = ("double_pendulum", "slider_crank_motion", "bricard_motion")
    rows = [
        run_of(name, (f"case={name}", "case.duration=0.1"), tmp_path / name)
        for name in names
    ]
    drawn = draw("mechanism-motion", rows)
    assert {"double_pendulum", "slider_crank", "bricard"} == set(drawn.tables)
    for table in drawn.tables.values():
        assert table["out_of_balance"].abs().max() < 1e-11
    with pytest.raises(InputError, match="has no motion of node 6"):
        draw("mechanism-motion", [rows[0], rows[1], rows[0]])
