"""Studies, planned and run for real in a folder of their own."""

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import yaml

from analysis.designs.sampling import Design, Range, grid_points, sampled_points
from analysis.figures.studies import main_effects
from pipeline.commands.study import main
from pipeline.commands.study_table import main as tabulated
from pipeline.config.hydra import Composer
from pipeline.studies.file import read_study, study_of
from pipeline.studies.members import Member, batches, members
from pipeline.studies.table import responses, shortfalls
from pipeline.terminal.errors import InputError
from pipeline.workflow.study import planned_runs
from tests.helpers.mlflow_runs import runs_in
from tests.helpers.tables import rows_of
from tests.pipeline.conftest import Command, refusal

RADII: dict[str, Any] = {"case.target.radius": [1.8, 2.0, 2.2]}
STUDY = {"case": "triangles_cylinder", "design": "grid", "vary": RADII}


def write_study(project: Path, **changes: Any) -> None:
    study = {k: v for k, v in {**STUDY, **changes}.items() if v is not None}
    (project / "conf" / "study" / "mine.yaml").write_text(yaml.safe_dump(study))


def planned_members() -> list[Member]:
    with Composer() as composer:
        return members(read_study("mine"), composer)


def table(project: Path) -> list[dict[str, str]]:
    path = project / "results" / "study" / "mine" / "table.csv"
    return rows_of(path)


def digests(project: Path) -> dict[str, bytes]:
    """Every file of the study, to the byte."""
    folder = project / "results" / "study" / "mine"
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def finished_at(project: Path) -> dict[str, int]:
    runs = (project / "results" / "runs").glob("*/run.json")
    return {p.parent.name: p.stat().st_mtime_ns for p in runs}


@pytest.mark.slow
def test_adding_values_runs_only_the_new_ones(command: Command, project: Path) -> None:
    write_study(project)
    first = command("study", "mine")
    assert first.returncode == 0, first.stdout + first.stderr
    before = finished_at(project)
    assert len(before) == 3
    write_study(project, vary={"case.target.radius": [1.8, 1.9, 2.0, 2.2]})
    second = command("study", "mine")
    assert "4 runs, 1 to do" in second.stdout
    after = finished_at(project)
    assert len(after) == 4
    assert before.items() <= after.items()
    assert [float(row["case.target.radius"]) for row in table(project)] == [
        1.8, 1.9, 2.0, 2.2
    ]  # fmt: skip
    assert tracked(project) == Counter(child=4, parent=1)


def tracked(project: Path) -> Counter[str]:
    """How many runs MLflow holds below the study's parent, and how many parents."""
    runs = runs_in(project)
    assert {run.info.status for run in runs} == {"FINISHED"}
    parents = {r.info.run_id for r in runs if r.data.tags["step"] == "study"}
    children = [r for r in runs if r.info.run_id not in parents]
    assert {r.data.tags["mlflow.parentRunId"] for r in children} == parents
    return Counter(child=len(children), parent=len(parents))


def test_a_run_that_does_not_converge_is_a_row_with_its_reason(
    command: Command, project: Path
) -> None:
    write_study(
        project,
        vary={"case.max_steps": [3, 1000], "case.tolerance": [1e-6]},
        response=["E", "reason", "nonsense"],  # of which only E is a number there is
    )
    done = command("study", "mine")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "note: 1 of 2 runs failed: NotConvergedError: E still changes" in done.stdout
    assert "mine.yaml: no run found a number nonsense, reason, which" in done.stdout
    rows = {row["case.max_steps"]: row for row in table(project)}
    assert rows["1000"]["status"] == "finished"
    assert rows["3"]["status"] == "failed"
    assert "NotConvergedError" in rows["3"]["reason"]
    files = digests(project)
    again = command("study", "mine")
    assert "2 runs, 0 to do" in again.stdout
    assert digests(project) == files
    retried = command("study", "mine", "--retry-failed")
    assert "2 runs, 1 to do" in retried.stdout
    attempts = [p.name for p in (project / "results" / "failed").iterdir()]
    assert sorted(name.rpartition(".")[2] for name in attempts) == ["1", "2"]


