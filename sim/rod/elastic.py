"""Stretching and bending: energy, gradient and stiffness of a rod network.

    stretching   U = 1/2 EA eps^2 l0              eps = l / l0 - 1
    bending      U = 1/2 EI (kappa - kbar)^2 dl   kappa = 2 tan(phi / 2) / dl

of [Hu20], Numerical simulation. The paper prints the first without the length l0;
with it, U is an energy and a finer mesh has the same stiffness. tan(phi / 2) is taken
as (e x f) / (|e||f| + e.f), which is smooth up to 180 degrees.

Damping. With `damping: strain_rate` an element of stiffness k and strain eps resists
its own rate, F = -beta k (eps1 - eps0) / h grad eps, with the gradient at the end of
the step. Then the gradient and stiffness of a step,

    g = gamma grad U + beta / h k (eps1 - eps0) grad eps,

have the same form as those of U itself, the stiffness is symmetric, and a motion
without strain meets no force. The paper's -beta K v (`damping: rayleigh`) is neutral
only for an unloaded rod: K(q) J q = J grad U(q) for a rotation J.
"""

from typing import NamedTuple

import numpy as np

from sim.arrays import Floats, Ints
from sim.rod.compiled import kernel
from sim.rod.rod import Rod


class Elements(NamedTuple):
    """What the compiled loops read of a rod; names as in `Rod`."""

    mass: Floats
    edge: Ints
    rest: Floats
    stretching: Floats
    edge_limb: Ints
    bend: Ints
    voronoi: Floats
    bending: Floats
    curvature: Floats
    bend_limb: Ints


class Rates(NamedTuple):
    """Weights of a step: see the module's text.

    elastic : gamma
    viscous : beta / h, 0 with Rayleigh damping
    """

    elastic: float
    viscous: float


class Actuated(NamedTuple):
    """E / E0 and kbar / kbar0 of each limb, a 1 for all passive parts at the end."""

    modulus: Floats
    curvature: Floats


class Strains(NamedTuple):
    """Strain of the edges and turning 2 tan(phi/2) of the bends."""

    stretch: Floats
    turn: Floats


def elements(rod: Rod) -> Elements:
    """The arrays of `rod`, passive parts sent to the last entry of `Actuated`."""
    limbs = rod.limbs + 1
    return Elements(
        mass=rod.mass,
        edge=np.ascontiguousarray(rod.edges, dtype=np.int64),
        rest=rod.rest_length,
        stretching=rod.stretching,
        edge_limb=np.where(rod.edge_limb < 0, limbs, rod.edge_limb).astype(np.int64),
        bend=np.ascontiguousarray(rod.bends, dtype=np.int64),
        voronoi=rod.voronoi,
        bending=rod.bending,
        curvature=rod.curvature,
        bend_limb=np.where(rod.bend_limb < 0, limbs, rod.bend_limb).astype(np.int64),
    )


def passive(rod: Rod) -> Actuated:
    """No limb actuated."""
    ones = np.ones(rod.limbs + 2)
    return Actuated(ones, ones.copy())


def unstrained(rod: Rod) -> Strains:
    """Arrays for the strains of `rod`."""
    return Strains(np.zeros(len(rod.edges)), np.zeros(len(rod.bends)))


@kernel
def bend_geometry(
    ex: float, ey: float, fx: float, fy: float
) -> tuple[float, float, float, float, float]:
    """T = tan(phi/2) between the edges e and f, and its parts of the slope.

    phi = ang f - ang e, with d ang(e) / de = a = (-ey, ex) / |e|^2. Returns T, a, b,
    where b is the same for f.
    """
    ee = ex * ex + ey * ey
    ff = fx * fx + fy * fy
    tan = (ex * fy - ey * fx) / (np.sqrt(ee * ff) + ex * fx + ey * fy)
    u = 1.0 / ee
    w = 1.0 / ff
    return tan, -ey * u, ex * u, -fy * w, fx * w


@kernel
def energies(
    x: Floats, element: Elements, actuated: Actuated
) -> tuple[float, float]:
    """Stretching and bending energy of the nodes at x (n, 2), J."""
    stretch = 0.0
    for k in range(len(element.rest)):
        i, j = element.edge[k]
        ex, ey = x[j, 0] - x[i, 0], x[j, 1] - x[i, 1]
        eps = np.sqrt(ex * ex + ey * ey) / element.rest[k] - 1.0
        EA = element.stretching[k] * actuated.modulus[element.edge_limb[k]]
        stretch += 0.5 * EA * eps * eps * element.rest[k]
    bend = 0.0
    for k in range(len(element.voronoi)):
        i, j, l = element.bend[k]  # noqa: E741
        ex, ey = x[j, 0] - x[i, 0], x[j, 1] - x[i, 1]
        fx, fy = x[l, 0] - x[j, 0], x[l, 1] - x[j, 1]
        tan = bend_geometry(ex, ey, fx, fy)[0]
        limb = element.bend_limb[k]
        kbar = element.curvature[k] * actuated.curvature[limb]
        EI = element.bending[k] * actuated.modulus[limb]
        kappa = 2.0 * tan / element.voronoi[k]
        bend += 0.5 * EI * (kappa - kbar) ** 2 * element.voronoi[k]
    return stretch, bend


