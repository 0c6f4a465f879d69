"""LAS, LAZ and E57, read by packages that not everybody has."""

from importlib import import_module
from pathlib import Path
from typing import Any

import laspy
import numpy as np
import pye57
import pytest

from pipeline.io import reader_interface
from pipeline.io.binary_clouds import cartesian
from pipeline.io.length_units import Unit
from pipeline.io.point_cloud import read_cloud, read_clouds
from pipeline.io.reader_interface import Choices, ScanFileError
from sim.core.arrays import Floats

POINTS = np.random.default_rng(24).uniform(-50.0, 50.0, (500, 3)).round(3)
TURN = np.array([np.sqrt(0.5), 0.0, 0.0, np.sqrt(0.5)])  # a quarter about z
PLACE = np.array([1.0, -2.0, 0.5])


def las(path: Path, points: Floats = POINTS) -> Path:
    header = laspy.LasHeader(point_format=0, version="1.2")
    header.scales, header.offsets = np.full(3, 1e-3), np.array([10.0, 0.0, -5.0])
    file = laspy.LasData(header)
    file.x, file.y, file.z = points.T
    file.write(path)
    return path


def e57(path: Path, scans: list[tuple[Floats, Floats, Floats]]) -> Path:
    """Scans of points in m, each with the quaternion and the place of its scanner."""
    with pye57.E57(str(path), mode="w") as file:
        for points, turn, place in scans:
            axes = {
                f"cartesian{axis}": column
                for axis, column in zip("XYZ", points.T, strict=True)
            }
            file.write_scan_raw(axes, rotation=turn, translation=place)
    return path


@pytest.mark.parametrize("suffix", ["las", "laz"])
def test_points_of_las_files_come_back(tmp_path, suffix):
    cloud = read_cloud(las(tmp_path / f"a.{suffix}"), Unit.CM)
    np.testing.assert_allclose(cloud.points, 10.0 * POINTS, atol=1e-9)
    assert cloud.dropped == 0
    assert not cloud.notes


def test_each_scan_of_an_e57_file_comes_in_its_pose(tmp_path):
    none = np.array([1.0, 0, 0, 0])
    path = e57(
        tmp_path / "a.e57", [(POINTS, none, np.zeros(3)), (POINTS[:200], TURN, PLACE)]
    )
    one, two = read_clouds(path, Unit.M)
    np.testing.assert_allclose(one.points, 1e3 * POINTS, atol=5e-3)
    x, y, z = POINTS[:200].T
    expected = 1e3 * (np.column_stack([-y, x, z]) + PLACE)
    np.testing.assert_allclose(two.points, expected, atol=5e-3)  # written as float32
    assert two.viewpoint == pytest.approx(tuple(1e3 * PLACE))


def test_points_that_saw_nothing_are_left_out(tmp_path):
    path = tmp_path / "a.e57"
    axes = dict(zip(("cartesianX", "cartesianY", "cartesianZ"), POINTS.T, strict=True))
    state = np.zeros(len(POINTS), dtype=np.int8)
    state[::5] = 2
    with pye57.E57(str(path), mode="w") as file:
        file.write_scan_raw({**axes, "cartesianInvalidState": state})
    cloud = read_cloud(path, Unit.M)
    np.testing.assert_allclose(cloud.points, 1e3 * POINTS[state == 0], atol=5e-3)
    assert not cloud.notes


def test_range_and_angles_make_points():
    """A quarter of the way round, and straight up."""
    angles = np.array([[2.0, 0, 0], [3.0, np.pi / 2, 0], [4.0, 0.3, np.pi / 2]])
    expected = [[2.0, 0, 0], [0, 3.0, 0], [0, 0, 4.0]]
    np.testing.assert_allclose(cartesian(angles), expected, atol=1e-12)


@pytest.mark.parametrize("suffix", ["las", "laz", "e57"])
def test_damaged_files_are_refused(tmp_path, suffix):
    path = tmp_path / f"a.{suffix}"
    whole = (
        e57(path, [(POINTS, np.array([1.0, 0, 0, 0]), PLACE)])
        if suffix == "e57"
        else las(path)
    )
    content = whole.read_bytes()
    for damaged in (b"no scan", content[:200], content[: len(content) // 2]):
        path.write_bytes(damaged)
        with pytest.raises(ScanFileError, match=r"E-FORMAT|E-TRUNCATED") as caught:
            read_cloud(path, Unit.M)
        assert "\n" not in str(caught.value)


def test_a_las_file_that_promises_more_than_it_can_hold_is_refused(tmp_path):
    path = las(tmp_path / "a.las")
    content = bytearray(path.read_bytes())
    content[107:111] = (2**31).to_bytes(4, "little")  # number of point records
    path.write_bytes(bytes(content))
    with pytest.raises(
        ScanFileError, match=r"E-TRUNCATED .* declares 2147483648 points"
    ):
        read_cloud(path, Unit.MM)


@pytest.mark.parametrize(
    ("suffix", "package"),
    [
        ("las", "laspy"),
        ("laz", "laspy"),
        ("e57", "pye57"),
    ],
)
def test_without_its_package_a_format_is_refused_by_name(
    tmp_path, monkeypatch, suffix, package
):
    def without(name: str) -> Any:
        if name == package:
            raise ImportError(name)
        return import_module(name)

    monkeypatch.setattr(reader_interface, "import_module", without)
    path = tmp_path / f"a.{suffix}"
    path.write_bytes(b"something")
    with pytest.raises(ScanFileError, match=f"the package {package}.*make formats"):
        read_cloud(path, Unit.MM, Choices())


def test_a_las_header_with_a_scale_of_zero_is_refused_by_name(tmp_path):
    path = las(tmp_path / "a.las")
    data = bytearray(path.read_bytes())
    data[139:147] = bytes(8)  # the scale of y
    path.write_bytes(data)
    with pytest.raises(ScanFileError, match="its header states the scale 0 for y"):
        read_cloud(path, Unit.MM)
