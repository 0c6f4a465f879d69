"""Elastic sheets under their weight: this solver beside SciPy's minimisers.

    python -m tests.bench.bench_equilibrium

The same energy and gradient for all; SciPy's Newton has the same sparse stiffness. CPU
seconds of one thread, compilation and set-up excluded, and the energy reached.
"""

import sys
from time import process_time

import numpy as np
from scipy.optimize import minimize
from scipy.sparse import coo_array, csr_matrix

from sim.core.arrays import Floats
from sim.mechanism.constraints import ConstraintTable, fix
from sim.mechanism.statics.elastic import (
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

SIZES = (8, 16, 32)
WEIGHT = 2e-4  # of a node; links have the stiffness 10, hinges 0.05


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


def by_scipy(body: LoadedStructure, method: str) -> tuple[float, float]:
    """CPU seconds and energy of one of SciPy's minimisers."""
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

    start = process_time()
    more = {} if method == "L-BFGS-B" else {"hess": stiffness}
    options: dict[str, float] = {"maxiter": 20_000, "gtol": 1e-9}
    if method == "L-BFGS-B":
        options |= {"maxfun": 1_000_000, "ftol": 0.0}
    found = minimize(
        energy, r0[free].ravel(), jac=True, method=method, options=options, **more
    )
    return process_time() - start, float(found.fun)


def main() -> int:
    at_rest(hanging(2), EquilibriumOptions())  # compiles
    print("nodes  solver           CPU s   energy")
    for size in SIZES:
        body = hanging(size)
        nodes = len(body.force)
        start = process_time()
        found = at_rest(body, EquilibriumOptions(tolerance=1e-7))
        mine = process_time() - start
        print(
            f"{nodes:5}  this          {mine:8.2f}   {found.energy:.9e}  {found.steps}"
        )
        for method in ("trust-constr", "L-BFGS-B"):
            if size > 16:
                continue
            seconds, value = by_scipy(body, method)
            print(f"{nodes:5}  {method:12}  {seconds:8.2f}   {value:.9e}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
