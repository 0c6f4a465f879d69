"""Loads of rod files: the same file in the plane and in space, and closed forms."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pipeline.cases.user_rods import RodFileCase
from sim.core.arrays import Floats
from sim.rods.plane.options import Integrator, StepOptions
from sim.rods.plane.world import Damping

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


def test_a_load_for_a_time_moves_rods_in_space_as_in_their_plane(tmp_path):
    load = {"at": [[50, 0]], "force": [1e-3, -4e-3], "start": 0.005, "duration": 0.021}
    raised = {"load": {**load, "at": [[50, 0, 0]], "force": [1e-3, -4e-3, 0]}}
    check_same(ends(tmp_path, {"load": load}, raised))


def test_spread_loads_of_a_file_move_rods_in_space_as_in_their_plane(tmp_path):
    """Across is to the left in the plane, and the way of `across` in space."""
    loads = [
        {"rod": 0, "force": [0.01, -0.05], "start": 0.005, "duration": 0.02},
        {"rod": 0, "along": 0.02, "across": 0.06},
    ]
    raised = [{**loads[0], "force": [0.01, -0.05, 0]}, loads[1]]
    flat = {"distributed_loads": loads}
    check_same(ends(tmp_path, flat, {"distributed_loads": raised}))


def test_forces_on_ends_of_a_file_move_rods_in_space_as_in_their_plane(tmp_path):
    """To the left of the way out is the way of `across` at the end, not where a rod
    begins."""
    ends_of = [
        {"at": [0, 0], "along": 1e-3, "across": -2e-3},
        {"at": [50, 0], "along": 1e-3, "across": 1e-3, "start": 0.01, "duration": 0.02},
    ]
    raised = [{**one, "at": [*one["at"], 0]} for one in ends_of]
    flat = {"follower_forces": ends_of}
    check_same(ends(tmp_path, flat, {"follower_forces": raised}))


def test_rods_that_are_joined_are_loaded_by_their_own_lengths(tmp_path):
    """Stubs at joints count once: a force per length times that of the rod it is on."""
    content = {
        **RODS, **LIFTED, "gravity": [0, 0, 0], "duration": 0.01,
        "rods": [
            {"line": [[0, 0, 0], [50, 0, 0]]},
            {"line": [[25, 0, 0], [25, 40, 30]]},
        ],
        "distributed_loads": [
            {"rod": 0, "force": [0, 0, 0.01]}, {"rod": 1, "force": [0, 0.02, 0]},
        ],
    }  # fmt: skip
    last = ended(tmp_path, content)
    told = 0.01 * np.array([0.0, 0.02 * 0.05, 0.01 * 0.05])
    assert last.momentum == pytest.approx(told, abs=1e-11)
