"""Read scan files, beside Open3D, and say what each makes of damaged ones.

Run by hand: python -m tests.bench.bench_scan_files [POINTS]
"""

import contextlib
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

from pipeline.scans.open3d_loader import open3d
from pipeline.scans.reading.cloud import read_cloud
from pipeline.scans.reading.source import Choices
from pipeline.scans.reading.units import Unit
from sim.arrays import Floats

REPEATS = 3


def best_seconds(work: Callable[[], object]) -> float:
    """Shortest of some repeats, s."""
    times = []
    for _ in range(REPEATS):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return min(times)


def ply(points: Floats, promised: int) -> bytes:
    """A binary PLY whose header promises so many vertices."""
    header = (
        f"ply\nformat binary_little_endian 1.0\nelement vertex {promised}\n"
        "property float x\nproperty float y\nproperty float z\nend_header\n"
    )
    return header.encode() + points.astype("<f4").tobytes()


def written(folder: Path, points: Floats) -> Iterator[Path]:
    """The same points as files of several formats."""
    many = len(points)
    paths = {suffix: folder / f"cloud{suffix}" for suffix in (".ply", ".pcd", ".xyz")}
    paths[".ply"].write_bytes(ply(points, many))
    header = (
        "VERSION 0.7\nFIELDS x y z\nSIZE 4 4 4\nTYPE F F F\nCOUNT 1 1 1\n"
        f"WIDTH {many}\nHEIGHT 1\nVIEWPOINT 0 0 0 1 0 0 0\nPOINTS {many}\nDATA binary\n"
    )
    paths[".pcd"].write_bytes(header.encode() + points.astype("<f4").tobytes())
    np.savetxt(paths[".xyz"], points, fmt="%.4f")
    yield from paths.values()


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """Keep what compiled code prints off the terminal."""
    kept = os.dup(1), os.dup(2)
    with Path(os.devnull).open("w") as nowhere:
        for stream in (1, 2):
            os.dup2(nowhere.fileno(), stream)
        try:
            yield
        finally:
            for stream, copy in zip((1, 2), kept, strict=True):
                os.dup2(copy, stream)
                os.close(copy)


def of_open3d(path: Path) -> str:
    """What Open3D makes of a file."""
    try:
        with quiet():
            found = np.asarray(open3d().io.read_point_cloud(str(path)).points)
    except (RuntimeError, MemoryError) as error:
        return type(error).__name__
    return f"{len(found)} points, {int(np.isfinite(found).all(axis=1).sum())} finite"


def of_this(path: Path, choices: Choices | None = None) -> str:
    """What read_cloud makes of a file."""
    try:
        cloud = read_cloud(path, Unit.MM, choices)
    except ValueError as error:
        return str(error).partition(" ")[0]
    return f"{len(cloud.points)} points, {cloud.dropped} dropped"


def damaged(folder: Path, points: Floats) -> Iterator[Path]:
    """Files that no reader should take for whole ones."""
    few = points[:1000]
    comma = "\n".join(",".join(f"{v:.4f}" for v in p) for p in few)
    semicolon = comma.replace(",", ";").replace(".", ",")
    not_a_number = few.copy()
    not_a_number[::10] = np.nan
    contents = {
        "empty.ply": b"",
        "garbage.ply": bytes(range(256)) * 8,
        "truncated.ply": ply(few[:496], 1000),
        "promising.ply": ply(few, 5000),
        "boasting.ply": ply(few, 99_999_999_999),
        "nan.ply": ply(not_a_number, 1000),
        "comma.xyz": comma.encode(),
        "decimal-comma.xyz": semicolon.encode(),
        "mesh.obj": "".join(f"v {x} {y} {z}\n" for x, y, z in few).encode(),
    }
    for name, content in contents.items():
        path = folder / name
        path.write_bytes(content)
        yield path


def main(many: int) -> None:
    """Print both tables."""
    points = np.random.default_rng(0).uniform(-200, 200, (many, 3))
    open3d()
    with tempfile.TemporaryDirectory() as directory:
        folder = Path(directory)
        print(f"{many} points   this, s   Open3D, s")
        for path in written(folder, points):
            this = best_seconds(lambda path=path: read_cloud(path, Unit.MM))
            peer = best_seconds(lambda path=path: of_open3d(path))
            print(f"{path.suffix:12}{this:10.3f}{peer:12.3f}")
        print(f"\n{'damaged file':20}{'this':30}Open3D")
        for path in damaged(folder, points):
            print(f"{path.name:20}{of_this(path):30}{of_open3d(path)}")


if __name__ == "__main__":
    main(int(float(sys.argv[1])) if len(sys.argv) > 1 else 1_000_000)
