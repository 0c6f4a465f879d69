"""One start or eight: python -m tests.bench.bench_morph_starts (from the root).

Random structures of 16 nodes with joints on their way to an ellipsoid beside and around
them, from one start and from eight, beside the lowest E that 64 starts of another seed
or these find. Nothing says that nothing is lower.
"""

import argparse

import numpy as np

from sim.morph.morphing.problem import NewtonOptions
from sim.morph.morphing.starts import attempts_of, lowest
from sim.morph.targets.ellipsoid import Ellipsoid
from tests.sim.morph.random_structures import random_structure

TARGETS = {
    "beside": Ellipsoid((1.6, 1.3, 1.0), (0.0, 0.0, -1.2)),
    "around": Ellipsoid((3.0, 2.4, 2.0), (0.1, 0.0, 0.2)),
}
ALIKE = 1e-6  # of E


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--structures", type=int, default=24)
    parser.add_argument("--many", type=int, default=64)
    asked = parser.parse_args()
    for name, target in TARGETS.items():
        rows = []
        for seed in range(asked.structures):
            made = random_structure(seed)
            steps = list(lowest(made, target, NewtonOptions(), 8))
            attempts = attempts_of(steps)
            *_, more = lowest(made, target, NewtonOptions(seed=1), asked.many)
            one, eight = attempts[0].E, steps[-1].E
            failed = sum(bool(attempt.failed) for attempt in attempts)
            minima = max(attempt.minimum for attempt in attempts) + 1
            rows.append((one, eight, min(eight, more.E), failed, minima))
        one, eight, known, failed, minima = np.array(rows).T
        print(
            f"{name}: mean E {one.mean():.4f} from one start, {eight.mean():.4f} from "
            f"eight, {known.mean():.4f} the lowest known; at it "
            f"{np.sum(one <= known + ALIKE)} and {np.sum(eight <= known + ALIKE)} of "
            f"{len(rows)}; {failed.sum():.0f} starts failed; "
            f"{np.median(minima):.0f} minima in eight starts (median)",
            flush=True,
        )


if __name__ == "__main__":
    main()
