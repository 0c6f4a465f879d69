"""A rod in motion as plain arrays, to be kept in a file and continued from."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sim.rod.moving.trial import SpaceLedger, SpaceMoving
from sim.rod.space.frames import SpaceState

CLOCK = ("step", "time", "length", "last")
VECTORS = ("v", "acceleration", "push", "drift", "pulse", "rubbing")


def moving_arrays(moving: SpaceMoving) -> dict[str, NDArray[Any]]:
    """The arrays of a rod in motion by name."""
    clock = np.array([float(getattr(moving, name)) for name in CLOCK])
    kept = {name: getattr(moving, name) for name in VECTORS}
    clocks = {"clock": clock, "ledger": np.array(moving.ledger)}
    return {**moving.state._asdict(), **kept, **clocks}


def moving_from(arrays: Mapping[str, NDArray[Any]]) -> SpaceMoving:
    """What `moving_arrays` took apart."""
    step, time, length, last = arrays["clock"].tolist()
    return SpaceMoving(
        SpaceState(*(arrays[name] for name in SpaceState._fields)),
        arrays["v"],
        arrays["acceleration"],
        arrays["push"],
        arrays["drift"],
        int(step),
        time,
        length,
        last,
        SpaceLedger(*arrays["ledger"].tolist()),
        arrays["pulse"],
        arrays["rubbing"],
    )
