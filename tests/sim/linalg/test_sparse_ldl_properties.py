"""What holds of L D L^T for any symmetric matrix, whatever its pattern and values.

Rounding is judged by the bound of Higham, Accuracy and Stability of Numerical
Algorithms (2002), theorem 9.3: the factors of A are those of A + dA with

    |dA| <= gamma |L| |D| |L^T|,

entry by entry, however large |L| |D| |L^T| grows where a pivot is small.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from sim.core.arrays import Floats, Ints
from sim.linalg.sparse_ldl import Factor, SparsityPattern, analyse, factorise

Graph = list[tuple[int, ...]]

FEW = settings(
    max_examples=40,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow],
)
GRAPHS: dict[str, Callable[[int, np.random.Generator], Graph]] = {
    "alone": lambda n, _: [(i,) for i in range(n)],
    "chain": lambda n, _: [(i, i + 1) for i in range(n - 1)],
    "star": lambda n, _: [(0, i) for i in range(1, n)],
    "tree": lambda n, rng: [(i, int(rng.integers(i))) for i in range(1, n)],
    "clique": lambda n, _: [tuple(range(n))],
    "triples": lambda n, rng: [
        tuple(rng.choice(n, size=min(3, n), replace=False).tolist()) for _ in range(n)
    ],
    "chain of threes": lambda n, _: [
        tuple(range(i, min(i + 6, n))) for i in range(0, n, 3)
    ],
}


@dataclass(frozen=True, eq=False)
class Sparse:
    """A symmetric matrix as `analyse` and `factorise` take it: the sum of elements."""

    n: int
    rows: Ints
    cols: Ints
    values: Floats

    @property
    def pattern(self) -> SparsityPattern:
        return analyse(self.n, self.rows, self.cols)

    @property
    def full(self) -> coo_array:
        i, j = np.append(self.rows, self.cols), np.append(self.cols, self.rows)
        own = np.where(self.rows == self.cols, 0.5, 1.0) * self.values
        return coo_array((np.append(own, own), (i, j)), shape=(self.n, self.n))


def assembled(
    n: int, graph: Graph, element: Callable[[Ints], Floats], diagonal: Floats
) -> Sparse:
    """The sum of element(unknowns) over a graph, and of a diagonal."""
    rows, cols, values = [np.arange(n)], [np.arange(n)], [diagonal]
    for unknowns in graph:
        member = np.array(unknowns)
        i, j = np.tril_indices(len(member))
        rows.append(member[i])
        cols.append(member[j])
        values.append(element(member)[i, j])
    return Sparse(n, np.concatenate(rows), np.concatenate(cols), np.concatenate(values))


@st.composite
def graphs(draw: st.DrawFn, most: int = 40) -> tuple[int, Graph, np.random.Generator]:
    """How many unknowns; which of them meet in an element; a source of values."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n = draw(st.integers(1, most))
    names = rng.permutation(n)
    graph = GRAPHS[draw(st.sampled_from(sorted(GRAPHS)))](n, rng)
    return n, [tuple(names[list(unknowns)].tolist()) for unknowns in graph], rng


def definite(graph: tuple[int, Graph, np.random.Generator], shift: float) -> Sparse:
    """Positive semidefinite elements, and a shift of the diagonal."""
    n, unknowns, rng = graph

    def element(member: Ints) -> Floats:
        G = rng.normal(size=(len(member), len(member)))
        return G @ G.T

    return assembled(n, unknowns, element, np.full(n, shift))


def laplacian(graph: tuple[int, Graph, np.random.Generator], shift: float) -> Sparse:
    """Springs of random stiffness: without a shift, singular once a piece."""
    n, unknowns, rng = graph

    def element(member: Ints) -> Floats:
        k = len(member)
        return rng.uniform(0.5, 2.0) * (k * np.eye(k) - np.ones((k, k)))

    return assembled(n, unknowns, element, np.full(n, shift))


def quasidefinite(
    graph: tuple[int, Graph, np.random.Generator], sign: Floats
) -> Sparse:
    """[H J^T; J -C] with H and C positive definite, its unknowns mixed."""
    n, unknowns, rng = graph

    def element(member: Ints) -> Floats:
        G = rng.normal(size=(len(member), len(member)))
        own = sign[member]
        J = rng.normal(size=G.shape)
        return np.where(own[:, None] == own, own * (G @ G.T), J + J.T)

    return assembled(n, unknowns, element, 0.3 * sign)


def indefinite(graph: tuple[int, Graph, np.random.Generator]) -> Sparse:
    """Any symmetric elements at all."""
    n, unknowns, rng = graph

    def element(member: Ints) -> Floats:
        V: Floats = rng.normal(size=(len(member), len(member)))
        return V + V.T

    return assembled(n, unknowns, element, rng.normal(size=n))


def lower(factor: Factor) -> Floats:
    """L as a dense matrix, rows and columns in the order of elimination."""
    fronts = factor.pattern.fronts
    L = np.zeros((factor.pattern.n, factor.pattern.n))
    for s in range(len(fronts.first) - 1):
        rows = fronts.front_row[fronts.front_start[s] : fronts.front_start[s + 1]]
        panel = factor.L[fronts.panel[s] : fronts.panel[s + 1]].reshape(-1, len(rows))
        for k, column in enumerate(panel):
            L[rows[k:], fronts.first[s] + k] = column[k:]
    return L


