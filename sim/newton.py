"""The iteration that the solvers share, and the error that ends it honestly."""

from collections.abc import Callable

import numpy as np

from sim.arrays import Floats


class NotConvergedError(RuntimeError):
    """A stated tolerance was not met; `best` is the best state that was reached."""

    def __init__(self, message: str, *, best: object) -> None:
        super().__init__(message)
        self.best = best


def newton(
    evaluate: Callable[[Floats], tuple[float, Callable[[], Floats]]],
    x: Floats,
    *,
    tolerance: float,
    max_iterations: int = 50,
) -> tuple[Floats, int]:
    """Repeat x <- x + step until the residual is at most `tolerance`.

    Parameters
    ----------
    evaluate : x -> (size of the residual, a function that computes the step);
        the step is asked for only where it is needed
    x : (n,) start
    tolerance : on the size of the residual

    Returns
    -------
    x : (n,) with a residual within tolerance
    iterations : number of steps taken

    Raises
    ------
    NotConvergedError
        with the x of the smallest residual as `best`.
    """
    best, smallest = x, np.inf
    for iteration in range(max_iterations + 1):
        size, step = evaluate(x)
        if size <= tolerance:
            return x, iteration
        if size < smallest:
            best, smallest = x, size
        if iteration == max_iterations or not np.isfinite(size):
            break
        x = x + step()
    raise NotConvergedError(
        f"residual {smallest:.1e} is above {tolerance:.0e} after {iteration} "
        "Newton iterations: start closer, or take smaller steps",
        best=best,
    )
