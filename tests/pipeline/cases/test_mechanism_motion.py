"""Motions of structure files: what they say, what they refuse, and going on."""

import json
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pipeline.cases.equilibrium import loaded_file
from pipeline.cases.mechanism_motion import MechanismMotionCase, in_metres
from pipeline.io.structure_file import OwnStructure, document, structure_file
from pipeline.steps.simulate import record_steps
from pipeline.terminal import InputError
from sim.core.options import NotConvergedError
from tests.helpers.tables import rows_of

PENDULUM = "conf/structure/double_pendulum.yaml"
CRANK = "conf/structure/slider_crank.yaml"


def case(path: str = PENDULUM, **more: Any) -> MechanismMotionCase:
    return MechanismMotionCase(loaded_file(path), **{"duration": 0.2, "h": 0.01} | more)


def test_a_run_keeps_energies_momenta_residuals_and_reactions(tmp_path):
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


def test_what_a_killed_run_goes_on_with_leads_to_the_same_bits():
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


def test_masses_of_a_file_are_read_and_written(tmp_path):
    made = structure_file(CRANK)
    assert isinstance(made, OwnStructure)
    path = tmp_path / "again.json"
    path.write_text(json.dumps(document(made)), encoding="utf-8")
    again = structure_file(str(path))
    assert isinstance(again, OwnStructure)
    assert [m.nodes for m in again.masses] == [m.nodes for m in made.masses]


def test_a_driven_length_takes_the_place_of_its_link_and_a_table_of_a_rate():
    table = [[0.0, 0.0], [0.2, 0.5]]
    pulled = case(drivers=[{"length": [0, 1], "table": table}], gravity=[0, 0, 0])
    steps = list(pulled.steps())
    end = steps[-1]
    assert np.linalg.norm(end.r[1]) == pytest.approx(1.5, abs=1e-12)
    assert abs(end.balance) < 1e-12
    assert steps[10].driven > 0.1
    assert abs(end.driven) < 1e-10  # it begins and ends at rest


def test_a_given_velocity_moves_others_with_the_least_energy():
    start = next(case(velocities=[[1, 0, 0, 2.0]]).steps())
    assert start.v[2, 2] == pytest.approx(-1.0)
    assert start.v[1] == pytest.approx([0.0, 0.0, 2.0], abs=1e-12)


def test_a_driver_beyond_the_reach_of_a_file_says_when_and_warns_of_no_overflow(
    tmp_path,
):
    """Coupler and rocker are in line: cos angle = (1.2^2 + 2^2 - 2^2) / 4.8."""
    toggle = {
        "nodes": [[0, 0, 0], [1.0392305, 0.6, 0], [1.9561641, 0.9990388, 0], [2, 0, 0]],
        "links": [[0, 1, 1.2], [1, 2, 1.0], [2, 3, 1.0]],
        "planar": "z",
        "fixed": [0, 3],
        "masses": [{"nodes": [k, k + 1], "mass": 1} for k in range(3)],
    }
    (tmp_path / "toggle.json").write_text(json.dumps(toggle))
    drivers = [{"angle": [3, 0, 1], "rate": 90}]
    turned = case(str(tmp_path / "toggle.json"), drivers=drivers, duration=1.0)
    said = "at time 0.4727 the driver .* asks for more than the linkage reaches, 72.54"
    with pytest.raises(NotConvergedError, match=said):
        list(turned.steps())


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"velocities": [[1, 1.0, 0, 0]]}, "initial velocities violate"),
        ({"velocities": [[9, 1.0, 0, 0]]}, "nodes 0 to 2"),
        ({"drivers": [{"angle": [2, 1, 0]}]}, "a rate or a table"),
        ({"drivers": [{"rate": 1.0}]}, "one of length, angle and place"),
        ({"drivers": [{"angle": [2, 1, 7], "rate": 1.0}]}, "has nodes 0 to 2"),
        ({"drivers": [{"place": [0, 2], "rate": 1.0}]}, "initial velocities violate"),
        ({"dampers": [{"length": [0, 2], "viscosity": -1.0}]}, "0 or more"),
        ({"dampers": [{"length": [0, 5], "viscosity": 1.0}]}, "0 to 2"),
        ({"masses": [{"nodes": [0, 1], "mass": 0.0}]}, "must be a positive number"),
        ({"masses": [{"nodes": [0, 1], "mass": 1.0}]}, "node 2 can move"),
        ({"h": -0.1}, "h must be positive"),
        ({"every": 0}, "every must be a whole number from 1 up"),
        ({"gravity": [1.0, 0.0]}, "gravity is"),
        ({"velocities": [[1, 0, 0, float("nan")]]}, "give a number up to"),
        ({"drivers": [{"place": [1, 1], "rate": float("inf")}]}, "give a number up to"),
    ],
)
def test_what_makes_no_motion_is_refused(more, words):
    with pytest.raises((ValueError, InputError), match=words):
        list(islice(case(**more).steps(), 1))


UNITS = {"mm": 1000.0, "cm": 100.0, "inch": 1000.0 / 25.4}


def in_unit(folder: Path, k: float, unit: str | None, **more: Any) -> str:
    """A pendulum of 0.248 m, written with k units to a metre."""
    said = {} if unit is None else {"unit": unit}
    content = {
        "nodes": [[0, 0, 0], [0.025 * k, -0.247 * k, 0]],
        "links": [[0, 1]],
        "planar": "z",
        "fixed": [0],
        "masses": [{"nodes": [1], "mass": 0.1}],
    }
    path = folder / f"{unit}.json"
    path.write_text(json.dumps(content | said | more), encoding="utf-8")
    return str(path)


