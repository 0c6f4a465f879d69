"""Studies, planned and run for real in a folder of their own."""

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import yaml

from analysis.experimental_designs import Design, Range, grid_points, sampled_points
from analysis.figures.studies import main_effects
from pipeline.cli.app import called
from pipeline.config.hydra import Composer
from pipeline.runs.study_members import Member, read_members, study_of
from pipeline.steps.study_table import (
    print_table,
    responses,
    shortfalls,
    study_rows,
)
from pipeline.steps.study_table import write_study as write_study_table
from pipeline.terminal import DONE, FAILED, InputError, RunFailedError
from pipeline.workflow import study_batches
from pipeline.workflow.plan import Plan
from pipeline.workflow.study_batches import StudyPlan, list_members, run_batch
from tests.helpers.tables import rows_of
from tests.pipeline.workflow.conftest import started

RADII: dict[str, Any] = {"case.target.radius": [1.8, 2.0, 2.2]}
STUDY = {
    "case": "triangles_cylinder",
    "design": "grid",
    "fixed": {"case.structure.rows": 1, "case.structure.columns": 1},
    "vary": RADII,
}


def write_study(project: Path, name: str = "mine", **changes: Any) -> None:
    study = {k: v for k, v in {**STUDY, **changes}.items() if v is not None}
    (project / "conf" / "study" / f"{name}.yaml").write_text(yaml.safe_dump(study))


def planned_members() -> list[Member]:
    return plan_of("mine").members


def plan_of(study: str, *words: str) -> StudyPlan:
    """A study as the workflow plans it."""
    return Plan(study=words).study(study)


def run_here(study: str, *words: str) -> None:
    """Do the jobs of a study in this process."""
    plan = plan_of(study, *words)
    list_members(plan)
    for batch in plan.batches:
        assert run_batch(plan, batch) == DONE


def table(study: str = "mine") -> pd.DataFrame:
    return study_rows(read_members(study))[0]


def attempts(project: Path) -> list[str]:
    failed = (project / "results" / "failed").glob("*")
    return sorted(path.name.rpartition(".")[2] for path in failed)


def test_a_run_that_does_not_converge_is_a_row_with_its_reason(command, project):
    write_study(
        project,
        vary={"case.max_steps": [3, 1000], "case.tolerance": [1e-6]},
        response=["E", "reason", "nonsense"],  # of which only E is a number there is
        batches=1,
    )
    run_here("mine")
    before = started(project)
    run_here("mine")
    assert (started(project), attempts(project)) == (before, ["1"])
    done = command("study", "mine", "--retry-failed")
    assert done.returncode == 0, done.stdout + done.stderr
    assert (started(project), attempts(project)) == (before, ["1", "2"])
    assert "note: 1 of 2 runs failed: NotConvergedError: E still changes" in done.stdout
    assert "mine.yaml: `response` names nonsense, reason, which no" in done.stdout
    made = rows_of(project / "results" / "study" / "mine" / "table.csv")
    rows = {row["case.max_steps"]: row for row in made}
    assert rows["1000"]["status"] == "finished"
    assert rows["3"]["status"] == "failed"
    assert "NotConvergedError" in rows["3"]["reason"]


def test_a_study_of_which_no_run_finishes_has_failed_and_its_table_stays(project):
    write_study(project, vary={"case.max_steps": [2, 3]})
    run_here("mine")
    assert len(write_study_table("mine")) == 2
    with pytest.raises(RunFailedError, match="no run of the study mine has finished"):
        print_table("mine")


def test_studies_share_runs_and_new_values_are_the_only_new_ones(project):
    write_study(project)
    run_here("mine")
    before = started(project)
    assert len(before) == 3
    wider = {"case.target.radius": [1.8, 1.9, 2.2]}
    write_study(project, "other", vary=wider)
    run_here("other")
    after = started(project)
    assert len(after) == 4
    assert before.items() <= after.items()
    assert table("other")["case.target.radius"].tolist() == [1.8, 1.9, 2.2]
    assert set(table("other")["status"]) == {"finished"}


