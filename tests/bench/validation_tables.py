"""The tables of docs/explanation/validation.md.

`python -m tests.bench.validation_tables NAME` writes docs/explanation/tables/NAME.csv
for one or all of linkages, chains, pendulums, vertices and scanners.
"""

import csv
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import yaml

from sim.mechanism.statics.equilibrium import EquilibriumOptions, at_rest
from tests.bench import bench_scanners, bench_stiff_rods
from tests.bench.taut_chains import LINKS, SPANS, hanging, zigzag
from tests.sim.mechanism.overconstrained_linkages import linkages, random_frames
from tests.sim.mechanism.test_rounded_drawing import closed
from tests.sim.origami.folding import test_rigid_vertices as of_vertices

Rows = Iterator[list[object]]
FOLDER = Path(__file__).parents[2] / "docs/explanation/tables"
DECIMALS = (6, 4, 3, 2)
FRAMES = 20  # seeds of random frames
SECONDS = 5.0  # of a pendulum
SEEDS = (11, 12, 13)  # of virtual scans: no threshold was chosen on them
VERTICES = 20  # of each degree


def of_linkages() -> Rows:
    """Mobility in drawings with few decimals, by linkage; then of random frames."""
    yield ["linkage", "mobility", *(f"{d} decimals" for d in DECIMALS)]
    for one in linkages():
        yield [one.name, one.mobility, *(closed(one, d)[1] for d in DECIMALS)]
    frames = [one for seed in range(FRAMES) for one in random_frames(seed)]
    right = [sum(closed(f, d)[1] == f.mobility for f in frames) for d in DECIMALS]
    yield [f"{len(frames)} random frames: right", "", *right]


def of_chains() -> Rows:
    """Newton steps to rest, by links and span over length."""
    yield ["links", *(f"span {span:g}" for span in SPANS)]
    for links in LINKS:
        bodies = [hanging(zigzag(links, span)) for span in SPANS]
        yield [links, *(at_rest(body, EquilibriumOptions()).steps for body in bodies)]


def of_pendulums() -> Rows:
    """Largest defect of the energy, % of the largest kinetic energy."""
    steps = [f"h {1e3 * h:g} ms" for h in bench_stiff_rods.STEPS]
    yield ["solver", "links", "modulus (Pa)", *steps]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "chain.yaml"
        for dimension, solver in ((2, "plane"), (3, "space")):
            for links in (1, 2, 4):
                for modulus in bench_stiff_rods.MODULI:
                    made = bench_stiff_rods.chain(links, modulus, SECONDS)
                    path.write_text(yaml.safe_dump(made))
                    found = [
                        bench_stiff_rods.cell(path, h, dimension)
                        for h in bench_stiff_rods.STEPS
                    ]
                    yield [solver, links, f"{modulus:.0e}", *found]


def of_vertices_by_degree() -> Rows:
    """Verdicts on single vertices, by their number of creases."""
    yield ["creases", "vertices", "fold rigidly", "verdicts right", "too close to tell"]
    for creases in of_vertices.DEGREES:
        rng = np.random.default_rng(creases)
        found = Counter(
            of_vertices.judged(of_vertices.drawn(creases, rng)) for _ in range(VERTICES)
        )
        right = found[True, True] + found[False, True]
        yield [creases, VERTICES, found[True, True] + found[True, False], right,
               found[None, True]]  # fmt: skip


def of_scanners() -> Rows:
    """Spheres in scans of four virtual scanners, over all scenes and seeds."""
    yield ["scanner", "visible", "found", "false"]
    for kind in bench_scanners.SCANNERS:
        total: Counter[str] = Counter(visible=0, found=0, false=0)
        for k, name in enumerate(bench_scanners.SCENES):
            if name.startswith(kind):
                for seed in SEEDS:
                    total += bench_scanners.row(name, np.random.default_rng([seed, k]))
        yield [kind, *(total[what] for what in ("visible", "found", "false"))]


TABLES: dict[str, Callable[[], Rows]] = {
    "linkages": of_linkages,
    "chains": of_chains,
    "pendulums": of_pendulums,
    "vertices": of_vertices_by_degree,
    "scanners": of_scanners,
}


def main() -> None:
    FOLDER.mkdir(exist_ok=True)
    for name in sys.argv[1:] or TABLES:
        path = FOLDER / f"{name}.csv"
        with path.open("w", newline="", encoding="utf-8") as file:
            for row in TABLES[name]():
                csv.writer(file, lineterminator="\n").writerow(row)
                file.flush()
        print(path)


if __name__ == "__main__":
    main()
