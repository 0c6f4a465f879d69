"""The report in a real browser: it opens, moves, turns, tells the right numbers."""

import csv
from pathlib import Path

import numpy as np
import pytest

from analysis.labels.mechanism import Mechanism
from pipeline.compare import Comparison
from pipeline.compare import run_step as compare
from pipeline.plan_file import Batch, write_plan
from pipeline.report import main
from pipeline.runs import Job, run_once
from tests.analysis.mechanisms import random_mechanism, scanned
from tests.browser.page import opened
from tests.pipeline.comparison_files import SCALE_MM, write_ingest, write_run

DRAWN = "for (let i = 0; i < 400 && !scenes[{k}].drawn; i++) await sleep(25);"
SLEEP = "const sleep = (ms) => new Promise((r) => setTimeout(r, ms));"
MANY = 1_000


def planned(step, name, needs=None):
    return Job(step, name, {"step": step, "name": name}, {}, needs or {})


def large_mechanism(rng):
    """A band of 1,000 nodes joined by links, and the same rolled up."""
    k = np.arange(MANY)
    flat = 30.0 * np.stack([k // 2, k % 2, 0 * k], axis=1).astype(float)
    angle = 6.0 * k / MANY
    rolled = np.stack([900 * np.cos(angle), 900 * np.sin(angle), flat[:, 1]], axis=1)
    bodies = tuple((int(j), int(j) + 2) for j in range(MANY - 2))
    return Mechanism(rolled + rng.normal(0, 0.1, rolled.shape), bodies), flat


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    """A report on one comparison and one large run without a scan."""
    place = tmp_path_factory.mktemp("study") / "results"
    rng = np.random.default_rng(0)
    mechanism, other = random_mechanism(12, rng)
    simulate, ingest = planned("simulate", "small"), planned("ingest", "small")
    large = planned("simulate", "large")
    needs = {"spheres": ingest.key, "simulated": simulate.key}
    compared = planned("compare", "<b>small</b>", needs)

    run = run_once(
        simulate, lambda out: {"at": str(write_run(out, mechanism, other))}, place
    )
    scan = scanned(mechanism.nodes_mm, rng)
    spheres = run_once(ingest, lambda out: {"at": str(write_ingest(out, scan))}, place)
    run_once(
        compared, lambda out: compare(Comparison(SCALE_MM), spheres, run, out), place
    )
    band = large_mechanism(rng)
    run_once(large, lambda out: {"at": str(write_run(out, *band))}, place)
    write_plan(
        [Batch((j,)) for j in (simulate, ingest, compared, large)], {}, results=place
    )
    assert main(["--results", str(place)]) == 0
    return place / "report" / "index.html", run


@pytest.fixture(scope="module")
def page(report):
    with opened(report[0]) as opened_page:
        opened_page.run(SLEEP + DRAWN.format(k=0))
        yield opened_page


def at_step(page, scene, step):
    """What is told at a step, after the view has followed."""
    return page.run(
        f"""{SLEEP} const s = scenes[{scene}];
        s.section.scrollIntoView(); {DRAWN.format(k=scene)}
        s.slider.value = {step}; s.slider.dispatchEvent(new Event("input"));
        for (let i = 0; i < 400 && s.pending; i++) await sleep(5);
        await sleep(300); return s.readout.textContent;"""
    )


@pytest.mark.slow
def test_the_numbers_that_follow_the_slider_are_those_of_the_table(page, report):
    with (report[1] / "steps.csv").open() as file:
        rows = list(csv.DictReader(file))
    for step in (0, 2, 4):
        said = at_step(page, 0, step).split()
        assert said[:2] == ["step", str(step)]
        assert float(said[4]) == pytest.approx(float(rows[step]["E"]), rel=1e-5)
        assert float(said[7]) == pytest.approx(float(rows[step]["S"]), rel=1e-5)


@pytest.mark.slow
def test_the_shape_moves_with_the_slider(page, tmp_path):
    pictures = []
    for step in (0, 4, 0):
        at_step(page, 0, step)
        page.picture(tmp_path / f"{len(pictures)}.png")
        pictures.append((tmp_path / f"{len(pictures)}.png").read_bytes())
    assert pictures[0] != pictures[1]


@pytest.mark.slow
def test_the_view_turns_under_the_mouse(page):
    eye = "const c = scenes[0].view._fullLayout.scene._scene.getCamera(); return c.eye;"
    where = page.run(
        "scenes[0].view.scrollIntoView({block: 'center'});"
        " const b = scenes[0].view.getBoundingClientRect();"
        " return [b.x + b.width / 2, b.y + b.height / 2];"
    )
    before = page.run(eye)
    page.drag((where[0], where[1]), (where[0] + 120, where[1] + 40))
    page.run(SLEEP + "await sleep(500);")
    assert page.run(eye) != before


@pytest.mark.slow
def test_a_click_on_a_heading_sorts_the_table(page):
    order = page.run(
        """const head = document.querySelector("table.sortable th");
        head.click(); const up = head.getAttribute("aria-sort");
        head.click(); return [up, head.getAttribute("aria-sort")];"""
    )
    assert order == ["ascending", "descending"]


@pytest.mark.slow
def test_every_move_of_the_slider_draws_a_thousand_nodes_anew(page):
    drawn = page.run(
        f"""{SLEEP} const s = scenes[1]; s.section.scrollIntoView();
        {DRAWN.format(k=1)} s.times.length = 0;
        for (let k = 0; k < 60; k++) {{
          s.slider.value = k % 5; s.slider.dispatchEvent(new Event("input"));
          for (let i = 0; i < 400 && s.pending; i++) await sleep(5);
        }}
        return [s.times.length, s.readout.textContent];"""
    )
    assert drawn[0] >= 50
    assert drawn[1].split()[:2] == ["step", str(59 % 5)]


@pytest.mark.slow
def test_names_are_text_and_the_console_is_silent(page):
    assert page.run("return document.querySelectorAll('h2 b').length") == 0
    page.dark()
    page.run(SLEEP + "await sleep(800);")
    background = page.run("return getComputedStyle(document.body).backgroundColor")
    assert background == "rgb(23, 24, 26)"
    assert page.problems == []


def test_a_missing_browser_is_named(monkeypatch):
    from tests.browser import page as browser

    monkeypatch.setenv("PATH", str(Path("nowhere")))
    with pytest.raises(FileNotFoundError, match="apt-get install chromium"):
        browser.program()
