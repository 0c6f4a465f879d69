"""This software beside NumPy and SciPy, in turns: python -m tests.bench.bench_ratios.

Every pair is timed alternately in one process, so that what slows a machine slows
both; the ratio of the medians is printed beside the one that was kept, and decides
nothing. Counts do: steps, iterations, factorisations, calls of functions of `sim` and
kernels that are compiled. More of one than a tenth and one above what is kept, which
rounding may cost, ends with status 1. `--keep` writes all down.
Set OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1.
"""

import argparse
import gc
import json
import os
import statistics
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from types import FrameType
from typing import Any, NamedTuple

import numpy as np
from numba.core.dispatcher import Dispatcher
from scipy.optimize import minimize
from scipy.sparse import coo_array, csc_array, csr_matrix
from scipy.sparse.linalg import splu

from pipeline.config.build_objects import build
from pipeline.config.hydra import Composer
from sim.core.arrays import Floats
from sim.linalg import sparse_ldl
from sim.mechanism.constraint_projection import admissible
from sim.mechanism.constraint_system import linearise, state, system_of
from sim.mechanism.constraints import ConstraintTable, fix
from sim.mechanism.statics.elastic_parts import (
    Elastic,
    angles_of,
    deform,
    elastic_entries,
    hinged_sheet,
    hinges_between,
)
from sim.mechanism.statics.equilibrium import EquilibriumOptions, at_rest
from sim.mechanism.statics.loaded_structure import LoadedStructure
from sim.mechanism.structure import Structure
from sim.rods.plane.block_factorisation import (
    analyse,
    backward,
    dense,
    empty,
    factorise,
    forward,
)
from sim.rods.plane.builders import StarShape, star
from sim.rods.plane.elastic_energy import (
    Rates,
    add_mass,
    add_stiffness,
    elements,
    passive,
    unstrained,
)
from sim.rods.plane.rod import RodMaterial
from tests.bench.bench_morph import (
    dense_projection,
    last_E,
    rolled,
    sheet,
    with_scipy,
)

KEPT = Path(__file__).with_name("ratios.json")
SIM = str(KEPT.parents[2] / "sim")
TURNS = 5
RECORDS = 60  # of each case whose work is counted
CASES = ("single_fold", "box", "star_robot")
WEIGHT = 2e-4  # of a node of a sheet; links have the stiffness 10, hinges 0.05
COUNTED = ("iterations", "substeps", "factorisations")
Work = Callable[[], object]
Counts = dict[str, int]


class Pair(NamedTuple):
    """Two ways to the same answer, and the steps that this one takes, if it steps."""

    ours: Work
    theirs: Work
    steps: int = 0


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


def hanging(size: int) -> LoadedStructure:
    """A square sheet held along one side."""
    sheet = hinged_sheet(size, size)
    table = sheet.constraints
    hinges = hinges_between(sheet.bodies)
    elastic = Elastic.between(sheet.r0, table.nodes[:, :2], 10.0, hinges, 0.05)
    held = [row for node in range(size + 1) for row in fix(sheet.r0, node)]
    made = Structure(sheet.r0, ConstraintTable.of(held), np.arange(len(sheet.r0)))
    force = np.zeros_like(sheet.r0)
    force[:, 2] = -WEIGHT
    return LoadedStructure(made, elastic, force, np.zeros(len(force)))


def by_trust_constr(body: LoadedStructure) -> object:
    """The rest of a sheet by SciPy, with the same energy and sparse stiffness."""
    elastic, r0 = body.elastic, body.structure.r0
    free = np.flatnonzero(
        ~np.isin(np.arange(len(r0)), body.structure.constraints.nodes[:, 0])
    )
    rows, cols = elastic_entries(elastic.links, elastic.hinges, elastic.panels.nodes)
    before = angles_of(elastic.hinges, r0)
    unknown = (3 * free[:, None] + np.arange(3)).ravel()

    def placed(x: Floats) -> Floats:
        r = r0.copy()
        r[free] = x.reshape(-1, 3)
        return r

    def energy(x: Floats) -> tuple[float, Floats]:
        r = placed(x)
        found = deform(elastic, r, before)
        slope = found.gradient - body.force
        value = found.energy - float(np.vdot(body.force, r - r0))
        return value, slope[free].ravel()

    def stiffness(x: Floats) -> csr_matrix:
        values = deform(elastic, placed(x), before).curvature
        size = r0.size
        lower = coo_array((values, (rows, cols)), shape=(size, size)).tocsr()
        diagonal = lower.diagonal()
        whole = lower + lower.T
        whole.setdiag(diagonal)
        return csr_matrix(whole[unknown][:, unknown])

    options = {"maxiter": 20_000, "gtol": 1e-9}
    return minimize(
        energy, r0[free].ravel(), jac=True, method="trust-constr", hess=stiffness,
        options=options,
    )  # fmt: skip


