"""How each name of the plan stands: done, gone, or wanted; decided by content."""

import hashlib
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pipeline.store.keys import KEY_LENGTH
from pipeline.store.plan_file import (
    TABLE,
    Document,
    plan_path,
    read_by,
    read_documents,
    read_plan,
    write_if_other,
)
from pipeline.store.receipts import (
    FAILED_RUN,
    Made,
    Receipt,
    read_receipt,
    receipt_path,
)
from pipeline.store.runs import RESULTS, Job, failed_attempts, finished

DONE, GONE, WANTED = "done", "gone", "wanted"

# Why a receipt that is there is made again; the plan's file says it, so that Snakemake
# sees that file as newer.
AGAIN = {GONE: "its run is gone", WANTED: "its run was made of something else"}
AGAIN_FAILED = "its failed runs are tried again"


@dataclass(frozen=True)
class PlannedName:
    """A name of the plan, its jobs as they would be run now, and its state.

    Parameters
    ----------
    state : of DONE, GONE, WANTED
    failed : how many of its runs failed by themselves, of a study
    """

    reference: str
    jobs: tuple[Job, ...]
    state: str
    failed: int = 0


def job_of(row: Mapping[str, Any], made: Mapping[str, Made]) -> Job:
    """The job that a row of the plan is, given the runs that it reads.

    Parameters
    ----------
    made : by the name that the row has for it
    """
    upstream: dict[str, Any] = {}
    needs: dict[str, Any] = {}
    for role, names in row["needs"].items():
        if isinstance(names, str):
            upstream[role], needs[role] = made[names].digest, made[names].key
        else:
            upstream[role] = [made[name].digest for name in names]
            needs[role] = [made[name].key for name in names]
    identity = {**row["identity"], "upstream": upstream}
    listed = {name: tuple(row[name]) for name in ("paths", "modules")}
    return Job(**{**row, **listed, "identity": identity, "needs": needs})


def run_names(document: Document) -> list[str]:
    """What others call each run of a name."""
    name = f"{document['step']}/{document['name']}"
    rows = document["jobs"]
    if not document["batch"]:
        return [name] * len(rows)
    return [f"{name}:{i}" for i in range(len(rows))]


def table_key(document: Document, results: Path = RESULTS) -> str:
    """What the table of a study was made of."""
    texts = [str(document["members"])]
    texts += [str(read_receipt(name, results)) for name in document["needs"]]
    return hashlib.sha256("\n".join(texts).encode()).hexdigest()[:KEY_LENGTH]


@dataclass
class _Walk:
    """Goes through the plan from what is read to what reads it."""

    found: Mapping[str, Document]
    results: Path
    hopeful: bool
    made: dict[str, Made] = field(default_factory=dict)
    standings: dict[str, PlannedName] = field(default_factory=dict)

    def standing(self, name: str) -> PlannedName:
        """How one name stands."""
        if name not in self.standings:
            document = self.found[name]
            for needed in {n for ns in read_by(document).values() for n in ns}:
                self.standing(needed)
            of_table = document["step"] == TABLE
            self.standings[name] = (self._table if of_table else self._runs)(name)
        return self.standings[name]

    def _runs(self, name: str) -> PlannedName:
        document = self.found[name]
        receipt = read_receipt(name, self.results)
        jobs = tuple(job_of(row, self.made) for row in document["jobs"])
        state = self._state(receipt, [job.key for job in jobs])
        for i, (run, job) in enumerate(zip(run_names(document), jobs, strict=True)):
            known = receipt is not None and i < len(receipt.runs)
            if known and receipt and (state == DONE or self.hopeful):
                self.made[run] = Made(receipt.runs[i].digest, job.key)
            else:
                self.made[run] = Made(f"not made: {run}", job.key)
        runs = receipt.runs if receipt and state == DONE else ()
        failed = sum(run.digest == FAILED_RUN for run in runs)
        return PlannedName(name, jobs, state, failed)

    def _state(self, receipt: Receipt | None, keys: list[str]) -> str:
        if receipt is None or [run.key for run in receipt.runs] != keys:
            return WANTED
        there = (
            run.digest == FAILED_RUN or finished(run.key, self.results)
            for run in receipt.runs
        )
        return DONE if all(there) else GONE

    def _table(self, name: str) -> PlannedName:
        document, receipt = self.found[name], read_receipt(name, self.results)
        file = self.results / "study" / document["name"] / "table.csv"
        read = [self.standings[n].state == DONE for n in document["needs"]]
        same = receipt is not None and receipt.key == table_key(document, self.results)
        state = (DONE if file.is_file() else GONE) if same and all(read) else WANTED
        return PlannedName(name, (), state)


def standings(
    found: Mapping[str, Document], results: Path = RESULTS, *, hopeful: bool = False
) -> dict[str, PlannedName]:
    """How every name stands, in the order of the plan.

    Parameters
    ----------
    hopeful : take what will be made again to come out as it was; else what reads it
        is not done either
    """
    walk = _Walk(found, results, hopeful)
    return {name: walk.standing(name) for name in found}


def planned_jobs_now(results: Path = RESULTS) -> list[Job]:
    """Every job of the plan that was written last, with the keys of now."""
    found = standings(read_documents(read_plan(results), results), results)
    return [job for standing in found.values() for job in standing.jobs]


def _modified(path: Path) -> int:
    try:
        return path.stat().st_mtime_ns
    except OSError:
        return 0


def settle(
    found: Mapping[str, Document], results: Path = RESULTS, *, retry: bool = False
) -> dict[str, PlannedName]:
    """Write the plan's files such that Snakemake sees what content decides.

    The file of a name is written only where it says something new. What is done is
    given a time after that of all it was made of, as in a project that was copied; what
    must be made again though its receipt is there is told so in the plan's file.

    Parameters
    ----------
    retry : make what failed by itself again
    """
    now = standings(found, results)
    for name, standing in now.items():
        document, path = found[name], plan_path(name, results)
        read = {n for names in read_by(document).values() for n in names}
        again = _again(standing, [now[n] for n in read], results, retry=retry)
        write_if_other(path, {**document, "again": again}, compact=document["batch"])
        receipt = receipt_path(name, results)
        inputs = [path, *(receipt_path(n, results) for n in read)]
        newest = max(map(_modified, inputs))
        if standing.state == DONE and not again and newest > _modified(receipt):
            os.utime(receipt, ns=(newest, newest))
    return now


def _has_failed(standing: PlannedName, results: Path) -> bool:
    return standing.state != DONE and any(
        failed_attempts(job.key, results) for job in standing.jobs
    )


def _again(
    standing: PlannedName, read: list[PlannedName], results: Path, *, retry: bool
) -> str:
    """Why a receipt that is there is made again; "" where it holds, or there is none.

    Where only what it reads is to be made again, Snakemake knows by itself.
    """
    if retry and (standing.failed or _has_failed(standing, results)):
        return AGAIN_FAILED
    if standing.state == DONE:
        return ""
    there = receipt_path(standing.reference, results).is_file()
    ready = all(one.state == DONE for one in read)
    return AGAIN[standing.state] if there and ready else ""
