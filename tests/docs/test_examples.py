"""The examples of docs/examples run as they are, each to the picture that is shown."""

import re
import runpy
from pathlib import Path

import pytest
from PIL import Image

from pipeline.tracking.logging_process import LOGGER

ROOT = Path(__file__).parents[2]
EXAMPLES = sorted((ROOT / "docs/examples").glob("*.py"))
MOST_LINES, MOST_BYTES = 30, 60_000
SAYS = {  # what each ends with, by theory or by what it is made of
    "compare_scan": ["the run that was scanned: agrees", "another run: differs"],
    "fold_drawing": ["fold: folded"],
    "fold_miura": ["fold: folded"],
    "loaded_truss": ["10 N: node 1 sags by 19.5"],
    "morph_sheet": ["target reached"],
    "own_linkage": ["goal at x = 2.0: node 4 at [2. 3. 0.]"],
    "radius_sweep": ["3.0  0.95"],
    "rolling_robot": ["stopped by: duration"],
    "swinging_pendulum": ["kinetic energy up to 14.7 J", "changes by "],
    "tendon_arm": ["the tip moves by 100 mm"],
}


def test_there_are_ten_and_all_are_shown():
    page = (ROOT / "docs/tutorials/python.md").read_text(encoding="utf-8")
    assert len(EXAMPLES) == 10
    assert sorted(SAYS) == [path.stem for path in EXAMPLES]
    named = page.partition("`docs/examples`")[2]
    assert sorted(re.findall(r"`(\w+)\.py`", named)) == sorted(SAYS)


@pytest.mark.parametrize("path", EXAMPLES, ids=[path.stem for path in EXAMPLES])
def test_an_example_runs_and_leaves_its_picture(path, tmp_path, monkeypatch, capsys):
    assert len(path.read_text(encoding="utf-8").splitlines()) <= MOST_LINES
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv(LOGGER, "0")  # start no process that logs
    runpy.run_path(str(path))
    said = capsys.readouterr().out
    for words in SAYS[path.stem]:
        assert words in said
    made, shown = (f / f"{path.stem}.png" for f in (tmp_path, path.parent))
    with Image.open(made) as new, Image.open(shown) as old:
        assert new.size == old.size
    assert max(made.stat().st_size, shown.stat().st_size) <= MOST_BYTES
