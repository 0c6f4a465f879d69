"""A file that is edited while a job works on it is noticed; nothing wrong is kept."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from pipeline.cli.app import called
from pipeline.steps import compare_series
from pipeline.steps import simulate as simulate_step
from pipeline.workflow.study_batches import run_batch
from tests.pipeline.workflow.conftest import MEASURED, started
from tests.pipeline.workflow.test_study import plan_of

OWN = Path("own.yaml")
SERIES = ["compare_series", "--measured", "way.csv", "--synthetic"]
EDITED = "changed while it was read: run it again"


def editing(act: Callable[..., Any], path: Path) -> Callable[..., Any]:
    """Do the same, and add a line to a file before the end."""

    def acted(*given: Any, **named: Any) -> Any:
        done = act(*given, **named)
        with path.open("a") as file:
            file.write("# edited\n")
        return done

    return acted


@pytest.fixture
def own(project):
    """A structure file of the user's."""
    OWN.write_text((project / "conf" / "structure" / "four_bar.yaml").read_text())
    return project


def left(project: Path) -> list[str]:
    """What is in the folders of runs."""
    places = ("runs", "running", "failed")
    return [p.name for place in places for p in (project / "results" / place).glob("*")]


def test_measurements_that_are_edited_while_they_are_compared(
    project, monkeypatch, refused
):
    way = project / "way.csv"
    way.write_text(MEASURED)
    assert called(["simulate", "case=actuator_law", "--out", "results/simulate/a"]) == 0
    words = [*SERIES, "--simulated", "results/simulate/a", "--out", "results/way"]
    before = left(project)
    with monkeypatch.context() as context:
        edited = editing(compare_series.perform, way)
        context.setattr(compare_series, "perform", edited)
        assert f"an input of compare_series way {EDITED}" in refused(*words)
    assert left(project) == before
    way.write_text(MEASURED)
    assert called(words) == 0


def test_a_structure_that_is_edited_while_it_is_simulated(own, monkeypatch, refused):
    words = [
        "simulate",
        "case=structure_file",
        f"case.path={OWN}",
        "--out",
        "results/a",
    ]
    with monkeypatch.context() as context:
        edited = editing(simulate_step.record_steps, OWN)
        context.setattr(simulate_step, "record_steps", edited)
        assert f"{OWN} {EDITED}" in refused(*words)
    assert left(own) == []
    assert called(words) == 0
    assert len(started(own)) == 1


def test_a_structure_that_is_edited_while_a_study_runs_it(own, monkeypatch):
    study = {
        "case": "structure_file",
        "design": "grid",
        "fixed": {"case.path": f"{OWN}"},
    }
    study["vary"] = {"case.tolerance": [1e-6, 1e-7, 1e-8, 1e-9]}
    (own / "conf" / "study" / "mine.yaml").write_text(yaml.safe_dump(study))
    with monkeypatch.context() as context:
        edited = editing(simulate_step.record_steps, OWN)
        context.setattr(simulate_step, "record_steps", edited)
        assert called(["study", "mine", "--batch", "1-of-2"]) == 2
    assert left(own) == []
    plan = plan_of("mine")
    assert [run_batch(plan, batch) for batch in plan.batches] == [0, 0]
    assert {member.job.key for member in plan.members} == set(started(own))
