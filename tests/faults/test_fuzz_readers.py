"""Every reader of files of others, fed with damaged good files and kept finds.

A reader answers or refuses in one line; within SECONDS a file, and without taking more
than MOST_MB. FUZZ_EXAMPLES tries that many files a reader (200 unless told); each find
stands in FOUND.
"""

import contextlib
import io
import os
import resource
import signal
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis.strategies import SearchStrategy

from pipeline.cases.equilibrium import loaded_file
from pipeline.cases.user_rods import RodFileCase
from pipeline.cli.app import called
from pipeline.config.workflow_file import read_workflow
from pipeline.io.fold_file import fold_file
from pipeline.io.length_units import Unit
from pipeline.io.measured_motions import read_motion, read_series
from pipeline.io.point_cloud import read_cloud
from pipeline.io.scanned_targets import mesh_file
from pipeline.io.structure_file import structure_file
from pipeline.measured.set_file import read_set
from pipeline.report.moving_shape import read_moving_shape
from pipeline.runs.run_directory import run_record
from pipeline.runs.study_members import read_study
from pipeline.terminal import is_expected
from tests.faults import good_files as good
from tests.faults.damage import damaged, edited
from tests.pipeline.conftest import ROOT

pytestmark = pytest.mark.slow

EXAMPLES = int(os.environ.get("FUZZ_EXAMPLES", "200"))
SECONDS = 20  # of the processor
IDLE = 30  # times as many of the clock, on a machine that has others to serve
TREES = (".yaml", ".json", ".fold")
MOST_MB = 1000.0
RUN = "results/runs/0123456789abcdef"
ROBOTS = sorted((ROOT / "conf/robot").glob("*.yaml"))
STRUCTURES, SERIES = ROOT / "conf" / "structure", ROOT / "conf" / "series"


@dataclass(frozen=True)
class Reader:
    """What reads a file, and files that are good.

    Parameters
    ----------
    where : below the folder of a project, the file that is read
    """

    where: str
    good: list[bytes]
    read: Callable[[Path], Any]
    costly: int = 1  # examples are divided by it

    @property
    def suffix(self) -> str:
        """Of the file."""
        return Path(self.where).suffix


def _files(*paths: Path) -> list[bytes]:
    return [path.read_bytes() for path in paths]


def _in_conf(path: Path, act: Callable[[], Any]) -> Any:
    with contextlib.chdir(path.parents[path.parts[::-1].index("conf")]):
        return act()


def _fold(path: Path) -> Any:
    return fold_file(str(path))


def _structure(path: Path) -> Any:
    return structure_file(str(path))


def _loaded(path: Path) -> Any:
    return loaded_file(str(path))


def _cloud(path: Path) -> Any:
    return read_cloud(path, Unit.MM)


def _measured(path: Path) -> Any:
    return _in_conf(path, lambda: read_set("mine"))


def _run(path: Path) -> Any:
    """A run, and where it came from."""
    with contextlib.chdir(path.parents[3]), contextlib.redirect_stdout(io.StringIO()):
        return run_record(path.parent), called(["trace", str(path)])


def _shape(path: Path) -> Any:
    return read_moving_shape(path.parent)


READERS = {
    "FOLD": Reader("a.fold", [good.FOLD], _fold),
    "CP": Reader("a.cp", [good.CP], _fold),
    "SVG": Reader("a.svg", [good.SVG], _fold),
    "structure, JSON": Reader(
        "a.json", _files(*sorted(STRUCTURES.glob("*.json"))), _structure
    ),
    "structure, YAML": Reader(
        "a.yaml", _files(*sorted(STRUCTURES.glob("*.yaml"))), _structure
    ),
    "structure that grows": Reader(
        "a.yaml", _files(*sorted((STRUCTURES / "elastic").glob("*.yaml"))), _loaded
    ),
    "structure, DXF": Reader("a.dxf", [good.LINKS], _structure, costly=4),
    "structure, URDF": Reader("a.urdf", [good.URDF], _structure),
    "creases, DXF": Reader("a.dxf", [good.DXF], _fold, costly=4),
    "rods": Reader(
        "a.yaml",
        [*_files(*ROBOTS), good.ROD_IN_PLANE, good.RODS_IN_SPACE],
        lambda p: RodFileCase(str(p)),
        costly=4,
    ),
    "series": Reader(
        "a.csv", [*_files(*sorted(SERIES.glob("*.csv"))), good.MARKERS], read_series
    ),
    "markers": Reader("a.csv", [good.MARKERS, good.MOTIVE], read_motion),
    "mesh, STL": Reader("a.stl", [good.STL], lambda p: mesh_file(str(p))),
    "mesh, OBJ": Reader("a.obj", [good.OBJ], lambda p: mesh_file(str(p))),
    "scan": Reader("a.xyz", [b"1 2 3\n4 5 6\n7 8 9\n"], _cloud),
    "run": Reader(f"{RUN}/run.json", [good.run_json()], _run, costly=4),
    "arrays of a run": Reader(f"{RUN}/steps.npz", [good.arrays()], _shape),
    "study": Reader(
        "conf/study/mine.yaml",
        _files(*sorted((ROOT / "conf/study").glob("*.yaml"))),
        lambda p: _in_conf(p, lambda: read_study("mine")),
        costly=4,
    ),
    "workflow": Reader(
        "conf/workflow.yaml",
        _files(ROOT / "conf/workflow.yaml"),
        lambda p: _in_conf(p, read_workflow),
        costly=8,
    ),
    "measured set": Reader(
        "conf/measured/mine.yaml",
        _files(*sorted((ROOT / "conf/measured").glob("*.yaml"))),
        _measured,
        costly=4,
    ),
}  # fmt: skip

