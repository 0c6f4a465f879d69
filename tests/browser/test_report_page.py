"""The report in a real browser: it opens, moves, turns, tells the right numbers."""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest

from analysis.labels.rigid_distances import Mechanism
from pipeline.report.one_run import write_page, write_pictures
from pipeline.runs.atomic_files import write_json
from pipeline.runs.run_attempts import run_once
from pipeline.runs.run_directory import Job
from pipeline.runs.run_keys import identity
from pipeline.steps.compare import run_step as compare
from pipeline.steps.settings import ComparisonSettings
from tests.analysis.mechanisms import random_mechanism, scanned
from tests.browser.page import opened
from tests.helpers.tables import rows_of
from tests.pipeline.comparison_files import SCALE_MM, write_ingest, write_run
from tests.pipeline.named_runs import Asked, reported, run_named

DRAWN = "for (let i = 0; i < 400 && !scenes[{k}].drawn; i++) await sleep(25);"
SLEEP = "const sleep = (ms) => new Promise((r) => setTimeout(r, ms));"
MANY = 1_000


def job(step, name, needs=None):
    config = {"of": name}
    return Job(step, name, identity(step, config), config, needs or {})


def written(place, *jobs):
    """The report, where conf/workflow.yaml asks for these jobs."""
    return reported(Asked({(job.step, job.name): () for job in jobs}), place)


def write_study(place):
    """A study of six runs, called as nobody should call one."""
    members = []
    for radius in (1.0, 2.0, 3.0):
        for rows in (2, 3):
            point = {"case.radius": radius, "<i>rows</i>": rows}
            job = Job("simulate", "ring", identity("simulate", point), point)
            run_once(job, lambda _, S=radius / rows: {"S": S, "steps": 7}, place)
            members.append({"key": job.key, "point": point})
    value = {"study": "s", "case": "ring", "response": ["S"], "members": members}
    write_json(place / "study" / "sizes" / "members.json", value)


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
    simulate, ingest = job("simulate", "small"), job("ingest", "small")
    large = job("simulate", "large")
    needs = {"spheres": ingest.key, "simulated": simulate.key}
    compared = job("compare", "<b>small</b>", needs)

    run = run_named(
        simulate, lambda out: {"at": str(write_run(out, mechanism, other))}, place
    )
    scan = scanned(mechanism.nodes_mm, rng)
    spheres = run_named(ingest, lambda out: {"at": str(write_ingest(out, scan))}, place)
    run_named(
        compared,
        lambda out: compare(ComparisonSettings(SCALE_MM), spheres, run, out),
        place,
    )
    band = large_mechanism(rng)
    run_named(large, lambda out: {"at": str(write_run(out, *band))}, place)
    write_study(place)
    return written(place, simulate, ingest, compared, large), run


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
    rows = rows_of(report[1] / "steps.csv")
    for step in (0, 2, 4):
        said = at_step(page, 0, step).split()
        assert said[:2] == ["step", str(step)]
        assert float(said[4]) == pytest.approx(float(rows[step]["E"]), rel=1e-5)
        assert float(said[7]) == pytest.approx(float(rows[step]["S"]), rel=1e-5)


BLIND = """<head><script>const get = HTMLCanvasElement.prototype.getContext;
HTMLCanvasElement.prototype.getContext = function (kind, ...more) {
  return kind.includes("webgl") ? null : get.call(this, kind, ...more);
};</script>"""


@pytest.mark.slow
def test_a_browser_without_webgl_shows_the_still_picture_of_a_run(report, tmp_path):
    write_pictures(report[1])
    shutil.copy(report[1] / "picture.png", tmp_path)
    text = (report[1] / "run.html").read_text(encoding="utf-8")
    (tmp_path / "run.html").write_text(text.replace("<head>", BLIND), encoding="utf-8")
    with opened(tmp_path / "run.html") as blind:
        width = blind.run(
            f"""{SLEEP} {DRAWN.format(k=0)}
            const still = scenes[0].view.querySelector("img");
            await still.decode(); scenes[0].slider.value = 1; scenes[0].move();
            return still.naturalWidth;"""
        )
        assert width > 500
        assert blind.problems == []


