"""Whatever bytes come in: an answer or a refusal, never a crash or a made-up point."""

import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pipeline.io.length_units import Unit
from pipeline.io.point_cloud import READERS, read_cloud
from pipeline.io.reader_interface import Choices, ScanFileError
from tests.faults.damage import damaged

SUFFIXES = sorted(READERS)
POINTS = np.arange(60, dtype="<f4").reshape(20, 3)
TEXT = b"".join(b"%g %g %g\n" % tuple(p) for p in POINTS)
PLY = (
    b"ply\nformat %s 1.0\ncomment unit mm\nelement vertex 20\nproperty float x\n"
    b"property float y\nproperty float z\nend_header\n"
)
PCD = (
    b"VERSION 0.7\nFIELDS x y z\nSIZE 4 4 4\nTYPE F F F\nCOUNT 1 1 1\nWIDTH 20\n"
    b"HEIGHT 1\nVIEWPOINT 0 0 0 1 0 0 0\nPOINTS 20\nDATA %s\n"
)
PACKED = b"".join(b"\x03" + POINTS.T.ravel()[i : i + 1].tobytes() for i in range(60))
SEEDS = {
    ".ply": [
        PLY % b"binary_little_endian" + POINTS.tobytes(),
        PLY % b"binary_big_endian" + POINTS.astype(">f4").tobytes(),
        PLY % b"ascii" + TEXT,
    ],
    ".pcd": [
        PCD % b"binary" + POINTS.tobytes(),
        PCD % b"ascii" + TEXT,
        PCD % b"binary_compressed"
        + np.array([len(PACKED), 240], dtype="<u4").tobytes()
        + PACKED,
    ],
    ".stl": [
        b"\0" * 80 + b"\2\0\0\0" + bytes(100),
        b"solid\nvertex 1 2 3\nvertex 4 5 6\nvertex 7 8 9\nendsolid\n",
    ],
    ".obj": [b"v 1 2 3\nv 4 5 6\nf 1 2 2\n"],
    ".csv": [b"x;y;z\n" + TEXT.replace(b" ", b";"), TEXT.replace(b" ", b",")],
    ".pts": [b"20\n" + TEXT],
    ".xyz": [TEXT],
    ".npy": [
        b"\x93NUMPY\1\0\x76\0"
        + b"{'descr': '<f4', 'fortran_order': False, 'shape': (20, 3), }".ljust(117)
        + b"\n"
        + POINTS.tobytes()
    ],
}
CHOICES = st.builds(Choices, st.booleans(), st.booleans())
UNHURRIED = settings(
    deadline=None,
    max_examples=60,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow],
)


def assert_answer(suffix: str, content: bytes, choices: Choices) -> None:
    """Read `content`: finite points, no more than its bytes can hold, or a refusal."""
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / f"a{suffix}"
        path.write_bytes(content)
        try:
            cloud = read_cloud(path, Unit.MM, choices)
        except ScanFileError as error:
            cloud, message = None, str(error)
        if cloud is None:
            assert "\n" not in message
            return
        assert np.isfinite(cloud.points).all()
        most = 88 * len(content)  # bytes a compressed file can unpack to
        assert 0 < len(cloud.points) + cloud.dropped <= most


@settings(UNHURRIED, max_examples=300)
@given(st.sampled_from(SUFFIXES), st.binary(max_size=400), CHOICES)
def test_arbitrary_bytes_never_crash_a_reader(suffix, content, choices):
    assert_answer(suffix, content, choices)


@pytest.mark.parametrize("suffix", SEEDS)
def test_damaged_good_files_never_crash_a_reader(suffix):
    @UNHURRIED
    @given(damaged(SEEDS[suffix]), CHOICES)
    def tried(content: bytes, choices: Choices) -> None:
        assert_answer(suffix, content, choices)

    tried()


def test_the_good_files_of_the_fuzz_test_are_good(tmp_path):
    for suffix, contents in SEEDS.items():
        for number, content in enumerate(contents):
            path = tmp_path / f"{number}{suffix}"
            path.write_bytes(content)
            assert len(read_cloud(path, Unit.MM).points) > 0
