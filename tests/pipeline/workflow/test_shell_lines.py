"""The shell line of a job gives what was planned.

A line carries the planned digest, the rest of it gives the configuration: a command
whose own digest differs refuses to run. Of the shipped workflow these are all entries,
and of its figures one of each kind; `make test-shipped` runs this and every line.
"""

import re
import shlex
from collections import Counter
from collections.abc import Sequence
from contextlib import chdir
from pathlib import Path
from typing import Any

import pytest
import yaml

from pipeline.cli.app import called
from pipeline.runs.atomic_files import write_json
from pipeline.runs.run_directory import Job
from pipeline.runs.run_keys import identity
from pipeline.workflow.plan import Plan
from tests.pipeline.conftest import ROOT, furnish
from tests.pipeline.workflow.conftest import snakemake

pytestmark = [pytest.mark.slow, pytest.mark.together]

SHELL = re.compile(r"^Shell command: morphtrack (.*) > results/log/\S+ 2>&1$", re.M)
COMPUTES = (
    "pipeline.workflow.make_step.run_once",
    "pipeline.cli.simulate.body_of",
    "pipeline.workflow.study_batches.run_batch",
    "pipeline.workflow.study_batches.list_members",
)


class Reached(BaseException):
    """A command is about to compute."""


def _compute(*_: object, **__: object) -> Any:
    raise Reached


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    folder = tmp_path_factory.mktemp("shipped")
    furnish(folder)
    (folder / "data").symlink_to(ROOT / "data")
    path = folder / "conf" / "workflow.yaml"
    whole = yaml.safe_load(path.read_text())
    kinds = {frozenset(figure): name for name, figure in whole["figures"].items()}
    whole["figures"] = {name: whole["figures"][name] for name in kinds.values()}
    path.write_text(yaml.safe_dump(whole, sort_keys=False))
    return folder


@pytest.fixture(scope="module")
def lines(place):
    """The words of every shell line, as `snakemake -n -p` shows them."""
    said = snakemake(place, "-n", "-p")
    found = [shlex.split(line) for line in SHELL.findall(said)]
    jobs = int(re.findall(r"^total +(\d+)$", said, re.MULTILINE)[-1])
    assert len(found) == jobs - 1  # `all` has no line
    return found


@pytest.fixture(scope="module")
def plan(place, lines):
    """The plan of the same folder, where its inputs are as far as commands look."""
    with chdir(place):
        found = Plan()
        for step, name in found.names():
            folder = Path("results") / step / name
            folder.mkdir(parents=True)
            write_json(folder / "run.json", {"key": f"{step} {name}"})
            if step == "simulate":
                write_json(folder / "structure.json", {})
        for word in {word for words in lines for word in words}:
            if word.startswith("results/") and not Path(word).exists():
                Path(word).touch()
        yield found


@pytest.fixture
def checked(plan, monkeypatch):
    """Let commands read no inputs, and stop once they have checked the digest."""

    def step_job(
        step: str, name: str, config: Any, *, modules: Sequence[str] = (), **_: object
    ) -> Job:
        known = {*modules, *plan.modules(step, name)}  # else read off its inputs
        return Job(step, name, identity(step, config, modules=sorted(known)), config)

    def runs(study: str) -> list[Path]:
        return [Path(member.job.key) for member in plan.study(study).members]

    monkeypatch.setattr("pipeline.workflow.make_step.step_job", step_job)
    monkeypatch.setattr("pipeline.cli.show._runs", runs)
    for name in COMPUTES:
        monkeypatch.setattr(name, _compute)
    return plan


def test_every_line_gives_the_configuration_that_was_planned(lines, checked):
    tried: Counter[str] = Counter()
    for command, *words in lines:
        tried[command] += 1
        if command == "simulate":
            name = Path(words[words.index("--out") + 1]).name
            given = words[: words.index("--out")]
            assert given == checked.simulations[name]
            if len(given) == 1:
                continue  # composing takes a tenth of a second
        if "--table" in words:
            continue  # made of whatever runs there are
        try:
            status = called([command, *words])
        except Reached:
            continue
        raise AssertionError(f"{command} {shlex.join(words)} ended with {status}")
    assert set(tried) == {
        "calibrate", "compare", "compare_series", "deviation", "figure", "ingest",
        "input_uncertainty", "measured", "parts", "simulate", "study",
        "virtual_scan",
    }  # fmt: skip
    assert tried["simulate"] == len(checked.simulations)
    assert tried["figure"] == len(checked.workflow.figures)


@pytest.mark.usefixtures("checked")
def test_a_line_of_another_configuration_is_refused_in_one_line(lines, capsys):
    (words,) = (w for w in lines if w[0] == "compare" and "results/compare/circle" in w)
    at = words.index("--scale-mm") + 1
    assert called([*words[:at], "50", *words[at + 1 :]]) == 2
    assert capsys.readouterr().err == (
        "error: compare circle: configuration or code changed since planning: run the "
        "same command again\n"
    )
