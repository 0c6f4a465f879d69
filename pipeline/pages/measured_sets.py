"""The measured sets in the report: verdicts, coverage, the prediction they rest on."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from analysis.measured.judgement import mean_coverage
from pipeline.pages.links import relative
from pipeline.store.files import read_json
from pipeline.terminal.errors import by_reason

TONES = {"agrees": "good", "differs": "bad", "cannot tell": "unsure"}
FILES = ("measured.csv", "prediction.csv", "left_out.csv", "parameters.csv")


def measured_sets(jobs: Sequence[Mapping[str, Any]], out: Path) -> list[dict[str, Any]]:
    """A section for each measured set that has been compared."""
    drawn = {key: j for j in jobs if j["step"] == "figure" for key in j["needs"]}
    sections = []
    for job in jobs:
        if job["step"] != "measured" or job["status"] != "finished":
            continue
        said = read_json(job["directory"] / "verdict.json")
        figure = drawn.get(job["key"])
        sections.append(
            {
                **said,
                "name": job["name"],
                "key": job["key"],
                "anchor": f"set-{job['name']}",
                "figure": f"#figure-{figure['key']}" if figure else "",
                "covered": coverages([said["inside"]]),
                "reasons": list(by_reason(said["refused"])),
                "verdicts": [
                    row | {"tone": TONES[row["verdict"]]} for row in said["verdicts"]
                ],
                "files": [
                    {"name": n, "href": relative(job["directory"] / n, out)}
                    for n in FILES
                    if (job["directory"] / n).is_file()
                ],
                "edits": job["edits"],
            }
        )
    return sections


def coverages(sets: Sequence[Mapping[str, float]]) -> dict[str, Any] | None:
    """The mean of sets in which records were predicted without themselves, if any.

    Parameters
    ----------
    sets : of each, by record, the share of its rows inside their intervals
    """
    shares = [np.array(list(own.values())) for own in sets if own]
    return asdict(mean_coverage(shares)) if shares else None
