"""One RO-Crate of code, configurations, data, results and the lock file.

The main entity is the Snakefile; each run is a folder, and an action that made it.
"""

import hashlib
import json
import mimetypes
import zipfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml
from rocrate.model.contextentity import (  # type: ignore[import-untyped]
    ContextEntity,
)
from rocrate.rocrate import ROCrate  # type: ignore[import-untyped]

from pipeline.runs import run_directory
from pipeline.runs.atomic_files import replacing, write_text
from pipeline.runs.run_keys import DIGESTS, edits, file_digest, files_named
from pipeline.runs.step_jobs import planned_digest
from pipeline.runs.study_members import read_members
from pipeline.terminal import InputError
from sim.core.imported_code import SOURCE_ROOT

CODE = (  # of the project's folder; its own settings and Snakefile are of this one
    "CHANGELOG.md", "CITATION.cff", "CONTRIBUTING.md", "LICENSE", "Makefile",
    "README.md", "mkdocs.yml", "morphtrack.py", "pyproject.toml",
    "requirements.lock", ".ci", ".gitignore", "analysis", "docs", "pipeline", "sim",
    "tests",
)  # fmt: skip
SETTINGS = ("Snakefile", "conf")
RESULT_FOLDERS = ("report", "tables", "study")
DATA = Path("data")
NOTICES = (".md", "")  # README.md, LICENSE, SHA256SUMS
LEFT_OUT = ("__pycache__", ".egg-info", ".nbi", ".nbc", ".tmp")


@dataclass(frozen=True)
class OutsideFile:
    """A file from outside: packed where it is inside the project, else its digest."""

    path: Path
    digest: str
    packed: bool


@dataclass(frozen=True)
class Contents:
    """Everything that goes into an archive.

    Parameters
    ----------
    files : where each is now, by its place in the archive
    missing : step and name of results that are not there
    """

    files: dict[str, Path]
    jobs: Sequence[run_directory.Job]
    missing: Sequence[str]
    data: Sequence[OutsideFile]


def contents(
    results: Path,
    names: Iterable[tuple[str, str]],
    planned: Callable[[str, str], str],
) -> Contents:
    """Collect the results that conf/workflow.yaml names.

    Parameters
    ----------
    names : step and name of each result; a study is all of its runs
    planned : the digest that a result has by now's configuration and code

    Raises
    ------
    InputError
        where a result is not that of now's configuration or code, or was edited
    """
    done: list[run_directory.Job] = []
    missing: list[str] = []
    for step, name in names:
        if step == "study":
            done += _of_study(name, results)
            continue
        record = run_directory.record_or_empty(results / step / name)
        if not record:
            missing.append(f"{step} {name}")
            continue
        job = run_directory.job_of_record(record)
        if planned_digest(job.identity) != planned(step, name):
            raise InputError(
                f"{results}/{step}/{name}: configuration or code changed since it was "
                "made: run make figures first"
            )
        done.append(job)
    for job in done:
        changed = edits(results / "runs" / job.key)
        if changed:
            raise InputError(
                f"E-EDITED {results}/runs/{job.key}: {changed[0]}: remove this folder "
                "and run make figures"
            )
    files = {name: SOURCE_ROOT / name for name in _tree(SOURCE_ROOT, CODE)}
    files |= {name: Path(name) for name in _tree(Path(), SETTINGS)}
    files |= _results(done, results)
    data = _data(done)
    files |= {d.path.as_posix(): d.path for d in data if d.packed}
    files |= {path.as_posix(): path for path in _notices(data)}
    return Contents(files, done, missing, data)


def _of_study(name: str, results: Path) -> Iterator[run_directory.Job]:
    """The finished runs of a study."""
    for member in read_members(name, results)["members"]:
        directory = run_directory.finished(member["key"], results)
        if directory is not None:
            yield run_directory.job_of_record(run_directory.run_record(directory))


def _tree(root: Path, names: Sequence[str]) -> Iterator[str]:
    """Files below the given names, without caches, as relative names."""
    for name in names:
        place = root / name
        found = sorted(place.rglob("*")) if place.is_dir() else [place]
        for path in found:
            relative = path.relative_to(root)
            if path.is_file() and not any(p.endswith(LEFT_OUT) for p in relative.parts):
                yield relative.as_posix()


def _results(done: Sequence[run_directory.Job], results: Path) -> dict[str, Path]:
    """Runs, report, tables and studies, by their place below results."""
    places = [results / "runs" / job.key for job in done]
    places += [results / name for name in RESULT_FOLDERS]
    files = [p for place in places if place.is_dir() for p in sorted(place.rglob("*"))]
    files += sorted(results.glob("numbers.*"))
    return {
        f"results/{path.relative_to(results).as_posix()}": path
        for path in files
        if path.is_file() and not path.is_symlink()
    }


