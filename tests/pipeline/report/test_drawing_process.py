"""The process that draws a run while its caller has no matplotlib."""

import signal
import subprocess
import sys
import time

import pytest

from pipeline.runs.child_process import start_child

MODULE = "pipeline.report.drawing_process"
COMMAND = f"""
import sys
from pathlib import Path
from {MODULE} import drawing
sys.executable = sys.argv[2]
with drawing(ahead=True) as draw:
    draw(Path(sys.argv[1]))
sys.exit("matplotlib" in sys.modules)
"""


@pytest.fixture
def run(project, command):
    done = command("simulate", "case=slider_crank_motion", "--out", "run")
    assert done.returncode == 0, done.stderr
    return project / "run"


def test_what_the_process_cannot_draw_is_drawn_here(run):
    pictures = [run / name for name in ("picture.png", "run.html")]
    before = [path.read_bytes() for path in pictures]
    for program in (sys.executable, "/bin/false", "/bin/true", "/bin/absent"):
        for path in pictures:
            path.unlink()
        line = [sys.executable, "-c", COMMAND, "run", program]
        drawn_here = subprocess.run(line, cwd=run.parent, check=False).returncode
        assert drawn_here == (program != sys.executable)
        assert [path.read_bytes() for path in pictures] == before


def test_an_interrupted_process_leaves_nothing_half_drawn(run):
    (run / "picture.png").unlink()
    files = {*run.iterdir()}
    process = start_child(MODULE)
    process.stdin.write(str(run))
    process.stdin.close()
    while process.poll() is None and {*run.iterdir()} == files:
        time.sleep(0.001)
    process.send_signal(signal.SIGINT)
    assert process.wait() != 0
    assert {*run.iterdir()} == files
    process.stdout.close()


def test_no_module_is_taken_from_the_folder_that_a_command_works_in(
    tmp_path, monkeypatch
):
    (tmp_path / "analysis.py").write_text("open('taken', 'w')")
    monkeypatch.chdir(tmp_path)
    process = start_child(MODULE)
    process.communicate("")
    assert process.returncode == 0
    assert not (tmp_path / "taken").exists()
