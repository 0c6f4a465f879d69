"""Prints and scans of a simulated mechanism by formulas, with faults on request."""

import numpy as np
from scipy.spatial.transform import Rotation

from analysis.labels.assign import label_spheres
from analysis.labels.evidence import LabelOptions
from analysis.labels.mechanism import Mechanism
from analysis.uncertainty import UncertaintyOptions, length_sd_mm, play_covariance
from analysis.validation import Acceptance
from analysis.verdicts import Judged, LabelledScan, Simulation, judge_scan
from sim.arrays import Floats

CENTRE_SD_MM = 0.02
UNCERTAINTY = UncertaintyOptions()
ACCEPTANCE = Acceptance(node_margin_mm=1.5)


def print_and_scan(
    mechanism: Mechanism, nodes_mm: Floats, rng: np.random.Generator
) -> tuple[Floats, Floats]:
    """True nodes (n, 3) of a print, and what a scan of it gives, in an unknown pose."""
    play = play_covariance(nodes_mm, mechanism.pairs, UNCERTAINTY.joint_play_sd_mm)
    moved = rng.multivariate_normal(np.zeros(nodes_mm.size), play, method="eigh")
    true = nodes_mm + moved.reshape(-1, 3)
    true = true + rng.normal(0.0, UNCERTAINTY.printing_sd_mm, true.shape)
    true = true * (1 + rng.normal(0.0, UNCERTAINTY.print_scale_sd))
    seen = true * (1 + rng.normal(0.0, UNCERTAINTY.scan_scale_sd))
    seen = seen + rng.normal(0.0, CENTRE_SD_MM, seen.shape)
    return true, Rotation.random(rng=rng).apply(seen) + rng.normal(0.0, 200.0, 3)


def judge(mechanism: Mechanism, initial_mm: Floats, centres_mm: Floats) -> Judged:
    """Label the scan and compare it with the simulated mechanism."""
    n = mechanism.n
    covariance = CENTRE_SD_MM**2 * np.eye(3 * n)
    sd = float(length_sd_mm(UNCERTAINTY, mechanism.lengths_mm).mean())
    labels = label_spheres(
        mechanism,
        centres_mm,
        np.tile(CENTRE_SD_MM**2 * np.eye(3), (n, 1, 1)),
        LabelOptions(length_sd_mm=sd),
    )
    steps = np.stack([initial_mm, mechanism.nodes_mm, mechanism.nodes_mm])
    scan = LabelledScan(labels, centres_mm, covariance)
    return judge_scan(Simulation(steps, mechanism), scan, UNCERTAINTY, ACCEPTANCE)


def descendants(mechanism: Mechanism, body: int) -> list[int]:
    """Nodes that move with a body of a tree: its own but the first, and theirs."""
    moved = set(mechanism.bodies[body][1:])
    for later in mechanism.bodies[body + 1 :]:
        if later[0] in moved:
            moved |= set(later[1:])
    return sorted(moved)


def lengthen_link(
    mechanism: Mechanism, share: float, rng: np.random.Generator
) -> Floats:
    """Nodes (n, 3) of a print in which one link is longer by `share`."""
    links = [k for k, body in enumerate(mechanism.bodies) if len(body) == 2]
    if not links:
        raise LookupError("this mechanism has no link")
    k = int(rng.choice(links))
    a, b = mechanism.bodies[k]
    x = mechanism.nodes_mm.copy()
    x[descendants(mechanism, k)] += share * (x[b] - x[a])
    return x


def turn_joint(
    mechanism: Mechanism, angle_deg: float, rng: np.random.Generator
) -> Floats:
    """Nodes (n, 3) of another end state: one joint turned, and all that hangs on it."""
    k = int(rng.integers(len(mechanism.bodies)))
    root, moved = mechanism.bodies[k][0], descendants(mechanism, k)
    axis = rng.normal(size=3)
    turn = Rotation.from_rotvec(np.deg2rad(angle_deg) * axis / np.linalg.norm(axis))
    x = mechanism.nodes_mm.copy()
    x[moved] = x[root] + turn.apply(x[moved] - x[root])
    return x


def swap_joints(
    mechanism: Mechanism, rng: np.random.Generator, least: int = 3
) -> Floats:
    """Nodes (n, 3) of a print in which a body hangs on its neighbour's other node.

    Parameters
    ----------
    least : the body has more nodes than this
    """
    x = mechanism.nodes_mm.copy()
    bodies = mechanism.bodies
    choices = [
        (k, other)
        for k, body in enumerate(bodies)
        for home in bodies[:k]
        for other in home[1:]
        if len(body) > least and body[0] in home[1:] and other != body[0]
    ]
    if not choices:
        raise LookupError("no body of this mechanism can hang on another joint")
    k, other = choices[int(rng.integers(len(choices)))]
    x[descendants(mechanism, k)] += x[other] - x[bodies[k][0]]
    return x
