"""The plan as it is now: planned again only where something it was made of changed."""

import contextlib
import hashlib
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from pipeline.config.listed import CONF
from pipeline.config.workflow_file import read_workflow
from pipeline.store.files import read_json
from pipeline.store.keys import WHERE_IMPORTED, files_named, versions
from pipeline.store.plan_file import Document, is_own, read_documents, read_plan
from pipeline.store.runs import RESULTS, Job
from pipeline.store.standing import settle, standings
from pipeline.studies.members import read_members
from pipeline.terminal.arguments import goal_and_overrides
from pipeline.terminal.errors import DONE, REFUSED, InputError, command
from sim.syntax import PACKAGES, SOURCE_ROOT

Read = dict[str, Any]
PATH = "PYTHONPATH"


def _files_below(folder: Path, suffix: str = "") -> Iterator[Path]:
    """Those that end: no pipe and no device."""
    for place, _, names in os.walk(folder):
        paths = (Path(place, name) for name in names if name.endswith(suffix))
        yield from filter(Path.is_file, paths)


def _own_files() -> Iterator[tuple[str, Path]]:
    """All of conf and of the code, wherever it stands, by names that say not where."""
    for path in _files_below(CONF):
        yield str(path), path
    for package in PACKAGES:
        for path in _files_below(SOURCE_ROOT / package, ".py"):
            yield path.relative_to(SOURCE_ROOT).as_posix(), path


def _stamp(path: Path) -> list[int]:
    found = path.stat()
    return [found.st_mtime_ns, found.st_size]


def times_of_inputs() -> dict[str, list[int]]:
    """Sizes and times of conf and code: what a process that runs has read."""
    states = {}
    for name, path in _own_files():
        with contextlib.suppress(OSError):
            states[name] = _stamp(path)
    return states


def state_of_inputs(files: set[str]) -> Read:
    """Digests of all that a plan reads, and the versions that it notes.

    Files that were touched, or moved with their folder, are what they were.

    Parameters
    ----------
    files : from outside, which configurations name: by their sizes and times, since
        they may be large
    """
    states: dict[str, str | list[int]] = {}
    for name, path in _own_files():
        with contextlib.suppress(OSError):
            states[name] = hashlib.sha256(path.read_bytes()).hexdigest()
    for name in sorted(files):
        with contextlib.suppress(OSError):
            states[name] = _stamp(Path(name))
    return {"states": states, "versions": versions(frozenset(WHERE_IMPORTED))}


def files_of(found: Mapping[str, Document]) -> set[str]:
    """Files from outside that the runs of a plan read."""
    rows = [row for document in found.values() for row in document["jobs"]]
    named = {path for row in rows for path in files_named(row["config"])}
    return named | {path for row in rows for path in row["paths"]}


def _cached(
    file: Path, words: Sequence[str] = ()
) -> tuple[dict[str, Any], dict[str, Document]] | None:
    """The plan on disk, if it is whole and nothing it was made of changed.

    A plan of which something is left out is made again, which says what.
    """
    if not file.is_file():
        return None
    try:
        plan: dict[str, Any] = read_json(file)
        found = read_documents(plan)
        for study in plan["studies"]:
            read_members(study)
        files = plan["read"]["files"]
        now = {"files": files, "words": list(words)} | state_of_inputs(set(files))
        same = plan["read"] == now and not plan["left_out"] and is_own(plan, found)
    except (InputError, KeyError, TypeError):
        return None
    return (plan, found) if same else None


def fresh_plan(
    results: Path = RESULTS, words: Sequence[str] = (), goal: str = ""
) -> dict[str, Any]:
    """The plan of conf/workflow.yaml as it is now, its files settled.

    Parameters
    ----------
    words : overrides; a plan that was made with other ones does not hold
    goal : the one figure that is asked for, if not everything
    """
    cached = _cached(results / "plan" / "plan.json", words)
    if cached is None:
        from pipeline.workflow.plan import make_plan  # imports what every step needs

        read = partial(_read_by, words=words)
        return make_plan(read_workflow(words=words, goal=goal), read)
    plan, found = cached
    settle(found, results)
    return plan


def jobs_now(results: Path = RESULTS) -> list[Job]:
    """Every job that conf asks for now: of the plan on disk, while it holds."""
    cached = _cached(results / "plan" / "plan.json")
    if cached is None:
        from pipeline.workflow.plan import planned_jobs

        return planned_jobs(read_workflow())
    now = standings(cached[1], results)
    return [job for standing in now.values() for job in standing.jobs]


def _read_by(found: Mapping[str, Document], words: Sequence[str]) -> Read:
    files = files_of(found)
    return {"files": sorted(files), "words": list(words)} | state_of_inputs(files)


def plan_without_compiling(
    results: Path = RESULTS, words: Sequence[str] = (), goal: str = ""
) -> dict[str, Any]:
    """As `fresh_plan`; what must be planned, a process plans that compiles nothing.

    A case is built to be checked, and calls kernels for that, each once: as Python they
    take seconds, compiled a minute on a machine that is new to them.
    """
    if _cached(results / "plan" / "plan.json", words) is not None:
        return fresh_plan(results, words)
    _plan_apart([goal, *words] if goal else words)
    return read_plan(results)


def _plan_apart(words: Sequence[str]) -> None:
    if sys.stderr.isatty():
        print("planning: every case is checked before anything runs", file=sys.stderr)
    code = os.pathsep.join(filter(None, (str(SOURCE_ROOT), os.environ.get(PATH))))
    done = subprocess.run(
        [sys.executable, "-m", __name__, *words],
        env={**os.environ, PATH: code, "NUMBA_DISABLE_JIT": "1"},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )
    if done.returncode == REFUSED:  # packages may have warned before
        said = f"\n{done.stderr.strip()}"
        raise InputError(said.partition("\nerror: ")[2] or said.strip())
    sys.stderr.write(done.stderr)
    if done.returncode:
        raise SystemExit(done.returncode)


@command
def main() -> int:
    """Bring the plan in this folder up to date."""
    goal, words = goal_and_overrides(sys.argv[1:])
    fresh_plan(words=words, goal=goal)
    return DONE


if __name__ == "__main__":
    sys.exit(main())
