"""One start or eight: python -m tests.bench.bench_morph_starts (from the root).

Random structures of 16 nodes with joints on their way to an ellipsoid beside and around
them, from one start, from eight, and from eight with hops, beside the lowest E that
these or other starts of another seed find, with hops too. Nothing says that nothing is
lower.
"""

import argparse
import time

import numpy as np

from sim.morph.morphing.morph import MorphStep
from sim.morph.morphing.problem import NewtonOptions
from sim.morph.morphing.starts import attempts_of, lowest
from sim.morph.targets.ellipsoid import Ellipsoid
from tests.sim.morph.random_structures import random_structure

TARGETS = {
    "beside": Ellipsoid((1.6, 1.3, 1.0), (0.0, 0.0, -1.2)),
    "around": Ellipsoid((3.0, 2.4, 2.0), (0.1, 0.0, 0.2)),
}
ALIKE = 1e-5  # of E


def searched(seed: int, name: str, asked: argparse.Namespace) -> list[float]:
    """E of one start, of eight, of eight with hops; the lowest known; CPU s; alike."""
    made, target = random_structure(seed), TARGETS[name]

    def steps(options: NewtonOptions, starts: int, hops: int) -> list[MorphStep]:
        return list(lowest(made, target, options, starts, hops))

    begin = time.process_time()
    plain = steps(NewtonOptions(), 8, 0)
    between = time.process_time()
    hopped = steps(NewtonOptions(), 8, asked.hops)
    end = time.process_time()
    others = steps(NewtonOptions(seed=1), asked.many, asked.hops)
    one, eight, best = attempts_of(plain)[0].E, plain[-1].E, hopped[-1].E
    known = min(eight, best, others[-1].E)
    ends = [attempt.E for attempt in attempts_of(hopped) + attempts_of(others)]
    share = float(np.mean(np.array(ends) <= known + ALIKE))
    return [one, eight, best, known, between - begin, end - between, share]


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--targets", nargs="+", default=list(TARGETS))
    parser.add_argument("--structures", type=int, default=20)
    parser.add_argument("--first", type=int, default=0, help="seed of the first")
    parser.add_argument("--many", type=int, default=16)
    parser.add_argument("--hops", type=int, default=100)
    asked = parser.parse_args()
    print("| ellipsoid, seed | one | 8 | hops | known | CPU s, 8 | hops | at it |")
    for name in asked.targets:
        rows = []
        for seed in range(asked.first, asked.first + asked.structures):
            rows.append(searched(seed, name, asked))
            told = " | ".join(f"{value:.4g}" for value in rows[-1])
            print(f"| {name} {seed} | {told} |", flush=True)
        table = np.array(rows)
        at = [np.sum(table[:, i] <= table[:, 3] + ALIKE) for i in range(3)]
        mean, (cheap, dear) = table[:, :4].mean(axis=0), np.median(table[:, 4:6], 0)
        print(
            f"{name}: mean E {mean[0]:.4f}, {mean[1]:.4f}, {mean[2]:.4f}, known "
            f"{mean[3]:.4f}; at it {at[0]}, {at[1]}, {at[2]} of {len(rows)}; CPU s "
            f"{cheap:.2f}, {dear:.2f} (medians)",
            flush=True,
        )


if __name__ == "__main__":
    main()
