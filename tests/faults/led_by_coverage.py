"""Readers of files of others, fuzzed by what their code has not yet done.

PYTHONPATH=.:ATHERIS python -m tests.faults.led_by_coverage FOLDER READER... [FLAGS]

Needs Atheris, which is not among what is installed (pip install --target ATHERIS
atheris). FOLDER/READER/corpus keeps each file that reached new code, and
FOLDER/READER/found each that was neither answered nor refused in one line, with what it
ended in. FLAGS are libFuzzer's, and CPU=3600, after which many seconds of the processor
it ends; each end by CPU adds a line to FOLDER/log.csv: reader, CPU s, examples, files
of the corpus, finds. Several READERs are tried one after the other; without one their
names are listed.
"""

import contextlib
import csv
import itertools
import os
import random
import sys
import tempfile
import time
import traceback
from pathlib import Path
from typing import Any

import yaml

from tests.faults.damage import SCRAPS, edit

ROOT = Path(__file__).resolve().parents[2]


def _logged(name: str, folder: Path, examples: int) -> None:
    counts = [len(list((folder / one).glob("*"))) for one in ("corpus", "found")]
    line = [name, f"{time.process_time():.0f}", examples, counts[0], counts[1] // 2]
    with (folder.parent / "log.csv").open("a") as file:
        csv.writer(file).writerow(line)


def _try_each(
    atheris: Any, readers: Any, name: str, folder: Path, flags: list[str]
) -> None:
    """Does not come back: libFuzzer ends the process."""
    reader, trees = readers.READERS[name], readers.TREES
    own = [one for one in flags if not one.startswith("CPU=")]
    budget = min([float(one[4:]) for one in flags if one not in own] or [1e9])
    examples = itertools.count()
    place = Path(tempfile.mkdtemp())
    readers.lay_out(place)
    for part in ("corpus", "found"):
        (folder / part).mkdir(parents=True, exist_ok=True)
    for number, content in enumerate([*reader.good, *readers.FOUND.get(name, [])]):
        (folder / "corpus" / f"good{number}").write_bytes(content)

    def mutated(content: bytes, most: int, seed: int) -> bytes:
        chance = random.Random(seed)
        if reader.suffix in trees and chance.random() < 0.7:
            with contextlib.suppress(yaml.YAMLError, ValueError, RecursionError):
                return bytes(edit(content, reader.suffix, chance))[:most]
        if chance.random() < 0.5:
            at = chance.randint(0, len(content))
            put, over = chance.choice(SCRAPS), chance.randint(0, 12)
            return (content[:at] + put + content[at + over :])[:most]
        return bytes(atheris.Mutate(content, most))

    def tried(content: bytes) -> None:
        try:
            readers.answered(reader, place, content)
        except Exception as error:  # noqa: BLE001 - each kind is kept
            frames = traceback.extract_tb(error.__traceback__)
            last = [one for one in frames if str(ROOT) in one.filename][-1:]
            at = "".join(f"{Path(one.filename).stem}-{one.lineno}" for one in last)
            found = folder / "found" / f"{type(error).__name__}-{at}"
            if not found.exists():
                found.write_bytes(content)
                found.with_suffix(".txt").write_text(traceback.format_exc())
        number = next(examples)
        if time.process_time() > budget:
            _logged(name, folder, number + 1)
            os._exit(0)

    longest = max(len(one) for one in reader.good)
    always = [f"-max_len={2 * longest + 200}", "-timeout=0", "-rss_limit_mb=3000"]
    always.append(f"-artifact_prefix={folder}/")
    atheris.Setup(
        [sys.argv[0], *always, *own, str(folder / "corpus")],
        tried,
        custom_mutator=mutated,
    )
    atheris.Fuzz()


def main() -> None:
    """Fuzz the reader that the command line names."""
    import atheris  # type: ignore[import-not-found, unused-ignore]

    compiled = [
        ".".join(path.relative_to(ROOT).with_suffix("").parts)
        for part in ("analysis", "sim")
        for path in (ROOT / part).rglob("*.py")
        if "kernel" in path.read_text()
    ]
    ours = ["analysis", "pipeline", "sim"]
    with atheris.instrument_imports(include=ours, exclude=compiled):
        from tests.faults import test_fuzz_readers as readers

    names = [one for one in sys.argv[2:] if one in readers.READERS]
    if not names:
        sys.stdout.write("\n".join(readers.READERS) + "\n")
    for name in names:
        if child := os.fork():
            os.waitpid(child, 0)
        else:
            flags = [one for one in sys.argv[2:] if one not in names]
            folder = Path(sys.argv[1]).resolve() / name
            _try_each(atheris, readers, name, folder, flags)


if __name__ == "__main__":
    main()
