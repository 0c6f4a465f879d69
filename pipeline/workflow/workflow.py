"""Making what conf/workflow.yaml wants: lock, plan, fan out, track, report."""

import contextlib
import fcntl
import os
import resource
import select
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pipeline.config.workflow_file import Workflow
from pipeline.store.files import point_to
from pipeline.store.leases import sweep_dead
from pipeline.store.plan_file import TABLE, closure, read_documents
from pipeline.store.receipts import receipt_path
from pipeline.store.runs import RESULTS, finished
from pipeline.store.standing import DONE, settle, standings
from pipeline.terminal.board import board
from pipeline.terminal.errors import FAILED, InputError
from pipeline.workflow.fresh import plan_without_compiling
from pipeline.workflow.order import asked, check_figure, goal_of
from pipeline.workflow.page import Page
from pipeline.workflow.processes import (
    call,
    call_silently,
    environment,
    followed,
    to_log,
)
from pipeline.workflow.seen import Seen
from pipeline.workflow.warm import is_local, wanted_modules, warm
from pipeline.workflow.watch import PlanWatch

PROFILE = Path("conf/profile/local")
LOG = RESULTS / "log" / "snakemake.log"
VERBOSE = "show what Snakemake says; else it is in results/log/snakemake.log"
LOOK_SECONDS = 0.25
LEAST_FILES = 20  # with 10 open files, Snakemake misses programs that it does not need
TRACKING = Path("conf/tracking.yaml")
EMBEDDED = "results/mlflow/mlflow.db"  # the store, if no server is named


Failures = list[tuple[str, str]]


@dataclass(frozen=True)
class Running:
    """How Snakemake runs, and what a person sees of it.

    Parameters
    ----------
    profile : folder that tells Snakemake where jobs run
    cores : jobs side by side; None leaves it to the profile
    verbose : show what Snakemake says in place of a table
    track : bring runs into MLflow as they come
    title : of the table
    retry_failed : try again what failed by itself
    """

    profile: Path = PROFILE
    cores: int | None = None
    verbose: bool = False
    track: bool = True
    title: str = "make"
    retry_failed: bool = False


def _nothing() -> None:
    """Called where nobody waits for changes."""


@contextlib.contextmanager
def only_one(results: Path = RESULTS) -> Iterator[None]:
    """Hold the lock of this results folder; a second holder is refused.

    A command that is refused inside leaves no folder that was not there before. So is
    a shell that lets too few files be open for what runs inside.
    """
    files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if files < LEAST_FILES:
        raise InputError(
            f"this shell lets {files} files be open at once, and Snakemake takes "
            f"{LEAST_FILES}: raise the limit (ulimit -n)"
        )
    new = not results.exists()
    results.mkdir(parents=True, exist_ok=True)
    with (results / "lock").open("a+") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            file.seek(0)
            raise InputError(
                f"{results} is in use by process {file.read().strip() or 'unknown'}: "
                "wait for it, or stop it"
            ) from error
        file.truncate(0)
        file.write(str(os.getpid()))
        file.flush()
        try:
            yield
        except InputError:
            if new and list(results.iterdir()) == [results / "lock"]:
                shutil.rmtree(results)
            raise


def undone(plan: Mapping[str, Any], names: Sequence[str]) -> list[str]:
    """Those of `names`, and of what they are made of, that are not done."""
    found = standings(read_documents(plan))
    return [name for name in closure(plan, names) if found[name].state != DONE]


