"""The plan on disk, by names.

results/plan/plan.json              every name that is wanted, and what it reads
results/plan/study-<study>.json     the same of a study
results/plan/<step>/<name>.json     what decides the run of a name: configuration, code,
                                    files, and the names of what it reads

A name is <step>/<name>, such as compare/cylinder; of a study, <step>/<study>.<number>
is a batch of runs that one process does, and <step>/<study>.<number>:<i> one of them.
"""

import hashlib
import json
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from pipeline.store.files import read_json, write_text
from pipeline.store.keys import KEY_LENGTH
from pipeline.store.runs import RESULTS, Job
from pipeline.terminal.errors import InputError
from pipeline.terminal.names import close_to

STEP_AND_NAME = re.compile(r"[a-z_]+/\w[\w.+=\- ]*")
TABLE = "study_table"

Document = dict[str, Any]  # what the plan says of one name
Names = Mapping[str, str]  # of jobs, by the keys that they were planned under


@dataclass(frozen=True)
class Batch:
    """Jobs of one step that one process runs, one after the other.

    Parameters
    ----------
    name : of several, <study>.<number>; a single job has its own
    """

    jobs: tuple[Job, ...]
    name: str = ""

    @property
    def reference(self) -> str:
        """<step>/<name>."""
        return f"{self.jobs[0].step}/{self.name or self.jobs[0].name}"


def needed_keys(job: Job) -> list[str]:
    """Keys of the runs that `job` reads."""
    return [
        key
        for value in job.needs.values()
        for key in ([value] if isinstance(value, str) else value)
    ]


def of_batch(reference: str) -> str:
    """The name that has a receipt: `reference` without the number of its run."""
    return reference.partition(":")[0]


def documents(
    batches: Iterable[Batch], studies: Mapping[str, Sequence[str]] | None = None
) -> dict[str, Document]:
    """What the plan says of each name; jobs name what they read instead of its key.

    Parameters
    ----------
    studies : keys of the runs that the table of each study shows
    """
    batches = list(batches)
    names = {  # of every job, by the key that it was planned under
        job.key: f"{batch.reference}:{i}" if batch.name else batch.reference
        for batch in batches
        for i, job in enumerate(batch.jobs)
    }
    found: dict[str, Document] = {}
    for batch in batches:
        reference = batch.reference
        if reference in found:
            raise InputError(
                f"two results are called {reference}: rename the study or the label"
            )
        step, _, name = reference.partition("/")
        rows = [_row(job, names) for job in batch.jobs]
        of_study = bool(batch.name)
        found[reference] = _document(step, name, rows) | {"batch": of_study}
    return found | _tables(found, studies or {}, names)


def _document(step: str, name: str, rows: list[dict[str, Any]]) -> Document:
    return {"step": step, "name": name, "again": "", "batch": False, "jobs": rows}


def _row(job: Job, names: Names) -> dict[str, Any]:
    row = asdict(job)
    row["identity"] = {k: v for k, v in job.identity.items() if k != "upstream"}
    row["needs"] = {
        role: names[value] if isinstance(value, str) else [names[key] for key in value]
        for role, value in job.needs.items()
    }
    return row


def _tables(
    found: Mapping[str, Document], studies: Mapping[str, Sequence[str]], names: Names
) -> dict[str, Document]:
    """The table of each study: it reads all names that have a run of the study."""
    read: dict[str, list[str]] = {}
    for study, keys in studies.items():
        read[study] = list(dict.fromkeys(of_batch(names[key]) for key in keys))
    for reference, document in found.items():
        if document["step"] == "search":
            read[document["name"]] = [reference]
    return {
        f"{TABLE}/{study}": _document(TABLE, study, [])
        | {"needs": references, "members": _digest(studies.get(study, ()))}
        for study, references in read.items()
    }


def _digest(keys: Sequence[str]) -> str:
    return hashlib.sha256("\n".join(keys).encode()).hexdigest()


def study_of(document: Document) -> str:
    """The study whose runs a name has, or ""."""
    if document["step"] == "search":
        return str(document["name"])
    tags = document["jobs"][0]["tags"] if document["jobs"] else {}
    return str(tags.get("study", ""))


