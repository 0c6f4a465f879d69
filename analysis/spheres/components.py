"""Components of variance: which errors points share, and over what lengths.

The heights y of patches are y = X b + f: centres, and the motions of views where they
are known, are b; the errors f have the covariance

    C = sum t_k C_k,  t_k >= 0

of what a scanner and a print may do: noise of points; what patches err by apart; in
each view fields along its lines of sight that are correlated over lengths of a third
of a radius to five radii; balls of a form of their own (degree 2, or over a third of a
radius) or size; and what all views err by alike, by the angle at which they see the
surface. Where views are merged, their misplacements are a component as well. The t_k
are those of restricted maximum likelihood: what is left of y, when what X explains is
taken from it, is most likely (`likeliest`). Centres that follow from y by a matrix J
then err by J C J' = S. Few balls tell the t_k badly, and a squared
error over a variance that is itself estimated is more than one in the mean: of k
squares, k / (k - 2). To second order in what the t_k err by, of covariance V, it is one
with

    S + sum V_kl S_k S^-1 S_l,  V^-1 = tr(P C_k P C_l) / 2

where the S_k are what t_k = 1 makes of centres; of one variance that is the factor
1 + 2 / k. Estimates of fixed effects are corrected by the like [Kenward, Roger,
Biometrics 53:983 (1997)]. What moves a ball as a whole does not show on it
alone, but between views, between balls, and by the lengths over which the rest is
correlated.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from scipy.linalg import block_diag

from analysis.spheres.likeliest import likeliest
from analysis.spheres.patches import Patches
from analysis.spheres.picks import ErrorComponent
from analysis.spheres.thresholds import PATCHES
from sim.arrays import Floats, Ints


@dataclass(frozen=True, eq=False)
class Components:
    """What errors are shared: the covariance of anything linear in the patches."""

    patches: Patches
    sizes: Floats  # (k,) t_k; the first is a factor of the noise, others are mm^2
    doubt: Floats | None = None  # (k, k) V; None where the sizes are known

    def covariance(self, J: Floats, beside: Floats | float = 0.0) -> Floats:
        """(q, q) mm^2 of J' y, larger by what is not known of the sizes.

        Parameters
        ----------
        J : (n, q) weights of the patches
        beside : (q, q) mm^2 that is known and adds to it
        """
        each, likeliest = self.likeliest(J, beside)
        return self.doubted(each, likeliest)

    def likeliest(
        self, J: Floats, beside: Floats | float = 0.0
    ) -> tuple[Floats, Floats]:
        """(k, q, q) S_k, and (q, q) S with what stands beside it, mm^2."""
        each = np.array([C for _, C in _each(self.patches, J)])
        return each, np.asarray(np.tensordot(self.sizes, each, 1) + beside)

    def doubted(self, each: Floats, likeliest: Floats) -> Floats:
        """S (q, q) with what is not known of the sizes, mm^2."""
        if self.doubt is None:
            return likeliest
        weighed = np.linalg.solve(likeliest, each)
        told = np.tensordot(self.doubt, weighed, 1)
        return np.asarray(likeliest + (each @ told).sum(axis=0))

    def without(self, name: str) -> "Components":
        """The same but one; what is not known of the others is left out."""
        names = [own for own, _ in _each(self.patches.of(1), None)]
        others = np.array([own != name for own in names])
        return Components(self.patches, self.sizes * others)

    @property
    def told(self) -> tuple[ErrorComponent, ...]:
        """How large they are, by name."""
        names = [name for name, _ in _each(self.patches.of(1), None)]
        typical = np.median(self.patches.white * self.patches.weight)
        sd = np.sqrt(self.sizes * np.append(typical, np.ones(len(names) - 1)))
        return tuple(map(ErrorComponent, names, sd.tolist()))


def learnt(patches: Patches, known: Floats) -> Components | None:
    """The components that make the heights most likely.

    None where balls are too few, or no maximum is found in `PATCHES.rounds`.

    Parameters
    ----------
    patches : of all balls
    known : (n, p) what may raise them by any amount besides centres: motions of views
    """
    bases = list(_bases(patches))
    ends = np.cumsum([basis.shape[1] for basis in bases])
    balls = max(int(np.searchsorted(ends, PATCHES.most)), PATCHES.fewest)
    if len(bases) < PATCHES.fewest:
        return None
    some = patches.of(balls)
    T = block_diag(*_without_centres(some, bases[:balls]))
    each = np.array([C for _, C in _each(some, T)])
    motions = _spanned(T.T @ known[: len(T)])
    found = likeliest(T.T @ some.height, each, motions)
    return None if found is None else Components(patches, *found[:2])


def _without_centres(p: Patches, bases: list[Floats]) -> Iterator[Floats]:
    """Of each ball the functions that no place of its centre has a part in."""
    for i, basis in enumerate(bases):
        moved = basis.T @ p.u[p.ball == i]
        u, s, _ = np.linalg.svd(moved)
        told = int((s > PATCHES.rank * s.max(initial=0.0)).sum())
        yield basis @ u[:, told:]


def _spanned(X: Floats) -> Floats:
    """(n, rank) orthonormal columns that span those of X (n, p)."""
    u, s, _ = np.linalg.svd(X, full_matrices=False)
    return np.asarray(u[:, s > PATCHES.rank * s.max(initial=0.0)])


def _bases(patches: Patches) -> Iterator[Floats]:
    """Of each ball (n_i, q) orthonormal functions of what each view sees of it."""
    degree = PATCHES.degree_merged if patches.merged else PATCHES.degree
    view = np.argmax(patches.share, axis=1)
    for i in range(int(patches.ball[-1]) + 1):
        own = np.flatnonzero(patches.ball == i)
        columns = [np.empty((len(own), 0))]
        for v in [None] if patches.merged else np.unique(view[own]):
            at = np.arange(len(own)) if v is None else np.flatnonzero(view[own] == v)
            root = np.sqrt(patches.weight[own[at]])[:, None]
            u, s, _ = np.linalg.svd(
                root * _monomials(patches.u[own[at]], degree), full_matrices=False
            )
            wide = np.zeros((len(own), int((s > PATCHES.clear * s[0]).sum())))
            wide[at] = root * u[:, : wide.shape[1]]
            columns.append(wide)
        yield np.hstack(columns)


def _monomials(u: Floats, degree: int) -> Floats:
    """Of the highest two degrees: on a sphere they span all that are lower."""
    x, y, z = u.T
    powers = [
        (a, b, n - a - b)
        for n in (degree, degree - 1)
        for a in range(n + 1)
        for b in range(n - a + 1)
    ]
    return np.column_stack([x**a * y**b * z**c for a, b, c in powers])


def _each(p: Patches, A: Floats | None) -> Iterator[tuple[str, Floats]]:
    """Name and covariance (q, q) of A' f of each component where t_k is one."""
    A = np.zeros((len(p.ball), 0)) if A is None else A
    yield "noise of points", _apart(p, A, p.white)
    yield "patches apart", _apart(p, A, (p.seen**2).sum(axis=1))
    for length, C in zip(PATCHES.lengths, _fields(p, A), strict=True):
        yield f"lines of sight, over {length:g} radii", C
    for name, function in FORMS.items():
        yield name, _forms(p, A, function)
    steep = 1.0 / np.maximum(p.cos, PATCHES.steepest) ** 2
    alike = A.T @ np.stack([p.share.sum(axis=1), (p.share * steep).sum(axis=1)], axis=1)
    yield "all views alike, radius", np.outer(alike[:, 0], alike[:, 0])
    yield "all views alike, steep surfaces", np.outer(alike[:, 1], alike[:, 1])
    if p.merged:
        shift = A.T @ _of_views(p, p.u)
        yield "views, misplaced", shift @ shift.T
        arm = p.x - p.x.mean(axis=0)
        reach = float(np.sqrt((arm**2).mean()))
        turn = A.T @ _of_views(p, np.cross(arm, p.u) / reach)
        yield "views, misturned", turn @ turn.T


