"""Which pose to scan next: the one that leaves the deviations least uncertain.

A pose that is not scanned yet adds G^T V^-1 G to the information N, if its nodes are
measured as well as those of the poses before. D-optimal is the pose with the largest
ln det(N + G^T V^-1 G) - ln det N, A-optimal the one that leaves the smallest sum of
variances (Atkinson, Donev, Tobias, Optimum Experimental Designs, 2007).
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from analysis.as_built.adjust import (
    Calibration,
    Pose,
    covariance_of_rows,
    inverse,
    linearised,
)
from sim.arrays import Floats
from sim.choice import Choice
from sim.convergence import NotConvergedError
from sim.morph.equations.projection import admissible, satisfy_constraints
from sim.morph.equations.system import state, system_of
from sim.morph.structure.structure import Structure


class Optimal(Choice):
    """What is to be small."""

    D = "D"  # the volume of what the deviations may be
    A = "A"  # the sum of their variances


@dataclass(frozen=True, eq=False)
class CandidatePose:
    """A pose that could be scanned.

    Attributes
    ----------
    gain : fall of ln det of the covariance; half of it is in nats
    rms_u : root mean square uncertainty of the deviations afterwards, mm, but for
        that of the scanner's scale
    u : (u,) of each
    """

    name: str
    nodes_mm: Floats
    gain: float
    rms_u: float
    u: Floats


def candidates(
    calibration: Calibration,
    measured: Sequence[Pose],
    poses: Sequence[tuple[str, Floats]],
    optimal: Optimal = Optimal.D,
) -> list[CandidatePose]:
    """Every pose (name, nodes (n, 3) in mm) with what it would tell, the best first."""
    C = expected_covariance(measured)
    before = float(np.linalg.slogdet(calibration.information)[1])
    lengths = calibration.model.unknowns - calibration.model.scale
    ranked = []
    for name, nodes in poses:
        rows = linearised(calibration.model, Pose(name, nodes, C), nodes, 0.0)
        W, _ = inverse(covariance_of_rows(rows, calibration.variances))
        N = calibration.information + rows.G.T @ W @ rows.G
        gain = float(np.linalg.slogdet(N)[1]) - before
        u = np.sqrt(np.diag(np.linalg.inv(N)))
        rms = float(np.sqrt(np.mean(u[:lengths] ** 2)))
        ranked.append(CandidatePose(name, nodes, gain, rms, u))
    worth = {Optimal.D: lambda c: -c.gain, Optimal.A: lambda c: c.rms_u}[optimal]
    return sorted(ranked, key=worth)


def expected_covariance(measured: Sequence[Pose]) -> Floats:
    """(3n, 3n): each node as uncertain as it was on average, alike in all directions.

    A node that was never seen is taken to be as uncertain as the others on average.
    """
    n = len(measured[0].nodes_mm)
    total, times = np.zeros(n), np.zeros(n)
    for pose in measured:
        own = np.diag(pose.covariance_mm2).reshape(n, 3).mean(axis=1)
        total += np.where(pose.seen, own, 0.0)
        times += pose.seen
    mean = total.sum() / times.sum()
    each = np.where(times > 0, total / np.maximum(times, 1.0), mean)
    return np.diag(np.repeat(each, 3))


def sampled(
    structure: Structure,
    starts: Sequence[Floats],
    count: int,
    amplitude: float,
    rng: np.random.Generator,
) -> list[tuple[str, Floats]]:
    """Poses near scanned ones: a random admissible motion, then back by eq. (12).

    Parameters
    ----------
    starts : (n, 3) configurations to begin at, in the structure's unit
    amplitude : root mean square displacement of a node
    """
    system, found = system_of(structure), []
    for i in range(count):
        z = state(structure)
        z[: system.n] = starts[i % len(starts)]
        try:
            z = satisfy_constraints(system, z, tolerance=1e-10)
            dz = admissible(system, z, rng.standard_normal((system.n, 3)))
            dz *= amplitude / np.sqrt((dz[: system.n] ** 2).sum(axis=1).mean())
            z = satisfy_constraints(system, z + dz, tolerance=1e-10)
        except NotConvergedError:
            continue  # too far from what the joints allow
        found.append((f"sampled {i}", z[: system.n]))
    if not found:
        raise ValueError(
            f"none of {count} sampled poses satisfies the constraints: lower the "
            f"amplitude of {amplitude:g}"
        )
    return found
