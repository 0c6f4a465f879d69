"""Morphing side by side: python -m tests.bench.bench_morph PART ... (from the root).

Parts:
  morph        a flat sheet rolled onto a cylinder, 1,000 to 100,000 nodes
  peers        the same least-squares problem with links, for general solvers; needs
               the bench extra (casadi) in the environment it runs in

Set OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1. CPU time of the process, medians.
"""

import argparse
import resource
import statistics
import time
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from sim.core.arrays import Floats
from sim.mechanism.constraint_system import (
    Topology,
    hessian_pattern_of,
    system_of,
)
from sim.mechanism.morph_objective import NewtonOptions
from sim.mechanism.named_structures import triangle_sheet
from sim.mechanism.newton_morph import morph_newton
from sim.mechanism.shape_measures import characteristic_length, distance_error
from sim.mechanism.structure import Structure
from sim.mechanism.targets.analytic_surfaces import Cylinder
from sim.mechanism.targets.target_interface import Goals

SHEETS = {
    90: (3, 3), 114: (3, 4), 330: (6, 7), 1008: (12, 12), 3030: (21, 22),
    10_080: (40, 40), 30_240: (70, 70), 99_840: (128, 128), 1_003_680: (408, 408),
}  # fmt: skip
ROLL = 0.35  # radius of the cylinder over the width of the sheet


def sheet(n: int) -> Structure:
    made = triangle_sheet(*SHEETS[n], side=0.606, link=0.35)
    assert len(made.r0) == n
    return made


def cpu(function: Callable[[], object], repeats: int) -> float:
    times = []
    for _ in range(repeats):
        begin = time.process_time()
        function()
        times.append(time.process_time() - begin)
    return statistics.median(times)


def dense_projection(J: Floats, d: Floats) -> Floats:
    """U U^+ d with U from the singular values of J, as the paper has it."""
    _, sizes, rows = np.linalg.svd(J)
    U = rows[np.count_nonzero(sizes > 1e-10 * sizes[0]) :].T
    return U @ (U.T @ d)


def rolled(structure: Structure, scale: float) -> Goals:
    """The sheet scaled, then wrapped on the cylinder without stretching."""
    R = ROLL * float(np.ptp(structure.r0[:, 1]))
    x, y, _ = (scale * structure.r0).T
    return Goals(np.column_stack([x, R * np.sin(y / R), R * np.cos(y / R) - R]))


def last_E(structure: Structure, target: Goals | Cylinder) -> tuple[int, float, float]:
    for step in morph_newton(structure, target, NewtonOptions()):
        last = step
    return last.s, last.E, last.gradient


class Timed(NamedTuple):
    """CPU seconds to find the places of all entries, and of the solution itself."""

    set_up: float
    solve: float
    steps: int
    E: float
    gradient: float

    @property
    def total(self) -> float:
        return self.set_up + self.solve


def timed(structure: Structure, target: Goals | Cylinder, repeats: int) -> Timed:
    """Medians; the places are found anew each time."""
    ends: list[tuple[int, float, float]] = []

    def set_up() -> None:
        hessian_pattern_of(Topology.of(structure.constraints, len(structure.r0)))

    first = cpu(set_up, repeats)
    hessian_pattern_of(system_of(structure).topology)  # else in the first solution, too
    solve = cpu(lambda: ends.append(last_E(structure, target)), repeats)
    return Timed(first, solve, *ends[-1])


def morph(sizes: list[int]) -> None:
    print("| n | steps | E | gradient | set-up, CPU s | CPU s | peak GB |")
    last_E(sheet(90), rolled(sheet(90), 1.08))  # compile
    logs = []
    for n in sizes:
        structure = sheet(n)
        R = ROLL * float(np.ptp(structure.r0[:, 1]))
        target = Cylinder(R, (0.05, 0.03, -R), (1.0, 0.05, 0.0))
        found = timed(structure, target, 1 if n > 50_000 else 3)
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
        logs.append((np.log(n), np.log(found.total)))
        print(
            f"| {n} | {found.steps} | {found.E:.1e} | {found.gradient:.0e} | "
            f"{found.set_up:.3f} | {found.solve:.3f} | {peak:.2f} |",
            flush=True,
        )
    if len(logs) > 2:
        x, y = np.array(logs).T
        print(f"exponent {np.polyfit(x, y, 1)[0]:.2f}")


def with_ipopt(structure: Structure, goals: Floats) -> tuple[float, float]:
    """CasADi's IPOPT with exact sparse derivatives; the time of its call alone."""
    import casadi as ca

    table, n = structure.constraints, len(structure.r0)
    x = ca.MX.sym("x", 3, n)
    a, b = (table.nodes[:, i].tolist() for i in (0, 1))
    d = x[:, b] - x[:, a]
    f = 0.5 * ca.sumsqr(x - goals.T)
    problem = {"x": ca.vec(x), "f": f, "g": ca.sum1(d * d).T}
    quiet = {
        "ipopt.print_level": 0,
        "print_time": 0,
        "ipopt.sb": "yes",
        "ipopt.tol": 1e-9,
    }
    solver = ca.nlpsol("s", "ipopt", problem, quiet)
    bounds = {"lbg": table.constant, "ubg": table.constant}
    begin = time.process_time()
    out = solver(x0=structure.r0.ravel(), **bounds)
    seconds = time.process_time() - begin
    r = np.array(out["x"]).reshape(n, 3)
    return seconds, distance_error(r, goals, characteristic_length(structure.r0))


