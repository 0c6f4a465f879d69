"""Components of variance: which errors points share, and over what lengths.

The heights y of patches are y = X b + f. The unknowns b are the centres and, if views
are known, their motions. The errors f have the covariance

    C = sum t_k C_k,  t_k >= 0

with one component for each source of error in scanner and print:

- noise of points, and independent errors of patches
- in each view, fields along its lines of sight, correlated over a third to five radii
- deviations of a sphere's form (degree 2, or over a third of a radius) and size
- errors that all views share, by the angle at which they see the surface
- misplacement of views, if they were merged

The t_k are those of restricted maximum likelihood (`likeliest`). Centres J y then have
the covariance S = J C J'. Few spheres determine the t_k badly. A squared error over an
estimated variance exceeds one in the mean: k / (k - 2) for a variance of k squares. To
second order in the errors of the t_k, with their covariance V, it is one for

    S + sum V_kl S_k S^-1 S_l,  V^-1 = tr(P C_k P C_l) / 2

where the S_k are what t_k = 1 makes of centres; of one variance that is the factor
1 + 2 / k. Kenward and Roger correct fixed effects in a similar way [Biometrics 53:983
(1997)]. An error that moves a whole sphere is not visible on that sphere. It shows
between views, between spheres, and in the correlation lengths of the other errors.

`likeliest` finds the t_k. Of z ~ N(B b, C) with any b and C = sum t_k C_k, t_k >= 0,
the deviance

    ln det C + ln det B' C^-1 B + z' P z,  P = C^-1 - C^-1 B (B' C^-1 B)^-1 B' C^-1

is that of the part of z outside the span of B. With a = P z its slopes are
tr(P C_k) - a' C_k a. Its curvature is about a' C_k P C_l a, the mean of observed and
expected information, which needs no traces of products [Gilmour, Thompson, Cullis,
Biometrics 51:1440 (1995)]. Each step goes to the minimum of this quadric among t >= 0;
it is shortened until the deviance falls.

`patches` cuts spheres; the mean heights of patches show which errors neighbours share.
If the view of each point is known, a patch belongs to one view. Otherwise views share a
patch in proportion to their point density on it.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from scipy.linalg import LinAlgError, block_diag, cho_factor, solve_triangular
from scipy.linalg.lapack import dpotri
from scipy.optimize import nnls

from analysis.spheres.cells_on_a_sphere import cells
from analysis.spheres.centre_fit import seen_at
from analysis.spheres.sphere_criteria import SphereCandidate
from analysis.spheres.thresholds import BIWEIGHT, PATCHES, VIEWPOINTS
from sim.core.arrays import Floats, Ints

RADIUS = "common to all views, radius"


@dataclass(frozen=True, eq=False)
class _VarianceTrial:
    """The deviance of some variances."""

    sizes: Floats  # (k,) t
    factor: Floats  # (m, m) L of C = L L'
    taken: Floats  # (m, b) orthonormal, spans L^-1 B
    left: Floats  # (m,) part of L^-1 z that is orthogonal to them
    deviance: float


@dataclass(frozen=True, eq=False)
class _Quadric:
    """Quadratic model of the deviance about some variances."""

    slope: Floats  # (k,)
    curvature: Floats  # (k, k), about
    scale: Floats  # (k,) roots of its diagonal, or of the least that is expected there
    weigh: Floats  # (m, m) P


def likeliest(
    z: Floats, each: Floats, known: Floats
) -> tuple[Floats, Floats, int] | None:
    """The t (k,) for which z is most likely, their covariance V (k, k), and rounds.

    None where the C_k are zero, or no maximum is found in `PATCHES.rounds`.

    Parameters
    ----------
    z : (m,)
    each : (k, m, m) C_k, positive semidefinite, their sum positive definite
    known : (m, b) B, of full rank
    """
    traces = np.einsum("kii->k", each)
    shown = np.flatnonzero(traces > PATCHES.rank * traces.max(initial=0.0))
    if not len(shown):
        return None
    some, damping = each[shown], 0.0
    now = _tried(z, some, known, float(z @ z) / len(each) / traces[shown])
    for rounds in range(PATCHES.rounds):
        if now is None:
            return None
        quadric = _quadric(now, some)
        if _least(now.sizes, quadric, 0.0)[1] < PATCHES.settled:
            t = np.zeros(len(each))
            t[shown] = now.sizes
            return t, _covariance_of_sizes(t, each, quadric.weigh), rounds
        for _ in range(PATCHES.shortened):
            sizes, fall = _least(now.sizes, quadric, damping)
            after = _tried(z, some, known, sizes)
            if after is not None and _falls(now, after, fall):
                break
            after, damping = None, max(4.0 * damping, PATCHES.damped)
        now, damping = after, damping / 4.0 if damping > PATCHES.damped else 0.0
    return None


def _falls(now: _VarianceTrial, after: _VarianceTrial, expected: float) -> bool:
    """Whether the deviance falls, up to its rounding."""
    rounding = 1e-12 * abs(now.deviance)
    return after.deviance < now.deviance - 1e-4 * expected + rounding


def _tried(
    z: Floats, each: Floats, known: Floats, sizes: Floats
) -> _VarianceTrial | None:
    """None where C is not positive definite."""
    try:
        factor, _ = cho_factor(
            np.tensordot(sizes, each, 1), lower=True, overwrite_a=True
        )
    except LinAlgError:
        return None
    whole = solve_triangular(factor, np.column_stack([known, z]), lower=True)
    taken, shown = np.linalg.qr(whole[:, :-1])
    left = whole[:, -1] - taken @ (taken.T @ whole[:, -1])
    volume = np.log(np.diag(factor)).sum() + np.log(np.abs(np.diag(shown))).sum()
    return _VarianceTrial(sizes, factor, taken, left, float(2.0 * volume + left @ left))


def _quadric(now: _VarianceTrial, each: Floats) -> _Quadric:
    """Of the deviance about the variances that were tried."""
    lower = np.tril(dpotri(now.factor, lower=1)[0])
    inverse = lower + lower.T - np.diag(np.diag(lower))
    back = solve_triangular(
        now.factor, np.column_stack([now.taken, now.left]), lower=True, trans=1
    )
    weigh = inverse - back[:, :-1] @ back[:, :-1].T
    raised = each @ back[:, -1]
    traces = np.tensordot(each, weigh, 2)
    slope, curvature = traces - raised @ back[:, -1], raised @ weigh @ raised.T
    least = traces**2 / len(weigh)  # at most tr(P C_k P C_k)
    scale = np.sqrt(np.maximum(np.diag(curvature), least))
    return _Quadric(slope, curvature, scale, weigh)


def _least(sizes: Floats, quadric: _Quadric, damping: float) -> tuple[Floats, float]:
    """Minimum of the quadric among t >= 0, and the fall of the quadric to it."""
    scale = quadric.scale
    bend = quadric.curvature / np.outer(scale, scale)
    bend += (PATCHES.bent + damping) * np.eye(len(scale))
    root = np.linalg.cholesky(bend).T
    start, rise = sizes * scale, quadric.slope / scale
    found, _ = nnls(root, root @ start - np.linalg.solve(root.T, rise), maxiter=1000)
    step = found - start
    return found / scale, float(-(rise @ step) - step @ bend @ step / 2.0)


def _covariance_of_sizes(sizes: Floats, each: Floats, weigh: Floats) -> Floats:
    """V (k, k); zero of components that are not known to their own size.

    Of these t_k^2 tr(P C_k P C_k) / 2 < 1: less than two squares determine them, and an
    expansion in what they err by means nothing.
    """
    covariance = np.zeros((len(sizes), len(sizes)))
    most = (sizes * np.tensordot(each, weigh, 2)) ** 2 / 2.0
    on = np.flatnonzero(most >= 1.0)
    weighed = np.array([weigh @ C for C in each[on]]).reshape(-1, *weigh.shape)
    flat = weighed.reshape(len(on), -1)
    information = flat @ weighed.transpose(0, 2, 1).reshape(len(on), -1).T / 2.0
    known = sizes[on] ** 2 * np.diag(information) >= 1.0
    some = np.ix_(on[known], on[known])
    covariance[some] = np.linalg.inv(information[np.ix_(known, known)])
    return covariance


@dataclass(frozen=True, eq=False)
class Patches:
    """The patches of all spheres of a scan, those of a sphere in a row."""

    sphere: Ints  # (n,) number of the sphere
    x: Floats  # (n, 3) on the sphere, mm
    u: Floats  # (n, 3) unit normal
    weight: Floats  # (n,) sum of the biweight's
    height: Floats  # (n,) mm by which an error of the whole patch would raise it
    white: Floats  # (n,) mm^2: variance of that if points err independently
    share: Floats  # (n, v) part of each view in it; rows sum to one
    cos: Floats  # (n, v) of the angle between normal and line of sight
    radius: float  # mm
    merged: bool  # whether views are known by their directions alone

    def of(self, spheres: int) -> "Patches":
        """Those of the first spheres."""
        own = self.sphere < spheres
        return Patches(
            self.sphere[own], self.x[own], self.u[own], self.weight[own],
            self.height[own], self.white[own], self.share[own], self.cos[own],
            self.radius, self.merged,
        )  # fmt: skip

    @property
    def seen(self) -> Floats:
        """(n, v) how much an error along a view's lines of sight raises the patch."""
        return self.share * self.cos


