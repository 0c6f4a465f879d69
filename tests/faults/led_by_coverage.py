"""Readers of files of others, fuzzed by what their code has not yet done.

PYTHONPATH=.:ATHERIS python -m tests.faults.led_by_coverage FOLDER READER [FLAGS]

Needs Atheris, which is not among what is installed (pip install --target ATHERIS
atheris). FOLDER/READER/corpus keeps each file that reached new code, and
FOLDER/READER/found each that was neither answered nor refused in one line, with what it
ended in. FLAGS are libFuzzer's: -max_total_time=3600 ends after an hour. Without READER
their names are listed.
"""

import contextlib
import random
import sys
import tempfile
import traceback
from pathlib import Path
from typing import Any

import yaml

from tests.faults.damage import SCRAPS, edit

ROOT = Path(__file__).resolve().parents[2]


def _try_each(atheris: Any, readers: Any, name: str, folder: Path) -> None:
    """Does not come back: libFuzzer ends the process."""
    reader, trees = readers.READERS[name], readers.TREES
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

    longest = max(len(one) for one in reader.good)
    flags = [f"-max_len={2 * longest + 200}", "-timeout=0", "-rss_limit_mb=3000"]
    own = sys.argv[3:]
    atheris.Setup(
        [sys.argv[0], *flags, *own, str(folder / "corpus")],
        tried,
        custom_mutator=mutated,
    )
    atheris.Fuzz()


def main() -> None:
    """Fuzz the reader that the command line names."""
    import atheris  # type: ignore[import-not-found, unused-ignore]

    compiled = [
        ".".join(path.relative_to(ROOT).with_suffix("").parts)
        for path in (ROOT / "sim").rglob("*.py")
        if "kernel" in path.read_text()
    ]
    with atheris.instrument_imports(include=["pipeline", "sim"], exclude=compiled):
        from tests.faults import test_fuzz_readers as readers

    if len(sys.argv) < 3:
        sys.stdout.write("\n".join(readers.READERS) + "\n")
    else:
        name = sys.argv[2]
        _try_each(atheris, readers, name, Path(sys.argv[1]).resolve() / name)


if __name__ == "__main__":
    main()
