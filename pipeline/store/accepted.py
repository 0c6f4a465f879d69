"""Runs that a person keeps over a change of code: results/accepted/<new key>.json.

The run of the new key holds the files of the old one, with the identity of now and the
note of who accepted it, why, and which runs were repeated to see that nothing changed.
"""

import shutil
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from pipeline.store.attempts import claim, publish
from pipeline.store.code_parts import keep_code
from pipeline.store.digests import DIGESTS, write_digests
from pipeline.store.files import write_json
from pipeline.store.receipts import RECORD
from pipeline.store.runs import RESULTS, Job, finished, run_record


@dataclass(frozen=True)
class CodeAcceptance:
    """Why results hold though the code that made them changed.

    Parameters
    ----------
    sample : step and name of the runs that were repeated, to the same bits
    at : time, ISO 8601
    """

    who: str
    why: str
    at: str
    sample: tuple[str, ...]


def accept_run(
    job: Job, then: Path, acceptance: CodeAcceptance, results: Path = RESULTS
) -> Path:
    """Let the finished run in `then` be the run of `job`, too; its directory."""
    done = finished(job.key, results)
    if done is not None:
        return done
    note = {"key": job.key, "of": then.name, **asdict(acceptance)}
    write_json(results / "accepted" / f"{job.key}.json", note)
    keep_code(job, results)
    directory = claim(job, results)
    shutil.copytree(then, directory, dirs_exist_ok=True)
    (directory / DIGESTS).unlink(missing_ok=True)
    write_json(directory / RECORD, _as_of_now(run_record(then), job, note))
    write_digests(directory)
    return publish(directory, results / "runs" / job.key)


def _as_of_now(
    then: Mapping[str, Any], job: Job, note: Mapping[str, Any]
) -> dict[str, Any]:
    return {
        **then,
        "key": job.key,
        "identity": dict(job.identity),
        "needs": dict(job.needs),
        "modules": list(job.modules),
        "accepted": dict(note),
    }
