"""How a sheet advances whose creases are turned by moments.

A moment M on a hinge of stiffness k has the potential -M theta, which differs from a
rest angle moved by M / k by a constant.
"""

from dataclasses import replace

import numpy as np

from sim.origami.folding.equilibrium import NewtonResult
from sim.origami.folding.problem import FoldingProblem
from sim.origami.folding.resting import Advance, equilibrate
from sim.origami.folding.sheet import Sheet, SheetState, hinge_angles
from sim.origami.loading.actuation import Moments
from sim.origami.model.assembly import CREASE_BENDING
from sim.origami.model.compliant import fold_weights


def turning(
    sheet: Sheet, phase: Moments, problem: FoldingProblem, state: SheetState
) -> Advance:
    """By moments on creases; energies are those of the creases, without the moments."""
    mesh, base = sheet.mesh, state.angles
    zero = np.zeros(len(problem.model.first))
    turned = mesh.hinge_share > 0
    k = mesh.hinge_stiffness[turned]
    moments = phase.targets(mesh)[mesh.hinge_crease[turned]]
    shift = np.zeros(len(base))
    shift[turned] = moments * fold_weights(mesh)[turned] / k

    def advance(state: SheetState, part: float) -> tuple[SheetState, NewtonResult]:
        angles = base + part * shift
        reached, out = equilibrate(
            sheet, problem, state, part, angles, zero, phase.tolerance
        )
        theta, energies = hinge_angles(mesh, out.x, turned), out.energies.copy()
        strained = (theta - base[turned]) ** 2 - (theta - angles[turned]) ** 2
        energies[CREASE_BENDING] += 0.5 * float(k @ strained)
        return replace(reached, unloaded=base), out._replace(energies=energies)

    return advance
