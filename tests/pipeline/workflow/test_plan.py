"""What conf/workflow.yaml asks for, by name, and what a change of it changes."""

from collections.abc import Iterator
from contextlib import chdir
from pathlib import Path
from typing import Any

import pytest
import yaml

from pipeline.config.config_files import case_names
from pipeline.config.hydra import Composer
from pipeline.runs.case_job import planned as planned_case
from pipeline.runs.run_keys import identity, key_of
from pipeline.terminal import InputError
from pipeline.workflow.plan import Plan, plan_of
from tests.pipeline.conftest import furnish
from tests.pipeline.workflow.conftest import SERIES, edit, write_workflow

Result = tuple[str, str]

OPEN = {  # what is left to the user
    "structure_file": ["case.structure.path=pyproject.toml"],
    "fold_file": ["case.pattern.path=pyproject.toml"],
    "loaded_file": ["case.body.path=pyproject.toml"],
    "mechanism_motion": ["case.body.path=pyproject.toml"],
    "rod_file": ["case.path=pyproject.toml"],
}
KEPT = ("chain", "dejong-2", "dejong-3", "huang-2c", "zhu-filipov-9", "huang-4")
SHARED = {"sphere_radius_mm": 6.0, "scale_mm": 40.0, "input_draws": 0}
SCAN = {"virtual": {"seed": 1}}
ONE = {"case": "triangles_circle", "scan": SCAN}


def keep_some_figures(folder: Path) -> None:
    """Of the shipped figures those of one solver or two: all would be planned alike."""
    path = folder / "conf" / "workflow.yaml"
    rest, figures = path.read_text().split("figures:\n")
    kept = [row for row in figures.split("\n") if row.strip().startswith(KEPT)]
    assert len(kept) == len(KEPT)
    path.write_text("\n".join([f"{rest}figures:", *kept, ""]))


def planned(*words: str) -> dict[Result, str]:
    """The planned digest of every result; Snakemake adds what reads a changed one."""
    plan = Plan(words)
    return {
        (step, name): plan.study(name).planned()
        if step == "study"
        else plan.planned(step, name)
        for step, name in plan.names()
    }


def changed(before: dict[Result, str], *words: str) -> set[Result]:
    after = planned(*words)
    return {result for result, digest in after.items() if before.get(result) != digest}


@pytest.fixture
def some_figures(project):
    keep_some_figures(project)
    return project


@pytest.fixture(scope="module")
def shipped(tmp_path_factory):
    """The digests of conf with some of its figures, the same in any folder."""
    folder = tmp_path_factory.mktemp("shipped")
    furnish(folder)
    keep_some_figures(folder)
    with chdir(folder):
        return planned()


def test_one_number_of_a_case_changes_that_case_alone(some_figures, shipped):
    case = some_figures / "conf" / "case" / "triangles_circle.yaml"
    edit(case, "radius: 4.2", "radius: 4.21")
    assert changed(shipped) == {("simulate", "triangles_circle")}


def test_a_value_that_a_comparison_sets_changes_the_steps_that_take_it(
    some_figures, shipped
):
    assert some_figures.is_dir()
    scale = changed(shipped, "comparisons.circle.scale_mm=50")
    assert {step for step, _ in scale} == {
        "virtual_scan",
        "deviation",
        "input_uncertainty",
        "compare",
    }
    assert {name for _, name in scale} == {"circle"}
    seed = changed(shipped, "comparisons.circle.scan.virtual.seed=11")
    assert seed == {("virtual_scan", "circle")}


def test_values_of_a_set_are_spelt_as_a_shell_reads_them(project):
    write_workflow(project, {"shared": SHARED, "comparisons": {"one": ONE}})
    plan = Plan("comparisons.one.scale_mm=50 'comparisons.one.case=pentapod'")
    one = plan.workflow.comparisons["one"]
    assert (one.scale_mm, one.case) == (50.0, "pentapod")
    assert Plan(plan.words).workflow == plan.workflow  # as a figure's command gets it


# Names.


def simulations(project: Path, workflow: dict[str, Any]) -> dict[str, list[str]]:
    write_workflow(project, {"shared": SHARED, **workflow})
    return Plan().simulations


def test_a_case_with_overrides_is_called_by_the_entry_that_changes_it(project):
    longer = {**ONE, "overrides": ["case.max_steps=99"]}
    other = {**ONE, "scan": {"virtual": {"of": ["case=pentapod"]}}}
    comparisons = {"one": ONE, "two": longer, "control": other}
    assert simulations(project, {"comparisons": comparisons}) == {
        "triangles_circle": ["case=triangles_circle"],
        "two": ["case=triangles_circle", "case.max_steps=99"],
        "control-scanned": ["case=pentapod"],
    }
    assert Plan().upstream("virtual_scan", "control") == [
        ("simulate", "control-scanned")
    ]