def test_a_study_takes_overrides(project):
    write_study(project)
    plan = plan_of("mine", "vary={case.target.radius: [1.7, 2.1]}")
    radii = [m.job.config["case"]["target"]["radius"] for m in plan.members]
    assert radii == [1.7, 2.1]
    with pytest.raises(InputError, match="has no key 'sample'"):
        plan_of("mine", "sample=3")


@pytest.mark.parametrize(
    "error",
    [
        MemoryError("cannot allocate 9 GiB"),
        SystemError("error return without exception set"),
        ChildProcessError("a worker was killed"),
    ],
    ids=["memory", "python", "worker"],
)
def test_a_lack_of_memory_says_nothing_about_a_run(error, project, monkeypatch):
    write_study(project, vary={"case.target.radius": [2.0]})
    plan = plan_of("mine")

    def failing(*_: object) -> dict[str, float]:
        raise error

    with monkeypatch.context() as context:
        context.setattr(study_batches, "perform", failing)
        assert run_batch(plan, "1-of-1") == FAILED
    assert run_batch(plan, "1-of-1") == DONE
    assert len(started(project)) == 1


def test_the_plots_show_numbers_true_and_false():
    rows = pd.DataFrame(
        {"status": "finished", "a": [1, 2], "E": [0.5, 1.5], "on": [True, False]}
    )
    rows["text"] = ["x", "y"]
    asked = {"response": ["on", "E", "E", "text", "none"]}
    assert responses(asked, rows) == ["on", "E"]
    failed = pd.DataFrame({"status": ["failed"], "reason": "", "a": [3]})
    rows = pd.concat([rows, failed])
    assert responses(asked, rows) == ["on", "E"]  # where runs failed, too
    figure = main_effects(rows, ["a"], ["on", "E"], title="")
    assert figure.axes[0].get_ylim()[1] > 1.0


def test_what_response_may_name_are_results_that_are_numbers():
    rows = pd.DataFrame({"status": ["finished"], "reason": "", "a": 1, "text": "x"})
    asked = {"study": "mine", "response": ["none"], "members": [{"point": {"a": 1}}]}
    assert next(shortfalls(asked, rows)).endswith("has: the runs have no numbers")
    (said,) = shortfalls(asked, rows.assign(E=0.5, on=True))
    assert said.endswith("take one of E, on")


