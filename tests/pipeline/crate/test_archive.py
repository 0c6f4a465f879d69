"""An archive rebuilds elsewhere, and one that is not sound is not unpacked."""

import hashlib
import io
import json
import os
import shutil
import stat
import subprocess
import sys
import warnings
import zipfile
from pathlib import Path

import pytest
import yaml

from pipeline.commands.archive import main
from pipeline.crate import description
from pipeline.crate.comparison import compare
from pipeline.crate.description import _tool_id, nameless
from pipeline.crate.member_names import climbs_out, fault_of_name
from pipeline.crate.reading import _check_entry
from pipeline.store.attempts import run_once
from pipeline.store.digests import write_digests
from pipeline.store.keys import identity
from pipeline.store.runs import Job
from pipeline.terminal.errors import InputError
from tests.pipeline.conftest import command_in, furnish

SMALL = {"comparisons": {}, "figures": {"huang-3": {"cases": ["actuator_law"]}}}
WHOLE = {
    "shared": {"sphere_radius_mm": 6.0, "scale_mm": 40.0, "input_draws": 10},
    "comparisons": {
        "same": {"case": "triangles_circle", "scan": {"virtual": {"seed": 1}}}
    },
    "figures": {
        "dejong-3": {"comparisons": ["same"]},
        "zhu-filipov-8": {"cases": ["box"]},
    },
}
ARCHIVE = "results/morphtrack.crate.zip"


def made_and_archived(folder: Path, workflow: dict[str, object]) -> Path:
    """A folder in which a workflow has run; its archive."""
    furnish(folder)
    (folder / "conf" / "workflow.yaml").write_text(yaml.safe_dump(workflow))
    for name in ("make", "archive"):
        done = command_in(folder)(name)
        assert done.returncode == 0, done.stdout + done.stderr
    return folder / ARCHIVE


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return made_and_archived(tmp_path_factory.mktemp("archived"), SMALL)


def elsewhere(folder: Path, *words: str) -> "subprocess.CompletedProcess[str]":
    """Run a command of the code that was unpacked into `folder`."""
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
    environment.pop("MLFLOW_TRACKING_URI", None)
    return subprocess.run(
        [sys.executable, "-m", "pipeline", *words],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=900,
        check=False,
    )


def rebuilt(archive: Path, place: Path) -> str:
    """What is said when the runs made anew in `place` are set beside the archive's."""
    assert main(["--unpack", str(archive), "--into", str(place), "--bare"]) == 0
    assert not (place / "results").exists()
    done = elsewhere(place, "make")
    assert done.returncode == 0, done.stdout + done.stderr
    done = elsewhere(place, "archive", "--compare", str(archive))
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.slow
def test_an_archive_rebuilds_elsewhere_with_the_same_keys_and_numbers(
    archive: Path, tmp_path: Path
) -> None:
    place = tmp_path / "new"
    said = rebuilt(archive, place)
    assert said.startswith("2 of 2 runs of the archive are here under the same key")
    assert ", 0 differ" in said
    (run,) = place.glob("results/simulate/actuator_law")
    table = (run / "steps.csv").read_text().splitlines()
    cells = table[3].split(",")
    cells[-1] = repr(float(cells[-1]) + 0.001)
    table[3] = ",".join(cells)
    (run / "steps.csv").write_text("\n".join(table) + "\n")
    done = elsewhere(place, "archive", "--compare", str(archive))
    assert done.returncode == 1
    assert "different: simulate actuator_law" in done.stdout
    assert "steps.csv:4 was" in done.stdout


@pytest.mark.slow
def test_scans_comparisons_and_figures_rebuild_elsewhere(tmp_path: Path) -> None:
    archive = made_and_archived(tmp_path / "first", WHOLE)
    said = rebuilt(archive, tmp_path / "second")
    assert said.startswith("9 of 9 runs of the archive are here under the same key")
    assert ", 0 differ" in said
    for name in ("comparisons.csv", "comparisons.tex"):
        first, second = (
            tmp_path / where / "results/tables" for where in ("first", "second")
        )
        assert (first / name).read_bytes() == (second / name).read_bytes()


