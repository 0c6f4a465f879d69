"""Thin rods and panels, radius by sheet: python -m tests.bench.bench_thin_bodies.

Sheets of hexagons (rows and columns) on their way into narrow ellipsoids: steps, the
gradient along the constraints and E at the end, pairs of parts that overlap on the way
and steps that pass through something. From the root; some two CPU minutes.
"""

import argparse
import time
from itertools import pairwise

from sim.convergence import NotConvergedError
from sim.morph.library.sheets import triangle_sheet
from sim.morph.morphing.morph import MorphStep
from sim.morph.morphing.newton_morph import morph_newton
from sim.morph.morphing.problem import NewtonOptions
from sim.morph.obstacles.volume import Obstacles
from sim.morph.structure.structure import with_solids
from sim.morph.targets.ellipsoid import Ellipsoid

Axes = tuple[float, float, float]
SHEETS: list[tuple[int, int, Axes]] = [
    (2, 2, (2.0, 1.7, 1.5)),
    (2, 2, (2.4, 2.1, 1.8)),
    (2, 3, (2.2, 1.9, 1.6)),
    (2, 3, (2.0, 1.7, 1.45)),
    (3, 3, (2.4, 2.1, 1.8)),
    (2, 4, (2.4, 2.1, 1.8)),
    (4, 4, (3.3, 2.8, 2.4)),
]
SIZES = (0.1, 0.05, 0.01, 1e-3, 1e-6, 1e-9)


def row(rows: int, columns: int, axes: Axes, size: float, most: int) -> str:
    """Of the table, for rods and panels of one size on one sheet."""
    sheet = triangle_sheet(rows, columns)
    thin = with_solids(sheet, link_radius=size, thickness=size)
    target = Ellipsoid(axes, (0.05, 0.03, -0.8 * axes[2]))
    begin, steps, told = time.process_time(), list[MorphStep](), ""
    try:
        for step in morph_newton(thin, target, NewtonOptions(max_steps=most)):
            steps.append(step)
    except NotConvergedError:
        told = "not in "
    spent, obstacles, end = time.process_time() - begin, Obstacles.of(thin), steps[-1]
    overlaps = sum(obstacles.overlaps(step.r) for step in steps)
    passed = sum(not obstacles.allows(a.r, b.r) for a, b in pairwise(steps))
    return (
        f"| {len(sheet.r0)} | {axes} | {size:g} | {told}{end.s} | {end.gradient:.1e} "
        f"| {end.E:.1e} | {overlaps}, {passed} | {spent:.1f} |"
    )


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--sizes", type=float, nargs="+", default=SIZES)
    parser.add_argument("--most", type=int, default=300, help="steps")
    asked = parser.parse_args()
    print("| nodes | half axes | size | steps | gradient | E | touched | CPU s |")
    for rows, columns, axes in SHEETS:
        for size in asked.sizes:
            print(row(rows, columns, axes, size, asked.most), flush=True)


if __name__ == "__main__":
    main()
