"""Whether carried labels can be: looked at apart from how they were found."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.spatial.distance import cdist

from analysis.labels.label_tracks import carry_labels, mean_of_neighbours
from sim.core.arrays import Floats, Ints


@dataclass(frozen=True, eq=False)
class TrackChecks:
    """What a series of labelled frames should show, and does or does not.

    Attributes
    ----------
    link_step : largest |ln| of a link's length over that in the frame before
    overturned : triangles of three links that change their hand in a frame, all frames
    backwards : nodes that, carried from the last frame back to the first, end elsewhere
    """

    link_step: float
    overturned: int
    backwards: int


def orders_of(frames: Sequence[Floats], x: Floats) -> list[Ints]:
    """(n,) the point of each frame that each node of (f, n, 2) is."""
    return [
        cdist(own, frame).argmin(axis=1) for own, frame in zip(x, frames, strict=True)
    ]


def check_tracks(x: Floats, links: Ints, along: Floats) -> TrackChecks:
    """Links change steadily, no triangle turns over, and the way back is the same.

    Parameters
    ----------
    x : (f, n, 2) nodes; a frame may be a mirror image of the first
    """
    n = x.shape[1]
    length = np.linalg.norm(x[:, links[:, 1]] - x[:, links[:, 0]], axis=-1)
    steps = np.abs(np.diff(np.log(length), axis=0))
    hand = np.sign(_areas(x, triangles(links, n)))
    hand *= np.sign((hand * hand[0]).sum(axis=1))[:, None]
    shuffled = [np.roll(frame, 1, axis=0) for frame in x[::-1]]
    back = carry_labels(shuffled, links, np.roll(np.arange(n), -1), -along[::-1])
    return TrackChecks(
        float(steps.max()),
        int((hand != hand[0]).sum()),
        int((back[-1] != x[0]).any(axis=1).sum()),
    )


def triangles(links: Ints, n: int) -> Ints:
    """(t, 3) nodes joined in threes, each three once."""
    linked = mean_of_neighbours(links, n)
    near = [set(np.flatnonzero(others).tolist()) for others in linked]
    threes = {
        tuple(sorted((a, b, c))) for a, b in links.tolist() for c in near[a] & near[b]
    }
    return np.array(sorted(threes), dtype=np.int64).reshape(-1, 3)


def _areas(x: Floats, threes: Ints) -> Floats:
    """(f, t) twice the signed area of triangles in each frame."""
    u, v = (
        x[:, threes[:, 1]] - x[:, threes[:, 0]],
        x[:, threes[:, 2]] - x[:, threes[:, 0]],
    )
    area: Floats = u[..., 0] * v[..., 1] - u[..., 1] * v[..., 0]
    return area
