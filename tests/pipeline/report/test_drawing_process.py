"""The process that draws a run while its caller has no matplotlib."""

import subprocess
import sys

COMMAND = """
import sys
from pathlib import Path
from pipeline.report.drawing_process import drawing
sys.executable = sys.argv[2]
with drawing(ahead=True) as draw:
    draw(Path(sys.argv[1]))
sys.exit("matplotlib" in sys.modules)
"""


def test_what_the_process_cannot_draw_is_drawn_here(project, command):
    done = command("simulate", "case=slider_crank_motion", "--out", "run")
    assert done.returncode == 0, done.stderr
    pictures = [project / "run" / name for name in ("picture.png", "run.html")]
    before = [path.read_bytes() for path in pictures]
    for program in (sys.executable, "/bin/false", "/bin/absent"):
        for path in pictures:
            path.unlink()
        line = [sys.executable, "-c", COMMAND, "run", program]
        drawn_here = subprocess.run(line, cwd=project, check=False).returncode
        assert drawn_here == (program != sys.executable)
        assert [path.read_bytes() for path in pictures] == before
