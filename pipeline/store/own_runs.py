"""Runs that a person asked for by hand: results/own/<name> points to the run."""

import hashlib
import re
from collections.abc import Sequence
from pathlib import Path

from pipeline.store.files import point_to
from pipeline.store.runs import RESULTS

OWN = "own"
LONGEST = 80  # letters of a name


def own_name(case: str, words: Sequence[str]) -> str:
    """The case, and what differs from it, as the name of a folder."""
    others = [w for w in words if not w.startswith(("case=", "hydra."))]
    text = ",".join([case, *(w.lstrip("+~").removeprefix("case.") for w in others)])
    plain = re.sub(r"[^\w.+=,-]+", "_", text).strip("._")
    if len(plain) <= LONGEST:
        return plain
    return f"{plain[: LONGEST - 9]}-{hashlib.sha256(text.encode()).hexdigest()[:8]}"


def keep_own(name: str, directory: Path, results: Path = RESULTS) -> Path:
    """Let a name point to a run; the name as a path."""
    link = results / OWN / name
    point_to(link, directory)
    return link


def own_runs(results: Path = RESULTS) -> dict[str, Path]:
    """The runs that were made by hand, by name."""
    links = sorted((results / OWN).glob("[!.]*"))
    found = {link.name: (results / "runs" / link.resolve().name) for link in links}
    return {name: path for name, path in found.items() if (path / "run.json").is_file()}
