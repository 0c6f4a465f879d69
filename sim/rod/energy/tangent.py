"""How the forces of the elements change with the nodes and with parameters.

Each element of `sim.rod.energy.elastic` differentiated by hand, for P directions at
once: a direction moves the nodes at both ends of a step, and changes the modulus, the
natural curvature and the damping. With c = k (eps - rest) and the slope g of eps,

    d(c g) = dc g + c dg
    d(beta/h k (eps1 - eps0) (g0 + g1) / 2) likewise, factor by factor.
"""

from typing import NamedTuple

from sim.arrays import Floats
from sim.rod.compiled import inner, kernel
from sim.rod.energy.blocks import BlockMatrix, BlockPattern, backward, forward
from sim.rod.energy.elastic import (
    Actuated,
    Elements,
    add_pair,
    add_triple,
    bend_geometry,
    bend_law,
    edge_between,
    edge_law,
)

BendTangent = tuple[
    float, float, float, float, float, float, float, float, float, float
]


class Directions(NamedTuple):
    """What changes beside the nodes, by direction.

    Attributes
    ----------
    relative_modulus : (P,) dE / E
    modulus, curvature : (P, limbs + 1) change of `Actuated`
    viscous : (P,) d(beta / h)
    """

    relative_modulus: Floats
    modulus: Floats
    curvature: Floats
    viscous: Floats


@kernel
def gradient_tangents(
    x0: Floats,
    x1: Floats,
    dx0: Floats,
    dx1: Floats,
    element: Elements,
    actuated: Actuated,
    viscous: float,
    change: Directions,
    elastic_tangent: Floats,
    viscous_tangent: Floats,
) -> None:
    """Tangents (P, n, 2) of both gradients of `elastic.gradients`, of a step x0 to x1.

    Parameters
    ----------
    dx0, dx1 : (P, n, 2) m
    viscous : beta / h
    """
    for p in range(len(dx1)):
        elastic, damping = elastic_tangent[p], viscous_tangent[p]
        elastic[:] = 0.0
        damping[:] = 0.0
        _edges(
            x0, x1, dx0[p], dx1[p], element, actuated, viscous, change, p,
            elastic, damping,
        )  # fmt: skip
        _bends(
            x0, x1, dx0[p], dx1[p], element, actuated, viscous, change, p,
            elastic, damping,
        )  # fmt: skip


@inner
def _edge_tangent(
    x: Floats, dx: Floats, i: int, j: int
) -> tuple[float, float, float, float, float, float]:
    """Length and direction of an edge, and their changes."""
    ex, ey = edge_between(x, i, j)
    dex, dey = edge_between(dx, i, j)
    length = (ex * ex + ey * ey) ** 0.5
    ex, ey = ex / length, ey / length
    dl = ex * dex + ey * dey
    return length, ex, ey, dl, (dex - ex * dl) / length, (dey - ey * dl) / length


@inner
def _edges(
    x0: Floats,
    x1: Floats,
    dx0: Floats,
    dx1: Floats,
    element: Elements,
    actuated: Actuated,
    viscous: float,
    change: Directions,
    p: int,
    elastic: Floats,
    damping: Floats,
) -> None:
    for k in range(len(element.rest)):
        i, j = element.edge[k, 0], element.edge[k, 1]
        rest, limb = element.rest[k], element.edge_limb[k]
        l0, ax, ay, dl0, dax, day = _edge_tangent(x0, dx0, i, j)
        l1, bx, by, dl1, dbx, dby = _edge_tangent(x1, dx1, i, j)
        EA = edge_law(element, actuated, k)
        dEA = (
            EA * change.relative_modulus[p]
            + element.stretching[k] * change.modulus[p, limb]
        )
        eps, deps = l1 / rest - 1.0, dl1 / rest
        c, dc = EA * eps, dEA * eps + EA * deps
        fx, fy = dc * bx + c * dbx, dc * by + c * dby
        rise, drise = (l1 - l0) / rest, (dl1 - dl0) / rest
        d = 0.5 * viscous * EA * rise
        dd = 0.5 * (
            (change.viscous[p] * EA + viscous * dEA) * rise + viscous * EA * drise
        )
        wx = dd * (ax + bx) + d * (dax + dbx)
        wy = dd * (ay + by) + d * (day + dby)
        add_pair(elastic, i, j, fx, fy)
        add_pair(damping, i, j, wx, wy)


