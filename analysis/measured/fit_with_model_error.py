"""Parameters fitted to records, with model error and inputs that are not fitted.

With residuals y - f(p, q) of all fitted records, D the variances of the measured
values, K the covariance of the model error and L the inverse variances of what is known
of the parameters p beforehand, p minimises

    (y - f)^T (D + K)^-1 (y - f) + (p - p0)^T L (p - p0)

and with its gain G = C J^T (D + K)^-1, where C = (J^T (D + K)^-1 J + L)^-1, the
covariance falls into parts that are separate:

    C = [G D G^T + C L C]  +  [G K G^T]

what noise and prior leave, and what model error does to the fit. Inputs q that are held
at their values but are uncertain (consider parameters: Schmidt 1966) move p by
-G S dq with S = df/dq; so do uncertain values of each record.

Validation uses the first part and the inputs, prediction all three.

Read `FittedRecords` and `linear_about`, what a model predicts of them about some
parameters; `least_misfit`; `posterior`.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy.linalg import block_diag, solve_triangular

from analysis.calibration.parameter_fit import Measurements, fit
from analysis.measured.model_error import (
    Departure,
    ModelError,
    Residuals,
    estimate,
    inverse,
    whitening,
)
from analysis.measured.predicted_quantities import (
    Predict,
    RecordInputs,
    picked,
    slope,
    values_at,
)
from sim.core.arrays import Bools, Floats, Ints
from sim.core.options import NotConvergedError

FINE = 0.1  # of an input's uncertainty, over which a fit takes slopes
BLIND = 2e-3  # of a value without one
BLURRED = 1e-3  # fall of chi2 by a thirtieth of u: what differences cannot show
COLUMNS = ("record", "quantity", "family", "at", "measured", "u")


@dataclass(frozen=True)
class Input:
    """A number that the model needs.

    Parameters
    ----------
    u : standard uncertainty; inf where nothing is known beforehand
    reach : standard uncertainties below `value` where the fit slows down, as it counts
        its steps relative to how far it is above that
    """

    name: str
    value: float
    u: float
    fitted: bool = False
    positive: bool = False
    reach: float = 1.0

    @property
    def scale(self) -> float:
        """What the fit counts its steps in."""
        return self.u if np.isfinite(self.u) and self.u > 0 else abs(self.value)

    @property
    def step(self) -> float:
        """Over which a fit takes slopes."""
        return FINE * self.u if np.isfinite(self.u) else BLIND * abs(self.value)


@dataclass(frozen=True, eq=False)
class FittedRecords:
    """The records of a fit and its rows: COLUMNS, in the order of records.

    Parameters
    ----------
    records : by name
    rows : record, quantity, family, at, measured, u
    inputs : of the model, fitted ones and others
    aims : scale of each family's model error beforehand
    blurred : expected fall of chi2 that slopes cannot show, see `fit`
    """

    predict: Predict
    records: Mapping[str, RecordInputs]
    rows: pd.DataFrame
    inputs: Sequence[Input] = ()
    aims: Mapping[str, float] = field(default_factory=dict)
    blurred: float = BLURRED

    @property
    def free(self) -> list[Input]:
        """Inputs that are fitted."""
        return [i for i in self.inputs if i.fitted]

    @property
    def held(self) -> list[Input]:
        """Inputs that are uncertain and not fitted."""
        return [i for i in self.inputs if not i.fitted and i.u > 0]

    @property
    def information(self) -> Floats:
        """(P, P) what is known of the fitted inputs beforehand: inverse variances."""
        u = np.array([i.u for i in self.free])
        return np.diag(u**-2.0) if len(u) else np.eye(0)

    def of(self, record: str) -> pd.DataFrame:
        """The rows of one record."""
        return self.rows[self.rows["record"] == record]

    def columns(self, *names: str) -> list[Floats]:
        """(n,) each, numbers of all rows."""
        return [self.rows[name].to_numpy(np.float64) for name in names]

    def without(self, records: Collection[str]) -> "FittedRecords":
        """All others."""
        others = {k: v for k, v in self.records.items() if k not in records}
        rows = self.rows[~self.rows["record"].isin(records)]
        return replace(self, records=others, rows=rows)


def places_of(rows: pd.DataFrame) -> list[tuple[str, Floats]]:
    """Quantities and places of rows, in their order; each quantity in one piece."""
    return [
        (str(quantity), own["at"].to_numpy(np.float64))
        for quantity, own in rows.groupby("quantity", sort=False)
    ]


@dataclass(frozen=True, eq=False)
class Linear:
    """The fitted records about one set of parameters.

    Parameters
    ----------
    inputs : the value of each by name
    f : (n,) predicted values
    J : (n, P), S : (n, Q) slopes in fitted and held inputs
    own : (n, s) what each uncertain value of each record itself does, over its u
    """

    of: FittedRecords
    inputs: Mapping[str, float]
    f: Floats
    J: Floats
    S: Floats
    own: Floats

    def without(self, records: Collection[str]) -> "Linear":
        """All other records, about the same parameters."""
        kept = ~self.of.rows["record"].isin(records).to_numpy()
        cut = {name: getattr(self, name)[kept] for name in ("f", "J", "S", "own")}
        return replace(self, of=self.of.without(records), **cut)


def predicted_and_slopes(
    of: FittedRecords, values: Mapping[str, float], steps: Mapping[str, float]
) -> tuple[Floats, Floats]:
    """f (n,) of all rows and its slopes (n, len(steps)) in some inputs."""
    f, J = [], []
    for name, record in of.records.items():
        places = places_of(of.of(name))
        at = values_at(of.predict, places)
        middle = picked(of.predict(values, record), places)
        f.append(middle)
        each = [
            slope(at, values, record, middle, k, over).each for k, over in steps.items()
        ]
        J.append(np.reshape(each, (len(steps), len(middle))).T)
    return np.concatenate(f), np.vstack(J)


def linear_about(of: FittedRecords, values: Mapping[str, float]) -> Linear:
    """Predicted values with all slopes."""
    fitted = {i.name: i.step for i in of.free}
    held = {i.name: i.u for i in of.held}
    f, both = predicted_and_slopes(of, values, fitted | held)
    own = []
    for name, record in of.records.items():
        here = f[(of.rows["record"] == name).to_numpy()]
        at = values_at(of.predict, places_of(of.of(name)))
        each = [
            slope(at, values, record, here, k, u, own=True).change
            for k, u in record.uncertain.items()
        ]
        own.append(np.reshape(each, (len(each), len(here))).T)
    P = len(fitted)
    return Linear(of, values, f, both[:, :P], both[:, P:], block_diag(*own))


def blocks(rows: pd.DataFrame) -> list[Ints]:
    """Rows of each quantity of a family: between them nothing is correlated."""
    apart = rows.groupby(["family", "quantity"], sort=False)
    return [np.asarray(i) for i in apart.indices.values()]


def numbered(rows: pd.DataFrame) -> Ints:
    """(n,) number of the record of each row."""
    return np.asarray(pd.factorize(rows["record"])[0], dtype=np.int64)


def model_covariance(
    rows: pd.DataFrame, f: Floats, errors: Mapping[str, ModelError]
) -> list[tuple[Ints, Floats]]:
    """K of each quantity's rows."""
    record, at = numbered(rows), rows["at"].to_numpy(np.float64)
    families = rows["family"].to_numpy()
    return [
        (i, errors[families[i[0]]].covariance(at[i], record[i], f[i]))
        for i in blocks(rows)
    ]


