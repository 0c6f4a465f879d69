"""A scan file as a point cloud in mm."""

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from pipeline.scans.reading import (
    e57,
    las,
    mesh,
    npy,
    pcd,
    ply,
    solid_files,
    text,
)  # fmt: skip
from pipeline.scans.reading.source import (
    Choices,
    Fault,
    ScanFileError,
    Source,
    file_size,
)
from pipeline.scans.reading.thinning import Thinning, thinned
from pipeline.scans.reading.units import Unit, declared_unit
from pipeline.scans.thresholds import SIZE
from pipeline.store.files import check_ends
from sim.arrays import Bools, Floats, Ints

Reader = Callable[[Path, int, Choices], Source | list[Source]]
READERS: dict[str, Reader] = {
    ".ply": ply.read,
    ".pcd": pcd.read,
    ".npy": npy.read,
    ".las": las.read,
    ".laz": las.read,
    ".e57": e57.read,
    ".stl": mesh.read_stl,
    ".obj": mesh.read_obj,
    ".glb": solid_files.read_glb,
    ".3mf": solid_files.read_3mf,
}
_TEXT = (
    ".xyz",
    ".xyzn",
    ".xyzrgb",
    ".txt",
    ".csv",
    ".tsv",
    ".asc",
    ".pts",
    ".ptx",
    ".dat",
)
READERS |= dict.fromkeys(_TEXT, text.read)

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

    def only(self, kept: Bools) -> "Cloud":
        """The cloud with some of its points (n,), and the triangles between them."""
        triangles = self.triangles
        if triangles is not None:
            number = np.cumsum(kept) - 1
            triangles = number[triangles[kept[triangles].all(axis=1)]]
        return replace(self, points=self.points[kept], triangles=triangles)

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
    choices : decimal comma, and whether a damaged file's good rows are wanted
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
        raise ScanFileError(
            Fault.UNIT,
            path,
            f"declares its unit as {declared.value}, not {unit.value}",
            f"use --unit {declared.value}, or correct the file's header",
        )


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
        points, read, finite, thinned_to = _thinned(source, unit, thinning)
    else:
        points, read = _finite_points(source)
        finite = len(points)
        if source.faces is not None and finite == read:
            triangles = _checked(path, source.faces(), finite)
    notes = _notes(path, source, read, read - finite)
    points, far = _in_mm(path, points, unit, choices)
    if far:
        triangles = None
        notes += (f"{far} of {read} points have no possible place and were dropped",)
    return Cloud(
        points,
        path,
        unit,
        source.format,
        read - finite + far,
        is_synthetic(source.comments),
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
        raise ScanFileError(
            Fault.FORMAT,
            path,
            f"a face has the corner {bad}, but there are {points} vertices",
            "export the mesh again, or its vertices alone",
        )
    return triangles


def expected(source: Source) -> int:
    """About how many points a file holds, by its header or by its size."""
    if source.promised is not None and source.count is not None:
        return source.count
    return (source.count or 0) // 4  # counted as the shortest rows there are


def _thinned(
    source: Source, unit: Unit, thinning: Thinning
) -> tuple[Floats, int, int, tuple[str, ...]]:
    """Points kept, rows read, finite ones among them, and a note."""
    per_file = Thinning(thinning.voxel / unit.mm, thinning.most)
    kept = thinned(source.blocks, per_file)
    note = (
        f"thinned from {kept.finite} to {len(kept.points)} points, one a voxel of "
        f"{kept.voxel * unit.mm:.3g} mm"
    )
    return kept.points, kept.read, kept.finite, (note,)


def open_sources(path: Path, choices: Choices) -> list[Source]:
    """Understand a file's header and check its size; its points are read later."""
    size = file_size(path)
    reader = READERS.get(path.suffix.lower())
    if reader is None:
        raise ScanFileError(
            Fault.FORMAT,
            path,
            f"files called {path.suffix or 'without suffix'} are not known",
            f"export the scan as one of {' '.join(READERS)}",
        )
    found = reader(path, size, choices)
    return found if isinstance(found, list) else [found]


def is_synthetic(comments: tuple[str, ...]) -> bool:
    """Whether a header comment says that the scan is synthetic."""
    return any(SYNTHETIC.search(comment) for comment in comments)


def _finite_points(source: Source) -> tuple[Floats, int]:
    """The finite points of all blocks, and the number of rows read."""
    if source.promised is None or source.count is None:
        blocks = list(source.blocks)
        points = np.concatenate(blocks) if blocks else np.empty((0, 3))
        return _finite(points), len(points)
    points = np.empty((source.count, 3))  # the file is large enough for these
    read = kept = 0
    for block in source.blocks:
        good = _finite(block)
        points[kept : kept + len(good)] = good
        read, kept = read + len(block), kept + len(good)
    return points[:kept], read


def _finite(block: Floats) -> Floats:
    finite = np.isfinite(block)
    return block if finite.all() else block[finite.all(axis=1)]


def _notes(path: Path, source: Source, read: int, dropped: int) -> tuple[str, ...]:
    """Remarks on what was lost; an error if that is too much."""
    if read == 0:
        raise ScanFileError(Fault.EMPTY, path, "holds no point", "is it a point cloud?")
    if dropped > DROPPED_LIMIT * read:
        raise ScanFileError(
            Fault.NONFINITE,
            path,
            f"{dropped} of {read} points are not finite",
            "export the scan again, without invalid points",
        )
    notes = list(source.notes)
    promised = read if source.promised is None else source.promised
    if read < promised and not source.gaps:
        notes.append(f"salvaged {read} of {promised} promised points")
    if read > promised:
        notes.append(f"salvaged {read} points where {promised} were promised")
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
            raise ScanFileError(
                Fault.RANGE,
                path,
                f"has a coordinate of {largest:.1e} mm",
                "is it damaged, or in another unit? --salvage leaves such points out",
            )
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
