"""The measured sets in the report: verdicts, coverage, the prediction they rest on."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pipeline.pages.links import relative
from pipeline.store.files import read_json

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
