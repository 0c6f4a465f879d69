"""The pose of the open target in a scan, and the distance of the scan from it.

The target is printed as bars along a wireframe. Its pose is fitted to the points that
belong to neither spheres nor rods, so that E of a scan, eq. (5) of [dJ23], does not
assume that the nodes lie on their goals.

`target_distances` computes E of the same nodes, simulated and scanned. The pose of the
scanned target determines the goals of the scanned nodes. With d_j from goal to node and
its derivative D_j by the node's place, errors e_j of the nodes and q_j of the target
lead to

    E = (1/L) sqrt( (1/n) sum |d_j + D_j e_j + q_j|^2 ).

Where a simulation reaches its target d is zero, so every error makes E larger: the
law of E is sampled from this formula, not from its gradient.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from scipy.spatial import KDTree
from scipy.spatial.transform import Rotation

from analysis.alignment import RigidMotion
from analysis.comparison.error_sources import INPUT, POSE
from sim.core.arrays import Bools, Floats, Ints
from sim.core.options import NotConvergedError
from sim.mechanism.shape_measures import distance_error

SAMPLES_MM = 1.0  # between the places of a bar that say which bar is nearest
SECTION = 10  # places along which errors may be alike
TUKEY = 4.685  # standard deviations at which a point loses all weight
WEAK = 3e-3  # share of the stiffest motion's weight below which one is not fitted
STILL_MM = 1e-4  # a smaller step is none
MAX_STEPS = 100
FEWEST = 50  # points that a pose needs
LEAST_SEEN = 0.2  # share of the bars that must have points


@dataclass(frozen=True, eq=False)
class Wires:
    """Straight lines from `a` to `b`, (q, 3) each, mm."""

    a: Floats
    b: Floats

    @classmethod
    def of(cls, vertices: Floats, edges: Ints) -> "Wires":
        """The edges of a wireframe that have a length."""
        a, b = vertices[edges[:, 0]], vertices[edges[:, 1]]
        long = np.linalg.norm(b - a, axis=1) > 0.0
        return cls(a[long], b[long])

    def samples(self) -> tuple[Floats, Ints]:
        """Places (s, 3) along the lines, and the line (s,) each is on."""
        length = np.linalg.norm(self.b - self.a, axis=1)
        many = np.ceil(length / SAMPLES_MM).astype(np.int64) + 1
        line = np.repeat(np.arange(len(many)), many)
        first = np.repeat(np.cumsum(many) - many, many)
        t = (np.arange(len(line)) - first) / np.repeat(many - 1, many)
        return self.a[line] + t[:, None] * (self.b - self.a)[line], line

    def nearest(self, points: Floats, line: Ints) -> Floats:
        """The place on `line` (n,) nearest to each of `points` (n, 3)."""
        a, u = self.a[line], (self.b - self.a)[line]
        t = np.einsum("ij,ij->i", points - a, u) / np.einsum("ij,ij->i", u, u)
        return np.asarray(a + np.clip(t, 0.0, 1.0)[:, None] * u)


@dataclass(frozen=True, eq=False)
class PlacedTarget:
    """The target where the scan shows it."""

    motion: RigidMotion  # from the target's frame to the scan's, mm
    covariance: Floats  # (6, 6) of shift (mm) and turn (rad) about `pivot`
    pivot: Floats  # (3,) mm, in the scan's frame
    bar_radius: float  # mm
    rms: float  # of the points about the bars' surface, mm
    points: int  # that have weight
    seen: float = 1.0  # share of the bars' sections that have such points


def off_mechanism(
    points: Floats, nodes: Floats, bodies: Wires, sphere_mm: float, rod_mm: float
) -> Bools:
    """Which of `points` (n, 3) are on neither a sphere nor a rod.

    Parameters
    ----------
    nodes : (k, 3) sphere centres, mm
    bodies : the lines along which rods may run
    sphere_mm, rod_mm : distances from either within which a point belongs to it
    """
    far = KDTree(nodes).query(points, distance_upper_bound=sphere_mm)[0] > sphere_mm
    places, line = bodies.samples()
    if len(places) == 0:
        return np.asarray(far)
    _, nearest = KDTree(places).query(points)
    gap = np.linalg.norm(points - bodies.nearest(points, line[nearest]), axis=1)
    return np.asarray(far & (gap > rod_mm))


def place_target(
    points: Floats, wires: Wires, start: RigidMotion, *, gate_mm: float
) -> PlacedTarget:
    """Fit the pose of the target's bars, and their radius, to scan points.

    Gauss-Newton on the distance to the bars' axes less their radius, with Tukey's
    weights: other points near a bar lose their weight. A motion that the points do not
    determine, such as the turn of a circle about its axis, keeps its initial value.

    Parameters
    ----------
    points : (n, 3) mm, without those of the mechanism
    wires : axes of the bars, mm, in the target's frame
    start : a pose that is right to within `gate_mm`
    """
    places, line = wires.samples()
    tree = KDTree(places)
    motion, radius, scale = start, 0.0, np.inf
    for _ in range(MAX_STEPS):
        fit = _equations(points, wires, (tree, line), motion, gate_mm)
        if len(fit.distance) < FEWEST:
            raise ValueError(
                f"points within {gate_mm:g} mm of the target: {len(fit.distance)}, at "
                f"least {FEWEST} are needed: is the target in the scan?"
            )
        radius = float(np.median(fit.distance)) if scale == np.inf else radius
        scale = 1.4826 * float(np.median(np.abs(fit.distance - radius)))
        u2 = np.minimum(((fit.distance - radius) / (TUKEY * scale)) ** 2, 1.0)
        step, covariance = _solve(fit, radius, u2)
        radius += float(step[6])
        motion = moved(motion, step[:6], fit.pivot)
        if np.abs(step[[0, 1, 2, 6]]).max() < STILL_MM:
            break
    else:
        raise NotConvergedError(
            f"the target's pose still moves by {np.abs(step[:3]).max():.1e} mm after "
            f"{MAX_STEPS} steps: give a better start",
            best=motion,
        )
    used = u2 < 1.0
    seen = len(np.unique(fit.section[used])) / (int(len(places) - 1) // SECTION + 1)
    if seen < LEAST_SEEN:
        raise ValueError(
            f"{seen:.0%} of the target's bars have points, at least {LEAST_SEEN:.0%} "
            "are needed: is the target in the scan?"
        )
    rms = float(np.sqrt(np.mean((fit.distance - radius)[used] ** 2)))
    return PlacedTarget(
        motion, covariance, fit.pivot, radius, rms, int(used.sum()), seen
    )


@dataclass(frozen=True, eq=False)
class _Equations:
    """Distances to the axes, and their derivatives by shift, turn and radius."""

    distance: Floats  # (n,) mm
    slope: Floats  # (n, 7) of distance less radius
    section: Ints  # (n,) of the bars, SECTION places long, that each point is on
    pivot: Floats  # (3,) mm


def _equations(
    points: Floats,
    wires: Wires,
    search: tuple[KDTree, Ints],
    motion: RigidMotion,
    gate_mm: float,
) -> _Equations:
    """At c + s + w x (c - m), the distance |p - c| changes by -n.s - ((c - m) x n).w.

    n is the unit vector from the axis to the point, m the pivot.
    """
    local = motion.back(points)
    tree, line_of = search
    reach, found = tree.query(local, distance_upper_bound=gate_mm)
    near = np.isfinite(reach)
    place = np.asarray(found, dtype=np.int64)[near]
    line = line_of[place]
    axis = motion(wires.nearest(local[near], line))
    to = points[near] - axis
    distance = np.linalg.norm(to, axis=1)
    n = to / np.maximum(distance, 1e-12)[:, None]
    pivot = axis.mean(axis=0) if len(axis) else np.zeros(3)
    turn = np.cross(axis - pivot, n)
    slope = np.column_stack([-n, -turn, -np.ones(len(n))])
    return _Equations(distance, slope, place // SECTION, pivot)


def _solve(fit: _Equations, radius: float, u2: Floats) -> tuple[Floats, Floats]:
    """The Gauss-Newton step (7,), and the covariance (6, 6) of the pose.

    With u the residual over the width of Tukey's weights, a point weighs (1 - u^2)^2,
    and its pull changes by (1 - u^2)(1 - 5 u^2). Points side by side err together, so
    they are summed before they are squared.
    """
    w, change = (1.0 - u2) ** 2, (1.0 - u2) * (1.0 - 5.0 * u2)
    residual = fit.distance - radius
    J = fit.slope
    size = max(float(np.sqrt(np.mean(J[:, 3:6] ** 2))), 1e-12)
    units = np.array([1.0, 1.0, 1.0, 1.0 / size, 1.0 / size, 1.0 / size, 1.0])
    J = J * units
    inverse = np.linalg.pinv(J.T @ (w[:, None] * J), rcond=WEAK, hermitian=True)
    sums = np.zeros((int(fit.section.max()) + 1, 7))
    np.add.at(sums, fit.section, (w * residual)[:, None] * J)
    step = -units * (inverse @ sums.sum(axis=0))
    curved = np.linalg.pinv(J.T @ (change[:, None] * J), rcond=WEAK, hermitian=True)
    many = max(len(np.unique(fit.section)), 8)
    whole = curved @ (sums.T @ sums) @ curved * (many / (many - 7))
    return step, (whole * np.outer(units, units))[:6, :6]


def moved(motion: RigidMotion, step: Floats, pivot: Floats) -> RigidMotion:
    """The motion after a small shift (mm) and turn (rad) about `pivot`, (6,)."""
    turn = Rotation.from_rotvec(step[3:6]).as_matrix()
    rotation = turn @ motion.rotation
    translation = turn @ (motion.translation - pivot) + pivot + step[:3]
    return RigidMotion(rotation, translation)


def deviations(points: Floats, wires: Wires, placed: PlacedTarget) -> Floats:
    """How far each point (n, 3) is outside the surface of the nearest bar, mm."""
    places, line = wires.samples()
    local = placed.motion.back(points)
    _, found = KDTree(places).query(local)
    axis = wires.nearest(local, line[found])
    return np.asarray(np.linalg.norm(local - axis, axis=1) - placed.bar_radius)


@dataclass(frozen=True, eq=False)
class ScanError:
    """E of a scan with its uncertainty."""

    E: float
    u: float  # standard uncertainty
    floor: float  # E that nodes exactly on the target would show on average
    distance_mm: Floats  # (n,) of each node from the target


def scan_error(
    nodes: Floats,
    covariance: Floats,
    closest: Callable[[Floats], Floats],
    placed: PlacedTarget,
    L_mm: float,
) -> ScanError:
    """E, eq. (5) of [dJ23], of scanned nodes about the target where it was found.

    With d_j from goal to node, n nodes and the covariance C of nodes and pose
    together, var E = e^T C e for e_j = d_j / (n E L^2).

    Parameters
    ----------
    nodes : (n, 3) mm, in the scan's frame
    covariance : (3n, 3n) of `nodes`, mm^2
    closest : goals of nodes (n, 3), mm, both in the target's own frame; a follower is
        its own goal
    L_mm : characteristic length of the simulation's initial configuration, eq. (13)
    """
    motion = placed.motion
    goal = motion(closest(motion.back(nodes)))
    d = nodes - goal
    distance = np.linalg.norm(d, axis=1)
    C = covariance + pose_covariance(nodes, placed)
    E = distance_error(nodes, goal, L_mm)
    e = (d / (len(nodes) * max(E, 1e-300) * L_mm**2)).ravel()
    n = d / np.maximum(distance, 1e-300)[:, None]
    blocks = np.einsum("iaib->iab", C.reshape(len(nodes), 3, len(nodes), 3))
    across = np.einsum("ia,iab,ib->i", n, blocks, n)
    floor = float(np.sqrt(across.mean())) / L_mm
    return ScanError(E, float(np.sqrt(e @ C @ e)), floor, distance)


def pose_covariance(nodes: Floats, placed: PlacedTarget) -> Floats:
    """Covariance (3n, 3n) that the pose's uncertainty gives to the goals."""
    arm = nodes - placed.pivot
    turn = np.stack([np.cross(axis, arm) for axis in np.eye(3)], axis=2)
    shift = np.broadcast_to(np.eye(3), (len(nodes), 3, 3))
    J = np.concatenate([shift, turn], axis=2).reshape(-1, 6)
    return np.asarray(J @ placed.covariance @ J.T)


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
        return np.asarray(E - self.E_simulated)

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
    return np.asarray(turned.reshape(3 * n, 3 * n))


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
