"""What an archive holds: code, configurations, data, results; refused where unsound."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from pipeline.digests import edits
from pipeline.errors import InputError
from pipeline.keys import SOURCE_ROOT, file_digest
from pipeline.plan import planned_jobs
from pipeline.plan_file import read_batch, read_plan
from pipeline.runs import Job, finished
from pipeline.workflow_file import read_workflow

CODE = (  # of the project's folder; its own settings and Snakefile are of this one
    "LICENSE", "Makefile", "README.md", "pyproject.toml", "requirements.lock", ".ci",
    ".gitignore", "analysis", "docs", "pipeline", "sim", "tests",
)  # fmt: skip
SETTINGS = ("Snakefile", "conf")
RESULT_FOLDERS = ("report", "tables", "study")
LEFT_OUT = ("__pycache__", ".egg-info", ".nbi", ".nbc", ".tmp")


@dataclass(frozen=True)
class Data:
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
    data: Sequence[Data]


def contents(results: Path) -> Contents:
    """Collect what the plan that was made last led to.

    Raises
    ------
    InputError
        where conf asks for other runs than the plan, or a run was edited
    """
    jobs = [
        j for batch in read_plan(results)["batches"] for j in read_batch(batch, results)
    ]
    _check_plan(jobs)
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
    missing = [job for job in jobs if job not in done]
    return Contents(files, done, missing, data)


def _check_plan(jobs: Sequence[Job]) -> None:
    """The plan must be what conf, code and files give now."""
    if {job.key for job in jobs} != {job.key for job in planned_jobs(read_workflow())}:
        raise InputError(
            "conf, code or a file changed since the plan was made, or it was made for "
            "one figure: run make figures first"
        )


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


def _data(jobs: Sequence[Job]) -> list[Data]:
    """Files from outside that the runs read, each once."""
    found: dict[str, Data] = {}
    for job in jobs:
        for name, digest in zip(job.paths, job.identity["files"], strict=True):
            found[name] = _datum(name, str(digest))
        for name in _paths_in(job.config):
            found[name] = _datum(name, file_digest(Path(name)))
    return list(found.values())


def _datum(name: str, digest: str) -> Data:
    path = Path(name)
    inside = path.resolve().is_relative_to(Path.cwd()) and path.is_file()
    relative = path.resolve().relative_to(Path.cwd()) if inside else path
    return Data(relative, digest, inside and not path.is_absolute())


def _paths_in(config: object, name: str = "") -> Iterator[str]:
    """Files that a configuration names: its leaves called path, or ..._path."""
    if isinstance(config, dict):
        for key, value in config.items():
            yield from _paths_in(value, str(key))
    elif isinstance(config, list | tuple):
        for value in config:
            yield from _paths_in(value)
    elif isinstance(config, str) and (name == "path" or name.endswith("_path")):
        yield config
