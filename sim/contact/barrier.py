"""Contact potential: eqs. (3.4) to (3.6) of [ZF19]; edges' mollifier."""

import math

from sim.kernels import kernel

SERIES_BELOW = 0.05  # phi; there the closed forms lose digits to cancellation


@kernel
def barrier(d: float, d0: float, ke: float) -> tuple[float, float, float]:
    """Contact potential Pi of eq. (3.4) and its first two derivatives in d.

    With phi = pi/2 - pi d / (2 d0), for 0 < d < d0:

        Pi   = ke (ln sec phi - phi^2 / 2)
        Pi'  = ke (pi / 2 d0) (phi - tan phi)           # coefficient of eq. (3.5)
        Pi'' = ke (pi / 2 d0)^2 (sec^2 phi - 1)         # coefficient of eq. (3.6)

    All three are zero for d >= d0, and grow without bound as d -> 0.

    Parameters
    ----------
    d : distance, m, positive
    d0 : activation distance, at which contact begins, m
    ke : scale of the potential, J
    """
    if d >= d0:
        return 0.0, 0.0, 0.0
    c = math.pi / (2.0 * d0)
    phi = c * (d0 - d)
    tangent = math.cos(c * d) / math.sin(c * d)
    if phi < SERIES_BELOW:
        q = phi * phi
        energy = q * q * (1 / 12 + q * (1 / 45 + q * (17 / 2520 + q * 31 / 14175)))
        slope = phi * q * (1 / 3 + q * (2 / 15 + q * (17 / 315 + q * 62 / 2835)))
    else:
        energy = -math.log(math.sin(c * d)) - 0.5 * phi * phi
        slope = tangent - phi
    return ke * energy, -ke * c * slope, ke * c * c * tangent * tangent


@kernel
def mollifier(c: float, scale: float) -> tuple[float, float, float]:
    """Factor m on the potential of two edges, and its first two derivatives in c.

    c is the square of the edges' cross product, |u x v|^2. The distance of parallel
    edges has a kink; with m = q (2 - q), q = c / scale < 1, the potential is smooth
    across it (Li et al., Incremental potential contact, ACM TOG 39, 2020). Points
    against triangles keep parallel edges apart there.
    """
    if c >= scale:
        return 1.0, 0.0, 0.0
    q = c / scale
    return q * (2.0 - q), (2.0 - 2.0 * q) / scale, -2.0 / (scale * scale)
