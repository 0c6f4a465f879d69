"""A state as plain arrays, to be kept in a file and continued from."""

from collections.abc import Mapping
from typing import Any

from numpy.typing import NDArray

from sim.rod.blocks import Blocks
from sim.rod.elastic import Strains
from sim.rod.state import State


def to_arrays(state: State) -> dict[str, NDArray[Any]]:
    """The arrays of a state by name."""
    arrays: dict[str, NDArray[Any]] = state._asdict()
    for name in ("strain", "factor"):
        parts: Any = arrays.pop(name)
        for inner, array in parts._asdict().items():
            arrays[f"{name}_{inner}"] = array
    return arrays


def from_arrays(arrays: Mapping[str, NDArray[Any]]) -> State:
    """The state that `to_arrays` took apart."""
    strain = Strains(*(arrays[f"strain_{name}"] for name in Strains._fields))
    factor = Blocks(*(arrays[f"factor_{name}"] for name in Blocks._fields))
    others = {
        name: arrays[name] for name in State._fields if name not in ("strain", "factor")
    }
    return State(**others, strain=strain, factor=factor)
