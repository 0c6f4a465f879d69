"""Which names of a plan hang on a file: what runs when it changes, and what may.

A module decides the runs whose code it is part of, a file from outside those that read
it, a file of conf those that were composed of it. What a change of conf comes to, its
values decide: `morphtrack plan` says it once the file is edited.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pipeline.config.hydra import Composer
from pipeline.config.listed import CONF
from pipeline.store.code_parts import parts_of_job
from pipeline.store.keys import CARRIERS, files_named
from pipeline.store.plan_file import Document, read_by, study_of
from pipeline.store.runs import Job
from pipeline.store.standing import PlannedName
from pipeline.terminal.errors import InputError
from sim.syntax import PACKAGES, SOURCE_ROOT

Row = Mapping[str, Any]


@dataclass(frozen=True)
class Consequences:
    """What would come of a change.

    Parameters
    ----------
    runs : names that are made again
    may_run : names that read those, and run if they come out other than they were
    """

    runs: tuple[str, ...]
    may_run: tuple[str, ...]


def consequences(
    found: Mapping[str, Document], now: Mapping[str, PlannedName], file: Path
) -> Consequences:
    """What would run if `file` changed what it decides.

    Parameters
    ----------
    found : what the plan says of its names, what is read before what reads it
    now : how they stand

    Raises
    ------
    InputError
        if no run can depend on the file, or only its values could tell
    """
    decides = _decided_by(file)
    runs = [name for name, document in found.items() if decides(document, now[name])]
    reached = set(runs)
    for name, document in found.items():
        if any(n in reached for names in read_by(document).values() for n in names):
            reached.add(name)
    return Consequences(tuple(runs), tuple(n for n in found if n in reached - {*runs}))


Decides = Callable[[Document, PlannedName], bool]


def _decided_by(file: Path) -> Decides:
    """Whether a name hangs on a file by itself, as a question."""
    if not file.exists():
        raise InputError(f"--if {file}: there is no such file in {Path.cwd()}")
    module = module_of(file)
    if module:
        _check_counts(module, file)
        return lambda _, now: any(module in parts_of_job(job) for job in now.jobs)
    if file.resolve().is_relative_to(CONF.resolve()):
        return _composed_of(file.resolve().relative_to(CONF.resolve()))
    return lambda _, now: any(_reads(job, file) for job in now.jobs)


def module_of(file: Path) -> str:
    """The module of this project that a file is; "" where it is none."""
    path = file.resolve()
    if path.suffix != ".py" or not path.is_relative_to(SOURCE_ROOT):
        return ""
    parts = path.relative_to(SOURCE_ROOT).with_suffix("").parts
    if parts[0] not in PACKAGES:
        return ""
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def _check_counts(module: str, file: Path) -> None:
    for carrier, why in CARRIERS.items():
        if module == carrier or module.startswith(f"{carrier}."):
            raise InputError(f"--if {file}: no run hangs on it ({carrier}: {why})")


def _reads(job: Job, file: Path) -> bool:
    named = {*job.paths, *files_named(job.config)}
    return any(Path(path).resolve() == file.resolve() for path in named)


def _composed_of(file: Path) -> Decides:
    """Which names a file of conf takes part in, of the groups that name their runs."""
    group, name = file.parts[0], file.stem
    if group == "study":
        return lambda document, _: study_of(document) == name
    if group == "measured":
        return lambda _, now: any(j.tags.get("measured_set") == name for j in now.jobs)
    cases = frozenset(_cases_of(file)) if len(file.parts) > 1 else frozenset[str]()
    if not cases:
        raise InputError(
            f"--if conf/{file}: what it changes, its values decide: edit it, and "
            "morphtrack plan says what would run"
        )
    return lambda document, now: (
        document["step"] == "simulate"
        and any(j.tags["case"] in cases for j in now.jobs)
    )


def _cases_of(file: Path) -> Iterator[str]:
    """The cases that Hydra composes of a file."""
    with Composer() as composer:
        for path in sorted((CONF / "case").glob("*.yaml")):
            if file in composer.sources("simulate", [f"case={path.stem}"]):
                yield path.stem