def least_misfit(
    of: FittedRecords, values: Mapping[str, float], errors: Mapping[str, ModelError]
) -> dict[str, float]:
    """Values with the fitted inputs where the weighted misfit is least."""
    free = of.free
    if not free:
        return dict(values)
    u, y = of.columns("u", "measured")
    f, _ = predicted_and_slopes(of, values, {})
    whole = model_covariance(of.rows, f, errors)
    white = [(i, whitening(np.diag(u[i] ** 2) + K)) for i, K in whole]
    prior = [k for k, i in enumerate(free) if np.isfinite(i.u)]
    scale = np.array([i.scale for i in free])
    origin = np.array([i.value for i in free])
    # A fit's steps are relative, so no parameter may pass 0 on its way.
    shift = np.array([i.reach if np.isfinite(i.u) else 1.0 for i in free])

    def whitened(x: Floats) -> Floats:
        return np.concatenate([solve_triangular(L, x[i], lower=True) for i, L in white])

    def model(q: Floats) -> tuple[Floats, Floats]:
        """In units of `scale` about the values beforehand, plus `shift`."""
        p = origin + scale * (q - shift)
        now = {**values, **{i.name: v for i, v in zip(free, p, strict=True)}}
        f, J = predicted_and_slopes(of, now, {i.name: i.step for i in free})
        rows = np.eye(len(free))[prior] * (scale / [i.u for i in free])[None, :]
        believed = ((p - origin) / [i.u for i in free])[prior]
        return (
            np.concatenate([whitened(f), believed]),
            np.vstack([whitened(J * scale), rows]),
        )

    target = np.concatenate([whitened(y), np.zeros(len(prior))])
    data = Measurements(target, np.ones_like(target), np.ones(len(target), dtype=bool))
    start = shift + (np.array([values[i.name] for i in free]) - origin) / scale
    anywhere = np.zeros(len(free), dtype=np.bool_)
    guarded = _positive_only(model, free, origin - scale * shift, scale)
    *_, last = fit(guarded, start, data, positive=anywhere, blurred=of.blurred)
    p = origin + scale * (last.p - shift)
    return {**values, **{i.name: float(v) for i, v in zip(free, p, strict=True)}}


