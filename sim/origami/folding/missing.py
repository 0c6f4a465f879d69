"""How far creases are from what is asked of them, beyond it or short of it."""

import numpy as np

from sim.arrays import Floats


def missing_folds(asked: Floats, reached: Floats) -> Floats:
    """(c,) how far each crease is from what is asked, rad; zero where nothing is."""
    return np.asarray(np.nan_to_num(asked - reached))


def over_folds(asked: Floats, reached: Floats) -> Floats:
    """(c,) how far each crease is beyond what is asked; negative where it is short.

    What is to stay flat is beyond it on either side. In the unit of both arguments.
    """
    side = np.where(np.nan_to_num(asked) == 0.0, np.sign(reached), np.sign(asked))
    return np.asarray(-side * missing_folds(asked, reached))


def over_and_short(over: Floats, unit: str) -> str:
    """The largest of `over_folds` in degrees either way, in words."""
    most = {"over": over.max(initial=0.0), "short": (-over).max(initial=0.0)}
    said = [f"{far:.0f}{unit} {way}" for way, far in most.items() if far > 0.0]
    return f"{', '.join(said)} at most"