@pytest.mark.slow
def test_with_its_results_in_place_nothing_runs_again(
    archive: Path, tmp_path: Path
) -> None:
    place = tmp_path / "new"
    assert main(["--unpack", str(archive), "--into", str(place)]) == 0
    runs = {p: p.stat().st_mtime_ns for p in place.glob("results/runs/*/run.json")}
    assert len(runs) == 2
    assert elsewhere(place, "make").returncode == 0
    assert {
        p: p.stat().st_mtime_ns for p in place.glob("results/runs/*/run.json")
    } == runs


def test_the_description_follows_the_workflow_run_profile(archive: Path) -> None:
    with zipfile.ZipFile(archive) as file:
        graph = json.loads(file.read("ro-crate-metadata.json"))["@graph"]
        names = set(file.namelist())
    known = {entity["@id"]: entity for entity in graph}
    root = known["./"]
    profiles = {p["@id"] for p in root["conformsTo"]}
    for profile in ("process", "workflow", "provenance"):
        assert f"https://w3id.org/ro/wfrun/{profile}/0.5" in profiles
    workflow = known[root["mainEntity"]["@id"]]
    assert workflow["@type"] == [
        "File", "SoftwareSourceCode", "ComputationalWorkflow", "HowTo"
    ]  # fmt: skip
    assert known[root["author"]["@id"]]["@type"] == "Organization"
    assert root["publisher"] == root["author"]
    assert known[workflow["output"]["@id"]]["name"] == "results"  # one is no list
    steps = [known[s["@id"]] for s in workflow["step"]]
    assert all(known[s["workExample"]["@id"]]["url"] for s in steps)
    assert [s["name"] for s in steps] == ["simulate", "figure"]
    tools = {t["@id"] for t in workflow["hasPart"]}
    assert {s["workExample"]["@id"] for s in steps} == tools
    runs = [e for e in graph if e["@id"].startswith("#run-") and "identifier" in e]
    assert len(runs) == 2
    for run in runs:
        assert run["@type"] == "CreateAction"
        assert run["instrument"]["@id"] in tools
        assert run["agent"] == root["author"]
        assert f"results/runs/{run['identifier']}/run.json" in names
        assert run["startTime"] <= run["endTime"]
    drawn = next(r for r in runs if r["name"] == "figure huang-3")
    other = next(r for r in runs if r is not drawn)
    assert {o["@id"] for o in _list(drawn["object"])} == {
        r["@id"] for r in _list(other["result"])
    }
    (organise,) = (e for e in graph if e["@type"] == "OrganizeAction")
    controls = {c["@id"] for c in organise["object"]}
    assert controls == {e["@id"] for e in graph if e["@type"] == "ControlAction"}
    for entity in graph:  # every reference leads somewhere
        for value in entity.values():
            for item in _list(value):
                if isinstance(item, dict) and not item["@id"].startswith("http"):
                    assert item["@id"] in known


def test_steps_are_known_by_the_address_of_the_project_where_it_has_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert _tool_id("ingest") == "#pipeline.ingest"
    cited = {"url": "https://example.org/morph"}
    monkeypatch.setattr(description, "_cited", lambda: cited)
    assert _tool_id("ingest") == "https://example.org/morph#pipeline.ingest"


def test_what_gives_no_address_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    ada = {"name": "Ada", "orcid": "https://orcid.org/0000-0002-1825-0097"}
    cited = {"url": "https://example.org/morph", "authors": [ada]}
    monkeypatch.setattr(description, "_cited", lambda: cited)
    assert nameless() == ""
    cited["authors"] = [ada, {"name": "Grace"}]
    assert nameless() == "website: or orcid: of each author"
    del cited["url"]
    assert nameless() == "url: and website: or orcid: of each author"


def _list(value: object) -> list[object]:
    return value if isinstance(value, list) else [value]


def test_code_conf_lock_and_results_are_inside(archive: Path) -> None:
    with zipfile.ZipFile(archive) as file:
        names = set(file.namelist())
    for name in (
        "Makefile",
        "Snakefile",
        "requirements.lock",
        "sbom.cdx.json",
        "conf/workflow.yaml",
        "pipeline/workflow/workflow.py",
        "sim/rod/actuation/actuation.py",
        "results/report/index.html",
        "tests/pipeline/crate/test_archive.py",
    ):
        assert name in names
    assert not any("__pycache__" in name for name in names)