def test_a_refused_value_is_a_row_and_the_others_run(project):
    write_study(project, vary={"case.target.radius": [-1.0, 2.0]})
    run_here("mine")
    assert Counter(table()["status"]) == Counter(finished=1, failed=1)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"vary": {"case.target.radus": [1, 2]}}, "case.target.radus"),
        ({"vary": {"case.target.radius": []}}, "vary.case.target.radius is empty"),
        ({"vary": {}}, "nothing varies"),
        ({"vary": {"case.target.radius": {"low": 2, "high": 1}}}, "is empty"),
        ({"vary": {"case.target.radius": {"low": 1, "hgh": 2}}}, "hgh"),
        ({"vary": {"case.target.radius": {"low": 1, "high": 2}}}, "count of 2 or more"),
        ({"vary": {"case.target.radius": 3}}, "give a list of values"),
        ({"design": "gird"}, "design is 'gird': choose one of grid, list"),
        ({"design": "sobol"}, "samples must be 1 or more, not 0"),
        ({"design": "list", "vary": None}, "list, but `runs` is empty"),
        ({"case": "nothing"}, "nothing"),
        ({"case": None}, "has no case"),
        ({"vay": {}}, "no key 'vay'"),
        ({"samples": "ten"}, "samples must be a whole number, not 'ten'"),
        ({"design": "list", "runs": [2.0]}, "runs[0] must be a mapping"),
        ({"design": "list", "runs": {"a": 1}}, "runs must be a list"),
        ({"fixed": [1]}, "fixed must be a mapping"),
        ({"vary": {"case.target.radius": [-1.0, -2.0]}}, "radius"),
    ],
)
def test_a_study_that_cannot_be_is_refused_on_one_line(project, capsys, changes, said):
    write_study(project, **changes)
    assert called(["study", "mine"]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("error: ")
    assert said in line
    assert not (project / "results").exists()


def test_values_that_lead_to_the_same_run_are_run_once(project, capsys):
    write_study(project, vary={"case.target.radius": [2, 2.0, 2.1]})
    assert len(planned_members()) == 2
    assert called(["study", "mine", "--members"]) == 0
    assert "1 of 3 points repeat another run" in capsys.readouterr().out


def test_an_unreadable_run_is_a_row_and_nothing_is_lost(project):
    write_study(project)
    run_here("mine")
    broken = next((project / "results" / "runs").iterdir()) / "run.json"
    broken.write_text("{half")
    run_here("mine")
    assert len(started(project)) == 3
    assert Counter(table()["status"]) == Counter(finished=2, unreadable=1)


@pytest.mark.usefixtures("project")
def test_setting_values_equals_composing_with_overrides():
    points = [
        {"case.target.radius": 2.5, "case.structure.rows": 3},
        {"case.target.radius": 1e-3, "case.structure.rows": 4},
        {"case.max_steps": 7},  # and nothing of the points before
        {"case.structure.rows": 5},
        {},
    ]
    composer = Composer()
    case = "case=triangles_cylinder"
    quick = list(composer.variants("simulate", [case], points))
    for point, config in zip(points, quick, strict=True):
        words = [f"{k}={v!r}" for k, v in point.items()]
        assert composer.compose("simulate", [case, *words]) == config


@pytest.mark.usefixtures("project")
def test_a_value_that_is_left_open_is_missed_in_the_point_that_lacks_it():
    path = {"case.structure.path": "conf/workflow.yaml"}
    points = [{**path, "case.tolerance": 1e-8}, {**path}, {"case.tolerance": 1e-8}]
    composer = Composer()
    made = composer.variants("simulate", ["case=structure_file"], points)
    assert next(made)["case"]["tolerance"] == 1e-8
    assert next(made)["case"]["tolerance"] != 1e-8
    with pytest.raises(InputError, match="path"):
        next(made)


def test_points_are_dealt_to_few_batches_each_once(project):
    radii = {"low": 1, "high": 2, "count": 130}
    write_study(project, vary={"case.target.radius": radii})
    plan = plan_of("mine")
    assert plan.batches == ["1-of-3", "2-of-3", "3-of-3"]
    dealt = [p["case.target.radius"] for b in plan.batches for p in plan.points_of(b)]
    assert sorted(dealt) == [point["case.target.radius"] for point in plan.points]
    assert plan_of("mine", "+batches=2").batches == ["1-of-2", "2-of-2"]
    with pytest.raises(InputError, match="has no batch 4-of-3: choose 1-of-3 to 3-of-"):
        plan.points_of("4-of-3")
    write_study(project, vary={"case.target.radius": [2.0]})
    assert plan_of("mine").batches == ["1-of-1"]


def test_ten_thousand_runs_are_two_hundred_jobs_and_none_is_composed(
    project, monkeypatch
):
    radii = {"case.target.radius": {"low": 1.5, "high": 4.0}}
    write_study(project, design="random", samples=10_000, vary=radii)
    plan = plan_of("mine")
    monkeypatch.setattr(Composer, "variants", None)
    assert len(plan.files()) == 1 + 200
    assert len({plan.planned(batch) for batch in plan.batches}) == 200


def test_a_batch_changes_with_its_points_and_no_others(project):
    write_study(project)
    before = {batch: plan_of("mine").planned(batch) for batch in ("1-of-2", "2-of-2")}
    write_study(project, vary={"case.target.radius": [1.8, 2.0, 2.3]})
    after = {batch: plan_of("mine").planned(batch) for batch in before}
    assert [before[b] == after[b] for b in before] == [False, True]


def test_what_comes_out_of_an_edited_file_is_planned_again(project):
    files = sorted(map(str, (project / "conf" / "structure").glob("*.yaml")))[:2]
    write_study(project, case="structure_file", fixed=None, vary={"case.path": files})
    plan = plan_of("mine")
    assert plan.inputs() == files
    assert plan.inputs("2-of-2") == files[1:]
    before = [plan.planned(batch) for batch in plan.batches]
    Path(files[0]).write_text(Path(files[0]).read_text() + "name: mine\n")
    after = [plan_of("mine").planned(batch) for batch in plan.batches]
    assert [a == b for a, b in zip(before, after, strict=True)] == [False, True]


def test_a_file_that_every_run_reads_is_an_input_of_all(project):
    (file,) = sorted(map(str, (project / "conf" / "structure").glob("four_bar.yaml")))
    fixed = {"case.path": file}
    vary = {"case.tolerance": [1e-6, 1e-7]}
    write_study(project, case="structure_file", fixed=fixed, vary=vary)
    plan = plan_of("mine")
    assert plan.inputs() == plan.inputs("1-of-2") == [file]


def test_a_grid_is_every_combination():
    points = grid_points({"a": [1, 2], "b": Range(0.0, 1.0, count=3)})
    assert [(p["a"], p["b"]) for p in points] == [
        (1, 0.0), (1, 0.5), (1, 1.0), (2, 0.0), (2, 0.5), (2, 1.0)
    ]  # fmt: skip


@pytest.mark.parametrize(
    "design", [Design.RANDOM, Design.LATIN_HYPERCUBE, Design.SOBOL]
)
def test_samples_lie_in_their_ranges_and_follow_the_seed(design):
    vary = {
        "x": Range(1e-3, 1e3, log=True),
        "n": Range(2, 9, integer=True),
        "c": ["a", "b"],
    }
    points = sampled_points(design, vary, 64, seed=3)
    assert len(points) == 64
    assert all(1e-3 <= p["x"] <= 1e3 and 2 <= p["n"] <= 9 for p in points)
    assert {type(p["n"]) for p in points} == {int}
    assert {p["c"] for p in points} == {"a", "b"}
    middle = np.median([np.log10(p["x"]) for p in points])
    assert abs(middle) < 1.0
    assert points == sampled_points(design, vary, 64, seed=3)
    assert points != sampled_points(design, vary, 64, seed=4)


@pytest.mark.parametrize("design", [Design.LATIN_HYPERCUBE, Design.SOBOL])
def test_each_half_of_a_range_gets_half_of_a_stratified_sample(design):
    points = sampled_points(design, {"x": Range(0.0, 1.0)}, 32, seed=0)
    assert sum(p["x"] < 0.5 for p in points) == 16


def test_more_samples_of_a_sobol_sequence_keep_the_first_ones():
    vary = {"x": Range(0.0, 1.0), "y": Range(0.0, 1.0)}
    few = sampled_points(Design.SOBOL, vary, 10, seed=0)
    assert sampled_points(Design.SOBOL, vary, 40, seed=0)[:10] == few


@pytest.mark.parametrize("case", ["structure_file", "rod_file"])
def test_files_may_vary_by_the_name_that_a_command_takes(case, project):
    source = {"structure_file": "structure", "rod_file": "robot"}[case]
    files = [str(p) for p in sorted((project / "conf" / source).glob("*.yaml"))[:2]]
    write_study(project, case=case, fixed=None, vary={"case.path": files})
    found = planned_members()
    assert [m.label for m in found] == [f"path={file}" for file in files]
    assert len({m.job.key for m in found}) == 2
    Path(files[0]).write_text(Path(files[0]).read_text() + "name: mine\n")
    assert planned_members()[0].job.key != found[0].job.key


@pytest.mark.parametrize(
    ("values", "said"),
    [
        (
            {"design": "grid", "vary": {"a": {"low": 1, "high": 2, "count": 10**8}}},
            "the study has 100,",
        ),
        (
            {"design": "random", "samples": 10**9, "vary": {"a": [1, 2]}},
            "the study has 1",
        ),
        (
            {"design": "grid", "vary": {"a": {"low": 1, "high": 1e400}}},
            "must be finite",
        ),
    ],
)
def test_a_study_of_more_runs_than_anybody_makes_is_refused(values, said):
    with pytest.raises(InputError, match=said):
        study_of("a", {"case": "actuator_law", **values}).points()
