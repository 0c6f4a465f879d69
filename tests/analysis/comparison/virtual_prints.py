"""Prints and scans of a simulated mechanism by formulas, with faults on request."""

from dataclasses import dataclass

import numpy as np
from scipy.spatial.transform import Rotation

from analysis.alignment import RigidMotion
from analysis.comparison.assumptions import Acceptance, UncertaintyOptions
from analysis.comparison.compare_scan import (
    Judged,
    LabelledScan,
    Simulation,
    judge_scan,
)
from analysis.comparison.deviation import PlacedTarget, TargetInScan, moved
from analysis.comparison.error_sources import length_sd_mm, play_covariance
from analysis.comparison.input_uncertainty import shape_covariance
from analysis.labels.assign_labels import label_spheres
from analysis.labels.rigid_distances import Mechanism
from analysis.labels.scoring import LabelOptions
from sim.core.arrays import Floats
from tests.analysis.mechanisms import nearby_state

CENTRE_SD_MM = 0.02
PRINTS = 100  # drawn for the covariance of the shape
POSE_SD = np.array([0.05, 0.05, 0.05, 5e-4, 5e-4, 5e-4])  # mm and rad
UNCERTAINTY = UncertaintyOptions(scan_scale_sd=2e-4)
ACCEPTANCE = Acceptance(node_margin_mm=1.5)


@dataclass(frozen=True, eq=False)
class Print:
    """A print, and a scan of it.

    Parameters
    ----------
    true_mm : (n, 3) its nodes, in the frame of the simulation and of the target
    centres_mm : (n, 3) sphere centres as scanned, in the scanner's frame
    motion : from the first frame to the second
    """

    true_mm: Floats
    centres_mm: Floats
    motion: RigidMotion


def print_and_scan(
    mechanism: Mechanism,
    nodes_mm: Floats,
    rng: np.random.Generator,
    errors_mm: Floats | None = None,
) -> Print:
    """Print `nodes_mm` with all errors that are stated, and scan it in any pose.

    Parameters
    ----------
    errors_mm : (n, 3) of the centres; independent ones if they are not given
    """
    play = play_covariance(nodes_mm, mechanism.pairs, UNCERTAINTY.joint_play_sd_mm)
    shift = rng.multivariate_normal(np.zeros(nodes_mm.size), play, method="eigh")
    true = nodes_mm + shift.reshape(-1, 3)
    true = true + rng.normal(0.0, UNCERTAINTY.printing_sd_mm, true.shape)
    true = scaled(true, rng.normal(0.0, UNCERTAINTY.print_scale_sd))
    seen = scaled(true, rng.normal(0.0, UNCERTAINTY.scan_scale_sd))
    if errors_mm is None:
        errors_mm = rng.normal(0.0, CENTRE_SD_MM, seen.shape)
    seen = seen + errors_mm
    motion = RigidMotion(Rotation.random(rng=rng).as_matrix(), rng.normal(0, 200.0, 3))
    return Print(true, motion(seen), motion)


def scaled(nodes_mm: Floats, error: float) -> Floats:
    """Nodes (n, 3) of a part that is too large by a share `error`."""
    middle = nodes_mm.mean(axis=0)
    return middle + (1 + error) * (nodes_mm - middle)


def target_of(
    mechanism: Mechanism, found: Print, gap_mm: float, rng: np.random.Generator
) -> TargetInScan:
    """A surface `gap_mm` below every simulated node, and its pose as a scan has it.

    It is given by its tangent planes, a random one at each node.
    """
    normal = rng.normal(size=mechanism.nodes_mm.shape)
    normal /= np.linalg.norm(normal, axis=1, keepdims=True)
    foot = mechanism.nodes_mm - gap_mm * normal

    def closest(nodes_mm: Floats) -> Floats:
        height = np.einsum("ia,ia->i", nodes_mm - foot, normal)
        return nodes_mm - height[:, None] * normal

    pivot = found.motion(mechanism.nodes_mm.mean(axis=0))
    pose = moved(found.motion, rng.normal(0.0, POSE_SD), pivot)
    return TargetInScan(
        PlacedTarget(pose, np.diag(POSE_SD**2), pivot, 1.5, 0.05, 1), closest
    )


def judge(
    mechanism: Mechanism,
    initial_mm: Floats,
    centres_mm: Floats,
    target: TargetInScan | None = None,
    *,
    centre_sd_mm: float = CENTRE_SD_MM,
    input_covariance: Floats | None = None,
    covariance: Floats | None = None,
) -> Judged:
    """Label the scan and compare it with the simulated mechanism.

    Parameters
    ----------
    covariance : (3 n, 3 n) that is stated of the centres, in place of `centre_sd_mm`
    """
    n = mechanism.n
    if covariance is None:
        covariance = centre_sd_mm**2 * np.eye(3 * n)
    own = np.einsum("iaib->iab", covariance.reshape(n, 3, n, 3))
    sd = float(length_sd_mm(UNCERTAINTY, mechanism.lengths_mm).mean())
    labels = label_spheres(
        mechanism,
        centres_mm,
        own,
        LabelOptions(length_sd_mm=sd),
    )
    steps = np.stack([initial_mm, mechanism.nodes_mm, mechanism.nodes_mm])
    scan = LabelledScan(labels, centres_mm, covariance, target)
    simulation = Simulation(steps, mechanism, input_covariance)
    return judge_scan(simulation, scan, UNCERTAINTY, ACCEPTANCE)


def bent_states(
    mechanism: Mechanism, rng: np.random.Generator, angle_deg: float
) -> tuple[Mechanism, Floats]:
    """What other link lengths do: every joint turns by some `angle_deg`.

    Returns
    -------
    the mechanism as it was printed, and the covariance (3n, 3n) of such prints
    """
    drawn = [nearby_state(mechanism, rng, angle_deg) for _ in range(PRINTS + 1)]
    covariance = shape_covariance(mechanism.nodes_mm, np.array(drawn[1:]))
    return Mechanism(drawn[0], mechanism.bodies), covariance


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
    root, hung = mechanism.bodies[k][0], descendants(mechanism, k)
    axis = rng.normal(size=3)
    turn = Rotation.from_rotvec(np.deg2rad(angle_deg) * axis / np.linalg.norm(axis))
    x = mechanism.nodes_mm.copy()
    x[hung] = x[root] + turn.apply(x[hung] - x[root])
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