def rounding(factor: Factor) -> Floats:
    """(n, n) what Higham's bound allows, in the order of the unknowns."""
    L, order = np.abs(lower(factor)), factor.pattern.order
    bound = np.empty_like(L)
    size = 4 * len(L) * np.finfo(float).eps
    bound[np.ix_(order, order)] = size * (L * np.abs(factor.pivot)) @ L.T
    return bound


def check_factor(A: Sparse, factor: Factor) -> None:
    """L D L^T is A; the pivots have the signs of the eigenvalues; x solves A x = b."""
    full, order, L = A.full.toarray(), factor.pattern.order, lower(factor)
    bound = rounding(factor)
    product = (L * factor.pivot) @ L.T
    assert (bound[np.ix_(order, order)]
            >= np.abs(product - full[np.ix_(order, order)]).T).all()  # fmt: skip
    eigenvalues = np.linalg.eigvalsh(full)
    if np.linalg.norm(bound, 2) < np.abs(eigenvalues).min():
        assert factor.positive == np.count_nonzero(eigenvalues > 0.0)
        assert factor.negative == np.count_nonzero(eigenvalues < 0.0)
    b = np.cos(np.arange(A.n))
    x = factor.solve(b)
    assert (np.abs(full @ x - b) <= 3.0 * bound @ np.abs(x)).all()


@FEW
@given(graphs(), st.floats(-9.0, 1.0))
def test_positive_definite_matrices_have_positive_pivots(graph, exponent):
    A = definite(graph, 10.0**exponent)
    factor = factorise(A.pattern, A.values)
    assert factor.positive == A.n
    check_factor(A, factor)


@FEW
@given(graphs())
def test_quasidefinite_matrices_have_the_inertia_of_their_blocks(graph):
    sign = graph[2].choice([-1.0, 1.0], size=graph[0])
    A = quasidefinite(graph, sign)
    factor = factorise(A.pattern, A.values)
    assert factor.positive == np.count_nonzero(sign > 0.0)
    assert factor.negative == np.count_nonzero(sign < 0.0)
    check_factor(A, factor)


@FEW
@given(graphs())
def test_indefinite_matrices_have_the_inertia_of_their_eigenvalues(graph):
    A = indefinite(graph)
    factor = factorise(A.pattern, A.values, drop=0.0)
    assume(len(factor.dropped) == 0)
    check_factor(A, factor)


@FEW
@given(graphs(), st.floats(-8.0, -3.0))
def test_nearly_singular_systems_are_solved_to_the_last_digits_of_a(graph, exponent):
    A = laplacian(graph, 10.0**exponent)
    factor = factorise(A.pattern, A.values)
    assert len(factor.dropped) == 0
    check_factor(A, factor)


@FEW
@given(graphs())
def test_each_piece_without_support_drops_one_unknown(graph):
    A = laplacian(graph, 0.0)
    full = A.full.tocsr()
    pieces, piece = connected_components(full)
    factor = factorise(A.pattern, A.values)
    assert_array_equal(np.sort(piece[factor.dropped]), np.arange(pieces))
    assert factor.positive == A.n - pieces
    b = full @ np.sin(np.arange(A.n))
    error = np.abs(full @ factor.solve(b) - b)
    assert error.max() <= 1e-11 * A.n * max(np.abs(b).max(), 1.0)


@FEW
@given(graphs(25), st.integers(0, 6))
def test_the_rank_is_that_of_the_singular_values(graph, dependent):
    """J J^T with rows of J that are sums of others."""
    n, unknowns, rng = graph
    J = np.zeros((len(unknowns) + dependent, n))
    for row, member in zip(J, unknowns, strict=False):
        row[list(member)] = rng.normal(size=len(member))
    for row in J[len(unknowns) :]:
        row += rng.integers(-1, 2, size=len(unknowns)) @ J[: len(unknowns)]
    assume(len(J) > 0)
    A = J @ J.T
    rows, cols = np.tril_indices(len(A))
    factor = factorise(analyse(len(A), rows, cols), A[rows, cols])
    values = np.linalg.svd(J, compute_uv=False)
    assume(not ((values > 1e-12) & (values < 1e-4)).any())  # the rank is clear
    assert factor.positive == np.count_nonzero(values >= 1e-4)
    assert factor.negative == 0


def test_a_front_that_is_subtracted_by_panels_is_as_exact():
    """Two panels of 64 columns and the rest, 100 of its 300 eigenvalues below zero."""
    rng = np.random.default_rng(0)
    V: Floats = rng.normal(size=(300, 200))
    sign = np.repeat([1.0, -1.0], [200, 100])
    A = np.diag(5.0 * sign)
    A[:200, :200] += V[:200] @ V[:200].T
    A[200:, :200] = V[200:]
    A[:200, 200:] = V[200:].T
    rows, cols = np.tril_indices(300)
    factor = factorise(analyse(300, rows, cols), A[rows, cols], drop=0.0)
    L, order = lower(factor), factor.pattern.order
    apart, there = (L * factor.pivot) @ L.T - A[np.ix_(order, order)], rounding(factor)
    assert np.all(np.abs(apart) <= there[np.ix_(order, order)])
    assert (factor.positive, factor.negative) == (200, 100)
