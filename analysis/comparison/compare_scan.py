"""From labelled spheres and a simulated run to a verdict, on the nodes both have.

A verdict says as well whether the mirror image of a scan or a stretched one would fit
where the scan itself does not (`mirror_remark`, `stretch_remark`), and whether it
depends on the stated printing error or on an assumed scale of the scanner.
"""

from dataclasses import dataclass, replace

import numpy as np

from analysis.alignment import align, fit_rigid_motion
from analysis.comparison.assumptions import Acceptance, UncertaintyOptions
from analysis.comparison.deviation import (
    TargetDistances,
    TargetInScan,
    target_distances,
)
from analysis.comparison.error_sources import (
    POSE,
    SCAN_SCALE,
    SCAN_SOURCES,
    ScannedShapeFactor,
    length_sd_mm,
    play_covariance,
    scanned_shape_factor,
    sources,
    stop_error,
)
from analysis.comparison.verdict_and_budget import (
    Comparison,
    Verdict,
    compare_shapes,
)
from analysis.labels.assign_labels import Labels
from analysis.labels.rigid_bodies import (
    ScannedNodes,
    axes_of,
    complete_rigidly,
    describe_moved,
    moved_bodies,
    seen_nodes,
)
from analysis.labels.rigid_distances import Mechanism
from analysis.labels.scale_and_mirror_checks import (
    Handedness,
    RigidPairs,
    covariance_factor,
    handedness,
    link_scale,
    scanned_pairs,
)
from sim.core.arrays import Bools, Floats, Ints
from sim.mechanism.shape_measures import characteristic_length, shape_factor

MANY = 1.5  # spheres a node, from which on they are those of something else
ENOUGH = 0.8  # share of the nodes below which the whole shape is not judged
FEWEST = 4  # nodes without which an alignment leaves nothing to compare
FAR = 3.0  # times what chance gives the worst node: so far off is a body elsewhere


@dataclass(frozen=True, eq=False)
class Simulation:
    """What was simulated.

    Parameters
    ----------
    steps_mm : (steps, n, 3) configurations; the first gives L, the last is compared
    mechanism : its nodes are those of the last step
    input_covariance : (3n, 3n) mm^2 of the last step, in the simulation's frame
    """

    steps_mm: Floats
    mechanism: Mechanism
    input_covariance: Floats | None = None


@dataclass(frozen=True, eq=False)
class LabelledScan:
    """Spheres of which it is known which nodes they are.

    Parameters
    ----------
    centres_mm : (m, 3)
    covariance_mm2 : (3m, 3m) of all centres together
    target : where the scan shows the target, if it does
    radius_mm : of the spheres; 0 if it is not known
    """

    labels: Labels
    centres_mm: Floats
    covariance_mm2: Floats
    target: TargetInScan | None = None
    radius_mm: float = 0.0


Given = tuple[Simulation, LabelledScan, UncertaintyOptions, Acceptance]


@dataclass(frozen=True, eq=False)
class Judged:
    """A comparison, and what it was made on.

    Parameters
    ----------
    given : what `judge_scan` was given
    used : (n,) nodes compared; all, or the subset that scan and simulation share
    nodes : scanned positions of all nodes, as far as known
    comparison : errors, limits, verdict
    scanned : S of the scan, its uncertainty from the scan alone, its bias
    S_simulated : of the same nodes
    L_mm : characteristic length of the same nodes in the initial configuration
    target : their distances from the target, where the scan shows it
    pairs : rigid lengths as scanned
    scatter_sd_mm : what their scatter says was not stated
    scale, scale_u : scanned over simulated length
    hand : whether the scan is mirrored
    """

    given: Given
    used: Bools
    nodes: ScannedNodes
    comparison: Comparison
    scanned: ScannedShapeFactor
    S_simulated: float
    L_mm: float
    target: TargetDistances | None
    pairs: RigidPairs
    scatter_sd_mm: float
    scale: float
    scale_u: float
    hand: Handedness

    @property
    def all_nodes(self) -> bool:
        """Whether no node was left out."""
        return bool(self.used.all())

    def because(self, more: str) -> "Judged":
        """The same with one more reason, if there is one."""
        why = f"{self.comparison.why}; {more}" if more else self.comparison.why
        return replace(self, comparison=replace(self.comparison, why=why))

    @property
    def E_scanned_u(self) -> float:
        """Standard uncertainty of E of the scan, from the scan alone."""
        lines = self.comparison.budget
        parts = [x.E_u for x in lines if x.source in (*SCAN_SOURCES, POSE)]
        return float(np.sqrt(np.sum(np.square(parts))))


