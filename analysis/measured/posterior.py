"""Parameters fitted to records, with model error and inputs that are not fitted.

With residuals y - f(p, q) of all fitted records, D the variances of the measured
values, K the covariance of the model error and L the inverse variances of what is known
of the parameters p beforehand, p minimises

    (y - f)^T (D + K)^-1 (y - f) + (p - p0)^T L (p - p0)

and with its gain G = C J^T (D + K)^-1, where C = (J^T (D + K)^-1 J + L)^-1, the
covariance falls into parts that are told apart:

    C = [G D G^T + C L C]  +  [G K G^T]

what noise and prior leave, and what model error does to the fit. Inputs q that are held
at their values but are uncertain (consider parameters: Schmidt 1966) move p by
-G S dq with S = df/dq; so do uncertain values of each record.

Validation uses the first part and the inputs, prediction all three.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from scipy.linalg import solve_triangular

from analysis.measured.fitted_records import (
    FittedRecords,
    Input,
    Linear,
    linear_about,
    model_covariance,
    numbered,
    predicted_and_slopes,
)
from analysis.measured.least_misfit import BLURRED, least_misfit
from analysis.measured.model_error import (
    Departure,
    ModelError,
    Residuals,
    inverse,
    learnt,
    whitening,
)
from sim.arrays import Floats
from sim.convergence import NotConvergedError

ROUNDS = 8  # of parameters and model error
FEWER_STEPS = 60  # of a fit to fewer records
STILL = 0.02  # of its standard uncertainty, by which an input may still move
JUMPING = 0.1  # the same where predictions jump, so that steps go round
SAME = 0.05  # relative change of a model error's deviation that ends them


@dataclass(frozen=True, eq=False)
class Posterior:
    """What the fitted records tell.

    Parameters
    ----------
    inputs : of all inputs by name the value, of fitted ones as fitted
    fitted, held : names of the P fitted inputs and of the Q uncertain ones held
    noise : (P, P) covariance that noise and prior leave
    model : (P, P) covariance that model error adds
    gain : (P, Q) how far the fit moves the other way where a held input is changed
    errors : model error by family
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
    repeat_sd: Mapping[str, float] = field(default_factory=dict)


def information(inputs: Sequence[Input]) -> Floats:
    """(P, P) what is known of the fitted inputs beforehand: inverse variances."""
    u = np.array([i.u for i in inputs if i.fitted])
    return np.diag(np.where(np.isfinite(u), u, np.inf) ** -2.0) if len(u) else np.eye(0)