def _positive_only(
    model: Callable[[Floats], tuple[Floats, Floats]],
    free: Sequence[Input],
    zero: Floats,
    scale: Floats,
) -> Callable[[Floats], tuple[Floats, Floats]]:
    """The model, which has no value where what must be positive is not."""
    must: Bools = np.array([i.positive for i in free])

    def guarded(q: Floats) -> tuple[Floats, Floats]:
        p = zero + scale * q
        for k in np.flatnonzero(must & (p <= 0.0)).tolist():
            raise NotConvergedError(
                f"the fit made {free[k].name} = {p[k]:.3g}, which must be positive: "
                "give a closer initial value or a smaller u",
                best=p,
            )
        return model(q)

    return guarded


ROUNDS = 8  # of parameters and model error
FEWER_STEPS = 60  # of a fit to fewer records
STILL = 0.02  # of its standard uncertainty, by which an input may still move
JUMPING = 0.1  # the same where predictions jump, so that steps go round
SAME = 0.05  # relative change of a model error's deviation that ends them


@dataclass(frozen=True, eq=False)
class Posterior:
    """What the fitted records determine.

    Parameters
    ----------
    inputs : of all inputs by name the value, of fitted ones as fitted
    fitted, held : names of the P fitted inputs and of the Q uncertain ones held
    noise : (P, P) covariance that noise and prior leave
    model : (P, P) covariance that model error adds
    gain : (P, Q) how far the fit moves the other way where a held input is changed
    errors : model error by family
    growth : what is added at one unit of distance from the fitted conditions
    repeat_sd : between repeats of one test, by family
    """

    inputs: Mapping[str, float]
    fitted: tuple[str, ...]
    held: tuple[str, ...]
    u_held: Floats
    noise: Floats
    model: Floats
    gain: Floats
    errors: Mapping[str, ModelError]
    growth: Mapping[str, ModelError] = field(default_factory=dict)
    repeat_sd: Mapping[str, float] = field(default_factory=dict)


