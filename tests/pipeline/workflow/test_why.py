"""Why each run of a plan would be made, and what it took last time."""

import re
import shutil
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

from pipeline.commands.plan import main as plan_command
from pipeline.store import code_parts, keys
from pipeline.store.files import read_json, write_json
from pipeline.store.plan_file import read_documents
from pipeline.store.receipts import read_receipt
from pipeline.studies.file import read_study
from pipeline.workflow.fresh import fresh_plan
from pipeline.workflow.run import perform_name
from pipeline.workflow.study import planned_runs, written_plan
from pipeline.workflow.why import Why

SIMULATE, WAY, FIGURE = "simulate/actuator_law", "compare_series/way", "figure/huang-3"
WORKFLOW = {
    "series": {
        "way": {"case": "actuator_law", "measured": "way.csv", "synthetic": True}
    },
    "figures": {"huang-3": {"cases": ["actuator_law"]}},
}

Told = dict[str, list[str]]


def write(name: str, value: object) -> None:
    (Path("conf") / name).write_text(yaml.safe_dump(value))


@pytest.fixture
def told(project: Path, capsys: pytest.CaptureFixture[str]) -> Callable[..., Told]:
    """What `morphtrack plan` says of each name, its own line first; "" for the end."""
    assert project.is_dir()
    write("workflow.yaml", WORKFLOW)
    Path("way.csv").write_text("quantity,at,value,u,part\nmodulus,0.5,1,0,held out\n")

    def run(*words: str) -> Told:
        capsys.readouterr()
        assert plan_command(list(words)) == 0
        found: Told = {"": []}
        place = ""
        for line in capsys.readouterr().out.splitlines():
            named = re.match(r"\w+ +(\w+/\S+)", line)
            place = named[1] if named else place if line.startswith(" ") else ""
            found.setdefault(place, []).append(line.strip())
        return found

    return run


def make() -> None:
    for name in fresh_plan()["names"]:
        assert perform_name(name) == 0


def run_of(name: str) -> Path:
    receipt = read_receipt(name)
    assert receipt is not None
    return Path("results/runs") / receipt.runs[0].key


def took(name: str, seconds: float) -> None:
    """Let the run of a name have taken so long."""
    path = run_of(name) / "run.json"
    write_json(path, {**read_json(path), "wall_s": seconds})


def test_what_was_never_made_says_so(told: Callable[..., Told]) -> None:
    said = told()
    assert said[SIMULATE] == [f"wanted  {SIMULATE}", "never made"]
    assert said[""][0] == "3 wanted"
    assert "3 runs, and nobody knows how long" in said[""][1]


def test_one_name_of_the_plan_comes_with_what_it_is_made_of(
    told: Callable[..., Told], capsys: pytest.CaptureFixture[str]
) -> None:
    assert list(told(SIMULATE)) == ["", SIMULATE]
    assert set(told(FIGURE)) == {"", SIMULATE, FIGURE}
    assert plan_command([SIMULATE.replace("law", "lwa")]) == 2
    assert f"did you mean {SIMULATE}" in capsys.readouterr().err


def test_a_changed_value_is_told_with_both_and_with_last_time_s_cost(
    told: Callable[..., Told],
) -> None:
    make()
    took(SIMULATE, 30.0)
    took(WAY, 4.0)
    took(FIGURE, 5.0)
    write("workflow.yaml", {"figures": {"huang-3": {"cases": ["actuator_law"]}}})
    case = Path("conf/case/actuator_law.yaml")
    value = re.search(r"\n *(\w+): (\d+\.\d+)", case.read_text())
    assert value is not None
    name, old = value[1], value[2]
    case.write_text(case.read_text().replace(f"{name}: {old}", f"{name}: {old}5", 1))
    said = told()
    assert said[SIMULATE][0] == f"wanted  {SIMULATE}  30 s last time"
    (reason,) = said[SIMULATE][1:]
    assert re.fullmatch(
        rf"config: case\.[\w.]*{name} was {float(old):g}, is {float(old + '5'):g}",
        reason,
    )
    assert said[FIGURE] == [
        f"kept    {FIGURE}  5 s last time",
        f"upstream: {SIMULATE} made again first",
    ]
    assert said[""] == [
        "1 wanted, 1 kept",
        "what runs took 30 s last time (1 runs)",
        "what may run took 5 s last time (1 runs)",
    ]