def fan_out(
    plan: Mapping[str, Any],
    names: Sequence[str],
    options: Running,
    changed: Callable[[], None] = _nothing,
) -> Failures:
    """Let Snakemake make what of `names` is not made yet, and show how far it is.

    Returns
    -------
    names that failed, with reasons

    Parameters
    ----------
    changed : called now and then, after something was made
    """
    words = [sys.executable, "-m", "snakemake", "--profile", str(options.profile)]
    words += ["--config", f"plan={plan['file']}"]
    if options.cores:
        words += ["--cores", str(options.cores)]
    if len(names) < len(plan["names"]):
        words += ["--", *(str(receipt_path(name)) for name in names)]
    left = undone(plan, names)
    watch = PlanWatch(plan, left)
    modules = wanted_modules(plan, left) if is_local(options.profile) else []
    if options.verbose:
        with warm(modules) as beside:
            subprocess.run(words, env={**environment(), **beside}, check=False)
        return watch.failures()
    with (
        warm(modules) as beside,
        to_log(LOG, words, beside) as snakemake,
        board(options.title) as shown,
    ):
        while True:
            ended = snakemake.poll() is not None
            shown.show(watch.look())
            changed()
            if ended:
                failed = watch.failures()
                if snakemake.returncode and not failed:
                    print(f"error: {_last_said(LOG)}", file=sys.stderr)
                return failed
            select.select([], [], [], LOOK_SECONDS)  # a clock set back is none of its


def _last_said(log: Path) -> str:
    """Why Snakemake ended and blamed no job, such as a full disk."""
    lines = log.read_text(encoding="utf-8", errors="replace").split("\n")
    said = [line.strip() for line in lines if line.strip()]
    return f"Snakemake ended: {said[-1] if said else 'without a word'} ({log})"


def point_names(plan: Mapping[str, Any], results: Path = RESULTS) -> None:
    """Let results/<step>/<name> point to the run that the plan means by that name.

    The runs of a study have no names: its table tells them apart.
    """
    for name, standing in standings(read_documents(plan, results), results).items():
        if len(standing.jobs) != 1 or plan["names"][name]["study"]:
            continue
        link = results / name
        directory = finished(standing.jobs[0].key, results)
        if standing.state == DONE and directory is not None:
            point_to(link, directory)
        elif link.is_symlink():
            link.unlink()  # what it points to is another run's


def make(
    workflow: Workflow, figure: str, options: Running, words: Sequence[str] = ()
) -> tuple[int, Failures]:
    """Make all figures, or one, or the comparisons, with all that they are made of.

    Parameters
    ----------
    words : overrides that the workflow was read with

    Returns
    -------
    exit status, and what failed with reasons
    """
    with only_one():
        sweep_dead(RESULTS)
        check_figure(figure, workflow.figures)
        plan = plan_without_compiling(words=words, goal=goal_of(figure))
        if options.retry_failed:
            settle(read_documents(plan), retry=True)
        names = asked(plan, figure)
        if not undone(plan, names):
            print("nothing to run: every run of the plan is there")
            point_names(plan)
            after = [Page().finish()]
            if options.track:
                after.append(_tracked())
            return FAILED if any(after) else 0, []
        failed, after = _made(plan, names, options)
        return FAILED if any(after) or undone(plan, names) else 0, failed


def _embedded() -> Seen | None:
    """What the embedded store of MLflow has taken in; nobody knows it of a server."""
    named = TRACKING.is_file() and EMBEDDED in TRACKING.read_text(encoding="utf-8")
    if os.environ.get("MLFLOW_TRACKING_URI") or not named:
        return None
    return Seen("track", Path(EMBEDDED))


def _tracked() -> int:
    """Bring into MLflow what is not there; the exit status."""
    seen = _embedded()
    state = seen.now() if seen else ""
    if seen and seen.holds(state):
        return 0
    status = call_silently("track")
    if seen and status == 0:
        seen.remember(state)
    return status


def _made(
    plan: Mapping[str, Any], names: Sequence[str], options: Running
) -> tuple[Failures, list[int]]:
    """Make what of `names` is not made; what failed, and how what followed ended."""
    with followed() if options.track else contextlib.nullcontext() as tracker:
        page = Page()
        failed = fan_out(plan, names, options, page.follow)
        after = [
            call("study_table", name.removeprefix(f"{TABLE}/"))
            for name in undone(plan, names)
            if name.startswith(f"{TABLE}/")  # as far as its runs have come
        ]
        point_names(plan)
        after.append(page.finish())  # which MLflow gets too
        seen = _embedded() if tracker else None
        state = seen.now() if seen else ""
    if tracker is not None and tracker.returncode:
        after.append(call_silently("track"))  # which says what is wrong
    elif seen:
        seen.remember(state)
    return failed, after
