"""Cases of structures and sheets that snap: rests, barriers, what is refused."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from pipeline.cases.branches_and_snaps import SnapCase
from pipeline.cases.origami import FoldSnapCase
from pipeline.cli.app import called
from pipeline.steps.simulate import record_steps
from tests.helpers.cases import composed
from tests.helpers.tables import rows_of
from tests.pipeline.conftest import ROOT


@pytest.fixture(autouse=True)
def at_home(monkeypatch):
    monkeypatch.chdir(ROOT)


def test_two_bars_have_the_barrier_of_the_closed_form(tmp_path):
    case = composed(SnapCase, "snap_two_bars")
    result = dict(record_steps(case, "snap_two_bars", tmp_path))
    rows = rows_of(tmp_path / "actuation.csv")
    barrier = 50.0 * (np.hypot(1.0, 0.3) - 1.0) ** 2
    assert_allclose(result["barrier"], barrier, rtol=1e-9)
    assert [row["stable"] for row in rows] == ["1", "0", "1"]
    assert_allclose(float(rows[0]["barrier_onward"]), barrier, rtol=1e-9)


def test_barrier_of_a_pyramid_is_the_work_of_its_driver(tmp_path):
    case = composed(FoldSnapCase, "snap_pyramid")
    result = dict(record_steps(case, "snap_pyramid", tmp_path))
    rows = rows_of(tmp_path / "actuation.csv")
    assert [row["stable"] for row in rows] == ["1", "0", "1"]
    steps = rows_of(tmp_path / "steps.csv")
    moved, force = (np.array([float(s[k]) for s in steps]) for k in ("moved", "force"))
    top = int(np.argmin(np.abs(moved - float(rows[1]["moved"]))))
    work = np.trapezoid(force[: top + 1], moved[: top + 1])
    assert_allclose(result["barrier"], work, rtol=5e-3)
    # its creases are soft beside its panels: the other state is the mirrored one
    assert_allclose(float(rows[2]["moved"]), -0.008, rtol=1e-2)
    assert float(rows[2]["energy"]) < 0.01 * result["barrier"]


def test_pyramid_pushed_by_more_than_its_apex_is_refused(capsys):
    asked = "case.of.phases.0.force=[0,0.1,-1]"
    assert called(["simulate", "case=snap_pyramid", asked]) == 2
    assert "let it act on node 0 alone, along z" in capsys.readouterr().err