@inner
def _bend_tangent(
    x: Floats, dx: Floats, i: int, j: int, k: int, fold: float
) -> BendTangent:
    """Turning 2 T and its change; its slopes at i and k, and their changes."""
    ex, ey = edge_between(x, i, j)
    fx, fy = edge_between(x, j, k)
    dex, dey = edge_between(dx, i, j)
    dfx, dfy = edge_between(dx, j, k)
    tan, ax, ay, bx, by = bend_geometry(ex, ey, fx, fy, fold)
    dphi = bx * dfx + by * dfy - ax * dex - ay * dey
    slope = 1.0 + tan * tan
    dslope = slope * tan * dphi
    u, w = ax * ax + ay * ay, bx * bx + by * by  # 1 / |e|^2, 1 / |f|^2
    ue = 2.0 * u * (ex * dex + ey * dey)
    wf = 2.0 * w * (fx * dfx + fy * dfy)
    dax, day = -dey * u - ax * ue, dex * u - ay * ue
    dbx, dby = -dfy * w - bx * wf, dfx * w - by * wf
    return (
        2.0 * tan,
        slope * dphi,
        slope * ax,
        slope * ay,
        slope * bx,
        slope * by,
        dslope * ax + slope * dax,
        dslope * ay + slope * day,
        dslope * bx + slope * dbx,
        dslope * by + slope * dby,
    )


@inner
def _law_tangent(
    element: Elements, actuated: Actuated, change: Directions, q: int, b: int
) -> tuple[float, float]:
    """How actuation changes the stiffness of a bend, and its turning at rest."""
    modulus, curvature = change.modulus[q], change.curvature[q]
    limb, dl = element.bend_limb[b], element.voronoi[b]
    p = limb - len(actuated.modulus) + len(element.joint_half)
    if p < 0:
        ds = element.bending[b] * modulus[limb] / dl
        return ds, element.curvature[b] * curvature[limb] * dl
    half, of, turn = element.joint_half[p], element.joint_limb[p], element.joint_turn[p]
    total, dtotal = 0.0, 0.0
    for m in range(len(half)):
        total += half[m] * actuated.modulus[of[m]]
        dtotal += half[m] * modulus[of[m]]
    ki, kj = half[0] * actuated.modulus[of[0]], half[1] * actuated.modulus[of[1]]
    dki, dkj = half[0] * modulus[of[0]], half[1] * modulus[of[1]]
    ds = (dki * kj + ki * dkj - ki * kj * dtotal / total) / total
    return ds, turn[0] * curvature[of[0]] + turn[1] * curvature[of[1]]


@inner
def _bends(
    x0: Floats,
    x1: Floats,
    dx0: Floats,
    dx1: Floats,
    element: Elements,
    actuated: Actuated,
    viscous: float,
    change: Directions,
    q: int,
    elastic: Floats,
    damping: Floats,
) -> None:
    for b in range(len(element.voronoi)):
        i, j, k = element.bend[b, 0], element.bend[b, 1], element.bend[b, 2]
        fold = element.fold[b]
        t0, dt0, ax0, ay0, bx0, by0, dax0, day0, dbx0, dby0 = _bend_tangent(
            x0, dx0, i, j, k, fold
        )
        t1, dt1, ax, ay, bx, by, dax, day, dbx, dby = _bend_tangent(
            x1, dx1, i, j, k, fold
        )
        s, rest = bend_law(element, actuated, b)
        ds, drest = _law_tangent(element, actuated, change, q, b)
        ds += s * change.relative_modulus[q]
        c, dc = s * (t1 - rest), ds * (t1 - rest) + s * (dt1 - drest)
        add_triple(
            elastic, i, j, k,
            dc * ax + c * dax, dc * ay + c * day, dc * bx + c * dbx, dc * by + c * dby,
        )  # fmt: skip
        rise, drise = t1 - t0, dt1 - dt0
        d = 0.5 * viscous * s * rise
        dd = 0.5 * ((change.viscous[q] * s + viscous * ds) * rise + viscous * s * drise)
        add_triple(
            damping, i, j, k,
            dd * (ax + ax0) + d * (dax + dax0), dd * (ay + ay0) + d * (day + day0),
            dd * (bx + bx0) + d * (dbx + dbx0), dd * (by + by0) + d * (dby + dby0),
        )  # fmt: skip


@kernel
def solve_each(
    pattern: BlockPattern, factor: BlockMatrix, space: Floats, r: Floats
) -> None:
    """r[p] <- A^-1 r[p] for each of r (P, n, 2), in the order of the nodes.

    space : (n, 2)
    """
    for p in range(len(r)):
        for i in range(len(space)):
            j = pattern.place[i]
            space[j, 0], space[j, 1] = r[p, i, 0], r[p, i, 1]
        forward(pattern, factor, space)
        backward(pattern, factor, space)
        for i in range(len(space)):
            j = pattern.place[i]
            r[p, i, 0], r[p, i, 1] = space[j, 0], space[j, 1]
