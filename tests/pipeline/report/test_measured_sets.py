"""The coverage of measured sets in the report: by set, and in their mean."""

from functools import partial
from pathlib import Path
from typing import Any

import pytest

from pipeline.report.collected_runs import collect_jobs
from pipeline.report.index import write_report
from pipeline.report.sections import coverages, measured_sets
from pipeline.runs.atomic_files import write_json
from pipeline.runs.run_attempts import Body
from pipeline.runs.run_directory import Job
from tests.pipeline.named_runs import run_named


def compared(results: Path, name: str, body: Body) -> None:
    """A finished comparison of a measured set."""
    run_named(
        Job("measured", name, {"step": "measured", "name": name}, {}), body, results
    )


def collected(results: Path, *names: str) -> list[dict[str, Any]]:
    """Comparisons as the report collects them."""
    return collect_jobs([("measured", n) for n in names], lambda *_: [], results)


def write_verdict(out: Path, name: str, inside: dict[str, float]) -> dict[str, Any]:
    """What a comparison leaves for the report."""
    verdict = {
        "quantity": "radius", "part": "predicted", "unit": "mm", "verdict": "differs",
        "why": "larger than the uncertainty",
        "rms_E": 0.1, "rms_u_val": 0.05, "aim": 0.2,
        "records_within_aim": 2, "records": 3, "coverage": 0.75, "coverage_low": 0.5,
        "coverage_high": 1.0, "interval_score": 0.9,
    }  # fmt: skip
    said: dict[str, Any] = dict.fromkeys(("title", "source", "licence"), name)
    refused = {n: f"data/{n}.csv: {name} is not stated" for n in ("r1", "r2")}
    said |= {"inside": inside, "verdicts": [verdict], "refused": refused}
    said["prediction"] = {"key": "k", "sha256": "f" * 64, "committed": True}
    write_json(out / "verdict.json", {**said, "variants_tried": 1, "k": 2.0})
    return {}


def test_coverage_is_by_set_and_in_their_mean(tmp_path):
    inside: dict[str, dict[str, float]] = {
        "one": {"a": 1.0, "b": 1.0, "c": 0.5, "d": 0.5},
        "two": {"a": 0.25},
        "none": {},
    }
    for name, shares in inside.items():
        compared(tmp_path, name, partial(write_verdict, name=name, inside=shares))
    jobs = collected(tmp_path, *inside)
    sets = measured_sets(jobs)
    assert [s["covered"] and s["covered"]["value"] for s in sets] == [0.75, 0.25, None]
    assert sets[0]["covered"]["low"] < 0.7 < 0.8 < sets[0]["covered"]["high"]
    mean = coverages([s["inside"] for s in sets])
    assert mean is not None
    assert (mean["value"], mean["records"]) == (pytest.approx(0.5), 5)
    assert mean["high"] == pytest.approx(0.5 * (sets[0]["covered"]["high"] + 0.25))
    text = write_report(jobs, [], tmp_path).read_text()
    assert text.count("No rows of r1, r2: one is not stated.") == 1
    table = text[text.index("Each record counts once") :]
    table = " ".join(table[: table.index("</table>")].split())
    assert "two</a></td><td>1</td><td>25 % (25 to 25)</td>" in table
    assert "mean of the sets</td><td>5</td><td>50 % (" in table
    assert "none" not in table


def test_without_records_there_is_no_coverage():
    assert coverages([{}, {}]) is None
