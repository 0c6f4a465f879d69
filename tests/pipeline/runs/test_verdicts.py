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
    with (tmp_path / "comparison.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, list(ROW))
        writer.writeheader()
        writer.writerow(ROW)
    said = comparison_summary(tmp_path)
    assert said.startswith("differs: S is off by 9 u\n")
    assert "S simulated 0.90000, scanned 0.81000 +- 0.01000; node rms 1.250 mm" in said
    assert "4 of 5 nodes labelled; synthetic scan" in said
    lines = ["node,basis", *(f"{k},seen" for k in range(4)), "4,missing"]
    (tmp_path / "nodes.csv").write_text("\n".join(lines))
    lost = "4 of 5 nodes labelled (no sphere at node 4: S, E and distances of"
    assert f"{lost} scan and simulation use the other 4 nodes)" in comparison_summary(
        tmp_path
    )
