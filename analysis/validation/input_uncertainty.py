"""What printing errors do to a morphed shape: a Monte Carlo through the solver.

Each draw prints the structure again with other link lengths and lets the solver find
the shape that this print takes.  The covariance of those shapes is the input's part
of the validation uncertainty; a mechanism turns a small error of a link into a large
one of the nodes far from it, all of them together.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np

from analysis.alignment import align
from sim.arrays import Floats
from sim.convergence import NotConvergedError
from sim.morph.structure.constraints import ConstraintKind
from sim.morph.structure.structure import Structure

Solve = Callable[[Structure], Floats]


def printed_again(
    structure: Structure, length_sd: float, rng: np.random.Generator
) -> Structure:
    """The structure with every link and every side of a body a little off.

    Parameters
    ----------
    length_sd : of each length, in the structure's unit
    """
    table = structure.constraints
    links = table.kind == ConstraintKind.DIST
    length = np.sqrt(table.constant[links])
    constant = table.constant.copy()
    constant[links] = (length + rng.normal(0.0, length_sd, len(length))) ** 2
    return replace(structure, constraints=replace(table, constant=constant))


def draw_shapes(
    structure: Structure,
    solve: Solve,
    length_sd: float,
    draws: int,
    rng: np.random.Generator,
) -> Iterator[Floats | None]:
    """Yield the shape (n, 3) of each print; None where the solver found none.

    Parameters
    ----------
    solve : from a structure to its last configuration
    """
    for _ in range(draws):
        try:
            yield solve(printed_again(structure, length_sd, rng))
        except NotConvergedError:
            yield None


def shape_covariance(final: Floats, drawn: Floats) -> Floats:
    """Mean square departure of drawn shapes from the nominal one, rigid motion removed.

    It is taken about the nominal shape, so it owns up to a shift of the mean as well.

    Parameters
    ----------
    final : (n, 3) nominal configuration
    drawn : (draws, n, 3)

    Returns
    -------
    (3n, 3n) in the unit of `final` squared
    """
    if len(drawn) < 2:
        raise ValueError(
            f"{len(drawn)} drawn shapes give no covariance: raise the number of draws, "
            "or lower the printing error until the solver converges"
        )
    departures = np.array([align(final, x).difference.ravel() for x in drawn])
    covariance: Floats = departures.T @ departures / len(departures)
    return covariance


def distance_covariance(
    final: Floats, drawn: Floats, closest: Callable[[Floats], Floats]
) -> Floats:
    """Mean square change of what parts the nodes from their goals.

    Parameters
    ----------
    final : (n, 3) nominal configuration
    drawn : (draws, n, 3)
    closest : goals of all nodes (n, 3)

    Returns
    -------
    (3n, 3n) in the unit of `final` squared
    """
    apart = final - closest(final)
    changes = np.array([(x - closest(x) - apart).ravel() for x in drawn])
    covariance: Floats = changes.T @ changes / len(changes)
    return covariance