def equilibrium() -> Pair:
    """A sheet of 81 nodes under its weight: this Newton, and SciPy's trust-constr."""
    body, exact = hanging(8), EquilibriumOptions(tolerance=1e-7)
    steps = at_rest(body, exact).steps
    return Pair(lambda: at_rest(body, exact), lambda: by_trust_constr(body), steps)


def rod_matrix() -> Pair:
    """A step's matrix of the star with 840 nodes: 2 x 2 blocks, and SciPy's splu."""
    rod, h = star(StarShape().refined(10), RodMaterial()), 2.5e-3
    pattern = analyse(len(rod.nodes), rod.edges, rod.bends)
    filled, factor = empty(pattern), empty(pattern)
    weight, before = Rates(0.5, 8e-3 / h), unstrained(rod)
    add_mass(pattern, filled, rod.mass, rod.held, 1.0)
    parts = elements(rod), passive(rod), weight, before, before.stretch, pattern
    add_stiffness(rod.nodes, *parts, 0.5 * h * h, filled)
    matrix, z = csc_array(dense(pattern, filled)), np.ones_like(rod.nodes)

    def blocks() -> None:
        factor.diagonal[:] = filled.diagonal
        factor.lower[:] = filled.lower
        factorise(pattern, factor)
        forward(pattern, factor, z)
        backward(pattern, factor, z)
        z[:] = 1.0

    return Pair(blocks, lambda: splu(matrix).solve(z.ravel()))


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


def calls_of(work: Work) -> Counts:
    """What `work` calls of `sim`: functions that are not compiled, factorisations."""
    counts = Counter[str]()

    def seen(frame: FrameType, event: str, _: Any) -> None:
        if event == "call" and frame.f_code.co_filename.startswith(SIM):
            counts["calls"] += 1
            counts["factorisations"] += frame.f_code is sparse_ldl.factorise.__code__

    sys.setprofile(seen)
    try:
        work()
    finally:
        sys.setprofile(None)
    return {name: count for name, count in counts.items() if count}


def counts_of_cases() -> Iterator[tuple[str, Counts]]:
    """What the first records of cases tell of their loops, which are compiled whole."""
    composer = Composer()
    for name in CASES:
        config = composer.compose("simulate", [f"case={name}"])
        steps = islice(build(config["case"], "case").steps(), RECORDS)
        told = Counter[str]()
        for step in steps:
            told.update({k: getattr(step, k) for k in COUNTED if hasattr(step, k)})
        yield name, dict(told)


def kernels() -> list[Dispatcher]:
    """All that this process called, and what those that it compiled call."""
    return [one for one in gc.get_objects() if isinstance(one, Dispatcher)]


def compiled() -> Counts:
    """Kernels by their kinds of arguments."""
    return {"kernels": sum(len(one.signatures) for one in kernels())}


def more_than_kept(now: Counts, before: Counts) -> list[str]:
    """Counts that rose by more than rounding may cost; none where none is kept."""
    return [
        f"{now[name]} {name}, {kept} are kept"
        for name, kept in before.items()
        if now.get(name, 0) > kept + 1 + kept // 10
    ]


def found() -> Iterator[tuple[str, str, float | None, Counts]]:
    """Names, what they are, ratios of CPU, counts."""
    for make in PAIRS:
        pair = make()
        took = float(f"{ratio(pair):.3g}")
        counts = calls_of(pair.ours) | ({"steps": pair.steps} if pair.steps else {})
        yield make.__name__, str(make.__doc__), took, counts
    for name, counts in counts_of_cases():
        yield name, f"The first {RECORDS} records of {name}.", None, counts
    yield "all", "All of these together.", None, compiled()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--keep", action="store_true", help="write them down")
    parser.add_argument("--warm", action="store_true", help="all is in numba's cache")
    given = parser.parse_args()
    keep = given.keep
    kept = json.loads(KEPT.read_text()) if KEPT.exists() else {}
    rows, worse = {}, []
    print("| other / this, CPU | now | kept | counts | kept |\n|---|---|---|---|---|")
    for name, what, took, counts in found():
        before = kept.get(name, {})
        rows[name] = {"ratio": took, "counts": counts}
        known = before.get("counts", {})
        worse += [f"{name}: {more}" for more in more_than_kept(counts, known)]
        times = ["-" if t is None else f"{t:g}" for t in (took, before.get("ratio"))]
        told = [", ".join(f"{v} {k}" for k, v in c.items()) for c in (counts, known)]
        print(f"| {what} | {' | '.join([*times, *told])} |", flush=True)
    if not given.warm and any(one.stats.cache_misses for one in kernels()):
        print("Kernels were compiled, which counts those that they call: once more.")
        sys.stdout.flush()
        again = ["-m", "tests.bench.bench_ratios", "--warm", *sys.argv[1:]]
        os.execv(sys.executable, [sys.executable, *again])
    if keep:
        KEPT.write_text(json.dumps(rows, indent=2) + "\n")
    print("\n".join(worse), file=sys.stderr, end="\n" if worse else "")
    return 1 if worse and not keep else 0


if __name__ == "__main__":
    sys.exit(main())
