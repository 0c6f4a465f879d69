import base64
import json
import math
import re
import shutil
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest

from pipeline.cli import make_and_summarise
from pipeline.config.config_files import first_remark
from pipeline.figures.read_runs import Row
from pipeline.report.collected_runs import collect_own
from pipeline.report.index import collect_comparisons, write_report
from pipeline.report.scene import as_script
from pipeline.runs.run_directory import Job, keep_own
from pipeline.steps.compare import run_step as compare
from pipeline.steps.figure import run_step as draw
from pipeline.steps.settings import ComparisonSettings, FigureConfig
from pipeline.terminal import RunFailedError, natural
from tests.analysis.mechanisms import random_mechanism, scanned
from tests.pipeline.comparison_files import SCALE_MM, write_ingest, write_run
from tests.pipeline.conftest import ROOT
from tests.pipeline.named_runs import Asked, reported, run_named

HOSTILE = "<script>alert('x')</script>"
UPSTREAM = {
    ("simulate", "circle"): [],
    ("ingest", HOSTILE): [],
    ("ingest", "broken"): [],
    ("compare", HOSTILE): [("ingest", HOSTILE), ("simulate", "circle")],
    ("compare", "lost"): [("ingest", "broken"), ("simulate", "circle")],
    ("figure", "dejong-3"): [("compare", HOSTILE)],
}
ASKED = Asked(UPSTREAM, expect="agrees")


def collect_jobs(results):
    """The jobs as morphtrack report collects them."""
    return make_and_summarise.collect(ASKED, results)


def job(step, name, needs=None, **tags):
    known = {"step": step, "name": name, "config": {}}
    return Job(step, name, known, {}, needs or {}, (), tags)


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    """A simulation, an ingest, a comparison and a figure finished, one ingest failed,
    and what needs it is missing."""
    place = tmp_path_factory.mktemp("study") / "results"
    rng = np.random.default_rng(0)
    mechanism, other = random_mechanism(12, rng)
    simulate = job("simulate", "circle")
    ingest = job("ingest", HOSTILE, synthetic="true")
    failed = job("ingest", "broken")
    needs = {"spheres": ingest.key, "simulated": simulate.key}
    good = job("compare", HOSTILE, needs)
    figure = job("figure", "dejong-3", {"comparisons": [good.key]})

    run = run_named(
        simulate, lambda out: {"at": str(write_run(out, mechanism, other))}, place
    )
    scan = scanned(mechanism.nodes_mm, rng)
    spheres = run_named(ingest, lambda out: {"at": str(write_ingest(out, scan))}, place)
    compared = run_named(
        good,
        lambda out: compare(ComparisonSettings(SCALE_MM), spheres, run, out),
        place,
    )
    config = FigureConfig("dejong-3", ("circle",))
    rows = [Row("circle", run, compared, spheres)]
    run_named(figure, lambda out: draw(config, rows, out), place)

    def fail(out):
        raise RuntimeError(f"no sphere of radius 6 mm was found for {out.name}")

    with pytest.raises(RunFailedError):
        run_named(failed, fail, place)
    (run / "structure.json").touch()  # a touch is no edit
    return place


class Page(HTMLParser):
    """What a reader sees, and what a browser would fetch."""

    def __init__(self, text):
        super().__init__()
        self.words, self.fetched, self.scripts = [], [], 0
        self.links, self.places = {}, set()
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.scripts += tag == "script"
        given = dict(attrs)
        self.places.add(given.get("id"))
        if given.get("href", "").startswith("#"):
            self.links[given["href"]] = given["href"][1:]
        if tag in {"img", "script", "link", "iframe"}:
            self.fetched += [v for k, v in given.items() if k in {"src", "href"}]

    def handle_data(self, data):
        self.words.append(data.strip())

    @property
    def text(self):
        return re.sub(r"\s+", " ", " ".join(self.words))


@pytest.fixture(scope="module")
def page(results):
    return shown(results)


@pytest.fixture
def sent(results, page):
    assert page.scripts
    text = (results / "report" / "index.html").read_text()
    found = re.search(r'<script type="application/json">(.*?)</script>', text)
    return json.loads(found.group(1))


