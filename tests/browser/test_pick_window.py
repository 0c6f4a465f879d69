"""The picking window on a screen of its own: a person's clicks become seeds.

Needs Xvfb, xdotool and Mesa (on Debian: apt-get install xvfb xdotool libgl1-mesa-dri).
"""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from pipeline.scans.seed_spheres import read_seeds

RADIUS = 6.0
PATIENCE = 90.0  # s for a window on a busy machine


@pytest.fixture
def display():
    """A screen without a monitor."""
    receive, send = os.pipe()
    words = f"Xvfb -displayfd {send} -screen 0 2000x1200x24 -noreset"
    server = subprocess.Popen(words.split(), pass_fds=[send], stderr=subprocess.DEVNULL)
    os.close(send)
    try:
        with os.fdopen(receive) as told:
            number = told.readline().strip()
        assert number, "Xvfb did not start"
        yield f":{number}"
    finally:
        server.terminate()
        server.wait(10)


def picked(display: str, out: Path, clicks: list[str]) -> int:
    """Exit status of morphtrack pick after clicks amid its window, and Q."""
    rng = np.random.default_rng(1)
    u = rng.normal(size=(300_000, 3))
    scan = out.parent / "ball.npy"
    np.save(scan, RADIUS * u / np.linalg.norm(u, axis=1)[:, None])
    environment = os.environ | {"DISPLAY": display, "LIBGL_ALWAYS_SOFTWARE": "1"}
    environment.pop("WAYLAND_DISPLAY", None)

    def xdotool(*words: str) -> str:
        return subprocess.run(
            ["xdotool", *words], env=environment, check=True, timeout=PATIENCE,
            capture_output=True, text=True,
        ).stdout.strip()  # fmt: skip

    words = [str(scan), "--unit", "mm", "--out", str(out)]
    with subprocess.Popen(
        [sys.executable, "-m", "pipeline", "pick", *words],
        env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    ) as picking:  # fmt: skip
        try:
            title = "Shift-click"
            found = xdotool("search", "--sync", "--onlyvisible", "--name", title)
            window = found.splitlines()[0]
            xdotool("sleep", "2", "mousemove", "--window", window, "960", "540")
            for button in clicks:
                xdotool(
                    "keydown", "shift", "sleep", "0.5", "click", button, "sleep", "1.5",
                    "keyup", "shift",
                )  # fmt: skip
            xdotool("sleep", "1", "key", "q")
            return picking.wait(PATIENCE)
        finally:
            picking.kill()


def test_a_click_on_a_ball_is_a_seed_on_it(display, tmp_path):
    out = tmp_path / "seeds.csv"
    assert picked(display, out, ["1"]) == 0
    seeds = read_seeds(out)
    assert len(seeds) == 1
    assert np.linalg.norm(seeds[0]) == pytest.approx(RADIUS, abs=0.01)


def test_a_click_that_is_taken_back_leaves_no_seed(display, tmp_path):
    out = tmp_path / "seeds.csv"
    assert picked(display, out, ["1", "3"]) == 2
    assert not out.exists()
