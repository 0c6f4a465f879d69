"""What a change of configuration replans: that run and what is made from it."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from pipeline.errors import InputError, RunFailedError
from pipeline.hydra_command import Composer
from pipeline.keys import identity, key_of
from pipeline.plan import make_plan
from pipeline.plan_file import read_batch
from pipeline.run import perform_batch, perform_planned
from pipeline.simulate import case_names, planned
from pipeline.studies.members import read_members
from pipeline.workflow_file import read_workflow

OPEN = {  # what is left to the user
    "structure_file": ["case.structure.path=pyproject.toml"],
    "fold_file": ["case.pattern.path=pyproject.toml"],
    "loaded_file": ["case.body.path=pyproject.toml"],
}

Rows = dict[tuple[str, str], str]


def planned_keys() -> Rows:
    """Keys by step and name."""
    batches = make_plan(read_workflow())["batches"]
    return {(b["step"], b["name"]): key for key, b in batches.items()}


def edit(path: Path, old: str, new: str) -> None:
    text = path.read_text()
    assert text.count(old) == 1, f"{old!r} is not once in {path}"
    path.write_text(text.replace(old, new))


def replanned(before: Rows) -> set[tuple[str, str]]:
    after = planned_keys()
    return {what for what, key in after.items() if before.get(what) != key}


def test_one_number_of_a_case_replans_that_case_and_what_is_made_from_it(
    project: Path,
) -> None:
    before = planned_keys()
    case = project / "conf" / "case" / "triangles_circle.yaml"
    edit(case, "max_steps: 1000", "max_steps: 999")
    assert replanned(before) == {
        ("simulate", "triangles_circle"),
        ("input_uncertainty", "triangles_circle"),
        ("virtual_scan", "circle"),
        ("ingest", "circle"),
        ("deviation", "circle"),
        ("compare", "circle"),
        ("figure", "dejong-3"),
    }


def test_comments_and_the_order_of_keys_replan_nothing(project: Path) -> None:
    before = planned_keys()
    path = project / "conf" / "case" / "triangles_circle.yaml"
    loaded = yaml.safe_load(path.read_text())
    turned = dict(reversed(loaded.items()))
    path.write_text("# another comment\n" + yaml.safe_dump(turned, sort_keys=False))
    assert replanned(before) == set()


def test_a_comparison_s_scale_replans_its_scan_and_not_its_simulation(
    project: Path,
) -> None:
    before = planned_keys()
    workflow = project / "conf" / "workflow.yaml"
    edit(workflow, "scan: {virtual: {seed: 1}}\n", "scan: {virtual: {seed: 11}}\n")
    assert replanned(before) == {
        ("virtual_scan", "circle"),
        ("ingest", "circle"),
        ("deviation", "circle"),
        ("compare", "circle"),
        ("figure", "dejong-3"),
    }


def test_a_real_scan_takes_the_place_of_the_synthetic_one(project: Path) -> None:
    (project / "scan.ply").write_text("ply")
    workflow = project / "conf" / "workflow.yaml"
    edit(workflow, "scan: {virtual: {seed: 1}}\n", "scan: [scan.ply]\n")
    first = planned_keys()
    assert ("virtual_scan", "circle") not in first
    (project / "scan.ply").rename(project / "moved.ply")
    edit(workflow, "scan.ply", "moved.ply")
    assert replanned(first) == set()
    (project / "moved.ply").write_text("ply2")
    assert ("ingest", "circle") in replanned(first)


def leaves(config: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Where the values are; code and files have tests of their own."""
    if isinstance(config, dict):
        for key, value in config.items():
            if key not in ("_target_", "path") and not key.endswith("_path"):
                yield from leaves(value, (*path, key))
    elif isinstance(config, list):
        for i, value in enumerate(config):
            yield from leaves(value, (*path, i))
    else:
        yield path


