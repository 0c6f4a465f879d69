"""Runs that go to a shelf and come to a clone, and what does not come."""

import json
import shutil
import zipfile
from collections.abc import Callable
from contextlib import chdir
from pathlib import Path

import pytest
import yaml

from pipeline.commands.store import main as store
from pipeline.crate.shelf import LISTING, Shelf, read_listing
from pipeline.store.digests import write_digests
from pipeline.store.files import read_json, write_json
from pipeline.store.plan_file import read_documents
from pipeline.store.standing import DONE, standings
from pipeline.terminal.errors import FAILED, REFUSED, InputError
from pipeline.workflow.fresh import fresh_plan
from pipeline.workflow.run import perform_name
from tests.pipeline.conftest import furnish

WORKFLOW = {"figures": {"huang-3": {"cases": ["actuator_law"]}}}
RUN, FIGURE = "simulate/actuator_law", "figure/huang-3"


def furnished(folder: Path) -> None:
    furnish(folder)
    (folder / "conf" / "workflow.yaml").write_text(yaml.safe_dump(WORKFLOW))


@pytest.fixture(scope="module")
def pushed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project that has pushed its runs to the folder `shelf` beside it."""
    folder = tmp_path_factory.mktemp("pushed") / "project"
    furnished(folder)
    with chdir(folder):
        for name in fresh_plan()["names"]:
            assert perform_name(name) == 0
        assert store(["push", "../shelf"]) == 0
    return folder


@pytest.fixture
def clone(
    pushed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Callable[..., int]:
    """A clone with the committed list, and a shelf of its own to alter."""
    furnished(tmp_path / "clone")
    shutil.copytree(pushed.parent / "shelf", tmp_path / "shelf")
    shutil.copy(pushed / LISTING, tmp_path / "clone" / "conf")
    monkeypatch.chdir(tmp_path / "clone")
    return lambda *words: store(["pull", "../shelf", *words])


def key_in_listing(run: str) -> str:
    runs = read_json(LISTING)["runs"]
    (key,) = [key for key, told in runs.items() if told["run"].startswith(run)]
    return str(key)


def test_a_clone_shows_what_was_pushed_without_computing_it(
    clone: Callable[..., int], capsys: pytest.CaptureFixture[str]
) -> None:
    assert clone("--sample", "1") == 0
    said = capsys.readouterr().out
    assert "2 runs came from ../shelf" in said
    assert "made again: simulate actuator_law: same bits" in said
    now = standings(read_documents(fresh_plan()))
    assert {now[name].state for name in (RUN, FIGURE)} == {DONE}
    assert Path("results/figure/huang-3/huang-3.pdf").is_file()
    assert not list(Path("results/running").iterdir())
    assert clone("--sample", "1") == 0
    assert "0 runs came" in capsys.readouterr().out


@pytest.mark.slow
def test_what_is_pushed_twice_goes_once_and_packs_to_the_same_bytes(
    pushed: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with chdir(pushed):
        assert store(["push", "../shelf"]) == 0
        assert "0 runs came to it, 0.0 MB" in capsys.readouterr().out
        assert store(["push", str(tmp_path / "other")]) == 0
    for packed in (pushed.parent / "shelf" / "runs").iterdir():
        other = tmp_path / "other" / "runs" / packed.name
        assert packed.read_bytes() == other.read_bytes()


def rewritten(packed: Path, change: Callable[[Path], object]) -> None:
    """Change what a packed run holds."""
    place = packed.with_suffix("")
    with zipfile.ZipFile(packed) as file:
        file.extractall(place)
    change(place)
    with zipfile.ZipFile(packed, "w") as file:
        for path in place.rglob("*"):
            file.write(path, path.relative_to(place))
    shutil.rmtree(place)


def signed_anew(place: Path) -> None:
    (place / "SHA256SUMS").unlink()
    write_digests(place)


def other_result(place: Path) -> None:
    record = read_json(place / "run.json")
    write_json(place / "run.json", {**record, "result": {"n": 7.0}})
    signed_anew(place)


def other_settings(place: Path) -> None:
    record = read_json(place / "run.json")
    record["identity"]["config"] = {}
    write_json(place / "run.json", record)
    signed_anew(place)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda place: (place / "steps.csv").write_text("x\n"), "was edited"),
        (lambda place: (place / "more.csv").write_text("x\n"), "is not in SHA256SUMS"),
        (other_result, "it holds other than conf/results.json says"),
        (other_settings, "its identity is another's"),
    ],
    ids=["edited", "more", "result", "settings"],
)
def test_what_is_not_as_listed_is_refused_and_nothing_is_left(
    clone: Callable[..., int],
    change: Callable[[Path], object],
    words: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    rewritten(Path(f"../shelf/runs/{key_in_listing('simulate')}.zip"), change)
    assert clone() == REFUSED
    assert words in capsys.readouterr().err
    assert not Path("results/runs").exists()
    assert not Path("results/pulled").exists()


def test_a_zip_that_climbs_out_is_refused(
    clone: Callable[..., int], capsys: pytest.CaptureFixture[str]
) -> None:
    packed = Path(f"../shelf/runs/{key_in_listing('simulate')}.zip")
    with zipfile.ZipFile(packed, "w") as file:
        file.writestr("../../evil.txt", "x")
    assert clone() == REFUSED
    assert "climbs out" in capsys.readouterr().err
    assert not Path("results/evil.txt").exists()


def test_a_run_that_was_not_shared_is_left_to_be_made(
    clone: Callable[..., int], capsys: pytest.CaptureFixture[str]
) -> None:
    Path(f"../shelf/runs/{key_in_listing('figure')}.zip").unlink()
    assert clone("--sample", "0") == 0
    assert "1 names are not there" in capsys.readouterr().out
    assert standings(read_documents(fresh_plan()))[RUN].state == DONE


def test_a_result_that_does_not_come_out_again_is_said(
    clone: Callable[..., int],
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("pipeline.workflow.sharing.content_digest", str)
    monkeypatch.setattr("pipeline.workflow.sharing._apart", lambda *_: 0.3)
    assert clone() == FAILED
    said = capsys.readouterr()
    assert "made again: simulate actuator_law: differs by 3.0e-01" in said.out
    assert "does not come out as it was shared" in said.err


@pytest.mark.parametrize(
    ("content", "words"),
    [(None, "store push DIR writes it"), ({"runs": []}, "no list of runs")],
)
def test_a_list_that_is_none_is_refused(
    tmp_path: Path, content: object, words: str
) -> None:
    path = tmp_path / "results.json"
    if content is not None:
        path.write_text(json.dumps(content))
    with pytest.raises(InputError, match=words):
        read_listing(path)


@pytest.mark.parametrize("address", ["nosuch://bucket", "s3://bucket/paper"])
def test_an_address_that_cannot_be_reached_is_said(address: str) -> None:
    with pytest.raises(InputError, match="cannot be reached"):
        Shelf(address)


def test_a_shelf_in_memory_does_as_a_folder(pushed: Path, tmp_path: Path) -> None:
    shelf = Shelf("memory://paper")
    (directory,) = (pushed / "results" / "runs").glob(f"{_key(pushed)}")
    shelf.put(directory)
    assert shelf.keys() == {directory.name}
    content = read_listing(pushed / LISTING)[directory.name]
    came = shelf.take(directory.name, content, tmp_path)
    assert (came / "run.json").read_bytes() == (directory / "run.json").read_bytes()


def _key(project: Path) -> str:
    with chdir(project):
        return key_in_listing("simulate")
