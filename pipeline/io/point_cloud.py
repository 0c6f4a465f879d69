"""A scan file as a point cloud in mm, thinned where it is too large.

A point that is left by thinning is a measured one: an average would have less noise
than its neighbours.

Of the thresholds, measured is what memory an ingest of 20 million points takes and
which wrong units and radii of synthetic scans are named
(`tests/pipeline/steps/test_ingest.py`): `bytes_a_point`, `rough`, `fewest`, `wrong`,
`certain`, `caps` (0.05 and 0.15 mm of noise). The others are conventions.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from pipeline.io import binary_clouds, ply, scanned_meshes, text_clouds
from pipeline.io.length_units import Unit, declared_unit
from pipeline.io.reader_interface import (
    AGAIN,
    Choices,
    ScanFile,
    Source,
    file_size,
    refused,
)
from pipeline.runs.atomic_files import check_ends
from sim.core.arrays import Bools, Floats, Ints
from sim.core.numba_kernels import kernel

COARSER = np.sqrt(2.0)  # factor on the voxel's side when the budget is used up
BITS = 21  # an axis: two million voxels, after which cells are counted again
EMPTY = -1
OCTANTS = 8  # voxels of any size that meet at the origin


@dataclass(frozen=True)
class Thinning:
    """When to thin a cloud, and to what."""

    voxel: float  # side, in the unit of the points; larger where it must be
    most: int  # points that may remain

    def __post_init__(self) -> None:
        if not (self.voxel > 0 and self.most >= OCTANTS):
            raise ValueError(
                f"voxel must be positive, not {self.voxel:g}, and `most` at least "
                f"{OCTANTS} points, not {self.most}"
            )


@dataclass(frozen=True, eq=False)
class Thinned:
    """What is left of a cloud."""

    points: Floats  # (m, 3)
    read: int  # rows, finite or not
    finite: int
    voxel: float  # side that was enough


def thinned(blocks: Iterator[Floats], thinning: Thinning) -> Thinned:
    """Keep the first point of every voxel, in voxels large enough for the budget.

    The voxels grow whenever the budget is used up: what is left is thinned again, and
    reading goes on.

    Parameters
    ----------
    blocks : the points (m, 3), m of any size
    """
    size = 1 << int(np.ceil(np.log2(2 * thinning.most + 2)))
    table = np.full(size, EMPTY, dtype=np.int64)
    points = np.empty((thinning.most, 3))
    voxel, read, finite, left = thinning.voxel, 0, 0, 0
    for block in blocks:
        good = block[np.isfinite(block).all(axis=1)]
        read, finite = read + len(block), finite + len(good)
        new = good[_first_of_voxel(_keys(good, voxel), table)]
        while left + len(new) > thinning.most:
            voxel *= COARSER
            table[:] = EMPTY
            old = points[:left][_first_of_voxel(_keys(points[:left], voxel), table)]
            left = len(old)
            points[:left] = old
            new = new[_first_of_voxel(_keys(new, voxel), table)]
        points[left : left + len(new)] = new
        left += len(new)
    return Thinned(points[:left], read, finite, voxel)


def _keys(points: Floats, voxel: float) -> Ints:
    """One number for each voxel."""
    cell = np.floor(points / voxel).astype(np.int64) & ((1 << BITS) - 1)
    keys: Ints = (cell[:, 0] << (2 * BITS)) | (cell[:, 1] << BITS) | cell[:, 2]
    return keys


@kernel
def _first_of_voxel(keys: Ints, table: Ints) -> Bools:
    """Which keys are not in the hash table yet; they are entered.

    The table has a power of two of places, and at least twice the keys entered; a
    block may overfill it, and is then cut short: all its further keys count as new.
    """
    first = np.ones(keys.size, dtype=np.bool_)
    mask = np.uint64(table.size - 1)
    unused = table.size - np.sum(table != EMPTY) - 1
    for i in range(keys.size):
        if unused <= 0:
            break
        mixed = np.uint64(keys[i]) * np.uint64(0x9E3779B97F4A7C15)
        place = (mixed ^ (mixed >> np.uint64(29))) & mask
        while table[place] != EMPTY and table[place] != keys[i]:
            place = (place + np.uint64(1)) & mask
        first[i] = table[place] == EMPTY
        if first[i]:
            table[place] = keys[i]
            unused -= 1
    return first


@dataclass(frozen=True)
class SizeThresholds:
    """How large a cloud may be."""

    most_points: int = 30_000_000  # a larger scan is thinned
    voxel: float = 0.01  # radii: side of the voxels that it is thinned to
    bytes_a_point: int = 60  # that picking takes; 49 were measured with 20 million
    widest: float = 7e4  # radii from the median; cells of a sixth of one are distinct
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
    """When detections are doubtful, and which hint is given."""

    most_points: int = 1_000_000  # a hint need not see them all
    fewest: int = 4  # fewer spheres may be an accident
    rough: float = 0.07  # rms over radius: what is rougher is no sphere
    coarse: float = 0.1  # radii between neighbouring numbers of an axis; custom
    smallest: float = 0.5  # radius that is tried, of the one that was expected
    largest: float = 2.0
    wrong: float = 0.01  # of the radius, and `certain` sd: so far off, it is another
    certain: float = 5.0
    odd: float = 0.003  # of the radius, and `sure` sd: so far off is mentioned
    sure: float = 3.0
    # noise^2 / radius by which caps come out smaller without lines of sight, or larger
    # where noise is not along them
    caps: float = 16.0


SIZE = SizeThresholds()
MESH = MeshThresholds()
REPEAT = RepeatThresholds()
HINT = HintThresholds()


Reader = Callable[[ScanFile], Source | list[Source]]
READERS: dict[str, Reader] = {
    ".ply": ply.read_ply,
    ".pcd": binary_clouds.read_pcd,
    ".npy": binary_clouds.read_npy,
    ".las": binary_clouds.read_las,
    ".laz": binary_clouds.read_las,
    ".e57": binary_clouds.read_e57,
    ".stl": scanned_meshes.read_stl,
    ".obj": scanned_meshes.read_obj,
    ".glb": scanned_meshes.read_glb,
    ".3mf": scanned_meshes.read_3mf,
}
_TEXT = ".xyz .xyzn .xyzrgb .txt .csv .tsv .asc .pts .ptx .dat"
READERS |= dict.fromkeys(_TEXT.split(), text_clouds.read_text)

DROPPED_WARNING, DROPPED_LIMIT = 0.01, 0.5  # shares of rows that are not finite
SYNTHETIC = re.compile(r"\bsynthetic\b", re.IGNORECASE)
VIEWPOINT = re.compile(r"^viewpoint\s+(\S+)\s+(\S+)\s+(\S+)$")


@dataclass(frozen=True, eq=False)
class Cloud:
    """The finite points of a scan file."""

    points: Floats  # (n, 3) mm
    path: Path
    unit: Unit  # of the file
    format: str
    dropped: int  # rows that were not finite, or not readable
    synthetic: bool  # the file says that no scanner made it
    notes: tuple[str, ...]  # what a reader of the results should know
    viewpoint: tuple[float, float, float] | None  # of the scanner, mm
    part: int | None = None  # number of the scan in a file of several
    # whether its points are of a surface that software made of many views
    is_mesh: bool = False
    triangles: Ints | None = None  # (m, 3) of a mesh, while points are its vertices

    def only(self, left: Bools) -> "Cloud":
        """The cloud with some of its points (n,), and the triangles between them."""
        triangles = self.triangles
        if triangles is not None:
            number = np.cumsum(left) - 1
            triangles = number[triangles[left[triangles].all(axis=1)]]
        return replace(self, points=self.points[left], triangles=triangles)

    def noted(self, note: str, **changes: Any) -> "Cloud":
        """The cloud with some of its values changed, and a note on that."""
        return replace(self, notes=(*self.notes, note), **changes)

    @property
    def name(self) -> str:
        """How a note calls it."""
        return self.path.name if self.part is None else f"{self.path.name} #{self.part}"


def read_cloud(path: Path, unit: Unit, choices: Choices | None = None) -> Cloud:
    """All points of a scan file as one cloud: see `read_clouds`."""
    clouds = read_clouds(path, unit, choices)
    if len(clouds) == 1:
        return clouds[0]
    return replace(
        clouds[0],
        points=np.concatenate([cloud.points for cloud in clouds]),
        dropped=sum(cloud.dropped for cloud in clouds),
        notes=tuple(note for cloud in clouds for note in cloud.notes),
        viewpoint=None,
        part=None,
    )


def read_clouds(
    path: Path,
    unit: Unit,
    choices: Choices | None = None,
    thinning: Thinning | None = None,
) -> list[Cloud]:
    """Read the scans of a file, checked before memory is taken for their points.

    Parameters
    ----------
    unit : of the file's numbers
    choices : decimal comma, and whether to use the good rows of a damaged file
    thinning : what to do with a scan of more points than it allows; voxel in mm

    Raises
    ------
    ScanFileError
        for a file that is missing, empty, damaged, mostly not finite, or declares
        another unit.
    """
    check_ends(path)
    choices = choices or Choices()
    sources = open_sources(path, choices)
    _check_unit(path, sources[0], unit)
    several = len(sources) > 1
    held = [n for n, source in enumerate(sources, 1) if source.promised != 0] or [1]
    return [
        _cloud(path, sources[n - 1], unit, choices, thinning, n if several else None)
        for n in held
    ]


def _check_unit(path: Path, source: Source, unit: Unit) -> None:
    declared = declared_unit(source.comments)
    if declared is not None and declared is not unit:
        problem = f"declares its unit as {declared.value}, not {unit.value}"
        remedy = f"use --unit {declared.value}, or correct the file's header"
        raise refused("UNIT", path, problem, remedy)


def _cloud(
    path: Path,
    source: Source,
    unit: Unit,
    choices: Choices,
    thinning: Thinning | None,
    part: int | None,
) -> Cloud:
    thinned_to: tuple[str, ...] = ()
    triangles = None
    if thinning is not None and expected(source) > thinning.most:
        left = thinned(source.blocks, replace(thinning, voxel=thinning.voxel / unit.mm))
        points, read, finite = left.points, left.read, left.finite
        thinned_to = (
            f"{finite} points were thinned to {len(points)}, one per voxel of "
            f"{left.voxel * unit.mm:.3g} mm",
        )
    else:
        points, read = _finite_points(source)
        finite = len(points)
        if source.faces is not None and finite == read:
            triangles = _checked(path, source.faces(), finite)
    notes = _notes(path, source, read, read - finite)
    points, far = _in_mm(path, points, unit, choices)
    if far:
        triangles = None
        limit = f"{SIZE.largest_mm:.0e} mm"
        notes += (f"{far} of {read} points beyond {limit} were dropped",)
    return Cloud(
        points,
        path,
        unit,
        source.format,
        read - finite + far,
        any(map(SYNTHETIC.search, source.comments)),
        notes + thinned_to,
        _viewpoint(source, unit),
        part,
        triangles is not None,
        triangles,
    )


def _checked(path: Path, triangles: Ints, points: int) -> Ints | None:
    """The triangles, if there are any and all their corners are points of the file."""
    if not len(triangles):
        return None
    low, high = int(triangles.min()), int(triangles.max())
    if low < 0 or high >= points:
        bad = low if low < 0 else high
        problem = f"a face has vertex {bad}, but vertices are 0 to {points - 1}"
        remedy = "export the mesh again, or its vertices alone"
        raise refused("FORMAT", path, problem, remedy)
    return triangles


def expected(source: Source) -> int:
    """About how many points a file holds, by its header or by its size."""
    if source.promised is not None and source.count is not None:
        return source.count
    return (source.count or 0) // 4  # counted as the shortest rows there are


def open_sources(path: Path, choices: Choices) -> list[Source]:
    """Understand a file's header and check its size; its points are read later."""
    size = file_size(path)
    reader = READERS.get(path.suffix.lower())
    if reader is None:
        problem = f"the suffix {path.suffix or '(none)'} is not supported"
        remedy = f"export the scan as one of {' '.join(READERS)}"
        raise refused("FORMAT", path, problem, remedy)
    found = reader(ScanFile(path, size, choices))
    return found if isinstance(found, list) else [found]


