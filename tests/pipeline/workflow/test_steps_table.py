"""Every step says of itself what it needs, in one form; no step knows the table."""

import importlib
import inspect
import re
from pathlib import Path

import pytest

from pipeline.store.keys import rebuilds_cases
from pipeline.store.plan_file import TABLE
from pipeline.workflow.steps_table import STEPS, Step
from sim.syntax import code_closure
from tests.pipeline.conftest import ROOT

RULE = re.compile(r"^rule (\w+):\n(.*?)(?=^rule |\Z)", re.MULTILINE | re.DOTALL)
RULES = dict(RULE.findall((ROOT / "Snakefile").read_text()))


@pytest.mark.parametrize("step", STEPS.values(), ids=lambda step: step.name)
def test_a_step_has_a_configuration_and_is_performed_in_one_way(step: Step) -> None:
    module = importlib.import_module(step.module)
    assert callable(getattr(module, step.config))
    given = list(inspect.signature(module.perform).parameters.values())
    assert [p.name for p in given] == ["job", "needs", "out"]
    assert given[-1].annotation is Path


@pytest.mark.parametrize("step", STEPS.values(), ids=lambda step: step.name)
def test_no_step_imports_what_plans_and_runs_it(step: Step) -> None:
    digests, _ = code_closure([step.module])
    assert step.module in digests
    assert [m for m in digests if m.startswith("pipeline.workflow")] == []


def test_the_snakefile_has_a_rule_a_step_and_no_other() -> None:
    assert set(RULES) == {"all", TABLE, *STEPS}


@pytest.mark.parametrize("step", STEPS.values(), ids=lambda step: step.name)
def test_a_rule_reads_what_its_step_reads_and_is_called_as_it_is(step: Step) -> None:
    rule = RULES[step.name]
    given = re.findall(r"(\w+)=plan.made\(\"(\w+)\", \"(\w+)\"\)", rule)
    assert given == [(role, step.name, role) for role in step.inputs]
    (kind,) = re.findall(rf"\"results/made/{step.name}/{{(\w+)}}\"", rule)
    assert f'plan="results/plan/{step.name}/{{{kind}}}.json"' in rule
    assert f"run --planned {step.name}/{{wildcards.{kind}:q}} " in rule


def test_what_rebuilds_a_case_is_known_by_what_it_imports() -> None:
    rebuilding = {name for name in STEPS if rebuilds_cases(name)}
    assert {"input_uncertainty", "deviation", "compare", "parts"} <= rebuilding
    assert not {"ingest", "compare_series", "figure"} & rebuilding
    figure = frozenset({"pipeline.figures.zhu_filipov_7"})
    assert rebuilds_cases("figure", figure)
    assert not rebuilds_cases("figure", frozenset({"pipeline.figures.dejong_3"}))