def test_rows_of_figures_have_names_of_their_own(project):
    cases = {
        "as it is": ["case=ribbon_incline"],
        "slides and turns": ["case=ribbon_incline", "case.ratio=0.25"],
        "rolls": ["case=ribbon_incline", "case.ratio=1.2"],
    }
    assert list(simulations(project, {"figures": {"huang-2a": {"cases": cases}}})) == [
        "ribbon_incline",
        "huang-2a.slides_and_turns",
        "huang-2a.rolls",
    ]


def test_two_simulations_of_one_name_are_refused_with_both(project):
    """The comparison named as another's case, and changing it."""
    mine = {**ONE, "overrides": ["case.max_steps=9"]}
    with pytest.raises(InputError) as caught:
        simulations(project, {"comparisons": {"one": ONE, "triangles_circle": mine}})
    assert str(caught.value) == (
        "conf/workflow.yaml: two simulations are called triangles_circle: "
        "case=triangles_circle case.max_steps=9 and case=triangles_circle; rename one "
        "entry"
    )


@pytest.mark.parametrize(
    ("step", "name", "said"),
    [
        ("compare", "onne", "comparisons has no 'onne': did you mean one?"),
        ("figure", "dejong-33", "figures has no 'dejong-33': did you mean dejong-3?"),
        ("compare_series", "wy", "series has no 'wy': did you mean way?"),
        ("simulate", "triangle_circle", "did you mean triangles_circle?"),
    ],
)
def test_a_name_that_is_not_there_is_refused_with_the_nearest(
    project, step, name, said
):
    write_workflow(
        project,
        {
            "shared": SHARED,
            "comparisons": {"one": ONE},
            "series": {"way": SERIES},
            "figures": {"dejong-3": {"comparisons": ["one"]}},
        },
    )
    with pytest.raises(
        InputError, match=f"^conf/workflow.yaml.*{said}".replace("?", ".")
    ):
        Plan().config(step, name)


def test_two_names_of_one_run_have_one_key(project):
    same = {**ONE, "overrides": ["case.max_steps=1000"]}  # which the case says too
    write_workflow(project, {"shared": SHARED, "comparisons": {"a": ONE, "b": same}})
    plan = Plan()
    first, second = (
        plan.identity("simulate", name) for name in ("triangles_circle", "b")
    )
    assert key_of(first) == key_of(second)


def test_a_real_scan_takes_the_place_of_the_synthetic_one(project):
    mine = {**ONE, "scan": ["scan.ply"]}
    write_workflow(project, {"shared": SHARED, "comparisons": {"one": mine}})
    plan = Plan()
    with pytest.raises(InputError, match=r"comparisons.one: scan: there is no file"):
        plan.scans("one")  # Snakemake would keep the results of another scan
    (project / "scan.ply").touch()
    assert plan.scans("one") == ["scan.ply"]
    assert plan.upstream("ingest", "one") == []
    assert "virtual_scan" not in {step for step, _ in plan.names()}


# What is refused before anything runs.


@pytest.mark.parametrize(
    ("entry", "said"),
    [
        ({"settings": {"kk": 2}}, "comparisons.one .compare.: .*kk"),
        ({"settings": {"k": -2}}, "comparisons.one .compare.: .*-2"),
        ({"ingest": {"salvag": 1}}, "comparisons.one .ingest.: .*salvag"),
        ({"case": "triangles_circl"}, "did you mean triangles_circle"),
        ({"overrides": ["case.max_step=9"]}, "case.max_step=9.* max_steps"),
        ({"scan": {"virtual": {"of": ["case=pentapd"]}}}, "did you mean pentapod"),
    ],
)
def test_an_entry_that_a_step_would_refuse_is_refused_and_spoils_no_other(
    project, entry, said
):
    comparisons = {"one": {**ONE, **entry}, "two": {**ONE, "case": "pentapod"}}
    write_workflow(project, {"shared": SHARED, "comparisons": comparisons})
    with pytest.raises(InputError, match=said):
        planned()
    plan = Plan()
    for step in ("virtual_scan", "ingest", "deviation", "compare"):
        assert plan.planned(step, "two")


def test_a_setting_of_the_lab_is_refused_before_anything_runs(project):
    edit(project / "conf" / "scanner.yaml", "views: 10", "views: -3")
    with pytest.raises(InputError, match="views"):
        Plan().config("virtual_scan", "circle")


def structured(project: Path, unit: str, **entry: float) -> Plan:
    """A comparison of a structure file that is written in a unit."""
    named = project / "conf" / "structure" / "four_bar.yaml"
    text = named.read_text()
    own = project / "own.yaml"
    kept = [line for line in text.splitlines() if not line.startswith("unit:")]
    own.write_text("\n".join([f"unit: {unit}" if unit else "", *kept, ""]))
    mine = {"case": "structure_file", "overrides": ["case.path=own.yaml"], "scan": SCAN}
    write_workflow(
        project, {"shared": SHARED, "comparisons": {"mine": {**mine, **entry}}}
    )
    return Plan()


