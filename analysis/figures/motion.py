"""A motion that plays in a browser: one SVG, no script, drawn without a display."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sim.arrays import Floats, Ints

WIDTH = 6400  # of the drawing; whole numbers keep the file small
LIMB, ACTUATED, GROUND = "#0072B2", "#D55E00", "#8C8C8C"
STROKE, THIN, LETTER = 22, 8, 130


@dataclass(frozen=True, eq=False)
class Motion:
    """What moves.

    Attributes
    ----------
    shapes : (k, n, 2) m, nodes at equal intervals of time
    edges : (m, 2)
    part : (m,) the part of each edge; parts are drawn and coloured one by one
    lit : (k,) the part that is actuated, or a number that no part has
    ground : (g, 2) m, points along the ground, may be empty
    seconds : how long all of it takes
    """

    shapes: Floats
    edges: Ints
    part: Ints
    lit: Ints
    ground: Floats
    seconds: float

    def __post_init__(self) -> None:
        if len(self.shapes) < 2 or not self.seconds > 0.0:
            raise ValueError(
                f"animation: {len(self.shapes)} shapes in {self.seconds} s: give two "
                "or more and a positive time"
            )


def strokes(edges: Ints) -> list[list[int]]:
    """The edges as few chains of nodes, so that each is drawn in one stroke."""
    chains: list[list[int]] = []
    for i, j in edges.tolist():
        if chains and chains[-1][-1] == i:
            chains[-1].append(j)
        else:
            chains.append([i, j])
    return chains


def animated_svg(motion: Motion) -> str:
    """The text of an SVG in which the shapes follow each other, again and again."""
    low, high = motion.shapes.min(axis=(0, 1)), motion.shapes.max(axis=(0, 1))
    room = 0.08 * (high - low).max()
    low, high = low - room, high + room
    scale = WIDTH / (high[0] - low[0])
    height = round(scale * (high[1] - low[1]))

    def pixels(x: Floats) -> Ints:
        right, down = x[..., 0] - low[0], high[1] - x[..., 1]
        return np.asarray(
            np.rint(scale * np.stack([right, down], axis=-1)), dtype=np.int64
        )

    frames = pixels(motion.shapes)
    ground = motion.ground
    seen = ground[(ground[:, 0] >= low[0] - room) & (ground[:, 0] <= high[0] + room)]
    lines = [
        '<svg xmlns="http://www.w3.org/2000/svg" '
        f'viewBox="0 0 {WIDTH} {height + 2 * LETTER}" fill="none" '
        f'stroke-linejoin="round" stroke-width="{STROKE}">',
        *([_path(GROUND, _line(pixels(seen)))] if len(seen) else []),
        *(_moving(motion, frames, part) for part in np.unique(motion.part).tolist()),
        _time_line(height + LETTER, motion.seconds),
        "</svg>",
    ]
    return "\n".join(lines) + "\n"


def _line(points: Ints) -> str:
    """A path through points in whole numbers: the first, then steps."""
    (x, y), steps = points[0], np.diff(points, axis=0)
    return f"M{x},{y}l" + " ".join(f"{dx},{dy}" for dx, dy in steps.tolist())


def _path(colour: str, line: str, *animations: str) -> str:
    inside = "".join(animations)
    end = f">{inside}</path>" if inside else "/>"
    return f'<path stroke="{colour}" d="{line}"{end}'


def _animate(name: str, values: Sequence[str], seconds: float, more: str = "") -> str:
    return (
        f'<animate attributeName="{name}" dur="{seconds:g}s" repeatCount="indefinite" '
        f'{more}values="{";".join(values)}"/>'
    )


def _moving(motion: Motion, frames: Ints, part: int) -> str:
    """One part: its line from frame to frame, and its colour where that changes."""
    chains = strokes(motion.edges[motion.part == part])
    lines = ["".join(_line(x[chain]) for chain in chains) for x in frames]
    animations = [_animate("d", lines, motion.seconds)]
    colours = np.where(motion.lit == part, ACTUATED, LIMB)
    if ACTUATED in colours:
        changes = np.flatnonzero(colours[1:] != colours[:-1]) + 1
        places = [0, *changes.tolist()]
        times = ";".join(f"{k / (len(colours) - 1):.4g}" for k in places)
        more = f'calcMode="discrete" keyTimes="{times}" '
        chosen = [str(colours[k]) for k in places]
        animations.append(_animate("stroke", chosen, motion.seconds, more))
    return _path(str(colours[0]), lines[0], *animations)


def _time_line(y: int, seconds: float) -> str:
    """A line that grows while the motion plays, from 0 to its duration."""
    grows = _animate("x2", ["0", str(WIDTH)], seconds)
    style = f'font-family="sans-serif" font-size="{LETTER}" fill="{GROUND}"'
    below = y + LETTER - THIN
    return (
        f'<line x1="0" x2="{WIDTH}" y1="{y - LETTER // 2}" y2="{y - LETTER // 2}" '
        f'stroke="{GROUND}" stroke-width="{THIN}">{grows}</line>'
        f'<text x="0" y="{below}" {style}>0 s</text>'
        f'<text x="{WIDTH}" y="{below}" text-anchor="end" {style}>{seconds:g} s</text>'
    )
