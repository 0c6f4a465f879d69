"""A move of a whole sheet that is longer than its panels, stopped at what it meets.

What nodes have in common brings nothing together. Let a linear map be the best fit of
their moves, v = A x + b + w. Parts that meet at time t of the move, at p and q of the
start, have (I + t A)(p - q) = t (w_q - w_p), so that

    |p - q| <= 2 t max |w| / (1 - t |A|),

and only pairs that close have to be looked at: a Miura sheet, whose far end moves by
many panels in an increment, is searched within a fraction of one.
"""

import numpy as np

from sim.arrays import Floats
from sim.contact.candidates import find_pairs
from sim.contact.safe_step import largest_step
from sim.origami.folding.problem import MOST_SKINS, FoldingProblem

LARGEST_MAP = 0.5  # |A| up to which a piece of a move is made at once


def moved_far(problem: FoldingProblem, x: Floats, move: Floats) -> tuple[Floats, float]:
    """Where a move (n, 3) ends, and the part of it that was made.

    It is made in pieces, at most as many as nodes may move skins, and stops at what it
    meets.
    """
    done = 0.0
    for _ in range(int(MOST_SKINS)):
        left = (1.0 - done) * move
        piece, within = _piece(problem, x, left)
        pairs = find_pairs(problem.surface, x, within)
        step = largest_step(pairs, x, left, piece)
        x = x + step * left
        done += step * (1.0 - done)
        if step < piece or piece == 1.0:
            break
    return x, done


def _piece(problem: FoldingProblem, x: Floats, move: Floats) -> tuple[float, float]:
    """How much of a move is made at once, and within which distance parts may meet."""
    places = np.column_stack([x, np.ones(len(x))])
    linear = np.linalg.lstsq(places, move, rcond=None)[0]
    w = float(np.sqrt(((move - places @ linear) ** 2).sum(axis=1).max()))
    size = float(np.linalg.norm(linear[:3], 2))
    piece = min(
        1.0,
        LARGEST_MAP / max(size, 1e-300),
        0.5 * problem.skin / max(w, 1e-300),
    )
    reach = problem.surface.thickness + 2.0 * piece * w
    return piece, reach / (1.0 - piece * size)
