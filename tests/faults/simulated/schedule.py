"""Two processes, of which a seeded chance lets one go on at each call."""

import contextlib
import os
import random
import signal
import sys
import time
import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from tests.faults.simulated.calls import CRASHED, REAL

Turn = Callable[[], None]


@dataclass
class _Child:
    process: int
    asks: int  # the end of a pipe on which it says that it waits
    goes: int  # and on which it is told to go on


def _started(work: Callable[[Turn], int]) -> _Child:
    asked, asks = os.pipe()
    told, tells = os.pipe()
    process = os.fork()
    if process:
        os.close(asks)
        os.close(told)
        return _Child(process, asked, tells)
    os.close(asked)
    os.close(tells)

    def turn() -> None:
        os.write(asks, b".")
        if not os.read(told, 1):
            os._exit(CRASHED)

    status = 70
    try:
        status = work(turn)
    except BaseException:
        traceback.print_exc()
    finally:
        with contextlib.suppress(ValueError, OSError):
            sys.stdout.flush()
        os._exit(status)


def interleaved(
    works: Sequence[Callable[[Turn], int]], seed: int, patience: float
) -> list[int]:
    """The exit status of each work; negative where it was killed, for nothing moved."""
    chance = random.Random(seed)
    children = [_started(work) for work in works]
    waits: list[_Child] = []
    runs, end = list(children), time.monotonic() + patience
    while runs or waits:
        for child in list(runs):
            ready, _, _ = REAL["select"]([child.asks], [], [], end - time.monotonic())
            if not ready:  # it neither asks nor ends
                for stuck in children:
                    with contextlib.suppress(ProcessLookupError):
                        os.kill(stuck.process, signal.SIGKILL)
                runs, waits = [], []
                break
            runs.remove(child)
            if os.read(child.asks, 1):
                waits.append(child)
        if waits:
            child = waits.pop(chance.randrange(len(waits)))
            os.write(child.goes, b".")
            runs.append(child)
    statuses = []
    for child in children:
        os.close(child.asks)
        os.close(child.goes)
        _, status = os.waitpid(child.process, 0)
        statuses.append(os.waitstatus_to_exitcode(status))
    return statuses