def patches(
    accepted: list[SphereCandidate],
    points: list[Floats],
    view: list[Ints] | None,
    origins: Floats,
) -> Patches:
    """Cut the spheres into patches.

    Parameters
    ----------
    points : of each sphere (k, 3) the points of its fit where their views belong, mm
    view : of each sphere (k,) the view of each point; None where views are not known
    origins : (v, 3) where the scanner stood, mm; where views are not known their
        directions times how many points each sees
    """
    rows = []
    for number, (c, x) in enumerate(zip(accepted, points, strict=True)):
        of_view = np.zeros(len(x), np.int64) if view is None else view[number]
        sight = None if view is None else x - origins[of_view]
        rows.append(_cut(number, c, *_heights(c, x, sight), of_view))
    sphere, u, weight, height, white, seen = (
        np.concatenate([row[k] for row in rows]) for k in range(6)
    )
    radius = accepted[0].fit.radius
    at = np.array([c.fit.centre for c in accepted])[sphere] + radius * u
    if view is None:
        share, cos = _shared(u, origins)
    else:
        share = (seen[:, None] == np.arange(len(origins))).astype(np.float64)
        d = origins[None] - at[:, None]
        cos = np.einsum("nvi,ni->nv", d, u) / np.linalg.norm(d, axis=2)
    return Patches(
        sphere, at, u, weight, height, white, share, cos, radius, view is None
    )