def relearnt(
    of: FittedRecords,
    near: Linear,
    errors: Mapping[str, ModelError],
    aims: Mapping[str, float],
    known: Floats,
) -> dict[str, ModelError]:
    """The model errors with the deviations that the residuals tell, by family.

    Raises
    ------
    ValueError
        for scatter in records whose own inputs are uncertain: what these do to all
        rows alike would be taken off each row's scatter
    """
    u, y, at = (of.rows[c].to_numpy(np.float64) for c in ("u", "measured", "at"))
    record, families = numbered(of.rows), of.rows["family"].to_numpy()
    total: dict[str, Floats] = {}
    residuals: dict[str, list[Residuals]] = {}
    for i, K in model_covariance(of.rows, near.f, errors):
        name = str(families[i[0]])
        if errors[name].kind is Departure.SCATTER and near.own[i].any():
            raise ValueError(
                f"the model error of {name} is of kind scatter, but its records have "
                "uncertain inputs of their own: say constant or curve"
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
        found[name] = learnt(own, errors[name], aims[name], others)
    return found


def posterior(
    of: FittedRecords,
    inputs: Sequence[Input],
    errors: Mapping[str, ModelError],
    aims: Mapping[str, float],
    blurred: float = BLURRED,
) -> tuple[Posterior, Linear]:
    """Fit the inputs and learn the model errors, in turn until both stay.

    Parameters
    ----------
    errors : kinds of the model error, with deviations to begin from
    aims : scale of each family's model error beforehand
    blurred : expected fall of chi2, in units of chi2 / (m - P), that slopes cannot tell

    Raises
    ------
    NotConvergedError
        where a model error still changes by more than `SAME` after ROUNDS rounds
    """
    values = {i.name: i.value for i in inputs}
    known = information(inputs)
    for _ in range(ROUNDS):
        values = least_misfit(of, values, inputs, errors, blurred)
        near = linear_about(of, values, inputs)
        before = errors
        errors = relearnt(of, near, errors, aims, known)
        moving = [name for name in errors if not _same(before[name], errors[name])]
        if not moving:
            return told(of, near, inputs, errors), near
    raise NotConvergedError(
        f"the model error of {', '.join(moving)} still changes by more than "
        f"{SAME:.0%} after {ROUNDS} rounds of it and the fit: state its u, or hold "
        "inputs",
        best=values,
    )


def learnt_beside(
    of: FittedRecords,
    values: Mapping[str, float],
    errors: Mapping[str, ModelError],
    aims: Mapping[str, float],
) -> dict[str, ModelError]:
    """The model errors with those of quantities that a fit did not use.

    Parameters
    ----------
    of : the fitted records, with rows of such quantities only
    values : of all inputs, as fitted
    """
    if of.rows.empty:
        return dict(errors)
    near = linear_about(of, values, ())
    return relearnt(of, near, errors, aims, np.zeros((0, 0)))


def _same(a: ModelError, b: ModelError) -> bool:
    return a.sd.shape == b.sd.shape and bool(
        (np.abs(a.sd - b.sd) <= SAME * np.maximum(a.sd, b.sd)).all()
    )


def _gain(
    of: FittedRecords,
    near: Linear,
    errors: Mapping[str, ModelError],
    known: Floats,
) -> tuple[Floats, Floats, Floats]:
    """C (P, P), G (P, n), and G K G^T (P, P), which model error does to the fit."""
    u, P = of.rows["u"].to_numpy(np.float64), near.J.shape[1]
    A, right = known.copy(), np.zeros((len(u), P))
    whole = model_covariance(of.rows, near.f, errors)
    for i, K in whole:
        L = whitening(np.diag(u[i] ** 2) + K)
        white = solve_triangular(L, near.J[i], lower=True)
        A += white.T @ white
        right[i] = solve_triangular(L.T, white)
    C = inverse(A)
    G = C @ right.T
    pulled: Floats = sum((G[:, i] @ K @ G[:, i].T for i, K in whole), np.zeros((P, P)))
    return C, G, pulled


def told(
    of: FittedRecords,
    near: Linear,
    inputs: Sequence[Input],
    errors: Mapping[str, ModelError],
) -> Posterior:
    """Covariances at the fitted values, by where they come from."""
    u, known = of.rows["u"].to_numpy(np.float64), information(inputs)
    C, G, pulled = _gain(of, near, errors, known)
    own = G @ near.own
    held = [i for i in inputs if not i.fitted and i.u > 0]
    return Posterior(
        dict(near.inputs),
        tuple(i.name for i in inputs if i.fitted),
        tuple(i.name for i in held),
        np.array([i.u for i in held]),
        (G * u**2) @ G.T + C @ known @ C + own @ own.T,
        pulled,
        G @ near.S,
        errors,
    )


def left_out(
    of: FittedRecords,
    near: Linear,
    inputs: Sequence[Input],
    errors: Mapping[str, ModelError],
    aims: Mapping[str, float],
    records: Collection[str],
) -> Posterior:
    """What the other records tell, sought from the fit to all of them.

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
    kept = ~of.rows["record"].isin(records).to_numpy()
    others, known = of.without(records), information(inputs)
    some = replace(
        near, **{name: getattr(near, name)[kept] for name in ("f", "J", "S", "own")}
    )
    errors = relearnt(others, some, errors, aims, known)
    found = told(others, some, inputs, errors)
    C, G, _ = _gain(others, some, errors, known)
    free = [i for i in inputs if i.fitted]
    y, f = others.rows["measured"].to_numpy(np.float64), some.f
    origin, scale = np.array([i.value for i in free]), np.sqrt(np.diag(C))
    p = np.array([near.inputs[i.name] for i in free])
    least, best = np.inf, dict(near.inputs)
    for _ in range(FEWER_STEPS):
        step = C @ known @ (origin - p) + G @ (y - f)
        p = p + step
        moved = dict(zip((i.name for i in free), p.tolist(), strict=True))
        now = {**found.inputs, **moved}
        size = float((np.abs(step) / scale).max())
        least, best = min((least, best), (size, now), key=lambda one: one[0])
        if size <= STILL:
            break
        f, _ = predicted_and_slopes(others, now, {})
    if least <= JUMPING:
        return replace(found, inputs=best)
    raise NotConvergedError(
        f"without {', '.join(records)} the fit still moves by {least:.2g} of an "
        f"uncertainty after {FEWER_STEPS} steps",
        best=best,
    )
