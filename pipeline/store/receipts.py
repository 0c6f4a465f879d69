"""Receipts: results/made/<step>/<name> says which run a name stands for.

Its first line is the digest of what that run holds, its second the run's key. Where the
name is a batch of a study, the two are of all its runs, and a line a run follows:
digest and key, or `failed` and key. What reads a run asks for the digest only: a run
that was made again and came out the same makes nothing after it run.
"""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pipeline.store.digests import recorded_digests
from pipeline.store.files import read_json, write_text
from pipeline.store.keys import KEY_LENGTH
from pipeline.store.provenance.sidecar import SUFFIX
from pipeline.store.runs import RESULTS, run_record

FAILED_RUN = "failed"

# What a person looks at, and what says when, where and by which attempt a run was made.
PICTURES = {".pdf", ".png", ".svg", ".html", ".gif"}
CIRCUMSTANCES = {"owner.json", "heartbeat", "continued.json", "traceback.txt"}
RECORD = "run.json"


@dataclass(frozen=True)
class Made:
    """One run: the digest of its content, and its key."""

    digest: str
    key: str


@dataclass(frozen=True)
class Receipt:
    """What a name stands for.

    Parameters
    ----------
    digest, key : of its run, or of all runs of a batch
    runs : a batch has several
    """

    digest: str
    key: str
    runs: tuple[Made, ...]


def receipt_path(reference: str, results: Path = RESULTS) -> Path:
    """Where the receipt of <step>/<name> is."""
    return results / "made" / reference


def _hash(value: object) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()


def content_files(directory: Path) -> dict[str, str]:
    """Digests of the tables, arrays and documents of a run, by name."""
    return {
        name: digest
        for name, digest in recorded_digests(directory).items()
        if Path(name).suffix not in PICTURES
        and not name.endswith(SUFFIX)
        and Path(name).name not in CIRCUMSTANCES
        and Path(name).name != RECORD
    }


def inner_results(directory: Path) -> dict[str, Any]:
    """Results of the runs inside of a run, by the name of their record."""
    return {
        path.relative_to(directory).as_posix(): read_json(path).get("result")
        for path in sorted(directory.glob(f"*/**/{RECORD}"))
    }


def content_digest(directory: Path) -> str:
    """A digest of all that other runs read of a finished run.

    Tables, arrays, documents, the configuration and the result; neither times, host,
    process, attempt, commit nor keys. Of runs inside of this one, the result.
    """
    record = run_record(directory)
    files, inner = content_files(directory), inner_results(directory)
    return _hash([record["identity"]["config"], record["result"], files, inner])


def receipt_of(runs: Sequence[Made], *, batch: bool) -> str:
    """The text of a receipt."""
    if not batch:
        (run,) = runs
        return f"{run.digest}\n{run.key}\n"
    lines = [f"{run.digest} {run.key}\n" for run in runs]
    key = _hash([run.key for run in runs])[:KEY_LENGTH]
    return f"{_hash(lines)}\n{key}\n{''.join(lines)}"


def write_receipt(
    reference: str, runs: Sequence[Made], *, batch: bool, results: Path = RESULTS
) -> None:
    """Say which runs <step>/<name> stands for."""
    write_text(receipt_path(reference, results), receipt_of(runs, batch=batch))


def read_receipt(reference: str, results: Path = RESULTS) -> Receipt | None:
    """What <step>/<name> stands for; None where it was not made, or is not whole."""
    try:
        text = receipt_path(reference, results).read_text(encoding="utf-8")
    except (FileNotFoundError, UnicodeDecodeError):
        return None
    digest, *rest = text.split("\n")[:-1] or [""]
    if not rest:
        return None
    key, *lines = rest
    pairs = [line.partition(" ") for line in lines]
    runs = tuple(Made(of, run) for of, _, run in pairs)
    return Receipt(digest, key, runs or (Made(digest, key),))
