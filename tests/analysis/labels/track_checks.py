"""Whether carried labels can be: looked at apart from how they were found."""

from dataclasses import dataclass

import numpy as np

from analysis.labels.label_tracks import Tracks, carry_labels, neighbours
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


def check_tracks(tracks: Tracks, links: Ints, along: Floats) -> TrackChecks:
    """Links change steadily, no triangle turns over, and the way back is the same."""
    x, n = tracks.points, tracks.points.shape[1]
    length = np.linalg.norm(x[:, links[:, 1]] - x[:, links[:, 0]], axis=-1)
    steps = np.abs(np.diff(np.log(length), axis=0))
    hand = np.sign(_areas(x, triangles(links, n)))
    hand *= np.where(tracks.mirrored, -1.0, 1.0)[:, None]
    shuffled = [np.roll(frame, 1, axis=0) for frame in x[::-1]]
    back = carry_labels(shuffled, links, np.roll(np.arange(n), -1), -along[::-1])
    ended = (back.order[-1] - 1) % n
    return TrackChecks(
        float(steps.max()),
        int((hand != hand[0]).sum()),
        int((ended != np.arange(n)).sum()),
    )


def triangles(links: Ints, n: int) -> Ints:
    """(t, 3) nodes joined in threes, each three once."""
    near = [set(others.tolist()) for others in neighbours(links, n)]
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
