"""What an attacker, or a slip, could try: each is tried here."""

import ast
import os
import resource
import signal
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import yaml

from pipeline.commands import server, ui
from pipeline.commands.cases import main as cases
from pipeline.commands.simulate import main as simulate
from pipeline.commands.study_table import main as study_table
from pipeline.commands.track import main as track
from pipeline.config.building import build
from pipeline.config.workflow_file import read_workflow
from pipeline.formats.fold_file import fold_file
from pipeline.formats.record_files import header_of
from pipeline.formats.structure_file import structure_file
from pipeline.results.simulated_run import read_simulated
from pipeline.scans.reading.cloud import read_cloud
from pipeline.scans.reading.units import Unit
from pipeline.store.keys import file_digest
from pipeline.store.plan_file import read_document
from pipeline.store.runs import finished
from pipeline.terminal.errors import InputError
from pipeline.tracking.ports import free_port
from pipeline.workflow.fresh import state_of_inputs
from tests.pipeline.conftest import ROOT, Command, refusal

Capture = pytest.CaptureFixture[str]
SECRET = "hunter2-and-more"
CODE = [
    p
    for package in ("sim", "analysis", "pipeline")
    for p in (ROOT / package).rglob("*.py")
]


def called(tree: ast.AST) -> list[str]:
    return [ast.unparse(n.func) for n in ast.walk(tree) if isinstance(n, ast.Call)]


@pytest.mark.parametrize("path", CODE, ids=lambda p: str(p.relative_to(ROOT)))
def test_no_pickle_is_read_and_nothing_is_evaluated(path: Path) -> None:
    tree = ast.parse(path.read_text())
    imported = {
        name.split(".")[0]
        for node in ast.walk(tree)
        if isinstance(node, ast.Import | ast.ImportFrom)
        for name in [getattr(node, "module", None) or "", *(a.name for a in node.names)]
    }
    pickled = imported & {
        "pickle",
        "cPickle",
        "dill",
        "cloudpickle",
        "joblib",
        "shelve",
    }
    assert not pickled
    forbidden = {"eval", "exec", "os.system", "pd.read_pickle", "yaml.unsafe_load"}
    assert not forbidden & set(called(tree))
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            given = {k.arg: ast.unparse(k.value) for k in node.keywords}
            assert given.get("allow_pickle", "False") == "False"
            assert given.get("shell", "False") == "False"


def test_a_pickled_array_in_a_run_is_not_opened(tmp_path: Path) -> None:
    class Bomb:
        def __reduce__(self) -> Any:
            return os.mkdir, (str(tmp_path / "exploded"),)

    np.savez(tmp_path / "steps.npz", r=np.array([Bomb()], dtype=object))
    (tmp_path / "run.json").write_text('{"key": "k", "status": "finished"}')
    with pytest.raises((InputError, ValueError)):
        read_simulated(tmp_path)
    assert not (tmp_path / "exploded").exists()


@pytest.mark.parametrize(
    "target",
    [
        "os.system",
        "subprocess.run",
        "builtins.eval",
        "pipeline.commands.run.main",
        "simx.evil",
        "numpy.load",
        "shutil.copyfile",
        "pandas.read_pickle",
    ],
)
def test_a_configuration_names_this_project_s_objects_only(target: str) -> None:
    with pytest.raises(InputError, match="_target_"):
        build({"_target_": target}, "case")
    with pytest.raises(InputError, match="_target_"):
        build({"parts": [{"deep": {"_target_": target}}]}, "case")


def test_a_word_that_would_become_an_object_is_refused(
    project: Path, command: Command
) -> None:
    (project / "steps.pkl").write_text("kept")
    copy = "{_target_: shutil.copyfile, src: steps.pkl, dst: exploded}"
    text = f"defaults: [triangles_cylinder]\ntarget: '\\${{oc.create:{copy}}}'\n"
    (project / "conf" / "case" / "evil.yaml").write_text(text)
    assert "case.target is '${oc.create:" in refusal(command("simulate", "case=evil"))
    assert not (project / "exploded").exists()


def write_workflow(project: Path, whole: dict[str, Any]) -> None:
    (project / "conf" / "workflow.yaml").write_text(yaml.safe_dump(whole))


