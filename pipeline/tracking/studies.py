"""Studies in MLflow: one parent run a study, its runs as children."""

import hashlib
import time
from collections import Counter
from pathlib import Path
from typing import Any

from pipeline.store.files import read_json
from pipeline.store.keys import file_digest
from pipeline.store.runs import Ledger
from pipeline.tracking.store import Store


def _files(directory: Path) -> list[Path]:
    return sorted(path for path in directory.iterdir() if path.is_file())


def _digest(directory: Path) -> str:
    """Changes whenever a file of the study does."""
    digests = [f"{p.name} {file_digest(p)}" for p in _files(directory)]
    return hashlib.sha256("\n".join(digests).encode()).hexdigest()[:16]


def update_parents(store: Store, results: Path) -> None:
    """Bring the parent run of every study that changed up to date."""
    for path in sorted((results / "study").glob("*/members.json")):
        note = f"study {path.parent.name}"
        digest = _digest(path.parent)
        if store.known.get(note) == digest:
            continue
        if _update_parent(store, path, results):
            store.known[note] = digest


def _update_parent(store: Store, path: Path, results: Path) -> bool:
    """Counts, table and plots of one study; whether all its runs have ended.

    A study of which no run is there yet, planned beside others, has no parent yet.
    """
    wanted: dict[str, Any] = read_json(path)
    ledger = Ledger(results)
    states = Counter(ledger.state(m["key"]) for m in wanted["members"])
    if states["missing"] == len(wanted["members"]):
        return False
    parent = store.parent_run(wanted["study"])
    for state in ("finished", "pruned", "failed", "missing"):
        store.client.log_metric(parent, state, states[state])
    for file in _files(path.parent):
        store.client.log_artifact(parent, str(file))
    if not states["missing"]:
        now = round(time.time() * 1000)
        store.client.set_terminated(parent, "FINISHED", end_time=now)
    return not states["missing"]
