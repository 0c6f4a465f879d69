"""This software beside NumPy and SciPy, in turns: python -m tests.bench.bench_ratios.

Every pair is timed alternately in one process, so that what slows a machine slows
both; the ratio of the medians is printed beside the one that was kept, and decides
nothing. Counts of steps do: more than one step above the kept ones, which rounding may
cost, ends with status 1. `--keep` writes both down.
Set OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1.
"""

import argparse
import json
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np

from sim.morph.equations.projection import admissible
from sim.morph.equations.system import linearise, state, system_of
from sim.morph.statics.equilibrium import EquilibriumOptions, at_rest
from sim.rod.rod.rod import RodMaterial
from sim.rod.rod.star import StarShape, star
from tests.bench.bench_equilibrium import by_scipy, hanging
from tests.bench.bench_morph import (
    dense_projection,
    last_E,
    rolled,
    sheet,
    with_scipy,
)
from tests.bench.bench_rods import solvers

KEPT = Path(__file__).with_name("ratios.json")
TURNS = 5
Work = Callable[[], object]


class Pair(NamedTuple):
    """Two ways to the same answer, and the steps that this one takes, if it steps."""

    ours: Work
    theirs: Work
    steps: int | None = None


def projection() -> Pair:
    """Eq. (11) of [dJ23] for 330 nodes: sparse, and by dense singular values."""
    system, z = system_of(sheet(330)), state(sheet(330))
    d = np.random.default_rng(0).normal(size=(330, 3))
    blocks = np.zeros((system.m, 330, 3))
    blocks[system.block_row, system.block_node] = linearise(system, z).B
    J = blocks.reshape(system.m, -1)
    return Pair(
        lambda: admissible(system, z, d), lambda: dense_projection(J, d.ravel())
    )


def morph() -> Pair:
    """A sheet of 90 nodes rolled: constrained Newton, and SciPy's trust-constr."""
    structure = sheet(90)
    goals, general = rolled(structure, 1.08), with_scipy("trust-constr")
    steps, *_ = last_E(structure, goals)
    return Pair(
        lambda: last_E(structure, goals),
        lambda: general(structure, goals.points),
        steps,
    )


def equilibrium() -> Pair:
    """A sheet of 81 nodes under its weight: this Newton, and SciPy's trust-constr."""
    body, exact = hanging(8), EquilibriumOptions(tolerance=1e-7)
    steps = at_rest(body, exact).steps
    return Pair(
        lambda: at_rest(body, exact), lambda: by_scipy(body, "trust-constr"), steps
    )


def rod_matrix() -> Pair:
    """A step's matrix of the star with 840 nodes: 2 x 2 blocks, and SciPy's splu."""
    blocks, _, splu = solvers(star(StarShape().refined(10), RodMaterial()))
    return Pair(blocks, splu)


PAIRS = (projection, morph, equilibrium, rod_matrix)


def ratio(pair: Pair) -> float:
    """CPU seconds of the other over those of this, medians of alternate calls."""
    pair.ours(), pair.theirs()  # compiles, and fills caches
    taken = [(_seconds(pair.ours), _seconds(pair.theirs)) for _ in range(TURNS)]
    ours, theirs = (statistics.median(column) for column in zip(*taken, strict=True))
    return theirs / ours


def _seconds(work: Work) -> float:
    """CPU seconds of a call, repeated until the clock can tell them."""
    calls, begin = 0, time.process_time()
    while calls == 0 or time.process_time() - begin < 0.05:
        work()
        calls += 1
    return (time.process_time() - begin) / calls


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--keep", action="store_true", help="write them down")
    keep = parser.parse_args().keep
    kept = json.loads(KEPT.read_text()) if KEPT.exists() else {}
    found, worse = {}, []
    print("| other / this, CPU | now | kept | steps | kept |\n|---|---|---|---|---|")
    for make in PAIRS:
        name, pair, before = make.__name__, make(), kept.get(make.__name__, {})
        now = found[name] = {"ratio": float(f"{ratio(pair):.3g}"), "steps": pair.steps}
        if (pair.steps or 0) > (before.get("steps") or pair.steps or 0) + 1:
            worse.append(f"{name}: {pair.steps} steps, {before['steps']} are kept")
        cells = [now["ratio"], before.get("ratio"), pair.steps, before.get("steps")]
        shown = ["-" if cell is None else f"{cell:g}" for cell in cells]
        print(f"| {make.__doc__} | {' | '.join(shown)} |", flush=True)
    if keep:
        KEPT.write_text(json.dumps(found, indent=2) + "\n")
    print("\n".join(worse), file=sys.stderr, end="\n" if worse else "")
    return 1 if worse and not keep else 0


if __name__ == "__main__":
    sys.exit(main())
