"""An arm's modulus and what friction takes from its tendon, found from its rests."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib.axes import Axes
from scipy.integrate import cumulative_trapezoid

from pipeline.cases.rod_fit import ArmFitCase
from pipeline.cases.rod_in_space import TendonArmCase
from pipeline.figures.read_runs import Row, draw
from pipeline.steps.simulate import record_steps
from sim.core.arrays import Floats
from tests.recorded import recorded

LENGTH, TIED, RADIUS, OFF = 0.2, 0.19, 2.0e-3, 1.5e-3  # m
MODULUS, PULL, FRICTION = 2.0e6, 0.16, 0.4  # Pa, N


def arm(**values: Any) -> TendonArmCase:
    own: dict[str, Any] = {
        "profile": [[0.0, RADIUS], [LENGTH, RADIUS]], "tied": TIED,
        "offset": [[0.0, OFF], [TIED, OFF]], "angles": [0.0], "tensions": [PULL],
        "modulus": 1.6e6, "friction": 0.28, "law": "hooke", "edges": 20,
        "gravity": 0.0,
    }  # fmt: skip
    return TendonArmCase(**own | values)


def tip(pull: float) -> Floats:
    """(2,) m, sideways and up, of a weightless arm: the elastica of a tendon with loss.

    dtheta/ds = T c / EI exp(-mu theta), so theta = ln(1 + mu T c s / EI) / mu.
    """
    s = np.linspace(0.0, LENGTH, 4001)
    area, second = np.pi * RADIUS**2, 0.25 * np.pi * RADIUS**4
    bent = pull * OFF / (MODULUS * second)
    theta = np.log1p(FRICTION * bent * np.minimum(s, TIED)) / FRICTION
    left = np.where(s < TIED, pull * np.exp(-FRICTION * theta), 0.0)
    size = 1.0 - left / (MODULUS * area)
    x = cumulative_trapezoid(size * np.sin(theta), s)[-1]
    z = -cumulative_trapezoid(size * np.cos(theta), s)[-1]
    return np.array([x, z])


def series(path: Path, side: str = "y") -> str:
    """Tips at five shares of the tension, the largest held out; u 0.2 mm."""
    rows = ["quantity,at,value,u,part"]
    for share in np.linspace(0.2, 1.0, 5).round(2).tolist():
        part = "fit" if share < 0.85 else "held out"
        for name, value in zip((side, "z"), tip(share * PULL).tolist(), strict=True):
            rows.append(f"{name}_tip,{share},{value!r},2e-4,{part}")
    path.write_text("\n".join(rows) + "\n")
    return str(path)


def test_modulus_and_the_loss_along_a_tendon_are_found_again(tmp_path):
    """From 20 and 30 % off, to 2e-3, against the closed form."""
    path = series(tmp_path / "tips.csv")
    case = ArmFitCase(arm(), path, ["modulus_times", "friction_times"])
    steps, recorder = recorded(case)
    found = case.arm(steps[-1].p)
    assert found.modulus == pytest.approx(MODULUS, rel=2e-3)
    assert found.friction == pytest.approx(FRICTION, rel=2e-3)
    told = recorder.summary()
    assert told["not_determined"] == "none"
    for of in ("y_tip_held_out", "z_tip_held_out"):
        assert told[f"rms_{of}"] < 0.02 * told[f"rms_nominal_{of}"]


@pytest.mark.parametrize(
    ("values", "parameters", "words"),
    [
        ({}, ["beta_times"], "an arm has no 'beta_times': choose from modulus_times"),
        (
            {"friction": 0.0},
            ["friction_times"],
            "friction, which is 0: give it a non-zero first guess",
        ),
        ({}, [], "name one or more, each once"),
    ],
)
def test_fits_of_arms_that_make_no_sense_are_refused(
    tmp_path, values, parameters, words
):
    path = series(tmp_path / "tips.csv")
    with pytest.raises(ValueError, match=words):
        ArmFitCase(arm(**values), path, parameters)


def test_its_figure_is_over_shares_of_the_tensions(tmp_path):
    """The axis said time, as it is for motions."""
    case = ArmFitCase(arm(), series(tmp_path / "tips.csv"), ["modulus_times"])
    record_steps(case, "arm_fit", tmp_path)
    panels = draw("rod-fit", [Row("arm_fit", tmp_path)]).figure.findobj(Axes)
    said = {ax.get_xlabel() for ax in panels} - {""}
    assert said == {"fraction of the tensions (-)"}
