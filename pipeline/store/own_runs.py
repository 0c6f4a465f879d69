"""Runs that a person asked for by hand, by names, and how to know them again.

    results/own/<name>           points to the run
    results/own/.asked/<digest>  what was asked for in which words, and what came of it

The words of a command line mean the same run for as long as code, conf and the files
that the run reads stay as they are, which sizes and times tell in milliseconds.
"""

import hashlib
import json
import os
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from pipeline.config.listed import CONF
from pipeline.store.files import point_to, read_json, write_json
from pipeline.store.keys import files_named
from pipeline.store.runs import RESULTS, finished
from pipeline.terminal.errors import InputError
from sim.syntax import PACKAGES, SOURCE_ROOT

OWN = "own"
LONGEST = 80  # letters of a name


def own_name(case: str, words: Sequence[str]) -> str:
    """The case, and what differs from it, as the name of a folder."""
    others = [w for w in words if not w.startswith(("case=", "hydra."))]
    text = ",".join([case, *(w.lstrip("+~").removeprefix("case.") for w in others)])
    plain = re.sub(r"[^\w.+=,-]+", "_", text).strip("._")
    if len(plain) <= LONGEST:
        return plain
    return f"{plain[: LONGEST - 9]}-{hashlib.sha256(text.encode()).hexdigest()[:8]}"


def keep_own(name: str, directory: Path, results: Path = RESULTS) -> Path:
    """Let a name point to a run; the name as a path."""
    link = results / OWN / name
    point_to(link, directory)
    return link


def own_runs(results: Path = RESULTS) -> dict[str, Path]:
    """The runs that were made by hand, by name."""
    links = sorted((results / OWN).glob("[!.]*"))
    found = {link.name: (results / "runs" / link.resolve().name) for link in links}
    return {name: path for name, path in found.items() if (path / "run.json").is_file()}


def _states(paths: Iterator[Path]) -> str:
    digest = hashlib.sha256()
    for path in sorted(paths):
        try:
            found = path.stat()
        except OSError:
            continue
        digest.update(f"{path}\n{found.st_mtime_ns}\n{found.st_size}\n".encode())
    return digest.hexdigest()


def _decides() -> Iterator[Path]:
    """Files of conf and of the code, and the packages that are installed."""
    for folder in [CONF, *(SOURCE_ROOT / package for package in PACKAGES)]:
        for place, _, names in os.walk(folder):
            ours = (".py", ".yaml", ".json", ".csv", ".fold")
            yield from (Path(place, name) for name in names if name.endswith(ours))
    yield from (Path(p) for p in sys.path if p.endswith("site-packages"))


def _memo(words: Sequence[str], results: Path) -> Path:
    text = json.dumps([list(words), sys.version, str(Path.cwd())])
    name = hashlib.sha256(text.encode()).hexdigest()[:24]
    return results / OWN / ".asked" / f"{name}.json"


def remember(
    words: Sequence[str],
    name: str,
    key: str,
    config: Mapping[str, Any],
    results: Path = RESULTS,
) -> None:
    """Note which run the words of a command line mean today."""
    files = sorted(files_named(config))
    states = [_states(_decides()), _states(map(Path, files))]
    memo = {"name": name, "key": key, "files": files, "states": states}
    write_json(_memo(words, results), memo)


def remembered(
    words: Sequence[str], results: Path = RESULTS
) -> tuple[str, Path] | None:
    """Name and folder of the finished run that these words mean, if that is known."""
    try:
        memo = read_json(_memo(words, results))
        files = [Path(path) for path in memo["files"]]
        if memo["states"] != [_states(_decides()), _states(iter(files))]:
            return None
        directory = finished(str(memo["key"]), results)
    except (InputError, KeyError, TypeError):
        return None
    return None if directory is None else (str(memo["name"]), directory)
