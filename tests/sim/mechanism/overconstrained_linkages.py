"""Linkages that move although they have constraints enough to be rigid.

Each is known in closed form, drawn at a configuration without symmetry of its own to
the axes, and in millimetres. Hinge loops: Bennett 1903, Sarrus 1853, Bricard 1927.
Bars: Burmester 1893, Bricard 1897.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.spatial.transform import Rotation

from sim.mechanism.structure_builder import Draft

X, Y, Z = np.eye(3)


@dataclass(frozen=True, eq=False)
class Linkage:
    """A linkage, its mobility with its first body held, and how it is built."""

    name: str
    nodes: np.ndarray
    build: Callable[[Draft], Draft]
    mobility: int = 1

    def drawn(self, decimals: int | None) -> tuple[np.ndarray, float]:
        """Its nodes as a file holds them, and the last digit of the file."""
        if decimals is None:
            return self.nodes, 0.0
        return np.round(self.nodes, decimals), 10.0**-decimals


def turned(points, rng):
    """Away from the axes, with a largest coordinate of some 80 mm."""
    points = np.asarray(points, float)
    points = points - points.mean(axis=0)
    points *= 80.0 / np.abs(points).max()
    return points @ Rotation.random(random_state=rng).as_matrix().T + rng.normal(size=3)


def hinge_loop(name, axes, rng, mobility=1):
    """Bodies between hinges in a ring; axes are points and directions.

    Both nodes of an axis lie where no two axes meet, so that no two nodes coincide.
    """
    size = np.ptp([point for point, _ in axes], axis=0).max() or 1.0
    nodes = []
    for point, direction in axes:
        unit = np.asarray(direction, float) / np.linalg.norm(direction)
        first = rng.uniform(0.15, 0.3) * size
        nodes += [point + first * unit, point + (first + 0.4 * size) * unit]
    n = len(axes)

    def build(draft):
        for i in range(n):
            j = (i + 1) % n
            draft.body(2 * i, 2 * i + 1, 2 * j, 2 * j + 1)
        for i in range(n):
            pair = (2 * i, 2 * i + 1)
            draft.hinge(axis=pair, bodies=((i - 1) % n, i))
        for node in range(4):
            draft.held(node)
        return draft

    return Linkage(name, turned(nodes, rng), build, mobility)


def chain_axes(lengths, twists, offsets, angles):
    """Axes of a serial chain by Denavit and Hartenberg, from its first."""
    place, frame, axes = np.zeros(3), np.eye(3), []
    for a, alpha, d, theta in zip(lengths, twists, offsets, angles, strict=True):
        axes.append((place, frame @ Z))
        frame = frame @ Rotation.from_euler("z", theta).as_matrix()
        place = place + frame @ np.array([a, 0.0, d])
        frame = frame @ Rotation.from_euler("x", alpha).as_matrix()
    return axes


def bennett_angles(alpha, beta, theta):
    """The other joint angle of Bennett's linkage."""
    ratio = np.sin((beta + alpha) / 2) / np.sin((beta - alpha) / 2)
    return 2 * np.arctan(ratio / np.tan(theta / 2))


def bennett_axes(a, alpha, beta, theta):
    """Sides a and b with a / sin alpha = b / sin beta."""
    b, phi = a * np.sin(beta) / np.sin(alpha), bennett_angles(alpha, beta, theta)
    return chain_axes(
        [a, b, a, b], [alpha, beta, alpha, beta], [0] * 4, [theta, phi, -theta, -phi]
    )


def bennett(rng, alpha, beta, theta):
    axes = bennett_axes(1.0, alpha, beta, theta)
    return hinge_loop(f"bennett {alpha:.1f} {beta:.1f}", axes, rng)


def spherical(rng, n):
    """Axes through one point."""
    axes = [(np.zeros(3), v) for v in rng.normal(size=(n, 3))]
    return hinge_loop(
        f"spherical {n}R", [(p + 0.0 * v, v) for p, v in axes], rng, n - 3
    )


def sarrus(rng):
    """Three parallel axes in each of two directions."""
    across = np.cross(X, rng.normal(size=3))
    first = [(p, X) for p in rng.normal(size=(3, 3))]
    second = [(p, across / np.linalg.norm(across)) for p in rng.normal(size=(3, 3))]
    return hinge_loop("sarrus", first + second, rng)


def double_spherical(rng):
    """Three axes through each of two points."""
    far = np.array([1.0, 0.4, -0.2])
    first = [(np.zeros(3), v) for v in rng.normal(size=(3, 3))]
    return hinge_loop(
        "double spherical", first + [(far, v) for v in rng.normal(size=(3, 3))], rng
    )


def line_symmetric(rng):
    """Bricard's first: three axes and their images in a half turn about Z."""
    half = np.diag([-1.0, -1.0, 1.0])
    points, lines = rng.normal(size=(3, 3)), rng.normal(size=(3, 3))
    three = list(zip(points, lines, strict=True))
    return hinge_loop(
        "line-symmetric 6R", three + [(half @ p, half @ v) for p, v in three], rng
    )


