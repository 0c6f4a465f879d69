"""Which modules the code of a run was: results/code/<code>.json.

The identity of a run holds one digest of its code. The digests of the modules behind it
are kept once for all runs of the same code, so that it can be said later which of them
changed.
"""

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from pipeline.store.files import read_json, write_json
from pipeline.store.keys import code_digest, decisive, named_modules
from pipeline.store.runs import RESULTS, Job
from pipeline.terminal.errors import InputError


@cache
def _parts(modules: frozenset[str]) -> dict[str, str]:
    return decisive(modules)[0]


def parts_of_job(job: Job) -> dict[str, str]:
    """Digests of the modules that decide a job now, by name."""
    return _parts(named_modules(job.step, job.config, job.modules))


def _place(code: str, results: Path) -> Path:
    return results / "code" / f"{code[:32]}.json"


def keep_code(job: Job, results: Path = RESULTS) -> None:
    """Leave the digests of the modules of a job that is about to run."""
    code = str(job.identity.get("code", ""))
    if not code or kept_code(job.identity, results):
        return
    parts = parts_of_job(job)
    if code_digest(parts) == code:  # else its code was another process's
        write_json(_place(code, results), parts)


def kept_code(identity: Mapping[str, Any], results: Path = RESULTS) -> dict[str, str]:
    """Digests of the modules that an identity was made of; none where none are kept."""
    try:
        kept = read_json(_place(str(identity.get("code", "")), results))
    except InputError:
        return {}
    return {str(k): str(v) for k, v in kept.items()} if isinstance(kept, dict) else {}