@kernel
def gradients(
    x: Floats,
    element: Elements,
    actuated: Actuated,
    viscous: float,
    before: Strains,
    strain: Strains,
    elastic_gradient: Floats,
    viscous_gradient: Floats,
) -> None:
    """grad U (n, 2) and viscous * k (eps - eps_before) grad eps (n, 2), both in N.

    `strain` receives the strains at x.
    """
    elastic_gradient[:] = 0.0
    viscous_gradient[:] = 0.0
    for k in range(len(element.rest)):
        i, j = element.edge[k, 0], element.edge[k, 1]
        ex, ey = x[j, 0] - x[i, 0], x[j, 1] - x[i, 1]
        length = np.sqrt(ex * ex + ey * ey)
        eps = length / element.rest[k] - 1.0
        strain.stretch[k] = eps
        EA = element.stretching[k] * actuated.modulus[element.edge_limb[k]]
        c = EA * eps / length
        d = viscous * EA * (eps - before.stretch[k]) / length
        elastic_gradient[i, 0] -= c * ex
        elastic_gradient[i, 1] -= c * ey
        elastic_gradient[j, 0] += c * ex
        elastic_gradient[j, 1] += c * ey
        viscous_gradient[i, 0] -= d * ex
        viscous_gradient[i, 1] -= d * ey
        viscous_gradient[j, 0] += d * ex
        viscous_gradient[j, 1] += d * ey
    for k in range(len(element.voronoi)):
        i, j, l = element.bend[k, 0], element.bend[k, 1], element.bend[k, 2]  # noqa: E741
        ex, ey = x[j, 0] - x[i, 0], x[j, 1] - x[i, 1]
        fx, fy = x[l, 0] - x[j, 0], x[l, 1] - x[j, 1]
        tan, ax, ay, bx, by = bend_geometry(ex, ey, fx, fy)
        limb = element.bend_limb[k]
        s = element.bending[k] * actuated.modulus[limb] / element.voronoi[k]
        rest = element.curvature[k] * actuated.curvature[limb] * element.voronoi[k]
        turn = 2.0 * tan
        strain.turn[k] = turn
        slope = 1.0 + tan * tan  # d turn / d phi
        c = s * (turn - rest) * slope
        d = viscous * s * (turn - before.turn[k]) * slope
        elastic_gradient[i, 0] += c * ax
        elastic_gradient[i, 1] += c * ay
        elastic_gradient[j, 0] -= c * (ax + bx)
        elastic_gradient[j, 1] -= c * (ay + by)
        elastic_gradient[l, 0] += c * bx
        elastic_gradient[l, 1] += c * by
        viscous_gradient[i, 0] += d * ax
        viscous_gradient[i, 1] += d * ay
        viscous_gradient[j, 0] -= d * (ax + bx)
        viscous_gradient[j, 1] -= d * (ay + by)
        viscous_gradient[l, 0] += d * bx
        viscous_gradient[l, 1] += d * by


@kernel
def stretch_stiffness(
    ex: float, ey: float, rest: float, EA: float, weight: Rates, eps_before: float
) -> tuple[float, float, float]:
    """d2/de2 of a stretched edge e: the entries xx, xy, yy of a symmetric matrix.

    With e^ = e / |e| and the force c = gamma EA eps + beta/h EA (eps - eps_before):
    (gamma + beta/h) EA / l0 e^ e^T + c / |e| (1 - e^ e^T).
    """
    length = np.sqrt(ex * ex + ey * ey)
    eps = length / rest - 1.0
    force = EA * (weight.elastic * eps + weight.viscous * (eps - eps_before))
    along = (weight.elastic + weight.viscous) * EA / rest
    cx, cy = ex / length, ey / length
    across = force / length
    difference = along - across
    return (
        across + difference * cx * cx,
        difference * cx * cy,
        across + difference * cy * cy,
    )


@kernel
def bend_stiffness(
    tan: float, s: float, rest: float, weight: Rates, turn_before: float
) -> tuple[float, float]:
    """First and second derivative in phi of a bend, weighted for a step.

    With the turning g = 2 T and s = EI / dl:  U = 1/2 s (g - g0)^2,
    U' = s (g - g0) (1 + T^2),  U'' = s [(1 + T^2)^2 + (g - g0) T (1 + T^2)].
    """
    slope = 1.0 + tan * tan
    turn = 2.0 * tan
    moment = s * (weight.elastic * (turn - rest) + weight.viscous * (turn - turn_before))
    tangent = (weight.elastic + weight.viscous) * s
    return moment * slope, tangent * slope * slope + moment * tan * slope