def test_a_shared_scale_is_refused_where_the_structure_has_another_unit(project):
    with pytest.raises(InputError) as caught:
        structured(project, "mm").config("compare", "mine")
    assert str(caught.value) == (
        "conf/workflow.yaml: comparisons.mine: its structure is in mm, but scale_mm 40 "
        "comes from `shared`: write `scale_mm: 1`, or the print's scale, into the entry"
    )


@pytest.mark.parametrize(
    ("unit", "entry"),
    [("mm", {"scale_mm": 40.0}), ("", {}), ("inch", {"scale_mm": 1.0})],
)
def test_a_scale_of_its_own_or_a_structure_without_a_unit_is_taken(
    project, unit, entry
):
    config = structured(project, unit, **entry).config("compare", "mine")
    assert config["scale_mm"] == entry.get("scale_mm", 40.0)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"measured": None}, "series.way has no measured"),
        ({"synthetic": "maybe"}, "must be true or false, not 'maybe'"),
        ({"at": "time"}, "has no key 'at'"),
        ({"overrides": ["case.modul=1"]}, "case.modul=1"),
    ],
)
def test_a_series_that_cannot_be_is_refused_before_anything_runs(project, change, said):
    entry = {k: v for k, v in {**SERIES, **change}.items() if v is not None}
    write_workflow(project, {"series": {"way": entry}})
    with pytest.raises(InputError, match=said):
        planned()


# Studies as rows of figures.


STUDIED = (
    "case: triangles_circle\ndesign: grid\n"
    "vary: {case.target.radius: [1.8, 2.0, -1.0]}\n"
)


def test_the_runs_of_a_study_are_rows_of_a_figure(project):
    (project / "conf" / "study" / "radii.yaml").write_text(STUDIED)
    shown = {"cases": ["triangles_circle"], "study": "radii"}
    write_workflow(project, {"figures": {"dejong-3": shown}})
    plan = Plan()
    radii = [f"radius={r}" for r in (1.8, 2.0, -1.0)]
    assert list(plan.labels("dejong-3")) == ["triangles_circle", *radii]
    assert plan.shown("dejong-3") == [
        "results/simulate/triangles_circle/steps.npz",
        "results/study/radii/table.csv",
    ]
    assert set(plan.modules("figure", "dejong-3")) >= {"analysis.figures.dejong_2023"}


def test_a_figure_names_a_study_that_is_there(project):
    write_workflow(project, {"figures": {"huang-2": {"study": "nope"}}})
    with pytest.raises(InputError, match="no study 'nope': choose one of"):
        planned()
    write_workflow(project, {"figures": {"huang-2": {"study": ["sheet_size"]}}})
    with pytest.raises(InputError, match=r"figures\.huang-2\.study must be a word"):
        Plan()


# What a key covers.


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


def test_every_leaf_of_a_case_of_each_kind_is_in_its_key():
    composer, kinds = Composer(), set()
    for name in case_names():
        config = composer.compose("simulate", [f"case={name}", *OPEN.get(name, ())])
        if (kind := config["case"]["_target_"]) in kinds:
            continue
        kinds.add(kind)
        before = key(config)
        assert planned_case(name, config).key == before
        for path in leaves(config):
            place: Any = config
            for part in path[:-1]:
                place = place[part]
            kept = place[path[-1]]
            place[path[-1]] = other(kept)
            assert key(config) != before, f"{path} of {name} is not in the key"
            place[path[-1]] = kept
        assert key(config) == before


SET_BY_THE_WORKFLOW = {"seed", "scale_mm", "ball_radius_mm"}
TOLD = {"certified_scale_sd"}  # to what compares the scan


@pytest.mark.slow
def test_every_leaf_of_the_virtual_lab_changes_its_scans(project):
    write_workflow(project, {"shared": SHARED, "comparisons": {"one": ONE}})
    scanner = project / "conf" / "scanner.yaml"
    settings = yaml.safe_load(scanner.read_text())
    before = planned()
    for name, value in settings.items():
        nudged = value + 1 if isinstance(value, int) else value * 1.001
        scanner.write_text(yaml.safe_dump({**settings, name: nudged}))
        expected = set() if name in SET_BY_THE_WORKFLOW else {"virtual_scan"}
        expected |= {"deviation", "compare"} if name in TOLD else set()
        assert {step for step, _ in changed(before)} == expected, name


def test_a_key_that_snakemake_does_not_take_is_refused():
    with pytest.raises(InputError, match="has no key 'sett': did you mean set"):
        plan_of({"sett": "comparisons.circle.scale_mm=50"})
