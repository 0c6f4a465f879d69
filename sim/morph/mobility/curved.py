"""Steps where curvature along the constraints is negative: its size is used.

With Z an orthonormal basis of the null space of J and H the curvature of f + y.c,

    dz = -Z V (|Lambda| + sigma I)^-1 V^T Z^T grad f,    Z^T H Z = V Lambda V^T,

goes down along directions in which f bends downwards, too, where a shift that makes H
positive has to be as large as the most negative curvature and every step as short
(modified Newton: Gill, Murray and Wright, Practical Optimization, 1981, sect. 4.4; in
saddle-free form Dauphin et al., NeurIPS 2014). sigma >= 0 keeps the step within a trust
region (Nocedal and Wright, ch. 4), which grows after a full step and shrinks after a
short one. Near a minimum the step is Newton's. Further steps with the same basis bring
the end of a long one back to the floor of a valley that bends (as Shamanskii, Ukr. Mat.
Zh. 19, 1967, keeps a factor).

The basis is dense: this is for structures that are small.
"""

from dataclasses import dataclass

import numpy as np

from sim.arrays import Floats
from sim.kernels import kernel
from sim.morph.equations.system import ConstraintSystem
from sim.morph.mobility.tangent import dense_jacobian, null_space

LEAST = 1e-8  # curvature, of that of the stiffest part, that counts as none
DENSE = 400  # unknowns up to which a step may be dense


@dataclass(frozen=True, eq=False)
class CurvedModel:
    """Curvature along the constraints by its eigenvectors.

    Attributes
    ----------
    basis : (f, 3n + 3k) orthonormal motions, Z V
    size : (f,) |Lambda|
    """

    basis: Floats
    size: Floats

    def step(self, gradient: Floats, longest: float) -> Floats:
        """(n + k, 3) no longer than `longest`.

        Parameters
        ----------
        gradient : (n + k, 3) of f along the constraints
        """
        slope = self.basis @ gradient.ravel()
        shift = _shift(self.size, slope, longest)
        step: Floats = -(slope / (self.size + shift)) @ self.basis
        return step.reshape(gradient.shape)


def curved_model(
    system: ConstraintSystem, z: Floats, H: Floats, stiffness: float = 1.0
) -> CurvedModel:
    """Curvature at a state z (n + k, 3) on the constraints.

    Parameters
    ----------
    H : (3n + 3k, 3n + 3k) of f and y.c
    stiffness : the largest, in units of H
    """
    J, used = dense_jacobian(system, z)
    Z = null_space(J)
    values, V = np.linalg.eigh(Z @ H[np.ix_(used, used)] @ Z.T)
    basis = np.zeros((len(values), z.size))
    basis[:, used] = V.T @ Z
    return CurvedModel(basis, np.maximum(np.abs(values), LEAST * stiffness))


@kernel
def _shift(size: Floats, slope: Floats, longest: float) -> float:
    """sigma, with which slope / (size + sigma) is as long as `longest`, or shorter."""
    if _length(size, slope, 0.0) <= longest:
        return 0.0
    low = 0.0
    high: float = np.sqrt(np.sum(slope * slope)) / longest
    for _ in range(40):
        middle = 0.5 * (low + high)
        if _length(size, slope, middle) > longest:
            low = middle
        else:
            high = middle
    return high


@kernel
def _length(size: Floats, slope: Floats, shift: float) -> float:
    """|slope / (size + shift)|."""
    square = 0.0
    for i in range(len(size)):
        square += (slope[i] / (size[i] + shift)) ** 2
    length: float = np.sqrt(square)
    return length
