"""Single vertices of four to eight creases against theorem and independent solver.

A vertex folds from the flat sheet, rigid panels, if and only if three creases of one
sign, less than 180 degrees apart, meet one of the other sign (Abel et al., J. Comput.
Geom. 7, 2016, 171). Where it comes to rest is checked
by SLSQP, from the sheet's own folds: the squares of what is missing are least, and the
product of SciPy's rotations around the vertex is I. A sheet is folded where the theorem
lets it, and every crease of that solution is on its side.
"""

from itertools import combinations
from typing import NamedTuple

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.spatial.transform import Rotation

from sim.core.arrays import Floats
from sim.origami.folding.outcome import WRONG, FoldVerdict
from sim.origami.pattern.rigid_folding import RigidSheet
from tests.sim.origami.known_folds import M, V, folded, star

DEGREES = range(4, 9)
FRACTION = 0.2  # of the assigned folds


class Vertex(NamedTuple):
    sectors: Floats  # degrees
    signs: Floats  # of the crease before each

    def folds_rigidly(self) -> bool:
        at = np.cumsum(self.sectors) - self.sectors
        return any(
            bool((self.signs == -sign).any())
            and any(
                np.diff([*three, three[0] + 360.0]).max() < 180.0
                for three in combinations(at[self.signs == sign], 3)
            )
            for sign in (M, V)
        )

    def loop(self, folds: Floats) -> Floats:
        """(3,) rotation vector that is left around the vertex."""
        product = Rotation.identity()
        for fold, sector in zip(folds, np.radians(self.sectors), strict=True):
            product *= Rotation.from_euler("x", fold) * Rotation.from_euler("z", sector)
        return np.asarray(product.as_rotvec())

    def closest(self, asked: Floats, start: Floats) -> Floats:
        """Folds that close, from which no small motion comes closer to those asked."""
        end = minimize(
            lambda x: ((x - asked) ** 2).sum(),
            start,
            jac=lambda x: 2.0 * (x - asked),
            constraints={"type": "eq", "fun": self.loop},
            method="SLSQP",
            options={"maxiter": 200},
        )
        assert np.abs(self.loop(end.x)).max() < 1e-6
        return np.asarray(end.x)


def drawn(creases: int, rng: np.random.Generator) -> Vertex:
    """Sectors of 20 to 165 degrees at random; no two creases are within 5 of a line."""
    while True:
        sectors = 360.0 * rng.dirichlet(np.full(creases, 4.0))
        at = np.cumsum(sectors) - sectors
        apart = np.abs(np.subtract.outer(at, at) % 360.0 - 180.0)
        if sectors.min() > 20.0 and sectors.max() < 165.0 and apart.min() > 5.0:
            return Vertex(sectors, rng.choice([M, V], creases))


@pytest.mark.parametrize(
    ("seed", "each", "most_open"),
    [
        (0, 3, 2),
        *(pytest.param(seed, 5, 25, marks=pytest.mark.slow) for seed in range(4)),
    ],
)
def test_the_flat_sheet_is_left_where_the_theorem_lets_it(seed, each, most_open):
    """Of those that do not fold a few will do: all starts are tried for each."""
    rng, found = np.random.default_rng(seed), list[bool]()
    for creases in [*DEGREES] * each:
        vertex = drawn(creases, rng)
        folds = vertex.folds_rigidly()
        if not folds and found.count(False) == most_open:
            continue
        pattern = star(vertex.sectors.tolist(), vertex.signs.tolist())
        asked = np.pi * np.asarray(pattern.assignment)[pattern.creases]
        first = RigidSheet(pattern, asked, np.ones(creases)).left_to()
        found.append(not first.open_vertices)
        assert found[-1] == folds, vertex
    assert 0.3 <= np.mean(found) <= 0.8


def verdict(vertex: Vertex) -> tuple[FoldVerdict, Floats]:
    """Of the sheet, and its folds in the order of the sectors."""
    pattern = star(vertex.sectors.tolist(), vertex.signs.tolist())
    report, _ = folded(pattern, FRACTION, increments=10)
    ring = pattern.edges[pattern.creases, 1]
    return report.verdict, report.reached[np.argsort(ring)]


def judged(vertex: Vertex) -> tuple[bool | None, bool]:
    """Whether it folds (None: panels that bend decide), and whether we say so."""
    word, reached = verdict(vertex)
    right = vertex.folds_rigidly()
    if right:
        there = vertex.closest(FRACTION * np.pi * vertex.signs, reached)
        if reached != pytest.approx(there, abs=np.radians(2.0)):
            return right, False
        least = float((vertex.signs * there).min())
        if abs(least + WRONG) < np.radians(0.5):
            return None, True
        right = least > -WRONG
    return right, (word is FoldVerdict.FOLDED) == right


@pytest.mark.long
@pytest.mark.parametrize("creases", DEGREES)
def test_a_vertex_folds_where_the_independent_solver_does(creases):
    rng, folds = np.random.default_rng(creases), 0
    for _ in range(20):
        vertex = drawn(creases, rng)
        right, told = judged(vertex)
        assert told, vertex
        folds += bool(right)
    assert 1 <= folds <= 20


def test_a_vertex_of_six_equal_sectors_folds_rigidly():
    """Ron Resch's: mountains at -86.63 degrees go with valleys at 24.293."""
    vertex = Vertex(np.full(6, 60.0), np.array([M, V] * 3))
    assert np.abs(vertex.loop(np.radians([-86.63, 24.293] * 3))).max() < 1e-4
    word, reached = verdict(vertex)
    assert word is FoldVerdict.FOLDED
    assert reached[[2, 4, 3, 5]] == pytest.approx(reached[[0, 0, 1, 1]], abs=1e-4)
    there = vertex.closest(reached, reached)
    assert reached == pytest.approx(there, abs=np.radians(0.2))
    assert np.abs(there).min() > np.radians(5.0)