def test_the_digests_of_a_sound_archive_hold(archive: Path, capsys) -> None:
    assert main(["--check", str(archive)]) == 0
    assert "digests hold" in capsys.readouterr().out


def spoilt(archive: Path, target: Path, spoil) -> Path:
    """A copy of the archive; SPOIL changes names and contents on the way."""
    with zipfile.ZipFile(archive) as old, zipfile.ZipFile(target, "w") as new:
        for entry in old.infolist():
            for changed, content in spoil(entry, old.read(entry)):
                new.writestr(changed, content)
    return target


def also(name, *, link=False):
    """A spoiler that adds one more entry."""

    def spoil(entry, content):
        yield entry, content
        if entry.filename == "Makefile":
            more = zipfile.ZipInfo(name)
            if link:
                more.external_attr = (stat.S_IFLNK | 0o777) << 16
            yield more, b"../../etc/passwd"

    return spoil


def refused(archive: Path, tmp_path: Path, capsys) -> str:
    place = tmp_path / "into"
    for words in (
        ["--check", str(archive)],
        ["--unpack", str(archive), "--into", str(place)],
        ["--compare", str(archive)],
    ):
        assert main(words) == 2
        said = capsys.readouterr().err
        assert said.count("\n") == 1, said
        assert said.startswith("error: E-")
        assert not place.exists()
    return said


@pytest.mark.parametrize(
    "name",
    [
        "../outside.txt",
        "conf/../../outside.txt",
        "/tmp/outside.txt",
        "C:\\x",
        "a\\..\\b",
    ],
)
def test_a_path_that_climbs_out_is_refused(archive, tmp_path, capsys, name) -> None:
    bad = spoilt(archive, tmp_path / "bad.zip", also(name))
    said = refused(bad, tmp_path, capsys)
    assert "E-PATH" in said
    assert "climbs out" in said
    assert not (tmp_path / "outside.txt").exists()


@pytest.mark.parametrize(
    ("names", "said"),
    [
        (["a.txt", "a.txt"], "'a.txt' is there twice"),
        (["a", "a/b"], "'a' is a file and a folder"),
        (["a/", "a"], "'a' is there twice"),
        (["n" * 300], "is too long for a name"),
        (["a\x1b[31m.txt"], "letters that none has"),
        (["a\x9b31m.txt"], "letters that none has"),
        (["a\u202etxt.exe"], "letters that none has"),
        (["a/b", "a//b"], "not the plain name"),
        (["a", "a/."], "not the plain name"),
        (["./a"], "not the plain name"),
        (["d/" * 600 + "a"], "too long for a name"),
        (["a.txt", "A.TXT"], "'a.txt' and 'A.TXT' are one name"),
        (["d/a", "D/A"], "'d/a' and 'D/A' are one name"),
        (["\u00e9.txt", "e\u0301.txt"], "are one name"),
        (["stra\u00dfe", "STRASSE"], "are one name"),
        (["a", "A/b"], "'a' is a file and a folder"),
        (["a/.hidden."], "is another name, or none, on Windows"),
        (["a /b"], "is another name, or none, on Windows"),
        (["conf/Aux.yaml"], "is another name, or none, on Windows"),
        (["com1"], "is another name, or none, on Windows"),
        (["a?.txt", "a_.txt"], "'a?.txt' is another name, or none, on Windows"),
        (["steps.csv:b"], "is another name, or none, on Windows"),
        (["conin$"], "is another name, or none, on Windows"),
    ],
)
def test_members_that_no_folder_can_hold_are_refused(
    tmp_path, capsys, names, said
) -> None:
    with (
        warnings.catch_warnings(action="ignore"),
        zipfile.ZipFile(tmp_path / "bad.zip", "w") as file,
    ):
        for name in names:
            file.writestr(name, "")
    assert said in refused(tmp_path / "bad.zip", tmp_path, capsys)


@pytest.mark.parametrize("name", ["a b.c", "d/E", "con1.txt", "auxiliary", ".ci/run"])
def test_plain_names_are_left_alone(name: str) -> None:
    assert fault_of_name(name) == ""


