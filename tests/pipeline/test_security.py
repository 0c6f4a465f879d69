"""What an attacker, or a slip, could try: each is tried here."""

import ast
import os
import resource
import signal
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

from pipeline.cli.app import called
from pipeline.config.build_objects import build
from pipeline.config.workflow_file import read_workflow
from pipeline.io.fold_file import fold_file
from pipeline.io.length_units import Unit
from pipeline.io.point_cloud import read_cloud
from pipeline.io.record_files import header_of
from pipeline.io.structure_file import structure_file
from pipeline.runs.run_directory import finished
from pipeline.runs.run_keys import file_digest, write_digests
from pipeline.runs.simulated_run import read_simulated
from pipeline.runs.step_jobs import link_files
from pipeline.terminal import InputError
from pipeline.workflow.plan import Plan
from tests.pipeline.conftest import ROOT, refusal

Capture = pytest.CaptureFixture[str]
CODE = [
    p
    for package in ("sim", "analysis", "pipeline")
    for p in (ROOT / package).rglob("*.py")
]


PICKLED = {"pickle", "cPickle", "dill", "cloudpickle", "joblib", "shelve"}
FORBIDDEN = {"eval", "exec", "os.system", "pd.read_pickle", "yaml.unsafe_load"}


def test_no_pickle_is_read_and_nothing_is_evaluated():
    assert len(CODE) > 300
    for path in CODE:
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Import | ast.ImportFrom):
                module = getattr(node, "module", None) or ""
                imported = {module, *(alias.name for alias in node.names)}
                assert not PICKLED & {n.split(".")[0] for n in imported}, path
            if isinstance(node, ast.Call):
                assert ast.unparse(node.func) not in FORBIDDEN, path
                for word in node.keywords:
                    if word.arg in ("allow_pickle", "shell"):
                        assert ast.unparse(word.value) == "False", path


def test_a_pickled_array_in_a_run_is_not_opened(tmp_path):
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
        "pipeline.cli.app.called",
        "simx.evil",
        "numpy.load",
        "shutil.copyfile",
        "pandas.read_pickle",
    ],
)
def test_a_configuration_names_this_project_s_objects_only(target):
    with pytest.raises(InputError, match="_target_"):
        build({"_target_": target}, "case")
    with pytest.raises(InputError, match="_target_"):
        build({"parts": [{"deep": {"_target_": target}}]}, "case")


def test_a_word_that_would_become_an_object_is_refused(project, command):
    (project / "steps.pkl").write_text("kept")
    copy = "{_target_: shutil.copyfile, src: steps.pkl, dst: exploded}"
    text = f"defaults: [triangles_cylinder]\ntarget: '\\${{oc.create:{copy}}}'\n"
    (project / "conf" / "case" / "evil.yaml").write_text(text)
    assert "case.target is '${oc.create:" in refusal(command("simulate", "case=evil"))
    assert not (project / "exploded").exists()


def write_workflow(project: Path, whole: dict[str, Any]) -> None:
    (project / "conf" / "workflow.yaml").write_text(yaml.safe_dump(whole))


def test_a_file_of_another_origin_is_not_replaced(tmp_path):
    run, out = tmp_path / "runs" / "key", tmp_path / "mine"
    for folder, text in ((run, "step\n"), (out, "my notes\n")):
        folder.mkdir(parents=True)
        (folder / "steps.csv").write_text(text)
    (run / "run.json").write_text("{}")
    write_digests(run)
    with pytest.raises(
        InputError, match=r"steps\.csv exists and was not written by a run"
    ):
        link_files(run, out)
    (out / "steps.csv").unlink()
    link_files(run, out)
    link_files(run, out)
    assert (out / "steps.csv").read_text() == "step\n"


@pytest.mark.parametrize("name", ["../../evil", "/tmp/evil", "a/b", "..", ".x", ""])
def test_names_do_not_lead_out_of_the_results(project, name, refused):
    one = {"case": "triangles_circle", "scan": {"virtual": {"seed": 1}}}
    sizes = {"sphere_radius_mm": 6.0, "scale_mm": 40.0}
    write_workflow(project, {"comparisons": {name: one | sizes}})
    with pytest.raises(InputError, match="becomes the name of a folder"):
        read_workflow()
    write_workflow(project, {"comparisons": {"one": {**one, **sizes, "case": name}}})
    with pytest.raises(InputError, match="becomes the name of a folder"):
        read_workflow()
    write_workflow(project, {})
    for step in ("simulate", "compare", "figure"):
        with pytest.raises(InputError, match="no"):
            Plan().config(step, name)
    if name:
        assert "becomes the name of a folder" in refused("study", name, "--table")
    assert finished(name) is None


@pytest.mark.parametrize("name", ["../../evil", "sub/../../../evil", "{here}/evil"])
def test_a_list_of_files_does_not_lead_out_of_its_folder(tmp_path, name):
    """SHA256SUMS of a run, and of the folder that its files are linked into."""
    run, out = tmp_path / "runs" / "key", tmp_path / "out" / "one"
    (run / "sub").mkdir(parents=True)
    (out / "sub").mkdir(parents=True)
    (run / "run.json").write_text("{}")
    (tmp_path / "evil").write_text("kept")
    digests = f"{'0' * 64}  {name.format(here=tmp_path)}\n"
    (out / "SHA256SUMS").write_text(digests)
    (run / "SHA256SUMS").write_text("")
    link_files(run, out)
    assert (tmp_path / "evil").read_text() == "kept"
    (tmp_path / "evil").unlink()
    (run / "SHA256SUMS").write_text(digests)
    link_files(run, out)
    assert sorted(path.name for path in out.iterdir()) == [
        "SHA256SUMS",
        "run.json",
        "sub",
    ]


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
def test_no_reader_waits_for_a_pipe_or_reads_a_device(tmp_path, name, read):
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


def test_pipes_and_devices_in_conf_are_no_files_of_it(project, refused):
    os.mkfifo(project / "conf" / "case" / "pipe.yaml")
    (project / "conf" / "case" / "zeros.yaml").symlink_to("/dev/zero")
    limits = resource.getrlimit(resource.RLIMIT_AS)
    signal.alarm(60)
    try:
        resource.setrlimit(resource.RLIMIT_AS, (8_000_000_000, limits[1]))
        assert called(["list", "cases"]) == 0
        for name in ("pipe", "zeros"):
            assert f"has no case '{name}'" in refused("simulate", f"case={name}")
    finally:
        signal.alarm(0)
        resource.setrlimit(resource.RLIMIT_AS, limits)


@pytest.mark.parametrize(
    ("files", "said"),
    [
        ({"a": "defaults: [a, _self_]"}, "in conf are circular"),
        ({"a": "defaults: [b]", "b": "defaults: [a]"}, "in conf are circular"),
        ({"a": "# @package _global_\nrecord_every: 2"}, "has no case"),
    ],
)
def test_a_case_that_leads_nowhere_is_one_line(project, refused, files, said):
    for name, text in files.items():
        (project / "conf" / "case" / f"{name}.yaml").write_text(text)
    assert said in refused("simulate", "case=a")
