"""Stretching and bending: energy, gradient and stiffness of a rod network.

    stretching   U = 1/2 EA eps^2 l0          eps = l / l0 - 1
    bending      U = 1/2 EI (k - kbar)^2 dl   k = 2 tan(phi / 2) / dl

of [Hu20], Numerical simulation. The paper prints the first without the length l0;
with it, U is an energy and a finer mesh has the same stiffness. tan(phi / 2) is taken
as (e x f) / (|e||f| + e.f), which is smooth up to 180 degrees.

Damping. An element of stiffness k and strain eps resists its own rate. In a step of
length h

    F = -beta k (eps1 - eps0) / h (grad eps0 + grad eps1) / 2,

which is of second order, does work -beta k (eps1 - eps0)^2 / h up to O(h^3), and is
zero in a motion without strain. Gradient and stiffness of a step,

    g = gamma grad U + beta / h k (eps1 - eps0) (grad eps0 + grad eps1) / 2
    K = gamma U'' + beta / h k (grad eps1 grad eps1^T + (eps1 - eps0) / 2 eps1'')

are then assembled together. In K one factor grad eps1 stands for the mean gradient:
so it is symmetric, and exact where no element turns. The paper's -beta K v
(option `rayleigh`) is neutral to rotation only for an unloaded rod: for a rotation J it
is K(q) J q = J grad U(q).

The matrix of a step is put together from the elements in 2 x 2 blocks.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sim.core.arrays import Bools, Floats, Ints
from sim.core.numba_kernels import kernel, pointed
from sim.rods.plane.block_factorisation import BlockMatrix, BlockPattern
from sim.rods.plane.rod import Rod


class Elements(NamedTuple):
    """What the compiled loops read of a rod; names as in `Rod`.

    The bends of joints have entries of their own in `Actuated`, which `join` fills.

    curvature : of the bends of joints 1 / dl
    fold : (b,) that of the joints, else 1
    joint_half, joint_limb, joint_turn : of the joints
    joint_kink : (p,) turning at rest without that of the half edges
    """

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
    fold: Floats
    joint_half: Floats
    joint_limb: Ints
    joint_turn: Floats
    joint_kink: Floats


class Rates(NamedTuple):
    """Weights of a step: see the module's text.

    elastic : gamma
    viscous : beta / h, 0 with Rayleigh damping
    middle : whether edges act along their middle in a step, with predicted strains
    """

    elastic: float
    viscous: float
    middle: bool = False


class Actuated(NamedTuple):
    """E / E0 and kbar / kbar0 of each limb, then a 1 for all passive parts.

    Last, for each bend of the joints, its stiffness over that without actuation, and
    its turning at rest.
    """

    modulus: Floats
    curvature: Floats


class Strains(NamedTuple):
    """Strains of the elements, and how they change with the nodes.

    Attributes
    ----------
    stretch, turn : (m,), (b,) eps of the edges, 2 tan(phi/2) of the bends
    edge_slope : (m, 2) d l / d x_j of edge (i, j)
    bend_slope : (b, 4) d turn / d x_i and d turn / d x_k of bend (i, j, k)
    """

    stretch: Floats
    turn: Floats
    edge_slope: Floats
    bend_slope: Floats


def elements(rod: Rod) -> Elements:
    """The arrays of `rod`, passive parts sent to the last entry of `Actuated`."""
    joints, plain = rod.joints, len(rod.bends) - len(rod.joints.fold)
    fold, limb = np.ones(len(rod.bends)), _or_last(rod, rod.bend_limb)
    fold[plain:] = joints.fold
    limb[plain:] = rod.last_limb + 2 + np.arange(len(joints.fold))
    curvature = rod.curvature.copy()
    curvature[plain:] = 1.0 / rod.voronoi[plain:]
    rest = (rod.curvature * rod.voronoi)[plain:]
    return Elements(
        mass=rod.mass,
        edge=np.ascontiguousarray(rod.edges, dtype=np.int64),
        rest=rod.rest_length,
        stretching=rod.stretching,
        edge_limb=_or_last(rod, rod.edge_limb),
        bend=np.ascontiguousarray(rod.bends, dtype=np.int64),
        voronoi=rod.voronoi,
        bending=rod.bending.copy(),
        curvature=curvature,
        bend_limb=limb,
        fold=fold,
        joint_half=joints.half,
        joint_limb=_or_last(rod, joints.limb),
        joint_turn=joints.turn,
        joint_kink=rest - joints.turn.sum(axis=1),
    )


def _or_last(rod: Rod, limb: Ints) -> Ints:
    return np.where(limb < 0, rod.last_limb + 1, limb).astype(np.int64)


def passive(rod: Rod) -> Actuated:
    """No limb actuated."""
    actuated = room_for_limbs(rod)
    join(pointed(elements(rod)), pointed(actuated))
    return actuated


def room_for_limbs(rod: Rod) -> Actuated:
    """Arrays for what limbs do, which `join` completes."""
    ones = np.ones(rod.last_limb + 2 + len(rod.joints.fold))
    return Actuated(ones, ones.copy())


def unstrained(rod: Rod) -> Strains:
    """Arrays for the strains of `rod`."""
    m, b = len(rod.edges), len(rod.bends)
    return Strains(np.zeros(m), np.zeros(b), np.zeros((m, 2)), np.zeros((b, 4)))


@kernel
def edge_between(x: Floats, i: int, j: int) -> tuple[float, float]:
    """The edge from node i to node j of x (n, 2)."""
    return x[j, 0] - x[i, 0], x[j, 1] - x[i, 1]


@kernel
def edge_law(element: Elements, actuated: Actuated, k: int) -> float:
    """EA of edge k as it is actuated, N."""
    return float(element.stretching[k] * actuated.modulus[element.edge_limb[k]])


@kernel
def bend_law(element: Elements, actuated: Actuated, b: int) -> tuple[float, float]:
    """EI / dl of bend b as it is actuated, N m, and its turning at rest, kbar dl."""
    limb = element.bend_limb[b]
    s = element.bending[b] * actuated.modulus[limb] / element.voronoi[b]
    rest = element.curvature[b] * actuated.curvature[limb] * element.voronoi[b]
    return s, rest


@kernel
def join(element: Elements, actuated: Actuated) -> None:
    """Stiffness k_i k_j / sum k and turning at rest of the bends of the joints."""
    joints = len(element.joint_half)
    first, plain = len(actuated.modulus) - joints, len(element.voronoi) - joints
    for p in range(joints):
        limb, half = element.joint_limb[p], element.joint_half[p]
        turn, total = element.joint_turn[p], 0.0
        for m in range(len(half)):
            total += half[m] * actuated.modulus[limb[m]]
        ki = half[0] * actuated.modulus[limb[0]]
        kj = half[1] * actuated.modulus[limb[1]]
        flexible = element.voronoi[plain + p] / element.bending[plain + p]
        actuated.modulus[first + p] = ki * kj / total * flexible
        rest = element.joint_kink[p] + turn[0] * actuated.curvature[limb[0]]
        actuated.curvature[first + p] = rest + turn[1] * actuated.curvature[limb[1]]


@kernel
def bend_geometry(
    ex: float, ey: float, fx: float, fy: float, fold: float
) -> tuple[float, float, float, float, float]:
    """T = tan(phi/2) between the edges e and f, and its parts of the slope.

    phi = ang f - ang(fold e), with d ang(e) / de = a = (-ey, ex) / |e|^2. Returns T, a,
    b, where b is the same for f.
    """
    ee = ex * ex + ey * ey
    ff = fx * fx + fy * fy
    cross, dot = fold * (ex * fy - ey * fx), fold * (ex * fx + ey * fy)
    tan = cross / (np.sqrt(ee * ff) + dot)
    u = 1.0 / ee
    w = 1.0 / ff
    return tan, -ey * u, ex * u, -fy * w, fx * w


@kernel
def add_pair(total: Floats, i: int, j: int, fx: float, fy: float) -> None:
    """An edge pulls its ends apart: f on j, -f on i."""
    total[i, 0] -= fx
    total[i, 1] -= fy
    total[j, 0] += fx
    total[j, 1] += fy


@kernel
def add_triple(
    total: Floats, i: int, j: int, k: int, px: float, py: float, qx: float, qy: float
) -> None:
    """A bend: p on i, q on k, and what balances them on j."""
    total[i, 0] += px
    total[i, 1] += py
    total[j, 0] -= px + qx
    total[j, 1] -= py + qy
    total[k, 0] += qx
    total[k, 1] += qy


@kernel
def energies(x: Floats, element: Elements, actuated: Actuated) -> tuple[float, float]:
    """Stretching and bending energy of the nodes at x (n, 2), J."""
    stretch = 0.0
    for k in range(len(element.rest)):
        i, j = element.edge[k, 0], element.edge[k, 1]
        ex, ey = edge_between(x, i, j)
        eps = np.sqrt(ex * ex + ey * ey) / element.rest[k] - 1.0
        EA = edge_law(element, actuated, k)
        stretch += 0.5 * EA * eps * eps * element.rest[k]
    bend = 0.0
    for b in range(len(element.voronoi)):
        i, j, k = element.bend[b, 0], element.bend[b, 1], element.bend[b, 2]
        ex, ey = edge_between(x, i, j)
        fx, fy = edge_between(x, j, k)
        tan = bend_geometry(ex, ey, fx, fy, element.fold[b])[0]
        s, rest = bend_law(element, actuated, b)
        bend += 0.5 * s * (2.0 * tan - rest) ** 2
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
    """grad U and viscous * k (eps - eps_before) times the mean slope, (n, 2), N.

    `strain` receives the strains at x.
    """
    elastic_gradient[:] = 0.0
    viscous_gradient[:] = 0.0
    for k in range(len(element.rest)):
        i, j = element.edge[k, 0], element.edge[k, 1]
        ex, ey = edge_between(x, i, j)
        length = np.sqrt(ex * ex + ey * ey)
        ex, ey = ex / length, ey / length
        eps = length / element.rest[k] - 1.0
        EA = edge_law(element, actuated, k)
        c = EA * eps
        d = 0.5 * viscous * EA * (eps - before.stretch[k])
        dx = d * (ex + before.edge_slope[k, 0])
        dy = d * (ey + before.edge_slope[k, 1])
        add_pair(elastic_gradient, i, j, c * ex, c * ey)
        add_pair(viscous_gradient, i, j, dx, dy)
        strain.stretch[k] = eps
        strain.edge_slope[k, 0], strain.edge_slope[k, 1] = ex, ey
    for b in range(len(element.voronoi)):
        i, j, k = element.bend[b, 0], element.bend[b, 1], element.bend[b, 2]
        ex, ey = edge_between(x, i, j)
        fx, fy = edge_between(x, j, k)
        tan, ax, ay, bx, by = bend_geometry(ex, ey, fx, fy, element.fold[b])
        slope = 1.0 + tan * tan  # d turn / d phi
        ax, ay, bx, by = slope * ax, slope * ay, slope * bx, slope * by
        s, rest = bend_law(element, actuated, b)
        turn = 2.0 * tan
        c = s * (turn - rest)
        d = 0.5 * viscous * s * (turn - before.turn[b])
        old = before.bend_slope[b]
        px, py = d * (ax + old[0]), d * (ay + old[1])
        qx, qy = d * (bx + old[2]), d * (by + old[3])
        strain.turn[b] = turn
        new = strain.bend_slope[b]
        new[0], new[1], new[2], new[3] = ax, ay, bx, by
        elastic_gradient[i, 0] += c * ax
        elastic_gradient[i, 1] += c * ay
        elastic_gradient[j, 0] -= c * (ax + bx)
        elastic_gradient[j, 1] -= c * (ay + by)
        elastic_gradient[k, 0] += c * bx
        elastic_gradient[k, 1] += c * by
        add_triple(viscous_gradient, i, j, k, px, py, qx, qy)


@kernel
def stretch_stiffness(
    ex: float, ey: float, rest: float, EA: float, weight: Rates, old: float,
    way: Floats, predicted: float,
) -> tuple[float, float, float]:  # fmt: skip
    """d2/de2 of a stretched edge e: the entries xx, xy, yy of a symmetric matrix.

    With e^ = e / |e| and c = gamma EA eps + beta/h EA (eps - eps_before) / 2:
    (gamma + beta/h) EA / l0 e^ e^T + c / |e| (1 - e^ e^T).

    Parameters
    ----------
    old, way : strain and direction (2,) before the step
    predicted : strain at its end, in the place of eps with `middle`
    """
    length = np.sqrt(ex * ex + ey * ey)
    eps = length / rest - 1.0
    change = eps - old
    if weight.middle:
        before = (1.0 + old) * rest
        ex, ey = 0.5 * (ex + before * way[0]), 0.5 * (ey + before * way[1])
        length = np.sqrt(ex * ex + ey * ey)
        eps, change = 0.5 * (predicted + old), predicted - old
    force = EA * (weight.elastic * eps + 0.5 * weight.viscous * change)
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
    change = 0.5 * weight.viscous * (turn - turn_before)
    moment = s * (weight.elastic * (turn - rest) + change)
    tangent = (weight.elastic + weight.viscous) * s
    return moment * slope, tangent * slope * slope + moment * tan * slope


HELD = 1e30  # diagonal entry of a held coordinate, far above any stiffness


@kernel
def copy_values(source: NDArray[Any], target: NDArray[Any]) -> None:
    """target <- source, of any shape; numba takes longest to compile `target[:] =`."""
    former, new = source.ravel(), target.ravel()
    for k in range(len(new)):
        new[k] = former[k]


@kernel
def set_multiple(factor: float, source: BlockMatrix, target: BlockMatrix) -> None:
    """target <- factor * source."""
    both = source.diagonal.ravel(), source.lower.ravel()
    filled = target.diagonal.ravel(), target.lower.ravel()
    for part in range(2):
        former, new = both[part], filled[part]
        for k in range(len(new)):
            new[k] = factor * former[k]


@kernel
def add_mass(
    pattern: BlockPattern, matrix: BlockMatrix, mass: Floats, held: Bools, scale: float
) -> None:
    """A += scale M; held coordinates get an entry that lets them not move."""
    for i in range(len(mass)):
        d = matrix.diagonal[pattern.place[i]]
        d[0] += HELD if held[i, 0] else scale * mass[i]
        d[2] += HELD if held[i, 1] else scale * mass[i]


@kernel
def add_stiffness(
    x: Floats,
    element: Elements,
    actuated: Actuated,
    weight: Rates,
    before: Strains,
    predicted: Floats,
    pattern: BlockPattern,
    scale: float,
    matrix: BlockMatrix,
) -> None:
    """A += scale d/dx (gamma grad U + beta/h k (eps - eps_before) grad eps) at x.

    Of a bend d phi / d(x_i, x_j, x_k) = (a, -a - b, b), and
    d2 ang(e) / de2 = (2 ex ey, ey^2 - ex^2; ., -2 ex ey) / |e|^4.
    """
    place, diagonal, lower = pattern.place, matrix.diagonal, matrix.lower
    for k in range(len(element.rest)):
        i, j = element.edge[k, 0], element.edge[k, 1]
        ex, ey = edge_between(x, i, j)
        EA = scale * edge_law(element, actuated, k)
        xx, xy, yy = stretch_stiffness(
            ex, ey, element.rest[k], EA, weight, before.stretch[k],
            before.edge_slope[k], predicted[k],
        )  # fmt: skip
        for node in (i, j):
            d = diagonal[place[node]]
            d[0], d[1], d[2] = d[0] + xx, d[1] + xy, d[2] + yy
        m = lower[pattern.edge_slot[k]]
        m[0], m[1], m[2], m[3] = m[0] - xx, m[1] - xy, m[2] - xy, m[3] - yy
    for n in range(len(element.voronoi)):
        i, j, k = element.bend[n, 0], element.bend[n, 1], element.bend[n, 2]
        ex, ey = edge_between(x, i, j)
        fx, fy = edge_between(x, j, k)
        tan, ax, ay, bx, by = bend_geometry(ex, ey, fx, fy, element.fold[n])
        s, rest = bend_law(element, actuated, n)
        first, second = bend_stiffness(tan, scale * s, rest, weight, before.turn[n])
        cx, cy = -ax - bx, -ay - by
        ux, uy = -2.0 * first * ax * ay, first * (ax * ax - ay * ay)
        wx, wy = -2.0 * first * bx * by, first * (bx * bx - by * by)
        _add_diagonal(diagonal[place[i]], second, ax, ay, ux, uy, 0.0, 0.0)
        _add_diagonal(diagonal[place[j]], second, cx, cy, ux, uy, wx, wy)
        _add_diagonal(diagonal[place[k]], second, bx, by, 0.0, 0.0, wx, wy)
        slot, flip = pattern.bend_slot[n], pattern.bend_flip[n]
        sx, sy = second * bx, second * by
        _add_block(lower[slot[0]], flip[0], second * ax, second * ay, cx, cy, ux, uy)
        _add_block(lower[slot[1]], flip[1], cx, cy, sx, sy, -wx, -wy)
        _add_block(lower[slot[2]], flip[2], ax, ay, sx, sy, 0.0, 0.0)


@kernel
def _add_diagonal(
    block: Floats,
    s: float,
    px: float,
    py: float,
    ux: float,
    uy: float,
    wx: float,
    wy: float,
) -> None:
    """Block of a node += s p p^T - (ux uy; uy -ux) + (wx wy; wy -wx)."""
    block[0] += s * px * px - ux + wx
    block[1] += s * px * py - uy + wy
    block[2] += s * py * py + ux - wx


@kernel
def _add_block(
    block: Floats,
    flip: bool,
    px: float,
    py: float,
    qx: float,
    qy: float,
    u: float,
    v: float,
) -> None:
    """Block of a pair of nodes += p q^T + (u v; v -u), or its transpose."""
    xy, yx = px * qy + v, py * qx + v
    block[0] += px * qx + u
    block[1] += yx if flip else xy
    block[2] += xy if flip else yx
    block[3] += py * qy - u


@kernel
def multiply(
    pattern: BlockPattern, matrix: BlockMatrix, v: Floats, product: Floats
) -> None:
    """product <- A v, with v and product (n, 2) in the order of the columns."""
    product[:] = 0.0
    for j in range(len(v)):
        d = matrix.diagonal[j]
        product[j, 0] += d[0] * v[j, 0] + d[1] * v[j, 1]
        product[j, 1] += d[1] * v[j, 0] + d[2] * v[j, 1]
        for p in range(pattern.start[j], pattern.start[j + 1]):
            i = pattern.row[p]
            m = matrix.lower[p]
            product[i, 0] += m[0] * v[j, 0] + m[1] * v[j, 1]
            product[i, 1] += m[2] * v[j, 0] + m[3] * v[j, 1]
            product[j, 0] += m[0] * v[i, 0] + m[2] * v[i, 1]
            product[j, 1] += m[1] * v[i, 0] + m[3] * v[i, 1]