@pytest.mark.parametrize("unit", ["inch", "cm"])
def test_a_pendulum_moves_alike_in_every_unit(tmp_path, unit):
    more = {"gravity": [0, -9.81, 0], "duration": 0.6}  # of a period of 1 s
    plain = case(in_unit(tmp_path, 1.0, None), **more)
    other = case(in_unit(tmp_path, UNITS[unit], unit), **more)
    assert plain.mechanism.loaded is plain.body
    pairs = list(zip(plain.steps(), other.steps(), strict=True))
    energy = pairs[0][0].potential + pairs[0][0].kinetic
    assert energy == pytest.approx(-0.1 * 9.81 * 0.247, rel=1e-12)
    for a, b in pairs:
        assert b.potential + b.kinetic == pytest.approx(energy, rel=1e-12)
        np.testing.assert_allclose(b.r, a.r, rtol=0.0, atol=0.248e-12)
    assert min(b.r[1, 0] for _, b in pairs) < -0.0249  # it swings across
    recorder = other.recorder()
    recorder.see(pairs[-1][1])
    way = UNITS[unit] * np.linalg.norm(pairs[-1][1].r[1] - pairs[0][1].r[1])
    moved = str(recorder.summary()["moved"])
    assert moved.startswith(f"node 1 farthest, by {way:.4g} {unit} to (")
    written = recorder.documents()["structure.json"]
    assert isinstance(written, dict)
    assert written["unit"] == "m"
    np.testing.assert_allclose(written["nodes"], plain.body.structure.r0, rtol=1e-15)


def test_rows_solids_ranges_and_goals_are_taken_to_metres(tmp_path):
    def parts(k: float) -> dict[str, Any]:
        nodes = [[0, 0, 0], [1, 0, 0], [0, 2, 0], [0, 0, 3], [4, 4, 4]]
        return {
            "nodes": (k * np.array(nodes)).tolist(),
            "fixed": [],
            "links": [[0, 1], [0, 2], [0, 3], [1, 2, 5.0**0.5 * k]],
            "dot": [[0, 1, 0, 2, 0.1 * k**2]],
            "triple": [[0, 1, 0, 2, 0, 3, 6 * k**3]],
            "fix": [[4, 2, 4 * k]],
            "planar": None,
            "radii": [[4, 0.1 * k]],
            "capsules": [[0, 3, 0.2 * k]],
            "triangles": [[0, 1, 2, 0.3 * k]],
            "ranges": {
                "length": [[0, 4, 6 * k, 8 * k]],
                "angle": [[0, 1, 0, 3, 20, 160]],
                "triple": [[0, 1, 0, 2, 0, 4, k**3, None]],
            },
            "leading": [4],
            "goals": [[5 * k, 4 * k, 4 * k]],
        }

    made = [
        document(
            in_metres(loaded_file(in_unit(tmp_path, k, unit, **parts(k)))).structure
        )
        for k, unit in ((1.0, "m"), (1000.0, "mm"))
    ]
    same(*made)


def same(a: Any, b: Any) -> None:
    """Equal but for rounding."""
    if isinstance(a, dict):
        assert a.keys() == b.keys()
        for key in a:
            same(a[key], b[key])
    elif isinstance(a, list):
        assert len(a) == len(b)
        for one, other in zip(a, b, strict=True):
            same(one, other)
    else:
        assert b == (pytest.approx(a, rel=1e-12) if isinstance(a, float) else a)


def test_springs_hinges_and_inertias_hold_the_unit_of_their_file(tmp_path):
    """A plate on a soft hinge and a spring of 40 N/m: nodes to 1e-10 of its size."""

    def content(k: float) -> dict[str, Any]:
        nodes = [[0, 0, 0], [0, 0.1, 0], [0.1, 0, 0], [-0.1, 0, 0.05], [0, 0, 0.1]]
        about = np.diag([2e-4, 3e-4, 4e-4]) * k**2
        return {
            "nodes": (k * np.array(nodes)).tolist(),
            "links": [],
            "bodies": [[0, 1, 2, 4]],
            "planar": None,
            "fixed": [0, 1, 3],
            "springs": [[2, 3, 40.0 / k, 0.15 * k]],
            "hinges": [[2, 0, 1, 3, 0.05 * k, 150.0]],
            "masses": [
                {
                    "nodes": [0, 1, 2, 4],
                    "mass": 0.2,
                    "centre": [0.03 * k, 0.03 * k, 0],
                    "inertia": about.tolist(),
                }
            ],
        }

    more = {"duration": 0.05}
    plain = case(in_unit(tmp_path, 1.0, "m", **content(1.0)), **more)
    mm = in_unit(tmp_path, UNITS["mm"], "mm", **content(UNITS["mm"]))
    other = case(mm, **more)
    pairs = list(zip(plain.steps(), other.steps(), strict=True))
    for a, b in pairs:
        np.testing.assert_allclose(b.r, a.r, rtol=0.0, atol=1e-11)
        assert b.potential == pytest.approx(a.potential, rel=1e-9)
    assert np.abs(pairs[-1][0].r - pairs[0][0].r).max() > 0.01
