"""What is told of a file's origin: beside it, in it, or by its content alone."""

import json
import shutil
from pathlib import Path

import pytest
from matplotlib.figure import Figure

from pipeline.cli.app import called
from pipeline.cli.trace import find_jobs_now
from pipeline.runs.atomic_files import write_json
from pipeline.runs.run_attempts import run_once
from pipeline.runs.run_directory import Job, needed_keys
from pipeline.runs.run_keys import TRACKED, file_digest, identity
from pipeline.runs.sidecars import Origin, origin_in, origin_text, write_sidecars
from pipeline.steps.figure import save


def job(step, name, config, needs=None, paths=()):
    needs = needs or {}
    files = [file_digest(Path(path)) for path in paths]
    known = identity(step, config, upstream=needs, files=files)
    return Job(step, name, known, config, needs, tuple(paths))


def chain_of_jobs(radius):
    """A scan, a simulation, their comparison and a figure of it."""
    ingest = job("ingest", "ring", {"unit": "mm"}, paths=("ring.ply",))
    simulate = job("simulate", "circle", {"case": {"radius": radius}})
    needs = {"spheres": ingest.key, "simulated": simulate.key}
    compare = job("compare", "ring", {"k": 2.0}, needs)
    needs = {"simulated": [simulate.key], "comparisons": [compare.key]}
    return [ingest, simulate, compare, job("figure", "dejong-3", {}, needs)]


def drawn(job):
    def body(out):
        origin = Origin(tuple(needed_keys(job)), run=job.key)
        files = save(Figure(figsize=(1.0, 1.0)), out / "dejong-3", origin)
        table = out / "dejong-3-steps.csv"
        table.write_text("step,E\n0,0.5\n")
        write_sidecars([*files, table], origin)
        return {}

    return body


@pytest.fixture
def plan(project, monkeypatch):
    """What conf asks for; the figure of it has been made."""
    (project / "ring.ply").write_text("points")
    jobs = chain_of_jobs(2.0)
    for one in jobs:
        run_once(one, drawn(one) if one.step == "figure" else lambda _: {"E": 0.5})
    wanted = list(jobs)

    def asked(record):
        name = (record["step"], record["name"])
        return next((one for one in wanted if (one.step, one.name) == name), None)

    monkeypatch.setattr("pipeline.cli.trace.find_jobs_now", lambda: (asked, ""))
    return wanted


@pytest.fixture
def figure(plan):
    return Path("results/runs") / plan[-1].key / "dejong-3.pdf"


def told(capsys, file):
    assert called(["trace", str(file)]) == 0
    return capsys.readouterr().out


def test_the_chain_leads_from_a_figure_to_the_scan(plan, figure, capsys):
    write_json(Path("results/runs") / plan[1].key / TRACKED, {"run_id": "0c5d" * 8})
    said = told(capsys, figure)
    for one in plan:
        assert f"{one.step} {one.name}  run {one.key}" in said
    assert f"scan ring.ply  sha256 {file_digest(Path('ring.ply'))}" in said
    assert "configuration case.radius=2" in said
    assert "MLflow " + "0c5d" * 8 in said
    assert "numpy=" in said
    assert f"code {plan[1].identity['code'][:16]}, " in said
    assert said.endswith("up to date: nothing has changed\n")


@pytest.mark.parametrize(
    ("end", "how"),
    [
        (".pdf", "identified by the id in its metadata"),
        (".png", "identified by the id in its metadata"),
        ("-steps.csv", "its SHA-256, which a run recorded"),
    ],
)
def test_a_copy_is_known_by_its_metadata_or_its_content(
    figure, end, how, tmp_path, capsys
):
    copy = tmp_path / "elsewhere" / f"fig3{end}"
    copy.parent.mkdir()
    shutil.copy(figure.with_name(f"dejong-3{end}"), copy)
    said = told(capsys, copy)
    assert how in said
    assert "scan ring.ply" in said
    assert "nothing has changed" in said


def test_what_was_changed_since_is_named_at_its_link(plan, figure, capsys):
    plan[:] = chain_of_jobs(2.5)
    said = told(capsys, figure)
    assert "OUT OF DATE: config: case.radius was 2, is 2.5" in said
    assert "out of date: 1 of 4 runs" in said
    Path("ring.ply").write_text("other points")
    plan[:] = chain_of_jobs(2.5)
    said = told(capsys, figure)
    assert "OUT OF DATE: file: ring.ply has changed" in said
    assert "out of date: 2 of 4 runs" in said
    plan[1] = Job(
        **vars(plan[1]) | {"identity": {**plan[1].identity, "code": "f" * 64}}
    )
    said = told(capsys, figure)
    assert "OUT OF DATE: code: the modules it imports have changed" in said