def test_no_archive_is_made_that_would_be_refused(archive: Path) -> None:
    folder = archive.parents[1]
    names = [folder / "conf" / name for name in ("notes.txt", "Notes.txt")]
    for path in names:
        path.touch()
    done = command_in(folder)("archive")
    for path in names:
        path.unlink()
    assert done.returncode == 2, done.stderr
    assert "'conf/Notes.txt' and 'conf/notes.txt' are one name" in done.stderr


@pytest.mark.parametrize("name", ["../a", "a\x1b[31m"])
def test_a_second_name_of_a_member_is_judged_too(name: str) -> None:
    entry = zipfile.ZipInfo("a")
    entry.filename = name  # as Python 3.12 takes it from the field of a Unicode path
    with pytest.raises(InputError, match="E-PATH"):
        _check_entry(Path("bad.zip"), entry)


@pytest.mark.parametrize("packing", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_members_of_other_packings_are_refused(tmp_path, capsys, packing) -> None:
    with zipfile.ZipFile(tmp_path / "bad.zip", "w", packing) as file:
        file.writestr("ro-crate-metadata.json", '{"@graph": []}')
    said = refused(tmp_path / "bad.zip", tmp_path, capsys)
    assert f"is packed by method {packing}, of which 0 and 8 are read" in said


@pytest.mark.parametrize("at", range(0, 60, 3))
def test_an_archive_with_a_damaged_byte_is_one_line(tmp_path, capsys, at) -> None:
    content = bytes(range(256)) * 4 + b"words of a table " * 20
    graph = [{"@id": "a", "sha256": hashlib.sha256(content).hexdigest()}]
    path = tmp_path / "bad.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("ro-crate-metadata.json", json.dumps({"@graph": graph}))
        file.writestr("a", content)
    whole = bytearray(path.read_bytes())
    whole[whole.rindex(b"PK\x03\x04") + 31 + at] ^= 0xA5
    path.write_bytes(whole)
    assert main(["--check", str(path)]) == 2
    said = capsys.readouterr().err
    assert said.startswith("error: E-FORMAT")
    assert said.count("\n") == 1


def test_a_link_is_refused(archive, tmp_path, capsys) -> None:
    bad = spoilt(archive, tmp_path / "bad.zip", also("conf/link", link=True))
    assert "is a link" in refused(bad, tmp_path, capsys)


@pytest.mark.parametrize(
    "name", ["../../data.ply", "file:///etc/passwd", "/etc/x", "%2e%2e/x"]
)
def test_a_description_that_points_outside_is_refused(
    archive, tmp_path, capsys, name
) -> None:
    def spoil(entry, content):
        if entry.filename == "ro-crate-metadata.json":
            whole = json.loads(content)
            whole["@graph"].append({"@id": name, "@type": "File"})
            content = json.dumps(whole)
        yield entry, content

    bad = spoilt(archive, tmp_path / "bad.zip", spoil)
    assert "E-PATH" in refused(bad, tmp_path, capsys)


def test_a_changed_file_is_refused(archive, tmp_path, capsys) -> None:
    def spoil(entry, content):
        edited = entry.filename.endswith("/steps.csv")
        yield entry, content.replace(b"1", b"2") if edited else content

    bad = spoilt(archive, tmp_path / "bad.zip", spoil)
    for words in (
        ["--check", str(bad)],
        ["--unpack", str(bad), "--into", str(tmp_path / "x")],
    ):
        assert main(words) == 2
        assert "E-DIGEST" in capsys.readouterr().err
    assert not (tmp_path / "x").exists()


def test_a_file_without_a_digest_is_refused(archive, tmp_path, capsys) -> None:
    bad = spoilt(archive, tmp_path / "bad.zip", also("pipeline/more.py"))
    for words in (
        ["--check", str(bad)],
        ["--unpack", str(bad), "--into", str(tmp_path / "x")],
    ):
        assert main(words) == 2
        assert "E-DIGEST" in (said := capsys.readouterr().err)
        assert "pipeline/more.py has no digest" in said
    assert not (tmp_path / "x").exists()


def a_zip(name: str = "a") -> bytes:
    whole = io.BytesIO()
    with zipfile.ZipFile(whole, "w") as file:
        file.writestr("ro-crate-metadata.json", '{"@graph": []}')
        file.writestr(name, "a")
    return whole.getvalue()


def told_to_begin_late(content: bytes) -> bytes:
    """With a table of contents that says of itself that it begins at the very end."""
    end = content.rindex(b"PK\x05\x06")
    return content[: end + 16] + b"\xff" * 4 + content[end + 20 :]


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"PK\x03\x04 half",
        b"no archive",
        told_to_begin_late(a_zip()),
        a_zip(name="ä").replace("ä".encode(), b"\xff\xfe"),
    ],
    ids=["empty", "half", "words", "late", "encoding"],
)
def test_what_is_no_archive_is_refused(tmp_path, capsys, content) -> None:
    (tmp_path / "bad.zip").write_bytes(content)
    assert "E-FORMAT" in refused(tmp_path / "bad.zip", tmp_path, capsys)


