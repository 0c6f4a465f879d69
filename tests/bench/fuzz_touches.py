"""Random motions with touch, each in its own process: which finish, which are wrong.

python -m tests.bench.fuzz_touches SEED FIRST LAST [CPU_SECONDS]

Motions FIRST to LAST - 1 of that seed of `test_honest_touches`; a line for each, then
the sums. One that takes more than CPU_SECONDS (600) is ended, and counted apart.
"""

import os
import resource
import sys
import traceback

import numpy as np

from tests.sim.rod.stepping.test_honest_steps import finished_run
from tests.sim.rod.stepping.test_honest_touches import random_touch, wrong_in

OUTCOMES = ("finished", "not converged", "refused at its start", "wrong", "too long")
FINISHED, NOT_CONVERGED, REFUSED, WRONG, TOO_LONG = range(5)


def outcome(seed: int, k: int) -> int:
    """What one motion comes to."""
    trial = random_touch(np.random.default_rng([seed, k]))
    if trial is None:
        return REFUSED
    steps = finished_run(trial)
    wrong = list(wrong_in(trial, steps)) if steps else []
    for fault in wrong:
        print(f"trial {k}: {fault}", flush=True)
    return WRONG if wrong else FINISHED if steps else NOT_CONVERGED


def apart(seed: int, k: int, limit: int) -> tuple[int, float]:
    """The outcome of one motion in a process of its own, and its CPU time, s."""
    child = os.fork()
    if child == 0:
        resource.setrlimit(resource.RLIMIT_CPU, (limit, limit + 1))
        try:
            os._exit(outcome(seed, k))
        except Exception:  # noqa: BLE001 - or the child would go on with the loop
            traceback.print_exc()
            os._exit(len(OUTCOMES))
    _, status, used = os.wait4(child, 0)
    if os.WIFEXITED(status) and os.WEXITSTATUS(status) >= TOO_LONG:
        raise RuntimeError(f"trial {k} ended with status {os.WEXITSTATUS(status)}")
    found = TOO_LONG if os.WIFSIGNALED(status) else os.WEXITSTATUS(status)
    return found, used.ru_utime


def main(seed: int, first: int, last: int, limit: int = 600) -> None:
    outcome(seed, 0)  # compiles what all of them use
    counts = [0] * len(OUTCOMES)
    for k in range(first, last):
        found, seconds = apart(seed, k, limit)
        counts[found] += 1
        print(f"{k}: {OUTCOMES[found]}, {seconds:.1f} s", flush=True)
    print(", ".join(f"{n} {name}" for n, name in zip(counts, OUTCOMES, strict=True)))


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