# What once ended in a traceback, a hang or a made-up answer.
FOUND: dict[str, list[bytes]] = {
    "FOLD": [
        good.FOLD.replace(b"[1, 0]", b"[1e300, 0]"),
        good.FOLD.replace(b'"mm"', b"{}"),
        b'{"vertices_coords": [[0, 0]], "edges_foldAngle": {"a": 1}}',
        b'{"vertices_coords": [[0,0],[0,0],[0,1e-320]], "faces_vertices": [[0,1,2]]}',
    ],
    "CP": [
        good.CP.replace(b"1 0 0", b"1 1e9990 0"),
        good.CP.replace(b"1 0 0", b"1 0 9e199"),
    ],
    "rods": [
        good.ROD_IN_PLANE.replace(b"spacing: 10", b"spacing: 1.0e-9"),
        good.ROD_IN_PLANE.replace(b"radius: 30", b"radius: 1.0e+300"),
        good.ROD_IN_PLANE.replace(b"[60, 0]]\n", b"[6.0e+301, 0]]\n"),
        good.ROD_IN_PLANE.replace(b"thickness: 0.1", b"thickness: 1.0e-200"),
        good.RODS_IN_SPACE.replace(b"spacing: 1", b"spacing: 1.0e-9"),
        good.RODS_IN_SPACE.replace(b"[6, -2, 6]", b"[6, -2.0e+200, 6]"),
    ],
    "structure, YAML": [b"\0nodes: []\n"],
    "study": [b"\0case: pentapod\n", b"9"],
}


@contextlib.contextmanager
def _in_time() -> Iterator[None]:
    def late(*_: Any) -> None:
        raise AssertionError(f"it took more than {SECONDS} s")

    clocks = {signal.SIGPROF: signal.ITIMER_PROF, signal.SIGALRM: signal.ITIMER_REAL}
    before = {number: signal.signal(number, late) for number in clocks}
    signal.setitimer(signal.ITIMER_PROF, SECONDS)
    signal.setitimer(signal.ITIMER_REAL, IDLE * SECONDS)
    try:
        yield
    finally:
        for number, clock in clocks.items():
            signal.setitimer(clock, 0)
            signal.signal(number, before[number])


def answered(reader: Reader, place: Path, content: bytes) -> None:
    """An answer, or a refusal that a command would tell in one line."""
    path = place / reader.where
    path.write_bytes(content)
    with _in_time():
        try:
            reader.read(path)
        except Exception as error:
            if isinstance(error, MemoryError) or not is_expected(error):
                raise


def lay_out(place: Path) -> None:
    """A project whose conf is the shipped one, but for what is written."""
    (place / RUN).mkdir(parents=True)
    for path in (ROOT / "conf").iterdir():
        own = place / "conf" / path.name
        own.parent.mkdir(exist_ok=True)
        if path.name in {"study", "measured"}:
            own.mkdir()
        elif path.name != "workflow.yaml":
            own.symlink_to(path)


@pytest.fixture
def place(tmp_path):
    lay_out(tmp_path)
    return tmp_path


@pytest.mark.parametrize("name", READERS)
def test_a_good_file_is_read_and_a_find_refused(name, place):
    reader = READERS[name]
    for content in reader.good:
        path = place / reader.where
        path.write_bytes(content)
        assert reader.read(path) is not None
    for content in FOUND.get(name, []):
        answered(reader, place, content)


def _tried(name: str, place: Path, contents: SearchStrategy[bytes]) -> None:
    """Many contents are answered or refused, in little memory."""
    reader = READERS[name]
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

    @settings(
        deadline=None,
        max_examples=max(20, EXAMPLES // reader.costly),
        derandomize=EXAMPLES == 200,
        database=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(contents)
    def tried(content: bytes) -> None:
        answered(reader, place, content)

    tried()
    after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert (after - before) / 1024 < MOST_MB


@pytest.mark.parametrize("name", READERS)
def test_a_damaged_file_is_answered_or_refused(name, place):
    _tried(name, place, damaged(READERS[name].good))


@pytest.mark.parametrize(
    "name", [name for name, one in READERS.items() if one.suffix in TREES]
)
def test_a_file_of_other_values_is_answered_or_refused(name, place):
    _tried(name, place, edited(READERS[name].good, READERS[name].suffix))
