"""Verdicts read back from finished comparisons."""

import csv
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

VERDICTS = "compare"  # the step that comes to them
TABLE = "comparison.csv"


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
    paths = [results / VERDICTS / name / TABLE for name in names]
    return [_read(path) for path in paths if path.is_file()]


def told_comparison(directory: Path) -> str:
    """What a person is told of a finished comparison: verdict, reason and numbers.

    Nodes without a sphere are named: S, and what else is said, is of the others.
    """
    row = _row(directory / TABLE)
    numbers = {k: float(row[k]) for k in ("S_simulated", "S_scanned", "S_scanned_u")}
    return (
        f"{row['verdict']}: {row['why']}\n"
        f"S simulated {numbers['S_simulated']:.5f}, scanned {numbers['S_scanned']:.5f} "
        f"+- {numbers['S_scanned_u']:.5f}; node rms {float(row['rms_mm']):.3f} mm; "
        f"{row['labelled']} of {row['nodes']} nodes labelled{_left_out(directory)}; "
        f"{'synthetic scan; ' if _is_synthetic(row) else ''}tables in {directory}"
    )


def _left_out(directory: Path) -> str:
    """Nodes that are not compared, since no sphere and no body says where they are."""
    path = directory / "nodes.csv"
    if not path.is_file():
        return ""
    with path.open(newline="", encoding="utf-8") as file:
        rows = [(row["node"], row["basis"]) for row in csv.DictReader(file)]
    lost = [node for node, basis in rows if basis == "missing"]
    if not lost:
        return ""
    which = f"node {lost[0]}" if len(lost) == 1 else f"nodes {', '.join(lost)}"
    return (
        f" (no sphere at {which}: S, E and distances are of the other "
        f"{len(rows) - len(lost)}, also of the simulation)"
    )


def _row(path: Path) -> dict[str, str]:
    with path.open(newline="", encoding="utf-8") as file:
        return next(csv.DictReader(file))


def _is_synthetic(row: Mapping[str, str]) -> bool:
    return row["synthetic"].lower() == "true"


def _read(path: Path) -> ToldVerdict:
    row = _row(path)
    return ToldVerdict(
        path.parent.name,
        row["verdict"],
        float(row["S_simulated"]),
        float(row["S_scanned"]),
        float(row["S_scanned_u"]),
        _is_synthetic(row),
    )
