"""Runs that go to a shelf and come to a clone, and what does not come."""

import json
import os
import shutil
import signal
import zipfile
from collections.abc import Callable
from contextlib import chdir
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import yaml

from pipeline.commands.make import summary
from pipeline.commands.store import main as store
from pipeline.config.workflow_file import read_workflow
from pipeline.crate.shelf import FORM, LISTING, Shelf, read_listing
from pipeline.steps.recording import record_steps
from pipeline.store.digests import edits, write_digests
from pipeline.store.files import read_json, write_json
from pipeline.store.plan_file import read_documents
from pipeline.store.standing import DONE, standings
from pipeline.terminal.errors import FAILED, REFUSED, InputError
from pipeline.terminal.machine import machine
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


def shelved(run: str) -> Path:
    """The file of a run on the shelf of a clone."""
    (packed,) = Path("../shelf/runs").glob(f"{key_in_listing(run)}.*.zip")
    return packed


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


def other_words(place: Path) -> None:
    record = read_json(place / "run.json")
    write_json(place / "run.json", {**record, "name": "<script>", "needs": {"a": ".."}})
    signed_anew(place)


def without_digests(place: Path) -> None:
    (place / "SHA256SUMS").unlink()
    (place / "SHA256SUMS").mkdir()
    (place / "SHA256SUMS" / "x").write_text("x")


OTHER = "it holds other than conf/results.json says"


def drawn_over(place: Path) -> None:
    (place / "steps.png").write_text("another picture")
    signed_anew(place)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda place: (place / "run.json").write_text("[" * 100_000), "was edited"),
        (lambda place: (place / "more.csv").write_text("x\n"), OTHER),
        (lambda place: (place / "steps.csv").unlink(), OTHER),
        (other_result, OTHER),
        (other_words, OTHER),
        (drawn_over, OTHER),
        (without_digests, OTHER),
    ],
    ids=["deep", "more", "less", "result", "words", "picture", "digests"],
)
@pytest.mark.usefixtures("clone")
def test_what_is_not_as_listed_is_refused_and_nothing_is_left(
    change: Callable[[Path], object], words: str
) -> None:
    rewritten(shelved("simulate"), change)
    key = key_in_listing("simulate")
    with pytest.raises(InputError, match=words):
        Shelf("../shelf").take(key, read_listing()[key])
    assert not list(Path("results").rglob("*.*"))


def test_a_pull_of_what_is_not_as_listed_leaves_nothing(
    clone: Callable[..., int], capsys: pytest.CaptureFixture[str]
) -> None:
    rewritten(
        shelved("simulate"), lambda place: (place / "steps.csv").write_text("x\n")
    )
    assert clone() == REFUSED
    assert "steps.csv was edited" in capsys.readouterr().err
    assert not Path("results/runs").exists()
    assert not Path("results/pulled").exists()


def test_a_zip_that_climbs_out_is_refused(
    clone: Callable[..., int], capsys: pytest.CaptureFixture[str]
) -> None:
    packed = shelved("simulate")
    with zipfile.ZipFile(packed, "w") as file:
        file.writestr("../../evil.txt", "x")
    assert clone() == REFUSED
    assert "climbs out" in capsys.readouterr().err
    assert not Path("results/evil.txt").exists()


@pytest.mark.parametrize("kind", ["pipe", "device", "folder"])
def test_what_is_no_file_on_a_shelf_is_not_waited_for(
    clone: Callable[..., int], capsys: pytest.CaptureFixture[str], kind: str
) -> None:
    packed = shelved("simulate")
    packed.unlink()
    make = {"pipe": lambda: os.mkfifo(packed), "folder": packed.mkdir}
    make.get(kind, lambda: packed.symlink_to("/dev/zero"))()
    signal.alarm(60)
    try:
        assert clone() == REFUSED
    finally:
        signal.alarm(0)
    said = capsys.readouterr().err
    assert "is no file: do not trust it" in said
    assert said.count("\n") == 1
    assert not Path("results/runs").exists()


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (
            lambda file: os.truncate(file, 10**13),
            "E-SIZE {}: it unpacks to 10000000 MB",
        ),
        (lambda file: os.truncate(file, 9), "E-FORMAT {}: it is no whole ZIP archive"),
        (lambda file: dangle(file), "{}: No such file or directory"),
    ],
    ids=["of 10 TB", "cut", "link to nothing"],
)
def test_what_cannot_be_had_of_a_shelf_is_told_by_its_place_there(
    clone: Callable[..., int],
    capsys: pytest.CaptureFixture[str],
    change: Callable[[Path], object],
    said: str,
) -> None:
    """Not by that of a copy which is gone; one of any size filled the disk before."""
    packed = shelved("simulate")
    change(packed)
    assert clone() == REFUSED
    assert said.format(f"../shelf: {packed.name}") in capsys.readouterr().err
    assert not Path("results/runs").exists()


