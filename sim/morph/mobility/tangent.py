"""First- and second-order motions of a configuration: null space, cokernel, forms.

A motion z + h v + h^2 a / 2 + ... satisfies c = 0 to second order if

    J v = 0,    J a + H(v, v) = 0,    H(v, v)_i = v . Hess c_i v,

and the second has a solution a just where w . H(v, v) = 0 for every w of the cokernel,
w J = 0. Where J has lost rank, these quadratic forms choose among its first-order
motions; elsewhere there are none, or they vanish with the row that is redundant.
Rigid motions that the constraints allow are left out. Lengths count in L of the
configuration, so that what is zero is so in every unit.
"""

from dataclasses import dataclass

import numpy as np

from sim.arrays import Floats, Ints
from sim.morph.equations.system import ConstraintSystem, linearise
from sim.morph.mobility.mobility import LARGEST, dense_rows
from sim.morph.structure.measures import characteristic_length, rigid_motions

LOST = 1e-7  # singular value, over the largest, that counts as zero


@dataclass(frozen=True, eq=False)
class Tangent:
    """What a configuration allows.

    Attributes
    ----------
    motions : (d, n + k, 3) orthonormal first-order motions that are not rigid
    rigid : how many rigid motions the constraints allow
    cokernel : (s, m) orthonormal combinations of the scaled rows that vanish
    forms : (q, d, d) independent forms w . H on the motions, q <= s
    smallest : singular value of the scaled J that is the last to count, over the first
    """

    motions: Floats
    rigid: int
    cokernel: Floats
    forms: Floats
    smallest: float


def tangent(system: ConstraintSystem, z: Floats) -> Tangent:
    """At the state z (n + k, 3)."""
    unknowns = 3 * system.n + system.k
    if unknowns > LARGEST:
        raise ValueError(
            f"the structure has {unknowns} unknowns: its motions are those of a dense "
            f"null space, for {LARGEST} at most"
        )
    J, used = dense_jacobian(system, z)
    left, sizes, right = np.linalg.svd(J)
    rank = _rank(sizes)
    L = characteristic_length(z[: system.n]) or 1.0
    flat, rigid = _without_rigid(system, z, L * J, right[rank:], used)
    motions = np.zeros((len(flat), 3 * len(z)))
    motions[:, used] = flat
    shaped = motions.reshape(-1, len(z), 3)
    cokernel = left[:, rank:].T
    smallest = sizes[rank - 1] / sizes[0] if rank else 0.0
    forms = _forms(system, z, L * shaped, cokernel)
    return Tangent(shaped, rigid, cokernel, forms, float(smallest))


def dense_jacobian(system: ConstraintSystem, z: Floats) -> tuple[Floats, Ints]:
    """J with its rows over their scale and one column an unknown, and their places."""
    used = np.ones((len(z), 3), dtype=np.bool_)
    used[system.n :, 1:] = False
    places: Ints = np.flatnonzero(used.ravel())
    J = dense_rows(linearise(system, z))[:, places]
    return J / system.scale[:, None], places


def null_space(J: Floats) -> Floats:
    """(n - rank, n) unit motions that a dense J leaves, at right angles."""
    _, sizes, right = np.linalg.svd(J)
    return right[_rank(sizes) :]


def _rank(sizes: Floats) -> int:
    """How many singular values count as more than zero."""
    return int(np.count_nonzero(sizes > LOST * sizes.max(initial=1e-300)))


def _without_rigid(
    system: ConstraintSystem, z: Floats, J: Floats, null: Floats, used: Ints
) -> tuple[Floats, int]:
    """The part of a null space at right angles to its rigid motions; how many."""
    rigid = rigid_motions(z[: system.n]).T
    basis = np.zeros((len(rigid), z.size))
    basis[:, : 3 * system.n] = rigid
    basis = basis[:, used]
    _, sizes, turn = np.linalg.svd(J @ basis.T)
    sizes = np.append(sizes, np.zeros(len(basis) - len(sizes)))
    allowed = turn[sizes <= LOST] @ basis
    inner = null - (null @ allowed.T) @ allowed
    _, sizes, kept = np.linalg.svd(inner, full_matrices=False)
    return kept[: len(null) - len(allowed)], len(allowed)


def _forms(
    system: ConstraintSystem, z: Floats, motions: Floats, cokernel: Floats
) -> Floats:
    """Independent forms; exact, since no residual is of more than third degree."""
    d, s = len(motions), len(cokernel)
    if d * s == 0:
        return np.zeros((0, d, d))
    all_forms = np.zeros((s, d, d))
    here = linearise(system, z).c

    def second(v: Floats) -> Floats:
        ahead, behind = linearise(system, z + v).c, linearise(system, z - v).c
        return cokernel @ ((ahead + behind - 2.0 * here) / system.scale)

    own = [second(v) for v in motions]
    for i in range(d):
        all_forms[:, i, i] = own[i]
        for j in range(i):
            mixed = 0.5 * (second(motions[i] + motions[j]) - own[i] - own[j])
            all_forms[:, i, j] = all_forms[:, j, i] = mixed
    _, sizes, kept = np.linalg.svd(all_forms.reshape(s, d * d), full_matrices=False)
    independent: Floats = kept[sizes > LOST].reshape(-1, d, d)
    return independent
