"""A plate of two layers by the temperature."""

from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np
import pytest
from hydra.errors import InstantiationException
from numpy.testing import assert_allclose

from pipeline.cases.curling import CurlingCase
from tests.helpers.cases import changed
from tests.pipeline.shipped_cases import config_of
from tests.recorded import recorded
from tests.sim.morph.statics.test_panels import timoshenko

build = partial(changed, CurlingCase)
LAYERS: list[Mapping[str, Any]] = config_of("curling_plate")["layers"]


def test_curvature_and_its_uncertainty_follow_the_tables() -> None:
    low, high = LAYERS
    steps, recorder = recorded(build("curling_plate", values=[20.0, 22.0]))
    stiff, soft = (layer["modulus"] / (1.0 - layer["poisson"]) for layer in LAYERS)
    per_strain = timoshenko(1.0, stiff / soft, low["thickness"] + high["thickness"])
    mismatch = (0.0072 - 0.0027) / 20.0  # at 22 degrees, a twentieth of the table
    u = np.hypot(2e-4, 5e-4) / 20.0
    assert_allclose(steps[0].curvature, 0.0, atol=1e-12)
    assert_allclose(steps[0].u, 0.0, atol=1e-12)
    assert_allclose(steps[1].curvature, per_strain * mismatch, rtol=2e-3)
    assert_allclose(steps[1].u, per_strain * u, rtol=2e-2)
    assert recorder.summary()["curvature_x"] == steps[1].curvature[0]


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"values": [90.0]}, "the field is 90, and the table goes from 20 to 60"),
        ({"values": []}, "give numbers of the field"),
        ({"cells": [4, 3]}, "give two even numbers from 4 up"),
        ({"size": [1.0, -1.0]}, "give two positive lengths"),
        ({"layers": []}, "layers is empty"),
        ({"layers": [{"modulus": 1.0}]}, r"layers\[0\] has modulus: give modulus, poi"),
        (
            {"layers": [{**LAYERS[0], "strain": [[20.0, 0.0, 0.0]]}]},
            r"layers\[0\].strain needs two rows or more",
        ),
        (
            {
                "layers": [
                    {**LAYERS[0], "strain": [[20.0, -2.0, 0.0], [30.0, 0.0, 0.0]]}
                ]
            },
            "the strain must be above -1",
        ),
        ({"layers": [{**LAYERS[0], "poisson": 1.5}]}, "Poisson's ratio 1.5"),
    ],
)
def test_what_makes_no_sense_is_refused(values: dict[str, Any], said: str) -> None:
    with pytest.raises(InstantiationException, match=said):
        build("curling_plate", **values)