def with_scipy(method: str) -> Callable[[Structure, Floats], tuple[float, float]]:
    """SciPy's minimisers with the exact Jacobian, and Hessian where they take one."""

    def solve(structure: Structure, goals: Floats) -> tuple[float, float]:
        from scipy.optimize import NonlinearConstraint, minimize
        from scipy.sparse import csr_array, diags_array, eye_array

        table, n = structure.constraints, len(structure.r0)
        a, b = table.nodes[:, 0], table.nodes[:, 1]
        rows = np.repeat(np.arange(len(a)), 6)
        axes = np.arange(3)
        cols = np.concatenate([3 * a[:, None] + axes, 3 * b[:, None] + axes], 1).ravel()
        ends = csr_array(
            (np.repeat([-1.0, 1.0], 3 * len(a)),
             (np.tile(np.arange(3 * len(a)), 2),
              np.concatenate([(3 * a[:, None] + axes).ravel(),
                              (3 * b[:, None] + axes).ravel()]))),
            shape=(3 * len(a), 3 * n),
        )  # fmt: skip

        def gap(x: Floats) -> Floats:
            d = (ends @ x).reshape(-1, 3)
            return np.einsum("ij,ij->i", d, d) - table.constant

        def jacobian(x: Floats) -> csr_array:
            d = 2.0 * (ends @ x).reshape(-1, 3)
            values = np.concatenate([-d, d], axis=1).ravel()
            return csr_array((values, (rows, cols)), shape=(len(a), 3 * n))

        def bend(_: Floats, y: Floats) -> csr_array:
            return csr_array(ends.T @ diags_array(np.repeat(2.0 * y, 3)) @ ends)

        def f(x: Floats) -> tuple[float, Floats]:
            d = x - goals.ravel()
            return 0.5 * float(d @ d), d

        if method == "SLSQP":
            held: object = {
                "type": "eq",
                "fun": gap,
                "jac": lambda x: jacobian(x).toarray(),
            }
            extra: dict[str, object] = {"options": {"maxiter": 100, "ftol": 1e-12}}
        else:
            held = NonlinearConstraint(gap, 0.0, 0.0, jac=jacobian, hess=bend)
            identity = eye_array(3 * n, format="csr")
            extra = {
                "hess": lambda _: identity,
                "options": {"gtol": 1e-9, "maxiter": 500},
            }
        begin = time.process_time()
        out = minimize(
            f, structure.r0.ravel(), jac=True, method=method, constraints=held, **extra
        )
        seconds = time.process_time() - begin
        L = characteristic_length(structure.r0)
        return seconds, distance_error(out.x.reshape(n, 3), goals, L)

    return solve


def repeats_of(name: str, n: int) -> int:
    """How often a peer is timed: cheap ones as often as this solver."""
    if "SLSQP" in name:
        return 1
    return 21 if "IPOPT" in name and n < 2000 else 3


def peers(sizes: list[int]) -> None:
    print("| n | solver | CPU s | E | times this |")
    last_E(sheet(90), rolled(sheet(90), 1.08))  # compile
    others: dict[str, tuple[int, Callable[[Structure, Floats], tuple[float, float]]]]
    others = {
        "CasADi + IPOPT": (10**9, with_ipopt),
        "SciPy trust-constr": (1100, with_scipy("trust-constr")),
        "SciPy SLSQP": (90, with_scipy("SLSQP")),
    }
    for n in sizes:
        structure = sheet(n)
        goals = rolled(structure, 1.08)
        own = timed(structure, goals, 21 if n < 2000 else 5)
        print(f"| {n} | this | {own.solve:.4f} | {own.E:.12f} | 1 |")
        print(f"| {n} | set-up of this | {own.set_up:.4f} | | |", flush=True)
        for name, (largest, solve) in others.items():
            if n > largest:
                continue
            try:
                found = [
                    solve(structure, goals.points) for _ in range(repeats_of(name, n))
                ]
            except ImportError as error:
                print(f"| {n} | {name} | not here: {error} | | |")
                continue
            seconds = statistics.median(s for s, _ in found)
            print(f"| {n} | {name} | {seconds:.4f} | {found[-1][1]:.12f} | "
                  f"{seconds / own.solve:.1f} |", flush=True)  # fmt: skip


PARTS: dict[str, tuple[Callable[[list[int]], None], list[int]]] = {
    "morph": (morph, [1008, 3030, 10_080, 30_240, 99_840]),
    "peers": (peers, [90, 330, 1008, 3030, 10_080]),
}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("parts", nargs="+", choices=PARTS)
    parser.add_argument("--sizes", type=int, nargs="+", choices=SHEETS)
    asked = parser.parse_args()
    for part in asked.parts:
        run, sizes = PARTS[part]
        run(asked.sizes or sizes)


if __name__ == "__main__":
    main()
