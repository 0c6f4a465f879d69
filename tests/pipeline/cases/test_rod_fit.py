"""Rods fitted to series: closed forms, draws with noise, refusals, figure."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from analysis.calibration.parameter_fit import FitStep
from pipeline.cases.robots import ActuatorCase, StarCase
from pipeline.cases.rod_fit import STEP, ClampedBeam, FitRecorder, RodFitCase, SeriesFit
from pipeline.cases.user_rods import RodFileCase
from pipeline.figures.read_runs import Row, draw
from pipeline.steps.simulate import record_steps
from pipeline.terminal import InputError
from sim.core.arrays import Floats
from sim.rods.plane.actuation import Actuator
from sim.rods.plane.options import StepOptions
from sim.rods.plane.rod import RodMaterial
from sim.rods.plane.world import Damping, NodeLoad
from tests.pipeline.cases.test_robots import build
from tests.recorded import recorded

LENGTH, FORCE = 0.06, 1e-4  # m, N: small against EI / L^2
ROOTS = np.array([1.87510407, 4.69409113, 7.85475744, 10.9955407])  # of a clamped beam
MODULUS, BETA = 2.85e6, 5.0e-3


def beam(nodes: int = 24, h: float = 5e-4, **values: float) -> ClampedBeam:
    return ClampedBeam(
        LENGTH,
        nodes,
        RodMaterial(modulus=values.get("modulus", 2.2e6)),
        Damping(beta=values.get("beta", 8e-3)),
        (0.0, 0.0),
        StepOptions(h=h, tolerance=1e-12),
    )


def series(path: Path, quantity: str, at: Floats, value: Floats, u: float) -> str:
    """A file whose later third is held out."""
    parts = ["fit" if t <= at.max() / 1.5 else "held out" for t in at]
    told = zip(at.tolist(), value.tolist(), parts, strict=True)
    return _rows(path, *(f"{quantity},{t!r},{y!r},{u},{part}" for t, y, part in told))


def _rows(path: Path, *rows: str) -> str:
    path.write_text("\n".join(["quantity,at,value,u,part", *rows]) + "\n")
    return str(path)


def fitted(case: SeriesFit) -> tuple[FitStep, FitRecorder]:
    steps, recorder = recorded(case)
    return steps[-1], recorder


def decay(t: Floats) -> Floats:
    """Tip of a beam let go from under a weight: Euler and Bernoulli, four modes.

    4 P L^3 / (EI beta_k^4) at first; damping ratio beta omega / 2.
    """
    m = RodMaterial(modulus=MODULUS)
    omega = ROOTS**2 * np.sqrt(m.bending / m.line_density) / LENGTH**2
    size = -4.0 * FORCE * LENGTH**3 / (m.bending * ROOTS**4)
    return waves(t, omega) @ size


def waves(t: Floats, omega: Floats) -> Floats:
    """(m, 4) of modes that are let go, each from 1."""
    zeta = 0.5 * BETA * omega
    root = omega * np.emath.sqrt(zeta**2 - 1.0)
    fast, slow = -zeta * omega - root, -zeta * omega + root
    wave = fast * np.exp(np.outer(t, slow)) - slow * np.exp(np.outer(t, fast))
    return np.asarray((wave / (fast - slow)).real)


def test_a_free_decay_tells_modulus_and_damping(tmp_path):
    at = np.linspace(0.0, 0.6, 61)
    path = series(tmp_path / "decay.csv", "y_tip", at, decay(at), 0.0)
    load = NodeLoad([23], (0.0, -FORCE))
    case = RodFitCase(beam(h=2e-3), path, ["modulus", "beta"], load)
    last, recorder = fitted(case)
    found = recorder.outcome
    assert last.p[0] == pytest.approx(MODULUS, rel=5e-3)
    assert last.p[1] == pytest.approx(BETA, rel=5e-3)
    assert found.determined.all()
    assert found.enlarged > 0.0
    errors = recorder.summary()
    for part in ("fit", "held_out"):
        assert errors[f"rms_y_tip_{part}"] < 0.02 * errors[f"rms_nominal_y_tip_{part}"]
        assert errors[f"rms_y_tip_{part}"] < 0.02 * errors[f"rms_mean_y_tip_{part}"]


def test_a_static_deflection_tells_the_modulus_and_not_the_damping(tmp_path):
    """E = P L^3 / 3 I y; how long it takes to stop, a standing beam does not tell."""
    m = RodMaterial(modulus=MODULUS)
    y = np.full(4, -FORCE * LENGTH**3 / (3.0 * m.bending))
    path = series(tmp_path / "static.csv", "y_tip", np.zeros(4), y, 1e-6)
    load = NodeLoad([23], (0.0, -FORCE))
    case = RodFitCase(beam(), path, ["modulus", "beta"], load)
    last, recorder = fitted(case)
    assert last.p[0] == pytest.approx(MODULUS, rel=2e-3)
    assert recorder.outcome.u[0] == pytest.approx(
        MODULUS * 0.5e-6 / abs(y[0]), rel=1e-2
    )
    assert recorder.summary()["not_determined"] == "beta"
    assert last.p[1] == 8e-3
    assert "u_beta" not in recorder.summary()


def _draw(tmp_path: Path, rng: np.random.Generator, u: float) -> tuple[float, float]:
    """One noisy decay: chi2 of its parameters, held-out error by what is expected."""
    at = np.linspace(0.0, 0.45, 46)
    load, names = NodeLoad([7], (0.0, -0.01)), ["modulus", "beta"]
    path = series(tmp_path / "draw.csv", "y_tip", at, 0.0 * at, u)
    case = RodFitCase(beam(8, 5e-3), path, names, load)
    truth = np.array([MODULUS, BETA])
    exact, _ = case.predict(truth, np.zeros(46, dtype=np.int64), at)
    noisy = exact + u * rng.normal(size=46)
    series(tmp_path / "draw.csv", "y_tip", at, noisy, u)
    case = RodFitCase(beam(8, 5e-3), path, names, load)
    last, recorder = fitted(case)
    found = recorder.outcome
    away = last.p - truth
    chi2 = float(away @ np.linalg.solve(found.covariance, away))
    error = (last.predicted - noisy)[~case.data.used]
    expected = np.hypot(u, found.predicted_u)[~case.data.used]
    return chi2, float(np.sqrt(np.mean((error / expected) ** 2)))


@pytest.mark.parametrize(
    ("count", "low", "high", "off"),
    [
        (3, 0.38, 22.5, 0.15),
        pytest.param(200, 318.3, 493.1, 0.05, marks=pytest.mark.slow),
    ],
)
def test_true_parameters_of_noisy_decays_lie_within_their_uncertainty(
    count, low, high, off, tmp_path, rng
):
    """chi2 of two degrees a draw, 0.1 % on either side."""
    draws = np.array([_draw(tmp_path, rng, 2e-4) for _ in range(count)])
    assert low < draws[:, 0].sum() < high
    assert draws[:, 1].mean() == pytest.approx(1.0, abs=off)  # nothing but noise


BEAM = """
unit: mm
dimension: 3
section: {{round: {{diameter: 4}}}}
material: {{modulus: {modulus}, density: 1100}}
spacing: 5
rods: [{{line: [[0, 0, 0], [100, 0, 0]]}}]
clamps: [{{at: [0, 0, 0]}}]
gravity: [0, {g}, {g}]
markers: {{tip: [100, 0, 0]}}
duration: 0.5
"""


def in_space(tmp_path: Path, text: str = BEAM, **values: Any) -> RodFileCase:
    path = tmp_path / "beam.yaml"
    path.write_text(text.format(**{"modulus": 0.85 * MODULUS, "g": -0.1} | values))
    options = StepOptions(h=5e-3, tolerance=1e-11)
    return RodFileCase(str(path), damping=Damping(beta=8e-3), options=options)


@pytest.mark.slow
def test_a_swing_in_space_tells_modulus_and_damping(tmp_path):
    """Weight that acts at once, askew: Euler and Bernoulli, four modes, both ways."""
    at, radius = np.linspace(0.02, 0.45, 44), 2e-3
    omega = ROOTS**2 * 0.5 * radius * np.sqrt(MODULUS / 1100.0) / 0.1**2
    sigma = (np.cosh(ROOTS) + np.cos(ROOTS)) / (np.sinh(ROOTS) + np.sin(ROOTS))
    share = 4.0 * sigma / ROOTS * [1.0, -1.0, 1.0, -1.0]
    tip = (1.0 - waves(at, omega)) @ (-0.1 * share / omega**2)
    told = list(zip(at.tolist(), (1e3 * tip).tolist(), strict=True))
    rows = [f"tip_{k}_mm,{t!r},{y!r},1e-3,fit" for k in "yz" for t, y in told]
    path = _rows(tmp_path / "swing.csv", *rows)
    case = RodFitCase(in_space(tmp_path), path, ["modulus_times", "beta_times"])
    last, recorder = fitted(case)
    assert last.p[0] == pytest.approx(1.0 / 0.85, rel=5e-3)
    assert last.p[1] == pytest.approx(BETA / 8e-3, rel=2e-2)
    assert recorder.outcome.determined.all()


def _known(tmp_path: Path, kind: str) -> RodFitCase:
    """Specimens that swing and are switched on, beside a series of no matter what."""
    at = np.linspace(0.01, 0.3, 30)
    if kind == "space":
        path = series(tmp_path / "s.csv", "tip_z_mm", at, at, 1e-3)
        coarse = in_space(tmp_path, BEAM.replace("spacing: 5", "spacing: 20"))
        return RodFitCase(coarse, path, ["modulus_times", "beta_times"])
    if kind == "limb":
        return replace(build("limb_fit"), parameters=["rate", "delay", "beta"])
    path = series(tmp_path / "s.csv", "y_tip", at, at, 1e-6)
    load = NodeLoad([7], (0.0, -0.01))
    return RodFitCase(beam(8, 5e-3), path, ["modulus", "beta"], load)


@pytest.mark.parametrize(
    "kind",
    ["beam", *(pytest.param(k, marks=pytest.mark.slow) for k in ("limb", "space"))],
)
def test_slopes_are_the_same_over_a_decade_of_steps(tmp_path, monkeypatch, kind):
    case, found = _known(tmp_path, kind), []
    at = case.series["at"].to_numpy(np.float64)
    for step in (0.3, 1.0, 3.0):
        monkeypatch.setattr("pipeline.cases.rod_fit.STEP", step * STEP)
        found.append(case.predict(case.nominal, case.which, at)[1])
    size = np.abs(found[1]).max(axis=0)
    assert (size > 0.0).all()
    for other in (found[0], found[2]):
        assert (np.abs(other - found[1]).max(axis=0) < 2e-5 * size).all()


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (
            {"parameters": ["modulus"]},
            "no 'modulus' in 3D: choose from modulus_t",
        ),
        ({"released_from": NodeLoad([1], (0.0, 1.0))}, "rods in 3D start at rest"),
    ],
)
def test_fits_in_space_that_make_no_sense_are_refused(tmp_path, change, words):
    path = _rows(tmp_path / "s.csv", *["z_tip,0.1,1,0.1,fit"] * 3)
    values = {"specimen": in_space(tmp_path), "parameters": ["beta_times"]} | change
    with pytest.raises(ValueError, match=words):
        RodFitCase(measured_path=path, **values)
    odd = _rows(tmp_path / "s.csv", *["w_tip,0.1,1,0.1,fit"] * 3)
    with pytest.raises(ValueError, match="a rod has x_c, y_c, z_c"):
        RodFitCase(in_space(tmp_path), odd, ["beta_times"])
    flat = BEAM.replace("dimension: 3", "dimension: 2").replace(", 0]", "]")
    flat = flat.replace("gravity: [0, {g}, {g}]", "gravity: [0, {g}]")
    with pytest.raises(ValueError, match="fits of rod files work in 3D only: set"):
        RodFitCase(in_space(tmp_path, flat), path, ["beta_times"])


def test_the_law_of_an_actuator_is_found_from_its_curvature(tmp_path, rng):
    truth = np.array([2.9, 1.15, 0.3])
    true = Actuator(rate=2.9, delay=1.15, least_curvature=0.3)
    steps = list(ActuatorCase(true, 3.0, 61).steps())
    at = np.array([step.time for step in steps])
    noisy = [step.curvature for step in steps] + 1e-3 * rng.normal(size=61)
    path = series(tmp_path / "law.csv", "curvature", at, noisy, 1e-3)
    names = ["rate", "delay", "least_curvature"]
    last, recorder = fitted(RodFitCase(ActuatorCase(), path, names))
    found = recorder.outcome
    assert (np.abs(last.p - truth) < 3.5 * found.u).all()
    assert (found.u < 0.02 * truth).all()
    names.append("most_modulus")
    case = RodFitCase(ActuatorCase(), path, names)
    _, recorder = fitted(case)
    assert recorder.summary()["not_determined"] == "most_modulus"


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"parameters": []}, "name one or more, each once"),
        ({"parameters": ["beta", "beta"]}, "name one or more, each once"),
        ({"parameters": ["ramp"]}, "parameter is 'ramp'"),
        (
            {"parameters": ["rate"]},
            "the beam has no actuator, so it has no rate: remove it",
        ),
        ({"specimen": beam(beta=0.0)}, "beta starts at 0"),
        ({"specimen": StarCase()}, "specimen is a StarCase: give a ClampedBeam"),
        ({"specimen": ActuatorCase()}, "an actuator alone has no modulus"),
        ({"vague": 0.0}, "vague must be positive, not 0.0"),
        ({"parameters": "modulus"}, "parameters is 'modulus': give a list of names"),
        (
            {"released_from": NodeLoad([99], (0.0, -1.0))},
            "load: node 99 does not exist: choose 0 to",
        ),
        ({"max_steps": 0}, "max_steps must be a whole number from 1 up"),
    ],
)
def test_fits_that_make_no_sense_are_refused(tmp_path, change, words):
    rows = [f"y_tip,{0.01 * k},{k},0.1,fit" for k in range(5)]
    path = _rows(tmp_path / "s.csv", *rows)
    values = {"specimen": beam(), "parameters": ["modulus", "beta"]} | change
    with pytest.raises(ValueError, match=words):
        RodFitCase(measured_path=path, **values)


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        (["y_tip,-1,1,1,fit"] * 3, "measured at -1 s: times must be 0 or more"),
        (["load,1,1,1,fit"] * 3, "quantity is 'load': a rod has"),
        (["y_tip,0.1,-0.02,0.001,fit"], r"1 measurement for 2 parameters \(modulus, b"),
    ],
)
def test_series_that_cannot_tell_are_refused(tmp_path, rows, words):
    path = _rows(tmp_path / "s.csv", *rows)
    with pytest.raises(ValueError, match=words):
        RodFitCase(beam(), path, ["modulus", "beta"])
    with pytest.raises(InputError, match=r"no\.csv does not exist: name a CSV"):
        RodFitCase(beam(), str(tmp_path / "no.csv"), ["modulus"])
    (tmp_path / "no.csv").touch()
    with pytest.raises(InputError, match=r"no\.csv is empty: give a header"):
        RodFitCase(beam(), str(tmp_path / "no.csv"), ["modulus"])
    odd = _rows(tmp_path / "s.csv", *["y_tip,0.1,nan,1,fit"] * 3)
    with pytest.raises(
        InputError, match="row 1: value must be a finite number, not 'nan'"
    ):
        RodFitCase(beam(), odd, ["modulus"])


@pytest.mark.slow
def test_shipped_fits_predict_what_was_held_out_and_are_drawn(tmp_path):
    results, places = {}, {}
    for name in ("beam_fit", "limb_fit"):
        places[name] = tmp_path / name
        places[name].mkdir()
        results[name] = dict(record_steps(build(name), name, places[name]))
    limb = results["limb_fit"]
    truths = {
        "beam_fit": {"modulus": 2.85e6, "beta": 5.2e-3},
        "limb_fit": {"rate": 2.9, "delay": 1.15, "least_curvature": 0.30},
    }
    for name, truth in truths.items():
        result = results[name]
        for parameter, value in truth.items():
            assert abs(result[parameter] - value) < 3.0 * result[f"u_{parameter}"]
        for quantity in ("y_tip_held_out", "y_tip_fit"):
            assert result[f"rms_{quantity}"] < 1.5 * (2e-4 if name[0] == "b" else 5e-5)
            assert result[f"rms_{quantity}"] < result[f"rms_nominal_{quantity}"]
            assert result[f"rms_{quantity}"] < result[f"rms_mean_{quantity}"]
    assert limb["not_determined"] == "most_modulus"
    drawn = draw("rod-fit", [Row(name, place) for name, place in places.items()])
    words = [text.get_text() for ax in drawn.figure.axes for text in ax.texts]
    assert "(modulus) not determined" in "\n".join(words).replace("$n$ ", "")
    assert "measurements are synthetic" in drawn.figure.texts[-1].get_text()
    assert set(drawn.tables) == {"curves", "measurements", "parameters", "errors"}
    with pytest.raises(InputError, match=r"has no curves\.csv: run a case of fits"):
        draw("rod-fit", [Row("x", tmp_path)])
