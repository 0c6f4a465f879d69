"""What an attacker, or a slip, could try: each is tried here."""

import ast
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

from pipeline import server, ui
from pipeline.errors import InputError
from pipeline.hydra_command import build
from pipeline.index.ports import free_port
from pipeline.plan_file import read_batch
from pipeline.runs import finished
from pipeline.simulated_run import read_simulated
from pipeline.study_table import main as study_table
from pipeline.track import main as track
from pipeline.workflow_file import read_workflow
from tests.pipeline.conftest import ROOT, Command, refusal

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
    assert not imported & {
        "pickle",
        "cPickle",
        "dill",
        "cloudpickle",
        "joblib",
        "shelve",
    }
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
        "pipeline.cases.morph.os.system",
        "sim.kernels.os.system",
        "pipeline.run.main",
        "simx.evil",
        "pipeline.cases.morph.np.load",
    ],
)
def test_a_configuration_names_this_project_s_objects_only(target: str) -> None:
    with pytest.raises(InputError, match="_target_"):
        build({"_target_": target}, "case")
    with pytest.raises(InputError, match="_target_"):
        build({"parts": [{"deep": {"_target_": target}}]}, "case")


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
    with pytest.raises(InputError, match="the plan has no batch"):
        read_batch(name)
    if name:
        assert study_table([name]) == 2
        assert "becomes the name of a folder" in capsys.readouterr().err
    assert finished(name) is None


def test_a_plan_elsewhere_is_not_performed(project: Path, command: Command) -> None:
    (project / "results" / "plan").mkdir(parents=True)
    (project / "evil.json").write_text("[]")
    assert "the plan has no batch" in refusal(command("pipeline.run", "../../evil"))


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

    monkeypatch.setattr("pipeline.server.subprocess.Popen", Server)
    monkeypatch.setattr(
        "pipeline.ui.os.execve", lambda _, words, __: started.append(words)
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
    from tests.pipeline.test_track import run

    run(1)
    assert track([]) == 1  # nobody answers there
    said = capsys.readouterr()
    assert "127.0.0.1:9" in said.out
    assert SECRET not in said.out + said.err
    for path in project.rglob("*"):
        if path.is_file():
            assert SECRET.encode() not in path.read_bytes(), path
