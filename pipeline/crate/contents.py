"""What an archive holds: code, configurations, data, results; refused where unsound."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from pipeline.store.digests import edits
from pipeline.store.keys import file_digest, files_named
from pipeline.store.runs import Job, finished
from pipeline.store.standing import planned_jobs_now
from pipeline.terminal.errors import InputError
from sim.syntax import SOURCE_ROOT

CODE = (  # of the project's folder; its own settings and Snakefile are of this one
    "CITATION.cff", "LICENSE", "Makefile", "README.md", "pyproject.toml",
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
    missing : jobs of the plan whose run is not there
    """

    files: dict[str, Path]
    jobs: Sequence[Job]
    missing: Sequence[Job]
    data: Sequence[OutsideFile]


def contents(results: Path, wanted: Collection[str]) -> Contents:
    """Collect what the plan that was made last led to.

    Parameters
    ----------
    wanted : keys of the runs that conf asks for now

    Raises
    ------
    InputError
        where conf asks for other runs than the plan, or a run was edited
    """
    jobs = planned_jobs_now(results)
    if {job.key for job in jobs} != set(wanted):
        raise InputError(
            "conf, code or a file changed since the plan was made: run make figures "
            "first"
        )
    done = [job for job in jobs if finished(job.key, results)]
    for job in done:
        changed = edits(results / "runs" / job.key)
        if changed:
            raise InputError(
                f"E-EDITED {results}/runs/{job.key}: {changed[0]}: remove this folder "
                "and run make figures"
            )
    files = {name: SOURCE_ROOT / name for name in _code()}
    files |= {name: Path(name) for name in _tree(Path(), SETTINGS)}
    files |= _results(done, results)
    data = _data(jobs)
    files |= {d.path.as_posix(): d.path for d in data if d.packed}
    files |= {path.as_posix(): path for path in _notices(data)}
    missing = [job for job in jobs if job not in done]
    return Contents(files, done, missing, data)


def _code() -> Iterator[str]:
    yield from _tree(SOURCE_ROOT, CODE)


def _tree(root: Path, names: Sequence[str]) -> Iterator[str]:
    """Files below the given names, without caches, as relative names."""
    for name in names:
        place = root / name
        found = sorted(place.rglob("*")) if place.is_dir() else [place]
        for path in found:
            relative = path.relative_to(root)
            if path.is_file() and not any(p.endswith(LEFT_OUT) for p in relative.parts):
                yield relative.as_posix()


def _results(done: Sequence[Job], results: Path) -> dict[str, Path]:
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


def _data(jobs: Sequence[Job]) -> list[OutsideFile]:
    """Files from outside that the runs read, each once."""
    found: dict[str, OutsideFile] = {}
    for job in jobs:
        for name, digest in zip(job.paths, job.identity["files"], strict=True):
            found[name] = _datum(name, str(digest))
        for name in files_named(job.config):
            found[name] = _datum(name, file_digest(Path(name)))
    return list(found.values())


def _notices(data: Sequence[OutsideFile]) -> Iterator[Path]:
    """Source and licence of the sets below data that something was read of."""
    packed = [d.path for d in data if d.packed and DATA in d.path.parents]
    folders = {Path(*path.parts[:2]) for path in packed}
    for folder in sorted(folders):
        found = sorted(folder.glob("*")) if folder.is_dir() else []
        yield from (p for p in found if p.is_file() and p.suffix in NOTICES)


def _datum(name: str, digest: str) -> OutsideFile:
    path = Path(name)
    inside = path.resolve().is_relative_to(Path.cwd()) and path.is_file()
    relative = path.resolve().relative_to(Path.cwd()) if inside else path
    return OutsideFile(relative, digest, inside and not path.is_absolute())
