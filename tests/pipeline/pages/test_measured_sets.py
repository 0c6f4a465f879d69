"""The coverage of measured sets in the report: by set, and in their mean."""

import re
from pathlib import Path
from typing import Any

import pytest

from pipeline.pages.jobs import _state
from pipeline.pages.measured_sets import coverages, measured_sets
from pipeline.pages.report import write_report
from pipeline.store.files import write_json
from pipeline.store.runs import Job
from tests.pipeline.conftest import ROOT
from tests.pipeline.figure_runs import measured_row


def compared(folder: Path, name: str, inside: dict[str, float]) -> dict[str, Any]:
    """A finished comparison, as the report collects it."""
    (folder / name).mkdir()
    verdict = {
        "quantity": "radius", "part": "predicted", "unit": "mm", "verdict": "differs",
        "why": "more than chance explains", "rms_E": 0.1, "rms_u_val": 0.05, "aim": 0.2,
        "records_within_aim": 2, "records": 3, "coverage": 0.75, "coverage_low": 0.5,
        "coverage_high": 1.0, "interval_score": 0.9,
    }  # fmt: skip
    said: dict[str, Any] = dict.fromkeys(("title", "source", "licence"), name)
    refused = {n: f"data/{n}.csv: {name} is not stated" for n in ("r1", "r2")}
    said |= {"inside": inside, "verdicts": [verdict], "refused": refused}
    said["prediction"] = {"key": "k", "sha256": "f" * 64, "committed": True}
    write_json(folder / name / "verdict.json", {**said, "variants_tried": 1, "k": 2.0})
    known = {"step": "measured", "name": name}
    job = Job("measured", name, known, {}, {}, (), {})
    own = {"status": "finished", "directory": folder / name}
    return {**_state(job, {}, folder), **own}


def test_coverage_is_by_set_and_in_their_mean(tmp_path: Path) -> None:
    jobs = [
        compared(tmp_path, "one", {"a": 1.0, "b": 1.0, "c": 0.5, "d": 0.5}),
        compared(tmp_path, "two", {"a": 0.25}),
        compared(tmp_path, "none", {}),
    ]
    sets = measured_sets(jobs, tmp_path)
    assert [s["covered"] and s["covered"]["value"] for s in sets] == [0.75, 0.25, None]
    assert sets[0]["covered"]["low"] < 0.7 < 0.8 < sets[0]["covered"]["high"]
    mean = coverages([s["inside"] for s in sets])
    assert mean is not None
    assert (mean["value"], mean["records"]) == (pytest.approx(0.5), 5)
    assert mean["high"] == pytest.approx(0.5 * (sets[0]["covered"]["high"] + 0.25))
    text = write_report(jobs, [], tmp_path).read_text()
    assert text.count("No rows of r1, r2: one is not stated.") == 1
    table = text[text.index("each record counted once") :]
    table = " ".join(table[: table.index("</table>")].split())
    assert "two</a></td><td>1</td><td>25 % (25 to 25)</td>" in table
    assert "mean of the sets</td><td>5</td><td>50 % (" in table
    assert "none" not in table


def test_without_records_there_is_no_coverage() -> None:
    assert coverages([{}, {}]) is None


@pytest.mark.long
def test_the_docs_have_the_coverage_table_of_the_report(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every set compared with the prediction that is committed of it."""
    monkeypatch.chdir(ROOT)
    docs = (ROOT / "docs" / "measured.md").read_text()
    lines = docs[docs.index("## Coverage") : docs.index("## nist_spheres")].splitlines()
    rows = [
        [cell.strip() for cell in line.split("|")[1:4]]
        for line in lines
        if " % (" in line
    ]
    told = {cells[0]: cells[1:] for cells in rows if len(cells) == 3}
    jobs = []
    for name in (name for name in told if name != "mean"):
        measured_row(name, tmp_path / name)
        job = Job("measured", name, {"step": "measured", "name": name}, {}, {}, (), {})
        own = {"status": "finished", "directory": tmp_path / name}
        jobs.append({**_state(job, {}, tmp_path), **own})
    text = write_report(jobs, [], tmp_path).read_text()
    table = text[text.index("each record counted once") :].split("</table>")[0]
    found = [
        [re.sub(r"\s*<[^>]*>\s*", "", cell) for cell in row.split("</td>")[:3]]
        for row in table.split("<tr>")[2:]
    ]
    shown = {name.replace("mean of the sets", "mean"): own for name, *own in found}
    assert len(shown) == 6
    assert told == shown
