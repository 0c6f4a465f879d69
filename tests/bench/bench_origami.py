"""How long origami takes: python -m tests.bench.bench_origami [--large[st]]

Medians over several runs in one process, compilation and case building left out. CPU
time of the one thread, which is the wall time on a machine that does nothing else.
Set OMP_NUM_THREADS=1 and OPENBLAS_NUM_THREADS=1; our own loops use one thread.
`--large` reads Miura sheets of 400, 900 and 2,500 panels and nothing else, with
10,000 as well where `--largest` is said.
"""

import statistics
import sys
import time
from collections.abc import Callable
from functools import partial
from multiprocessing import get_context
from typing import Any

import numpy as np

from pipeline.cases.origami import OrigamiCase
from pipeline.config.building import build
from pipeline.config.hydra import Composer
from sim.contact.candidates import find_pairs
from sim.contact.potential import contact_energy, pair_terms
from sim.contact.surface import ContactPairs, ContactSurface
from sim.linear.sparse import Factor
from sim.origami.folding import large
from sim.origami.folding.folding import OrigamiStep
from sim.origami.folding.problem import THINNEST, FoldingProblem, near_at
from sim.origami.folding.sheet import build_problem
from sim.origami.model.assembly import EquilibriumSystem, assemble
from sim.origami.model.blocks import LargeSystem, SheetFronts
from tests.sim.contact.surfaces import scattered_triangles, surface_of
from tests.sim.origami.sheets import weak_orderings

CASES = [
    "single_fold",
    "double_fold",
    "box",
    "box_corner",
    "folding_sequence",
    "interlocking",
]


def build_case(composer: Composer, *overrides: str) -> OrigamiCase:
    """A case of conf/case."""
    config = composer.compose("simulate", list(overrides))
    case = build(config["case"], "case")
    assert isinstance(case, OrigamiCase)
    return case


def median_seconds(action: Callable[[], object], times: int) -> float:
    """Median CPU time after one run that is not counted."""
    action()
    taken = []
    for _ in range(times):
        begin = time.process_time()
        action()
        taken.append(time.process_time() - begin)
    return statistics.median(taken)


def examples(composer: Composer) -> None:
    """The paper's verifications and examples, by both rules."""
    for rules in ("paper", "full"):
        for name in CASES:
            case = build_case(composer, f"case={name}", f"case.contact.rules={rules}")
            seconds = median_seconds(lambda case=case: list(case.steps()), 5)
            solves = sum(step.iterations for step in case.steps())
            print(f"{name:18s} {rules:6s} {seconds:8.3f} s  {solves:5d} solves")


def folded(configs: list[dict[str, Any]]) -> float:
    """Fold every one of `configs`; return the CPU time it took, s."""
    begin = time.process_time()
    for config in configs:
        for _ in build(config["case"], "case").steps():
            pass
    return time.process_time() - begin


def sequences(composer: Composer) -> None:
    """All 75 folding sequences, on one core and dealt to two processes."""
    for rules in ("paper", "full"):
        points = [
            {"case.sequence": "-".join(str(stage) for stage in stages)}
            for stages in weak_orderings(4)
        ]
        overrides = [
            "case=folding_sequence",
            f"case.contact.rules={rules}",
            f"case.accept_unconverged={rules == 'paper'}",
            "case.imperfections=null",
        ]
        configs = list(composer.variants("simulate", overrides, points))
        print(f"75 sequences       {rules:6s} {folded(configs):8.3f} s")
        with get_context("spawn").Pool(2) as pool:
            pool.map(folded, [configs[:1], configs[:1]], chunksize=1)  # kernels loaded
            begin = time.perf_counter()
            pool.map(folded, [[config] for config in configs], chunksize=1)
            wall = time.perf_counter() - begin
        print(f"  on two processes {rules:6s} {wall:8.3f} s wall")


