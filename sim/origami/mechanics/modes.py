"""The tangent stiffness at a state of a sheet: softest modes, stiffness along a way."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.linalg import eigh
from scipy.sparse.linalg import eigsh, spsolve

from sim.arrays import Floats
from sim.limits import is_finite
from sim.origami.folding.folding import OrigamiStep
from sim.origami.folding.problem import FoldingProblem
from sim.origami.folding.sheet import Sheet
from sim.origami.folding.stability import DENSE_UP_TO, tangent_at
from sim.origami.loading.phases import Phase


class Eigenmodes(NamedTuple):
    """The softest ways in which a sheet moves about a state.

    Attributes
    ----------
    values : (k,) N/m, ascending
    shapes : (k, n, 3) moves of the nodes, each of norm 1, zero where they are held
    """

    values: Floats
    shapes: Floats


@dataclass(frozen=True)
class Probe:
    """A force of 1 N, the same on each of some nodes, along a direction.

    Parameters
    ----------
    direction : (3,) of any length
    """

    nodes: Sequence[int]
    direction: Sequence[float]

    def __post_init__(self) -> None:
        way = list(self.direction)
        if len(way) != 3 or not all(map(is_finite, way)) or not any(way):
            raise ValueError(f"a probe has direction {way}: give x, y and z")
        if not self.nodes:
            raise ValueError("a probe has no nodes: name those that carry its force")

    def check(self, nodes: int) -> None:
        """Refuse nodes that a mesh does not have."""
        for node in self.nodes:
            if not 0 <= node < nodes:
                raise ValueError(
                    f"a probe names node {node}, but nodes are numbered 0 to "
                    f"{nodes - 1}"
                )


def eigenmodes(sheet: Sheet, phase: Phase, step: OrigamiStep, count: int) -> Eigenmodes:
    """The eigenvectors of `smallest_eigenvalues`, each with its largest move positive.

    As all nodes count alike, values hang on the mesh; where a mode turns about creases
    alone its shape does not.
    """
    problem, K = tangent_at(sheet, phase, step)
    count = min(count, K.shape[0])
    if K.shape[0] <= DENSE_UP_TO:
        values, vectors = eigh(K.toarray(), subset_by_index=(0, count - 1))
    else:
        values, vectors = eigsh(K, k=count, sigma=0.0, v0=np.ones(K.shape[0]))
    order = np.argsort(values)
    shapes = np.array([_spread(problem, vectors[:, i]) for i in order])
    return Eigenmodes(values[order], shapes)


def _spread(problem: FoldingProblem, vector: Floats) -> Floats:
    """(n, 3) moves of the nodes from those of the unknowns, its sign settled."""
    unknown = problem.model.unknown
    vector = vector * np.sign(vector[np.argmax(np.abs(vector))])
    return np.where(unknown >= 0, vector[unknown], 0.0)


def stiffness_along(
    sheet: Sheet, phase: Phase, step: OrigamiStep, probe: Probe
) -> float:
    """Force by the mean move of the probe's nodes along it, to first order, N/m.

    1 / (P . K^-1 P) with P the force of the probe; nodes are free to move otherwise.
    """
    problem, K = tangent_at(sheet, phase, step)
    way = np.asarray(probe.direction, dtype=np.float64)
    share = way / np.linalg.norm(way) / len(probe.nodes)
    P = np.zeros(K.shape[0])
    for node in probe.nodes:
        rows = problem.model.unknown[node]
        P[rows[rows >= 0]] += share[rows >= 0]
    if not P.any():
        return np.inf
    return float(1.0 / (P @ spsolve(K, P)))