def other(value: Any) -> Any:
    """A value that is not this one."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, int | float):
        return value * 1.0000001 + 1e-9
    return f"{value}-other"


def key(config: dict[str, Any]) -> str:
    return key_of(identity("simulate", config))


@pytest.mark.parametrize("name", case_names())
def test_every_leaf_of_every_case_is_in_its_key(name: str) -> None:
    with Composer() as composer:
        config = composer.compose("simulate", [f"case={name}", *OPEN.get(name, ())])
    before = key(config)
    assert planned(name, config).key == before
    for path in leaves(config):
        place: Any = config
        for part in path[:-1]:
            place = place[part]
        kept = place[path[-1]]
        place[path[-1]] = other(kept)
        assert key(config) != before, f"{path} is not in the key"
        place[path[-1]] = kept
    assert key(config) == before


SET_BY_THE_WORKFLOW = {"seed", "scale_mm", "ball_radius_mm"}


def test_every_leaf_of_the_virtual_lab_is_in_the_keys_made_from_it(
    project: Path,
) -> None:
    workflow = project / "conf" / "workflow.yaml"
    workflow.write_text(
        "defaults: {sphere_radius_mm: 6.0, scale_mm: 40.0}\n"
        "comparisons: {one: {case: triangles_circle, scan: {virtual: {seed: 1}}}}\n"
    )
    scanner = project / "conf" / "scanner.yaml"
    settings = yaml.safe_load(scanner.read_text())
    before = planned_keys()
    for name, value in settings.items():
        nudged = value + 1 if isinstance(value, int) else value * 1.001
        scanner.write_text(yaml.safe_dump({**settings, name: nudged}))
        steps = {step for step, _ in replanned(before)}
        expected = {"virtual_scan", "ingest", "deviation", "compare"}
        assert steps == (set() if name in SET_BY_THE_WORKFLOW else expected), name


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("1}}\n", "1}}\n    settings: {kk: 2}\n", "kk"),
        ("1}}\n", "1}}\n    settings: {k: -2}\n", "-2"),
        ("1}}\n", "1}}\n    ingest: {salvag: 1}\n", "salvag"),
        ("scan: {virtual: {seed: 1}}\n", "scan: [gone.ply]\n", "gone.ply"),
        ("dejong-3", "dejong-33", "there is no figure 'dejong-33'"),
    ],
)
def test_what_a_step_would_refuse_is_refused_before_anything_runs(
    project: Path, old: str, new: str, said: str
) -> None:
    edit(project / "conf" / "workflow.yaml", old, new)
    with pytest.raises(InputError, match=said):
        planned_keys()


def test_a_setting_of_the_lab_is_refused_before_anything_runs(project: Path) -> None:
    edit(project / "conf" / "scanner.yaml", "views: 10", "views: -3")
    with pytest.raises(InputError, match="views"):
        planned_keys()


STUDIED = """
case: triangles_circle
design: grid
vary: {case.target.radius: [1.8, 2.0, -1.0]}
"""


def plan_of_a_studied_figure(
    project: Path, cases: str = "[triangles_circle]"
) -> dict[str, Any]:
    (project / "conf" / "study" / "radii.yaml").write_text(STUDIED)
    (project / "conf" / "workflow.yaml").write_text(
        f"figures: {{dejong-3: {{cases: {cases}, study: radii}}}}\n"
    )
    return make_plan(read_workflow())


def test_the_runs_of_a_study_are_rows_of_a_figure(project: Path) -> None:
    plan = plan_of_a_studied_figure(project)
    (figure,) = (k for k, b in plan["batches"].items() if b["step"] == "figure")
    (job,) = read_batch(figure)
    radii = [f"radius={r}" for r in (1.8, 2.0, -1.0)]
    assert job.config["labels"] == ["triangles_circle", *radii]
    listed = [member["key"] for member in read_members("radii")["members"]]
    assert job.needs["simulated"][1:] == listed
    assert plan["studies"] == ["radii"]
    of_study = [b for b in plan["batches"].values() if b["study"] == "radii"]
    assert sum(batch["jobs"] for batch in of_study) == len(listed)


def test_a_run_that_is_shown_by_itself_too_belongs_to_its_study(project: Path) -> None:
    shown = "{wide: [case=triangles_circle, case.target.radius=2.0]}"
    plan = plan_of_a_studied_figure(project, shown)
    simulated = [b for b in plan["batches"].values() if b["step"] == "simulate"]
    assert {batch["study"] for batch in simulated} == {"radii"}
    assert sum(batch["jobs"] for batch in simulated) == 3


def test_a_figure_of_a_run_that_failed_names_the_reason(project: Path) -> None:
    plan = plan_of_a_studied_figure(project)
    for batch, entry in plan["batches"].items():
        if entry["step"] == "simulate":
            assert perform_batch(batch) == 0
    (figure,) = (k for k, b in plan["batches"].items() if b["step"] == "figure")
    with pytest.raises(RunFailedError, match=r"failed: .*radius"):
        perform_planned(read_batch(figure)[0])


def test_a_figure_names_a_study_that_is_there(project: Path) -> None:
    workflow = project / "conf" / "workflow.yaml"
    workflow.write_text("figures: {huang-2: {study: nope}}\n")
    with pytest.raises(InputError, match="no study 'nope': choose one of"):
        make_plan(read_workflow())
    workflow.write_text("figures: {huang-2: {study: [sheet_size]}}\n")
    with pytest.raises(InputError, match=r"figures\.huang-2\.study must be a name"):
        make_plan(read_workflow())


SERIES = (
    "series:\n  way:\n    case: actuator_law\n    measured: way.csv\n"
    "    synthetic: true\n"
)


def test_a_measured_series_is_planned_beside_its_run(project: Path) -> None:
    (project / "conf" / "workflow.yaml").write_text(SERIES)
    (project / "way.csv").write_text("quantity,at,value,u,part\n")
    first = planned_keys()
    assert set(first) == {("simulate", "actuator_law"), ("compare_series", "way")}
    (project / "way.csv").write_text("quantity,at,value,u,part\nx,0,1,0,fit\n")
    assert replanned(first) == {("compare_series", "way")}


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("way.csv", "gone.csv", "gone.csv"),
        ("    measured: way.csv\n", "", "series.way has no measured"),
        ("synthetic: true", "synthetic: maybe", "must be true or false, not 'maybe'"),
        ("synthetic: true", "at: time", "has no key 'at'"),
    ],
)
def test_a_series_that_cannot_be_is_refused_before_anything_runs(
    project: Path, old: str, new: str, said: str
) -> None:
    (project / "conf" / "workflow.yaml").write_text(SERIES.replace(old, new))
    (project / "way.csv").write_text("quantity,at,value,u,part\n")
    with pytest.raises(InputError, match=said):
        make_plan(read_workflow())


def test_two_runs_of_one_name_are_told_apart_by_their_keys(project: Path) -> None:
    """Of one case with two settings, neither hides the other in results/simulate."""
    scan = "scan: {virtual: {seed: 1}}"
    (project / "conf" / "workflow.yaml").write_text(
        "defaults: {sphere_radius_mm: 6.0, scale_mm: 40.0}\n"
        "comparisons:\n"
        f"  one: {{case: triangles_circle, {scan}}}\n"
        f"  two: {{case: triangles_circle, overrides: [case.max_steps=99], {scan}}}\n"
    )
    batches = make_plan(read_workflow())["batches"]
    named = [(b["step"], b["name"]) for b in batches.values()]
    assert len(set(named)) == len(named)
    second = [k for k, b in batches.items() if b["step"] == "simulate"][1]
    assert ("simulate", f"triangles_circle-{second[:8]}") in named