def unpacked(box):
    levels = np.frombuffer(base64.b64decode(box["data"]), "<u2").reshape(-1, 3)
    return np.array(box["low"]) + box["side"] / 65535 * levels


def test_the_scene_holds_the_steps_of_the_run(results, sent):
    directory = next(
        j["directory"] for j in collect_jobs(results) if j["step"] == "simulate"
    )
    r = np.load(directory / "steps.npz")["r"]
    np.testing.assert_allclose(
        unpacked(sent["steps"]).reshape(r.shape), r, atol=np.ptp(r) / 30_000
    )
    steps = pd.read_csv(directory / "steps.csv")
    assert sent["columns"]["E"] == steps["E"].tolist()
    assert sent["shown"] == ["E", "S"]


def test_the_scan_lies_on_the_last_step(sent):
    seen = unpacked(sent["scan"]["spheres"])
    last = unpacked(sent["steps"])[-sent["nodes"] :][sent["scan"]["node"]]
    assert np.linalg.norm(seen - last, axis=1).max() * SCALE_MM < 0.3


def test_a_verdict_leads_to_its_evidence(page):
    for text in ("scan: spheres", "solver: configuration and record"):
        assert text in page.text
    for key, target in page.links.items():
        assert target in page.places, key


def test_the_page_shows_verdict_and_both_shape_factors(results, page):
    (row,) = collect_comparisons(collect_jobs(results))
    assert row["verdict"] in page.text
    assert f"{row['S_simulated']:.5f}" in page.text
    assert f"{row['S_scanned']:.5f} ± {row['S_scanned_u']:.5f}" in page.text
    assert "as expected" in page.text
    assert "joint play" in page.text  # the budget


def test_the_page_names_what_failed_and_what_is_missing_with_the_reason(page):
    assert "no sphere of radius 6 mm was found" in page.text
    assert "it needs ingest broken, which is failed" in page.text


def test_verdicts_stand_between_what_failed_and_what_is_not_made(page):
    failed = page.text.index("1 failed")
    verdicts = page.text.index("Simulation and scan")
    assert failed < verdicts < page.text.index("Runs not made")
    assert {"failed", "verdicts", "missing"} <= page.places


def test_every_run_is_named_by_its_key(results, page):
    for one in collect_jobs(results):
        assert one["key"] in page.text


def test_the_page_fetches_nothing(page):
    assert page.fetched
    assert all(address.startswith("data:") for address in page.fetched)


def test_names_from_files_are_escaped(page):
    assert HOSTILE in page.text
    assert page.scripts == 5  # a scene, the library, our three; none of a name


def many(results, count, study=""):
    """As many simulations, all read by one figure."""
    jobs = collect_jobs(results)
    run = next(j for j in jobs if j["step"] == "simulate")
    figure = next(j for j in jobs if j["step"] == "figure")
    runs = [
        {**run, "key": f"{i:08x}{len(study):08x}", "name": f"run {i}", "study": study,
         "needs": [], "roles": {}}
        for i in range(count)
    ]  # fmt: skip
    needs = [run["key"] for run in runs]
    several = {**figure, "needs": needs, "roles": {"simulated": needs}}
    return [*(j for j in jobs if j is not figure), several], runs


def test_hundreds_of_runs_are_told_without_a_dead_link(results, tmp_path):
    jobs, runs = many(results, 400)
    page = Page(write_report([*jobs, *runs], [], tmp_path).read_text())
    assert set(page.links.values()) <= page.places
    assert {f"run-{run['key']}" for run in runs} <= page.places
    assert f"and {400 - 24} more" in page.text
    drawn = sum(f"case-{run['key']}" in page.places for run in runs)
    assert 60 <= drawn < 400
    assert f"{400 - drawn} more cases are not shown here" in page.text


def test_runs_are_told_by_names_and_never_by_a_key_alone(results, tmp_path):
    """Those of a study by the values that tell them apart."""
    rows = [{"key": "e" * 16, "point": {"case.target.radius": 2.5}}]
    members = tmp_path / "study" / "sizes" / "members.json"
    members.parent.mkdir(parents=True)
    members.write_text(json.dumps({"case": "sheet", "members": rows}))
    sized = make_and_summarise.collect_jobs(
        [("study", "sizes")], ASKED.upstream, tmp_path
    )
    found = write_report(sized, [], tmp_path).read_text()
    link = f'<a href="#run-{"e" * 16}">sheet radius=2.5</a>'
    assert found.count(link) == 2  # of what is missing, and of all runs
    jobs = collect_jobs(results)
    found += write_report(jobs, collect_comparisons(jobs), tmp_path).read_text()
    links = re.findall("<a .*?</a>", found, re.DOTALL)
    said = [re.sub("<[^>]*>", "", link).strip() for link in links]
    assert "circle" in said
    assert not [one for one in said if re.fullmatch("(run )?[0-9a-f]{16}", one)]