def plane_symmetric(rng):
    """Bricard's second: two axes in a plane, two beside it and their images."""
    mirror = np.diag([1.0, 1.0, -1.0])
    flat = np.array([1.0, 1.0, 0.0])
    in_plane = [(rng.normal(size=3) * flat, rng.normal(size=3) * flat) for _ in "12"]
    beside = [(rng.normal(size=3) + Z, rng.normal(size=3)) for _ in "12"]
    images = [(mirror @ p, mirror @ v) for p, v in reversed(beside)]
    return hinge_loop(
        "plane-symmetric 6R", [in_plane[0], *beside, in_plane[1], *images], rng
    )


def planar_linkage(name, points, links, held, mobility=1, bodies=()):
    """Bars and bodies in the plane z = 0, with nodes that are held."""
    flat = np.column_stack([points, np.zeros(len(points))])
    flat *= 80.0 / np.abs(flat).max()

    def build(draft):
        for node in range(len(points)):
            draft.held(node, "xyz" if node in held else "z")
        for a, b in links:
            draft.link(a, b)
        for body in bodies:
            draft.body(*body)
        return draft

    return Linkage(name, flat, build, mobility)


def on_links(name, feet, away):
    """A body on parallel links from their feet on."""
    n, points = len(feet), np.vstack([feet, feet + np.array(away)])
    links = [(i, n + i) for i in range(n)]
    return planar_linkage(name, points, links, range(n), bodies=[range(n, 2 * n)])


def parallel_links(rng, n):
    return on_links(f"{n} parallel links", rng.normal(size=(n, 2)), [0.3, 1.0])


def bar_on_links(rng, n):
    """The same with the feet, and the tops, in a row."""
    row = np.outer(np.cumsum(rng.uniform(0.5, 1.5, n)), [0.9, 0.38])
    return on_links(f"bar on {n} parallel links", row, [-0.4, 1.3])


def parallelograms(rows, columns):
    """A grid of rhombi with every bar straight through: scissors."""
    u, v = np.array([1.0, 0.2]), np.array([0.3, 0.9])
    points = [i * u + j * v for i in range(rows + 1) for j in range(columns + 1)]
    number = lambda i, j: i * (columns + 1) + j  # noqa: E731
    bodies = [tuple(number(i, j) for j in range(columns + 1)) for i in range(rows + 1)]
    bodies += [tuple(number(i, j) for i in range(rows + 1)) for j in range(columns + 1)]
    return planar_linkage(
        f"lattice of {rows} x {columns} parallelograms", np.array(points), [], (0, 1),
        bodies=bodies,
    )  # fmt: skip


def octahedron(rng):
    """Bricard's first flexible octahedron: opposite corners by a half turn."""
    three = rng.normal(size=(3, 3))
    nodes = np.vstack([three, three * [-1.0, -1.0, 1.0]])
    links = [(i, j) for i in range(6) for j in range(i) if i - j != 3]

    def build(draft):
        for a, b in links:
            draft.link(a, b)
        return draft

    return Linkage("flexible octahedron", turned(nodes, rng), build, 7)


def linkages():
    """All, from one seed."""
    rng = np.random.default_rng(0)
    made = [bennett(rng, 0.7, 1.2, 1.1), bennett(rng, 0.5, 0.9, 2.0)]
    made += [spherical(rng, n) for n in (4, 5, 6)]
    made += [sarrus(rng), double_spherical(rng), line_symmetric(rng)]
    made += [plane_symmetric(rng), plane_symmetric(rng)]
    made += [parallel_links(rng, 4), bar_on_links(rng, 4), octahedron(rng)]
    made += [parallelograms(2, 2), parallelograms(3, 3)]
    return [*made, sarrus(np.random.default_rng(3))]  # its motions are long


def random_frames(seed):
    """The same constraints between nodes at random: none moves."""
    rng, made = np.random.default_rng(seed), []
    for n in (4, 5, 6):
        axes = list(zip(rng.normal(size=(n, 3)), rng.normal(size=(n, 3)), strict=True))
        made.append(hinge_loop(f"random {n}R", axes, rng, 0))
    for m, n in ((3, 3), (3, 4), (4, 4)):
        links = [(i, m + j) for i in range(m) for j in range(n)]
        points = rng.normal(size=(m + n, 2))
        made.append(planar_linkage(f"random K{m},{n}", points, links, (), 3))
    feet = rng.normal(size=(3, 2))
    tops = feet + [0.3, 1.0] + 0.3 * rng.normal(size=(3, 2))
    links, bodies = [(i, 3 + i) for i in range(3)], [(3, 4, 5)]
    points = np.vstack([feet, tops])
    made.append(planar_linkage("random links", points, links, range(3), 0, bodies))
    corners = turned(rng.normal(size=(6, 3)), rng)
    return [*made, Linkage("random octahedron", corners, octahedron(rng).build, 6)]
