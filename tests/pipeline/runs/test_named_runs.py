"""Commands that read a run take its name, and say which names there are."""

from pathlib import Path

import pytest

from pipeline.cli.app import called
from pipeline.runs.run_directory import simulated_run

CONF = Path("conf").resolve()
OUT = ["--out", "out"]
COMMANDS = {
    "compare": ["--spheres", "spheres", "--simulated", "NAME", *OUT],
    "compare_series": ["--measured", "m.csv", "--simulated", "NAME", *OUT],
    "deviation": ["--spheres", "spheres", "--simulated", "NAME", *OUT],
    "input_uncertainty": ["--simulated", "NAME", *OUT],
    "parts": ["NAME", *OUT],
    "virtual_scan": ["NAME", *OUT],
}
RECORD = '{"step": "simulate"}'


@pytest.fixture
def results(tmp_path, monkeypatch):
    """A folder with two simulations, one of them made by hand."""
    monkeypatch.chdir(tmp_path)
    for name in ("simulate/pentapod", "own/gripper,starts=3", "ingest/scan_1"):
        (tmp_path / "results" / name).mkdir(parents=True)
        (tmp_path / "results" / name / "run.json").write_text(RECORD)
    (tmp_path / "conf").symlink_to(CONF)
    return tmp_path / "results"


@pytest.mark.usefixtures("results")
@pytest.mark.parametrize("name", COMMANDS)
def test_a_run_that_is_not_there_is_named_beside_those_that_are(name, capsys):
    words = ["nowhere" if word == "NAME" else word for word in COMMANDS[name]]
    assert called([name, *words]) == 2
    assert capsys.readouterr().err == (
        "error: unknown run 'nowhere': choose one of pentapod, gripper,starts=3\n"
    )
    assert not Path("out").exists()


def test_a_simulation_is_found_by_its_name_or_its_folder(results):
    named = ["pentapod", "simulate/pentapod", "results/simulate/pentapod"]
    assert {simulated_run(name).resolve() for name in named} == {
        results / "simulate" / "pentapod"
    }
    assert simulated_run("gripper,starts=3").name == "gripper,starts=3"


@pytest.mark.parametrize(
    ("name", "remedy"), [("rod", "compare_series"), ("sheet", "show RUN --fold")]
)
def test_a_run_without_nodes_to_print_is_refused_with_what_takes_it(
    results, name, remedy, refused
):
    for own in ("rod", "sheet"):
        (results / "own" / own).mkdir()
        (results / "own" / own / "run.json").write_text(RECORD)
    (results / "own" / "sheet" / "pattern.fold").write_text("{}")
    for command in ("compare", "deviation", "input_uncertainty", "virtual_scan"):
        words = [name if word == "NAME" else word for word in COMMANDS[command]]
        said = refused(command, *words)
        assert "has no nodes to print and scan" in said
        assert remedy in said
    assert remedy in refused("parts", name, *OUT)


@pytest.mark.usefixtures("results")
def test_a_run_in_a_folder_here_is_offered_where_its_name_is_mistyped(
    tmp_path, refused
):
    (tmp_path / "closed").mkdir()
    (tmp_path / "closed" / "steps.csv").write_text("step\n")
    said = refused("virtual_scan", "closd", *OUT)
    assert "unknown run 'closd': did you mean closed?" in said
    assert "unknown run 'sheet,a=1'" in refused("parts", "sheet,a=1", *OUT)


def test_a_file_or_a_run_of_another_step_is_no_simulation(results, refused):
    (results.parent / "mine.yaml").write_text("nodes: []")
    said = refused("virtual_scan", "mine.yaml", *OUT)
    assert "mine.yaml is not a run: `morphtrack simulate mine.yaml` makes one" in said
    ingest = results / "ingest" / "scan_1"
    (ingest / "run.json").write_text('{"step": "ingest"}')
    said = refused("virtual_scan", str(ingest), *OUT)
    assert "is a run of ingest: give one of morphtrack simulate" in said


def test_a_file_without_its_suffix_is_offered(results, refused):
    (results.parent / "mine.yaml").write_text("nodes: []")
    said = refused("mobility", "mine")
    assert said.endswith("mine has no value: did you mean mine.yaml?")
