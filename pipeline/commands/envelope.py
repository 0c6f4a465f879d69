"""Sample reachable shapes: morphtrack envelope case=<case> [case.key=value].

Runs the case (such as reachable_sheet), as morphtrack simulate does. While it runs,
its steps.csv grows by a row a sample, and results/envelope/<case>.png is drawn anew
every few seconds. Ctrl-C keeps what there is; the same command goes on from there. With
more samples (case.samples=N), the first ones are the same.
"""

import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import numpy as np
import pandas as pd

from analysis.figures.envelope import Envelope, reachable_shapes
from pipeline.cases.envelope import EnvelopeCase
from pipeline.commands.case_command import case_arguments, run_case, run_plainly
from pipeline.results.saved_figure import NOWHERE, save
from pipeline.store.files import read_json
from pipeline.store.runs import RESULTS, Job, Numbers, run_record
from pipeline.terminal.arguments import OneLineParser
from pipeline.terminal.errors import DONE, command

EVERY = 5.0  # s between two pictures
LEAST = 2  # samples in a picture


def draw(directory: Path, name: str, key: str) -> Path:
    """Draw what a run has come to; it may be still at work."""
    arrays = directory / "r.steps.npy"
    if arrays.is_file():
        r = np.load(arrays, mmap_mode="r")
    else:
        with np.load(directory / "steps.npz", allow_pickle=False) as packed:
            r = packed["r"]
    table = pd.read_csv(directory / "steps.csv").iloc[: len(r)]
    bodies = read_json(directory / "structure.json")["bodies"]
    shown = Envelope(
        name, key, table, r[: len(table)], tuple(tuple(body) for body in bodies)
    )
    stem = RESULTS / "envelope" / name
    stem.parent.mkdir(parents=True, exist_ok=True)
    save(reachable_shapes(shown), stem, NOWHERE)
    return stem.with_suffix(".png")


@contextmanager
def _drawn_meanwhile(out: Path, job: Job) -> Iterator[None]:
    """Draw every few seconds while the block runs, and at its end."""
    done = threading.Event()

    def keep_drawing() -> None:
        while not done.wait(EVERY):
            with suppress(OSError, ValueError):  # a file caught in the act: next time
                draw_if_any()

    def draw_if_any() -> None:
        steps = out / "steps.csv"
        if steps.is_file() and steps.read_text().count("\n") > LEAST:
            draw(out, job.name, job.key)

    thread = threading.Thread(target=keep_drawing, daemon=True)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()
        draw_if_any()


def _run(job: Job, out: Path) -> Numbers:
    with _drawn_meanwhile(out, job):
        return run_plainly(job, out)


def arguments() -> OneLineParser:
    return case_arguments("envelope", __doc__)


@command
def main(argv: list[str] | None = None) -> int:
    """Sample once, and print what was reached."""
    directory = run_case(arguments(), EnvelopeCase, argv, _run)
    record = run_record(directory)
    result = record["result"]
    print(f"samples   {result['samples']}")
    if result["stop"] == "rigid":
        print("rigid     the structure only moves as a whole: its one shape is all")
    for name in ("S", "size", "sigma"):
        print(f"{name:9} {result[f'{name}_least']:.4f} to {result[f'{name}_most']:.4f}")
    print(
        f"cells     {result['cells']}, {result['new_in_last_100']} of them new in the"
    )
    print("          last 100 samples: near 0, more samples show little more")
    if result["samples"] > 1:
        print(draw(directory, str(record["name"]), str(record["key"])))
    print(directory)
    return DONE
