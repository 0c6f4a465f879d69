"""From a figure, table or macro file to what it stands on: morphtrack trace.

Prints every run behind FILE down to the scans: configuration, code state, package
versions, SHA-256, MLflow id; and says of each link whether it is out of date. A copy of
a PDF or PNG serves as well: its metadata hold the id. In place of FILE an address of
the report, index.html#run-KEY, leads to that run. Run it inside the project. What it
leads to is said at once; then conf is asked whether it holds, which takes a while where
something changed since it was last planned.
"""

import contextlib
import json
import os
import sys
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from pipeline.config.hydra import Composer
from pipeline.store.leaves import flat
from pipeline.store.provenance.chain import Link, chain
from pipeline.store.provenance.origin import Found, find_origin, key_of_address
from pipeline.store.provenance.sidecar import Origin
from pipeline.store.runs import RESULTS, Job
from pipeline.store.variations import Variations
from pipeline.studies.file import read_study
from pipeline.studies.members import members
from pipeline.terminal.arguments import OneLineParser
from pipeline.terminal.errors import DONE, InputError, command, one_line
from pipeline.terminal.words import visible
from pipeline.workflow.fresh import jobs_now

WIDTH = 100
MOST_ALIKE = 12  # runs of a study that are written out one by one


def mlflow_ids(results: Path) -> dict[str, str]:
    """MLflow run ids by key, as the tracker noted them; none where it never ran."""
    try:
        text = (results / "mlflow" / "index.json").read_text(encoding="utf-8")
        return dict(json.loads(text)["runs"])
    except (OSError, ValueError, KeyError, TypeError):
        return {}


def wanted_now(study: str, results: Path) -> tuple[dict[str, Job] | None, str]:
    """The jobs that conf asks for now, by key; None, and why, where it is not sound."""
    try:
        jobs = jobs_now(results)
        if study:
            with Composer() as composer:
                found = members(read_study(study), composer)
            jobs += [member.job for member in found]
    except (InputError, ValueError) as error:
        return None, one_line(error)
    return {job.key: job for job in jobs}, ""


def origin_of(what: str, results: Path) -> tuple[Found, str]:
    """What a file or an address leads to, and what is said of it."""
    key = "" if Path(what).exists() else key_of_address(what, results)
    if key:
        return Found(Origin(run=key), "its address in the report", ""), what
    found = find_origin(Path(what), results)
    return found, f"{what}  sha256 {found.digest}"


def told(found: Found, links: Sequence[Link], results: Path) -> list[str]:
    """The lines that are printed, after what was asked for."""
    ids, names = mlflow_ids(results), Variations(results)
    lines = [f"  known by {found.by}"]
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
                lines += _run(link, ids.get(link.key, ""), names)
    return [*lines, _conclusion(found, links)]


def _called(link: Link, names: Variations) -> str:
    """What a person calls a run; in a study, with the values of its point."""
    if link.record is None:
        return link.role
    study = link.record.get("tags", {}).get("study")
    return names.beside(str(link.record["name"]), study, link.key)


def _run(link: Link, mlflow_id: str, names: Variations) -> Iterator[str]:
    indent = "  " * (link.depth + 1)
    if link.record is None:
        yield f"{indent[2:]}{link.role or 'the run behind it'}  run {link.key}"
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
    yield f"{indent}MLflow {mlflow_id or 'not tracked yet: morphtrack track'}"


def _scans(record: Mapping[str, Any], made: Mapping[str, str]) -> list[tuple[str, str]]:
    """Scans that a run read from outside, and those it made, with their digests.

    In a record that was edited they may not pair; its link says so.
    """
    read = zip(record["paths"], record["identity"]["files"], strict=False)
    return [*read, *made.items()]


def _code(record: Mapping[str, Any]) -> str:
    commit = str(record.get("git_commit", ""))[:12] or "no commit"
    dirty = " with uncommitted changes" if record.get("git_dirty") else ""
    note = record.get("accepted")
    kept = (
        f", kept over a change of code by {note['who']}: {note['why']}" if note else ""
    )
    return f"code {record['identity']['code'][:16]}, {commit}{dirty}{kept}"


def _wrapped(name: str, values: Any, indent: str) -> list[str]:
    text = ", ".join(f"{key}={value}" for key, value in values) or "-"
    return textwrap.wrap(
        f"{name} {text}",
        WIDTH,
        initial_indent=indent,
        subsequent_indent=f"{indent}  ",
        break_long_words=False,
    )


def _study(name: str, links: Sequence[Link], names: Variations) -> Iterator[str]:
    """Many runs of one study, told together."""
    yield f"study {name}: {len(links)} runs, configurations in members.json"
    for what, say in (("code", _code), ("versions", _versions)):
        several = sorted({say(link.record) for link in links if link.record})
        yield from (f"  {text}" for text in several[:3])
        if len(several) > 3:
            yield f"  and {len(several) - 3} more states of {what}"
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
    said = own + ([f"{bad} of {len(links)} runs"] if bad else [])
    return f"out of date: {', '.join(said)}" if said else "up to date: every link holds"


def arguments() -> OneLineParser:
    parser = OneLineParser("trace", __doc__)
    parser.add_argument(
        "what", help="a figure, table, macro file or a copy; an address"
    )
    parser.add_argument("--results", type=Path, default=RESULTS)
    return parser


@command
def main(argv: list[str] | None = None) -> int:
    """Print the chain behind one file."""
    given = arguments().parse_args(argv)
    if not (given.results / "runs").is_dir():
        raise InputError(
            f"{given.results}/runs does not exist: run this in the project's folder, "
            "after make figures"
        )
    found, first = origin_of(given.what, given.results)
    _say([first])
    wanted, trouble = wanted_now(found.origin.study, given.results)
    links = chain(found.origin.all_keys, given.results, wanted)
    _say(told(found, links, given.results))
    if wanted is None:
        _say([f"conf was not asked, since it cannot be planned: {trouble}"])
    return DONE


def _say(lines: Sequence[str]) -> None:
    with contextlib.suppress(BrokenPipeError):  # as head and less leave it
        print("\n".join(map(visible, lines)), flush=True)
        return
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
