"""The coordinates that may be driven along a turn of a linkage, or along a morph."""

from collections.abc import Iterable, Iterator

import numpy as np

from sim.arrays import Floats
from sim.driven import Configuration
from sim.morph.equations.system import state
from sim.morph.mobility.mobility import internal_motions
from sim.morph.morphing.morph import MorphStep
from sim.morph.statics.driving import Coordinates, driven_map, released
from sim.morph.structure.measures import characteristic_length
from sim.morph.structure.structure import Structure


def turned(
    turn: Iterable[tuple[float, Structure]], joints: Coordinates, load: Floats
) -> Iterator[Configuration]:
    """A linkage in one configuration after the other.

    Parameters
    ----------
    turn : what it is measured by, such as the angle of a crank, and the linkage there
    load : (3,) force on each node
    """
    before = None
    for angle, structure in turn:
        r = structure.r0
        U = internal_motions(structure, state(structure))
        L = characteristic_length(r)
        A = driven_map(joints, r, U, L)
        before = joints.values(r, before)
        work = np.einsum("fnj,j->f", U, load)
        yield Configuration(angle, r, A, before, work, joints.levers(L))


def morphed(
    structure: Structure,
    steps: Iterable[MorphStep],
    coordinates: Coordinates,
    load: Floats,
) -> Iterator[Configuration]:
    """The steps of a morph, whose links that are driven may change their lengths.

    Parameters
    ----------
    load : (3,) force on each node besides the pull of springs of stiffness one towards
        the goals
    """
    made, before = released(structure, coordinates), None
    L = characteristic_length(made.r0)
    for step in steps:
        U = internal_motions(made, step.state)
        A = driven_map(coordinates, step.r, U, L)
        before = coordinates.values(step.r, before)
        work = np.einsum("fnj,nj->f", U, step.g - step.r + load)
        lever = coordinates.levers(L)
        yield Configuration(step.s, step.r, A, before, work, lever)
