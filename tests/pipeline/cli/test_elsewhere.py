"""Commands in a folder without a conf use the one that comes with the code."""

from tests.pipeline.conftest import command_in

FILE = """unit: mm
nodes: [[0, 0, 0], [10, 0, 0]]
links: [[0, 1]]
fixed: [0]
target: {nodes: [[1, 0, 10, 0]]}
"""


def test_a_file_is_simulated_in_any_folder(tmp_path):
    folder = tmp_path / "mine, ü"
    folder.mkdir()
    (folder / "bar.yaml").write_text(FILE, encoding="utf-8")
    done = command_in(folder)("simulate", "bar.yaml")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("target reached: node 1 within ")
    assert (folder / "results/own").is_dir()


def test_the_workflow_needs_its_own_folder(tmp_path):
    done = command_in(tmp_path)("make")
    assert done.returncode == 2
    assert "has no Snakefile: run this in the project's top folder" in done.stderr
