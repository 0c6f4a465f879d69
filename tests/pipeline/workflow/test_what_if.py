"""What would run if a file changed."""

from collections.abc import Iterator
from contextlib import chdir
from pathlib import Path

import pytest
import yaml

from pipeline.commands.plan import main as plan
from pipeline.workflow.fresh import fresh_plan
from tests.pipeline.conftest import ROOT, furnish

WORKFLOW = {
    "comparisons": {
        "own": {"case": "triangles_circle", "scan": ["ball.xyz"]}
        | {"sphere_radius_mm": 6.0, "scale_mm": 40.0, "input_draws": 0}
    },
    "figures": {"huang-3": {"cases": ["actuator_law"]}},
}
ROD, MORPH = "simulate/actuator_law", "simulate/triangles_circle"


@pytest.fixture(scope="module", autouse=True)
def planned(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """A folder with a plan, which no question changes."""
    folder = tmp_path_factory.mktemp("planned")
    furnish(folder)
    (folder / "conf" / "workflow.yaml").write_text(yaml.safe_dump(WORKFLOW))
    (folder / "ball.xyz").write_text("0 0 0\n")
    with chdir(folder):
        fresh_plan()
        yield


def told(file: str | Path, capsys: pytest.CaptureFixture[str]) -> dict[str, set[str]]:
    """The names that run, and those that may."""
    capsys.readouterr()
    assert plan(["--if", str(file)]) == 0
    lines = [line.split() for line in capsys.readouterr().out.splitlines()[:-1]]
    return {
        state: {line[1] for line in lines if line[0] == state}
        for state in ("runs", "may")
    }


@pytest.mark.parametrize(
    ("file", "runs", "not_touched"),
    [
        (ROOT / "sim" / "morph" / "__init__.py", MORPH, ROD),
        (ROOT / "sim" / "rod" / "actuation" / "actuation.py", ROD, MORPH),
        ("conf/case/triangles_circle.yaml", MORPH, ROD),
        ("conf/simulate.yaml", "", ""),
        ("ball.xyz", "ingest/own", MORPH),
    ],
)
def test_a_file_is_traced_to_the_runs_that_hang_on_it(
    file: str | Path, runs: str, not_touched: str, capsys: pytest.CaptureFixture[str]
) -> None:
    if not runs:
        assert plan(["--if", str(file)]) == 2
        assert "edit it, and morphtrack plan says" in capsys.readouterr().err
        return
    found = told(file, capsys)
    assert runs in found["runs"]
    assert not_touched not in found["runs"] | found["may"]


def test_what_reads_those_runs_may_run_too(capsys: pytest.CaptureFixture[str]) -> None:
    found = told("ball.xyz", capsys)
    assert found == {
        "runs": {"ingest/own"},
        "may": {"deviation/own", "compare/own"},
    }


@pytest.mark.parametrize(
    ("file", "words"),
    [
        (ROOT / "pipeline" / "terminal" / "errors.py", "no run hangs on it"),
        ("nowhere.yaml", "there is no such file"),
    ],
)
def test_what_decides_nothing_is_said(
    file: str | Path, words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert plan(["--if", str(file)]) == 2
    assert words in capsys.readouterr().err