def judge_scan(
    simulation: Simulation,
    scan: LabelledScan,
    uncertainty: UncertaintyOptions,
    acceptance: Acceptance,
) -> Judged:
    """Compare the last simulated step with labelled spheres."""
    nodes = _known_nodes(simulation.mechanism, scan, uncertainty)
    used = nodes.known
    pairs, scatter = _rigid_lengths(simulation.mechanism, scan, uncertainty)
    found = _sources(simulation, nodes, uncertainty, scatter)
    simulated, scanned = simulation.steps_mm[-1], nodes.positions_mm
    L = characteristic_length(simulation.steps_mm[0][used])
    target = (
        None
        if scan.target is None
        else target_distances(scan.target, simulated, scanned, used, L)
    )
    place = np.cumsum(used) - 1  # of each node among those that are used
    lengths = replace(pairs, pairs=place[pairs.pairs])
    compared = compare_shapes(
        simulated[used], scanned[used], L, found, lengths, acceptance, target
    )
    judged = _withhold(compared, used, scan, simulated)
    moved = _moved_bodies(simulation, scan, compared, pairs)
    of_scan = np.sum([found[name] for name in SCAN_SOURCES if name in found], axis=0)
    return Judged(
        (simulation, scan, uncertainty, acceptance),
        used,
        nodes,
        _differing(judged, describe_moved(moved)) if moved else judged,
        scanned_shape_factor(scanned[used], L, of_scan),
        shape_factor(simulated[used], L),
        L,
        target,
        pairs,
        scatter,
        *link_scale(pairs),
        handedness(simulation.mechanism, scan.labels, scan.centres_mm),
    )


def _known_nodes(
    mechanism: Mechanism, scan: LabelledScan, uncertainty: UncertaintyOptions
) -> ScannedNodes:
    """Nodes seen, and those that their bodies complete; too few are refused."""
    typical = float(length_sd_mm(uncertainty, mechanism.lengths_mm).mean())
    seen = seen_nodes(scan.labels.sphere, scan.centres_mm, scan.covariance_mm2)
    nodes = complete_rigidly(seen, mechanism, typical)
    if nodes.known.sum() < FEWEST:
        raise ValueError(
            f"only {int(nodes.known.sum())} of {mechanism.n} nodes could be labelled "
            f"among {len(scan.centres_mm)} spheres: {_remedy(mechanism, scan)}, or "
            "check scale_mm and the structure"
        )
    return nodes


def _remedy(mechanism: Mechanism, scan: LabelledScan) -> str:
    """What to do where hardly a node is found: of spheres there may be too many."""
    if len(scan.centres_mm) >= MANY * mechanism.n:
        return "it may be a scan of another structure; remove other parts from the scan"
    return "scan again from more sides"


def _rigid_lengths(
    mechanism: Mechanism, scan: LabelledScan, uncertainty: UncertaintyOptions
) -> tuple[RigidPairs, float]:
    """Rigid lengths as scanned, and the error of each node and axis that explains

    their scatter beyond what was stated; their u holds that error too.
    """

    def pairs(scatter_sd_mm: float) -> RigidPairs:
        sd = length_sd_mm(uncertainty, mechanism.lengths_mm, scatter_sd_mm)
        return scanned_pairs(
            mechanism, scan.labels, scan.centres_mm, scan.covariance_mm2, sd
        )

    scatter = _scatter_sd(pairs(0.0))
    return pairs(scatter), scatter


