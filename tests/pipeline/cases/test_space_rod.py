"""Cases of rods in space as the configuration builds them."""

import re
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hydra.utils import instantiate

from pipeline.config.building import build as hydra_build
from pipeline.terminal.errors import InputError
from sim.rod.stepping.world import Damping
from tests.pipeline.shipped_cases import config_of
from tests.recorded import recorded

CASES = ("greenhill_shaft", "helix", "tendon_arm")


def build(name: str, **values: Any) -> Any:
    return instantiate(config_of(name) | values, _convert_="object")


@pytest.mark.parametrize("name", CASES)
def test_a_run_keeps_frames_and_a_skin_to_look_at(name: str) -> None:
    case = build(name, edges=12, rests=2)
    steps, recorder = recorded(case)
    assert [step.s for step in steps] == [0, 1, 2]
    first, last = recorder.arrays(steps[0]), recorder.arrays(steps[-1])
    fixed = recorder.fixed_arrays()
    assert fixed["triangles"].max() == fixed["edges"].max() + 7 == len(last["r"]) - 1
    d, x = last["directors"], last["nodes"]
    assert np.sum(d * d, axis=1) == pytest.approx(1.0)
    assert len(last["twist"]) == len(fixed["edges"])
    assert np.abs(first["r"] - last["r"]).max() > 1e-3
    assert np.isfinite(x).all()
    assert all(step.rest.residual <= step.rest.allowed for step in steps)


def test_a_shaft_buckles_between_two_steps_about_its_formula() -> None:
    _, recorder = recorded(build("greenhill_shaft", edges=40))
    assert 0.9 < recorder.summary()["buckled_over_greenhill"] <= 1.1


def test_a_ring_leaves_its_plane_from_michells_twist_on() -> None:
    """Free of damping below it swings about its plane; above it goes on."""
    far = {}
    for twist in (0.97, 1.05):
        case = build("michell_ring", edges=40, twist=twist, duration=1.5, every=5)
        case = replace(case, damping=Damping(beta=0.0))
        steps, _ = recorded(case)
        far[twist] = max(np.abs(step.x[:, 2]).max() for step in steps) / case.radius
    assert far[0.97] < 0.03
    assert far[1.05] > 0.1


@pytest.mark.parametrize(
    "values",
    [{"edges": 30, "duration": 1.2}, pytest.param({}, marks=pytest.mark.long)],
)
def test_a_ring_that_coils_keeps_its_linking_number(
    values: dict[str, Any],
) -> None:
    _, recorder = recorded(build("michell_ring", **values))
    told = recorder.summary()
    assert told["writhe"] > 1.0
    assert abs(told["linking_changed"]) < 1e-9
    assert told["touching"] >= 1


def test_a_curved_wire_winds_up_as_gravity_lets_it() -> None:
    """Its last turns, which carry nothing, have the radius 1 / curvature."""
    case = build("helix")
    _, recorder = recorded(case)
    told = recorder.summary()
    assert told["depth"] == pytest.approx(2.0 / case.curvature, rel=0.05)
    assert told["height"] < 0.7 * case.length


def test_tendons_pull_an_arm_towards_both_their_sides() -> None:
    _, recorder = recorded(build("tendon_arm", rests=2))
    told = recorder.summary()
    assert told["x_tip"] > 0.1
    assert told["y_tip"] < -0.05
    assert told["shortest_over_rest"] < 0.9


ARM = {
    "nodes": [[0.01 * k, 0.0] for k in range(8)],
    "limbs": None,
    "held": [0, 1],
    "ground": None,
    "schedule": None,
    "duration": 0.05,
    "every": 4,
    "options": {
        "_target_": "sim.rod.stepping.options.StepOptions",
        "tolerance": 1e-12,
    },
}


TOUCH = {"_target_": "sim.rod.contact.touching.PlaneTouching", "thickness": 1e-4}