def test_a_study_of_thousands_says_what_is_not_told(results, tmp_path):
    jobs, runs = many(results, 3000, "large")
    page = Page(write_report([*jobs, *reversed(runs)], [], tmp_path).read_text())
    assert set(page.links.values()) <= page.places
    told = sum(f"run-{run['key']}" in page.places for run in runs)
    assert 24 <= told < 3000
    assert f"{3000 - told} runs of large studies are not listed one by one" in page.text


def test_runs_by_hand_have_their_own_section(results, tmp_path):
    place = copied(results, tmp_path)
    run = next(j for j in collect_jobs(place) if j["step"] == "simulate")
    assert collect_own(collect_jobs(place), place) == []
    other = place / "runs" / ("e" * 16)
    shutil.copytree(run["directory"], other)
    keep_own("circle,radius=2.3", other, place)
    page = shown(place)
    assert "1 run outside the workflow" in page.text
    assert {"own", f"case-{'e' * 16}", f"run-{'e' * 16}"} <= page.places
    assert "circle,radius=2.3 record" in page.text
    for step in {step for step, _ in UPSTREAM}:
        shutil.rmtree(place / step, ignore_errors=True)
    alone = shown(place)
    assert re.search(
        r"0 of 6 runs finished[^.]*; 1 run outside the workflow", alone.text
    )
    assert set(alone.links.values()) <= alone.places


def test_figures_and_cases_say_what_they_show(page):
    assert "Shapes simulated beside the same shapes scanned" in page.text
    assert ", after Fig. 3 of [dJ23]. Blue circles and lines" in page.text
    assert first_remark(ROOT / "conf/case/triangles_circle.yaml").startswith("[dJ23]")
    assert first_remark(ROOT / "conf/case/nothing.yaml") == ""


def test_synthetic_scans_are_marked(page):
    assert "synthetic scan" in page.text


def test_a_verdict_that_was_not_expected_stands_out(results, tmp_path):
    jobs = collect_jobs(results)
    rows = [{**row, "expect": "differs"} for row in collect_comparisons(jobs)]
    page = Page(write_report(jobs, rows, tmp_path).read_text())
    assert "expected: differs" in page.text


def test_a_lost_file_costs_its_view_and_not_the_page(results, tmp_path):
    jobs = collect_jobs(results)
    rows = collect_comparisons(jobs)
    run = next(j for j in jobs if j["step"] == "simulate")
    damaged = tmp_path / "run"
    shutil.copytree(run["directory"], damaged)
    (damaged / "steps.npz").write_bytes(b"edited")
    spoilt = [{**j, "directory": damaged} if j is run else j for j in jobs]
    page = Page(write_report(spoilt, rows, tmp_path / "report").read_text())
    assert f"No view in three dimensions: InputError: {damaged}/steps.npz" in page.text
    assert rows[0]["verdict"] in page.text


def copied(results, tmp_path):
    """The same results in a folder that a test may change."""
    place = tmp_path / "results"
    shutil.copytree(results, place)
    return place


def shown(place):
    """What morphtrack report writes."""
    return Page(reported(ASKED, place).read_text())


def test_an_edited_run_is_named_with_what_was_edited(results, tmp_path):
    place = copied(results, tmp_path)
    compare = next(j for j in collect_jobs(place) if j["step"] == "compare")
    table = compare["directory"] / "comparison.csv"
    table.write_text(table.read_text().replace("agrees", "differs"))
    page = shown(place)
    assert "1 edited after the run" in page.text
    assert "comparison.csv was edited" in page.text
    assert "edited since it ran" in page.text


