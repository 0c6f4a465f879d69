"""Every reader of files of others, fed with damaged good files and kept finds.

A reader answers or refuses in one line; within SECONDS a file, and without taking more
than MOST_MB. FUZZ_EXAMPLES tries that many files a reader (200 unless told); each find
stands in FOUND.
"""

import contextlib
import json
import os
import resource
import signal
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pipeline.commands.archive import main as archive
from pipeline.config.measured_file import read_set
from pipeline.config.paper_file import read_paper
from pipeline.config.workflow_file import read_workflow
from pipeline.formats.fold_file import fold_file
from pipeline.formats.mesh_files import mesh_file
from pipeline.formats.motion.force import read_force
from pipeline.formats.motion.markers import read_motion
from pipeline.formats.rod_file import read_rod
from pipeline.formats.series_file import read_series
from pipeline.formats.structure_file import structure_file
from pipeline.scans.reading.cloud import read_cloud
from pipeline.scans.reading.units import Unit
from pipeline.store.bench import read_lab
from pipeline.studies.file import read_study
from pipeline.terminal.errors import is_told
from tests.pipeline.conftest import ROOT
from tests.pipeline.formats.test_dxf_file import dxf, line, point, polygon
from tests.pipeline.formats.test_urdf_file import joint, robot
from tests.pipeline.store.test_bench import WHOLE

pytestmark = pytest.mark.slow

EXAMPLES = int(os.environ.get("FUZZ_EXAMPLES", "200"))
SECONDS = 20
MOST_MB = 1000.0
STRUCTURES, SERIES = ROOT / "conf" / "structure", ROOT / "conf" / "series"
SCRAPS = [
    b"", b"9" * 18, b"-1", b"0", b"nan", b"1e999", b"1e18", b"-1e-320", b"\n", b"\0",
    b"[]", b"{}", b"null", b",", b"\xff", b"true", b'"', b"[[[[", b"&a [*a]", b"!!",
    b"/", b"<", b"*a", b"[*a,*a]", b"&a ",
]  # fmt: skip
FOLD = {
    "file_spec": 1.1,
    "frame_unit": "mm",
    "vertices_coords": [[0, 0], [1, 0], [1, 1], [0, 1]],
    "edges_vertices": [[0, 1], [1, 2], [2, 3], [3, 0], [0, 2]],
    "edges_assignment": ["B", "B", "B", "B", "M"],
    "edges_foldAngle": [0, 0, 0, 0, -180],
    "faces_vertices": [[0, 1, 2], [0, 2, 3]],
}
CP = b"1 0 0 1 0\n1 1 0 1 1\n1 1 1 0 1\n1 0 1 0 0\n2 0 0 1 1\n"
SVG = (
    b'<svg xmlns="http://www.w3.org/2000/svg" width="10mm" viewBox="0 0 10 10">'
    b'<path d="M0 0 L10 0 L10 10 L0 10 Z" stroke="#000"/>'
    b'<line x1="0" y1="0" x2="10" y2="10" stroke="red"/></svg>'
)
MARKERS = b"time_s,a_x_mm,a_y_mm,a_z_mm\n0,0,0,0\n0.1,1,0,0\n0.2,2,0,0\n"
FORCE = b"time_s,position_mm,force_N\n0,0,0\n1,1,2\n2,2,3.5\n"
DXF = dxf(
    polygon([(0, 0), (1, 0), (1, 1), (0, 1)]), line((0, 0), (1, 1), "M", 1), unit=4
).encode()
LINKS = dxf(line((0, 0), (1, 0)), line((1, 0), (1, 1)), point(1, 0), unit=4).encode()
URDF = robot(
    "bah",
    joint("shoulder", "revolute", "b", "a"),
    joint("wrist", "prismatic", "a", "h", rpy="0.1 0 0"),
).encode()
STL = b"solid\nfacet\nvertex 0 0 0\nvertex 1 0 0\nvertex 0 1 0\nendsolid\n"
OBJ = b"v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n"


def _crate() -> bytes:
    """A small archive: metadata of one file, and the file."""
    metadata = {
        "@context": "https://w3id.org/ro/crate/1.1/context",
        "@graph": [
            {"@id": "ro-crate-metadata.json", "@type": "CreativeWork",
             "about": {"@id": "./"}},
            {"@id": "./", "@type": "Dataset", "hasPart": [{"@id": "a.txt"}]},
            {"@id": "a.txt", "@type": "File", "sha256": "0" * 64},
        ],
    }  # fmt: skip
    return json.dumps(metadata, indent=1).encode()


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


def _files(*paths: Path) -> list[bytes]:
    return [path.read_bytes() for path in paths]


def _zipped(path: Path) -> int:
    """The metadata of an archive: `path` holds them."""
    crate = path.with_suffix(".crate.zip")
    with zipfile.ZipFile(crate, "w") as file:
        file.writestr("ro-crate-metadata.json", path.read_bytes())
        file.writestr("a.txt", "a")
    return archive(["--check", str(crate)])


def _in_conf(path: Path, act: Callable[[], Any]) -> Any:
    with contextlib.chdir(path.parents[path.parts[::-1].index("conf")]):
        return act()


