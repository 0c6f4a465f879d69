"""Small mechanisms whose mobility is known."""

import numpy as np

from sim.core.arrays import Floats
from sim.mechanism import joints
from sim.mechanism.constraints import (
    Constraint,
    ConstraintKind,
    ConstraintTable,
    coin,
    dist,
    dot,
    fix,
)
from sim.mechanism.named_structures import (
    octahedron_lattice,
    pentapod,
    square_sheet,
    triangle_sheet,
)
from sim.mechanism.structure import Structure

A, B = (0, 1, 2), (3, 4, 5)
TRIANGLE = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.2, 0.9, 0.0]])
TILTED = np.array([[0.4, 0.3, 0.8], [1.3, 0.5, 1.1], [0.6, 1.2, 0.9]])


def structure(r: Floats, rows: list[Constraint]) -> Structure:
    return Structure(r, ConstraintTable.of(rows), np.arange(len(r)))


def one_body(*extra: list[float]) -> tuple[Floats, list[Constraint]]:
    r = np.vstack([TRIANGLE, *np.array(extra).reshape(-1, 1, 3)])
    return r, joints.body(r, A)


def two_bodies(other: Floats) -> tuple[Floats, list[Constraint]]:
    r = np.vstack([TRIANGLE, other])
    return r, joints.body(r, A) + joints.body(r, B)


def of_bodies() -> dict[str, Structure]:
    alone = np.zeros((1, 3))
    pair = np.array([[0.0, 0, 0], [1, 0, 0]])
    flat, flat_rows = one_body([0.4, 0.3, 0.0])
    high, high_rows = one_body([0.4, 0.3, 0.7])
    line = np.array([[0.0, 0, 0], [1, 0, 0], [0.4, 0, 0]])
    by_distances = [[dist(r, i, 3) for i in range(3)] for r in (flat, high)]
    return {
        "node": structure(alone, []),
        "link": structure(pair, joints.link(pair, 0, 1)),
        "body (3 nodes)": structure(*one_body()),
        "body+node (out of plane)": structure(high, joints.rigid(high, (0, 1, 2, 3))),
        "body+node (in plane)": structure(flat, joints.rigid(flat, (0, 1, 2, 3))),
        "body+node by 3 distances in plane": structure(
            flat, flat_rows + by_distances[0]
        ),
        "body+node by 3 distances off plane": structure(
            high, high_rows + by_distances[1]
        ),
        "plane-point: body+node": structure(
            flat, flat_rows + joints.plane_point(flat, A, 3)
        ),
        "line-point: link+node": structure(
            line, [*joints.link(line, 0, 1), *joints.line_point((0, 1), 2)]
        ),
    }


def of_joints() -> dict[str, Structure]:
    """Of unit scales and of rows too many: test_structure_builder has each joint."""
    r, free = two_bodies(TILTED)
    onto = np.array([[0.4, 0.0, 0.0], [0.9, 0.0, 0.0], [0.5, 0.6, 0.5]])
    slide, on_line = two_bodies(onto)
    pin = np.array([[0.0, 0, 0], [1.0, 0, 0], [0.3, -0.5, 0.6]])
    hinged, pinned = two_bodies(pin)
    fold = np.vstack([TRIANGLE, [[0.4, -0.6, 0.5]]])
    return {
        "two free bodies": structure(r, free),
        "JOINT j cylindrical": structure(
            slide, on_line + joints.cylindrical((0, 1), (3, 4))
        ),
        "JOINT m' hinge (2 coincidences)": structure(
            hinged, [*pinned, coin(0, 3), coin(1, 4)]
        ),
        "JOINT m'' hinge (shared nodes,dup link)": structure(
            fold, joints.body(fold, A) + joints.body(fold, (0, 1, 3))
        ),
        "weld (2 coin + dot)": structure(
            hinged, [*pinned, coin(0, 3), coin(1, 4), dot(hinged, 0, 2, 3, 5)]
        ),
    }