def read_by(document: Document) -> dict[str, list[str]]:
    """The names that a name reads, by role, each once."""
    if document["step"] == TABLE:
        return {"runs": list(document["needs"])}
    found: dict[str, list[str]] = {}
    for row in document["jobs"]:
        for role, value in row["needs"].items():
            several = [value] if isinstance(value, str) else value
            found.setdefault(role, []).extend(map(of_batch, several))
    return {role: list(dict.fromkeys(names)) for role, names in found.items()}


def plan_path(reference: str, results: Path = RESULTS) -> Path:
    """The plan's file for <step>/<name>."""
    return results / "plan" / f"{reference}.json"


def write_if_other(path: Path, value: Any, *, compact: bool = False) -> None:
    """Write a JSON file unless it says the same already: its time stays, too."""
    indent = None if compact else 1
    text = json.dumps(value, indent=indent) + "\n"
    if not path.is_file() or path.read_text(encoding="utf-8") != text:
        write_text(path, text)


def write_index(
    found: Mapping[str, Document],
    wanted: Mapping[str, Any],
    name: str = "plan",
    results: Path = RESULTS,
) -> dict[str, Any]:
    """Write and return the list of names.

    Parameters
    ----------
    wanted : what the plan was made from, for status and report
    """
    names = {
        reference: {
            "step": document["step"],
            "name": document["name"],
            "runs": len(document["jobs"]),
            "study": study_of(document),
            "reads": read_by(document),
            "threads": _threads(document),
            "said": _said(document),
        }
        for reference, document in found.items()
    }
    path = results / "plan" / f"{name}.json"
    plan = {"names": names, "file": str(path), **wanted}
    write_if_other(path, plan)
    return plan


def _said(document: Document) -> str:
    """A digest of all that the plan says of a name, but whether it is made again."""
    text = json.dumps({**document, "again": ""})
    return hashlib.sha256(text.encode()).hexdigest()[:KEY_LENGTH]


def is_own(plan: Mapping[str, Any], found: Mapping[str, Document]) -> bool:
    """Whether the files of a plan are still its own: studies write some as well."""
    names = plan["names"]
    return all(names[name].get("said") == _said(found[name]) for name in found)


def _threads(document: Document) -> int:
    """How many processes work at once: the workers of a search."""
    if document["step"] != "search":
        return 1
    return int(document["jobs"][0]["config"]["study"].get("workers", 1))


def read_plan(results: Path = RESULTS, name: str = "plan") -> dict[str, Any]:
    """The plan of the workflow that was written last, or of a study."""
    path = results / "plan" / f"{name}.json"
    if not path.is_file():
        raise InputError("nothing is planned yet: run make figures")
    plan: dict[str, Any] = read_json(path)
    return plan


def sound_reference(reference: str) -> None:
    """Refuse what is no <step>/<name>, and so might be the path of another file."""
    if not STEP_AND_NAME.fullmatch(reference):
        raise _not_planned(reference)


def _not_planned(reference: str, known: Collection[str] = ()) -> InputError:
    remedy = close_to(reference, known) or "morphtrack plan lists the names it has"
    return InputError(f"the plan has no {reference!r}: {remedy}")


def read_document(reference: str, results: Path = RESULTS) -> Document:
    """What the plan says of <step>/<name>."""
    sound_reference(reference)
    path = plan_path(reference, results)
    if not path.is_file():
        there = (results / "plan").glob("*/*.json")
        known = sorted(f"{each.parent.name}/{each.stem}" for each in there)
        raise _not_planned(reference, known)
    document: Document = read_json(path)
    return document


def read_documents(
    plan: Mapping[str, Any], results: Path = RESULTS
) -> dict[str, Document]:
    """What the plan says of all its names."""
    return {name: read_json(plan_path(name, results)) for name in plan["names"]}


def closure(plan: Mapping[str, Any], targets: Iterable[str]) -> list[str]:
    """The targets and all they are made of, in the order of the plan."""
    wanted: set[str] = set()
    waiting = list(targets)
    while waiting:
        name = waiting.pop()
        if name not in wanted:
            wanted.add(name)
            waiting += [n for ns in plan["names"][name]["reads"].values() for n in ns]
    return [name for name in plan["names"] if name in wanted]