def _fold(path: Path) -> Any:
    return fold_file(str(path))


def _structure(path: Path) -> Any:
    return structure_file(str(path))


def _cloud(path: Path) -> Any:
    return read_cloud(path, Unit.MM)


def _measured(path: Path) -> Any:
    return _in_conf(path, lambda: read_set("mine"))


READERS = {
    "FOLD": Reader("a.fold", [json.dumps(FOLD, indent=1).encode()], _fold),
    "CP": Reader("a.cp", [CP], _fold),
    "SVG": Reader("a.svg", [SVG], _fold),
    "structure, JSON": Reader(
        "a.json", _files(*sorted(STRUCTURES.glob("*.json"))), _structure
    ),
    "structure, YAML": Reader(
        "a.yaml", _files(*sorted(STRUCTURES.glob("*.yaml"))), _structure
    ),
    "structure, DXF": Reader("a.dxf", [LINKS], _structure, costly=4),
    "structure, URDF": Reader("a.urdf", [URDF], _structure),
    "creases, DXF": Reader("a.dxf", [DXF], _fold, costly=4),
    "rods": Reader(
        "a.yaml",
        _files(*sorted((ROOT / "conf/robot").glob("*.yaml"))),
        lambda p: read_rod(str(p)),
        costly=4,
    ),
    "series": Reader("a.csv", _files(*sorted(SERIES.glob("*.csv"))), read_series),
    "markers": Reader("a.csv", [MARKERS], read_motion),
    "force": Reader("a.csv", [FORCE], read_force),
    "mesh, STL": Reader("a.stl", [STL], lambda p: mesh_file(str(p))),
    "mesh, OBJ": Reader("a.obj", [OBJ], lambda p: mesh_file(str(p))),
    "scan": Reader("a.xyz", [b"1 2 3\n4 5 6\n7 8 9\n"], _cloud),
    "metadata of an archive": Reader("a.json", [_crate()], _zipped),
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
    "bench": Reader(
        "lab.yaml", [yaml.safe_dump(WHOLE).encode()], read_lab, costly=4
    ),
    "manuscript": Reader(
        "conf/paper/mine.yaml",
        _files(*sorted((ROOT / "conf/paper").glob("*.yaml"))),
        lambda p: _in_conf(p, lambda: read_paper("mine")),
        costly=4,
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
    "CP": [CP.replace(b"1 0 0", b"1 1e9990 0"), CP.replace(b"1 0 0", b"1 0 9e199")],
    "structure, YAML": [b"\0nodes: []\n"],
    "study": [b"\0case: pentapod\n", b"9"],
}


@contextlib.contextmanager
def _in_time() -> Iterator[None]:
    def late(*_: Any) -> None:
        raise AssertionError(f"it took more than {SECONDS} s")

    before = signal.signal(signal.SIGALRM, late)
    signal.alarm(SECONDS)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def _answered(reader: Reader, place: Path, content: bytes) -> None:
    """An answer, or a refusal that a command would tell in one line."""
    path = place / reader.where
    path.write_bytes(content)
    with _in_time():
        try:
            reader.read(path)
        except Exception as error:
            if not is_told(error):
                raise


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A project whose conf is the shipped one, but for what is written."""
    for path in (ROOT / "conf").iterdir():
        own = tmp_path / "conf" / path.name
        own.parent.mkdir(exist_ok=True)
        if path.name in {"study", "measured", "paper"}:
            own.mkdir()
        elif path.name != "workflow.yaml":
            own.symlink_to(path)
    return tmp_path


@pytest.mark.parametrize("name", READERS)
def test_a_good_file_is_read_and_a_find_refused(name: str, place: Path) -> None:
    reader = READERS[name]
    for content in reader.good:
        path = place / reader.where
        path.write_bytes(content)
        assert reader.read(path) is not None
    for content in FOUND.get(name, []):
        _answered(reader, place, content)


@st.composite
def damaged(draw: st.DrawFn, good: list[bytes]) -> bytes:
    """A good file with words replaced, removed, doubled or cut off."""
    content = draw(st.sampled_from(good))
    for _ in range(draw(st.integers(1, 4))):
        start = draw(st.integers(0, len(content)))
        stop = start + draw(st.integers(0, 12))
        put = draw(
            st.one_of(
                st.sampled_from(SCRAPS),
                st.binary(max_size=8),
                st.just(content[stop : stop + 40]),
            )
        )
        content = content[:start] + put + content[stop:]
    return content[: draw(st.integers(0, len(content)))] if draw(
        st.integers(0, 9)
    ) == 0 else content  # fmt: skip


@pytest.mark.parametrize("name", READERS)
def test_a_damaged_file_is_answered_or_refused(name: str, place: Path) -> None:
    reader = READERS[name]
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

    @settings(
        deadline=None,
        max_examples=max(20, EXAMPLES // reader.costly),
        derandomize=EXAMPLES == 200,
        database=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(damaged(reader.good))
    def tried(content: bytes) -> None:
        _answered(reader, place, content)

    tried()
    after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert (after - before) / 1024 < MOST_MB