def test_a_file_from_outside_is_named(told: Callable[..., Told]) -> None:
    make()
    Path("way.csv").write_text("quantity,at,value,u,part\nmodulus,0.5,2,0,held out\n")
    assert told()[WAY][1:] == ["file: way.csv has changed"]


def test_the_modules_that_changed_are_named(
    told: Callable[..., Told], monkeypatch: pytest.MonkeyPatch
) -> None:
    make()
    decisive = keys.decisive

    def edited(modules: frozenset[str]) -> tuple[dict[str, str], frozenset[str]]:
        digests, foreign = decisive(modules)
        altered = {
            m: d[::-1] for m, d in digests.items() if m == "pipeline.cases.record"
        }
        return digests | altered, foreign

    for module in (keys, code_parts):
        monkeypatch.setattr(module, "decisive", edited)
    keys._code.cache_clear()
    code_parts._parts.cache_clear()
    monkeypatch.setattr("pipeline.workflow.fresh._cached", lambda *_: None)
    monkeypatch.setattr("pipeline.commands.plan.plan_without_compiling", plan_here)
    try:
        said = told()
        assert "code: pipeline.cases.record changed" in said[SIMULATE]
        shutil.rmtree("results/code")
        assert any("made before reasons were kept" in r for r in told()[SIMULATE])
    finally:
        keys._code.cache_clear()
        code_parts._parts.cache_clear()


def plan_here(**words: object) -> object:
    return fresh_plan(words=words["words"], goal=words["goal"])  # type: ignore[arg-type]


def test_another_version_of_a_package_is_named(
    told: Callable[..., Told],
) -> None:
    make()
    path = run_of(SIMULATE) / "run.json"
    record = read_json(path)
    record["identity"]["versions"]["scipy"] = "0.1"
    key = "0" * 16
    write_json(path, record | {"key": key})
    path.parent.rename(path.parent.with_name(key))
    receipt = Path("results/made") / SIMULATE
    receipt.write_text(receipt.read_text().splitlines()[0] + f"\n{key}\n")
    (reason,) = told()[SIMULATE][1:]
    assert re.fullmatch(r"versions: scipy was 0\.1, is [\d.]+", reason)


def test_a_run_that_is_gone_and_one_that_failed_say_so(
    told: Callable[..., Told],
) -> None:
    make()
    shutil.rmtree(run_of(WAY))
    way = told()[WAY]
    assert way[0].startswith("gone")
    assert re.fullmatch(r"gone: its run was removed \(results/runs/\w{16}\)", way[1])
    simulated = run_of(SIMULATE)
    record = read_json(simulated / "run.json")
    record |= {"status": "failed", "reason": "ValueError: too much"}
    write_json(simulated / "run.json", record)
    Path("results/failed").mkdir(exist_ok=True)
    simulated.rename(f"results/failed/{simulated.name}.1")
    (Path("results/made") / SIMULATE).unlink()
    assert told()[SIMULATE][1:] == ["failed: ValueError: too much"]


def study_reasons(counts: list[int]) -> tuple[Counter[str], float]:
    """Reasons of all runs of a study over `counts`, and what they took last time."""
    vary = {"case.count": counts}
    study = {"case": "actuator_law", "design": "grid", "vary": vary}
    write("study/three.yaml", study | {"response": ["steps"]})
    asked = read_study("three")
    plan = written_plan(asked, planned_runs(asked), retry=False)
    told = Why(read_documents(plan)).all()
    for name in plan["names"]:
        if name.startswith("simulate/"):
            assert perform_name(name) == 0
    every = [one for name, one in told.items() if name.startswith("simulate/")]
    reasons = sum((one.counted for one in every), Counter[str]())
    return reasons, sum(one.wall_s or 0.0 for one in every)


def test_runs_of_a_study_are_compared_with_those_that_are_not_wanted_any_more(
    project: Path,
) -> None:
    assert project.is_dir()
    assert study_reasons([11, 12]) == (Counter({"never made": 2}), 0.0)
    assert study_reasons([11, 12, 13]) == (Counter({"never made": 1}), 0.0)
    reasons, wall = study_reasons([11, 12, 14])
    assert reasons == Counter({"config: case.count was 13, is 14": 1})
    assert wall > 0.0
