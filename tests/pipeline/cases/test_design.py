"""Design cases, run and drawn."""

from functools import partial

import numpy as np
import pytest
from numpy.testing import assert_allclose

from pipeline.cases.design import DesignCase
from pipeline.figures.read_runs import Row, draw
from pipeline.io.structure_file import structure_file
from pipeline.steps.simulate import record_steps
from pipeline.terminal import InputError
from sim.mechanism.targets.analytic_surfaces import Circle
from tests.helpers.cases import changed
from tests.helpers.tables import rows_of

build = partial(changed, DesignCase, "design_sheet")


def test_lengths_found_bring_a_circle_beyond_reach_within_reach(tmp_path):
    """They are written with what they were; each target is shown before and after."""
    result = dict(record_steps(build(), "design_sheet", tmp_path))
    rows = rows_of(tmp_path / "steps.csv")
    assert float(rows[0]["E_0"]) > 0.05
    assert float(rows[-1]["E_0"]) < 1e-3
    assert float(rows[-1]["E_1"]) < 1e-6  # the sphere stays within reach
    assert result["stop"] == "gradient"
    assert result["residual"] <= 1e-10
    rows = rows_of(tmp_path / "lengths.csv")
    assert len(rows) == 19
    with np.load(tmp_path / "steps.npz") as arrays:
        ends = arrays["r"][-1, 0][arrays["links"]]
    apart = np.linalg.norm(ends[:, 1] - ends[:, 0], axis=1)
    assert_allclose([float(row["length"]) for row in rows], apart, rtol=1e-9)
    change = [float(row["change"]) for row in rows]
    assert max(np.abs(change)) <= 0.3 + 1e-12
    drawn = draw("design", [Row("design_sheet", tmp_path)])
    titles = [ax.get_title() for ax in drawn.figure.axes]
    assert sum("first lengths" in title for title in titles) == 2
    assert sum("lengths found" in title for title in titles) == 2
    assert len(drawn.tables["lengths"]) == 19
    with pytest.raises(InputError, match="shows one run, not 2"):
        draw("design", [Row("a", tmp_path), Row("b", tmp_path)])


def test_places_found_bring_a_circle_beyond_reach_closer(tmp_path):
    case = build(symmetries=[], places=[9, 19], limit=0.1, tolerance=1e-5)
    record_steps(case, "design_sheet", tmp_path)
    steps, rows = rows_of(tmp_path / "steps.csv"), rows_of(tmp_path / "places.csv")
    assert float(steps[-1]["F"]) < 0.7 * float(steps[0]["F"])
    assert [row["node"] for row in rows] == ["9", "19"]
    r = case.structure.r0.copy()
    r[[9, 19]] = [[float(row[axis]) for axis in "xyz"] for row in rows]
    made = case.links.constraint
    ends = r[case.structure.constraints.nodes[made, :2]]
    length = [float(row["length"]) for row in rows_of(tmp_path / "lengths.csv")]
    assert_allclose(length, np.linalg.norm(ends[:, 1] - ends[:, 0], axis=1), rtol=1e-9)


def test_lengths_that_do_not_close_at_the_start_are_refused(tmp_path):
    """Three links of 1, 1 and 3: no triangle."""
    path = tmp_path / "open.json"
    path.write_text(
        '{"nodes": [[0,0,0],[1,0,0],[0.5,0.8,0]], "bodies": [[0,1],[1,2],[0,2]], '
        '"dist": [[0,1,1.0],[1,2,1.0],[0,2,9.0]]}'
    )
    with pytest.raises(ValueError, match=r"the start violates a constraint: dist\("):
        DesignCase(structure_file(str(path)), [Circle(1.0)])
    path.write_text(
        '{"nodes": [[0,0,0],[1,0,0],[0.5,0.8,0]], "bodies": [[0,1],[1,2]], '
        '"dist": [[0,1,1.0],[1,2,0.89]], "radii": [[0, 0.6],[2, 0.6]]}'
    )
    with pytest.raises(ValueError, match="node 0 and the sphere of node 2 overlap"):
        DesignCase(structure_file(str(path)), [Circle(1.0)])


def test_larger_changes_fit_the_circle_better(tmp_path):
    E, at_limit = [], []
    for limit in (0.05, 0.15, 0.3):
        result = dict(record_steps(build(limit=limit), "design_sheet", tmp_path))
        first = float(rows_of(tmp_path / "steps.csv")[0]["E_0"])
        assert result["E_0"] < first
        assert result["E_1"] < 1e-6
        E.append(result["E_0"])
        at_limit.append(result["at_limit"])
    assert (np.diff(E) < 0.0).all()
    assert at_limit[:2] == [10, 10]
    assert E[-1] < 1e-3 * first * 5.0
