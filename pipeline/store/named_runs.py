"""Finished runs by the names that a person gives them on a command line."""

from collections.abc import Sequence
from pathlib import Path

from pipeline.store.own_runs import OWN
from pipeline.store.runs import RESULTS
from pipeline.terminal.errors import InputError
from pipeline.terminal.names import no_such

SIMULATED = ("simulate", OWN)
PLACES = (*SIMULATED, "compare", "ingest", "figure")
RUN_HELP = "name, folder or key of a finished run"


def found_run(
    name: str, results: Path = RESULTS, places: Sequence[str] = PLACES
) -> Path:
    """The folder of the run that a person means.

    Parameters
    ----------
    name : of a run, with or without the folder of its step, a folder, or a key
    places : folders of `results` whose names count
    """
    named = [Path(name), results / name, *(results / place / name for place in places)]
    keys = sorted((results / "runs").glob(f"{name}*")) if name.isalnum() else []
    for path in [*named, *(keys if len(keys) == 1 else [])]:
        if (path / "run.json").is_file():
            for file in path.iterdir():
                if file.is_symlink():  # through which it would be written elsewhere
                    raise InputError(
                        f"{file} is a link, and no run leaves one: remove it"
                    )
            return path
    known = [
        p.name for place in places for p in sorted((results / place).glob("[!.]*"))
    ]
    raise no_such("there is no run", name, list(dict.fromkeys(known)))


def simulated_run(name: str) -> Path:
    """The folder of a simulation; one without run.json is taken as it is."""
    return Path(name) if Path(name).is_dir() else found_run(name, places=SIMULATED)


def printable_run(name: str) -> Path:
    """The folder of the simulation of a mechanism, whose nodes become printed balls."""
    path = simulated_run(name)
    if not (path / "run.json").is_file() or (path / "structure.json").is_file():
        return path  # one without run.json is refused where it lacks something
    other = "what was measured of it, a CSV file, goes into `morphtrack compare_series`"
    if (path / "pattern.fold").is_file():
        other = "`morphtrack fold_file RUN --out FILE.fold` writes a sheet"
    raise InputError(
        f"{path} has no nodes to print and scan, which mechanisms have, such as those "
        f"of case=structure_file; {other}"
    )
