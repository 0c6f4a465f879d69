"""Studies in the report: how far they are, what they found, what is wrong with them."""

import json

import pytest

from pipeline.report.index import collect_studies
from pipeline.runs.atomic_files import write_json
from pipeline.runs.run_attempts import run_once
from pipeline.runs.run_directory import Job
from pipeline.runs.run_keys import identity
from pipeline.terminal import RunFailedError

TAGS = {"study": "sizes"}


def member(radius):
    config = {"case": {"radius": radius}}
    return Job("simulate", "circle", identity("simulate", config), config, tags=TAGS)


@pytest.fixture
def results(tmp_path):
    """A study of four: two finished, one failed, one that has not run."""
    place = tmp_path / "results"
    jobs = [member(radius) for radius in (1.0, 2.0, 3.0, 4.0)]
    for job in jobs[:2]:
        radius = job.config["case"]["radius"]
        run_once(job, lambda _, S=radius / 10: {"S": S, "stop": "change"}, place)

    def fail(_):
        raise RuntimeError("does <not> converge")

    with pytest.raises(RunFailedError):
        run_once(jobs[2], fail, place)
    members = [
        {"key": j.key, "point": {"case.radius": j.config["case"]["radius"]}}
        for j in jobs
    ]
    value = {"study": "sizes", "case": "circle", "response": ["S"], "members": members}
    write_json(place / "study" / "sizes" / "members.json", value)
    return place


def test_a_half_finished_study_says_how_far_it_is(results):
    (study,) = collect_studies(results)
    assert study["wanted"] == 4
    assert study["half"] == 2
    assert dict(study["counts"]) == {"finished": 2, "failed": 1, "missing": 1}
    assert study["reasons"] == [("RuntimeError: does <not> converge", 1)]


def test_its_finished_runs_are_sent_with_their_values_and_keys(results):
    (study,) = collect_studies(results)
    sweep = json.loads(study["sweep"])
    assert sweep["columns"]["case.radius"] == [1.0, 2.0]
    assert sweep["columns"]["S"] == [0.1, 0.2]
    assert sweep["keys"] == [member(1.0).key, member(2.0).key]
    assert sweep["factors"] == ["case.radius"]
    assert sweep["responses"] == ["S"]


def test_a_study_without_a_finished_run_has_no_plot(results):
    path = results / "study" / "sizes" / "members.json"
    value = json.loads(path.read_text())
    value["members"] = value["members"][2:]
    write_json(path, value)
    (study,) = collect_studies(results)
    assert study["sweep"] == ""
    assert study["half"] == 2


@pytest.mark.parametrize("content", ["{half", "[]", '{"members": 3}'])
def test_a_list_of_runs_that_is_none_costs_its_study_alone(results, content):
    other = results / "study" / "other"
    other.mkdir()
    (other / "members.json").write_text(content)
    troubled, sound = collect_studies(results)
    assert troubled["trouble"]
    assert troubled["name"] == "other"
    assert sound["wanted"] == 4