def contact_share(composer: Composer) -> None:
    """Part of interlocking's time that its pairs take: search and evaluation."""
    case = build_case(composer, "case=interlocking", "case.contact.rules=paper")
    steps = list(case.steps())
    whole = median_seconds(lambda: list(case.steps()), 5)
    problem = build_problem(case.sheet, case.phases[-1])
    skin = THINNEST * problem.skin
    taken = 0.0
    for step in steps:
        if step.phase == 1 and step.increment > 0:
            near = near_at(problem, step.x, skin)
            none = ContactPairs(0, *(values[:0] for values in near.pairs[1:7]))
            seconds = [
                median_seconds(partial(_assembled, problem, pairs, step), 20)
                for pairs in (near.pairs, none)
            ]
            taken += step.iterations * (seconds[0] - seconds[1])
            taken += median_seconds(partial(near_at, problem, step.x, skin), 20)
    print(f"interlocking: contact takes {taken / whole:.1%} of {whole:.3f} s")


def _assembled(
    problem: FoldingProblem, pairs: ContactPairs, step: OrigamiStep
) -> EquilibriumSystem:
    return assemble(problem.model, pairs, problem.ke, step.x, step.angles)


def evaluate(surface: ContactSurface, x: np.ndarray, reach: float) -> int:
    """Search all pairs, then energy, force and stiffness of those that touch."""
    pairs = find_pairs(surface, x, reach)
    g, h, active = np.empty(12), np.empty((12, 12)), 0
    for k in range(len(pairs.row)):
        active += pair_terms(pairs, k, 1.0, x, g, h)[0] > 0
    return active


def pair_search(rng: np.random.Generator) -> None:
    """Thrown triangles: all candidate pairs and the energy of the active ones."""
    for count, target in ((100, 30), (1_000, 300), (10_000, 3_000)):
        x, triangle = scattered_triangles(rng, count, 0.5 * count ** (-1 / 3))
        reach = 0.02 * count ** (-1 / 3)
        surface = surface_of(triangle, x, reach=reach)
        while evaluate(surface, x, reach) < target:
            reach *= 1.1
            surface = surface_of(triangle, x, reach=reach)

        def search(surface: ContactSurface = surface, x: np.ndarray = x) -> float:
            reach = float(surface.point_activation[0])
            return contact_energy(find_pairs(surface, x, reach), 1.0, x)

        active = evaluate(surface, x, reach)
        seconds = median_seconds(search, 9)
        print(f"{count:6d} triangles, {active:5d} active: {1e3 * seconds:8.3f} ms")


def miura_case(composer: Composer, side: int) -> OrigamiCase:
    """A Miura sheet of side x side panels, held at its first corner."""
    return build_case(
        composer,
        "case=miura",
        f"case.pattern.rows={side}",
        f"case.pattern.columns={side}",
        f"case.supports=[[0,1,1,1],[1,0,1,1],[{side + 1},0,0,1]]",
    )


def large_miuras(composer: Composer, sides: list[int]) -> None:
    """Square sheets folded by half with contact on, the exponent from one to next."""
    list(miura_case(composer, 18).steps())  # compiled
    factorised, last = large.factorised, (0, 0.0)
    counted: list[float] = []

    def counting(fronts: SheetFronts, system: LargeSystem, mu: float) -> Factor:
        counted.append(mu)
        return factorised(fronts, system, mu)

    large.factorised = counting
    for side in sides:
        begin = time.process_time()
        case = miura_case(composer, side)
        built = time.process_time()
        counted.clear()
        solves = sum(step.iterations for step in case.steps())
        end = time.process_time()
        taken, power = end - built, ""
        if last[0]:
            power = f", n^{np.log(taken / last[1]) / np.log(side**2 / last[0]):.2f}"
        print(
            f"Miura, {side**2:5d} panels: {built - begin:5.1f} s to build, "
            f"{taken:6.1f} s, {solves} solves, {len(counted)} factorisations{power}"
        )
        last = side**2, taken


def main(words: list[str]) -> int:
    """Print one line a measurement."""
    with Composer() as composer:
        if "--large" in words or "--largest" in words:
            sides = [20, 30, 50] + [100] * ("--largest" in words)
            large_miuras(composer, sides)
            return 0
        examples(composer)
        contact_share(composer)
        pair_search(np.random.default_rng(0))
        sequences(composer)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
