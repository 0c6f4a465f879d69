"""How the loops of this package are compiled.

Unlike `sim.kernels.kernel`, without numba's reference counts (`_nrt`). A step passes
some hundred arrays, in named tuples, to a dozen functions, and counting the references
to each of them took two thirds of the time of a run. In return
these functions create no arrays: all their space is handed to them.

Passing a hundred arrays is also most of what compiling such a function costs. So the
planar loop gets them by their address (`sim.pointed`), only functions that Python calls
can be called from it, and the spine of the loop, where each function is called in one
place only, is compiled as one.
"""

from collections.abc import Callable
from typing import TypeVar

from sim.kernels import compiled

Function = TypeVar("Function", bound=Callable[..., object])


def kernel(function: Function) -> Function:
    """Compile at the first call; division by zero gives inf or nan, as in numpy."""
    return compiled(function, _nrt=False)


def inner(function: Function) -> Function:
    """Compile likewise, for other kernels only."""
    return compiled(function, _nrt=False, no_cpython_wrapper=True)


def spine(function: Function) -> Function:
    """Compile as a part of the one kernel that calls it."""
    return compiled(function, _nrt=False, inline="always")


def released(function: Function) -> Function:
    """Compile likewise, to run without Python's lock, so that threads help."""
    return compiled(function, _nrt=False, nogil=True)