def reestimated(
    near: Linear, errors: Mapping[str, ModelError], known: Floats
) -> dict[str, ModelError]:
    """The model errors with the deviations of the residuals, by family.

    Raises
    ------
    ValueError
        for scatter in records whose own inputs are uncertain: what these do to all
        rows alike would be taken off each row's scatter
    """
    of = near.of
    u, y, at = of.columns("u", "measured", "at")
    record, families = numbered(of.rows), of.rows["family"].to_numpy()
    total: dict[str, Floats] = {}
    residuals: dict[str, list[Residuals]] = {}
    for i, K in model_covariance(of.rows, near.f, errors):
        name = str(families[i[0]])
        if errors[name].kind is Departure.SCATTER and near.own[i].any():
            raise ValueError(
                f"the model error of {name} is of type scatter, but its records have "
                "uncertain inputs: set it to constant or curve"
            )
        u_own = np.sqrt(u[i] ** 2 + np.square(near.own[i]).sum(axis=1))
        residuals.setdefault(name, []).append(
            Residuals(y[i] - near.f[i], u_own, at[i], record[i], near.f[i], near.J[i])
        )
        J = solve_triangular(whitening(np.diag(u_own**2) + K), near.J[i], lower=True)
        total[name] = total.get(name, 0.0) + J.T @ J
    found = dict(errors)
    for name, own in residuals.items():
        others = known + sum((v for k, v in total.items() if k != name), 0.0 * known)
        found[name] = estimate(own, errors[name], of.aims[name], others)
    return found


def posterior(
    of: FittedRecords, errors: Mapping[str, ModelError]
) -> tuple[Posterior, Linear]:
    """Fit the inputs and estimate the model errors, in turn until both stay.

    Parameters
    ----------
    errors : kinds of the model error, with deviations to begin from

    Raises
    ------
    NotConvergedError
        where a model error still changes by more than `SAME` after ROUNDS rounds
    """
    values = {i.name: i.value for i in of.inputs}
    for _ in range(ROUNDS):
        values = least_misfit(of, values, errors)
        near = linear_about(of, values)
        before = errors
        errors = reestimated(near, errors, of.information)
        moving = [name for name in errors if not _same(before[name], errors[name])]
        if not moving:
            return Solved.of(near, errors).posterior, near
    raise NotConvergedError(
        f"the model error of {', '.join(moving)} still changes by more than {SAME:.0%} "
        f"after {ROUNDS} rounds of fitting: give its u, or fit fewer inputs",
        best=values,
    )


def estimate_unfitted(
    of: FittedRecords, values: Mapping[str, float], errors: Mapping[str, ModelError]
) -> dict[str, ModelError]:
    """The model errors with those of quantities that a fit did not use.

    Parameters
    ----------
    of : the fitted records, with rows of such quantities only
    values : of all inputs, as fitted
    """
    if of.rows.empty:
        return dict(errors)
    near = linear_about(replace(of, inputs=()), values)
    return reestimated(near, errors, np.zeros((0, 0)))


def _same(a: ModelError, b: ModelError) -> bool:
    return a.sd.shape == b.sd.shape and bool(
        (np.abs(a.sd - b.sd) <= SAME * np.maximum(a.sd, b.sd)).all()
    )


class Solved(NamedTuple):
    """The normal equations at the fitted values.

    Attributes
    ----------
    C : (P, P), G : (P, n) as above
    posterior : with covariances by where they come from
    """

    near: Linear
    C: Floats
    G: Floats
    posterior: Posterior

    @classmethod
    def of(cls, near: Linear, errors: Mapping[str, ModelError]) -> "Solved":
        of, P = near.of, near.J.shape[1]
        (u,), known = of.columns("u"), of.information
        A, right = known.copy(), np.zeros((len(u), P))
        whole = model_covariance(of.rows, near.f, errors)
        for i, K in whole:
            L = whitening(np.diag(u[i] ** 2) + K)
            white = solve_triangular(L, near.J[i], lower=True)
            A += white.T @ white
            right[i] = solve_triangular(L.T, white)
        C = inverse(A)
        G = C @ right.T
        by_model: Floats = sum(
            (G[:, i] @ K @ G[:, i].T for i, K in whole), np.zeros((P, P))
        )
        own = G @ near.own
        found = Posterior(
            dict(near.inputs),
            tuple(i.name for i in of.free),
            tuple(i.name for i in of.held),
            np.array([i.u for i in of.held]),
            (G * u**2) @ G.T + C @ known @ C + own @ own.T,
            by_model,
            G @ near.S,
            errors,
        )
        return cls(near, C, G, found)

    def step(self, now: Mapping[str, float], f: Floats) -> Floats:
        """(P,) of Gauss and Newton from values where f (n,) is predicted."""
        of = self.near.of
        away = np.array([i.value - now[i.name] for i in of.free])
        (y,) = of.columns("measured")
        return np.asarray(self.C @ of.information @ away + self.G @ (y - f))


