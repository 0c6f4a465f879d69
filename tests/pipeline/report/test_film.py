"""Films of runs: the steps they show, the view of the figures, ffmpeg or none."""

import sys
from types import ModuleType

import numpy as np
import pytest
from PIL import Image

from analysis.figures import run_picture
from analysis.figures.mechanisms import best_view, view_of
from analysis.figures.motions import VIEW
from pipeline.cli.show import NO_FFMPEG, film
from pipeline.report.moving_shape import read_moving_shape
from pipeline.report.one_run import frames, stamps, write_film
from pipeline.runs.atomic_files import write_json
from tests.analysis.mechanisms import random_mechanism
from tests.pipeline.comparison_files import write_run

FFMPEG = """#!/bin/sh
cat > {0}/frames
for last; do :; done
echo "$*" > "$last"
"""


@pytest.fixture
def run(tmp_path, rng):
    mechanism, other = random_mechanism(12, rng)
    return write_run(tmp_path / "run", mechanism, other)


def test_without_ffmpeg_a_gif_is_made_and_said(run, monkeypatch, capsys):
    monkeypatch.setenv("PATH", "")
    monkeypatch.setitem(sys.modules, "imageio_ffmpeg", None)
    assert film(run, gif=False) == run / "moving.gif"
    assert capsys.readouterr().out.splitlines() == [NO_FFMPEG]
    with Image.open(run / "moving.gif") as made:
        assert made.n_frames == 5  # one a step


def test_ffmpeg_is_given_every_step(run, tmp_path, monkeypatch):
    program = tmp_path / "ffmpeg"
    program.write_text(FFMPEG.format(tmp_path))
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    assert film(run, gif=False) == run / "moving.mp4"
    words = (run / "moving.mp4").read_text().split()
    assert {"h264", "yuv420p"} <= set(words)
    assert words[words.index("-framerate") + 1] == "1"  # five steps in five seconds
    width, height = map(int, words[words.index("-s") + 1].split("x"))
    assert width % 2 == height % 2 == 0  # as H.264 wants it
    size = 4 * width * height  # the last of five steps is held for two seconds
    assert (tmp_path / "frames").stat().st_size == 6 * size
    frames = (tmp_path / "frames").read_bytes()
    assert frames[4 * size : 5 * size] == frames[5 * size :]
    assert frames[3 * size : 4 * size] != frames[4 * size : 5 * size]


def test_the_ffmpeg_of_a_package_serves_where_the_machine_has_none(
    run, tmp_path, monkeypatch
):
    program = tmp_path / "ffmpeg-of-a-wheel"
    program.write_text(FFMPEG.format(tmp_path))
    program.chmod(0o755)
    package = ModuleType("imageio_ffmpeg")
    package.get_ffmpeg_exe = lambda: str(program)
    monkeypatch.setitem(sys.modules, "imageio_ffmpeg", package)
    monkeypatch.setattr("shutil.which", lambda _: None)
    assert film(run, gif=False) == run / "moving.mp4"
    assert "h264" in (run / "moving.mp4").read_text()


def test_a_film_is_seen_as_the_figures_are(rng):
    r = rng.standard_normal((4, 12, 3))
    assert view_of(r) == best_view(r[-1], r[0])
    assert view_of(r * [1, 1, 0]) == (90.0, -90.0)


def test_rods_in_space_are_filmed_from_where_their_figure_looks(tmp_path, monkeypatch):
    r = np.random.default_rng(0).standard_normal((2, 6, 3))
    arrays = {"r": r, "edges": np.array([[0, 1], [1, 2]])}
    write_json(tmp_path / "run.json", {"key": "k", "status": "finished", "config": {}})
    seen = []
    draw = run_picture.draw_shape
    monkeypatch.setattr(
        run_picture, "draw_shape", lambda ax, of: (seen.append(of.view), draw(ax, of))
    )
    for more in ({"directors": np.zeros((2, 2, 3))}, {}):
        np.savez(tmp_path / "steps.npz", **arrays, **more)
        write_film(tmp_path, read_moving_shape(tmp_path), ".gif")
    assert seen == [VIEW] * 2 + [view_of(r)] * 2


def test_the_first_and_the_last_step_are_shown():
    assert frames(5, 48) == [0, 1, 2, 3, 4]
    assert frames(1000, 3) == [0, 499, 999]
    assert np.diff(frames(1000, 240)).min() >= 1


def test_a_step_is_stamped_with_its_time_in_seconds_or_its_number(tmp_path):
    table = tmp_path / "steps.csv"
    table.write_text("step,time,energy\n0,0,1\n1,0.005,2\n2,0.25,3\n")
    assert stamps(tmp_path, 3) == ["0.000 s", "0.005 s", "0.250 s"]
    assert stamps(tmp_path, 4) == [""] * 4  # not of the same steps
    table.write_text("step,E\n0,1\n10,2\n")
    assert stamps(tmp_path, 2) == ["step 0", "step 10"]