def _apart(p: Patches, A: Floats, variance: Floats) -> Floats:
    """Of what each patch errs by alone, (n,) mm^2."""
    C = np.zeros((A.shape[1], A.shape[1]))
    for i in np.unique(p.ball):
        rows = np.flatnonzero(p.ball == i)
        own, on = _reached(A[rows])
        C[on] += own.T @ (variance[rows, None] * own)
    return C


def _of_views(p: Patches, each: Floats) -> Floats:
    """(n, 3 v) rows `each` (n, 3) times the share of each view."""
    return np.asarray((p.share[:, :, None] * each[:, None]).reshape(len(each), -1))


FORMS: dict[str, Callable[[Floats], Floats]] = {
    "balls, oval": lambda cos: 1.5 * cos**2 - 0.5,
    "balls, uneven": lambda cos: np.exp((cos - 1.0) / PATCHES.uneven**2),
    "balls, sizes": np.ones_like,
}


def _forms(p: Patches, A: Floats, function: Callable[[Floats], Floats]) -> Floats:
    """Of what is fixed to a ball: a function of the cosine between two normals."""
    C = np.zeros((A.shape[1], A.shape[1]))
    for i in np.unique(p.ball):
        rows = np.flatnonzero(p.ball == i)
        own, on = _reached(A[rows])
        C[on] += own.T @ function(p.u[rows] @ p.u[rows].T) @ own
    return C


def _reached(A: Floats) -> tuple[Floats, tuple[Ints, ...]]:
    """The columns that are not zero, and where they stand in a square of all."""
    columns = np.flatnonzero(A.any(axis=0))
    return A[:, columns], np.ix_(columns, columns)


def _fields(p: Patches, A: Floats) -> Floats:
    """(l, q, q) of fields along lines of sight, for each length they are correlated
    over; patches of different balls as at their middles."""
    many, balls = len(PATCHES.lengths), int(p.ball[-1]) + 1
    C = np.zeros((many, A.shape[1], A.shape[1]))
    count = np.maximum(np.bincount(p.ball, minlength=balls), 1)
    whole = [np.bincount(p.ball, column, balls) for column in p.x.T]
    middle = np.array(whole).T / count[:, None]
    apart = _correlated(middle, p.radius) - np.eye(balls)
    for seen in p.seen.T:
        sums = np.zeros((balls, A.shape[1]))
        for i in range(balls):
            rows = np.flatnonzero((p.ball == i) & (seen > 0.0))
            raised = seen[rows, None] * A[rows]
            sums[i] = raised.sum(axis=0)
            own, on = _reached(raised)
            for k, correlated in enumerate(_correlated(p.x[rows], p.radius)):
                C[k][on] += own.T @ correlated @ own
        C += sums.T @ apart @ sums
    return C


def _correlated(x: Floats, radius: float) -> Floats:
    """(l, n, n) exp(-d^2 / 2 l^2) of each length."""
    square = (x**2).sum(axis=1)
    d = np.maximum(square[:, None] + square - 2.0 * x @ x.T, 0.0)
    lengths = radius * np.array(PATCHES.lengths)[:, None, None]
    return np.asarray(np.exp(d / (-2.0 * lengths**2)))