def _sources(
    simulation: Simulation,
    nodes: ScannedNodes,
    uncertainty: UncertaintyOptions,
    scatter_sd_mm: float,
) -> dict[str, Floats]:
    """The covariance of each source, of the known nodes, in the scan's frame."""
    used, mechanism = nodes.known, simulation.mechanism
    scanned = nodes.positions_mm[used]
    motion = align(simulation.steps_mm[-1][used], scanned).motion
    axes = np.ix_(*2 * (axes_of(np.flatnonzero(used)),))
    play = play_covariance(
        mechanism.nodes_mm, mechanism.pairs, uncertainty.joint_play_sd_mm
    )
    of_input = simulation.input_covariance
    return sources(
        uncertainty,
        scanned,
        nodes.covariance_mm2[axes],
        scatter_sd_mm,
        stop_error(simulation.steps_mm)[used] @ motion.rotation.T,
        motion.turn_covariance(play[axes]),
        None if of_input is None else motion.turn_covariance(of_input[axes]),
    )


def _scatter_sd(pairs: RigidPairs) -> float:
    """Error of each node and axis that explains the scatter of rigid lengths."""
    excess = covariance_factor(pairs) ** 2 - 1
    return float(np.sqrt(excess * np.median(pairs.u_mm**2) / 2)) if excess > 0 else 0.0


def _moved_bodies(
    simulation: Simulation,
    scan: LabelledScan,
    compared: Comparison,
    pairs: RigidPairs,
) -> list[list[int]]:
    """Bodies that no label reaches and that are elsewhere than simulated."""
    if len(pairs.u_mm) == 0:
        return []
    at_home = FAR * compared.checks.worst.limit * float(compared.node_u_mm.max())
    return moved_bodies(
        simulation.mechanism,
        scan.labels,
        scan.centres_mm,
        compared.alignment.motion(simulation.steps_mm[-1]),
        float(np.median(pairs.u_mm)),
        at_home,
    )


def _differing(compared: Comparison, why: str) -> Comparison:
    """The comparison with one more reason to differ, or its first."""
    if compared.verdict is Verdict.DIFFERS:
        why = f"{compared.why}; {why}"
    return replace(compared, verdict=Verdict.DIFFERS, why=why)


def _withhold(
    compared: Comparison, used: Bools, scan: LabelledScan, simulated: Floats
) -> Comparison:
    """Nothing agrees on too few nodes, nor while spheres and nodes are left over.

    A sphere that is left over may be so near to the place of a node without one that
    no other sphere can be at this place: then the shapes differ.
    """
    n, known, labels = len(used), int(used.sum()), scan.labels
    lost = labels.unconfirmed
    loose = np.setdiff1d(np.arange(len(scan.centres_mm)), labels.confirmed)
    if len(loose) and len(lost):
        places = compared.alignment.motion(simulated)[lost]
        apart = np.linalg.norm(scan.centres_mm[loose, None] - places, axis=2)
        off, nearest = apart.min(), lost[int(apart.min(axis=0).argmin())]
        why = (
            f"no sphere at node{'s' * (len(lost) > 1)} {listed(lost)}; "
            f"{_have('sphere', len(loose))} no node, the nearest {off:.3g} mm from the "
            f"place of node {nearest}: is a part on the wrong joint, or are the "
            "spheres not those of this part? look at labels.png"
        )
        by_chance = FAR * compared.checks.worst.limit * compared.node_u_mm.max()
        differs = compared.verdict is Verdict.DIFFERS
        if differs or by_chance < off < 2.0 * scan.radius_mm:
            return _differing(compared, why)
        if compared.verdict is Verdict.AGREES:
            return replace(compared, verdict=Verdict.INCONCLUSIVE, why=why)
    if compared.verdict is not Verdict.AGREES or known >= ENOUGH * n:
        return compared
    why = (
        f"only {known} of {n} nodes could be compared (confirmed spheres: "
        f"{len(labels.confirmed)}); missing nodes: {listed(np.flatnonzero(~used))}; "
        f"scan again so that at least {ENOUGH:.0%} are seen"
    )
    return replace(compared, verdict=Verdict.INCONCLUSIVE, why=why)