def test_a_planar_case_runs_in_space_and_goes_on_from_its_checkpoint() -> None:
    flat, _ = recorded(build("own_rod", **ARM))
    case = build("own_rod", **ARM, dimension=3)
    steps, recorder = recorded(case)
    assert np.abs(steps[-1].x[:, :2] - flat[-1].x).max() < 1e-9
    assert set(recorder.row(steps[-1])) >= {"twisting", "damped", "out_of_balance"}
    assert recorder.summary()["balance"] < 0.01
    kept = recorder.state(steps[2])
    again, later = case.continued(kept)
    found = list(later)
    for step in found:
        again.see(step)
    assert again.row(found[-1]) == recorder.row(steps[-1])
    assert not recorder.state(steps[-1])
    shown = [recorder.arrays(step) for step in (steps[-1], found[-1])]
    assert all(np.array_equal(shown[0][key], shown[1][key]) for key in shown[0])


def test_a_twisted_wire_is_slackened_and_its_run_goes_on_to_the_same_bits() -> None:
    case = build("plectoneme", edges=12, duration=0.06, until=0.06, every=10)
    steps, recorder = recorded(case)
    told = recorder.summary()
    assert told["off_axis_over_L"] > 0.02
    assert told["twist_over_first"] < 0.99
    assert told["balance"] < 1e-6
    again, later = case.continued(recorder.state(steps[1]))
    *_, last = later
    assert again.row(last) == recorder.row(steps[-1])


@pytest.mark.parametrize(
    ("values", "apart"),
    [
        ({"edges": 12, "duration": 0.012}, 2.5e-2),
        pytest.param({}, 1e-2, marks=pytest.mark.long),
    ],
)
def test_a_rope_that_slides_over_a_drum_is_pulled_as_euler_says(
    values: dict[str, Any], apart: float
) -> None:
    case = build("capstan", **values)
    steps, recorder = recorded(case)
    told = recorder.summary()
    assert told["turned_by"] == pytest.approx(np.pi, rel=2e-3)
    assert told["tension_ratio"] == pytest.approx(
        np.exp(case.friction * told["turned_by"]), rel=apart
    )
    rope = steps[-1].x[1 : -4 - 4]
    assert np.hypot(rope[:, 0], rope[:, 2]).min() > case.drum
    assert told["contact_gap"] < 1e-4 * case.space_world.rod.rest_length.min()


@pytest.mark.long
def test_a_slack_wire_winds_about_itself() -> None:
    _, recorder = recorded(build("plectoneme"))
    told = recorder.summary()
    assert told["touching"] >= 4
    assert told["off_axis_over_L"] > 0.2
    assert told["twist_over_first"] < 0.5
    assert told["contact_gap"] < 1e-4 * 0.2 / 49


@pytest.mark.parametrize(
    ("name", "values", "words"),
    [
        ("michell_ring", {"edges": 4}, "edges is 4: give 8 or more"),
        ("greenhill_shaft", {"length": -1.0}, "length must be positive"),
        ("helix", {"times": 0.0}, "times must be positive"),
        ("tendon_arm", {"tensions": [1.0]}, "2 angles for 1 tensions"),
        ("tendon_arm", {"offset": [[0.0, 0.02], [0.3, 0.0]]}, "route it within"),
        ("tendon_arm", {"tied": 0.5}, "tie them half an edge before"),
        ("plectoneme", {"slack": 1.0}, "give a share of the length between 0 and 1"),
        ("plectoneme", {"turns": 0.0}, "turns must be positive"),
        ("capstan", {"edges": 4}, "give 8 edges or more and a thin rope"),
        ("capstan", {"speed": 0.0}, "speed must be positive"),
        ("own_rod", {**ARM, "dimension": 4}, "dimension is 4: choose 2 or 3"),
        ("own_rod", {**ARM, "dimension": 3, "touching": TOUCH}, "of the plane only"),
        ("tendon_arm", {"law": "foam"}, "choose one of hooke, rubber"),
        ("tendon_arm", {"profile": [[0.1, 0.01], [0.0, 0.01]]}, "must rise"),
    ],
)
def test_bad_values_are_refused_in_one_line(
    name: str, values: dict[str, Any], words: str
) -> None:
    with pytest.raises(InputError, match=re.escape(words)) as caught:
        hydra_build(config_of(name) | values, "case")
    assert "\n" not in str(caught.value)
