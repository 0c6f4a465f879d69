"""Cases of rods in space as the configuration builds them."""

import numpy as np
import pytest

from tests.pipeline.cases.test_robots import build
from tests.recorded import recorded, summary


@pytest.mark.parametrize("name", ["greenhill_shaft", "helix", "tendon_arm"])
def test_a_run_keeps_frames_and_a_skin_to_look_at(name):
    case = build(name, edges=12, load_steps=2)
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


def test_a_shaft_buckles_between_two_steps_about_its_formula():
    told = summary(build("greenhill_shaft", edges=40))
    assert 0.9 < told["buckled_over_greenhill"] <= 1.1


def test_a_curved_wire_winds_up_as_gravity_lets_it():
    """Its last turns, which carry nothing, have the radius 1 / curvature."""
    case = build("helix")
    told = summary(case)
    assert told["depth"] == pytest.approx(2.0 / case.curvature, rel=0.05)
    assert told["height"] < 0.7 * case.length


def test_tendons_pull_an_arm_towards_both_their_sides():
    told = summary(build("tendon_arm", load_steps=2))
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
        "_target_": "sim.rods.plane.options.StepOptions",
        "tolerance": 1e-12,
    },
}


def test_a_planar_case_runs_in_space_and_goes_on_from_its_checkpoint():
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
