"""Rigid masses as a constant matrix between their nodes.

A point X of a rigid body is an affine combination of its nodes, r = sum_a N_a(X) r_a,
with the same numbers N_a in every pose. So its kinetic energy is that of the nodes with
a constant matrix,

    T = 1/2 sum_ab M_ab v_a . v_b,      M_ab = int N_a N_b dm,

the natural coordinates of Garcia de Jalon and Bayo (Kinematic and Dynamic Simulation of
Multibody Systems, 1994, sect. 4.2), for which [dJ23] (Discussion) asks at least four
nodes with masses in a body. With the nodes as columns (1, r_a) of A and the moments of
the body G = int (1, x)(1, x)^T dm,

    N = A^+ (1, X),     M = A^+ G A^+T,

which has the total mass, the centre and the inertia of the body exactly. Nodes in line
carry a slender rod, nodes in a plane a lamina: what A cannot carry is refused.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.sparse import coo_array, csr_array

from sim.core.arrays import Floats
from sim.core.options import is_positive, refuse_missing

CARRIED = 1e-9  # of the moments, up to which they count as carried by the nodes


@dataclass(frozen=True, eq=False)
class RigidMass:
    """The mass of nodes that move as one.

    Attributes
    ----------
    nodes : one is a point mass, two a rod, three a triangle, four a tetrahedron
    mass : of the whole
    centre : (3,) in the initial configuration; None for a uniform rod, triangle or
        tetrahedron, or a point
    inertia : (3, 3) about the centre, mass x length^2, int (x.x I - x x^T) dm; None as
        for the centre
    """

    nodes: tuple[int, ...]
    mass: float
    centre: Floats | None = None
    inertia: Floats | None = None

    @property
    def name(self) -> str:
        """What a person calls it."""
        return f"the mass of nodes {', '.join(map(str, self.nodes))}"

    def between_nodes(self, r0: Floats) -> Floats:
        """(p, p) M between its nodes, which stand in `r0` (n, 3) at first."""
        self._check(len(r0))
        own = r0[list(self.nodes)]
        origin = own.mean(axis=0)
        A = np.vstack([np.ones(len(own)), (own - origin).T])
        size = float(np.abs(A[1:]).max(initial=0.0)) or 1.0
        A[1:] /= size
        G = self._moments(A, origin, size)
        onto = np.linalg.pinv(A, rcond=1e-9)
        M: Floats = onto @ G @ onto.T
        if np.abs(A @ M @ A.T - G).max() > CARRIED * np.abs(G).max():
            raise ValueError(
                f"{self.name} has its centre or inertia outside the line or plane of "
                "its nodes: name a node of the body that lies off it"
            )
        return M

    def _check(self, n: int) -> None:
        if not self.nodes or len(set(self.nodes)) < len(self.nodes):
            raise ValueError(f"a mass has the nodes {list(self.nodes)}: name each once")
        named = f"{self.name} refers to node {{}}, which does not exist"
        refuse_missing(named, self.nodes, n)
        if not is_positive(self.mass):
            raise ValueError(f"{self.name} is {self.mass}: it must be positive")
        if (self.inertia is None) != (self.centre is None) and len(self.nodes) > 1:
            raise ValueError(f"{self.name}: give centre and inertia, or neither")

    def _moments(self, A: Floats, origin: Floats, size: float) -> Floats:
        """(4, 4) moments about the mean of the nodes, lengths over `size`."""
        if self.centre is None:
            return self._uniform(A)
        c = np.append(1.0, (np.asarray(self.centre) - origin) / size)
        G: Floats = self.mass * np.outer(c, c)
        if self.inertia is not None:
            G[1:, 1:] += self._second_moment() / size**2
        return G

    def _second_moment(self) -> Floats:
        """(3, 3) int x x^T dm about the centre, from the inertia."""
        J = np.asarray(self.inertia, dtype=np.float64)
        if J.shape != (3, 3) or not np.allclose(J, J.T, rtol=1e-9, atol=0.0):
            raise ValueError(f"{self.name}: inertia must be a symmetric 3 x 3 matrix")
        P: Floats = 0.5 * np.trace(J) * np.eye(3) - J
        least = np.linalg.eigvalsh(P)[0]
        if not least >= -1e-9 * np.abs(J).max():
            raise ValueError(
                f"{self.name}: inertia is impossible, one of its principal moments "
                f"{np.linalg.eigvalsh(J).round(9).tolist()} exceeds the sum of the "
                "others: correct it"
            )
        return P

    def _uniform(self, A: Floats) -> Floats:
        """Of a rod, triangle or tetrahedron: int N_a N_b dm = m (1 + d_ab)/(p (p + 1)).

        From Stroud, Approximate Calculation of Multiple Integrals (1971), sect. 1.5.
        """
        p = len(self.nodes)
        if p > 4 or np.linalg.matrix_rank(A, tol=1e-9) < p:
            raise ValueError(
                f"{self.name} is not a rod, triangle or tetrahedron: give centre and "
                "inertia"
            )
        uniform: Floats = self.mass * (1.0 + np.eye(p)) / (p * (p + 1))
        return A @ uniform @ A.T


def mass_matrix(r0: Floats, masses: Sequence[RigidMass]) -> csr_array:
    """(n, n) M of all masses; each coordinate of the nodes has this matrix."""
    rows, cols, values = [np.empty(0, np.int64)], [np.empty(0, np.int64)], [np.empty(0)]
    for mass in masses:
        nodes = np.array(mass.nodes)
        M = mass.between_nodes(r0)
        rows.append(np.repeat(nodes, len(nodes)))
        cols.append(np.tile(nodes, len(nodes)))
        values.append(M.ravel())
    places = np.concatenate(rows), np.concatenate(cols)
    shape = (len(r0), len(r0))
    return coo_array((np.concatenate(values), places), shape=shape).tocsr()