def _have(thing: str, many: int) -> str:
    """How many have, in the singular of one."""
    return f"1 {thing} has" if many == 1 else f"{many} {thing}s have"


def listed(nodes: Ints, most: int = 12) -> str:
    """Node numbers as text, shortened where there are many."""
    text = ", ".join(str(j) for j in nodes[:most])
    return text + (f" and {len(nodes) - most} more" if len(nodes) > most else "")


MIRROR = np.diag([1.0, 1.0, -1.0])  # any one will do, for it may turn as well
FAR_BETTER = 0.3  # of the distance as scanned, from which on it is mentioned


def mirror_remark(simulated_mm: Floats, scanned_mm: Floats) -> str:
    """What to say where a mirror image fits far better, or nothing.

    Parameters
    ----------
    simulated_mm, scanned_mm : (n, 3) the same nodes, `FEWEST` or more
    """
    as_scanned = _rms(simulated_mm, scanned_mm)
    mirrored = _rms(simulated_mm, scanned_mm @ MIRROR)
    if not mirrored < FAR_BETTER * as_scanned:
        return ""
    return (
        f"its mirror image fits far better, node rms {mirrored:.3g} mm in place of "
        f"{as_scanned:.3g}: are axes swapped or reversed in the scanner's export?"
    )


FEWEST_FOR_STRETCH = 8  # nodes: 24 coordinates against 12 of place, turn and stretch
STRETCHED = 0.5  # of the distance at one scale, below which a stretch is mentioned
LARGEST_STRETCH = 0.05  # more is no scanner: a mirror image or another state


def stretch_remark(simulated_mm: Floats, scanned_mm: Floats) -> str:
    """What to say where stretching along axes fits far better, or nothing.

    Far better than one scale for all directions, which `link_scale` finds.

    Parameters
    ----------
    simulated_mm, scanned_mm : (n, 3) the same nodes
    """
    if len(simulated_mm) < FEWEST_FOR_STRETCH:
        return ""
    there = fit_rigid_motion(simulated_mm, scanned_mm)(simulated_mm)
    x, y = there - there.mean(axis=0), scanned_mm - scanned_mm.mean(axis=0)
    even = float((x * y).sum() / np.square(x).sum())
    i, j = np.triu_indices(3)
    strained = np.zeros((6, *x.shape))
    strained[range(6), :, i], strained[range(6), :, j] = x[:, j].T, x[:, i].T
    by = np.linalg.lstsq(strained.reshape(6, -1).T, (y - x).ravel())[0]
    left = np.sqrt(np.square(y - x - np.tensordot(by, strained, 1)).sum(axis=1).mean())
    evenly = np.sqrt(np.square(y - even * x).sum(axis=1).mean())
    if not left < STRETCHED * evenly:
        return ""
    strain = np.zeros((3, 3))
    strain[i, j] = by
    sizes, ways = np.linalg.eigh(strain, UPLO="U")
    most = int(np.abs(sizes - (even - 1.0)).argmax())
    if abs(sizes[most]) > LARGEST_STRETCH:
        return ""
    way = ways[:, most] * np.sign(ways[np.abs(ways[:, most]).argmax(), most])
    along = ", ".join(f"{c:.1f}" for c in way.round(1) + 0.0)
    return (
        f"stretched by {100 * sizes[most]:+.2g} % along ({along}) of the scan it "
        f"fits far better, node rms {left:.3g} mm in place of {evenly:.3g}: check the "
        "scanner's scale along its axes, then the printer's"
    )


