"""Jobs of a plan, done one after the other with bodies of a test's own."""

from collections.abc import Iterable
from pathlib import Path

from pipeline.store.attempts import Body, run_once
from pipeline.store.plan_file import (
    Batch,
    documents,
    read_documents,
    read_plan,
    write_index,
)
from pipeline.store.receipts import Made, content_digest, write_receipt
from pipeline.store.runs import Job
from pipeline.store.standing import settle, standings


def write_plan(jobs: Iterable[Job], results: Path) -> None:
    """Write a plan of single jobs."""
    found = documents([Batch((job,)) for job in jobs])
    settle(found, results)
    write_index(found, {}, results=results)


def run_planned(job: Job, body: Body, results: Path) -> Path:
    """Do a job of the plan with `body`; leave its receipt."""
    name = f"{job.step}/{job.name}"
    found = read_documents(read_plan(results), results)
    (now,) = standings(found, results)[name].jobs
    directory = run_once(now, body, results)
    made = Made(content_digest(directory), now.key)
    write_receipt(name, [made], batch=False, results=results)
    return directory
