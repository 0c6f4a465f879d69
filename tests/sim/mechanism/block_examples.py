"""Small assemblies with closed forms."""

from typing import Any

import numpy as np

from sim.core.arrays import Floats
from sim.mechanism.hinged_blocks import (
    BlockAssembly,
    Grip,
    LigamentHinges,
    void_angles,
)


def square(centre: tuple[float, float], half: float, turned: float = 0.0) -> Floats:
    """A square with corners right, top, left, bottom at `half` from its centre."""
    corners = half * np.array([[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0], [0.0, -1.0]])
    c, s = np.cos(turned), np.sin(turned)
    return np.asarray(corners @ np.array([[c, s], [-s, c]]) + centre)


def hinges(
    pairs: list[tuple[int, int]], ends: list[tuple[Floats, Floats]],
    stretch: float = 1.0, shear: float = 1.0, turn: float = 1.0, **more: Any,
) -> LigamentHinges:  # fmt: skip
    """Equal hinges between blocks."""
    count = len(pairs)
    law: dict[str, Any] = {
        "compression": stretch,
        "voids": np.full((count, 2), np.inf),
        "polar": False,
    }
    law |= dict.fromkeys(("turn_cubic", "friction", "stick", "touch"), 0.0) | more
    several: dict[str, Any] = {
        name: np.full(count, value) if np.isscalar(value) and name != "polar" else value
        for name, value in law.items()
    }
    return LigamentHinges(
        np.array(pairs), np.array(ends), np.full(count, stretch),
        np.full(count, shear), np.full(count, turn), **several,
    )  # fmt: skip


def two_blocks(*grips: Grip, **law: Any) -> BlockAssembly:
    """Two squares of half diagonal 1 in a row, a ligament of 0.1 between them."""
    ends = [(np.array([1.0, 0.0]), np.array([1.1, 0.0]))]
    return BlockAssembly(
        (square((0.0, 0.0), 1.0), square((2.1, 0.0), 1.0)),
        hinges([(0, 1)], ends, **law),
        grips,
    )


def lattice(
    n: int, phi: float, ligament: float, stiff: float, turn: float, touch: float = 0.0
) -> BlockAssembly:
    """n x n squares of half diagonal 1 turned by +-phi, gripped at two ends of a row.

    Neighbours' corners are `ligament` apart along the grid, so that
    the centres are 2 cos(phi) + ligament apart.
    """
    pitch = 2.0 * np.cos(phi) + ligament
    outlines = [
        square((pitch * i, pitch * j), 1.0, phi if (i + j) % 2 == 0 else -phi)
        for j in range(n)
        for i in range(n)
    ]
    pairs, corners = [], []
    for j in range(n):
        for i in range(n):
            if i + 1 < n:
                pairs.append((n * j + i, n * j + i + 1))
                corners.append((0, 2))
            if j + 1 < n:
                pairs.append((n * j + i, n * (j + 1) + i))
                corners.append((1, 3))
    ends = [
        (outlines[a][p], outlines[b][q])
        for (a, b), (p, q) in zip(pairs, corners, strict=True)
    ]
    voids = void_angles(outlines, np.array(pairs), np.array(corners))
    # A corner turned out of the grid: the ligament lies along the grid by symmetry.
    table = hinges(pairs, ends, stiff, stiff, turn, voids=voids, touch=touch)
    grips = (
        Grip(0, (0.0, 0.0), (0.0, 0.0)),
        Grip(n - 1, (pitch * (n - 1), 0.0), (-1.0, 0.0)),
    )
    return BlockAssembly(tuple(outlines), table, grips)
