"""The page of a scan in a real browser: it draws, turns, and says what is under it."""

from pathlib import Path

import numpy as np
import pytest

from analysis.spheres.detections import PickOptions
from analysis.spheres.find import find_spheres
from pipeline.scans.scan_page import scan_page
from tests.analysis.spheres.scenes import Scanner, scan, tree
from tests.browser.page import opened

INK = """
const c = document.getElementById("scene");
const p = c.getContext("2d").getImageData(0, 0, c.width, c.height).data;
let many = 0; for (let i = 3; i < p.length; i += 4) many += p[i] > 0; return many;"""
SLEEP = """
for (let i = 0; i < 3; i++) await new Promise((r) => requestAnimationFrame(r));
await new Promise((r) => setTimeout(r, 50));"""


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    rng = np.random.default_rng(4)
    seen = scan(rng, tree(rng, 6, "plane"), Scanner(views=4, pixels=(240, 180)))
    picks = find_spheres(seen.points, PickOptions(radius_mm=6.0))
    file: Path = tmp_path_factory.mktemp("scan") / "scan.html"
    file.write_text(scan_page(seen.points, picks, "a scan", synthetic=True))
    with opened(file) as opened_page:
        opened_page.run(SLEEP)
        yield opened_page


def shown(page, name, wanted):
    page.run(
        f"""const box = document.getElementById("show-{name}");
        if (box.checked !== {str(wanted).lower()}) box.click(); {SLEEP}"""
    )
    return page.run(INK)


@pytest.mark.slow
def test_points_spheres_and_rejected_are_drawn_and_can_be_hidden(page):
    everything = shown(page, "points", wanted=True)
    spheres = shown(page, "points", wanted=False)
    nothing = shown(page, "spheres", wanted=False)
    assert everything > spheres > nothing == 0
    assert shown(page, "rejected", wanted=True) > 0
    shown(page, "rejected", wanted=False)
    shown(page, "spheres", wanted=True)
    assert shown(page, "points", wanted=True) > spheres


@pytest.mark.slow
def test_the_mouse_turns_the_scan_and_names_the_sphere_below_it(page):
    turn = "return JSON.stringify(turn);"
    x, y = page.run(
        """const c = document.getElementById("scene"), b = c.getBoundingClientRect();
        const p = placed(data.spheres[0].centre);
        return [b.x + p[0] * b.width / c.width, b.y + p[1] * b.height / c.height];"""
    )
    page.ask("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)
    told = page.run(SLEEP + 'return document.getElementById("said").textContent;')
    assert told.startswith("sphere ")
    assert "% visible" in told
    before = page.run(turn)
    page.drag((x, y), (x + 150, y + 40))
    assert page.run(SLEEP + turn) != before


@pytest.mark.slow
def test_it_is_said_to_be_synthetic_and_the_console_is_silent(page):
    assert "Synthetic scan" in page.run("return document.body.textContent")
    page.dark()
    page.run(SLEEP)
    assert page.problems == []