@pytest.mark.parametrize("key", [["a"], "k" * 5_000, "../../etc"])
def test_a_run_whose_key_is_none_is_refused(tmp_path, capsys, key) -> None:
    record = json.dumps({"key": key, "step": "simulate", "name": "a"})
    with zipfile.ZipFile(tmp_path / "bad.zip", "w") as file:
        file.writestr("ro-crate-metadata.json", '{"@graph": []}')
        file.writestr("results/runs/0123456789abcdef/run.json", record)
    assert main(["--compare", str(tmp_path / "bad.zip")]) == 2
    assert "its key is none" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("result", "table", "said"),
    [
        ({"E\x1b[2J": "1\n0 differ"}, "", "E?[2J was 1?0 differ, is None\n"),
        ({"steps": 10**400}, "", "is None\n"),
        ({}, "a" * 200_000, "field larger than field limit"),
    ],
)
def test_words_of_an_archive_neither_steer_the_terminal_nor_are_a_traceback(
    tmp_path, monkeypatch, capsys, result, table, said
) -> None:
    monkeypatch.chdir(tmp_path)
    job = Job("simulate", "a", identity("simulate", {}), {})
    made = run_once(job, lambda out: bool((out / "steps.csv").write_text("")) or {})
    record = {"key": job.key, "step": "simulate", "name": "a\x1b]0;b", "result": result}
    with zipfile.ZipFile(tmp_path / "bad.zip", "w") as file:
        file.writestr("ro-crate-metadata.json", '{"@graph": []}')
        file.writestr(f"results/runs/{made.name}/run.json", json.dumps(record))
        file.writestr(f"results/runs/{made.name}/steps.csv", table)
    assert main(["--compare", str(tmp_path / "bad.zip")]) in (1, 2)
    out, err = capsys.readouterr()
    assert said in out + err
    assert "\x1b" not in out + err


def test_another_zip_and_a_missing_one_are_refused(tmp_path, capsys) -> None:
    with zipfile.ZipFile(tmp_path / "other.zip", "w") as file:
        file.writestr("a.txt", "of others")
    assert "is no RO-Crate" in refused(tmp_path / "other.zip", tmp_path, capsys)
    assert main(["--check", str(tmp_path / "none.zip")]) == 2
    assert "none.zip does not exist" in capsys.readouterr().err


@pytest.mark.parametrize("text", ["null", "[1]", '{"@graph": 3}', '{"@graph": [3]}'])
def test_metadata_without_entities_are_said_to_have_none(
    tmp_path, capsys, text
) -> None:
    with zipfile.ZipFile(tmp_path / "other.zip", "w") as file:
        file.writestr("ro-crate-metadata.json", text)
    said = refused(tmp_path / "other.zip", tmp_path, capsys)
    assert "it has no @graph, a list of entities" in said


def test_a_folder_with_something_in_it_is_not_written_over(
    archive, tmp_path, capsys
) -> None:
    (tmp_path / "mine.txt").write_text("mine")
    assert main(["--unpack", str(archive), "--into", str(tmp_path)]) == 2
    assert "is there already: name a new folder" in capsys.readouterr().err
    assert [p.name for p in tmp_path.iterdir()] == ["mine.txt"]