@pytest.mark.parametrize("name", ["../../evil", "/tmp/evil", "a/b", "..", ".x", ""])
def test_names_do_not_lead_out_of_the_results(
    project: Path, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    one = {"case": "triangles_circle", "scan": {"virtual": {"seed": 1}}}
    sizes = {"sphere_radius_mm": 6.0, "scale_mm": 40.0}
    write_workflow(project, {"comparisons": {name: one | sizes}})
    with pytest.raises(InputError, match="becomes the name of a folder"):
        read_workflow()
    write_workflow(project, {"comparisons": {"one": {**one, **sizes, "case": name}}})
    with pytest.raises(InputError, match="becomes the name of a folder"):
        read_workflow()
    for reference in (name, f"simulate/{name}"):
        with pytest.raises(InputError, match="the plan has no"):
            read_document(reference)
    if name:
        assert study_table([name]) == 2
        assert "becomes the name of a folder" in capsys.readouterr().err
    assert finished(name) is None


def test_a_plan_elsewhere_is_not_performed(project: Path, command: Command) -> None:
    (project / "results" / "plan").mkdir(parents=True)
    (project / "evil.json").write_text("[]")
    assert "the plan has no" in refusal(command("run", "../../evil"))


def test_servers_answer_on_the_loopback_address_and_say_so(
    project: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    del project
    started: list[list[str]] = []

    class Server:
        """One that ends by itself at once."""

        def __init__(self, words: list[str], **_: Any) -> None:
            started.append(words)

        def __enter__(self) -> "Server":
            return self

        def __exit__(self, *_: object) -> None:
            """Nothing was started."""

        def wait(self) -> int:
            return 0

    called = SimpleNamespace(Popen=Server)
    monkeypatch.setattr("pipeline.commands.server.subprocess", called)
    monkeypatch.setattr(
        "pipeline.commands.ui.os.execve", lambda _, words, __: started.append(words)
    )
    port = ["--port", str(free_port())]
    assert server.main(["--sqlite", *port]) == 1
    assert "this machine only" in capsys.readouterr().out
    ui.main(port)
    assert "this machine only" in capsys.readouterr().out
    for words in started:
        assert words[words.index("--host") + 1] == "127.0.0.1"
    assert server.main(["--sqlite", *port, "--host", "0.0.0.0"]) == 1
    assert "WHOEVER reaches it" in capsys.readouterr().out


def test_a_secret_in_the_environment_is_written_nowhere(
    project: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("MLFLOW_TRACKING_PASSWORD", SECRET)
    monkeypatch.setenv("MLFLOW_TRACKING_URI", f"http://lab:{SECRET}@127.0.0.1:9")
    monkeypatch.setenv("MLFLOW_HTTP_REQUEST_MAX_RETRIES", "0")
    from tests.pipeline.tracking.test_track import run

    run(1)
    assert track([]) == 1  # nobody answers there
    said = capsys.readouterr()
    assert "127.0.0.1:9" in said.out
    assert SECRET not in said.out + said.err
    for path in project.rglob("*"):
        if path.is_file():
            assert SECRET.encode() not in path.read_bytes(), path


@pytest.mark.parametrize(
    ("name", "read"),
    [
        ("a.json", lambda path: structure_file(str(path))),
        ("a.svg", lambda path: fold_file(str(path))),
        ("a.xyz", lambda path: read_cloud(path, Unit.MM)),
        ("a.txt", file_digest),
        ("a.csv", header_of),
    ],
)
def test_no_reader_waits_for_a_pipe_or_reads_a_device(
    tmp_path: Path, name: str, read: Callable[[Path], Any]
) -> None:
    os.mkfifo(tmp_path / name)
    device = tmp_path / f"b{name}"
    device.symlink_to("/dev/zero")
    signal.alarm(60)  # a reader that waits ends the run of tests
    try:
        for path in (tmp_path / name, device):
            with pytest.raises(InputError, match="device or a pipe"):
                read(path)
    finally:
        signal.alarm(0)


def test_pipes_and_devices_in_conf_are_no_files_of_it(
    project: Path, capsys: Capture
) -> None:
    os.mkfifo(project / "conf" / "case" / "pipe.yaml")
    (project / "conf" / "case" / "zeros.yaml").symlink_to("/dev/zero")
    limits = resource.getrlimit(resource.RLIMIT_AS)
    signal.alarm(60)
    try:
        resource.setrlimit(resource.RLIMIT_AS, (8_000_000_000, limits[1]))
        state_of_inputs(set())
        assert cases([]) == 0
        for name in ("pipe", "zeros"):
            assert simulate([f"case={name}"]) == 2
            assert f"has no case '{name}'" in capsys.readouterr().err
    finally:
        signal.alarm(0)
        resource.setrlimit(resource.RLIMIT_AS, limits)


@pytest.mark.parametrize(
    ("files", "said"),
    [
        ({"a": "defaults: [a, _self_]"}, "name each other in their defaults"),
        ({"a": "defaults: [b]", "b": "defaults: [a]"}, "name each other in their"),
        ({"a": "# @package _global_\nrecord_every: 2"}, "holds no case"),
    ],
)
def test_a_case_that_leads_nowhere_is_one_line(
    project: Path, capsys: Capture, files: dict[str, str], said: str
) -> None:
    for name, text in files.items():
        (project / "conf" / "case" / f"{name}.yaml").write_text(text)
    assert simulate(["case=a"]) == 2
    assert said in capsys.readouterr().err
