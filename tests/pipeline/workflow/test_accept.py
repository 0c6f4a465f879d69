"""What a person keeps over a change of code, and what says that it cannot be kept."""

from pathlib import Path

import pytest
import yaml

from pipeline.commands.accept import main as accept
from pipeline.store import code_parts, keys
from pipeline.store.digests import edits
from pipeline.store.files import read_json
from pipeline.store.plan_file import read_documents
from pipeline.store.receipts import read_receipt
from pipeline.store.standing import DONE, standings
from pipeline.terminal.errors import FAILED
from pipeline.workflow.fresh import fresh_plan
from pipeline.workflow.run import perform_name
from tests.pipeline.conftest import ROOT

SERIES = {"case": "actuator_law", "measured": "way.csv", "synthetic": True}
WORKFLOW = {
    "series": {"way": SERIES},
    "figures": {"huang-3": {"cases": ["actuator_law"]}},
}
KEPT = ("simulate/actuator_law", "compare_series/way")
WORDS = ["--why", "a comment moved", "--who", "Ada"]


def key_of(name: str) -> str:
    receipt = read_receipt(name)
    assert receipt is not None
    return receipt.runs[0].key


@pytest.fixture
def changed(project: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """Keys of what was made before a module changed that all runs import."""
    (project / "conf" / "workflow.yaml").write_text(yaml.safe_dump(WORKFLOW))
    Path("way.csv").write_text("quantity,at,value,u,part\nmodulus,0.5,1,0,held out\n")
    for name in fresh_plan()["names"]:
        assert perform_name(name) == 0
    before = {name: key_of(name) for name in KEPT}
    decisive = keys.decisive

    def edited(modules: frozenset[str]) -> tuple[dict[str, str], frozenset[str]]:
        digests, foreign = decisive(modules)
        return {m: d[::-1] for m, d in digests.items()}, foreign

    for module in (keys, code_parts):
        monkeypatch.setattr(module, "decisive", edited)
    keys._code.cache_clear()
    code_parts._parts.cache_clear()
    Path("results/plan/plan.json").unlink()

    def here(words: object = ()) -> dict[str, object]:
        del words
        return fresh_plan()

    monkeypatch.setattr("pipeline.commands.accept.plan_without_compiling", here)
    yield before
    keys._code.cache_clear()
    code_parts._parts.cache_clear()


def test_what_comes_out_alike_is_kept_with_a_note(
    changed: dict[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert accept(WORDS) == 0
    said = capsys.readouterr().out
    assert "2 runs differ by their code alone; 2 are made again" in said
    now = standings(read_documents(fresh_plan()))
    for name in KEPT:
        assert now[name].state == DONE
        key = key_of(name)
        assert key != changed[name]
        note = read_json(Path("results/accepted") / f"{key}.json")
        assert (note["of"], note["who"], note["why"]) == (
            changed[name],
            "Ada",
            "a comment moved",
        )
        directory = Path("results/runs") / key
        assert read_json(directory / "run.json")["accepted"] == note
        assert not edits(directory)
    assert now["figure/huang-3"].state != DONE
    assert not list(Path("results/running").iterdir())


def test_one_run_that_comes_out_otherwise_keeps_nothing(
    changed: dict[str, str],
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(
        "pipeline.workflow.acceptance.content_digest", lambda place: str(place)
    )
    assert accept(WORDS) == FAILED
    assert "came out other than it was: nothing is kept" in capsys.readouterr().err
    assert not Path("results/accepted").exists()
    assert {p.name for p in Path("results/runs").iterdir()} >= set(changed.values())
    assert standings(read_documents(fresh_plan()))[KEPT[0]].state != DONE


def test_the_checks_of_a_change_never_keep_results() -> None:
    assert "accept" not in (ROOT / ".ci" / "run").read_text()
