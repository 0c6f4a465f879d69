"""A state as plain arrays, to be kept in a file and continued from."""

import numpy as np
from numpy.typing import NDArray

from sim.rod.blocks import Blocks
from sim.rod.elastic import Strains
from sim.rod.state import State


def to_arrays(state: State) -> dict[str, NDArray[np.generic]]:
    """The arrays of a state by name."""
    arrays: dict[str, NDArray[np.generic]] = {}
    for name, part in zip(State._fields, state, strict=True):
        if isinstance(part, Strains | Blocks):
            for inner, array in zip(part._fields, part, strict=True):
                arrays[f"{name}_{inner}"] = array
        else:
            arrays[name] = part
    return arrays


def from_arrays(arrays: dict[str, NDArray[np.generic]]) -> State:
    """The state that `to_arrays` took apart."""

    def part(name: str) -> object:
        for kind in (Strains, Blocks):
            names = [f"{name}_{inner}" for inner in kind._fields]
            if names[0] in arrays:
                return kind(*(arrays[inner] for inner in names))
        return arrays[name]

    return State(*(part(name) for name in State._fields))  # type: ignore[arg-type]
