"""Bodies found elsewhere than the simulation has them, though no label reaches them.

A body on the wrong joint keeps no length to the nodes it should hang on, so its spheres
stay without a label.  They still keep the lengths among themselves, and, where it has
only two of its own, those to the ball it hangs on.  That loose spheres do so by chance
is reckoned from how often any distance falls that near to a given one.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from analysis.labels.assign import Labels
from analysis.labels.mechanism import Mechanism
from analysis.labels.thresholds import BODY
from sim.arrays import Bools, Floats, Ints


@dataclass(frozen=True)
class MovedBody:
    """A body, its nodes without a label, and the spheres that keep their lengths.

    Parameters
    ----------
    expected : how many such matches chance alone leads to expect
    """

    nodes: tuple[int, ...]
    spheres: tuple[int, ...]
    expected: float


def moved_bodies(
    mechanism: Mechanism,
    labels: Labels,
    centres_mm: Floats,
    places_mm: Floats,
    length_u_mm: float,
    in_place_mm: float,
) -> list[MovedBody]:
    """Bodies whose free nodes have their lengths among loose spheres, away from home.

    Parameters
    ----------
    centres_mm : (m, 3)
    places_mm : (n, 3) where the simulation has the nodes, in the scan's frame
    length_u_mm : standard uncertainty of a scanned rigid length
    in_place_mm : a loose sphere nearer to a free node's place may be that node
    """
    free = labels.unconfirmed
    loose = _away(labels, centres_mm, places_mm[free], in_place_mm)
    if len(free) < 2 or len(loose) < 2:
        return []
    apart = np.linalg.norm(centres_mm[:, None] - centres_mm, axis=2)
    width = BODY.width * length_u_mm
    found = []
    for body in mechanism.bodies:
        for own in _parts([j for j in body if j in free]):
            match = _match(mechanism, (own, body), loose, apart, width)
            if match is None:
                continue
            spheres, lengths, tries = match
            near = 2 * width / float(apart.max())  # share of distances so near
            expected = tries * near**lengths
            if expected < BODY.rare:
                found.append(MovedBody(tuple(own), spheres, expected))
                break
    return found


def _parts(own: list[int]) -> list[list[int]]:
    """A body's free nodes, and all but one of them: that one may have stayed."""
    return [own, *([j for j in own if j != k] for k in own)]


def _match(
    mechanism: Mechanism,
    part: tuple[list[int], Sequence[int]],
    loose: Ints,
    apart: Floats,
    width: float,
) -> tuple[tuple[int, ...], int, float] | None:
    """Spheres that keep a part's lengths, how many those are, and how many were tried.

    Parameters
    ----------
    part : nodes, and the body they are of
    """
    own, body = part
    kept, tries = len(own) * (len(own) - 1) // 2, float(len(loose)) ** len(own)
    hung = [j for j in body if j not in own]
    for spheres in _tuples(apart, loose, _distances(mechanism.nodes_mm, own), width):
        if len(own) > 2 or not hung:
            return spheres, kept, tries
        to_ball = _distances(mechanism.nodes_mm, [hung[0], *own])[0, 1:]
        if _hangs(apart, spheres, to_ball, width).any():
            return spheres, kept + 2, tries * len(apart)
    return None


def _away(
    labels: Labels, centres_mm: Floats, homes_mm: Floats, in_place_mm: float
) -> Ints:
    """Loose spheres that are at no free node's place."""
    loose = np.setdiff1d(np.arange(len(centres_mm)), labels.confirmed)
    distance = np.linalg.norm(centres_mm[loose, None] - homes_mm, axis=2)
    away: Ints = loose[(distance > in_place_mm).all(axis=1)]
    return away


def _distances(nodes: Floats, some: Sequence[int]) -> Floats:
    x = nodes[list(some)]
    apart: Floats = np.linalg.norm(x[:, None] - x, axis=2)
    return apart


def _tuples(
    apart: Floats, loose: Ints, lengths: Floats, width: float
) -> Iterator[tuple[int, ...]]:
    """Different loose spheres that keep all `lengths` (f, f); none for f < 2."""
    f = len(lengths)
    if f < 2:
        return
    open_ones: list[tuple[int, ...]] = [(int(s),) for s in loose]
    while open_ones:
        some = open_ones.pop()
        if len(some) == f:
            yield some
            continue
        kept = lengths[len(some), : len(some)]
        near = np.abs(apart[loose][:, np.array(some)] - kept)
        for s in loose[(near <= width).all(axis=1)]:
            if s not in some:
                open_ones.append((*some, int(s)))


def _hangs(
    apart: Floats, spheres: tuple[int, ...], lengths: Floats, width: float
) -> Bools:
    """(m,) which balls the spheres (f,) may hang on, by their `lengths` (f,) to it."""
    near = np.abs(apart[:, list(spheres)] - lengths) <= width
    kept: Bools = np.asarray(near.all(axis=1))
    kept[list(spheres)] = False
    return kept


def told(bodies: Sequence[MovedBody]) -> str:
    """Which bodies are elsewhere, in words."""
    names = ["-".join(map(str, body.nodes)) for body in bodies]
    return (
        f"nodes {', '.join(names)} keep their lengths, but elsewhere: is a body on the "
        "wrong joint?"
    )
