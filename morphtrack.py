"""Shape-morphing mechanisms, origami and soft robots, compared with scans.

    import morphtrack as mt

    sheet = mt.mechanisms.triangle_sheet(rows=3, columns=3)
    run = mt.simulate(mt.Morph(sheet, target=mt.targets.Cylinder(radius=2.0)))
    found = mt.find_spheres(["front.ply", "back.ply"], radius_mm=6.0, unit="mm")
    mt.compare(run, found, scale_mm=40.0).verdict

Build a mechanism (`mechanisms`), a crease pattern (`patterns`) or a robot (`robots`).
`Morph` brings a mechanism to one of `targets`, `Equilibrium` loads it, `Motion` moves
it; `Fold` and `Origami` fold a pattern; a robot is simulated as it is. `simulate` gives
a `Run` with `steps` (a table), `arrays`, `result` and `path`; `plot` draws it.
`find_spheres` and `compare` set it beside a scan; `load_run` finds a run again.

Runs are below results/ in the current folder. Each has the hash of all that decides its
numbers as its key, and none is computed twice.
"""

from pipeline.api import mechanisms, patterns, robots, targets
from pipeline.api.cases import Equilibrium, Fold, Morph, Motion, Origami
from pipeline.api.runs import (
    Comparison,
    Run,
    Spheres,
    compare,
    find_spheres,
    load_run,
    plot,
    simulate,
)
from pipeline.terminal import InputError, RunFailedError

__all__ = [
    "Comparison",
    "Equilibrium",
    "Fold",
    "InputError",
    "Morph",
    "Motion",
    "Origami",
    "Run",
    "RunFailedError",
    "Spheres",
    "compare",
    "find_spheres",
    "load_run",
    "mechanisms",
    "patterns",
    "plot",
    "robots",
    "simulate",
    "targets",
]