def _data(jobs: Sequence[run_directory.Job]) -> list[OutsideFile]:
    """Files from outside that the runs read, each once."""
    digests: dict[str, str] = {}
    for job in jobs:
        digests |= zip(job.paths, job.identity["files"], strict=True)
        digests |= {name: file_digest(Path(name)) for name in files_named(job.config)}
    found = []
    for name, digest in digests.items():
        path = Path(name)
        inside = path.resolve().is_relative_to(Path.cwd()) and path.is_file()
        relative = path.resolve().relative_to(Path.cwd()) if inside else path
        packed = inside and not path.is_absolute()
        found.append(OutsideFile(relative, str(digest), packed))
    return found


def _notices(data: Sequence[OutsideFile]) -> Iterator[Path]:
    """Source and licence of the sets below data that something was read of."""
    packed = [d.path for d in data if d.packed and DATA in d.path.parents]
    folders = {Path(*path.parts[:2]) for path in packed}
    for folder in sorted(folders):
        found = sorted(folder.glob("*")) if folder.is_dir() else []
        yield from (p for p in found if p.is_file() and p.suffix in NOTICES)


PROFILE = "https://w3id.org/ro/wfrun/process/0.5"
BINARY = "application/octet-stream"
FORMATS = {".npz": BINARY, ".ply": BINARY, ".yaml": "application/yaml"}
LICENSE = "https://spdx.org/licenses/MIT"
Entity = Mapping[str, Any]


def crate_of(held: Contents, results: Path) -> ROCrate:
    """The crate, ready to be written."""
    crate = ROCrate(version="1.1", gen_preview=True)
    _describe(crate, held)
    for name, path in held.files.items():
        if name == "Snakefile":
            crate.add_workflow(
                path, name, main=True, lang="snakemake", properties=_about(path)
            )
        elif not name.startswith("results/runs/"):
            crate.add_file(path, name, properties=_about(path))
    for datum in held.data:
        if not datum.packed:
            _absent(crate, datum.path, datum.digest)
    for job in held.jobs:
        crate.add_directory(
            results / "runs" / job.key,
            f"results/runs/{job.key}",
            properties={"name": f"{job.step} {job.name}"},
        )
    crate.root_dataset["mentions"] = [
        _action(crate, job, run_directory.run_record(results / "runs" / job.key))
        for job in held.jobs
    ]
    return crate


def _describe(crate: ROCrate, held: Contents) -> None:
    crate.name = "morphtrack: shape-morphing simulations and scans"
    many = f"{len(held.jobs)} of {len(held.jobs) + len(held.missing)} results"
    crate.description = (
        f"Code, configurations, data and results: {many}. Unzip, run `sha256sum -c "
        "SHA256SUMS`, then `make figures`. With results/runs in place nothing runs "
        "again; without it, every run is repeated under the same key."
    )
    crate.license = crate.add(
        ContextEntity(crate, LICENSE, {"@type": "CreativeWork", "name": "MIT License"})
    )
    profile = {"@type": "CreativeWork", "name": "Process Run Crate", "version": "0.5"}
    crate.root_dataset["conformsTo"] = crate.add(ContextEntity(crate, PROFILE, profile))
    authors = [_author(crate, k, one) for k, one in enumerate(_cited()["authors"])]
    crate.root_dataset["author"] = _one_or_all(authors)


def _cited() -> dict[str, Any]:
    """CITATION.cff."""
    text = (SOURCE_ROOT / "CITATION.cff").read_text(encoding="utf-8")
    return dict(yaml.safe_load(text))


def deposit() -> dict[str, Any]:
    """The metadata of a deposit at Zenodo, in the words of its REST interface."""
    cited = _cited()
    names = [
        one.get("name") or f"{one['family-names']}, {one['given-names']}"
        for one in cited["authors"]
    ]
    papers = [one["doi"] for one in cited["references"] if "doi" in one]
    return {
        "metadata": {
            "title": f"{cited['title']}: code, data and results",
            "upload_type": "software",
            "description": " ".join(cited["abstract"].split()),
            "creators": [{"name": name} for name in names],
            "license": cited["license"].lower(),
            "version": str(cited["version"]),
            "keywords": cited["keywords"],
            "related_identifiers": [
                {"identifier": doi, "relation": "cites", "scheme": "doi"}
                for doi in papers
            ],
        }
    }


