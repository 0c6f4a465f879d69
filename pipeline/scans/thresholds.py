"""Every threshold of reading a scan and doubting what was picked from it.

Measured is what memory an ingest of 20 million points takes and which wrong units and
radii of synthetic scans are named (`tests/pipeline/steps/test_ingest.py`):
`bytes_a_point`, `rough`, `fewest`, `wrong`, `certain`, `caps` (0.05 and 0.15 mm of
noise). The others are conventions.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class SizeThresholds:
    """How large a cloud may be."""

    most_points: int = 30_000_000  # a larger scan is thinned
    voxel: float = 0.01  # radii: side of the voxels that it is thinned to
    bytes_a_point: int = 60  # that picking takes; 49 were measured with 20 million
    widest: float = 7e4  # radii from the median; cells of a sixth of one are told apart
    sampled_points: int = 100_000  # that tell where the median is
    largest_mm: float = 1e10  # 10 000 km: beyond lies no workshop


@dataclass(frozen=True)
class MeshThresholds:
    """How points are spread over the faces of a mesh."""

    spacing: float = 1 / 15  # radii between points, unless faces are closer; custom
    largest: float = 1.0  # squared radii: area as which a larger face counts; custom
    most_points: int = 2_000_000  # unless there are more faces; custom


@dataclass(frozen=True)
class RepeatThresholds:
    """Which points were counted twice."""

    grid: float = 1e-4  # radii: points so close are one, written by two programs
    every: int = 200_000  # points; of a larger cloud a sample of places is looked at
    sampled: int = 64  # places of which one is looked at
    few: float = 0.01  # share of repeats that chance or rounding leaves
    same: float = 0.5  # share of a view's points in another: it is the same view


@dataclass(frozen=True)
class HintThresholds:
    """When picks are doubted, and what is said instead."""

    most_points: int = 1_000_000  # a hint need not see them all
    fewest: int = 4  # fewer spheres may be an accident
    rough: float = 0.07  # rms over radius: what is rougher is no sphere
    smallest: float = 0.5  # radius that is tried, of the one that was expected
    largest: float = 2.0
    wrong: float = 0.01  # of the radius, and `certain` sd: so far off, it is another
    certain: float = 5.0
    odd: float = 0.003  # of the radius, and `sure` sd: so far off is told
    sure: float = 3.0
    # noise^2 / radius by which caps come out smaller without lines of sight, or larger
    # where noise is not along them
    caps: float = 16.0


SIZE = SizeThresholds()
MESH = MeshThresholds()
REPEAT = RepeatThresholds()
HINT = HintThresholds()
