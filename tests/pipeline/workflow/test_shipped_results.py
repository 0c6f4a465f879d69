"""The shipped workflow, run whole: its report is small, its figures lead to their runs,
its archive is sound. Minutes of work, hence among the long tests."""

from pathlib import Path

import pytest

from pipeline.commands.archive import main as archive
from pipeline.commands.trace import main as trace
from pipeline.store.provenance.sidecar import read_sidecar
from tests.pipeline.conftest import command_in, furnish

PATTERNS = (
    "figure/*/*.pdf",
    "figure/*/*.png",
    "figure/*/*.svg",
    "figure/*/*.csv",
    "tables/*.*",
    "study/*/*.csv",
    "study/*/*.p*",
    "numbers.tex",
)
LARGEST_REPORT_MB = 20.0

pytestmark = [pytest.mark.long, pytest.mark.together]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which the shipped workflow has run."""
    folder = tmp_path_factory.mktemp("shipped")
    furnish(folder)
    done = command_in(folder, limit_s=3000)("make")
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


@pytest.fixture
def files(made: Path, monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """Every figure, table and file of macros that was made."""
    monkeypatch.chdir(made)
    found = [p for pattern in PATTERNS for p in sorted(Path("results").glob(pattern))]
    return [p for p in found if p.suffix != ".json"]


def test_the_report_is_under_20_mb(made: Path) -> None:
    page = made / "results" / "report" / "index.html"
    assert page.stat().st_size < LARGEST_REPORT_MB * 1e6
    assert "No picture" not in page.read_text()


def test_every_figure_and_table_has_a_sidecar_and_a_whole_chain(
    files: list[Path],
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from pipeline.commands import trace as module

    wanted = module.wanted_now("")
    monkeypatch.setattr("pipeline.commands.trace.wanted_now", lambda _: wanted)
    assert len(files) > 40
    for file in files:
        assert read_sidecar(file) is not None, file
        assert trace([str(file)]) == 0
        said = capsys.readouterr().out
        assert said.endswith("up to date: every link holds\n"), said
        assert "MLflow not tracked" not in said
        if "dejong-3" in file.name:
            assert "view_00.ply  sha256 " in said


def test_the_archive_of_it_is_sound(
    made: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(made)
    assert archive([]) == 0
    assert archive(["--check", "results/morphtrack.crate.zip"]) == 0
    assert archive(["--compare", "results/morphtrack.crate.zip"]) == 0