IN_FRAME = """
const s = scenes[0], c = s.view._fullLayout.scene._scene.glplot.cameraParams;
const through = (m, p) =>
  [0, 1, 2, 3].map((i) => p.reduce((t, v, k) => t + m[4 * k + i] * v, 0));
const scale = s.view._fullLayout.scene._scene.dataScale, far = [0, 0];
for (const set of [s.axes, s.goals])
  for (let j = 0; j < set[0].length; j++) {
    const p = [...set.map((a, k) => a[j] * scale[k]), 1];
    const at = [c.model, c.view, c.projection].reduce((q, m) => through(m, q), p);
    for (const k of [0, 1]) far[k] = Math.max(far[k], Math.abs(at[k]));
  }
const goals = s.view._fullData.find((t) => t.name === "goals");
return [...far, goals.visible, goals.x.length];"""
ARM = [[0, 0, 0], [-20, 70, 0], [50, 120, 0], [35, 165, 0], [115, 60, 0], [90, 0, 0]]


@pytest.mark.slow
@pytest.mark.parametrize("size", [(1200, 800), (1600, 1000), (500, 800)])
@pytest.mark.parametrize("axes", [[0, 1, 2], [1, 0, 2]])
def test_a_page_opens_with_all_nodes_and_goals_in_its_frame(size, axes, tmp_path):
    """An arm in a plane, higher than wide or turned, whose node 3 alone has a goal."""
    nodes = np.array(ARM, dtype=float)[:, axes]
    mechanism = Mechanism(nodes, ((0, 1), (1, 2, 3), (2, 4), (4, 5)))

    def body(out):
        with np.load(write_run(out, mechanism, 1.1 * nodes) / "steps.npz") as file:
            r = file["r"]
        goals = r.copy()
        goals[:, 3] += 0.3 * r[-1, 3]
        np.savez(out / "steps.npz", r=r, g=goals)
        return {}

    run = run_named(job("simulate", "arm"), body, tmp_path / "results")
    write_page(run)
    with opened(run / "run.html", *size) as page:
        page.run(SLEEP + DRAWN.format(k=0) + "await sleep(300);")
        across, up, visible, many = page.run(IN_FRAME)
        assert 0.5 < max(across, up) < 0.97
        assert (visible, many) == (True, 1)
        assert page.problems == []


def view_once(page, place, wanted):
    """A picture of the first view, taken again until it is `wanted`, at most 200 times.

    A slow machine draws some time after the page has asked for it.
    """
    for _ in range(200):
        page.picture(place / "view.png", ".view")  # slider and numbers left out
        picture = (place / "view.png").read_bytes()
        if wanted(picture):
            break
        page.run(SLEEP + "await sleep(250);")
    return picture


@pytest.mark.slow
def test_the_shape_moves_with_the_slider_and_back(page, tmp_path):
    recent = []

    def has_come_to_rest(picture):
        recent.append(picture)
        return len(recent) > 4 and len(set(recent[-4:])) == 1

    at_step(page, 0, 0)
    start = view_once(page, tmp_path, has_come_to_rest)
    at_step(page, 0, 4)
    assert view_once(page, tmp_path, lambda picture: picture != start) != start
    at_step(page, 0, 0)
    back = view_once(page, tmp_path, lambda picture: picture == start)
    came_back = back == start  # unequal pictures would fill the message
    assert came_back, "the view has not come back within 50 s"


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
def test_a_click_on_a_heading_sorts_by_numbers_and_back(page):
    page.run(
        "document.querySelector('section[id^=comparison-] .sortable').scrollIntoView();"
    )
    head = "section[id^=comparison-] .sortable th:nth-child(2)"
    read = (
        "return [...document.querySelectorAll("
        "'section[id^=comparison-] .sortable tbody tr')]"
        ".map(row => row.cells[1].textContent);"
    )
    first = page.run(read)
    page.click(head)
    up = [float(cell) for cell in page.run(read)]
    page.click(head)
    down = [float(cell) for cell in page.run(read)]
    assert up == sorted(map(float, first))
    assert down == sorted(up, reverse=True)


