"""What a person is told of a comparison, whoever asks for it."""

import csv
import json
from pathlib import Path

import pytest

from pipeline.commands.run import say
from pipeline.results.verdicts import told_comparison

ROW = {
    "verdict": "differs",
    "why": "S is off by 9 u",
    "S_simulated": 0.9,
    "S_scanned": 0.81,
    "S_scanned_u": 0.01,
    "rms_mm": 1.25,
    "labelled": 4,
    "nodes": 5,
    "synthetic": True,
}


def test_a_comparison_made_by_its_name_says_its_verdict(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    plan, place = (project / "results" / p / "compare" for p in ("plan", ""))
    plan.mkdir(parents=True)
    (plan / "one.json").write_text(json.dumps({"step": "compare", "batch": False}))
    (place / "one").mkdir(parents=True)
    with (place / "one" / "comparison.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, list(ROW))
        writer.writeheader()
        writer.writerow(ROW)
    say("compare/one")
    said = capsys.readouterr().out
    assert said.startswith("differs: S is off by 9 u\n")
    assert "S simulated 0.90000, scanned 0.81000 +- 0.01000; node rms 1.250 mm" in said
    assert "4 of 5 nodes labelled; synthetic scan" in said
    assert told_comparison(Path("results/compare/one")) in said
    lines = ["node,basis", *(f"{k},seen" for k in range(4)), "4,missing"]
    (place / "one" / "nodes.csv").write_text("\n".join(lines))
    lost = "4 of 5 nodes labelled (no sphere at node 4: S, E and distances are of the"
    assert f"{lost} other 4, also" in told_comparison(Path("results/compare/one"))
