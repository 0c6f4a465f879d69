"""Cases of landscapes, plates and modes: what they record, and what they refuse."""

from functools import partial
from itertools import islice
from typing import Any

import numpy as np
import pytest

from pipeline.cases.fold_landscape import FoldLandscapeCase
from pipeline.cases.fold_snap import FoldSnapCase
from pipeline.cases.origami import OrigamiCase
from pipeline.cases.plate import PlateCase
from tests.helpers.cases import composed
from tests.recorded import recorded

landscapes = partial(composed, FoldLandscapeCase)


def test_a_square_twist_has_two_minima_and_the_climb_between_them() -> None:
    case = landscapes("square_twist")
    steps, recorder = recorded(case)
    minima = list(recorder.tables()["minima.csv"])
    assert [row["asked_0_deg"] for row in minima] == [5.0, 175.0]
    assert minima[0]["climb"] == ""
    top = max(step.energy for step in steps)
    found = recorder.summary()
    assert found["minima"] == 2
    assert 0 < found["largest_climb"] <= top - minima[1]["energy"]
    rigid = landscapes("square_twist", "case.of.pattern.signs=MMVV",
                       "case.axes.0.creases=[1]")  # fmt: skip
    _, recorder = recorded(rigid)
    assert recorder.summary()["minima"] == 1


def test_a_miura_sheet_bends_to_a_saddle_or_a_dome_against_its_stretch() -> None:
    case = composed(PlateCase, "miura_plate", "case.fold.increments=3")
    steps, recorder = recorded(case)
    rows = [recorder.row(step) for step in steps]
    assert len(rows) == 3
    for row in rows:
        assert row["poisson"] < 0 < row["bending_poisson"]
    assert recorder.summary()["poisson"] == rows[-1]["poisson"]


def test_a_kresling_cell_has_two_stable_heights() -> None:
    _, recorder = recorded(composed(FoldSnapCase, "snap_kresling"))
    found = recorder.summary()
    assert found["stable_states"] == 2
    assert 0 < found["barrier_back"] < found["barrier"]


def test_modes_and_stiffness_stand_beside_each_increment() -> None:
    case = composed(OrigamiCase, "miura_modes", "case.eigenvalues=2")
    recorder = case.recorder()
    for step in islice(case.steps(), 2):
        recorder.see(step)
        row, modes = recorder.row(step), recorder.arrays(step)["modes"]
    assert modes.shape == (2, *case.mesh.rest.shape)
    assert np.linalg.norm(modes, axis=(1, 2)) == pytest.approx([1.0, 1.0])
    assert 0 < row["eigenvalue_0"] <= row["eigenvalue_1"]
    assert row["stiffness_0"] > 0
    assert recorder.summary()["stiffness_0"] == row["stiffness_0"]


@pytest.mark.parametrize(
    ("name", "override", "said"),
    [
        ("square_twist", "case.axes.0.creases=[5]", "edge 5 is held 1 times"),
        ("square_twist", "case.axes.0.creases=[0,0]", "edge 0 is held 2 times"),
        ("square_twist", "case.axes.0.creases=[]", "holds no creases"),
        ("square_twist", "case.axes.0.end=180", "end of an axis is 180"),
        ("square_twist", "case.axes.0.end=1", "let it ascend"),
        ("square_twist", "case.axes.0.points=1", "give 2 or more"),
        ("square_twist", "case.axes=[]", "has 0 axes"),
        ("square_twist", "case.of.compliant=true", "set compliant to false"),
        ("miura_plate", "case.periods=[[0,2]]", "1 periods are given"),
        ("miura_plate", "case.periods=[[0,2],[0,99]]", "numbered 0 to 24"),
        ("miura_plate", "case.periods=[[0,2],[0,4]]", "lie in line"),
        ("miura_modes", "case.probes.0.nodes=[999]", "probe names node 999"),
    ],
)
def test_what_makes_no_sense_is_refused(name: str, override: str, said: str) -> None:
    kind: Any = {"square_twist": FoldLandscapeCase, "miura_plate": PlateCase}
    with pytest.raises(Exception, match=said):
        composed(kind.get(name, OrigamiCase), name, override)
