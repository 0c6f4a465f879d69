"""From a figure, table or macro file to the runs and scans behind it."""

import textwrap
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from pipeline.config.hydra import flat
from pipeline.config.workflow_file import WORKFLOW
from pipeline.runs.provenance import (
    Found,
    JobNow,
    Link,
    chain,
    find_origin,
    key_of_address,
)
from pipeline.runs.run_differences import Variations
from pipeline.runs.run_directory import Job
from pipeline.runs.run_keys import file_digest, mlflow_note
from pipeline.runs.sidecars import Origin
from pipeline.terminal import InputError, one_line, visible
from pipeline.workflow.plan import Plan

WIDTH = 100
MOST_ALIKE = 12  # runs of a study that are written out one by one


def find_jobs_now() -> tuple[JobNow | None, str]:
    """Finds the job that conf asks for now in place of a run; else why conf cannot."""
    try:
        plan = Plan()
        names = set(plan.names())
    except (InputError, ValueError) as error:
        return None, one_line(error)

    def job_now(record: Mapping[str, Any]) -> Job | None:
        study = record.get("tags", {}).get("study")
        if study:
            keys = {member.job.key: member.job for member in plan.study(study).members}
            return keys.get(record["key"])
        step, name = record["step"], record["name"]
        if (step, name) not in names:
            return None
        paths = tuple(record["paths"])
        files = [file_digest(Path(path)) for path in paths]
        now = plan.identity(step, name) | {"files": files}
        return Job(step, name, now, plan.config(step, name), paths=paths)

    return job_now, ""


def origin_of(what: str, results: Path) -> tuple[Found, str]:
    """What a file or an address leads to, and a line about it."""
    key = "" if Path(what).exists() else key_of_address(what, results)
    if key:
        return Found(Origin(run=key), "its address in the report", ""), what
    found = find_origin(Path(what), results)
    return found, f"{what}  sha256 {found.digest}"


def link_lines(found: Found, links: Sequence[Link], results: Path) -> list[str]:
    """The lines that are printed, after what was asked for."""
    names = Variations(results)
    lines = [f"  identified by {found.by}"]
    if found.trouble:
        lines.append(f"  OUT OF DATE: {found.trouble}")
    studies: dict[str, list[Link]] = {}
    for link in links:
        name = str((link.record or {}).get("tags", {}).get("study", ""))
        studies.setdefault(name, []).append(link)
    for name, several in studies.items():
        if name and len(several) > MOST_ALIKE:
            lines += _study(name, several, names)
        else:
            for link in several:
                noted = mlflow_note(results / "runs" / link.key).get("run_id", "")
                lines += _run(link, noted, names)
    return [*lines, _conclusion(found, links)]


def _called(link: Link, names: Variations) -> str:
    """What a person calls a run; in a study, with the values of its point."""
    if link.record is None:
        return link.role
    study = link.record.get("tags", {}).get("study")
    return names.member_name(str(link.record["name"]), study, link.key)


def _run(link: Link, mlflow_id: str, names: Variations) -> Iterator[str]:
    indent = "  " * (link.depth + 1)
    if link.record is None:
        yield f"{indent[2:]}{link.role or 'the run that made it'}  run {link.key}"
        yield from (f"{indent}OUT OF DATE: {trouble}" for trouble in link.troubles)
        return
    record = link.record
    yield f"{indent[2:]}{record['step']} {_called(link, names)}  run {link.key}"
    yield from (f"{indent}OUT OF DATE: {trouble}" for trouble in link.troubles)
    for path, digest in _scans(record, link.scans):
        yield f"{indent}scan {path}  sha256 {digest}"
    yield from _wrapped("configuration", flat(record["identity"]["config"]), indent)
    yield f"{indent}{_code(record)}"
    yield from _wrapped("versions", record["identity"]["versions"].items(), indent)
    yield f"{indent}MLflow {mlflow_id or 'not tracked yet: run morphtrack track'}"


def _scans(record: Mapping[str, Any], made: Mapping[str, str]) -> list[tuple[str, str]]:
    """Scans that a run read from outside, and those it made, with their digests.

    In a record that was edited they may not pair; its link says so.
    """
    read = zip(record["paths"], record["identity"]["files"], strict=False)
    return [*read, *made.items()]


def _code(record: Mapping[str, Any]) -> str:
    commit = str(record.get("git_commit", ""))[:12] or "no commit"
    dirty = " with uncommitted changes" if record.get("git_dirty") else ""
    return f"code {record['identity']['code'][:16]}, {commit}{dirty}"


def _wrapped(name: str, values: Any, indent: str) -> list[str]:
    text = ", ".join(f"{key}={value}" for key, value in values) or "-"
    edges: Any = {"initial_indent": indent, "subsequent_indent": f"{indent}  "}
    return textwrap.wrap(f"{name} {text}", WIDTH, break_long_words=False, **edges)


def _study(name: str, links: Sequence[Link], names: Variations) -> Iterator[str]:
    """Many runs of one study, on one line."""
    yield f"study {name}: {len(links)} runs, configurations in members.json"
    for what, say in (("code", _code), ("versions", _versions)):
        several = sorted({say(link.record) for link in links if link.record})
        yield from (f"  {text}" for text in several[:3])
        if len(several) > 3:
            yield f"  further states of {what}: {len(several) - 3}"
    bad = [link for link in links if link.troubles]
    for link in bad[:MOST_ALIKE]:
        called = f"{_called(link, names)} (run {link.key})"
        yield f"  OUT OF DATE: {called}: {'; '.join(link.troubles)}"
    if len(bad) > MOST_ALIKE:
        yield f"  OUT OF DATE: {len(bad) - MOST_ALIKE} more"


def _versions(record: Mapping[str, Any]) -> str:
    versions = record["identity"]["versions"].items()
    return "versions " + ", ".join(f"{k}={v}" for k, v in versions)


def _conclusion(found: Found, links: Sequence[Link]) -> str:
    bad = sum(bool(link.troubles) for link in links)
    own = ["the file itself"] if found.trouble else []
    troubles = own + ([f"{bad} of {len(links)} runs"] if bad else [])
    if troubles:
        return f"out of date: {', '.join(troubles)}"
    return "up to date: nothing has changed"


def trace(what: str, results: Path) -> None:
    """Print the chain behind one file or address."""
    if not (results / "runs").is_dir():
        raise InputError(
            f"{results}/runs does not exist: run this in the project's top folder, "
            "after make figures"
        )
    found, first = origin_of(what, results)
    job_now, trouble = find_jobs_now()
    links = chain(found.origin.all_keys, results, job_now)
    lines = [first, *link_lines(found, links, results)]
    if job_now is None and WORKFLOW.is_file():
        lines.append(f"conf was not checked, since it cannot be planned: {trouble}")
    print("\n".join(map(visible, lines)))
