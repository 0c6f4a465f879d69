"""Structures and answers of tests/sim/mechanism/data; dense twins of the solver."""

import json
from pathlib import Path
from typing import Any

import numpy as np

from sim.core.arrays import Floats
from sim.mechanism.constraint_system import ConstraintSystem, linearise
from sim.mechanism.constraints import (
    NODES,
    Constraint,
    ConstraintKind,
    ConstraintTable,
)
from sim.mechanism.structure import Structure

DATA = Path(__file__).parent / "data"


def load(name: str) -> dict[str, Any]:
    content: dict[str, Any] = json.loads((DATA / f"{name}.json").read_text())
    return content


def structure_of(content: dict[str, Any]) -> Structure:
    constraints = []
    for kind in ConstraintKind:
        integers = int(NODES[kind]) + (kind is ConstraintKind.FIX)
        for row in content.get(kind.name.lower(), []):
            constant = row[integers] if len(row) > integers else 0.0
            constraints.append(Constraint(kind, tuple(row[:integers]), constant))
    return Structure(
        np.array(content["nodes"]),
        ConstraintTable.of(constraints),
        np.array(content["leading"]),
        goals=np.array(content["goals"]) if "goals" in content else None,
    )


def dense_jacobian(system: ConstraintSystem, z: Floats) -> Floats:
    """(m, 3n + k): a column for each coordinate and each multiplier."""
    linear = linearise(system, z)
    blocks = np.zeros((system.m, system.n + system.k, 3))
    np.add.at(blocks, (system.block_row, system.block_node), linear.B)
    J: Floats = blocks.reshape(system.m, -1)
    used = np.concatenate(
        [np.arange(3 * system.n), 3 * system.n + 3 * np.arange(system.k)]
    )
    chosen: Floats = J[:, used]
    return chosen
