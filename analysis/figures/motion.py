"""A motion that plays in a browser: one SVG, no script, drawn without a display."""

from collections.abc import Sequence

import numpy as np

from sim.arrays import Floats, Ints

WIDTH = 640  # of the drawing, px
LIMB, GROUND = "#0072B2", "#8C8C8C"


def strokes(edges: Ints) -> list[list[int]]:
    """The edges as few chains of nodes, so that each is drawn in one stroke."""
    left = [(int(i), int(j)) for i, j in edges]
    chains: list[list[int]] = []
    for i, j in left:
        if chains and chains[-1][-1] == i:
            chains[-1].append(j)
        else:
            chains.append([i, j])
    return chains


def animated_svg(
    shapes: Sequence[Floats], edges: Ints, ground: Floats, seconds: float
) -> str:
    """The text of an SVG in which the shapes follow each other, again and again.

    Parameters
    ----------
    shapes : nodes (n, 2) m at equal intervals of time
    edges : (m, 2)
    ground : (k, 2) m, points along the ground, may be empty
    seconds : how long all of them take
    """
    if len(shapes) < 2 or not seconds > 0.0:
        raise ValueError(
            f"animation: {len(shapes)} shapes in {seconds} s: give two or more and a "
            "positive time"
        )
    every = np.concatenate(list(shapes))
    low, high = every.min(axis=0), every.max(axis=0)
    room = 0.15 * (high - low).max()
    low, high = low - room, high + room
    scale = WIDTH / (high[0] - low[0])
    height = scale * (high[1] - low[1])

    def pixels(x: Floats) -> Floats:
        right, down = x[:, 0] - low[0], high[1] - x[:, 1]
        return np.asarray(scale * np.column_stack([right, down]))

    seen = ground[(ground[:, 0] >= low[0]) & (ground[:, 0] <= high[0])]
    chains = strokes(edges)
    frames = ";".join(_path(pixels(x), chains) for x in shapes)
    first = _path(pixels(shapes[0]), chains)
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height:.0f}">',
        f'<path fill="none" stroke="{GROUND}" d="{_line(pixels(seen))}"/>'
        if len(seen)
        else "",
        f'<path fill="none" stroke="{LIMB}" stroke-width="2" d="{first}">',
        f'<animate attributeName="d" dur="{seconds:g}s" repeatCount="indefinite" '
        f'values="{frames}"/>',
        "</path>",
        "</svg>",
    ]
    return "\n".join(line for line in lines if line) + "\n"


def _line(points: Floats) -> str:
    return "M" + " ".join(f"{x:.1f},{y:.1f}" for x, y in points)


def _path(points: Floats, chains: list[list[int]]) -> str:
    return "".join(_line(points[chain]) for chain in chains)
