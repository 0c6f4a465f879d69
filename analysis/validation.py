"""Does a simulation agree with a scan?  After ASME V&V 20.

The comparison error is compared with the validation uncertainty u_val, which
gathers what scan, simulation and input do not know.  With the coverage of k = 2:

    differs      the error is larger than chance explains
    agrees       error + k u_val is below the acceptance margin
    cannot tell  neither, and what would have to improve

The shape factor alone cannot carry a verdict: different shapes may share it.  The
distances of the nodes after alignment belong to it, and the rigid lengths.  Four
quantities are looked at together, so each gets a limit a little wider than k = 2;
chance alone then calls 4.6 % of true simulations "differs", not four times that.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from math import erf, sqrt

import numpy as np

from analysis.alignment import Alignment, align
from analysis.shape_factors import scanned_shape_factor, shape_factor_gradient
from sim.arrays import Floats, Ints
from sim.morph.measures import shape_factor

DRAWS = 4_000
DRAW_SEED = 20_230_083


class Verdict(Enum):
    """The three answers."""

    DIFFERS = "differs"
    AGREES = "agrees"
    CANNOT_TELL = "cannot tell"


@dataclass(frozen=True)
class Acceptance:
    """What is asked of the simulation.

    Parameters
    ----------
    k : coverage factor of the verdict
    S_margin : largest acceptable error of the shape factor
    node_margin_mm : largest acceptable root mean square of the node distances
    """

    k: float = 2.0
    S_margin: float = 0.02
    node_margin_mm: float = 1.0

    def __post_init__(self) -> None:
        for name in ("k", "S_margin", "node_margin_mm"):
            if not getattr(self, name) > 0:
                raise ValueError(f"{name} must be positive, not {getattr(self, name)}")


@dataclass(frozen=True)
class Contribution:
    """One line of the budget: what a source adds to u_val of S and of a node, rms."""

    source: str
    S_u: float
    node_u_mm: float


@dataclass(frozen=True)
class Check:
    """One quantity: its error, its standard uncertainty, and where chance ends."""

    error: float
    u: float
    limit: float

    @property
    def differs(self) -> bool:
        """Whether chance does not explain the error."""
        return abs(self.error) > self.limit


@dataclass(frozen=True)
class Checks:
    """The four quantities that a verdict rests on.

    Parameters
    ----------
    S : simulated minus scanned shape factor
    rms_mm : root mean square of the node distances; u is what chance alone gives it
    worst : largest node distance in units of its own uncertainty
    length : largest error of a rigid length in units of its uncertainty
    """

    S: Check
    rms_mm: Check
    worst: Check
    length: Check

    def differing(self) -> list[str]:
        """What chance does not explain, in words."""
        S, rms, worst, length = self.S, self.rms_mm, self.worst, self.length
        said = (
            (S, f"shape factor off by {abs(S.error):.4f} (chance: {S.limit:.4f})"),
            (rms, f"nodes {rms.error:.2f} mm apart, rms (chance: {rms.limit:.2f} mm)"),
            (worst, f"a node {worst.error:.1f} u away (chance: {worst.limit:.1f} u)"),
            (
                length,
                f"a rigid length off by {length.error:.1f} u (chance: "
                f"{length.limit:.1f} u)",
            ),
        )
        return [text for check, text in said if check.differs]


@dataclass(frozen=True, eq=False)
class Comparison:
    """Everything that a verdict rests on.

    Parameters
    ----------
    checks : errors and limits
    alignment : the nodes themselves
    node_u_mm : (n,) standard uncertainty of each node distance (rms of its axes)
    budget : u_val by source
    verdict, why : the answer, and its reason or remedy
    """

    checks: Checks
    alignment: Alignment
    node_u_mm: Floats
    budget: tuple[Contribution, ...]
    verdict: Verdict
    why: str


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


def check_covariance(covariance: Floats, name: str) -> None:
    """Refuse a covariance that cannot be one."""
    if not np.isfinite(covariance).all():
        raise ValueError(
            f"the covariance of {name} holds nan or inf: correct its source"
        )
    largest = float(np.abs(covariance).max(initial=0.0))
    if np.abs(covariance - covariance.T).max(initial=0.0) > 1e-9 * largest:
        raise ValueError(
            f"the covariance of {name} is not symmetric: correct its source"
        )
    lowest = float(np.linalg.eigvalsh(covariance).min(initial=0.0))
    if lowest < -1e-9 * largest:
        raise ValueError(
            f"the covariance of {name} is not positive semidefinite (lowest "
            f"eigenvalue {lowest:.2e} mm^2): correct its source"
        )


def compare_shapes(
    simulated: Floats,
    scanned: Floats,
    L: float,
    sources: Mapping[str, Floats],
    lengths: Lengths,
    acceptance: Acceptance,
) -> Comparison:
    """Compare the nodes of a simulation with the same nodes of a scan.

    Parameters
    ----------
    simulated, scanned : (n, 3) the same nodes, mm, each in its own frame
    L : characteristic length of these nodes in the initial configuration, mm
    sources : covariance (3n, 3n) mm^2 of each source of uncertainty, in the scan's
        frame, as errors of the scanned minus the simulated nodes
    lengths : rigid lengths among these nodes
    """
    for name, covariance in sources.items():
        check_covariance(covariance, name)
    C: Floats = np.sum([*sources.values()], axis=0)
    alignment = align(simulated, scanned, node_weights(C))
    P = alignment.projector
    g = shape_factor_gradient(scanned, L).ravel()
    budget = tuple(
        Contribution(name, _root(float(g @ c @ g)), _rms_u(P @ c @ P.T))
        for name, c in sources.items()
    )
    left: Floats = P @ C @ P.T
    node_u: Floats = np.sqrt(np.diag(left).reshape(-1, 3).sum(axis=1))
    limits = joint_limits(
        _chance(left, g, node_u, lengths, scanned), coverage(acceptance.k)
    )
    S_error = shape_factor(simulated, L) - scanned_shape_factor(scanned, L, C).S
    apart = np.linalg.norm(alignment.difference, axis=1)
    longest = float(np.abs(lengths.error_mm / lengths.u_mm).max(initial=0.0))
    checks = Checks(
        Check(S_error, _root(float(g @ C @ g)), float(limits[0])),
        Check(alignment.rms, _rms_u(left), float(limits[1])),
        Check(float((apart / node_u).max()), 1.0, float(limits[2])),
        Check(longest, 1.0, float(limits[3])),
    )
    verdict, why = decide(checks, budget, acceptance)
    return Comparison(checks, alignment, node_u, budget, verdict, why)


def coverage(k: float) -> float:
    """Probability that a normal variable stays within k standard deviations."""
    return erf(k / sqrt(2.0))


def node_weights(C: Floats) -> Floats:
    """(n,) inverse mean variance of each node."""
    variance = np.diag(C).reshape(-1, 3).mean(axis=1)
    if not (variance > 0).all():
        node = int(np.argmin(variance))
        raise ValueError(
            f"node number {node} of the comparison has variance {variance[node]:.2e} "
            "mm^2: state a positive uncertainty for every sphere"
        )
    weights: Floats = 1.0 / variance
    return weights


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


def _chance(
    left: Floats, g: Floats, node_u: Floats, lengths: Lengths, nodes: Floats
) -> Floats:
    """(DRAWS, 4) what the four quantities are when the simulation is true."""
    rng = np.random.default_rng(DRAW_SEED)
    value, vector = np.linalg.eigh(left)
    factor = vector * np.sqrt(np.maximum(value, 0.0))
    errors = rng.standard_normal((DRAWS, len(left))) @ factor.T
    of_nodes = errors.reshape(DRAWS, -1, 3)
    apart = np.linalg.norm(of_nodes, axis=2)
    return np.stack(
        [
            np.abs(errors @ g),
            np.sqrt(np.mean(apart**2, axis=1)),
            (apart / node_u).max(axis=1),
            lengths.largest(of_nodes, nodes),
        ],
        axis=1,
    )


def _root(variance: float) -> float:
    return float(np.sqrt(max(float(variance), 0.0)))


def _rms_u(left: Floats) -> float:
    """Root mean square over the nodes of what chance gives a node distance."""
    return _root(float(np.trace(left)) * 3 / len(left))


def decide(
    checks: Checks, budget: tuple[Contribution, ...], acceptance: Acceptance
) -> tuple[Verdict, str]:
    """The verdict and its reason; where it cannot be told, what must improve."""
    found = checks.differing()
    if found:
        return Verdict.DIFFERS, "; ".join(found)
    k, S_margin, margin = acceptance.k, acceptance.S_margin, acceptance.node_margin_mm
    S_reach = abs(checks.S.error) + k * checks.S.u
    reach = checks.rms_mm.error + k * checks.rms_mm.u
    if S_reach < S_margin and reach < margin:
        return Verdict.AGREES, (
            f"|S error| + k u = {S_reach:.4f} < {S_margin:g}, and node rms + k u = "
            f"{reach:.2f} mm < {margin:g} mm"
        )
    largest = max(budget, key=lambda c: c.node_u_mm if reach >= margin else c.S_u)
    return Verdict.CANNOT_TELL, (
        f"|S error| + k u = {S_reach:.4f} (margin {S_margin:g}) and node rms + k u = "
        f"{reach:.2f} mm (margin {margin:g} mm): first reduce the uncertainty from "
        f"{largest.source}"
    )
