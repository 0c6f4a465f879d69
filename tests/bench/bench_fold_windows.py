"""How creases turned by moments hang on increments and meshes, as tables.

python -m tests.bench.bench_fold_windows
"""

import sys
from dataclasses import replace

import numpy as np

from pipeline.config.hydra import Composer
from sim.origami.folding.folding import run
from sim.origami.folding.outcome import reached_folds
from sim.origami.loading.actuation import Moments
from sim.origami.model.compliant import compliant_mesh
from tests.bench.bench_origami import build_case
from tests.sim.origami.folding.test_actuated import NO_CONTACT
from tests.sim.origami.sheets import MATERIAL, sheet, strip


def turned() -> None:
    """Two creases of a strip turned by 0.4 and -0.2 rad, by their width, increments."""
    for width in (4e-3, 2e-3, 1e-3, 5e-4):
        material = replace(MATERIAL, crease_width=width)
        mesh = compliant_mesh(strip(3), material)
        k = material.whole_crease(0.02)
        creases = [int(crease) for crease in mesh.pattern.creases]
        for count in (1, 4, 16):
            phase = Moments(creases, [0.4 * k, -0.2 * k], count, tolerance=1e-10)
            *_, step = run(sheet(mesh, NO_CONTACT), [phase])
            off = np.abs(reached_folds(mesh, step.x) / [0.4, -0.2] - 1.0).max()
            print(f"creases {1e3 * width} mm wide, {count} increments: {off:.1e}")


def turned_vertex(composer: Composer) -> None:
    """The fold that a moment makes at a vertex, and its work, by increments."""
    for count in (5, 10, 20, 80):
        case = build_case(
            composer, "case=turned_vertex", f"case.phases.0.increments={count}"
        )
        steps = list(case.steps())
        fold = np.array([reached_folds(case.sheet.mesh, s.x)[0] for s in steps])
        moment = 3e-4 * np.array([s.factor for s in steps])
        work = (0.5 * (moment[1:] + moment[:-1]) * np.diff(fold)).sum()
        off = steps[-1].energies.sum() / work - 1.0
        print(f"vertex, {count} increments: {fold[-1]:.6f} rad, energy {off:.1e} off")


def main() -> int:
    """Print a line for each reading."""
    turned()
    with Composer() as composer:
        turned_vertex(composer)
    return 0


if __name__ == "__main__":
    sys.exit(main())