def test_a_study_of_which_no_run_finishes_ends_with_1(
    command: Command, project: Path
) -> None:
    write_study(project, vary={"case.max_steps": [2, 3]})
    done = command("study", "mine")
    assert done.returncode == 1
    assert "no run of the study mine has finished: change its values" in done.stderr
    assert len(table(project)) == 2


@pytest.mark.usefixtures("project")
def test_a_study_whose_runs_are_missing_is_not_called_one_to_change(
    capsys: pytest.CaptureFixture[str],
) -> None:
    write_study(Path())
    planned_runs(read_study("mine"))
    assert tabulated(["mine"]) == 1
    said = capsys.readouterr().err
    assert "has finished: morphtrack study mine runs what is missing" in said


def test_the_plots_show_numbers_true_and_false() -> None:
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


def test_what_response_may_name_are_results_that_are_numbers() -> None:
    rows = pd.DataFrame({"status": ["finished"], "reason": "", "a": 1, "text": "x"})
    asked = {"study": "mine", "response": ["none"], "members": [{"point": {"a": 1}}]}
    assert next(shortfalls(asked, rows)).endswith("names: its runs find none")
    (said,) = shortfalls(asked, rows.assign(E=0.5, on=True))
    assert said.endswith("take one of E, on")


@pytest.mark.slow
def test_a_refused_value_is_a_row_and_the_others_run(
    command: Command, project: Path
) -> None:
    write_study(project, vary={"case.target.radius": [-1.0, 2.0]})
    done = command("study", "mine")
    assert done.returncode == 0, done.stdout + done.stderr
    assert Counter(row["status"] for row in table(project)) == Counter(
        finished=1, failed=1
    )


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
        ({"design": "list", "vary": None}, "a list has no runs"),
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
def test_a_study_that_cannot_be_is_refused_on_one_line(
    project: Path,
    capsys: pytest.CaptureFixture[str],
    changes: dict[str, Any],
    said: str,
) -> None:
    write_study(project, **changes)
    assert main(["mine"]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("error: ")
    assert said in line
    assert not (project / "results").exists()


def test_an_unknown_study_is_refused_with_the_known_ones(command: Command) -> None:
    assert "choose one of" in refusal(command("study", "nope"))


def test_an_unknown_profile_is_refused_with_the_known_ones(
    command: Command, project: Path
) -> None:
    nowhere = ["--profile", "conf/profile/nope"]
    for words in (["study", "sheet_size"], ["make"]):
        said = refusal(command(*words, *nowhere))
        assert "conf/profile/nope has no config.yaml: there are local, slurm" in said
    assert not (project / "results").exists()


def test_values_that_lead_to_the_same_run_are_run_once(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_study(project, vary={"case.target.radius": [2, 2.0, 2.1]})
    assert len(planned_members()) == 2
    assert "1 of 3 points are runs that others are" in capsys.readouterr().out


@pytest.mark.slow
def test_an_unreadable_run_is_a_row_and_nothing_is_lost(
    command: Command, project: Path
) -> None:
    write_study(project)
    command("study", "mine")
    broken = next((project / "results" / "runs").iterdir()) / "run.json"
    broken.write_text("{half")
    done = command("study", "mine")
    assert len(finished_at(project)) == 3
    statuses = Counter(row["status"] for row in table(project))
    assert statuses == Counter(finished=2, unreadable=1)
    assert "Traceback" not in done.stderr


@pytest.mark.usefixtures("project")
def test_setting_values_equals_composing_with_overrides() -> None:
    points = [
        {"case.target.radius": 2.5, "case.structure.rows": 3},
        {"case.target.radius": 1e-3, "case.structure.rows": 4},
        {"case.max_steps": 7},  # and nothing of the points before
        {"case.structure.rows": 5},
        {},
    ]
    with Composer() as composer:
        case = "case=triangles_cylinder"
        quick = list(composer.variants("simulate", [case], points))
        for point, config in zip(points, quick, strict=True):
            words = [f"{k}={v!r}" for k, v in point.items()]
            assert composer.compose("simulate", [case, *words]) == config


@pytest.mark.usefixtures("project")
def test_a_value_that_is_left_open_is_missed_in_the_point_that_lacks_it() -> None:
    path = {"case.structure.path": "conf/workflow.yaml"}
    points = [{**path, "case.tolerance": 1e-8}, {**path}, {"case.tolerance": 1e-8}]
    with Composer() as composer:
        made = composer.variants("simulate", ["case=structure_file"], points)
        assert next(made)["case"]["tolerance"] == 1e-8
        assert next(made)["case"]["tolerance"] != 1e-8
        with pytest.raises(InputError, match="path"):
            next(made)


def test_jobs_are_dealt_to_few_batches_each_once(project: Path) -> None:
    write_study(
        project, vary={"case.target.radius": {"low": 1, "high": 2, "count": 130}}
    )
    jobs = [m.job for m in planned_members()]
    dealt = batches(jobs, most=200)
    assert len(dealt) == 3
    keys = [job.key for batch in dealt for job in batch.jobs]
    assert sorted(keys) == sorted(job.key for job in jobs)
    assert len(batches(jobs, most=2)) == 2
    assert len(batches(jobs[:1], most=200)) == 1


def test_a_grid_is_every_combination() -> None:
    points = grid_points({"a": [1, 2], "b": Range(0.0, 1.0, count=3)})
    assert [(p["a"], p["b"]) for p in points] == [
        (1, 0.0), (1, 0.5), (1, 1.0), (2, 0.0), (2, 0.5), (2, 1.0)
    ]  # fmt: skip


@pytest.mark.parametrize(
    "design", [Design.RANDOM, Design.LATIN_HYPERCUBE, Design.SOBOL]
)
def test_samples_lie_in_their_ranges_and_follow_the_seed(design: Design) -> None:
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
def test_each_half_of_a_range_gets_half_of_a_stratified_sample(design: Design) -> None:
    points = sampled_points(design, {"x": Range(0.0, 1.0)}, 32, seed=0)
    assert sum(p["x"] < 0.5 for p in points) == 16


def test_more_samples_of_a_sobol_sequence_keep_the_first_ones() -> None:
    vary = {"x": Range(0.0, 1.0), "y": Range(0.0, 1.0)}
    few = sampled_points(Design.SOBOL, vary, 10, seed=0)
    assert sampled_points(Design.SOBOL, vary, 40, seed=0)[:10] == few


@pytest.mark.usefixtures("project")
def test_a_study_s_name_leads_nowhere_else() -> None:
    with pytest.raises(InputError, match="choose one of"):
        read_study("../case/triangles_circle")


@pytest.mark.parametrize("case", ["structure_file", "rod_file"])
def test_files_may_vary_by_the_name_that_a_command_takes(
    case: str, project: Path
) -> None:
    source = {"structure_file": "structure", "rod_file": "robot"}[case]
    files = [str(p) for p in sorted((project / "conf" / source).glob("*.yaml"))[:2]]
    write_study(project, case=case, vary={"case.path": files})
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
            "it asks for 100,",
        ),
        (
            {"design": "random", "samples": 10**9, "vary": {"a": [1, 2]}},
            "it asks for 1",
        ),
        ({"design": "grid", "vary": {"a": {"low": 1, "high": 1e400}}}, "has no end"),
    ],
)
def test_a_study_of_more_runs_than_anybody_makes_is_refused(
    values: dict[str, Any], said: str
) -> None:
    with pytest.raises(InputError, match=said):
        study_of("a", {"case": "actuator_law", **values}).points()
