"""Motions of structure files: what they say, what they refuse, and going on."""

import json
from collections.abc import Mapping
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pipeline.cases.loaded import loaded_file
from pipeline.cases.mechanism_motion import MechanismMotionCase
from pipeline.formats.structure_file import OwnStructure, document, structure_file
from pipeline.steps.recording import record_steps
from pipeline.terminal.errors import InputError
from tests.helpers.tables import rows_of

PENDULUM = "conf/structure/double_pendulum.yaml"
CRANK = "conf/structure/slider_crank.yaml"


def case(path: str = PENDULUM, **more: Any) -> MechanismMotionCase:
    return MechanismMotionCase(loaded_file(path), **{"duration": 0.2, "h": 0.01} | more)


def test_a_run_keeps_energies_momenta_residuals_and_reactions(tmp_path: Path) -> None:
    driver = {"angle": [3, 0, 1], "rate": 360}
    turned = case(CRANK, drivers=[driver], gravity=[0, -9.81, 0])
    result = record_steps(turned, "crank", tmp_path)
    rows = rows_of(tmp_path / "steps.csv")
    first, last = ({k: float(v) for k, v in row.items()} for row in (rows[0], rows[-1]))
    gained = last["kinetic"] + last["potential"] - first["kinetic"] - first["potential"]
    assert gained == pytest.approx(last["driven"], abs=1e-11)
    assert abs(float(result["out_of_balance"])) < 1e-11
    assert last["residual"] < 1e-12
    assert "effort_angle_3_0_1" in last
    assert last["reaction_link_0_1"] > 1.0
    assert last["reaction_line_point_0"] > 1.0
    assert result["mass"] == 3.5
    written = json.loads((tmp_path / "structure.json").read_text())
    assert len(written["masses"]) == 3


def test_what_a_killed_run_goes_on_with_leads_to_the_same_bits() -> None:
    whole = case(every=3)
    steps = list(whole.steps())
    state = whole.recorder().state(steps[2])
    _, after = case(every=3).continued({k: np.array(v) for k, v in state.items()})
    rest = list(after)
    assert len(rest) == len(steps) - 3
    for a, b in zip(rest, steps[3:], strict=True):
        assert a.r.tobytes() == b.r.tobytes()
        assert a.v.tobytes() == b.v.tobytes()
        assert (a.balance, a.worst) == (b.balance, b.worst)
    assert whole.recorder().state(steps[-1]) == {}


def test_masses_of_a_file_are_read_and_written(tmp_path: Path) -> None:
    made = structure_file(CRANK)
    assert isinstance(made, OwnStructure)
    path = tmp_path / "again.json"
    path.write_text(json.dumps(document(made)), encoding="utf-8")
    again = structure_file(str(path))
    assert isinstance(again, OwnStructure)
    assert [m.nodes for m in again.masses] == [m.nodes for m in made.masses]


def test_a_driven_length_takes_the_place_of_its_link_and_a_table_of_a_rate() -> None:
    table = [[0.0, 0.0], [0.2, 0.5]]
    pulled = case(drivers=[{"length": [0, 1], "table": table}], gravity=[0, 0, 0])
    steps = list(pulled.steps())
    end = steps[-1]
    assert np.linalg.norm(end.r[1]) == pytest.approx(1.5, abs=1e-12)
    assert abs(end.balance) < 1e-12
    assert steps[10].driven > 0.1
    assert abs(end.driven) < 1e-10  # it begins and ends at rest


def test_a_given_velocity_moves_others_with_the_least_energy() -> None:
    start = next(case(velocities=[[1, 0, 0, 2.0]]).steps())
    assert start.v[2, 2] == pytest.approx(-1.0)
    assert start.v[1] == pytest.approx([0.0, 0.0, 2.0], abs=1e-12)


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"velocities": [[1, 1.0, 0, 0]]}, "contradict"),
        ({"velocities": [[9, 1.0, 0, 0]]}, "nodes 0 to 2"),
        ({"drivers": [{"angle": [2, 1, 0]}]}, "a rate or a table"),
        ({"drivers": [{"rate": 1.0}]}, "one of length, angle and place"),
        ({"drivers": [{"angle": [2, 1, 7], "rate": 1.0}]}, "from 0 to 2"),
        ({"drivers": [{"place": [0, 2], "rate": 1.0}]}, "contradict"),
        ({"dampers": [{"length": [0, 2], "viscosity": -1.0}]}, "0 or more"),
        ({"dampers": [{"length": [0, 5], "viscosity": 1.0}]}, "0 to 2"),
        ({"masses": [{"nodes": [0, 1], "mass": 0.0}]}, "must be a positive number"),
        ({"masses": [{"nodes": [0, 1], "mass": 1.0}]}, "node 2 can move"),
        ({"h": -0.1}, "h must be positive"),
        ({"every": 0}, "every is 0"),
        ({"gravity": [1.0, 0.0]}, "gravity is"),
    ],
)
def test_what_makes_no_motion_is_refused(more: Mapping[str, Any], words: str) -> None:
    with pytest.raises((ValueError, InputError), match=words):
        list(islice(case(**more).steps(), 1))
