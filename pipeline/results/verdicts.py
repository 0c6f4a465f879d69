"""Verdicts read back from finished comparisons."""

import csv
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class ToldVerdict:
    """What a comparison came to.

    Parameters
    ----------
    S_scanned_u : standard uncertainty of S_scanned
    synthetic : whether its scan was computed
    """

    name: str
    verdict: str
    S_simulated: float
    S_scanned: float
    S_scanned_u: float
    synthetic: bool


def read_verdicts(names: Iterable[str], results: Path) -> list[ToldVerdict]:
    """Those of `names` that are there, in their order."""
    paths = [results / "compare" / name / "comparison.csv" for name in names]
    return [_read(path) for path in paths if path.is_file()]


def _read(path: Path) -> ToldVerdict:
    with path.open(newline="", encoding="utf-8") as file:
        row = next(csv.DictReader(file))
    return ToldVerdict(
        path.parent.name,
        row["verdict"],
        float(row["S_simulated"]),
        float(row["S_scanned"]),
        float(row["S_scanned_u"]),
        row["synthetic"].lower() == "true",
    )