def _finite_points(source: Source) -> tuple[Floats, int]:
    """The finite points of all blocks, and the number of rows read."""
    if source.promised is None or source.count is None:
        points = np.concatenate([np.empty((0, 3)), *source.blocks])
        return _finite(points), len(points)
    points = np.empty((source.count, 3))  # the file is large enough for these
    read = left = 0
    for block in source.blocks:
        good = _finite(block)
        points[left : left + len(good)] = good
        read, left = read + len(block), left + len(good)
    return points[:left], read


def _finite(block: Floats) -> Floats:
    finite = np.isfinite(block)
    return block if finite.all() else block[finite.all(axis=1)]


def _notes(path: Path, source: Source, read: int, dropped: int) -> tuple[str, ...]:
    """Remarks on what was lost; an error if that is too much."""
    if read == 0:
        raise refused("EMPTY", path, "contains no point", "is it a point cloud?")
    if dropped > DROPPED_LIMIT * read:
        problem = f"{dropped} of {read} points are not finite"
        raise refused("NONFINITE", path, problem, f"{AGAIN}, without invalid points")
    notes = list(source.notes)
    promised = read if source.promised is None else source.promised
    if read < promised and not source.gaps:
        notes.append(f"salvaged {read} of {promised} declared points")
    if read > promised:
        notes.append(f"salvaged {read} points; the header declares {promised}")
    if dropped > DROPPED_WARNING * read:
        notes.append(f"{dropped} of {read} points are not finite and were dropped")
    return tuple(notes)


def _in_mm(
    path: Path, points: Floats, unit: Unit, choices: Choices
) -> tuple[Floats, int]:
    """The points in mm, and how many had a coordinate that no scanner delivers."""
    largest = max(float(points.max()), -float(points.min())) * unit.mm
    many = len(points)
    if largest > SIZE.largest_mm:
        if not choices.salvage:
            problem = f"has a coordinate of {largest:.1e} mm"
            remedy = "is it in another unit, or damaged? --salvage drops this point"
            raise refused("RANGE", path, problem, remedy)
        points = points[(np.abs(points) * unit.mm <= SIZE.largest_mm).all(axis=1)]
    if unit is not Unit.MM:
        points *= unit.mm
    return points, many - len(points)


def _viewpoint(source: Source, unit: Unit) -> tuple[float, float, float] | None:
    """Where the scanner stood, mm: by the format, or a comment `viewpoint x y z`."""
    found = source.viewpoint
    for match in filter(None, map(VIEWPOINT.match, source.comments)):
        try:
            x, y, z = (float(text) for text in match.groups())
        except ValueError:
            continue
        found = (x, y, z)
    if found is None or not np.isfinite(found).all():
        return None
    x, y, z = (value * unit.mm for value in found)
    return (x, y, z)
