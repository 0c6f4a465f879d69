"""Stiff pendulums of rods: python -m tests.bench.bench_stiff_rods [SECONDS [2 or 3]].

Chains of 1 to 4 rods, 20 mm x 2 mm each (8 edges, 1,240 kg/m^3), joined by hinges and
pinned at one end, are let go level without damping. Each cell has the largest defect of
the whole energy over the run, in percent of the largest kinetic energy, or `refused`
with the time at which the run ended; in the plane (2), in space (3), or in both.
"""

import sys
import tempfile
import time
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import yaml

from pipeline.cases.user_rods import RodFileCase
from sim.core.options import NotConvergedError
from sim.rods.plane.options import CONSERVING
from sim.rods.plane.world import Damping

LENGTH, SPACING = 20.0, 2.5  # mm
MODULI = 1e5, 1e7, 3e9, 2e11  # Pa
STEPS = 1e-4, 1e-3, 5e-3  # s


def chain(links: int, modulus: float, seconds: float) -> dict[str, object]:
    """The content of a rod file."""
    places = [[LENGTH * k, 0.0] for k in range(links + 1)]
    hinges = {"hinges": places[1:-1]} if links > 1 else {}
    return {
        "unit": "mm",
        "section": {"round": {"diameter": 2.0}},
        "material": {"modulus": modulus, "density": 1240.0},
        "spacing": SPACING,
        "rods": [{"line": list(both)} for both in pairwise(places)],
        "pins": places[:1],
        "gravity": [0.0, -9.81],
        "duration": seconds,
        **hinges,
    }


def cell(path: Path, h: float, dimension: int) -> str:
    """The largest defect of energy of a run, or when it was refused."""
    case = RodFileCase(
        path=str(path), damping=Damping(beta=0.0), dimension=dimension, every=1,
        options=replace(CONSERVING, h=h),
    )  # fmt: skip
    start, worst, most, now = 0.0, 0.0, 1e-300, 0.0
    try:
        for step in case.steps():
            start = start if step.time else step.energy
            worst, most = max(worst, abs(step.energy - start)), max(most, step.kinetic)
            now = step.time
    except NotConvergedError:
        return f"refused {now:.3f} s"
    return f"{100.0 * worst / most:.2g}"


def main(seconds: float, dimensions: tuple[int, ...]) -> None:
    print("plane or space, links, modulus (Pa):", *(f"h {1e3 * h:g} ms" for h in STEPS))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "chain.yaml"
        for dimension in dimensions:
            for links in (1, 2, 4):
                for modulus in MODULI:
                    path.write_text(yaml.safe_dump(chain(links, modulus, seconds)))
                    begin = time.perf_counter()
                    row = [cell(path, h, dimension) for h in STEPS]
                    taken = f"({time.perf_counter() - begin:.1f} s)"
                    print(dimension, links, f"{modulus:.0e}", *row, taken, sep="  ")


if __name__ == "__main__":
    main(float([*sys.argv, "5"][1]), tuple(map(int, sys.argv[2:])) or (2, 3))
