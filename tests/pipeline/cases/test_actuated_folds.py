"""Cases of heated and turned creases: what they record, beside closed forms."""

from functools import partial

import numpy as np
import pytest

from pipeline.cases.origami import OrigamiCase
from pipeline.terminal.errors import InputError
from tests.helpers.cases import composed
from tests.recorded import recorded

case = partial(composed, OrigamiCase)


def test_flaps_rise_as_their_creases_are_heated_and_stay() -> None:
    steps, recorder = recorded(case("heated_flaps"))
    rows = [recorder.row(step) for step in steps]
    half, end = rows[12], rows[-1]
    assert half["power"] == pytest.approx(0.16)
    assert end["power"] == pytest.approx(0.32)
    assert {row["time"] for row in rows} == {0.0}
    folds = recorder.arrays(steps[12])["folds"]
    assert np.degrees(folds) == pytest.approx([86.8, 0.0, 0.0, 86.8], abs=0.1)
    assert recorder.summary()["fold"] == "folded"
    assert recorder.summary()["largest_rise"] == end["largest_rise"] > 100.0


def test_a_sheet_whose_creases_have_a_width_is_held_by_its_largest_panel() -> None:
    held = case("heated_flaps")
    assert {row[0] for row in held.sheet.supports} <= set(held.mesh.corner[:4])


def test_power_and_time_go_on_from_phase_to_phase() -> None:
    short = case("heated_strip", "case.phases.0.increments=2",
                 "case.phases.1.increments=2")  # fmt: skip
    steps, recorder = recorded(short)
    rows = [recorder.row(step) for step in steps]
    assert [row["time"] for row in rows] == [0.0, 2.0, 4.0, 8.0, 12.0]
    assert [row["power"] for row in rows] == [0.05, 0.05, 0.05, 0.0, 0.0]
    warm = [row["largest_rise"] for row in rows]
    assert warm[0] == 0.0 < warm[1] < warm[2] > warm[3] > warm[4]


def test_a_vertex_is_turned_by_the_slope_of_its_energy() -> None:
    turned = case("turned_vertex")
    steps, recorder = recorded(turned)
    work = np.trapezoid(
        [3e-4 * step.factor for step in steps],
        [recorder.arrays(step)["folds"][0] for step in steps],
    )
    assert recorder.summary()["strain_energy"] == pytest.approx(work, rel=1e-3)
    half = np.tan(0.5 * recorder.arrays(steps[-1])["folds"])
    rigid = np.sin(np.radians(10.0)) / np.sin(np.radians(70.0))  # flat-foldable
    assert abs(half[1] / half[0]) == pytest.approx(rigid, rel=1e-3)
    assert "time" not in recorder.row(steps[-1])


@pytest.mark.parametrize(
    ("name", "word", "said"),
    [
        ("heated_strip", "case.heating=null", "give `heating` beside the phases"),
        ("heated_strip", "case.phases.0.creases=[0]", "edge 0 is not a crease"),
        ("heated_strip", "case.heating.air_depth=-1", "air_depth must be positive"),
        ("heated_strip", "case.material.crease_modulus=2e9", "give that"),
        ("turned_vertex", "case.phases.0.moments=[]", "0 moments are given for 1"),
    ],
)
def test_what_cannot_be_is_refused_in_a_line(name: str, word: str, said: str) -> None:
    with pytest.raises(InputError, match=said):
        case(name, word)
