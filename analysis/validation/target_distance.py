"""E of the same nodes, simulated and scanned, and what errors do to it.

E is eq. (5) of [dJ23].  The target that was printed and scanned says where the goals
of the scanned nodes are.  With d_j from goal to node and D_j its derivative by the
node's place, errors e_j of the nodes and q_j of the target lead to

    E = (1/L) sqrt( (1/n) sum |d_j + D_j e_j + q_j|^2 ).

Where a simulation reaches its target d is zero, so every error makes E larger: the
law of E is drawn from this formula, not from its gradient.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from analysis.validation.deviation import PlacedTarget, pose_covariance
from analysis.validation.uncertainty import INPUT, POSE
from sim.arrays import Bools, Floats
from sim.morph.structure.measures import distance_error

STEP_MM = 0.05  # of the central differences that D is made of


@dataclass(frozen=True, eq=False)
class TargetInScan:
    """The target as the scan shows it.

    Parameters
    ----------
    placed : its pose
    closest : goals of all nodes (n, 3), mm, in the target's own frame, which is that
        of the simulation; a follower is its own goal
    input_covariance : (3n, 3n) mm^2 of the distances d in that frame, that wrong link
        lengths lead to
    """

    placed: PlacedTarget
    closest: Callable[[Floats], Floats]
    input_covariance: Floats | None = None


@dataclass(frozen=True, eq=False)
class TargetDistances:
    """The nodes compared, and their goals.

    Parameters
    ----------
    simulated, scanned : (n, 3) from goal to node, mm, in the scan's frame
    slope : (n, 3, 3) of the simulated ones by the node's place
    own : covariance (3n, 3n) mm^2, by source, of errors that reach the distances by
        themselves, not through the errors of the nodes
    L_mm : characteristic length of these nodes in the initial configuration
    """

    simulated: Floats
    scanned: Floats
    slope: Floats
    own: Mapping[str, Floats]
    L_mm: float

    @property
    def E_simulated(self) -> float:
        """Of the nodes compared."""
        return distance_error(self.simulated, np.zeros(3), self.L_mm)

    @property
    def E_scanned(self) -> float:
        """Of the same nodes."""
        return distance_error(self.scanned, np.zeros(3), self.L_mm)

    @property
    def error(self) -> float:
        """Simulated minus scanned."""
        return self.E_simulated - self.E_scanned

    def changes(self, errors: Floats, own: Floats) -> Floats:
        """(draws,) by how much errors raise E.

        Parameters
        ----------
        errors : (draws, n, 3) of the nodes, mm
        own : (draws, n, 3) of the distances themselves, mm
        """
        d = self.simulated + np.einsum("nab,dnb->dna", self.slope, errors) + own
        E = np.sqrt(np.mean(np.sum(d**2, axis=2), axis=1)) / self.L_mm
        change: Floats = E - self.E_simulated
        return change

    def by_source(self, sources: Mapping[str, Floats], u: float) -> dict[str, float]:
        """Each source's part of the standard uncertainty `u` of E; squares add up.

        Far from the target the gradient of E weighs a source, on the target its
        trace does; in between, both do, by how far the simulation is from it.
        """
        of_distances = {
            name: through_slope(self.slope, c)
            for name, c in sources.items()
            if name not in self.own
        } | dict(self.own)
        n = len(self.simulated)
        trace = {k: float(np.trace(c)) / n for k, c in of_distances.items()}
        away = float(np.mean(np.sum(self.simulated**2, axis=1)))
        g = self.simulated.ravel() / (n * np.sqrt(max(away, 1e-300)))
        along = {k: float(g @ c @ g) for k, c in of_distances.items()}
        whole = sum(trace.values())
        far = away / (away + whole) if away + whole > 0 else 0.0
        share = {k: far * along[k] + (1 - far) * trace[k] for k in of_distances}
        total = sum(share.values())
        return {
            k: u * float(np.sqrt(max(v, 0.0) / total)) if total > 0 else 0.0
            for k, v in share.items()
        }


def through_slope(slope: Floats, covariance: Floats) -> Floats:
    """D C D^T for the slopes (n, 3, 3) of n nodes and a covariance (3n, 3n)."""
    n = len(slope)
    blocks = covariance.reshape(n, 3, n, 3)
    turned = np.einsum("iab,ibjc,jdc->iajd", slope, blocks, slope)
    whole: Floats = turned.reshape(3 * n, 3 * n)
    return whole


def target_distances(
    target: TargetInScan,
    simulated_mm: Floats,
    scanned_mm: Floats,
    used: Bools,
    L_mm: float,
) -> TargetDistances:
    """Distances from the target of the nodes that are `used`.

    Parameters
    ----------
    simulated_mm : (n, 3) all nodes, in the target's frame
    scanned_mm : (n, 3) all nodes in the scan's frame, nan where unknown
    """
    motion, closest = target.placed.motion, target.closest
    R = motion.rotation
    local = np.where(used[:, None], motion.back(scanned_mm), simulated_mm)
    ahead, behind = (
        np.stack([closest(simulated_mm + sign * STEP_MM * axis) for axis in np.eye(3)])
        for sign in (1.0, -1.0)
    )  # (axis, n, 3) each
    of_goal = np.moveaxis(ahead - behind, 0, 2)[used] / (2 * STEP_MM)
    slope = np.einsum("ab,nbc,dc->nad", R, np.eye(3) - of_goal, R)
    pose = pose_covariance(scanned_mm[used], target.placed)
    own = {POSE: through_slope(slope, pose)}
    if target.input_covariance is not None:
        n = len(used)
        whole = target.input_covariance.reshape(n, 3, n, 3)
        some = whole[used][:, :, used].reshape(3 * used.sum(), 3 * used.sum())
        own[INPUT] = motion.turn_covariance(some)
    return TargetDistances(
        ((simulated_mm - closest(simulated_mm)) @ R.T)[used],
        ((local - closest(local)) @ R.T)[used],
        slope,
        own,
        L_mm,
    )
