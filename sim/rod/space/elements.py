"""The arrays of a rod in space that compiled loops read."""

from typing import NamedTuple

import numpy as np

from sim.arrays import Floats, Ints
from sim.rod.space.space_rod import SpaceRod, StretchLaw


class SpaceElements(NamedTuple):
    """What the compiled loops read of a rod; names as in `SpaceRod`.

    Attributes
    ----------
    hinge_rest : (k, 3) natural strains of hinges, see `sim.rod.space.hinges`
    """

    edges: Ints
    bends: Ints
    rest: Floats
    voronoi: Floats
    stretching: Floats
    bending: Floats
    twisting: Floats
    curvature: Floats
    hinges: Ints
    axes: Floats
    hinge_stiffness: Floats
    hinge_rest: Floats
    rubber: bool


def space_elements(rod: SpaceRod) -> SpaceElements:
    """The arrays of `rod`."""

    def numbers(values: Floats) -> Floats:
        return np.ascontiguousarray(values, dtype=np.float64)

    return SpaceElements(
        edges=np.ascontiguousarray(rod.edges, dtype=np.int64),
        bends=np.ascontiguousarray(rod.bends, dtype=np.int64),
        rest=numbers(rod.rest_length),
        voronoi=numbers(rod.voronoi),
        stretching=numbers(rod.stretching),
        bending=numbers(rod.bending),
        twisting=numbers(rod.twisting),
        curvature=numbers(rod.curvature),
        hinges=np.ascontiguousarray(rod.hinges, dtype=np.int64),
        axes=numbers(rod.axes),
        hinge_stiffness=numbers(rod.hinge_stiffness),
        hinge_rest=np.zeros((len(rod.hinges), 3)),
        rubber=rod.law is StretchLaw.RUBBER,
    )


def copied(part: SpaceElements) -> SpaceElements:
    """Elements with arrays of their own."""
    arrays = {k: v.copy() for k, v in part._asdict().items() if k != "rubber"}
    return part._replace(**arrays)


def refill(own: SpaceElements, given: SpaceElements) -> None:
    """The arrays of one <- those of the other."""
    for array, values in zip(own[:-1], given[:-1], strict=True):
        array[...] = values
