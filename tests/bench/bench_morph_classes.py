"""Random structures on four targets: python -m tests.bench.bench_morph_classes.

Structures of 16 nodes with joints go to an ellipsoid beside them, a mesh and a Fourier
surface of its size, and a synthetic scan of it with 1 % of noise: how many converge, in
how many steps. Beside it IPOPT (of casadi, the bench extra) from the same start, with
the same nearest points, the same exact derivatives of the constraints and the same
curvature of the target, all dense. CPU seconds of each call, what both share included.
"""

import argparse
import time
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
from scipy.spatial import ConvexHull

from sim.arrays import Floats
from sim.convergence import NotConvergedError
from sim.morph.equations.constraint_forces import ConstraintForces
from sim.morph.mobility.tangent import dense_jacobian
from sim.morph.morphing.problem import MorphProblem, NewtonOptions, dense_curvature
from sim.morph.morphing.rounded_first import morph_rounded_first
from sim.morph.structure.measures import distance_error
from sim.morph.structure.structure import Structure
from sim.morph.targets.cloud import CloudTarget
from sim.morph.targets.ellipsoid import Ellipsoid
from sim.morph.targets.fourier import FourierBlob
from sim.morph.targets.mesh import MeshTarget
from sim.morph.targets.protocol import Target
from sim.morph.targets.surfaces import on_sphere
from tests.sim.morph.random_structures import random_structure

AXES, CENTRE = np.array([1.6, 1.3, 1.0]), np.array([0.0, 0.0, -1.2])
ALIKE = 1e-6  # of E
OPTIONS = NewtonOptions()


def on_ellipsoid(count: int) -> Floats:
    """Points of it, spread as on a spiral."""
    i = np.arange(count) + 0.5
    spiral = on_sphere(np.arccos(1 - 2 * i / count), np.pi * (1 + 5**0.5) * i)
    return CENTRE + AXES * spiral


def targets() -> dict[str, Target]:
    vertices, scan = on_ellipsoid(200), on_ellipsoid(4000)
    faces = ConvexHull(vertices).simplices.astype(np.int64)
    noise = 0.01 * np.random.default_rng(1).normal(size=scan.shape)
    waves = [(3.0, 0.0, 1.0), (0.0, 4.0, 0.0), (2.0, 2.0, 2.0)]
    blob = FourierBlob(1.3, [0.15, 0.1, 0.08], waves, [0.3, 1.0, 2.0], (0, 0, -1.2))
    return {
        "ellipsoid": Ellipsoid((1.6, 1.3, 1.0), (0.0, 0.0, -1.2)),
        "mesh": MeshTarget(vertices, faces),
        "fourier": blob,
        "scan": CloudTarget(scan + noise),
    }


class End(NamedTuple):
    """steps and E are nan where a solver has not converged."""

    steps: float
    E: float
    cpu: float


def own(made: Structure, target: Target) -> End:
    begin = time.process_time()
    try:
        *_, last = morph_rounded_first(made, target, OPTIONS)
    except NotConvergedError:
        return End(np.nan, np.nan, time.process_time() - begin)
    return End(last.s, last.E, time.process_time() - begin)


class Nlp:
    """The same least squares for a general solver: x are the unknowns in one row."""

    def __init__(self, problem: MorphProblem, z: Floats) -> None:
        self.problem, self.z = problem, z
        self.used = dense_jacobian(problem.system, z)[1]
        self.x0, self.m = z.ravel()[self.used], problem.system.m

    def state(self, x: Floats) -> Floats:
        flat = np.zeros(self.z.size)
        flat[self.used] = x.ravel()
        return flat.reshape(self.z.shape)

    def f(self, x: Floats) -> float:
        return self.problem.objective(self.problem.point(self.state(x)))

    def grad(self, x: Floats) -> Floats:
        point = self.problem.point(self.state(x))
        full = np.zeros_like(point.z)
        full[: len(point.g)] = point.z[: len(point.g)] - point.g
        return full.ravel()[self.used]

    def g(self, x: Floats) -> Floats:
        linear = self.problem.point(self.state(x)).linear
        return linear.c / self.problem.system.scale

    def jacobian(self, x: Floats) -> Floats:
        return dense_jacobian(self.problem.system, self.state(x))[0]

    def hessian(self, x: Floats, of_f: float, of_g: Floats) -> Floats:
        point = self.problem.point(self.state(x))
        y = of_g.ravel() / self.problem.system.scale
        linear, part = point.linear, np.ix_(self.used, self.used)

        def curvature(y: Floats) -> Floats:
            forces = ConstraintForces(linear, linear.factorise(), y, 0.0 * point.z)
            return dense_curvature(self.problem, point, forces)[part]

        plain = curvature(0.0 * y)
        return np.triu(curvature(y) - plain + of_f * plain)


