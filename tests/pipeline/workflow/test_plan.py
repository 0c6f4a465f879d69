"""What a change of configuration replans: that run and what is made from it."""

import re
from collections.abc import Iterator
from contextlib import chdir
from pathlib import Path
from typing import Any

import pytest
import yaml

from pipeline.config.hydra import Composer
from pipeline.config.listed import case_names
from pipeline.config.workflow_file import read_workflow
from pipeline.store.case_job import planned as planned_case
from pipeline.store.keys import identity, key_of
from pipeline.store.plan_file import read_documents
from pipeline.store.standing import standings
from pipeline.studies.members import read_members
from pipeline.terminal.errors import FAILED, InputError
from pipeline.workflow.fresh import fresh_plan
from pipeline.workflow.plan import planned
from pipeline.workflow.run import perform_name
from tests.pipeline.conftest import furnish

OPEN = {  # what is left to the user
    "structure_file": ["case.structure.path=pyproject.toml"],
    "fold_file": ["case.pattern.path=pyproject.toml"],
    "loaded_file": ["case.body.path=pyproject.toml"],
    "mechanism_motion": ["case.body.path=pyproject.toml"],
    "rod_file": ["case.path=pyproject.toml"],
}

ONE = (
    "shared: {sphere_radius_mm: 6.0, scale_mm: 40.0}\n"
    "comparisons: {one: {case: triangles_circle, scan: {virtual: {seed: 1}}}}\n"
)

Rows = dict[tuple[str, str], str]


def planned_keys() -> Rows:
    """What decides each run, down to what it is made of, by step and name."""
    jobs = planned(read_workflow())[0].jobs.values()
    return {(job.step, job.name): job.key for job in jobs}


KEPT = ("chain", "dejong-2", "dejong-3", "huang-2c", "zhu-filipov-9", "huang-4")


def keep_some_figures(folder: Path) -> None:
    """Of the shipped figures those of one solver or two: all would be planned alike."""
    path = folder / "conf" / "workflow.yaml"
    rest, figures = path.read_text().split("figures:\n")
    kept = [row for row in figures.split("\n") if row.strip().startswith(KEPT)]
    assert len(kept) == len(KEPT)
    path.write_text("\n".join([f"{rest}figures:", *kept, ""]))


@pytest.fixture
def some_figures(project: Path) -> Path:
    keep_some_figures(project)
    return project


@pytest.fixture(scope="module")
def shipped(tmp_path_factory: pytest.TempPathFactory) -> Rows:
    """The keys of conf with some of its figures, which are the same in any folder."""
    folder = tmp_path_factory.mktemp("shipped")
    furnish(folder)
    keep_some_figures(folder)
    with chdir(folder):
        return planned_keys()


def edit(path: Path, old: str, new: str) -> None:
    text = path.read_text()
    assert text.count(old) == 1, f"{old!r} is not once in {path}"
    path.write_text(text.replace(old, new))


def replanned(before: Rows) -> set[tuple[str, str]]:
    after = planned_keys()
    return {what for what, key in after.items() if before.get(what) != key}


def test_one_number_of_a_case_replans_that_case_and_what_is_made_from_it(
    some_figures: Path, shipped: Rows
) -> None:
    case = some_figures / "conf" / "case" / "triangles_circle.yaml"
    edit(case, "radius: 4.2", "radius: 4.21")
    assert replanned(shipped) == {
        ("simulate", "triangles_circle"),
        ("input_uncertainty", "triangles_circle"),
        ("virtual_scan", "circle"),
        ("ingest", "circle"),
        ("deviation", "circle"),
        ("compare", "circle"),
        ("figure", "dejong-3"),
    }


def test_comments_and_the_order_of_keys_replan_nothing(
    some_figures: Path, shipped: Rows
) -> None:
    path = some_figures / "conf" / "case" / "triangles_circle.yaml"
    loaded = yaml.safe_load(path.read_text())
    turned = dict(reversed(loaded.items()))
    path.write_text("# another comment\n" + yaml.safe_dump(turned, sort_keys=False))
    assert replanned(shipped) == set()


def test_a_comparison_s_scale_replans_its_scan_and_not_its_simulation(
    some_figures: Path, shipped: Rows
) -> None:
    workflow = some_figures / "conf" / "workflow.yaml"
    edit(workflow, "scan: {virtual: {seed: 1}}\n", "scan: {virtual: {seed: 11}}\n")
    assert replanned(shipped) == {
        ("virtual_scan", "circle"),
        ("ingest", "circle"),
        ("deviation", "circle"),
        ("compare", "circle"),
        ("figure", "dejong-3"),
    }


def test_a_real_scan_takes_the_place_of_the_synthetic_one(project: Path) -> None:
    (project / "scan.ply").write_text("ply")
    workflow = project / "conf" / "workflow.yaml"
    workflow.write_text(ONE.replace("{virtual: {seed: 1}}", "[scan.ply]"))
    first = planned_keys()
    assert ("virtual_scan", "one") not in first
    (project / "scan.ply").rename(project / "moved.ply")
    edit(workflow, "scan.ply", "moved.ply")
    assert replanned(first) == set()
    (project / "moved.ply").write_text("ply2")
    assert ("ingest", "one") in replanned(first)


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
    assert planned_case(name, config).key == before
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
    (project / "conf" / "workflow.yaml").write_text(ONE)
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
    return fresh_plan()


