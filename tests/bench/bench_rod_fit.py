"""Exact derivatives of rods beside central differences.

    python tests/bench/bench_rod_fit.py

Of the shipped fits: CPU time of one set of derivatives in plain runs, and the largest
error of both, relative to the largest derivative, by the tolerance of Newton's steps.
"""

import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from pipeline.cases.rod_fit import RodFitCase
from pipeline.config.building import build
from pipeline.config.hydra import Composer
from sim.arrays import Floats
from sim.rod.stepping.sensitivity import Fitted, hung
from sim.rod.stepping.simulate import simulate

REPEATS = 5


def least_seconds(what: Callable[[], object]) -> float:
    taken = []
    for _ in range(REPEATS):
        start = time.process_time()
        what()
        taken.append(time.process_time() - start)
    return min(taken)


def plain_run(case: RodFitCase, end: float) -> Callable[[], object]:
    specimen = case.specimen
    world = specimen.world  # type: ignore[union-attr]
    if case.released_from is not None:
        world, _ = hung(world, case.released_from, Fitted(case.fitted, 1e6))
    return lambda: list(simulate(world, specimen.options, end, every=10))  # type: ignore[union-attr]


def with_tolerance(case: RodFitCase, tolerance: float) -> RodFitCase:
    options = replace(case.specimen.options, tolerance=tolerance)  # type: ignore[union-attr]
    return replace(case, specimen=replace(case.specimen, options=options))


def differences(
    predict: Callable[[Floats], tuple[Floats, Floats]], p: Floats, size: float
) -> Floats:
    columns = []
    for k in range(len(p)):
        h = np.zeros_like(p)
        h[k] = size * abs(p[k])
        columns.append((predict(p + h)[0] - predict(p - h)[0]) / (2.0 * h[k]))
    return np.column_stack(columns)


def compare(name: str, case: RodFitCase) -> None:
    at = case.series["at"].to_numpy(np.float64)
    quantities = case.series["quantity"].to_numpy(str)
    number = np.unique(quantities, return_inverse=True)[1]
    p = case.nominal

    def predict_of(made: RodFitCase) -> Callable[[Floats], tuple[Floats, Floats]]:
        return lambda values: made.predict(values, number, at)

    exact = predict_of(with_tolerance(case, 1e-14))(p)[1]
    scale = np.abs(exact).max(axis=0)
    run = least_seconds(plain_run(case, float(at.max())))
    tangent = least_seconds(lambda: predict_of(case)(p))
    print(f"{name}: derivatives by {len(p)} parameters {tangent / run:.0f} runs,")
    print(f"  central differences {2 * len(p) + 1} runs")
    for tolerance in (1e-9, 1e-11):
        predict = predict_of(with_tolerance(case, tolerance))
        found = [predict(p)[1]]
        found += [differences(predict, p, size) for size in (1e-2, 1e-3, 1e-4, 1e-5)]
        errors = [f"{float((np.abs(J - exact) / scale).max()):.1e}" for J in found]
        print(
            f"  tolerance {tolerance:g} m: exact {errors[0]}, differences with steps of"
        )
        print(f"    1e-2 to 1e-5 {', '.join(errors[1:])}")


def main() -> None:
    with Composer() as composer:
        for name in ("beam_fit", "limb_fit"):
            config = composer.compose("simulate", [f"case={name}"])
            compare(name, build(config["case"], "case"))


if __name__ == "__main__":
    main()
