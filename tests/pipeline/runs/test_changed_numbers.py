"""What `make` says of results that runs which were made again brought."""

import math
from typing import Any

import pytest
import yaml

from pipeline.cli.app import called
from pipeline.runs.run_directory import RESULTS, Job
from tests.pipeline.named_runs import run_named

BEFORE = {"verdict": "agrees", "S_scanned": 0.5, "S_scanned_u": 0.01, "k": 2.0}


def make_one(version: int, result: dict[str, Any]) -> None:
    """Make compare/one anew, of code that is told apart by a number."""
    identity = {"step": "compare", "config": {}, "code": str(version)}
    run_named(Job("compare", "one", identity, {}), lambda _: result, RESULTS)


def said_after(
    result: dict[str, Any],
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> list[list[str]]:
    """The rows that `morphtrack make` prints when compare/one comes out so."""

    def made_again(*_: object, **__: object) -> int:
        make_one(2, result)
        return 0

    monkeypatch.setattr("pipeline.cli.make_and_summarise.run_snakemake", made_again)
    make_one(1, BEFORE)
    capsys.readouterr()
    assert called(["make"]) == 0
    rows = [line.split() for line in capsys.readouterr().out.splitlines()]
    heads = [i for i, row in enumerate(rows) if row[:1] == ["moved"]]
    return rows[heads[0] + 1 : rows.index([])] if heads else []


@pytest.fixture(autouse=True)
def empty(project):
    """A project that has nothing to make."""
    (project / "conf" / "workflow.yaml").write_text(yaml.safe_dump({"series": {}}))


TURNED = ["compare/one", "verdict", "agrees", "disagrees"]
MOVED = ["compare/one", "S_scanned", "0.5", "0.52", "0.01"]
NO_NUMBER = ["compare/one", "S_scanned", "0.5", "nan", "0.01"]


@pytest.mark.parametrize(
    ("now", "told"),
    [
        ({"verdict": "disagrees", "S_scanned": 0.52, "k": 3.0}, [TURNED, MOVED]),
        ({"S_scanned": math.nan}, [NO_NUMBER]),
        ({"S_scanned": 0.509}, []),  # within u
        ({"S_scanned": 0.52, "S_scanned_u": 0.03}, []),  # within the larger u
        ({"k": 100.0}, []),  # without u
    ],
)
def test_what_moved_by_more_than_u_and_what_turned_is_told(
    now, told, capsys, monkeypatch
):
    assert said_after(BEFORE | now, capsys, monkeypatch) == told
