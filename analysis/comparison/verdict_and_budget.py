"""Does a simulation agree with a scan?  After ASME V&V 20.

The error of the simulation is compared with the validation uncertainty u_val, which
combines the uncertainties of scan, simulation and input. With the coverage of k = 2:

    differs       the error is larger than chance explains
    agrees        error + k u_val is below the acceptance margin
    inconclusive  neither, and what would have to improve

The shape factor alone is not enough, since different shapes can share it. A verdict
also uses the distances of the nodes after alignment, the rigid lengths and, if the scan
shows the target, E. Several quantities are checked together, so each has a limit a
little wider than k = 2. Chance alone then calls 4.6 % of true simulations "differs",
not four or five times that.

`chance` samples errors from the stated covariances and computes each quantity for every
sample. `joint_limits` finds the limits that hold for all quantities in the required
share of samples.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from math import erf, sqrt

import numpy as np

from analysis.alignment import Alignment, align
from analysis.comparison.assumptions import Acceptance
from analysis.comparison.compare_series import rms
from analysis.comparison.deviation import TargetDistances
from analysis.comparison.error_sources import (
    INPUT,
    scanned_shape_factor,
    shape_factor_gradient,
)
from analysis.labels.scale_and_mirror_checks import RigidPairs
from sim.core.arrays import Floats
from sim.mechanism.shape_measures import shape_factor

DRAWS = 4_000
DRAW_SEED = 20_230_083


@dataclass(frozen=True, eq=False)
class ComparedShape:
    """What the quantities of a verdict are functions of.

    Parameters
    ----------
    nodes : (n, 3) scanned, mm
    gradient : (3n,) of S by the nodes
    projector : (3n, 3n) takes errors of the nodes to those left after alignment
    node_u : (n,) standard uncertainty of each node distance
    lengths : rigid ones among these nodes
    target : distances from the target, where the scan shows it
    """

    nodes: Floats
    gradient: Floats
    projector: Floats
    node_u: Floats
    lengths: RigidPairs
    target: TargetDistances | None = None


def coverage(k: float) -> float:
    """Probability that a normal variable stays within k standard deviations."""
    return erf(k / sqrt(2.0))


def joint_limits(draws: Floats, share: float) -> Floats:
    """Limits (q,) that chance keeps all together with the probability `share`.

    Every quantity gets the same quantile of its own law; the quantile is chosen so
    that the share of draws within all limits is that one.

    Parameters
    ----------
    draws : (draws, q) values that chance alone gives
    """
    ranks = draws.argsort(axis=0, kind="stable").argsort(axis=0, kind="stable")
    highest = np.sort(ranks.max(axis=1))
    rank = int(highest[min(int(np.ceil(share * len(draws))), len(draws)) - 1])
    return np.asarray(np.sort(draws, axis=0)[rank])


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
    rigid = _samples([c for k, c in sources.items() if k != INPUT], n, rng)
    bent = _samples([c for k, c in sources.items() if k == INPUT], n, rng)
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
        of_target = _samples([*own.values()], n, rng)
        through_nodes = rigid if INPUT in own else errors
        values.append(np.abs(of.target.changes(through_nodes, of_target)))
    return np.stack(values, axis=1)


def _samples(covariances: list[Floats], n: int, rng: np.random.Generator) -> Floats:
    """(DRAWS, n, 3) errors of n nodes, from the sum of independent covariances."""
    if not covariances:
        return np.zeros((DRAWS, n, 3))
    value, vector = np.linalg.eigh(np.sum(covariances, axis=0))
    factor = vector * np.sqrt(np.maximum(value, 0.0))
    errors: Floats = rng.standard_normal((DRAWS, 3 * n)) @ factor.T
    return errors.reshape(DRAWS, n, 3)


class Verdict(Enum):
    """The three answers."""

    DIFFERS = "differs"
    AGREES = "agrees"
    INCONCLUSIVE = "inconclusive"


@dataclass(frozen=True)
class Contribution:
    """One line of the budget: what a source adds to u_val of S, of a node (rms), of E.

    E_u is nan where the scan does not show the target.
    """

    source: str
    S_u: float
    node_u_mm: float
    E_u: float = float("nan")


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


DIFFERENCES = {
    "S": "shape factor off by {:.4f} (limit: {:.4f})",
    "rms_mm": "nodes {:.2f} mm apart, rms (limit: {:.2f} mm)",
    "worst": "a node off by {:.1f} times its uncertainty (limit: {:.1f})",
    "length": "a rigid length off by {:.1f} times its uncertainty (limit: {:.1f})",
    "E": "E off by {:.4f} (limit: {:.4f})",
}


@dataclass(frozen=True)
class Checks:
    """The quantities that a verdict rests on.

    Parameters
    ----------
    S : simulated minus scanned shape factor
    rms_mm : root mean square of the node distances; u is what chance alone gives it
    worst : largest node distance in units of its own uncertainty
    length : largest error of a rigid length in units of its uncertainty
    E : simulated minus scanned distance from the target; u is what chance alone gives
        it, rms; None where the scan does not show the target
    """

    S: Check
    rms_mm: Check
    worst: Check
    length: Check
    E: Check | None = None

    def differing(self) -> list[str]:
        """What chance does not explain, in words."""
        return [
            text.format(abs(check.error), check.limit)
            for name, text in DIFFERENCES.items()
            if (check := getattr(self, name)) is not None and check.differs
        ]


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


def check_covariance(covariance: Floats, name: str) -> None:
    """Refuse a covariance that cannot be one."""
    wrong, largest = "", float(np.abs(covariance).max(initial=0.0))
    if not np.isfinite(largest):
        wrong = "contains nan or inf"
    elif np.abs(covariance - covariance.T).max(initial=0.0) > 1e-9 * largest:
        wrong = "is not symmetric"
    elif (lowest := np.linalg.eigvalsh(covariance).min(initial=0.0)) < -1e-9 * largest:
        wrong = f"is not positive semidefinite (lowest eigenvalue {lowest:.2e} mm^2)"
    if wrong:
        raise ValueError(f"the covariance of {name} {wrong}: correct its source")


def compare_shapes(
    simulated: Floats,
    scanned: Floats,
    L: float,
    sources: Mapping[str, Floats],
    lengths: RigidPairs,
    acceptance: Acceptance,
    target: TargetDistances | None = None,
) -> Comparison:
    """Compare the nodes of a simulation with the same nodes of a scan.

    Parameters
    ----------
    simulated, scanned : (n, 3) the same nodes, mm, each in its own frame
    L : characteristic length of these nodes in the initial configuration, mm
    sources : covariance (3n, 3n) mm^2 of each source of uncertainty, in the scan's
        frame, as errors of the scanned minus the simulated nodes
    lengths : rigid lengths among these nodes
    target : distances of these nodes from the target, where the scan shows it
    """
    for name, covariance in sources.items():
        check_covariance(covariance, name)
    C: Floats = np.sum([*sources.values()], axis=0)
    alignment = align(simulated, scanned, node_weights(C))
    P = alignment.projector
    g = shape_factor_gradient(scanned, L).ravel()
    left: Floats = P @ C @ P.T
    node_u: Floats = np.sqrt(np.diag(left).reshape(-1, 3).sum(axis=1))
    draws = chance(ComparedShape(scanned, g, P, node_u, lengths, target), sources)
    limits = joint_limits(draws, coverage(acceptance.k))
    S_error = shape_factor(simulated, L) - scanned_shape_factor(scanned, L, C).S
    apart = np.linalg.norm(alignment.difference, axis=1)
    longest = float(np.abs(lengths.z).max(initial=0.0))
    checks = Checks(
        Check(S_error, _root(float(g @ C @ g)), float(limits[0])),
        Check(alignment.rms, _rms_u(left), float(limits[1])),
        Check(float((apart / node_u).max()), 1.0, float(limits[2])),
        Check(longest, 1.0, float(limits[3])),
        None
        if target is None
        else Check(target.error, rms(draws[:, 4]), float(limits[4])),
    )
    budget = _budget(sources, g, P, target, checks.E)
    verdict, why = decide(checks, budget, acceptance)
    return Comparison(checks, alignment, node_u, budget, verdict, why)


def _budget(
    sources: Mapping[str, Floats],
    g: Floats,
    P: Floats,
    target: TargetDistances | None,
    E: Check | None,
) -> tuple[Contribution, ...]:
    """What each source adds to u_val; squares add up, for each quantity."""
    of_E = {} if target is None or E is None else target.by_source(sources, E.u)
    lines = [
        Contribution(
            name,
            _root(float(g @ c @ g)),
            _rms_u(P @ c @ P.T),
            of_E.get(name, float("nan")),
        )
        for name, c in sources.items()
    ]
    only_E = [name for name in of_E if name not in sources]
    return (*lines, *(Contribution(name, 0.0, 0.0, of_E[name]) for name in only_E))


def node_weights(C: Floats) -> Floats:
    """(n,) inverse mean variance of each node."""
    variance = np.diag(C).reshape(-1, 3).mean(axis=1)
    if not (variance > 0).all():
        node = int(np.argmin(variance))
        raise ValueError(
            f"node number {node} of the comparison has variance {variance[node]:.2e} "
            "mm^2: state a positive uncertainty for every sphere"
        )
    return np.asarray(1.0 / variance)


def _root(variance: float) -> float:
    return float(np.sqrt(max(float(variance), 0.0)))


def _rms_u(left: Floats) -> float:
    """Root mean square over the nodes of what chance gives a node distance."""
    return _root(float(np.trace(left)) * 3 / len(left))


def decide(
    checks: Checks, budget: tuple[Contribution, ...], acceptance: Acceptance
) -> tuple[Verdict, str]:
    """The verdict and its reason; where it is inconclusive, what must improve.

    An error may be as large as |error| + k u. The nodes come first: they say most.
    """
    found = checks.differing()
    if found:
        return Verdict.DIFFERS, "; ".join(found)
    asked = [
        ("node rms", checks.rms_mm, acceptance.node_margin_mm, "node_u_mm"),
        ("|S error|", checks.S, acceptance.S_margin, "S_u"),
    ]
    if checks.E is not None:
        asked.append(("|E error|", checks.E, acceptance.E_margin, "E_u"))
    texts, failed = [], []
    for name, check, margin, part in asked:
        digits, unit = (2, " mm") if part == "node_u_mm" else (4, "")
        reach = abs(check.error) + acceptance.k * check.u
        size = f"{reach:.{digits}f}{unit} (margin {margin:g}{unit})"
        texts.append(f"{name} + k u = {size}")
        if not reach < margin:
            failed.append(part)
    reasons = "; ".join(texts)
    if not failed:
        return Verdict.AGREES, reasons
    largest = max(budget, key=lambda line: np.nan_to_num(getattr(line, failed[0])))
    return Verdict.INCONCLUSIVE, (
        f"{reasons}: reduce the largest uncertainty, {largest.source}"
    )