def pose_remark(judged: Judged, rigid: Mechanism) -> str:
    """What to say where nodes are far off although all lengths agree, or nothing.

    Not where a flat mechanism is bent: that hardly changes its lengths.

    Parameters
    ----------
    rigid : the mechanism, whose fixed nodes are a body as well
    """
    checks, u = judged.comparison.checks, judged.comparison.node_u_mm
    pairs, _ = _rigid_lengths(rigid, *judged.given[1:3])
    agree = np.abs(pairs.z).max(initial=0.0) <= checks.length.limit
    near = checks.worst.error < FAR * checks.worst.limit
    if near or not agree or len(pairs.pairs) < len(rigid.pairs):
        return ""
    known = rigid.nodes_mm[judged.used], judged.nodes.positions_mm[judged.used]
    flat, scanned = (np.linalg.svd(x - x.mean(axis=0))[1][-1] for x in known)
    if flat < checks.worst.limit * np.linalg.norm(u) < scanned:
        return ""
    return (
        "all link lengths agree: the scan shows another pose (or branch) of this "
        "mechanism; compare with a simulation that is driven there"
    )


def _rms(x: Floats, y: Floats) -> float:
    """Root mean square distance (mm) of points that are laid on each other."""
    apart = fit_rigid_motion(x, y)(x) - y
    return float(np.sqrt(np.square(apart).sum(axis=1).mean()))


ONE_LINK = 2.0  # of what chance allows a length, from which the link is not as designed
# Errors of printers that are tried, mm; a worse one is no printer of such parts.
TRIED_MM = (0.04, 0.05, 0.06, 0.08, 0.1, 0.12, 0.15, 0.2, 0.25, 0.3, 0.4)


def with_printing_error_remark(judged: Judged, not_counted: str) -> Judged:
    """The same; where it differs and a worse printer would agree, it says from when.

    Not where a rigid length is off by far more than chance: that link is not as
    designed.

    Parameters
    ----------
    not_counted : which effect of printing errors the budget leaves out, in words
    """
    simulation, scan, uncertainty, acceptance = judged.given

    def verdict(sd_mm: float) -> Verdict:
        assumed = replace(uncertainty, printing_sd_mm=sd_mm)
        return judge_scan(simulation, scan, assumed, acceptance).comparison.verdict

    tried = [sd for sd in TRIED_MM if sd > uncertainty.printing_sd_mm]
    compared = judged.comparison
    length = compared.checks.length
    one_link = length.error > ONE_LINK * length.limit
    if compared.verdict is not Verdict.DIFFERS or one_link:
        return judged
    judged = judged.because(not_counted)
    if not tried or verdict(tried[-1]) is Verdict.DIFFERS:
        return judged
    for sd in tried:
        if verdict(sd) is Verdict.AGREES:
            return judged.because(
                f'the verdict would be "agrees" with a printing error of {sd:g} mm '
                f"(printing_sd_mm is {uncertainty.printing_sd_mm:g}): measure the "
                "error of your printer with `morphtrack calibrate`"
            )
    return judged


def with_scanner_scale_remark(judged: Judged) -> Judged:
    """The same; where the verdict or its remedy hangs on the scale, it says so.

    That is where a scanner of perfect scale gave another verdict, and where its scale
    is the uncertainty to be reduced first.
    """
    simulation, scan, uncertainty, acceptance = judged.given
    perfect = replace(uncertainty, scan_scale_sd=0.0)
    other = judge_scan(simulation, scan, perfect, acceptance).comparison.verdict
    compared = judged.comparison
    if other is compared.verdict and SCAN_SCALE not in compared.why:
        return judged
    return judged.because(
        f"the scanner's scale error is unknown: {100 * uncertainty.scan_scale_sd:g} % "
        "is assumed"
        + f", at 0 % the verdict is {other.value}" * (other is not compared.verdict)
        + ": give scan_scale_sd"
    )