def test_an_edited_run_and_an_edited_figure_are_named(plan, figure, capsys):
    run = Path("results/runs") / plan[1].key / "run.json"
    run.write_text(run.read_text().replace("0.5", "0.4"))
    figure.write_bytes(figure.read_bytes() + b"\n")
    said = told(capsys, figure)
    assert "OUT OF DATE: edited: run.json was edited" in said
    assert "OUT OF DATE: it has been edited since it was written" in said
    assert "out of date: the file itself, 2 of 4 runs" in said


def test_a_run_whose_scans_were_edited_away_is_named(plan, figure, capsys):
    run = Path("results/runs") / plan[0].key / "run.json"
    run.write_text(run.read_text().replace('"paths": [', '"paths": ["other.ply", '))
    assert "OUT OF DATE: edited: run.json was edited" in told(capsys, figure)


def test_a_run_that_is_gone_is_named_and_the_others_are_told(plan, figure, capsys):
    shutil.rmtree(Path("results/runs") / plan[0].key)
    said = told(capsys, figure)
    assert f"OUT OF DATE: results/runs/{plan[0].key} does not exist" in said
    assert f"spheres  run {plan[0].key}" in said  # what it was read as
    assert f"simulate circle  run {plan[1].key}" in said


def test_a_run_is_compared_with_what_conf_asks_for(project, capsys):
    out = Path("results/simulate/triangles_circle")
    assert called(["simulate", "case=triangles_circle", "--out", str(out)]) == 0
    assert told(capsys, out / "steps.csv").endswith("up to date: nothing has changed\n")
    case = project / "conf/case/triangles_circle.yaml"
    case.write_text(case.read_text().replace("radius: 4.2", "radius: 4.3"))
    assert "config: case.target.radius was 4.2, is 4.3" in told(
        capsys, out / "steps.csv"
    )
    (project / "conf/workflow.yaml").write_text("figures: {}")
    said = told(capsys, out / "steps.csv")
    assert "OUT OF DATE: config: conf no longer contains this run" in said


def test_conf_that_cannot_be_planned_is_said(project, figure, monkeypatch, capsys):
    monkeypatch.setattr("pipeline.cli.trace.find_jobs_now", find_jobs_now)
    (project / "conf" / "workflow.yaml").write_text("figures: 3")
    said = told(capsys, figure)
    assert "conf was not checked, since it cannot be planned: " in said
    assert "nothing has changed" in said
    (project / "conf" / "workflow.yaml").unlink()
    assert "conf" not in told(capsys, figure).splitlines()[-1]


@pytest.mark.parametrize(
    ("name", "content", "complaint"),
    [
        ("none.pdf", None, "none.pdf cannot be read"),
        ("plain.csv", "a,b\n", "no run is found for plain.csv"),
        ("bad.png", "no picture", "bad.png is not a readable PNG"),
        (
            "other.pdf",
            "%PDF-1.4 /Keywords (of others)",
            "no run is found for other.pdf",
        ),
    ],
)
def test_a_file_without_a_run_is_refused(plan, name, content, complaint, refused):
    assert plan
    if content is not None:
        Path(name).write_text(content)
    assert complaint in refused("trace", name)


@pytest.mark.parametrize("content", ["[1]", "3", "{}"])
def test_a_file_beside_a_record_that_is_none_is_refused(plan, content, refused):
    run = Path("results/runs") / plan[1].key
    (run / "run.json").write_text(content)
    (run / "beside.csv").write_text("a,b\n")
    assert "its run is repeated when it is needed" in refused(
        "trace", str(run / "beside.csv")
    )


def test_a_folder_without_results_is_refused(project, refused):
    assert "results/runs does not exist" in refused("trace", str(project / "Snakefile"))


def test_a_sidecar_that_is_none_is_refused(figure, refused):
    figure.with_name("dejong-3.trace.json").write_text(json.dumps({"keys": "all"}))
    assert "is not a sidecar of a figure" in refused("trace", str(figure))


def test_an_origin_survives_its_way_through_metadata():
    origin = Origin(("0" * 16, "1" * 16), "2" * 16, "sizes (new) é")
    assert origin_in(origin_text(origin)) == origin
    assert origin_in("a title with deadbeef in it") == Origin()


@pytest.mark.parametrize("place", ["figure", "case", "run"])
def test_every_place_of_the_report_that_has_a_key_leads_to_its_run(place, plan, capsys):
    said = told(capsys, f"results/report/index.html#{place}-{plan[1].key}")
    assert f"simulate circle  run {plan[1].key}" in said
    assert "identified by its address in the report" in said


@pytest.mark.parametrize("place", ["nothing", "run-KEY", "run-0123456789abcdef"])
def test_an_address_of_no_run_is_refused_with_one_that_leads_to_one(
    place, plan, refused
):
    assert plan
    assert f"index.html#{place} points to no run in results" in refused(
        "trace", f"index.html#{place}"
    )
