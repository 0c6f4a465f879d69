"""Every step is performed in one form, and the Snakefile has a rule for it."""

import importlib
import inspect
import re
from pathlib import Path

import pytest

from pipeline.figures.figure_names import figure_names, module_of
from pipeline.runs.run_keys import module_of_step, rebuilds_cases
from pipeline.steps.settings import STEPS
from sim.core.imported_code import code_closure
from tests.pipeline.conftest import ROOT

RULE = re.compile(r"^rule (\w+):\n(.*?)(?=^rule |\Z)", re.MULTILINE | re.DOTALL)
RULES = dict(RULE.findall((ROOT / "Snakefile").read_text()))
OF_STUDIES = {"study_members", "study_batch", "study"}
STATED = ("config=", "code=", "planned=")


@pytest.mark.parametrize("step", STEPS)
def test_a_step_is_performed_in_one_way(step):
    module = importlib.import_module(module_of_step(step))
    given = list(inspect.signature(module.perform).parameters.values())
    assert [p.name for p in given] == ["job", "needs", "out"]
    assert given[-1].annotation is Path


@pytest.mark.parametrize("step", STEPS)
def test_no_step_imports_what_plans_and_runs_it(step):
    digests, _ = code_closure([module_of_step(step)])
    assert module_of_step(step) in digests
    assert [m for m in digests if m.startswith("pipeline.workflow")] == []


def test_the_snakefile_has_a_rule_a_step_and_no_other():
    assert set(RULES) == {"all", "demo", "unknown", *OF_STUDIES, *STEPS}


@pytest.mark.parametrize("step", STEPS, ids=str)
def test_a_rule_names_outputs_configuration_code_log_and_a_command(step):
    rule = RULES[step]
    for part in ("    output:\n", "    log:\n", '"morphtrack ', "--planned", *STATED):
        assert part in rule, part
    outputs = rule.partition("    output:\n")[2].partition("    params:\n")[0]
    assert re.findall(r"^        (\w+)=", outputs, re.MULTILINE)


def test_what_rebuilds_a_case_is_known_by_what_it_imports():
    rebuilding = {name for name in STEPS if rebuilds_cases(name)}
    assert {"input_uncertainty", "deviation", "compare", "parts"} <= rebuilding
    assert not {"ingest", "compare_series", "figure"} & rebuilding
    drawing = frozenset(map(module_of, figure_names()))
    assert not rebuilds_cases("figure", drawing)
