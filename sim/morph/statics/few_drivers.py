"""Shapes with no more than some drivers: which joints are locked, and what it costs.

A joint that is locked stays as it is drawn: the nodes beside it keep their distance,
one row more and one motion less. Of the sets of joints that leave no more motions than
there may be drivers, the one by which the power mean of E^2 is least is sought: of few
sets all are tried, else one joint after the other is locked, of the few that move least
the one that costs least (greedy; `best` says which).
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations, islice
from math import comb
from typing import NamedTuple

import numpy as np

from sim.arrays import Floats
from sim.convergence import NotConvergedError
from sim.limits import is_count
from sim.morph.equations.system import state
from sim.morph.mobility.mobility import internal_motions
from sim.morph.morphing.design import rest
from sim.morph.morphing.morph import MorphStep
from sim.morph.morphing.problem import NewtonOptions
from sim.morph.morphing.search import power_mean
from sim.morph.statics.drivable import drivable
from sim.morph.structure.constraints import ConstraintTable, dist
from sim.morph.structure.measures import characteristic_length
from sim.morph.structure.structure import Structure
from sim.morph.targets.protocol import Target

MOST_SETS = 100  # that are tried one by one
TRIALS = 6  # joints that are tried for each that is locked, where sets are more


class LockedJoints(NamedTuple):
    """A structure some of whose joints are locked.

    Attributes
    ----------
    locked : names of the coordinates that are held
    motions : that are left, each of which asks for a driver
    E : (T,) at the end of the morph to each target; F their power mean of squares
    best : whether all sets of so many joints were tried
    """

    structure: Structure
    locked: tuple[str, ...]
    motions: int
    F: float
    E: Floats
    ends: tuple[MorphStep, ...]
    best: bool


def with_few_drivers(
    structure: Structure,
    targets: Sequence[Target],
    most: int,
    sharpness: float,
    options: NewtonOptions,
) -> Iterator[LockedJoints]:
    """Yield the structure as it is, then with ever fewer motions, `most` at last.

    Parameters
    ----------
    most : drivers that there may be
    """
    if not is_count(most, 0):
        raise ValueError(f"drivers is {most}: give a whole number from 0 up")
    pairs = _pairs(structure)

    def tried(names: Sequence[str], *, best: bool) -> LockedJoints | None:
        made = _locked(structure, {name: pairs[name] for name in names})
        left = _motions(made, state(made))
        if left != first - len(names):
            return None  # a lock that says nothing new, or nothing to first order
        try:
            ends = tuple(rest(made, target, options, None) for target in targets)
        except NotConvergedError:
            return None
        E = np.array([end.E for end in ends])
        F, _ = power_mean(E, sharpness)
        motions = max(_motions(made, end.state) for end in ends)
        return LockedJoints(made, tuple(names), motions, F, E, ends, best)

    first = _motions(structure, state(structure))
    here = tried((), best=True)
    if here is None:
        raise NotConvergedError("the morphs do not converge", best=structure.r0)
    yield here
    for count in range(1, first - most + 1):
        best = comb(len(pairs), count) <= MOST_SETS
        sets: Iterable[Sequence[str]] = combinations(pairs, count)
        if not best:
            sets = ((*here.locked, name) for name in _stillest(structure, here))
        made = (tried(names, best=best) for names in sets)
        found = list(islice((one for one in made if one), None if best else TRIALS))
        if not found:
            raise NotConvergedError(
                f"no {count} joints can be locked as they are drawn so that "
                f"{first - count} motions are left: draw straight joints bent, or "
                "allow more drivers",
                best=structure.r0,
            )
        here = min(found, key=lambda one: one.F)
        yield here


def _stillest(structure: Structure, here: LockedJoints) -> list[str]:
    """Coordinates that are not locked, those first that move least to the ends."""
    free = drivable(structure)
    first = free.values(structure.r0)
    moved = np.max([np.abs(free.values(e.r, first) - first) for e in here.ends], axis=0)
    moved /= np.where(free.angular, 1.0, characteristic_length(structure.r0))
    order = [free.names[i] for i in np.argsort(moved, kind="stable")]
    return [name for name in order if name not in here.locked]


def _pairs(structure: Structure) -> dict[str, tuple[int, int]]:
    """Nodes that keep their distance where each coordinate is locked."""
    free = drivable(structure)
    ends = [*free.lengths[:, :2], *free.corners[:, [0, 2]], *free.hinges[:, [0, 3]]]
    return {
        name: (int(a), int(b)) for name, (a, b) in zip(free.names, ends, strict=True)
    }


def _locked(structure: Structure, pairs: Mapping[str, tuple[int, int]]) -> Structure:
    if not pairs:
        return structure
    rows = ConstraintTable.of(
        [dist(structure.r0, a, b) for a, b in pairs.values()],
        tuple(f"lock {name}" for name in pairs),
    )
    return replace(structure, constraints=structure.constraints.followed_by(rows))


def _motions(structure: Structure, z: Floats) -> int:
    return len(internal_motions(structure, z))