def growth(
    linear: Sequence[Linear],
    errors: Mapping[str, ModelError],
    conditions: Mapping[tuple[str, ...], float],
) -> dict[str, ModelError]:
    """Model error that one unit of distance from the fitted conditions adds, by family.

    Each condition is left out in turn, by one step from the fit. Its residuals hold
    noise, inputs, fit and the model error of a fitted condition. What they have beyond
    these is in proportion to its distance.

    Parameters
    ----------
    linear : rows that are fitted, then rows that are not
    conditions : the records of each, and how far it is from the nearest other one
    """
    found: dict[str, list[Residuals]] = {}
    for k, (gone, apart) in enumerate(conditions.items()):
        others = linear[0].without(gone)
        solved = Solved.of(others, errors)
        after, step = solved.posterior, solved.step(others.inputs, others.f)
        for about in linear:
            here = about.of.rows["record"].isin(gone).to_numpy()
            J, rows = about.J[here], about.of.rows[here]
            y, u, at = (x[here] for x in about.of.columns("measured", "u", "at"))
            f, by = about.f[here] + J @ step, (about.S[here] - J @ after.gain)
            square = u**2 + np.square(about.own[here]).sum(axis=1)
            square += np.square(by * after.u_held).sum(axis=1)
            square += np.einsum("ni,ij,nj->n", J, after.noise + after.model, J)
            for i in blocks(rows):
                name = str(rows["family"].iloc[i[0]])
                sd = np.sqrt(square[i] + errors[name].deviation(at[i], f[i]) ** 2)
                number, none = np.full(len(i), k), np.zeros((len(i), 0))
                found.setdefault(name, []).append(
                    Residuals((y - f)[i] / apart, sd / apart, at[i], number, f[i], none)
                )
    aims = linear[0].of.aims
    return {
        name: estimate(found.get(name, []), errors[name], aims[name], np.eye(0))
        for name in errors
    }


def left_out(
    near: Linear, errors: Mapping[str, ModelError], records: Collection[str]
) -> Posterior:
    """What the other records determine, sought from the fit to all of them.

    Steps of Gauss and Newton with the slopes of that fit, until one moves no input by
    more than `STILL` of its standard uncertainty. Where predictions jump, because a
    state snaps or a void closes one step earlier, no place may have a step that small,
    and the steps go round: then the place with the smallest one is taken, if that is
    below `JUMPING`, which adds less than 1 % to a variance.

    Raises
    ------
    NotConvergedError
        where that many steps do not
    """
    others = near.without(records)
    solved = Solved.of(others, reestimated(others, errors, near.of.information))
    now, f, scale = dict(near.inputs), others.f, np.sqrt(np.diag(solved.C))
    least, best = np.inf, now
    for _ in range(FEWER_STEPS):
        step = solved.step(now, f)
        moved = zip(solved.posterior.fitted, step.tolist(), strict=True)
        now = {**now, **{name: now[name] + by for name, by in moved}}
        size = float((np.abs(step) / scale).max())
        least, best = min((least, best), (size, now), key=lambda one: one[0])
        if size <= STILL:
            break
        f, _ = predicted_and_slopes(others.of, now, {})
    if least <= JUMPING:
        return replace(solved.posterior, inputs=best)
    raise NotConvergedError(
        f"without {', '.join(records)} the fit did not converge in {FEWER_STEPS} steps "
        f"(last change {least:.2g} u): fit fewer inputs, or remove the "
        "records",
        best=best,
    )
