"""Making what a name of the plan stands for.

The key of a run is made here, of what the plan's file says and of the digests in the
receipts of what it reads. Where that run is there already, nothing runs.
"""

import sys
from pathlib import Path

from pipeline.store.attempts import run_once
from pipeline.store.durable import sync
from pipeline.store.files import point_to
from pipeline.store.keys import file_digest, identity
from pipeline.store.plan_file import TABLE, Document, of_batch, read_document
from pipeline.store.receipts import (
    FAILED_RUN,
    Made,
    content_digest,
    read_receipt,
    write_receipt,
)
from pipeline.store.runs import (
    RESULTS,
    Job,
    Needs,
    failed_attempts,
    finished,
    run_record,
)
from pipeline.store.standing import AGAIN_FAILED, job_of, table_key
from pipeline.store.variations import Variations
from pipeline.studies.members import study_directory
from pipeline.terminal.errors import (
    FAILED,
    InputError,
    RunFailedError,
    one_line,
)
from pipeline.workflow.steps_table import STEPS

AS_BEFORE = "(it failed before; morphtrack make --retry-failed tries it again)"


def _check_key(job: Job) -> None:
    """Refuse a job whose code or files changed since it was planned."""
    now = identity(
        job.step,
        job.config,
        upstream=job.identity["upstream"],
        files=[file_digest(Path(p)) for p in job.paths],
        modules=job.modules,
    )
    if now != job.identity:
        changed = [k for k in now if now[k] != job.identity.get(k)]
        raise InputError(
            f"{job.step} {job.name}: {', '.join(changed)} changed since the plan was "
            "made: run it again"
        )


def _made(document: Document) -> dict[str, Made]:
    """The runs that a name reads, by what the plan calls them."""
    found: dict[str, Made] = {}
    for row in document["jobs"]:
        for value in row["needs"].values():
            for name in [value] if isinstance(value, str) else value:
                found[name] = found.get(name) or _run_of(name, document)
    return found


def _run_of(name: str, document: Document) -> Made:
    receipt = read_receipt(of_batch(name))
    if receipt is None:
        by = f"{document['step']}/{document['name']}"
        raise InputError(
            f"{by} needs {of_batch(name)}, which is not made yet: "
            f"snakemake --cores 1 results/made/{by} makes both"
        )
    number = name.partition(":")[2]
    return receipt.runs[int(number) if number else 0]


def _directory(role: str, key: str) -> Path:
    directory = finished(key)
    if directory is not None:
        return directory
    failed = failed_attempts(key)
    if failed:
        record = run_record(failed[-1])
        raise RunFailedError(
            f"it needs {record['step']} {record['name']}, which failed: "
            f"{record['reason']}"
        )
    raise InputError(
        f"the run that it needs as {role} is gone (results/runs/{key}): "
        "run make figures"
    )


def _needs(job: Job) -> Needs:
    return {
        role: _directory(role, key)
        if isinstance(key, str)
        else [_directory(role, one) for one in key]
        for role, key in job.needs.items()
    }


def perform_planned(job: Job) -> Path:
    """Run one job of the plan, unless its run is there."""
    _check_key(job)
    return run_once(job, lambda out: STEPS[job.step].perform(job, _needs(job), out))


def _performed(job: Job, *, retry: bool) -> Made | None:
    """The run of a job; None where it is to be tried, or failed and is no row.

    What failed by itself would fail again: it is not tried unless that is asked for.
    """
    of_study = "study" in job.tags
    before = [] if retry or finished(job.key) else failed_attempts(job.key)
    if before and of_study:
        return Made(FAILED_RUN, job.key)
    try:
        if before:
            raise RunFailedError(f"{run_record(before[-1])['reason']} {AS_BEFORE}")
        return Made(content_digest(perform_planned(job)), job.key)
    except RunFailedError as error:
        name = Variations(RESULTS).beside(job.name, job.tags.get("study"), job.key)
        print(f"error: {job.step} {name}: {one_line(error)}", file=sys.stderr)
        by_itself = of_study and failed_attempts(job.key)  # else it is tried again
        return Made(FAILED_RUN, job.key) if by_itself else None


def jobs_of(name: str) -> list[Job]:
    """The jobs of a name, once all that they read is made; InputError before."""
    document = read_document(name)
    made = _made(document)
    return [job_of(row, made) for row in document["jobs"]]


def perform_name(name: str) -> int:
    """Make what <step>/<name> stands for; leave its receipt if nothing failed."""
    document = read_document(name)
    if document["step"] == TABLE:
        return _tabulate(name, document)
    retry = document["again"] == AGAIN_FAILED
    jobs = jobs_of(name)
    runs = [_performed(job, retry=retry) for job in jobs]
    whole = [run for run in runs if run is not None]
    if len(whole) < len(runs):
        return FAILED
    write_receipt(name, whole, batch=document["batch"])
    if not document["batch"]:
        point_to(RESULTS / name, RESULTS / "runs" / whole[0].key)
    return 0


def _tabulate(name: str, document: Document) -> int:
    """Write the table of a study; its plots take seconds to import."""
    from pipeline.steps.study_table import write_study

    table = write_study(document["name"])
    counts = ", ".join(f"{n} {s}" for s, n in table["status"].value_counts().items())
    print(f"study {document['name']}: {counts}")
    key = table_key(document)
    sync(study_directory(document["name"]))
    write_receipt(name, [Made(key, key)], batch=False)
    return 0
