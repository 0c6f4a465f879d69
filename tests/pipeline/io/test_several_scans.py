"""Files that hold several scans, each with its count of points or its pose."""

import numpy as np
import pytest

from pipeline.io.length_units import Unit
from pipeline.io.point_cloud import read_cloud, read_clouds
from pipeline.io.reader_interface import Choices, ScanFileError
from sim.core.arrays import Floats

FIRST = np.array([[0.5, -1.25, 2.0], [3.0, 4.5, -6.75], [7.0, 8.0, 9.125]])
SECOND = np.array([[1.0, 2.0, 3.0], [-4.0, 5.5, 6.25]])
QUARTER = np.array([[0.0, 1.0, 0.0], [-1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])  # of rows
PLACE = np.array([10.0, -20.0, 30.0])


def rows(points: Floats, more: str = "") -> str:
    return "".join(f"{x:g} {y:g} {z:g}{more}\n" for x, y, z in points)


def ptx(points: Floats, rotation: Floats, place: Floats, empty: int = 1) -> str:
    """A scan of one column, `empty` cells of which saw nothing."""
    matrix = np.zeros((4, 4))
    matrix[:3, :3], matrix[3] = rotation, [*place, 1.0]
    pose = rows(np.vstack([place, rotation]))
    pose += "".join(" ".join(f"{v:g}" for v in row) + "\n" for row in matrix)
    nothing = "0 0 0 0.5\n" * empty
    return f"1\n{len(points) + empty}\n{pose}{rows(points, ' 0.25')}{nothing}"


@pytest.mark.parametrize(("empty", "second"), [("", 2), ("0\n", 3)])
def test_each_scan_of_a_pts_file_that_has_points_is_a_cloud(tmp_path, empty, second):
    path = tmp_path / "a.pts"
    path.write_text(f"3\n{rows(FIRST)}{empty}2\n{rows(SECOND)}{empty}")
    one, two = read_clouds(path, Unit.MM)
    np.testing.assert_array_equal(one.points, FIRST)
    np.testing.assert_array_equal(two.points, SECOND)
    assert [one.name, two.name] == ["a.pts #1", f"a.pts #{second}"]
    assert not one.notes
    assert not two.notes
    whole = read_cloud(path, Unit.MM)
    np.testing.assert_array_equal(whole.points, np.vstack([FIRST, SECOND]))


def test_more_points_than_promised_are_no_silent_loss(tmp_path):
    path = tmp_path / "a.pts"
    path.write_text(f"2\n{rows(FIRST)}")
    with pytest.raises(
        ScanFileError, match=r"E-FORMAT .* declares 2 points, but the file has more"
    ):
        read_cloud(path, Unit.MM)
    cloud = read_cloud(path, Unit.MM, Choices(salvage=True))
    np.testing.assert_array_equal(cloud.points, FIRST)
    assert cloud.notes == ("salvaged 3 points; the header declares 2",)


@pytest.mark.parametrize("suffix", [".ptx", ".txt"])
@pytest.mark.parametrize("mark", ["", "\N{BYTE ORDER MARK}"])
def test_ptx_scans_come_in_their_poses(tmp_path, suffix, mark):
    path = tmp_path / f"a{suffix}"
    turned = ptx(SECOND, QUARTER, PLACE, empty=9)
    path.write_text(mark + ptx(FIRST, np.eye(3), np.zeros(3)) + turned, "utf-8")
    one, two = read_clouds(path, Unit.CM)
    np.testing.assert_allclose(one.points, 10.0 * FIRST)
    x, y, z = SECOND.T
    expected = np.column_stack([-y, x, z]) + PLACE
    np.testing.assert_allclose(two.points, 10.0 * expected)
    assert two.viewpoint == tuple(10.0 * PLACE)
    assert not two.notes
    assert not two.dropped


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (rows(FIRST), "line 1 must be a column count"),
        (
            ptx(FIRST, 2.0 * np.eye(3), PLACE),
            "line 7 starts a pose that is not a rigid",
        ),
        (ptx(FIRST, -np.eye(3), PLACE), "not a rigid motion"),
        ("1\n4\n" + rows(FIRST), "line 1 does not start a PTX header"),
        (
            ptx(FIRST, np.eye(3), PLACE) + "1 2 3 4\n",
            "declares 4 points, but the file has more",
        ),
        (ptx(FIRST, np.eye(3), PLACE)[:-10], "but the file has 3"),
    ],
)
def test_a_damaged_ptx_file_is_refused(tmp_path, content, said):
    path = tmp_path / "a.ptx"
    path.write_text(content)
    with pytest.raises(ScanFileError, match=said):
        read_clouds(path, Unit.MM)