def _heights(
    c: SphereCandidate, x: Floats, sight: Floats | None
) -> tuple[Floats, Floats]:
    """Directions (k, 3) from a sphere's centre and heights (k,) of its points.

    Parameters
    ----------
    sight : (k, 3) from the scanner to each, if that is known
    """
    if sight is None:
        u = x - c.fit.centre
        return u / np.linalg.norm(u, axis=1)[:, None], c.fit.height[c.fit.used]
    d = sight / np.linalg.norm(sight, axis=1)[:, None]
    return seen_at(x, d, np.append(c.fit.centre, c.fit.radius))


def _cut(
    number: int, c: SphereCandidate, u: Floats, e: Floats, view: Ints
) -> tuple[Ints, Floats, Floats, Floats, Floats, Ints]:
    """Sphere, normal, weight, height, white variance and view of each patch of a
    sphere."""
    within = np.abs(e) < BIWEIGHT.tukey * c.fit.scale
    u, e, view = u[within], e[within], view[within]
    q = (e / (BIWEIGHT.tukey * c.fit.scale)) ** 2
    w = (1.0 - q) ** 2
    answer = (1.0 - q) @ (1.0 - 5.0 * q) / w.sum()  # of sum w e to an error of all
    each = PATCHES.side**2 * 6
    number_of = cells(u, np.zeros(3), PATCHES.side) + each * view
    found, at = np.unique(number_of, return_inverse=True)
    weight = np.bincount(at, w)
    sums = np.array([np.bincount(at, w * column) for column in u.T]).T
    square = float(((w * e) ** 2).sum() / (w**2).sum())
    return (
        np.full(len(found), number, dtype=np.int64),
        np.asarray(sums / np.linalg.norm(sums, axis=1)[:, None]),
        np.asarray(weight, dtype=np.float64),
        np.asarray(np.bincount(at, w * e) / weight / answer),
        np.asarray(square * np.bincount(at, w**2) / (weight * answer) ** 2),
        np.asarray(found // each, dtype=np.int64),
    )


def _shared(u: Floats, views: Floats) -> tuple[Floats, Floats]:
    """Shares and cosines (n, v) of views known by direction and strength (v, 3)."""
    strength = np.linalg.norm(views, axis=1)
    cos = u @ (views / strength[:, None]).T
    share = np.where(cos > VIEWPOINTS.steepest, strength * cos, 0.0)
    unseen = share.sum(axis=1) == 0.0
    share[unseen, np.argmax(cos[unseen], axis=1)] = 1.0
    return share / share.sum(axis=1)[:, None], cos


def merge_close(views: Floats) -> Floats:
    """The directions of views times their strength (v, 3), close ones as one."""
    found: list[Floats] = []
    for way in views[np.argsort(-np.linalg.norm(views, axis=1))]:
        for k, old in enumerate(found):
            if way @ old > PATCHES.one_view * np.linalg.norm(way) * np.linalg.norm(old):
                found[k] = old + way
                break
        else:
            found.append(way)
    return np.array(found)


@dataclass(frozen=True, eq=False)
class Components:
    """Estimated components: the covariance of any linear function of the patches."""

    patches: Patches
    sizes: Floats  # (k,) t_k; the first is a factor of the noise, others are mm^2
    sizes_covariance: Floats | None = None  # (k, k) V; None where the sizes are known

    def covariance(self, J: Floats, added: Floats | float = 0.0) -> Floats:
        """(q, q) mm^2 of J' y, enlarged by the uncertainty of the sizes.

        Parameters
        ----------
        J : (n, q) weights of the patches
        added : (q, q) mm^2 that is known and adds to it
        """
        each, likeliest = self.likeliest(J, added)
        return self.inflated(each, likeliest)

    def likeliest(
        self, J: Floats, added: Floats | float = 0.0
    ) -> tuple[Floats, Floats]:
        """(k, q, q) S_k, and (q, q) S with what is added, mm^2."""
        each = np.array([C for _, C in _each(self.patches, J)])
        return each, np.asarray(np.tensordot(self.sizes, each, 1) + added)

    def inflated(self, each: Floats, likeliest: Floats) -> Floats:
        """S (q, q), enlarged by the uncertainty of the sizes, mm^2."""
        if self.sizes_covariance is None:
            return likeliest
        weighed = np.linalg.solve(likeliest, each)
        spread = np.tensordot(self.sizes_covariance, weighed, 1)
        return np.asarray(likeliest + (each @ spread).sum(axis=0))

    def without(self, name: str) -> "Components":
        """All components but one, without the uncertainty of their sizes."""
        names = [own for own, _ in _each(self.patches.of(1), None)]
        others = np.array([own != name for own in names])
        return Components(self.patches, self.sizes * others)


def estimate(patches: Patches, known: Floats) -> Components | None:
    """The components that make the heights most likely.

    None where spheres are too few, or no maximum is found in `PATCHES.rounds`.

    Parameters
    ----------
    patches : of all spheres
    known : (n, p) what may raise them by any amount besides centres: motions of views
    """
    bases = list(_bases(patches))
    ends = np.cumsum([basis.shape[1] for basis in bases])
    spheres = max(int(np.searchsorted(ends, PATCHES.most)), PATCHES.fewest)
    if len(bases) < PATCHES.fewest:
        return None
    some = patches.of(spheres)
    T = block_diag(*_without_centres(some, bases[:spheres]))
    each = np.array([C for _, C in _each(some, T)])
    motions = _spanned(T.T @ known[: len(T)])
    found = likeliest(T.T @ some.height, each, motions)
    return None if found is None else Components(patches, *found[:2])


def _without_centres(p: Patches, bases: list[Floats]) -> Iterator[Floats]:
    """For each sphere the functions that are independent of its centre."""
    for i, basis in enumerate(bases):
        moved = basis.T @ p.u[p.sphere == i]
        u, s, _ = np.linalg.svd(moved)
        rank = int((s > PATCHES.rank * s.max(initial=0.0)).sum())
        yield basis @ u[:, rank:]


def _spanned(X: Floats) -> Floats:
    """(n, rank) orthonormal columns that span those of X (n, p)."""
    u, s, _ = np.linalg.svd(X, full_matrices=False)
    return np.asarray(u[:, s > PATCHES.rank * s.max(initial=0.0)])


def _bases(patches: Patches) -> Iterator[Floats]:
    """Of each sphere (n_i, q) orthonormal functions of what each view sees of it."""
    degree = PATCHES.degree_merged if patches.merged else PATCHES.degree
    view = np.argmax(patches.share, axis=1)
    for i in range(int(patches.sphere[-1]) + 1):
        own = np.flatnonzero(patches.sphere == i)
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
    A = np.zeros((len(p.sphere), 0)) if A is None else A
    yield "noise of points", _apart(p, A, p.white)
    yield "errors independent between patches", _apart(p, A, (p.seen**2).sum(axis=1))
    for length, C in zip(PATCHES.lengths, _fields(p, A), strict=True):
        yield f"line of sight, correlated over {length:g} radii", C
    for name, function in FORMS.items():
        yield name, _forms(p, A, function)
    steep = 1.0 / np.maximum(p.cos, PATCHES.steepest) ** 2
    alike = A.T @ np.stack([p.share.sum(axis=1), (p.share * steep).sum(axis=1)], axis=1)
    yield RADIUS, np.outer(alike[:, 0], alike[:, 0])
    yield "common to all views, steep surfaces", np.outer(alike[:, 1], alike[:, 1])
    if p.merged:
        shift = A.T @ _of_views(p, p.u)
        yield "translation of views", shift @ shift.T
        arm = p.x - p.x.mean(axis=0)
        reach = float(np.sqrt((arm**2).mean()))
        turn = A.T @ _of_views(p, np.cross(arm, p.u) / reach)
        yield "rotation of views", turn @ turn.T


def _apart(p: Patches, A: Floats, variance: Floats) -> Floats:
    """Of what each patch errs by alone, (n,) mm^2."""
    C = np.zeros((A.shape[1], A.shape[1]))
    for i in np.unique(p.sphere):
        rows = np.flatnonzero(p.sphere == i)
        own, on = _reached(A[rows])
        C[on] += own.T @ (variance[rows, None] * own)
    return C


def _of_views(p: Patches, each: Floats) -> Floats:
    """(n, 3 v) rows `each` (n, 3) times the share of each view."""
    return np.asarray((p.share[:, :, None] * each[:, None]).reshape(len(each), -1))


FORMS: dict[str, Callable[[Floats], Floats]] = {
    "ovality of spheres": lambda cos: 1.5 * cos**2 - 0.5,
    "form error of spheres": lambda cos: np.exp((cos - 1.0) / PATCHES.uneven**2),
    "spread of sphere radii": np.ones_like,
}


def _forms(p: Patches, A: Floats, function: Callable[[Floats], Floats]) -> Floats:
    """Of what is fixed to a sphere: a function of the cosine between two normals."""
    C = np.zeros((A.shape[1], A.shape[1]))
    for i in np.unique(p.sphere):
        rows = np.flatnonzero(p.sphere == i)
        own, on = _reached(A[rows])
        C[on] += own.T @ function(p.u[rows] @ p.u[rows].T) @ own
    return C


def _reached(A: Floats) -> tuple[Floats, tuple[Ints, ...]]:
    """The columns that are not zero, and where they stand in a square of all."""
    columns = np.flatnonzero(A.any(axis=0))
    return A[:, columns], np.ix_(columns, columns)


def _fields(p: Patches, A: Floats) -> Floats:
    """(l, q, q) of fields along lines of sight, for each length they are correlated
    over; patches of different spheres as at their middles."""
    many, spheres = len(PATCHES.lengths), int(p.sphere[-1]) + 1
    C = np.zeros((many, A.shape[1], A.shape[1]))
    count = np.maximum(np.bincount(p.sphere, minlength=spheres), 1)
    whole = [np.bincount(p.sphere, column, spheres) for column in p.x.T]
    middle = np.array(whole).T / count[:, None]
    apart = _correlated(middle, p.radius) - np.eye(spheres)
    for seen in p.seen.T:
        sums = np.zeros((spheres, A.shape[1]))
        for i in range(spheres):
            rows = np.flatnonzero((p.sphere == i) & (seen > 0.0))
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
