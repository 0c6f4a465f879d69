"""Loads of rod files: the same file in the plane and in space, and closed forms."""

import json
from pathlib import Path
from typing import Any

import numpy as np

from pipeline.cases.rod_file import RodFileCase
from sim.arrays import Floats
from sim.rod.stepping.options import Integrator, StepOptions
from sim.rod.stepping.world import Damping

RODS: dict[str, Any] = {
    "unit": "mm",
    "section": {"round": {"diameter": 2}},
    "material": {"modulus": 3e8, "density": 1000},
    "spacing": 5,
    "rods": [{"line": [[0, 0], [50, 0]]}],
    "gravity": [0, -1],
    "duration": 0.05,
}
LIFTED: dict[str, Any] = {
    "rods": [{"line": [[0, 0, 0], [50, 0, 0]], "across": [0, 1, 0]}],
    "gravity": [0, -1, 0],
    "dimension": 3,
}
DRAWN = np.column_stack([np.linspace(0.0, 0.05, 11), np.zeros(11)])
NEWMARK = StepOptions(5e-4, Integrator.NEWMARK, tolerance=1e-13, residual=1e-11)


def ended(folder: Path, content: dict[str, Any], **case: Any) -> Any:
    """The last step of a file."""
    path = folder / "rod.json"
    path.write_text(json.dumps(content))
    made = RodFileCase(
        str(path), every=1000, options=NEWMARK, damping=Damping(beta=0.0), **case
    )
    *_, last = made.steps()
    return last


def ends(folder: Path, flat: dict[str, Any], raised: dict[str, Any]) -> list[Floats]:
    """(3, n, 2) where a file ends in the plane, lifted from it, and drawn in space."""
    plane = {**RODS, **flat}
    both = ended(folder, plane), ended(folder, plane, dimension=3)
    space = ended(folder, {**plane, **LIFTED, **raised})
    return [step.x[:, :2] for step in (*both, space)]


def check_same(ways: list[Floats]) -> None:
    plane, lifted, space = ways
    assert np.abs(plane - DRAWN).max() > 5e-3
    assert np.abs(lifted - plane).max() <= 1e-10
    assert np.abs(space - plane).max() <= 1e-10


def test_a_load_for_a_time_moves_rods_in_space_as_in_their_plane(
    tmp_path: Path,
) -> None:
    load = {"at": [[50, 0]], "force": [1e-3, -4e-3], "start": 0.005, "duration": 0.021}
    raised = {"load": {**load, "at": [[50, 0, 0]], "force": [1e-3, -4e-3, 0]}}
    check_same(ends(tmp_path, {"load": load}, raised))
