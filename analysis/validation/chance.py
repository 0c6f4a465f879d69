"""What chance alone gives the quantities of a verdict, all of them together.

Errors are drawn from the stated covariances; every draw gives each quantity a value,
and the limits are those within which the wanted share of draws has all quantities.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from math import erf, sqrt

import numpy as np

from analysis.validation.target_distance import TargetDistances
from analysis.validation.uncertainty import INPUT
from sim.arrays import Floats, Ints

DRAWS = 4_000
DRAW_SEED = 20_230_083


@dataclass(frozen=True, eq=False)
class Lengths:
    """Rigid lengths among the nodes compared.

    Parameters
    ----------
    pairs : (p, 2) places of their ends among the nodes compared
    error_mm : (p,) scanned minus simulated
    u_mm : (p,) standard uncertainty
    """

    pairs: Ints
    error_mm: Floats
    u_mm: Floats

    def largest(self, errors: Floats, nodes: Floats) -> Floats:
        """Largest error in units of u that small node errors (draws, n, 3) make."""
        if len(self.pairs) == 0:
            return np.zeros(len(errors))
        i, j = self.pairs.T
        apart = nodes[j] - nodes[i]
        unit = apart / np.linalg.norm(apart, axis=1, keepdims=True)
        change = np.einsum("dpa,pa->dp", errors[:, j] - errors[:, i], unit)
        largest: Floats = np.abs(change / self.u_mm).max(axis=1)
        return largest


@dataclass(frozen=True, eq=False)
class ComparedShape:
    """What the quantities of a verdict are functions of.

    Parameters
    ----------
    nodes : (n, 3) scanned, mm
    gradient : (3n,) of S by the nodes
    projector : (3n, 3n) takes errors of the nodes to those left after alignment
    node_u : (n,) standard uncertainty of each node distance
    lengths : rigid lengths
    target : distances from the target, where the scan shows it
    """

    nodes: Floats
    gradient: Floats
    projector: Floats
    node_u: Floats
    lengths: Lengths
    target: TargetDistances | None = None


def coverage(k: float) -> float:
    """Probability that a normal variable stays within k standard deviations."""
    return erf(k / sqrt(2.0))


def joint_limits(draws: Floats, wanted: float) -> Floats:
    """Limits (q,) that chance keeps all together with the `wanted` probability.

    Every quantity gets the same quantile of its own law; the quantile is chosen so
    that the share of draws within all limits is the wanted one.

    Parameters
    ----------
    draws : (draws, q) values that chance alone gives
    """
    ranks = draws.argsort(axis=0, kind="stable").argsort(axis=0, kind="stable")
    highest = np.sort(ranks.max(axis=1))
    rank = int(highest[min(int(np.ceil(wanted * len(draws))), len(draws)) - 1])
    limits: Floats = np.sort(draws, axis=0)[rank]
    return limits


def chance(of: ComparedShape, sources: Mapping[str, Floats]) -> Floats:
    """(DRAWS, q) what the quantities are when the simulation is true.

    The error of S, the root mean square of the node distances, the largest of them in
    units of its u, that of the rigid lengths and, where there is a target, the error
    of E.

    Shapes that other link lengths lead to bend the mechanism far: a linear law of them
    would stretch its bodies.  What printing does to a rigid length is in its own u.

    Parameters
    ----------
    sources : covariance (3n, 3n) mm^2 of the nodes' errors by source
    """
    rng = np.random.default_rng(DRAW_SEED)
    n = len(of.nodes)
    rigid = _drawn([c for k, c in sources.items() if k != INPUT], n, rng)
    bent = _drawn([c for k, c in sources.items() if k == INPUT], n, rng)
    errors = rigid + bent
    left = (errors.reshape(DRAWS, -1) @ of.projector.T).reshape(errors.shape)
    apart = np.linalg.norm(left, axis=2)
    values = [
        np.abs(left.reshape(DRAWS, -1) @ of.gradient),
        np.sqrt(np.mean(apart**2, axis=1)),
        (apart / of.node_u).max(axis=1),
        of.lengths.largest(rigid, of.nodes),
    ]
    if of.target is not None:
        own = of.target.own
        beside = _drawn([*own.values()], n, rng)
        through_nodes = rigid if INPUT in own else errors
        values.append(np.abs(of.target.changes(through_nodes, beside)))
    return np.stack(values, axis=1)


def _drawn(covariances: list[Floats], n: int, rng: np.random.Generator) -> Floats:
    """(DRAWS, n, 3) errors of n nodes, from the sum of independent covariances."""
    if not covariances:
        return np.zeros((DRAWS, n, 3))
    value, vector = np.linalg.eigh(np.sum(covariances, axis=0))
    factor = vector * np.sqrt(np.maximum(value, 0.0))
    drawn: Floats = rng.standard_normal((DRAWS, 3 * n)) @ factor.T
    return drawn.reshape(DRAWS, n, 3)
