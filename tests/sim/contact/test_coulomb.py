"""Contact problems in the form of FCLIB (Acary et al., INRIA RT-0444, 2014), generated.

    M v = H r + f,  u = H^T v + w,  K* contains u + mu |u_t| n, across r in K,

normals first, solved by their Delassus operator. The residual is FCLIB's first merit
function, by projection onto the cone itself, which the solver does not use.
"""

import numpy as np
import pytest

from sim.contact.coulomb import coulomb_forces
from sim.core.arrays import Floats


def _onto_cone(r: Floats, mu: float) -> Floats:
    """The closest points of |r_t| <= mu r_n to (c, 3)."""
    size = np.hypot(r[:, 1], r[:, 2])
    inside, polar = size <= mu * r[:, 0], mu * size <= -r[:, 0]
    n = (r[:, 0] + mu * size) / (1.0 + mu**2)
    way = r[:, 1:] / np.maximum(size, 1e-300)[:, None]
    found = np.column_stack([n, (mu * n)[:, None] * way])
    found[polar] = 0.0
    return np.where(inside[:, None], r, found)


def _merit(W: Floats, q: Floats, mu: float, r: Floats) -> float:
    """|r - P(r - u - mu |u_t| n)| over |q|, r in units of q over the largest of W."""
    scale = np.linalg.norm(W, 2)
    u = (q + W @ r.ravel()).reshape(-1, 3) / scale
    moved = u + mu * np.hypot(u[:, 1], u[:, 2])[:, None] * [1.0, 0.0, 0.0]
    left = r - _onto_cone(r - moved, mu)
    return float(np.linalg.norm(left) * scale / np.linalg.norm(q))


def _tower(cubes: int, turn: float) -> tuple[Floats, Floats]:
    """M (6 k, 6 k) and H (6 k, 12 k) of cubes of side 1 on each other and a ground.

    Corners of the upper one are contacts; every second cube is turned.
    """
    M = np.diag(np.tile([1.0, 1.0, 1.0, 1 / 6, 1 / 6, 1 / 6], cubes))
    H = np.zeros((6 * cubes, 12 * cubes))
    axes = np.array([[0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
    for k in range(cubes):
        c, s = np.cos(turn * (k % 2)), np.sin(turn * (k % 2))
        for j, (a, b) in enumerate(((1, 1), (1, -1), (-1, 1), (-1, -1))):
            at = 0.4 * np.array([c * a - s * b, s * a + c * b, -1.25])
            for i, n in enumerate(axes):
                column = 3 * (4 * k + j) + i
                H[6 * k : 6 * k + 6, column] = [*n, *np.cross(at, n)]
                if k > 0:
                    below = at + axes[0]
                    H[6 * k - 6 : 6 * k, column] = [*-n, *-np.cross(below, n)]
    return M, H


@pytest.mark.parametrize("mu", [0.2, 0.7])
@pytest.mark.parametrize("cubes", [1, 3, 6])
def test_towers_of_cubes_are_solved_to_rounding_in_the_form_of_fclib(cubes, mu):
    """They rest, slide and tip; four corners share each load, so that W is singular."""
    kinds = set()
    M, H = _tower(cubes, 0.3)
    W = H.T @ np.linalg.solve(M, H)
    assert np.linalg.matrix_rank(W) < len(W)
    for side in (0.1, 0.4, 1.5):
        f = M @ np.tile([side, 0.1 * side, -1.0, 0.0, 0.0, 0.1 * side], cubes)
        q = (H.T @ np.linalg.solve(M, f)).reshape(-1, 3)
        r, left = coulomb_forces(W, q, mu, np.zeros_like(q), 1e-12)
        assert left <= 1e-12
        assert _merit(W, q.ravel(), mu, r) <= 1e-11
        u = q + (W @ r.ravel()).reshape(-1, 3)
        slip = np.hypot(u[:, 1], u[:, 2])[r[:, 0] > 1e-6]
        kinds |= {"slides" if own > 1e-6 else "rests" for own in slip}
        kinds |= {"opens"} if (u[:, 0] > 1e-6).any() else set()
    assert len(kinds) >= 2


def test_what_cannot_be_moved_is_told_as_unsolved():
    """The matrix of Newton's method is singular there, and nothing is raised."""
    inside = np.array([[-1e-3, 0.0, 0.0]])
    _, left = coulomb_forces(np.zeros((3, 3)), inside, 0.2, np.ones((1, 3)), 1e-12)
    assert not left <= 1e-12
