"""A place on the path of something whose shape drivers change."""

from typing import NamedTuple

from sim.arrays import Floats


class Configuration(NamedTuple):
    """What drivers have to do there.

    Attributes
    ----------
    along : what the path is measured by
    r : (n, 3) nodes
    A : (c, f) how the f motions change the c coordinates that may be driven
    values : (c,) of the coordinates
    work : (f,) of the forces that drivers have to hold, in each motion
    lever : (c,) what an effort in units of A counts as: 1 as a force, L as a moment
    """

    along: float
    r: Floats
    A: Floats
    values: Floats
    work: Floats
    lever: Floats
