"""Labels carried through a series of frames, in each of which nodes are found anew.

The frames show the same nodes of a flat body, each frame in its own order and
placement: shifted, turned, perhaps mirrored. Between two frames the body moves a
little. A node is first expected where its motion would continue. Once points are
assigned, the motion of the linked nodes gives the expectation, so that a body may
shrink and bend. All placements of a frame are tried. A symmetric body fits several. Its
constant irregularities distinguish them, or else the camera, which turns by less than
45 degrees between two frames.

No prediction of the body's motion is used.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.optimize import linear_sum_assignment
from scipy.spatial.distance import cdist

from analysis.alignment import PlanarMotion, fit_planar_motion, turned
from sim.core.arrays import Floats, Ints, refuse_first

MOST_ROUNDS = 30  # of assigning and expecting anew; they end where nothing changes
TURNS = 12  # placements that are tried, evenly round a turn, of each hand
REACH = 0.5  # most distance of a node from where it is expected, of the next point's
MARGIN = 1.25  # least misfit of another placement, of that of the one taken
QUARTER = np.pi / 4.0  # rad between two frames below which a camera counts as still
FIRST_MISFIT = 0.15  # most rms misfit of the first frame, of the shortest link
ASKED = 8  # rigid placements in which neighbours are asked: those of a symmetric body


class AmbiguousLabelError(ValueError):
    """A frame whose points are ambiguous; says which, and why."""


@dataclass(frozen=True, eq=False)
class FrameFit:
    """One way to lay labelled nodes on the points of a frame.

    Attributes
    ----------
    order : (n,) point of each node
    motion : of the expected nodes onto the points
    misfit : rms distance of the points from where they are expected
    reach : largest distance of a node, of that of the next point
    """

    order: Ints
    motion: PlanarMotion
    misfit: float
    reach: float


def placements(nodes: Floats, points: Floats, links: Ints) -> list[FrameFit]:
    """All ways to lay a known shape on a frame equally well; more than one by symmetry.

    Parameters
    ----------
    nodes, points : (n, 2) in one unit

    Raises
    ------
    AmbiguousLabelError
        where the points do not have the shape.
    """
    _refuse_points([points], len(nodes))
    rigid = [
        _assigned(motion(nodes), points, nodes)
        for motion in turned(nodes, points, TURNS)
    ]
    found = _different(rigid)
    ends = nodes[links]
    short = float(np.linalg.norm(ends[:, 0] - ends[:, 1], axis=1).min())
    if found[0].misfit > FIRST_MISFIT * short:
        raise AmbiguousLabelError(
            f"frame 0 differs from the shape by {found[0].misfit:.3g} rms (shortest "
            f"link {short:.3g}): give coordinates in the same unit, and an undeformed "
            "first frame"
        )
    return [fit for fit in found if fit.misfit <= found[0].misfit + 1e-9 * short]


def carry_labels(
    frames: Sequence[Floats], links: Ints, first: Ints, along: Floats
) -> Floats:
    """(f, n, 2) points of the nodes, followed from the first frame to the last.

    Each frame is in its own placement.

    Parameters
    ----------
    frames : (n, 2) points of each, in any order
    links : (l, 2) nodes that move alike, being joined
    first : (n,) point of each node in the first frame
    along : (f,) what the frames are ordered by, such as temperature or time

    Raises
    ------
    AmbiguousLabelError
        naming the frame, where a node is not where the others' motion lets it be, or
        where two placements fit alike and none is that of a still camera.
    """
    _refuse_points(frames, len(first))
    near, points = mean_of_neighbours(links, len(first)), [frames[0][first]]
    for k in range(1, len(frames)):
        fit = _placed(_expected(points, along), frames[k], near, k)
        points.append(frames[k][fit.order])
    return np.array(points)


def mean_of_neighbours(links: Ints, n: int) -> Floats:
    """(n, n) takes what nodes have to the mean of what their neighbours have."""
    linked = np.zeros((n, n))
    linked[links, links[:, ::-1]] = 1.0
    many = linked.sum(axis=1, keepdims=True)
    no_link = "node {} has no link to check its motion: add one"
    refuse_first(many[:, 0] == 0.0, no_link.format)
    return np.asarray(linked / many)


def _expected(points: list[Floats], along: Floats) -> Floats:
    """(n, 2) where the nodes are if they go on moving as they did."""
    if len(points) == 1:
        return points[0]
    k = len(points)
    step = (along[k] - along[k - 1]) / (along[k - 1] - along[k - 2])
    before = min(
        (fit_planar_motion(points[-2], points[-1], hand) for hand in (False, True)),
        key=lambda motion: float(np.square(points[-1] - motion(points[-2])).sum()),
    )(points[-2])
    return np.asarray(points[-1] + min(step, 2.0) * (points[-1] - before))


def _placed(expected: Floats, points: Floats, near: Floats, k: int) -> FrameFit:
    """The placement that is chosen."""
    starts = turned(expected, points, TURNS)
    rigid = _different([_assigned(m(expected), points, expected) for m in starts])
    found = _different(
        [_assigned(f.motion(expected), points, expected, near) for f in rigid[:ASKED]]
    )
    margin = found[1].misfit / found[0].misfit if len(found) > 1 else np.inf
    best, fits = found[0], min(f.reach for f in found) <= REACH
    if fits and margin < MARGIN:
        rivals = [f for f in found if f.misfit < MARGIN * best.misfit]
        still = [f for f in rivals if f.motion.still(QUARTER)]
        if len(still) != 1:
            raise AmbiguousLabelError(
                f"frame {k} can be matched to the one before in {len(rivals)} ways "
                f"(next best misfit {margin:.3g} times the best, {MARGIN:g} needed): "
                "use frames closer in time, without rotation"
            )
        best = still[0]
    if best.reach > REACH:
        raise AmbiguousLabelError(
            f"frame {k}: a node is far from its predicted position ({best.reach:.2f} "
            f"times the distance to the next point, limit {REACH:g}): use frames "
            "closer in time, or remove a false point"
        )
    return best


def _assigned(
    moved: Floats, points: Floats, expected: Floats, near: Floats | None = None
) -> FrameFit:
    """Points assigned to nodes that begin at `moved`, until nothing changes."""
    order, x = np.full(len(points), -1), moved
    a, b = (one - one.mean(axis=0) for one in (expected, moved))
    hand = bool(np.linalg.det(a.T @ b) < 0.0)  # whether one is a mirror image
    for _ in range(MOST_ROUNDS):
        _, columns = linear_sum_assignment(cdist(x, points, "sqeuclidean"))
        if (columns == order).all():
            break
        order = columns
        motion = fit_planar_motion(expected, points[order], hand)
        x = motion(expected)
        if near is not None:
            x = x + near @ (points[order] - x)
    apart = cdist(x, points[order])
    own = np.diag(apart).copy()
    np.fill_diagonal(apart, np.inf)
    misfit = float(np.sqrt(np.mean(own**2)))
    return FrameFit(order, motion, misfit, float((own / apart.min(axis=1)).max()))


def _different(found: list[FrameFit]) -> list[FrameFit]:
    """Those of different orders, the best first."""
    different: list[FrameFit] = []
    for fit in sorted(found, key=lambda fit: fit.misfit):
        if not any((fit.order == other.order).all() for other in different):
            different.append(fit)
    return different


def _refuse_points(frames: Sequence[Floats], n: int) -> None:
    for k, points in enumerate(frames):
        if points.shape != (n, 2):
            raise AmbiguousLabelError(
                f"frame {k} has {len(points)} points for {n} nodes: give one each"
            )
        if not np.isfinite(points).all():
            raise AmbiguousLabelError(
                f"frame {k} has coordinates that are not finite: remove them"
            )
