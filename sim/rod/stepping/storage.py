"""A state as plain arrays, to be kept in a file and continued from."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sim.rod.energy.blocks import BlockMatrix
from sim.rod.energy.elastic import Strains
from sim.rod.stepping.state import Clock, RodState, zeros


def to_arrays(state: RodState) -> dict[str, NDArray[Any]]:
    """The arrays of a state by name."""
    arrays: dict[str, NDArray[Any]] = state._asdict()
    clock: Any = state.clock
    arrays["clock"] = np.array(clock.tolist())
    for name in ("strain", "factor"):
        parts: Any = arrays.pop(name)
        for inner, array in parts._asdict().items():
            arrays[f"{name}_{inner}"] = array
    return arrays


def from_arrays(arrays: Mapping[str, NDArray[Any]]) -> RodState:
    """The state that `to_arrays` took apart."""
    strain = Strains(*(arrays[f"strain_{name}"] for name in Strains._fields))
    factor = BlockMatrix(*(arrays[f"factor_{name}"] for name in BlockMatrix._fields))
    clock: Any = zeros(Clock)
    for name, value in zip(clock.dtype.names, arrays["clock"], strict=True):
        clock[name] = value
    made: dict[str, Any] = {"strain": strain, "factor": factor, "clock": clock}
    kept: dict[str, Any] = {
        name: arrays[name] for name in RodState._fields if name not in made
    }
    return RodState(**made, **kept)
