"""Energy along a driven coordinate: stable states, and the barriers between them.

One coordinate of a node is moved, everything else comes to rest
(`sim.mechanism.statics.equilibrium`); the force that it takes is the slope of the
energy,

    F(q) = dPi/dq.

Where F vanishes the structure rests without its driver: stable where the energy is
least along the path, at the top of a barrier where it is largest. Such a top is a pass
between two states if the energy falls from it in one way only (`downhill` 1); with
more, there is a lower pass off this path.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from scipy.optimize import brentq

from sim.core.arrays import Floats
from sim.core.options import Checked, Count
from sim.mechanism.constraints import Constraint, ConstraintKind, ConstraintTable
from sim.mechanism.statics.equilibrium import (
    Equilibrium,
    EquilibriumOptions,
    at_rest,
    inertia,
)
from sim.mechanism.statics.loaded_structure import LoadedStructure

LEAST = 1e-7  # force, relative to the largest on the path, that counts as none


@dataclass(frozen=True)
class Drive(Checked):
    """A coordinate of a node, moved by `distance` in equal increments."""

    node: int
    axis: int
    distance: float
    increments: Count = 40

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.axis not in (0, 1, 2):
            raise ValueError(f"axis is {self.axis}: it must be 0, 1 or 2")
        if not 0.0 < abs(self.distance) < np.inf:
            raise ValueError(
                f"distance is {self.distance}: give how far to move the node"
            )


class SnapStep(NamedTuple):
    """A rest with the driver holding.

    Attributes
    ----------
    moved : of the driven coordinate
    force : of the driver, dPi/dq
    """

    s: int
    moved: float
    force: float
    equilibrium: Equilibrium


class RestState(NamedTuple):
    """A rest without the driver.

    Attributes
    ----------
    downhill : ways in which the energy falls; 0 where it is stable
    """

    moved: float
    energy: float
    downhill: int
    equilibrium: Equilibrium

    @property
    def stable(self) -> bool:
        return self.downhill == 0


def driven(loaded: LoadedStructure, drive: Drive, moved: float) -> LoadedStructure:
    """The structure with its driven coordinate held."""
    structure = loaded.structure
    if not 0 <= drive.node < len(structure.r0):
        raise ValueError(
            f"node {drive.node} is driven but does not exist: name a node from 0 to "
            f"{len(structure.r0) - 1}"
        )
    table = structure.constraints
    fixed = table.nodes[table.kind == ConstraintKind.FIX, :2].tolist()
    if [drive.node, drive.axis] in fixed:
        raise ValueError(
            f"node {drive.node} is driven along {'xyz'[drive.axis]}, where a support "
            "holds it: take the support away"
        )
    value = float(structure.r0[drive.node, drive.axis]) + moved
    held = ConstraintTable.of(
        [Constraint(ConstraintKind.FIX, (drive.node, drive.axis), value)]
    )
    return replace(
        loaded, structure=replace(structure, constraints=table.followed_by(held))
    )


def profile(
    loaded: LoadedStructure, drive: Drive, options: EquilibriumOptions
) -> Iterator[SnapStep]:
    """Yield the rests along the path, the first where the structure is given."""
    equilibrium: Equilibrium | None = None
    for s, moved in enumerate(np.linspace(0.0, drive.distance, drive.increments + 1)):
        equilibrium = at_rest(driven(loaded, drive, float(moved)), options, equilibrium)
        yield SnapStep(s, float(moved), float(-equilibrium.y[-1]), equilibrium)


def rest_states(
    loaded: LoadedStructure,
    drive: Drive,
    steps: list[SnapStep],
    options: EquilibriumOptions,
) -> list[RestState]:
    """Where the driver carries nothing, in the order of the path."""
    largest = max(abs(step.force) for step in steps)
    states = []

    def add(moved: float, rest: Equilibrium) -> None:
        downhill = inertia(loaded, rest)[0]
        states.append(RestState(moved, rest.energy, downhill, rest))

    for step, following in zip(steps, [*steps[1:], None], strict=True):
        if abs(step.force) <= LEAST * largest:
            add(step.moved, step.equilibrium)
        elif (
            following is not None
            and abs(following.force) > LEAST * largest
            and step.force * following.force < 0.0
        ):
            add(*_between(loaded, drive, step, following, options))
    return states


def _between(
    loaded: LoadedStructure,
    drive: Drive,
    one: SnapStep,
    other: SnapStep,
    options: EquilibriumOptions,
) -> tuple[float, Equilibrium]:
    """Where the force vanishes between two steps."""
    start = one.equilibrium

    def rest(moved: float) -> Equilibrium:
        return at_rest(driven(loaded, drive, moved), options, start)

    root = float(
        brentq(lambda q: -rest(q).y[-1], one.moved, other.moved, xtol=1e-13, rtol=1e-12)
    )
    return root, rest(root)


def barriers(states: list[RestState], steps: list[SnapStep]) -> Floats:
    """(stable states - 1,) energy of the highest point between each two."""
    stable = [state for state in states if state.stable]
    out = []
    for one, other in pairwise(stable):
        low, high = sorted((one.moved, other.moved))
        tops = [s.energy for s in states if low <= s.moved <= high]
        tops += [s.equilibrium.energy for s in steps if low <= s.moved <= high]
        out.append(max(tops))
    return np.array(out)
