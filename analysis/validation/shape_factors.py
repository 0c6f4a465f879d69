"""The shape factor of a scan with its uncertainty: eq. (6) of [dJ23].

S needs neither labels nor alignment, only all nodes, and the characteristic length
of the simulation's initial configuration, eq. (13); a scan never supplies it.
"""

from dataclasses import dataclass

import numpy as np

from sim.arrays import Floats
from sim.morph.structure.measures import shape_factor


@dataclass(frozen=True)
class ScannedShapeFactor:
    """S of scanned nodes.

    Parameters
    ----------
    S : shape factor less its bias
    u : standard uncertainty
    bias : by how much noise in the positions raises the plain S on average
    """

    S: float
    u: float
    bias: float


def shape_factor_gradient(r: Floats, L: float) -> Floats:
    """dS/dr = (r_j - rbar) / (n S L^2), (n, 3), in the inverse unit of `r`."""
    S = shape_factor(r, L)
    if S == 0:
        raise ValueError(
            "all nodes coincide, so the shape factor is 0 and has no gradient: check "
            "the node positions"
        )
    gradient: Floats = (r - r.mean(axis=0)) / (len(r) * S * L**2)
    return gradient


def scanned_shape_factor(r: Floats, L: float, C: Floats) -> ScannedShapeFactor:
    """S with the uncertainty and the bias that errors of covariance `C` give it.

    With g the gradient and H = (I - 1 1^T / n) x I_3:

        var S  = g^T C g
        bias   = tr(H C) / (2 n S L^2) - var S / (2 S)

    Parameters
    ----------
    r : (n, 3) scanned nodes, mm
    L : characteristic length of the same nodes in the simulation, mm
    C : (3n, 3n) covariance of all nodes together, mm^2
    """
    n = len(r)
    g = shape_factor_gradient(r, L).ravel()
    variance = float(g @ C @ g)
    plain = shape_factor(r, L)
    blocks = C.reshape(n, 3, n, 3)
    trace = float(np.trace(C)) - float(np.einsum("iaja->", blocks)) / n
    bias = trace / (2 * n * plain * L**2) - variance / (2 * plain)
    return ScannedShapeFactor(plain - bias, float(np.sqrt(variance)), bias)


def scale_covariance(r: Floats, relative_sd: float) -> Floats:
    """Covariance (3n, 3n) of an unknown common scale, which moves all nodes together.

    It adds S * relative_sd to the uncertainty of S.
    """
    away = (r - r.mean(axis=0)).ravel()
    covariance: Floats = relative_sd**2 * np.outer(away, away)
    return covariance
