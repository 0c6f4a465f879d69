"""Rank, least changes and shares of many rows, without a dense matrix.

What `mechanism` and `motion` find of small mechanisms by singular values is found of
large ones here: ranks by reflections (`sim.linear.orthogonal`), the rest by sparse LU
of

    [ M  A^T ]
    [ A  0   ],

which is regular where the rows of A are independent and M is positive along what they
leave (Nocedal and Wright, sect. 16.1).
"""

import numpy as np
from scipy.sparse import block_array, csr_array, diags_array, eye_array, triu, vstack
from scipy.sparse.linalg import splu

from sim.arrays import Bools, Floats
from sim.linear.orthogonal import SparseRows, column_pivots
from sim.linear.sparse import analyse


def independent_rows(G: csr_array, drop: float) -> Bools:
    """(m,) rows that those eliminated before them do not say.

    Parameters
    ----------
    G : (m, N)
    drop : share of a row that is new, up to which it is dropped
    """
    A = csr_array(G.T)
    A.eliminate_zeros()
    same = csr_array((np.ones_like(A.data), A.indices, A.indptr), A.shape)
    pairs = triu(same.T @ same, k=1).tocoo()
    places = [x.astype(np.int64) for x in (pairs.row, pairs.col)]
    by_unknown = SparseRows(
        A.indptr.astype(np.int64), A.indices.astype(np.int64), A.data.astype(np.float64)
    )
    fronts = analyse(A.shape[1], *places).fronts
    return np.asarray(column_pivots(fronts, by_unknown, drop) > 0.0, np.bool_)


def dependent_unknown(G: csr_array, mass: csr_array, drop: float) -> int | None:
    """One of the unknowns of a motion that no row stops and no mass feels, if any.

    Parameters
    ----------
    G, mass : (m, N) and (N, N)
    """
    felt = vstack([_unit_rows(G), _unit_rows(mass)])
    kept = independent_rows(csr_array(felt.T), drop)
    return None if kept.all() else int(np.argmin(kept))


def least_change(A: csr_array, wanted: Floats, mass: csr_array | None = None) -> Floats:
    """(N,) the least x with A x = wanted, in the norm of `mass` if there is one.

    Parameters
    ----------
    A, wanted : (m, N) independent rows, (m,)
    """
    M = eye_array(A.shape[1], format="csr") if mass is None else mass
    right = np.concatenate([np.zeros(A.shape[1]), wanted])
    x: Floats = _saddle(A, M, right)[: A.shape[1]]
    return x


def shares_of(G: csr_array, others: Floats) -> Floats:
    """(m, d) of independent rows (m, N) in others (d, N), which they combine to."""
    right = np.vstack([others.T, np.zeros((G.shape[0], len(others)))])
    shares: Floats = _saddle(G, eye_array(G.shape[1], format="csr"), right)[
        G.shape[1] :
    ]
    return shares


def _saddle(A: csr_array, M: csr_array, right: Floats) -> Floats:
    """The solution, improved once."""
    K = block_array([[M, A.T], [A, None]], format="csc")
    solve = splu(K).solve
    x = solve(right)
    return np.asarray(x + solve(right - K @ x), np.float64)


def _unit_rows(A: csr_array) -> csr_array:
    """Those that are not zero, each of length 1."""
    length = np.sqrt(np.asarray(A.power(2).sum(axis=1)).ravel())
    own = length > 0.0
    return csr_array(diags_array(1.0 / length[own]) @ csr_array(A)[own])