def test_the_runs_of_a_study_are_rows_of_a_figure(project: Path) -> None:
    plan = plan_of_a_studied_figure(project)
    now = standings(read_documents(plan))
    (job,) = now["figure/dejong-3"].jobs
    radii = [f"radius={r}" for r in (1.8, 2.0, -1.0)]
    assert job.config["labels"] == ["triangles_circle", *radii]
    listed = [member["key"] for member in read_members("radii")["members"]]
    assert job.needs["simulated"][1:] == listed
    assert plan["studies"] == ["radii"]
    of_study = [n for n, entry in plan["names"].items() if entry["study"] == "radii"]
    assert all(re.fullmatch(r"simulate/radii\.[12]", name) for name in of_study)
    assert sum(plan["names"][name]["runs"] for name in of_study) == len(listed)
    (reads,) = plan["names"]["study_table/radii"]["reads"].values()
    assert sorted(reads) == sorted(of_study)


def test_a_run_that_is_shown_by_itself_too_belongs_to_its_study(project: Path) -> None:
    shown = "{wide: [case=triangles_circle, case.target.radius=2.0]}"
    plan = plan_of_a_studied_figure(project, shown)
    simulated = [b for b in plan["names"].values() if b["step"] == "simulate"]
    assert {batch["study"] for batch in simulated} == {"radii"}
    assert sum(batch["runs"] for batch in simulated) == 3


def test_a_figure_of_a_run_that_failed_names_the_reason(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    plan = plan_of_a_studied_figure(project)
    for name, entry in plan["names"].items():
        if entry["step"] == "simulate":
            assert perform_name(name) == 0
    assert perform_name("figure/dejong-3") == FAILED
    said = capsys.readouterr().err
    assert re.search(
        r"it needs simulate triangles_circle, which failed: .*radius", said
    )


def test_a_figure_names_a_study_that_is_there(project: Path) -> None:
    workflow = project / "conf" / "workflow.yaml"
    workflow.write_text("figures: {huang-2: {study: nope}}\n")
    said = r"^conf/workflow.yaml: figures.huang-2: .* no study 'nope': choose one of"
    with pytest.raises(InputError, match=said):
        planned(read_workflow())
    workflow.write_text("figures: {huang-2: {study: [sheet_size]}}\n")
    with pytest.raises(InputError, match=r"figures\.huang-2\.study must be a word"):
        planned(read_workflow())


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
        (
            "case: actuator_law",
            "case: actuator_law\n    overrides: [case.modul=1]",
            "^conf/workflow.yaml: series.way: case.modul=1",
        ),
    ],
)
def test_a_series_that_cannot_be_is_refused_before_anything_runs(
    project: Path, old: str, new: str, said: str
) -> None:
    (project / "conf" / "workflow.yaml").write_text(SERIES.replace(old, new))
    (project / "way.csv").write_text("quantity,at,value,u,part\n")
    with pytest.raises(InputError, match=said):
        planned(read_workflow())


def test_two_runs_of_one_case_are_told_apart_by_their_names(project: Path) -> None:
    """Of one case with two settings, neither hides the other in results/simulate."""
    scan = "scan: {virtual: {seed: 1}}"
    (project / "conf" / "workflow.yaml").write_text(
        "shared: {sphere_radius_mm: 6.0, scale_mm: 40.0}\n"
        "comparisons:\n"
        f"  one: {{case: triangles_circle, {scan}}}\n"
        f"  two: {{case: triangles_circle, overrides: [case.max_steps=99], {scan}}}\n"
    )
    simulated = [name for name in fresh_plan()["names"] if name.startswith("simulate")]
    assert simulated == ["simulate/triangles_circle", "simulate/two"]
    edit(project / "conf" / "workflow.yaml", "  two: {", "  three: {")
    text = (project / "conf" / "workflow.yaml").read_text()
    (project / "conf" / "workflow.yaml").write_text(
        text.replace("  one: {", "  triangles_circle: {overrides: [case.max_steps=9], ")
    )
    simulated = [name for name in fresh_plan()["names"] if name.startswith("simulate")]
    assert simulated == ["simulate/triangles_circle", "simulate/three"]


def test_rows_of_figures_have_names_of_their_own(project: Path) -> None:
    (project / "conf" / "workflow.yaml").write_text(
        "figures:\n"
        "  huang-2a:\n"
        "    cases:\n"
        "      as it is: [case=ribbon_incline]\n"
        "      slides and turns: [case=ribbon_incline, case.ratio=0.25]\n"
        "      rolls: [case=ribbon_incline, case.ratio=1.2]\n"
    )
    assert list(fresh_plan()["names"]) == [
        "simulate/ribbon_incline",
        "simulate/huang-2a.slides_and_turns",
        "simulate/huang-2a.rolls",
        "figure/huang-2a",
    ]