@pytest.mark.slow
def test_two_clicks_lead_from_the_verdict_to_cloud_and_configuration(page, report):
    page.run("scrollTo(0, 0);")
    page.click("#verdicts td a.tag")
    page.run(SLEEP + DRAWN.format(k=0))
    assert "scanned spheres" in page.run(
        "return scenes[0].view.data.map(trace => trace.name);"
    )
    where = page.run(
        "const b = scenes[0].view.getBoundingClientRect(); return [b.top, innerHeight];"
    )
    assert 0 <= where[0] < where[1]
    page.click("section[id^=comparison-] .evidence a")
    shown = page.run(
        SLEEP
        + "await sleep(300); const d = document.querySelector('details.record[open]');"
        " return [d.id, d.getBoundingClientRect().top, d.textContent, innerHeight];"
    )
    assert shown[0] == f"run-{report[1].name}"
    assert 0 <= shown[1] < shown[3]
    assert "of" in shown[2]
    assert "small" in shown[2]


@pytest.mark.slow
def test_a_study_draws_what_is_chosen(page):
    read = (
        "const t = sweeps[0].plot.data[0];"
        " return [Array.from(t.x), Array.from(t.y), Array.from(t.marker.color)];"
    )
    page.run(
        SLEEP + "sweeps[0].section.scrollIntoView();"
        " for (let i = 0; i < 400 && !sweeps[0].drawn; i++) await sleep(25);"
    )
    rows, S, radius = page.run(read)
    assert rows == [2, 3, 2, 3, 2, 3]
    expected = [1 / 2, 1 / 3, 1.0, 2 / 3, 3 / 2, 1.0]
    assert pytest.approx(expected, rel=1e-5) == S
    assert radius == [1, 1, 2, 2, 3, 3]
    page.run(
        "const s = sweeps[0].section.querySelector('select.x');"
        " s.value = 'case.radius';"
        " s.dispatchEvent(new Event('change'));"
    )
    assert page.run(read)[0] == radius
    assert page.run("return sweeps[0].section.querySelectorAll('i, u').length") == 0
    assert "sizes" in page.run(
        "return document.querySelector('#studies + section h3').textContent"
    )


@pytest.mark.slow
def test_the_page_works_in_the_sandboxed_frame_that_mlflow_shows_it_in(
    report, tmp_path
):
    text = json.dumps(report[0].read_text()).replace("</", "<\\/")
    outer = tmp_path / "outer.html"
    outer.write_text(
        f"""<meta charset="utf-8"><iframe width="1200" height="900"></iframe><script>
        const frame = document.querySelector("iframe");
        frame.sandbox = "allow-scripts";
        frame.src = URL.createObjectURL(new Blob([{text}], {{ type: "text/html" }}));
        </script>"""
    )
    with opened(outer) as other, other.inner_frame():
        told = other.run(
            SLEEP + "for (let i = 0; i < 200 && typeof scenes === 'undefined'; i++)"
            " await sleep(25);"
            " document.querySelector('#verdicts td a.tag').click();"
            + DRAWN.format(k=0)
            + "const s = scenes[0]; s.slider.value = 0;"
            " s.slider.dispatchEvent(new Event('input')); await sleep(300);"
            " document.querySelector('section[id^=comparison-] .evidence a').click();"
            " return [location.protocol, s.readout.textContent,"
            " document.querySelectorAll('details.record[open]').length, scrollY > 0,"
            " document.querySelectorAll('a.file[href]').length];"
        )
        assert told[0] == "blob:"
        assert told[1].startswith("step 0 ")
        assert told[2:] == [1, True, 0]  # links to files would lead nowhere
        assert other.problems == []


