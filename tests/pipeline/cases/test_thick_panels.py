"""Cases of thick panels: how far they fold, and what is refused."""

from functools import partial

import pytest

from pipeline.cases.thick_panels import ThickPanelsCase
from pipeline.terminal.errors import InputError
from tests.helpers.cases import composed
from tests.recorded import recorded

thick = partial(composed, ThickPanelsCase)


def test_two_panels_close_about_their_inner_faces_and_not_about_their_middle() -> None:
    closed = recorded(thick("thick_fold"))[1].summary()
    assert closed["clear_to_deg"] == pytest.approx(180.0)
    words = ["+case.hinges=middle", "+case.cut=0.001"]
    steps, recorder = recorded(thick("thick_fold", *words))
    assert recorder.summary()["clear_to_deg"] == pytest.approx(90.0)
    assert recorder.row(steps[-1])["clearance"] < -1e-4


def test_a_thick_miura_stays_together_to_the_end() -> None:
    words = ["case.pattern.rows=2", "case.pattern.columns=2", "+case.increments=6"]
    steps, recorder = recorded(thick("thick_miura", *words))
    found = recorder.summary()
    assert found["opening"] < 1e-9
    assert 90 < found["clear_to_deg"] < 160
    assert len(recorder.arrays(steps[0])["x"]) == 32


@pytest.mark.parametrize(
    ("override", "said"),
    [
        ("case.thickness=0", "thickness must be positive"),
        ("+case.cut=-1", "cut must be 0 or more"),
        ("+case.hinges=top", "choose one of faces, middle"),
        ("+case.fraction=1.5", "give above 0, at most 1"),
        ("+case.increments=0", "give 1 or more"),
    ],
)
def test_what_makes_no_sense_is_refused(override: str, said: str) -> None:
    with pytest.raises(Exception, match=said):
        thick("thick_fold", override)


@pytest.mark.parametrize(
    ("case", "word", "most"),
    [
        ("thick_fold", "+case.cut=0.02", "0.02"),
        ("thick_miura", "case.cut=0.009", "0.00866"),
        ("thick_miura", "case.cut=0.02", "0.00866"),
    ],
)
def test_a_cut_that_leaves_nothing_of_a_panel_is_refused(
    case: str, word: str, most: str
) -> None:
    """A rhombus of 20 mm and 60 degrees has sides 17.32 mm apart."""
    said = f"leaves nothing of panel [0-9], which is gone at {most}"
    with pytest.raises(InputError, match=said):
        thick(case, word)