def test_an_edited_run_and_a_plan_of_another_conf_are_not_archived(
    archive: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "copy"
    shutil.copytree(archive.parent.parent, folder, symlinks=True)
    run = next(folder.glob("results/runs/*/steps.csv"))
    run.write_text(run.read_text() + "\n")
    done = command_in(folder)("archive")
    assert done.returncode == 2
    assert "steps.csv was edited: remove this folder" in done.stderr
    write_digests(run.parent)
    (folder / "conf" / "workflow.yaml").write_text("figures: {zhu-filipov-5: {}}")
    done = command_in(folder)("archive")
    assert done.returncode == 2
    assert "run make figures first" in done.stderr


@pytest.mark.parametrize(
    ("name", "outside"),
    [
        ("a/b.csv", False),
        ("a..b/c", False),
        ("..", True),
        ("a/../b", True),
        ("D:/a", True),
    ],
)
def test_names_that_climb_out_are_known(name: str, outside: bool) -> None:
    assert climbs_out(name) is outside


def without(part: str):
    """A spoiler that takes out every member whose name begins so, or holds it."""

    def spoil(entry, content):
        if part not in entry.filename:
            yield entry, content

    return spoil


@pytest.mark.parametrize(
    ("of_run", "name"),
    [("", "SHA256SUMS"), ("SHA256SUMS", "SHA256SUMS"), ("run.json", "run.json")],
)
def test_a_run_that_is_described_and_not_there_is_refused(
    archive, tmp_path, capsys, of_run, name
) -> None:
    with zipfile.ZipFile(archive) as file:
        run = next(n for n in file.namelist() if n.endswith("/SHA256SUMS"))
    run = run.removesuffix("SHA256SUMS")
    bad = spoilt(archive, tmp_path / "bad.zip", without(run + of_run))
    said = refused(bad, tmp_path, capsys)
    assert f"{run}{name} is missing: fetch the archive again" in said


def test_each_of_two_digests_of_a_file_must_hold(tmp_path, capsys) -> None:
    right = hashlib.sha256(b"a").hexdigest()
    graph = [{"@id": "a", "sha256": digest} for digest in ("0" * 64, right)]
    for order in (graph, graph[::-1]):
        with zipfile.ZipFile(tmp_path / "bad.zip", "w") as file:
            file.writestr("ro-crate-metadata.json", json.dumps({"@graph": order}))
            file.writestr("a", "a")
        assert main(["--check", str(tmp_path / "bad.zip")]) == 2
        assert "E-DIGEST" in capsys.readouterr().err


def test_an_archive_without_runs_is_not_compared(tmp_path, capsys) -> None:
    (tmp_path / "bad.zip").write_bytes(a_zip())
    assert main(["--compare", str(tmp_path / "bad.zip")]) == 2
    assert "holds no run to compare" in capsys.readouterr().err


def test_an_unpacking_that_was_killed_is_made_again_by_the_same_command(
    archive: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = tmp_path / "new"

    def killed(*_: object) -> None:
        raise ZeroDivisionError

    with monkeypatch.context() as patch:
        patch.setattr(Path, "chmod", killed)  # at the first script
        with pytest.raises(ZeroDivisionError):
            main(["--unpack", str(archive), "--into", str(place)])
    assert not (place / "Makefile").exists()
    assert main(["--unpack", str(archive), "--into", str(place)]) == 0
    with zipfile.ZipFile(archive) as file:
        wanted = {n for n in file.namelist() if not n.endswith("/")}
    found = (p for p in place.rglob("*") if p.is_file())
    assert {p.relative_to(place).as_posix() for p in found} == wanted


@pytest.mark.parametrize("name", ["n" * 300, "loop/x"])
def test_a_place_that_no_disk_has_is_one_line(archive, tmp_path, capsys, name) -> None:
    (tmp_path / "loop").symlink_to("loop")
    assert main(["--unpack", str(archive), "--into", str(tmp_path / name)]) == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_records_that_a_run_holds_of_others_are_no_runs(tmp_path: Path) -> None:
    """Of a calibration, whose poses it holds, they were missing runs."""
    key = "0123456789abcdef"
    told = json.dumps({"key": key, "step": "simulate", "name": "pose"})
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as file:
        file.writestr("ro-crate-metadata.json", json.dumps({"@graph": []}))
        for place in (f"results/runs/{key}/run.json", f"results/runs/{key}/b/run.json"):
            file.writestr(place, told)
    assert compare(tmp_path / "a.zip", tmp_path).runs == 1