def of_loops() -> dict[str, Structure]:
    bars = np.array([[0.0, 0, 0], [2, 0, 0], [2.4, 1.3, 0], [0.3, 1.0, 0]])
    bent = bars + np.outer([0.0, 0.2, -0.1, 0.3], [0, 0, 1])
    ring = [(0, 1), (1, 2), (2, 3), (3, 0)]
    planar = [dist(bars, a, b) for a, b in ring] + joints.plane_point(bars, A, 3)
    ground = fix(bars, 0) + fix(bars, 1)
    flat = [fix(bars, i)[2] for i in (2, 3)]
    links = [dist(bars, a, b) for a, b in ring]
    loops = {
        "4-bar spatial (spherical)": structure(
            bent, [dist(bent, a, b) for a, b in ring]
        ),
        "4-bar planar (plane-point)": structure(bars, planar),
        "4-bar planar grounded (1 redundant)": structure(bars, links + ground + flat),
    }
    for triangles in (2, 5, 20):
        loops[f"hinge chain of {triangles} triangles"] = hinge_chain(triangles)
    return loops


def hinge_chain(triangles: int) -> Structure:
    """A strip of triangles, each sharing a side with the next."""
    i = np.arange(triangles + 2)
    r = np.column_stack([0.5 * i, 0.9 * (i % 2), 0.3 * np.sin(1.7 * i)])
    pairs = {(a, b) for k in range(triangles) for a, b in _sides(k)}
    return structure(r, [dist(r, a, b) for a, b in sorted(pairs)])


def _sides(k: int) -> list[tuple[int, int]]:
    return [(k, k + 1), (k, k + 2), (k + 1, k + 2)]


def corner(i: int, j: int, k: int, theta: float) -> Floats:
    """Corner k of the square in row i and column j, each turned by -+ theta."""
    angle = theta * (-1) ** (i + j + 1) + np.pi / 4 + np.pi / 2 * k
    centre = (np.cos(theta) + np.sin(theta)) * np.array([j, i, 0.0])
    place: Floats = centre + np.sqrt(0.5) * np.array(
        [np.cos(angle), np.sin(angle), 0.0]
    )
    return place


def rotating_squares(rows: int, columns: int, theta: float) -> Structure:
    """Squares of side 1 in a plane that share corners and turn in turns.

    At pi/4 they are spread as far as they go.
    """
    owners: list[tuple[int, int, int]] = []
    squares: list[tuple[int, ...]] = []
    for i, j in np.ndindex(rows, columns):
        names = []
        for k in range(4):
            apart = [
                float(np.linalg.norm(corner(i, j, k, 0.5) - corner(*owner, 0.5)))
                for owner in owners
            ]
            if not apart or min(apart) > 1e-9:
                apart.append(0.0)
                owners.append((i, j, k))
            names.append(int(np.argmin(apart)))
        squares.append(tuple(sorted(names)))
    r = np.array([corner(*owner, theta) for owner in owners])
    constraints = [row for square in squares for row in joints.rigid(r, square)]
    held = set(squares[0])
    base = squares[0][0], squares[0][1], squares[0][2]
    for square in squares[1:]:
        for node in square[:3]:
            if node not in held:
                constraints += joints.plane_point(r, base, node)
        held |= set(square)
    return structure(r, constraints)


def rows_of(made: Structure) -> list[Constraint]:
    table = made.constraints
    nodes = (tuple(n) for n in table.nodes.tolist())
    return [
        Constraint(ConstraintKind(kind), n, constant)
        for kind, n, constant in zip(table.kind, nodes, table.constant, strict=True)
    ]


def of_sheets() -> dict[str, Structure]:
    pod, sheet = pentapod(), square_sheet(4, 4)
    grounded = rows_of(pod) + [row for i in range(3) for row in fix(pod.r0, i)]
    doubled = rows_of(sheet)
    for first in range(4, 64, 4):
        doubled += joints.plane_point(sheet.r0, (0, 1, 2), first + 3)
    return {
        **{
            f"rotating squares {a}x{b} (in plane)": rotating_squares(a, b, 0.5)
            for a, b in ((2, 2), (3, 3), (4, 4), (3, 5))
        },
        "pentapod 6+1": pod,
        "square sheet 4x4": sheet,
        "square sheet 4x4 redundant": structure(sheet.r0, doubled),
        "rotating squares 4x4 theta=0 (singular)": rotating_squares(4, 4, np.pi / 4),
        "triangle sheet 2x2": triangle_sheet(2, 2),
        "triangle sheet 4x4": triangle_sheet(4, 4),
        "octa lattice 3x3x2": octahedron_lattice(3, 3, 2),
        "pentapod grounded": structure(pod.r0, grounded),
    }