def dangle(file: Path) -> None:
    file.unlink()
    file.symlink_to("/none")


def test_a_pull_from_where_no_runs_are_is_refused(
    clone: Callable[..., int], capsys: pytest.CaptureFixture[str]
) -> None:
    """A slip of the pen in the shelf's name brought nothing, with status 0."""
    Path("../shelf").rename("../other")
    assert clone() == REFUSED
    assert "error: ../shelf holds no runs: give the folder" in capsys.readouterr().err
    assert not Path("results").exists()


@pytest.mark.usefixtures("clone")
def test_of_a_cut_or_altered_file_on_a_shelf_nothing_comes() -> None:
    packed, key = shelved("simulate"), key_in_listing("simulate")
    whole = packed.read_bytes()
    cuts = [whole[: len(whole) * k // 5] for k in range(5)]
    for at in range(3, len(whole), len(whole) // 24):
        cuts.append(whole[:at] + bytes([whole[at] ^ 0x55]) + whole[at + 1 :])
    came = 0
    for content in cuts:
        packed.write_bytes(content)
        try:
            Shelf("../shelf").take(key, read_listing()[key])
        except InputError:
            assert not list(Path("results").rglob("*.*"))
        else:  # it changed what ZIP does not look at
            came += 1
            assert not edits(Path("results/runs") / key)
            shutil.rmtree("results/runs")
    assert came < 6


def test_a_run_that_was_not_shared_is_left_to_be_made(
    clone: Callable[..., int], capsys: pytest.CaptureFixture[str]
) -> None:
    shelved("figure").unlink()
    assert clone("--sample", "0") == 0
    assert "1 names are not there" in capsys.readouterr().out
    assert standings(read_documents(fresh_plan()))[RUN].state == DONE


@pytest.mark.parametrize(
    ("far", "here", "status", "words"),
    [
        (1e-9, "Z80", 0, f"alike to 1e-06, on another processor ({machine()})"),
        (1e-9, machine(), FAILED, "in steps.csv, on an equal processor"),
        (0.3, "Z80", FAILED, "differs by 2.3e-01 in steps.csv\n"),
    ],
    ids=["another", "equal", "far"],
)
def test_tables_that_do_not_come_out_again_are_said(
    clone: Callable[..., int],
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    far: float, here: str, status: int, words: str,
) -> None:  # fmt: skip
    def recorded(*given: Any) -> dict[str, Any]:
        result = record_steps(*given)
        table = pd.read_csv(given[2] / "steps.csv")
        table.iloc[:, -1] *= 1 + far
        table.to_csv(given[2] / "steps.csv", index=False)
        return result

    monkeypatch.setattr("pipeline.steps.simulate.record_steps", recorded)
    monkeypatch.setattr("pipeline.store.attempts.machine", lambda: here)
    assert clone() == status
    said = capsys.readouterr()
    assert words in said.out.partition("made again: simulate actuator_law: ")[2]
    assert ("does not come out as it was shared" in said.err) == bool(status)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (None, "store push DIR writes it"),
        *[
            (content, "no list of runs")
            for content in (
                {"runs": []},
                {"form": FORM, "runs": []},
                {"form": FORM, "runs": {"a": {"content": "0"}}},
                {"form": FORM, "runs": {"a": 3}},
                [FORM],
            )
        ],
    ],
)
def test_a_list_that_is_none_is_refused(
    tmp_path: Path, content: object, words: str
) -> None:
    path = tmp_path / "results.json"
    if content is not None:
        path.write_text(json.dumps(content))
    with pytest.raises(InputError, match=words):
        read_listing(path)


@pytest.mark.slow
def test_what_was_edited_is_not_pushed(
    pushed: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.copytree(pushed, tmp_path / "project", symlinks=True)
    with chdir(tmp_path / "project"):
        run = Path("results/runs") / key_in_listing("simulate")
        with (run / "steps.csv").open("a") as file:
            file.write("1,2,3\n")
        listed = LISTING.read_bytes()
        assert store(["push", "../other"]) == REFUSED
        assert "steps.csv was edited: remove the folder" in capsys.readouterr().err
        assert LISTING.read_bytes() == listed


@pytest.mark.slow
@pytest.mark.usefixtures("clone")
def test_what_was_drawn_beside_a_run_stays_here(pushed: Path, tmp_path: Path) -> None:
    key = key_in_listing("simulate")
    beside = pushed / "results" / "runs" / key / "page.html"
    beside.write_text("drawn by hand")
    try:
        with chdir(pushed):
            assert store(["push", str(tmp_path / "other")]) == 0
    finally:
        beside.unlink()
    assert store(["pull", "../other", "--sample", "0"]) == 0
    assert not Path(f"results/runs/{key}/page.html").exists()


@pytest.mark.slow
def test_who_makes_a_run_once_more_pushes_it_beside_the_other(
    clone: Callable[..., int],
) -> None:
    first = LISTING.read_bytes()
    for name in fresh_plan()["names"]:
        assert perform_name(name) == 0
    assert store(["push", "../shelf"]) == 0
    assert LISTING.read_bytes() != first  # times, and nothing else
    shutil.rmtree("results")
    assert clone("--sample", "0") == 0
    LISTING.write_bytes(first)
    shutil.rmtree("results")
    assert clone("--sample", "0") == 0


@pytest.mark.slow
def test_a_pull_that_was_killed_leaves_nothing_to_the_next(
    clone: Callable[..., int],
) -> None:
    left = Path("results/pulled/0123456789abcdef.1")
    left.mkdir(parents=True)
    (left / "steps.csv").write_text("x\n")
    again = Path("results/running") / f"{key_in_listing('simulate')}.1"
    again.mkdir(parents=True)  # of a run that was made again to compare
    os.utime(again, (0, 0))
    assert clone("--sample", "0") == 0
    assert not left.parent.exists()
    assert not again.exists()


@pytest.mark.parametrize("name", ["paper[1]", "paper*"])
def test_a_shelf_is_the_folder_of_that_name_and_no_pattern(
    name: str, tmp_path: Path
) -> None:
    for folder, key in ((name, "mine"), ("paper 2", "other")):
        (tmp_path / folder / "runs").mkdir(parents=True)
        (tmp_path / folder / "runs" / f"{key}.0.zip").touch()
    shelf = Shelf(str(tmp_path / name))
    assert (shelf.has("mine", "0"), shelf.has("other", "0")) == (True, False)


@pytest.mark.parametrize(
    "address",
    [
        "nosuch://bucket", "s3://bucket/paper", "ftp://127.0.0.1:1/paper",
        "a\0b", "github://paper", "data:,paper", f"zip://x::{__file__}",
    ],
)  # fmt: skip
def test_an_address_that_cannot_be_reached_is_said(address: str) -> None:
    with pytest.raises(InputError, match=r"cannot be reached|refused"):
        Shelf(address)


@pytest.mark.parametrize("address", ["memory://paper", "memory://paper[1]"])
def test_a_shelf_in_memory_does_as_a_folder(
    address: str, pushed: Path, tmp_path: Path
) -> None:
    shelf = Shelf(address)
    (directory,) = (pushed / "results" / "runs").glob(f"{_key(pushed)}")
    shelf.put(directory)
    listed = read_listing(pushed / LISTING)[directory.name]
    assert Shelf(address).has(directory.name, listed["files"])
    came = shelf.take(directory.name, listed, tmp_path)
    assert (came / "run.json").read_bytes() == (directory / "run.json").read_bytes()


def test_a_shelf_may_be_packed_itself(pushed: Path, tmp_path: Path) -> None:
    """None of its runs was found."""
    packed = shutil.make_archive(str(tmp_path / "all"), "zip", pushed.parent / "shelf")
    listed, key = read_listing(pushed / LISTING), _key(pushed)
    assert Shelf(f"zip://::{packed}").take(key, listed[key], tmp_path).is_dir()


def _key(project: Path) -> str:
    with chdir(project):
        return key_in_listing("simulate")


@pytest.mark.parametrize("address", ["", " ", "::", "paper::1", "file://"])
def test_an_address_that_names_no_place_is_refused(
    address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match=r"is no address: name a folder, or"):
        Shelf(address)


@pytest.mark.usefixtures("clone")
def test_a_push_of_nothing_leaves_the_list_that_is_there(
    capsys: pytest.CaptureFixture[str],
) -> None:
    before = LISTING.read_bytes()
    assert store(["push", "../shelf"]) == REFUSED
    assert "no run of the plan is finished" in capsys.readouterr().err
    assert LISTING.read_bytes() == before


@pytest.mark.usefixtures("clone")
def test_a_push_of_a_part_says_how_much_it_leaves_out(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """The list that it writes holds no more, and a clone would make the rest."""
    assert store(["pull", "../shelf", "--sample=0"]) == 0
    shutil.rmtree(Path("results/runs") / key_in_listing("figure"))
    assert store(["push", "../shelf"]) == 0
    told = capsys.readouterr().out
    assert "lists 1: commit it" in told
    assert "note: 1 of the 2 runs of the plan are not finished here" in told


@pytest.mark.usefixtures("clone")
def test_a_figure_that_is_not_there_is_not_counted_among_those_that_are() -> None:
    """A receipt stays where what it was made of has changed, the figure does not."""
    assert store(["pull", "../shelf", "--sample=0"]) == 0
    assert "figures  1 of 1 in results/figure" in summary(read_workflow(), "", 80)
    (Path("results/figure") / "huang-3").unlink()
    told = summary(read_workflow(), "huang-3", 80)
    assert "figures  0 of 1 in results/figure" in told
    assert told[-1].startswith("next     make figures makes the rest")
