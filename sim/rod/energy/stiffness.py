"""The matrix of a step, put together from the elements in 2 x 2 blocks."""

from sim.arrays import Bools, Floats, Ints
from sim.kernels import kernel
from sim.rod.energy.blocks import BlockMatrix, BlockPattern
from sim.rod.energy.elastic import (
    Actuated,
    Elements,
    Rates,
    Strains,
    bend_geometry,
    bend_law,
    bend_stiffness,
    edge_between,
    edge_law,
    stretch_stiffness,
)

# U'', slopes a and b, U' times the second derivatives: see `_bend_terms`.
BendTerms = tuple[float, float, float, float, float, float, float, float, float]
HELD = 1e30  # diagonal entry of a held coordinate, far above any stiffness


@kernel
def set_multiple(factor: float, source: BlockMatrix, target: BlockMatrix) -> None:
    """target <- factor * source."""
    for i in range(len(source.diagonal)):
        for a in range(3):
            target.diagonal[i, a] = factor * source.diagonal[i, a]
    for k in range(len(source.lower)):
        for a in range(4):
            target.lower[k, a] = factor * source.lower[k, a]


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
    pattern: BlockPattern,
    scale: float,
    matrix: BlockMatrix,
) -> None:
    """A += scale d/dx (gamma grad U + beta/h k (eps - eps_before) grad eps) at x."""
    _add_edges(x, element, actuated, weight, before, pattern, scale, matrix)
    for b in range(len(element.voronoi)):
        terms = _bend_terms(x, element, actuated, weight, before, scale, b)
        _add_bend_nodes(matrix.diagonal, pattern.place, element.bend[b], terms)
        _add_bend_pairs(matrix.lower, pattern.bend_slot[b], pattern.bend_flip[b], terms)


@kernel
def _add_bend_nodes(
    diagonal: Floats, place: Ints, bend: Ints, terms: BendTerms
) -> None:
    """The blocks of the three nodes: d phi / d(x_i, x_j, x_k) = (a, -a - b, b)."""
    second, ax, ay, bx, by, uxx, uxy, wxx, wxy = terms
    cx, cy = -ax - bx, -ay - by
    _add_diagonal(
        diagonal[place[bend[0]]],
        second * ax * ax - uxx,
        second * ax * ay - uxy,
        second * ay * ay + uxx,
    )
    _add_diagonal(
        diagonal[place[bend[1]]],
        second * cx * cx - uxx + wxx,
        second * cx * cy - uxy + wxy,
        second * cy * cy + uxx - wxx,
    )
    _add_diagonal(
        diagonal[place[bend[2]]],
        second * bx * bx + wxx,
        second * bx * by + wxy,
        second * by * by - wxx,
    )


@kernel
def _add_bend_pairs(lower: Floats, slot: Ints, flip: Bools, terms: BendTerms) -> None:
    """The blocks of the pairs before-at, at-after, before-after."""
    second, ax, ay, bx, by, uxx, uxy, wxx, wxy = terms
    cx, cy = -ax - bx, -ay - by
    sax, say, sbx, sby = second * ax, second * ay, second * bx, second * by
    _add_block(
        lower[slot[0]],
        flip[0],
        sax * cx + uxx,
        sax * cy + uxy,
        say * cx + uxy,
        say * cy - uxx,
    )
    _add_block(
        lower[slot[1]],
        flip[1],
        cx * sbx - wxx,
        cx * sby - wxy,
        cy * sbx - wxy,
        cy * sby + wxx,
    )
    _add_block(lower[slot[2]], flip[2], ax * sbx, ax * sby, ay * sbx, ay * sby)


@kernel
def _bend_terms(
    x: Floats,
    element: Elements,
    actuated: Actuated,
    weight: Rates,
    before: Strains,
    scale: float,
    b: int,
) -> BendTerms:
    """U'', the slopes a and b of phi, and U' times the second derivatives of phi.

    d2 ang(e) / de2 = (2 ex ey, ey^2 - ex^2; ., -2 ex ey) / |e|^4.
    """
    i, j, k = element.bend[b, 0], element.bend[b, 1], element.bend[b, 2]
    ex, ey = edge_between(x, i, j)
    fx, fy = edge_between(x, j, k)
    tan, ax, ay, bx, by = bend_geometry(ex, ey, fx, fy, element.fold[b])
    s, rest = bend_law(element, actuated, b)
    first, second = bend_stiffness(tan, scale * s, rest, weight, before.turn[b])
    uxx, uxy = -2.0 * first * ax * ay, first * (ax * ax - ay * ay)
    wxx, wxy = -2.0 * first * bx * by, first * (bx * bx - by * by)
    return second, ax, ay, bx, by, uxx, uxy, wxx, wxy


@kernel
def _add_diagonal(block: Floats, xx: float, xy: float, yy: float) -> None:
    block[0] += xx
    block[1] += xy
    block[2] += yy


@kernel
def _add_block(
    block: Floats, flip: bool, xx: float, xy: float, yx: float, yy: float
) -> None:
    """Add the block of a pair of nodes, or its transpose."""
    block[0] += xx
    block[1] += yx if flip else xy
    block[2] += xy if flip else yx
    block[3] += yy


@kernel
def _add_edges(
    x: Floats,
    element: Elements,
    actuated: Actuated,
    weight: Rates,
    before: Strains,
    pattern: BlockPattern,
    scale: float,
    matrix: BlockMatrix,
) -> None:
    for k in range(len(element.rest)):
        i, j = element.edge[k, 0], element.edge[k, 1]
        ex, ey = edge_between(x, i, j)
        EA = scale * edge_law(element, actuated, k)
        xx, xy, yy = stretch_stiffness(
            ex, ey, element.rest[k], EA, weight, before.stretch[k]
        )
        for node in (i, j):
            d = matrix.diagonal[pattern.place[node]]
            d[0] += xx
            d[1] += xy
            d[2] += yy
        block = matrix.lower[pattern.edge_slot[k]]
        block[0] -= xx
        block[1] -= xy
        block[2] -= xy
        block[3] -= yy


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
