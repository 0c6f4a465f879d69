"""How the loops of this package are compiled.

Unlike `sim.kernels.kernel`, without numba's reference counts (`_nrt`). A step passes
some sixty arrays, in named tuples, to a dozen functions, and counting the references
to each of them took two thirds of the time of a run (docs/benchmarks.md). In return
these functions create no arrays: all their space is handed to them.
"""

from collections.abc import Callable
from typing import TypeVar

from sim.kernels import compiled

Function = TypeVar("Function", bound=Callable[..., object])


def kernel(function: Function) -> Function:
    """Compile at the first call; division by zero gives inf or nan, as in numpy."""
    return compiled(function, _nrt=False)


def released(function: Function) -> Function:
    """Compile likewise, to run without Python's lock, so that threads help."""
    return compiled(function, _nrt=False, nogil=True)
