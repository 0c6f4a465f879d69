"""What a person is told of a comparison, whoever asks for it."""

import csv

from pipeline.runs.summary import comparison_summary

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


def test_a_comparison_says_its_verdict_and_which_nodes_were_lost(tmp_path):
    def said(**more: object) -> str:
        row = ROW | more
        with (tmp_path / "comparison.csv").open("w", newline="") as file:
            writer = csv.DictWriter(file, list(row))
            writer.writeheader()
            writer.writerow(row)
        return comparison_summary(tmp_path)

    assert said().startswith("differs: S is off by 9 u\n")
    numbers = "S simulated 0.90000, scanned 0.81000 +- 0.01000; node rms 1.250 mm"
    assert numbers in said()
    assert "4 of 5 nodes labelled; synthetic scan" in said(without_sphere="", missing=0)
    lost = "4 of 5 nodes labelled (no sphere at node{}: S, E and distances of scan and"
    one, two = (
        said(without_sphere="4", missing=1),
        said(without_sphere="3, 4", missing=1),
    )
    assert f"{lost.format(' 4')} simulation use 4 nodes)" in one
    assert f"{lost.format('s 3, 4')} simulation use 4 nodes)" in two  # one is computed