def callback(ca: Any, inputs: list[Any], output: Any, of: Callable[..., Any]) -> Any:
    """A function of casadi that calls one of NumPy's."""

    class Called(ca.Callback):  # type: ignore[misc]
        def __init__(self) -> None:
            ca.Callback.__init__(self)
            self.construct("called", {})

        def get_n_in(self) -> int:
            return len(inputs)

        def get_n_out(self) -> int:
            return 1

        def get_sparsity_in(self, i: int) -> Any:
            return inputs[i]

        def get_sparsity_out(self, _: int) -> Any:
            return output

        def eval(self, arg: list[Any]) -> list[Any]:
            values = [np.array(a).ravel() for a in arg]
            return [ca.project(ca.DM(of(*values)), output)]

    return Called()


def with_ipopt(made: Structure, target: Target) -> End:
    import casadi as ca

    problem, z = MorphProblem.at(made, target, OPTIONS)
    nlp, dense, upper = Nlp(problem, z), ca.Sparsity.dense, ca.Sparsity.upper
    N, m, one = len(nlp.x0), nlp.m, ca.Sparsity.dense(1, 1)
    f = callback(ca, [dense(N, 1)], one, nlp.f)
    df = callback(ca, [dense(N, 1)], dense(N, 1), nlp.grad)
    g = callback(ca, [dense(N, 1)], dense(m, 1), nlp.g)
    J = callback(ca, [dense(N, 1)], dense(m, N), nlp.jacobian)
    shapes = [dense(N, 1), one, dense(m, 1)]
    H = callback(ca, shapes, upper(N), lambda x, a, b: nlp.hessian(x, float(a[0]), b))
    x, p = ca.MX.sym("x", N), ca.MX.sym("p", 0)
    of_f, of_g = ca.MX.sym("a"), ca.MX.sym("b", m)
    options = {
        "grad_f": ca.Function("grad_f", [x, p], [f(x), df(x)]),
        "jac_g": ca.Function("jac_g", [x, p], [g(x), J(x)]),
        "hess_lag": ca.Function("hess_lag", [x, p, of_f, of_g], [H(x, of_f, of_g)]),
        "no_nlp_grad": True, "ipopt.print_level": 0, "print_time": 0, "ipopt.sb": "yes",
        "ipopt.tol": 1e-9, "ipopt.max_iter": 1000,
    }  # fmt: skip
    solver = ca.nlpsol("s", "ipopt", {"x": x, "f": f(x), "g": g(x)}, options)
    begin = time.process_time()
    out = solver(x0=nlp.x0, lbg=0.0, ubg=0.0)
    cpu, said = time.process_time() - begin, solver.stats()
    if not said["success"]:
        return End(np.nan, np.nan, cpu)
    point = problem.point(nlp.state(np.array(out["x"])))
    E = distance_error(point.z[: len(point.g)], point.g, problem.L)
    return End(said["iter_count"], E, cpu)


def summary(name: str, ends: Floats) -> str:
    steps = ends[:, 0]
    done = steps[~np.isnan(steps)]
    middle, most = np.percentile(done, [50, 95]) if len(done) else (np.nan, np.nan)
    return (
        f"{name} | {len(done)} of {len(steps)} | {middle:.0f} | {most:.0f} | "
        f"{done.max(initial=0):.0f} | {np.sum(done > 60)} | {np.sum(done > 400)} | "
        f"{np.median(ends[:, 2]):.3f} | {ends[:, 2].sum():.1f} |"
    )


def compared(mine: Floats, other: Floats) -> str:
    both = ~np.isnan(mine[:, 1]) & ~np.isnan(other[:, 1])
    apart = (mine - other)[both, 1]
    lower, higher = np.sum(apart < -ALIKE), np.sum(apart > ALIKE)
    return f"E lower {lower}, higher {higher}, alike {len(apart) - lower - higher}"


def solvers(ipopt: bool) -> Iterator[tuple[str, Callable[[Structure, Target], End]]]:
    yield "this", own
    if ipopt:
        yield "IPOPT", with_ipopt


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--targets", nargs="+", default=list(targets()))
    parser.add_argument("--structures", type=int, default=50)
    parser.add_argument("--first", type=int, default=0, help="seed of the first")
    parser.add_argument("--ipopt", action="store_true")
    asked = parser.parse_args()
    print("| target | solver | converged | steps | 95 % | max | > 60 | > 400 | CPU s |")
    for name in asked.targets:
        target, found = targets()[name], dict[str, Floats]()
        for solver, solve in solvers(asked.ipopt):
            solve(random_structure(0), target)  # compile
            seeds = range(asked.first, asked.first + asked.structures)
            ends = np.array([solve(random_structure(seed), target) for seed in seeds])
            found[solver] = ends
            print(f"| {name} | {summary(solver, ends)}", flush=True)
            slow = [s for s, end in zip(seeds, ends, strict=True) if not end[0] <= 60]
            print(f"  more than 60 steps: {slow}")
        if asked.ipopt:
            print(f"  {compared(found['this'], found['IPOPT'])}", flush=True)


if __name__ == "__main__":
    main()