def _author(crate: ROCrate, number: int, one: Mapping[str, str]) -> ContextEntity:
    person = " ".join(one[k] for k in ("given-names", "family-names") if k in one)
    about = {
        "@type": "Person" if person else "Organization",
        "name": person or one["name"],
    }
    if "website" in one:
        about["url"] = one["website"]
    address = one.get("orcid") or one.get("website")
    return crate.add(ContextEntity(crate, address or f"#author-{number + 1}", about))


def _about(path: Path) -> dict[str, str]:
    known = FORMATS.get(path.suffix) or mimetypes.guess_type(path)[0]
    return {
        "name": path.name,
        "contentSize": str(path.stat().st_size),
        "encodingFormat": known or "text/plain",
    }


def _absent(crate: ROCrate, path: Path, digest: str) -> None:
    """A scan outside of the project: its digest and name, not its points."""
    about = {
        "@type": "CreativeWork",
        "name": path.name,
        "sha256": digest,
        "description": f"this file is not in the archive; the run read it from {path}",
    }
    crate.add(ContextEntity(crate, f"#sha256-{digest}", about))


def _one_or_all(entities: list[Any]) -> Any:
    """A single value by itself, as RO-Crate asks for."""
    return entities[0] if len(entities) == 1 else entities


def _tool(crate: ROCrate, step: str, known: Entity) -> ContextEntity:
    """One step of the pipeline, with the versions that its first run had."""
    versions = ", ".join(f"{name} {v}" for name, v in known["versions"].items())
    about = {
        "@type": "SoftwareApplication",
        "name": f"morphtrack {step}",
        "softwareRequirements": versions,
        "softwareVersion": f"code {known['code'][:16]}",
    }
    address = f"#step-{step}"
    return crate.get(address) or crate.add(ContextEntity(crate, address, about))


def _action(crate: ROCrate, job: run_directory.Job, record: Entity) -> ContextEntity:
    read = [crate.get(f"results/runs/{key}/") for key in run_directory.needed_keys(job)]
    files = [
        crate.get(Path(path).as_posix()) or crate.get(f"#sha256-{digest}")
        for path, digest in zip(job.paths, job.identity["files"], strict=True)
    ]
    about = {
        "name": f"{job.step} {job.name}",
        "identifier": job.key,
        "description": f"commit {record['git_commit'] or 'unknown'}, code "
        f"{job.identity['code'][:16]}",
        "startTime": record["started"],
        "endTime": record["ended"],
        "actionStatus": "http://schema.org/CompletedActionStatus",
        "agent": crate.root_dataset["author"],
    }
    return crate.add_action(
        _tool(crate, job.step, record["identity"]),
        f"#run-{job.key}",
        object=_one_or_all([e for e in [*read, *files] if e is not None]),
        result=crate.get(f"results/runs/{job.key}/"),
        properties=about,
    )


def write_archive(
    out: Path,
    names: Iterable[tuple[str, str]],
    planned: Callable[[str, str], str],
    results: Path = run_directory.RESULTS,
) -> None:
    """Pack results and all they need into `out`, and print what is not in it.

    Zenodo's metadata are written beside it.

    Parameters
    ----------
    names, planned : see pipeline.export.contents
    """

    held = contents(results, names, planned)
    with replacing(out) as temporary:
        crate_of(held, results).write_zip(temporary)
        with zipfile.ZipFile(temporary, "a") as file:
            file.writestr(DIGESTS, "".join(_digests(file)))
    metadata = out.with_suffix(".zenodo.json")
    write_text(metadata, json.dumps(deposit(), indent=1, ensure_ascii=False) + "\n")
    size = out.stat().st_size / 1e6
    print(f"{out} ({size:.1f} MB), runs: {len(held.jobs)}, files: {len(held.files)}")
    print(f"{metadata}: the metadata for a deposit at Zenodo")
    for datum in held.data:
        if not datum.packed:
            print(
                f"note: {datum.path} is outside this folder: the archive has its "
                f"SHA-256 {datum.digest} but not the file"
            )
    if held.missing:
        first = held.missing[0]
        print(
            f"note: missing results: {len(held.missing)}, such as {first}; the "
            "report gives the reasons"
        )


def _digests(file: zipfile.ZipFile) -> Iterator[str]:
    """A line for each file, as `sha256sum -c` reads it."""
    for name in file.namelist():
        if not name.endswith("/"):
            with file.open(name) as member:
                digest = hashlib.file_digest(member, "sha256")  # type: ignore[arg-type]
            yield f"{digest.hexdigest()}  {name}\n"
