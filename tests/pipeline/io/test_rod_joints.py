"""Rods of a file that are joined in space: frames of beams, balls, tendons."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.spatial.transform import Rotation

from pipeline.cases.user_rods import RodFileCase
from sim.core.arrays import Floats
from sim.core.options import NotConvergedError
from sim.rods.plane.world import Damping
from sim.rods.space.simulate import SpaceMotionStep, simulate_in_space
from sim.rods.space.statics import SpaceRest, rest
from tests.helpers.refusals import refused_in_one_line

ROOM = "outside the section: route it within +-1 along `across` and +-1.5 normal to"
NO_END = "clamp at (50, 9, 0) mm is not at the end of a rod: divide the rod there"
E, NU, SIDES = 3e9, 0.3, (2e-3, 3e-3)
FRAME: dict[str, Any] = {
    "unit": "mm",
    "dimension": 3,
    "section": {"rectangular": {"thickness": 2, "width": 3}},
    "material": {"modulus": E, "density": 1000, "poisson": NU},
    "spacing": 5,
    "gravity": [0, 0, 0],
}


def made(folder: Path, **content: Any) -> RodFileCase:
    path = folder / "rods.json"
    path.write_text(json.dumps({**FRAME, **content}))
    return RodFileCase(str(path))


def at_rest(case: RodFileCase) -> SpaceRest:
    return rest(case.space_world.rod, case.space_world.loads)


def moved(case: RodFileCase, at: list[float]) -> Floats:
    """(3,) how far the node at a place goes, m."""
    nodes = case.space_world.rod.nodes
    k = int(np.argmin(np.linalg.norm(nodes - 1e-3 * np.array(at), axis=1)))
    return np.asarray(at_rest(case).state.x[k] - nodes[k])


def beam(a: Floats, b: Floats, d1: Floats) -> Floats:
    """(12, 12) stiffness of an Euler-Bernoulli beam, moves and turns of both ends.

    Its thickness is along d1; Przemieniecki, Matrix Structural Analysis, ch. 5.
    """
    t, w = SIDES
    L = float(np.linalg.norm(b - a))
    I2, I1 = w * t**3 / 12.0, t * w**3 / 12.0  # of bending towards d1, and towards d2
    J = t**3 * w / 3.0 * (1.0 - 0.63 * t / w + 0.052 * (t / w) ** 5)  # Young, ch. 10
    K = np.zeros((12, 12))
    for p, k in ((0, E * t * w / L), (3, E / (2.0 * (1.0 + NU)) * J / L)):
        K[np.ix_([p, p + 6], [p, p + 6])] += k * np.array([[1, -1], [-1, 1]])
    for p, turn, sign, EI in ((1, 5, 1.0, E * I2), (2, 4, -1.0, E * I1)):
        s = sign * L
        own = np.array(
            [[12, 6 * s, -12, 6 * s], [6 * s, 4 * L * L, -6 * s, 2 * L * L],
             [-12, -6 * s, 12, -6 * s], [6 * s, 2 * L * L, -6 * s, 4 * L * L]]
        )  # fmt: skip
        places = [p, turn, p + 6, turn + 6]
        K[np.ix_(places, places)] += EI / L**3 * own
    axis = (b - a) / L
    d1 = d1 - (d1 @ axis) * axis
    d1 /= np.linalg.norm(d1)
    T = np.kron(np.eye(4), np.array([axis, d1, np.cross(axis, d1)]))
    return np.asarray(T.T @ K @ T)


FEET = np.array([[60, 5, 0], [-35, 50, 10], [-20, -45, -5]]) * 1e-3
TOP = np.array([4, -3, 50]) * 1e-3
ACROSS = np.array([[0, 1, 0.3], [1, 0.2, 0], [0.4, -0.2, 1.0]])
FORCE = np.array([0.02, -0.01, 0.015])


@pytest.mark.parametrize("legs", [2, 3])
def test_a_frame_of_legs_gives_as_a_frame_of_beams_does(legs, tmp_path):
    """Legs of a rectangular section, turned any way about their axes."""
    K = sum(
        beam(TOP, foot, across)[:6, :6]
        for foot, across in zip(FEET[:legs], ACROSS, strict=False)
    )
    expected = np.linalg.solve(K, [*FORCE, 0.0, 0.0, 0.0])[:3]
    rods = [
        {"line": [(1e3 * TOP).tolist(), (1e3 * foot).tolist()], "across": a.tolist()}
        for foot, a in zip(FEET[:legs], ACROSS, strict=False)
    ]
    rods[1]["line"].reverse()
    load = {"at": [(1e3 * TOP).tolist()], "force": (1e-2 * FORCE).tolist()}
    clamps = [{"at": (1e3 * foot).tolist()} for foot in FEET[:legs]]
    case = made(tmp_path, rods=rods, load=load, clamps=clamps)
    assert_allclose(moved(case, 1e3 * TOP), 1e-2 * expected, rtol=0.01, atol=1e-9)


def test_a_frame_with_right_angles_gives_the_same_however_it_is_turned(tmp_path):
    """Whether rods go on or come back at 90 degrees is no matter of rounding."""
    legs = np.array([[[0, 0, 0], [40, 0, 0]], [[40, 0, 0], [40, 30, 0]]], dtype=float)
    thick, tip, force = np.array([0, 0, 1.0]), legs[1, 1], np.array([0.01, 0.02, 0.03])
    found = []
    for turn in Rotation.random(8, np.random.default_rng(1)).as_matrix():
        rods = [
            {"line": (line @ turn.T).tolist(), "across": (turn @ thick).tolist()}
            for line in legs
        ]
        load = {"at": [(turn @ tip).tolist()], "force": (turn @ force).tolist()}
        clamps = [{"at": [0, 0, 0]}]
        case = made(tmp_path, rods=rods, load=load, clamps=clamps)
        found.append(turn.T @ moved(case, (turn @ tip).tolist()))
    assert_allclose(found, [found[0]] * 8, rtol=0.0, atol=1e-9)


LENGTH, TIP = 0.05, 1e-3
LINES = [[[0, 0, 0], [50, 0, 0]], [[50, 0, 0], [100, 0, 0]]]
SPAN: dict[str, Any] = {
    "rods": [{"line": line} for line in LINES],
    "clamps": [{"at": [0, 0, 0]}, {"at": [100, 0, 0]}],
    "load": {"at": [[50, 0, 0]], "force": [0, 0, -TIP]},
}
SOFT = E * SIDES[1] * SIDES[0] ** 3 / 12.0


def test_rods_turn_freely_about_a_ball_and_not_without(tmp_path):
    """Two cantilevers of half the load each; a beam clamped at both ends."""
    free = moved(made(tmp_path, **SPAN, hinges=[[50, 0, 0]]), [50, 0, 0])
    assert free[2] == pytest.approx(-0.5 * TIP * LENGTH**3 / (3.0 * SOFT), rel=6e-3)
    tied = moved(made(tmp_path, **SPAN), [50, 0, 0])
    assert tied[2] == pytest.approx(-TIP * LENGTH**3 / (24.0 * SOFT), rel=2e-2)


def test_a_rod_that_is_cut_and_joined_gives_as_one_that_is_whole(tmp_path):
    """A curve with a twisted section, and a stub of nothing on its way."""
    curve = [[0, 0, 0], [20, 10, 5], [40, 5, 20], [60, -10, 25]]
    load = {"at": [curve[-1]], "force": [0.001, 0.002, -0.001]}
    shared = {"clamps": [{"at": curve[0]}], "load": load, "spacing": 2.5}
    whole = {"rods": [{"curve": curve, "twist": 120}], **shared}
    branch = {"line": [curve[2], [40, 5, 30]]}
    cut = {**whole, "rods": [*whole["rods"], branch]}
    one, two = (moved(made(tmp_path, **c), curve[-1]) for c in (whole, cut))
    assert np.linalg.norm(two - one) < 4e-3 * np.linalg.norm(one)


def test_a_closed_rod_is_held_where_others_join_it(tmp_path):
    """A ring on three legs of one thickness sinks evenly, by a third of its load."""
    angle = np.radians([0, 45, 90, 135, 180, 225, 270, 315])
    ring = [[30 * np.cos(a), 30 * np.sin(a), 20.0] for a in angle]
    feet = [[1.5 * ring[k][0], 1.5 * ring[k][1], 0.0] for k in (0, 4)]
    rods = [
        {"line": ring, "closed": True},
        *({"line": [ring[k], foot]} for k, foot in zip((0, 4), feet, strict=True)),
    ]
    load = {"at": [ring[2], ring[6]], "force": [0, 0, -0.01]}
    case = made(
        tmp_path, rods=rods, load=load, clamps=[{"at": f} for f in feet],
        section={"round": {"diameter": 3}},
    )  # fmt: skip
    assert case.space_world.rod.edges.shape[0] == len(case.space_world.rod.nodes)
    down = [moved(case, ring[k])[2] for k in (2, 6)]
    assert down[0] == pytest.approx(down[1], rel=1e-3)
    assert down[0] < 0.0


STALK, FINGER = [[0, 0, 0], [0, 0, 20]], [[0, 0, 20], [50, 0, 20]]


@pytest.mark.parametrize(
    ("lines", "axis"),
    [
        ([[[0, 0, 0], [0, 50, 0]]], 1),
        ([[[0, 50, 0], [0, 0, 0]]], 1),
        ([STALK, FINGER], 0),
    ],
)
def test_a_tendon_bends_the_last_rod_to_an_arc(lines, axis, tmp_path):
    """Tension times its distance from the axis over EI, to either end of the clamp.

    A finger on a clamped stalk too: the tendon ends where the finger begins, or not.
    """
    content = {
        "rods": [{"line": line} for line in lines],
        "clamps": [{"at": [0, 0, 0]}],
        "section": {"round": {"diameter": 4}},
        "tendons": [{"rod": len(lines) - 1, "offset": [1.0, 0], "tension": 2.0}],
    }
    case = made(tmp_path, **content)
    last = np.argsort(case.space_world.rod.nodes[:, axis])[-2:]
    way = np.subtract(*at_rest(case).state.x[last[::-1]])
    direction = way / np.linalg.norm(way)
    curvature = 2.0 * 1e-3 / (E * np.pi * 2e-3**4 / 4.0)
    assert direction[2] == pytest.approx(curvature * LENGTH, rel=2e-3)
    assert abs(direction[1 - axis]) < 1e-9


def test_tendons_pull_as_told_in_time(tmp_path):
    first = {"rod": 0, "offset": [0.5, 0], "tension": 2, "start": 1}
    tendons = [
        {**first, "rise": 2, "friction": 0.2},
        {"rod": 0, "offset": [[0, 0.9, 0], [50, 0.1, 0]], "tension": 1, "start": 1},
    ]
    rods = [{"line": [[0, 0, 0], [50, 0, 0]]}]
    world = made(tmp_path, rods=rods, tendons=tendons).space_world
    assert world.pulling is not None
    assert [tendon.friction for tendon in world.tendons] == [0.2, 0.0]
    shares = [world.pulling(t).tolist() for t in (0.5, 2.0, 4.0)]
    assert shares == [[0.0, 0.0], [0.5, 1.0], [1.0, 1.0]]
    assert_allclose(world.tendons[1].offset[[0, -1], 0], [0.9e-3, 0.1e-3], atol=1e-12)


def tendon(**more: Any) -> dict[str, Any]:
    return {"tendons": [{"rod": 0, "offset": [0, 0], "tension": 1} | more]}


GROUND = {"clamps": [], "load": None, "ground": {"height": 0}}
BAD: list[tuple[dict[str, Any], str]] = [
    (
        {"rods": SPAN["rods"] + [{"line": [[50, 0.5, 0], [50, 30, 0]]}]},
        "of rods[0]: to",
    ),
    (
        {"hinges": [[50, 0, 0]], "clamps": [{"at": [50, 0, 0]}]},
        "cannot have a hinge",
    ),
    (
        {"clamps": [{"at": [50, 0, 0], "stiffness": 1}]},
        "cannot have a stiffness: clamp a free end",
    ),
    ({"clamps": [{"at": [50, 9, 0]}]}, NO_END),
    (tendon(rod=2), "rods[2] does not exist"),
    (tendon(offset=[2, 0]), ROOM),
    (
        tendon(offset=[[0, 1, 0], [9, "a", 0]]),
        "tendons[0].offset[1][1] must be a number, not 'a'",
    ),
    (tendon(tension=-1), "tension must be"),
    (tendon(end=60), "tendons[0]: the range 0 to 60 does not fit its rod of length 50"),
    (
        {"rods": [{"line": [[0, 0, 0], [50, 0, 0], [99, 0, 0]]}, SPAN["rods"][1]]},
        "is 0 mm from the axis of rods[1]: to join them give both rods the same point",
    ),
    (
        {"rods": [*SPAN["rods"], {"line": [[25, 0, 0], [25, 0, 20]]}], **tendon()},
        "passes the joint at 25: end it there",
    ),
    ({"material": {"modulus": 3, "density": 1100}}, "write 3e+06 if it is in MPa"),
    ({"material": {"modulus": 3e6, "density": 1.1}}, "write 1100 if it is in g/cm^3"),
    (
        {"rods": [{"line": [[0, 0, 3], [50, y, 3]]} for y in (8, -8)], **GROUND},
        "m, near (",
    ),
    (
        {"rods": [{"line": [[0, 0, 0.5], [50, 0, 0.5]]}], **GROUND},
        "rods[0] penetrates the ground by 0.5 mm, near (0, 0, 0.5) mm: lift the rod",
    ),
    (
        {"section": {"tape": {"thickness": 0.1, "width": 9, "camber": 1}}},
        "section.tape has no key 'camber'",
    ),
    (
        {"section": {k: {"thickness": 1, "width": 9} for k in ("tape", "rectangular")}},
        "section names rectangular, tape: give one of rectangular, round and tape",
    ),
    ({"pins": [["1 2"]]}, "is ['1 2']: give x, y and z in space; separate them by"),
]


@pytest.mark.parametrize(("values", "words"), BAD)
def test_what_joined_rods_cannot_say_is_refused_in_one_line(values, words, tmp_path):
    with refused_in_one_line(words, "rods.json"):
        made(tmp_path, **{**SPAN, **values})


@pytest.mark.parametrize("turn", [170.0, -170.0, 80.0])
def test_a_section_that_is_turned_far_at_a_joint_turns_in_parts(turn, tmp_path):
    """A bend counts in the mean of both frames, which 180 degrees apart have none."""
    c, s = np.cos(np.radians(turn)), np.sin(np.radians(turn))
    across = [[0.0, 0.0, 1.0], [0.0, -s, c]]
    rods = [{"line": line, "across": a} for line, a in zip(LINES, across, strict=True)]
    rod = made(tmp_path, rods=rods).space_world.rod
    parts = 2 if abs(turn) > 100.0 else 1
    twists = np.sort(np.degrees(rod.state.twist) * np.sign(turn))
    assert_allclose(twists[-parts:], abs(turn) / parts, atol=1e-9)
    assert_allclose(twists[:-parts], 0.0, atol=1e-9)


TAPE: dict[str, Any] = {
    "section": {"tape": {"thickness": 0.1, "width": 12}},
    "material": {"modulus": 2e11, "density": 7850, "poisson": 0.3},
    "spacing": 10,
    "gravity": [0, 0, -9.81],
    "duration": 0.12,
}


def falling(folder: Path, *ways: list[list[int]]) -> SpaceMotionStep:
    """The end of tapes of spring steel, clamped at their start, without damping."""
    rods = [{"line": way, "across": [0, 0, 1]} for way in ways]
    held = {"clamps": [{"at": ways[0][0]}]}
    case = replace(made(folder, **TAPE | held, rods=rods), damping=Damping(0.0, 0.0))
    *_, last = simulate_in_space(
        case.space_world, case.options, case.duration, every=100
    )
    return last


def test_tapes_joined_in_line_fall_as_one_does(tmp_path):
    """14,400 times as stiff in their planes as out of them; 100 and 80 mm, 180 mm."""
    one = falling(tmp_path, [[0, 0, 0], [180, 0, 0]])
    two = falling(tmp_path, [[0, 0, 0], [100, 0, 0]], [[100, 0, 0], [180, 0, 0]])
    lowest = [step.x[:, 2].min() for step in (one, two)]
    assert lowest[1] == pytest.approx(lowest[0], rel=1e-3)
    assert lowest[0] < -0.05


def test_a_tape_around_a_corner_falls_and_keeps_its_energy(tmp_path):
    last = falling(tmp_path, [[0, 0, 0], [100, 0, 0]], [[100, 0, 0], [100, 80, 0]])
    assert last.x[:, 2].min() < -0.04
    assert abs(last.energy) < 1e-9 * last.kinetic


def test_what_places_in_doubles_cannot_balance_is_not_taken(tmp_path):
    """1 km off the last digit of a place is more than all forces in a tape's plane."""
    with pytest.raises(NotConvergedError):
        falling(
            tmp_path,
            [[1_000_000, 0, 0], [1_000_100, 0, 0]],
            [[1_000_100, 0, 0], [1_000_100, 80, 0]],
        )