@pytest.fixture(scope="module")
def huge(tmp_path_factory):
    """A report on one run of 10,000 nodes and 200 steps."""
    place = tmp_path_factory.mktemp("huge") / "results"
    rng = np.random.default_rng(0)
    k = np.arange(10_000)
    flat = 30.0 * np.stack([k // 100, k % 100, 0 * k], axis=1)
    share = np.linspace(0.0, 1.0, 200)[:, None, None]
    bumps = flat + share * rng.normal(0, 9.0, flat.shape)
    run = job("simulate", "huge")

    def body(out):
        bodies = [[int(j), int(j) + 1, int(j) + 100] for j in range(9_899)]
        np.savez(out / "steps.npz", r=bumps)
        (out / "steps.csv").write_text(
            "step,E,S\n" + "".join(f"{s},{1 / (s + 1)},{0.5}\n" for s in range(200))
        )
        write_json(out / "structure.json", {"bodies": bodies})
        return {}

    run_named(run, body, place)
    return written(place, run)


@pytest.mark.slow
def test_ten_thousand_nodes_stay_usable(huge):
    assert huge.stat().st_size < 12e6  # of which the library is 5
    with opened(huge) as page:
        page.run(SLEEP + "scenes[0].section.scrollIntoView();" + DRAWN.format(k=0))
        assert page.run("return scenes[0].view.data[2].x.length;") == 10_000
        for frame in (0, 5, 20):
            said = at_step(page, 0, frame).split()
            step = int(said[1])
            assert float(said[4]) == pytest.approx(1 / (step + 1), rel=1e-5)
        assert page.problems == []


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
    assert page.run("return document.querySelectorAll('b, u').length") == 0
    page.dark()
    page.run(SLEEP + "await sleep(800);")
    background = page.run("return getComputedStyle(document.body).backgroundColor")
    assert background == "rgb(23, 24, 26)"
    assert page.problems == []


@pytest.mark.slow
def test_a_long_name_in_a_sentence_makes_the_page_no_wider(page):
    script = (
        "const p = document.createElement('p'); p.textContent = 'name_'.repeat(300);"
        " document.querySelector('main').append(p);"
        " const wide = document.documentElement.scrollWidth; p.remove();"
        " return wide - innerWidth;"
    )
    assert page.run(script) <= 0


def test_a_missing_browser_is_named(monkeypatch):
    from tests.browser import page as browser

    monkeypatch.setenv("PATH", str(Path("nowhere")))
    with pytest.raises(FileNotFoundError, match="apt-get install chromium"):
        browser.program()


def test_a_search_leaves_what_it_finds(report):
    with opened(report[0]) as page:
        found = page.run(
            "const f = document.getElementById('search'); f.value = 'no such name';"
            " f.dispatchEvent(new Event('input'));"
            " const none = document.querySelectorAll('.item:not([hidden])').length;"
            " f.value = 'small'; f.dispatchEvent(new Event('input'));"
            " const some = [...document.querySelectorAll('.item:not([hidden])')];"
            " const said = document.getElementById('hits').textContent;"
            " f.value = ''; f.dispatchEvent(new Event('input'));"
            " return [none, some.length,"
            " some.every((item) => item.dataset.name.includes('small')), said,"
            " document.querySelectorAll('.item[hidden]').length];"
        )
        none, some, all_named, said, hidden = found
        assert (none, all_named, hidden) == (0, True, 0)
        assert some > 0
        assert said == f"{some} found"
        assert page.problems == []


def test_a_record_that_a_search_hid_opens_by_its_link(report):
    with opened(report[0]) as page:
        shown = page.run(
            SLEEP + "const f = document.getElementById('search'); f.value = 'xyz';"
            " f.dispatchEvent(new Event('input'));"
            f" location.hash = '#run-{report[1].name}'; await sleep(300);"
            " const d = document.querySelector('details.record[open]');"
            " return [d.id, d.getBoundingClientRect().height > 0];"
        )
        assert shown == [f"run-{report[1].name}", True]
