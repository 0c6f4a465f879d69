"""Forces that supports exert: what equilibrium leaves at the nodes they hold."""

from dataclasses import replace

import numpy as np

from sim.arrays import Floats
from sim.origami.folding.folding import OrigamiStep
from sim.origami.folding.problem import FoldingProblem, near_at
from sim.origami.folding.sheet import Sheet, build_problem, supports_of
from sim.origami.loading.phases import Load, Phase
from sim.origami.model.assembly import assemble
from sim.origami.model.model import held_table


def unsupported(sheet: Sheet, phase: Phase) -> FoldingProblem:
    """The sheet without its supports: an unknown for every coordinate of a node."""
    return build_problem(sheet, replace(phase, supports=()))


def support_forces(
    problem: FoldingProblem, sheet: Sheet, phase: Phase, step: OrigamiStep
) -> Floats:
    """(n, 3) force of the supports on each node, N; zero where nothing is held.

    The inner forces less the applied ones, f(x) - factor P.

    Parameters
    ----------
    problem : of `unsupported`, for the same sheet and phase
    """
    pairs = near_at(problem, step.x, 0.0).pairs
    system = assemble(problem.model, pairs, problem.ke, step.x, step.angles)
    applied = np.zeros_like(step.x)
    if isinstance(phase, Load):
        applied[list(phase.nodes)] = phase.force
    force = system.force[problem.model.unknown] - step.factor * applied
    held = held_table(supports_of(sheet, phase), len(force)) != 0
    return np.where(held, force, 0.0)