def test_an_edited_table_that_is_none_costs_its_comparison_alone(results, tmp_path):
    place = copied(results, tmp_path)
    compare = next(j for j in collect_jobs(place) if j["step"] == "compare")
    (compare["directory"] / "budget.csv").write_text("")
    page = shown(place)
    assert "budget.csv was edited" in page.text
    assert "No comparison has finished." in page.text
    assert any(address.startswith("data:image/png") for address in page.fetched)


def test_a_figure_without_its_picture_says_so(results, tmp_path):
    place = copied(results, tmp_path)
    figure = next(j for j in collect_jobs(place) if j["step"] == "figure")
    for name in ("dejong-3.png", "dejong-3-small.png"):
        (figure["directory"] / name).unlink()
    page = shown(place)
    assert "No picture: " in page.text
    assert "is missing: remove" in page.text
    assert "dejong-3.png is missing" in page.text


def test_figures_that_are_not_made_are_one_line(results, tmp_path):
    place = copied(results, tmp_path)
    shutil.rmtree(place / "figure" / "dejong-3")
    page = shown(place)
    assert "1 more figure: run `make figures`." in page.text
    assert "No picture: " not in page.text


def test_figures_come_in_the_order_of_the_papers(results, tmp_path):
    jobs = collect_jobs(results)
    figure = next(j for j in jobs if j["step"] == "figure")
    names = ["huang-2c", "dejong-10", "mine", "zhu-filipov-5", "huang-2", "dejong-2"]
    several = [{**figure, "name": n, "key": f"{i:016x}"} for i, n in enumerate(names)]
    page = Page(write_report([*jobs, *several], [], tmp_path).read_text())
    order = ["dejong-2", "dejong-3", "dejong-10", "zhu-filipov-5", "huang-2",
             "huang-2c", "mine"]  # fmt: skip
    assert " ".join(order) in page.text
    assert sorted(["a10b", "a9", "a10"], key=natural) == ["a9", "a10", "a10b"]


def test_a_scan_from_outside_is_told_with_its_digest(results, tmp_path):
    jobs = [
        {**j, "paths": ["scans/ring one.ply"], "files": ["ab" * 32]}
        if j["step"] == "ingest" else j
        for j in collect_jobs(results)
    ]  # fmt: skip
    text = write_report(jobs, [], tmp_path / "report").read_text()
    assert "SHA-256 <code>" + "ab" * 32 in text
    assert "scans/ring%20one.ply" in text


def test_points_beside_the_target_carry_their_deviation(results, tmp_path):
    jobs = collect_jobs(results)
    rows = collect_comparisons(jobs)
    placed = tmp_path / "placed"
    placed.mkdir()
    gap = np.linspace(-0.4, 0.2, 500)
    points = np.random.default_rng(0).normal(0.0, 30.0, (500, 3))
    np.savez(placed / "deviation.npz", points_mm=points, deviation_mm=gap)
    deviation = {**jobs[0], "step": "deviation", "key": "d" * 16, "directory": placed}
    jobs = [
        {**j, "roles": {**j["roles"], "deviation": ["d" * 16]}}
        if j["step"] == "compare" else j
        for j in [*jobs, deviation]
    ]  # fmt: skip
    text = write_report(jobs, rows, tmp_path / "report").read_text()
    found = re.search(r'<script type="application/json">(.*?)</script>', text)
    sent = json.loads(found.group(1))["scan"]["deviation"]
    levels = np.frombuffer(base64.b64decode(sent["mm"]["data"]), "<u2")
    told = sent["mm"]["low"] + sent["mm"]["side"] / 65535 * levels
    np.testing.assert_allclose(told, gap, atol=1e-5)
    assert sent["most_mm"] == pytest.approx(np.percentile(np.abs(gap), 95))
    assert len(unpacked(sent["points"])) == 500


def test_before_anything_is_made_all_is_missing(tmp_path):
    page = shown(tmp_path)
    assert "0 of 6 runs finished" in page.text
    assert page.text.count("it has not run: run `make figures`") >= 3
    assert "it needs ingest broken, which is missing" in page.text


def test_numbers_that_are_not_finite_are_null_in_the_page():
    value = {"distance": [1.5, math.inf, math.nan], "name": "<b>"}
    text = as_script(value)
    assert json.loads(text) == {"distance": [1.5, None, None], "name": "<b>"}
    assert "<" not in text
