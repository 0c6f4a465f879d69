"""How the compiled loops of the solvers are made: numba, cached beside the source.

`numba.njit` has no types of its own; this wrapper keeps the function's, so that
mypy still checks the callers of a kernel. Kernels compile at their first call, and
only once on a machine.
"""

from collections.abc import Callable
from typing import TypeVar, cast

import numba

Function = TypeVar("Function", bound=Callable[..., object])


def kernel(function: Function) -> Function:
    """Compile at the first call; division by zero gives inf or nan, as in numpy."""
    return cast(Function, numba.njit(cache=True, error_model="numpy")(function))
