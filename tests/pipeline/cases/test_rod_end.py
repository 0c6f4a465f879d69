"""How a rod ends: its way and speed, known from a fall, and what is called rest."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from pipeline.cases.record import LengthUnit
from pipeline.cases.rod_record import rod_end, user_end
from pipeline.cases.user_rods import OwnRodCase, RodFileCase
from pipeline.runs.summary import summary_lines
from tests.recorded import summary

FALLING = """\
unit: mm
section: {round: {diameter: 2}}
material: {modulus: 3.0e6, density: 1000}
spacing: 10
rods: [{line: [[0, 0], [50, 0]]}]
gravity: [0, -9.81]
duration: 0.02
"""


def drawn(path: Path, dimension: int) -> RodFileCase:
    path.write_text(FALLING)
    return RodFileCase(str(path), dimension=dimension)


def counted(_: Path, dimension: int) -> OwnRodCase:
    nodes = [[0.01 * k, 0.0] for k in range(6)]
    return OwnRodCase(nodes, duration=0.02, dimension=dimension)


@pytest.mark.parametrize("made", [drawn, counted])
@pytest.mark.parametrize("dimension", [2, 3])
def test_a_falling_rod_tells_the_way_and_the_speed_of_a_fall(made, dimension, tmp_path):
    ends = dict(summary(made(tmp_path / "falling.yaml", dimension)))
    time = float(ends["time"])
    assert time == pytest.approx(0.02, rel=0.01)
    assert ends["largest_displacement"] == pytest.approx(4.905 * time**2, rel=1e-6)
    assert ends["largest_speed"] == pytest.approx(9.81 * time, rel=1e-6)
    assert ends["at_rest"] is False
    (moved,) = (s for s in told_of(ends) if s.startswith("moved: "))
    assert "farthest, by 1.962 mm to (" in moved or "0.001962 m to" in moved
    assert "still moving: the fastest node at 0.19" in moved
    assert "; to run twice as long: " in moved
    assert moved.endswith("=0.04")
    assert "warning: nothing holds the robot: add a clamp" in told_of(ends)[-1]


def test_a_drawn_rod_is_told_in_its_own_unit_and_doubted_where_it_is_huge(tmp_path):
    """50 mm as 50 m."""
    (tmp_path / "huge.yaml").write_text(FALLING.replace("unit: mm", "unit: m"))
    case = RodFileCase(str(tmp_path / "huge.yaml"))
    said = dict(summary(case))
    assert str(said["warning"]).endswith("the robot is 50 m across: is its unit m?")
    ends = dict(summary(drawn(tmp_path / "falling.yaml", 2)))
    assert str(ends["moved"]).startswith("the point at (")
    assert "across" not in str(ends["warning"])


def told_of(ends: dict[str, object]) -> list[str]:
    return summary_lines({"result": ends, "wall_s": 1.0})


@pytest.mark.parametrize(
    ("way", "speed", "rest"),
    [(0.1, 4e-4, True), (0.1, 6e-4, False), (0.0, 0.0, True), (1e-9, 1e-9, True)],
)
def test_rest_creeps_by_less_than_a_hundredth_of_the_way(way, speed, rest):
    start = np.array([[0.0, 0.0], [1.0, 0.0]])
    moved, fast = np.array([[0, 0], [0, way]]), np.array([[0, speed]] * 2)
    ends = rod_end(start, start + moved, fast, fast, 2.0)
    assert ends["at_rest"] is rest
    assert ends["largest_displacement"] == pytest.approx(way)


MOVED = """\
unit: mm
section: {{round: {}}}
material: {{modulus: {}, density: 1200}}
spacing: {}
rods: [{{line: [[0, 0], [{}, 0]]}}]
clamps:
  - {{at: [0, 0]}}
  - {{at: [{}, 0], moves: [[0, 0, 0], {}]}}
gravity: [0, -9.81]
duration: {}
"""
THREAD = MOVED.format("{diameter: 0.3}", 7.5e8, 5, 100, 100, [0.5, -10, 0], 2)
TUBE = MOVED.format("{diameter: 10, bore: 6}", 5e6, 10, 600, 600, [2, -200, 0], 6)
SOLID = MOVED.format("{diameter: 10}", 5e6, 10, 200, 200, [1, -40, 0], 2)


@pytest.mark.parametrize(
    ("text", "dimension"),
    [
        (THREAD, 2),
        pytest.param(THREAD, 3, marks=pytest.mark.slow),
        (TUBE, 2),
        (SOLID, 2),
    ],
)
def test_a_rod_that_rings_from_step_to_step_in_its_place_is_at_rest(
    text, dimension, tmp_path
):
    """The stretching of the thread turns over in every step, at 8 mm/s, for ever."""
    (tmp_path / "rod.yaml").write_text(text)
    case = RodFileCase(str(tmp_path / "rod.yaml"), dimension=dimension)
    *_, last = case.steps()
    assert np.abs(last.v).max() > 5e-4
    if text is TUBE:  # the sag of a heavy elastica
        assert np.ptp(last.x[:, 1]) == pytest.approx(0.1975, rel=1e-3)
    ends = case.ends(last)
    assert ends["at_rest"] is True
    assert float(str(ends["largest_speed"])) < 1e-5
    assert "; at rest: the fastest node at" in "".join(told_of(ends))
    assert "still moving" not in "".join(told_of(ends))


def short(path: Path, *changes: tuple[str, str], **values: float) -> RodFileCase:
    """A clamped rod, 50 mm x 2 mm with 5 edges, with changes of its file."""
    text = FALLING + "clamps: [{at: [0, 0]}]\n"
    for old, new in changes:
        text = text.replace(old, new)
    path.write_text(text)
    return RodFileCase(str(path), **values)


def test_rods_and_runs_that_are_too_short_are_said_with_a_remedy(tmp_path):
    """Shear adds 0.9 (t / L)^2 = 22 % at twice the thickness; 3 steps show nothing."""
    path = tmp_path / "short.yaml"
    assert short(path).limits == []
    assert short(path, ("diameter: 2", "diameter: 10")).limits == []
    (stub,) = short(path, ("diameter: 2", "diameter: 25")).limits
    assert stub.startswith("rods[0] is 2 times as long as thick, below 5: the model")
    assert stub.endswith("so a cantilever would bend 22 % more than computed")
    (coarse,) = short(path, ("spacing: 10", "spacing: 12.5")).limits
    assert (
        coarse == "rods[0] has 4 edges, fewer than 5: set its spacing to 10 mm or less"
    )
    more = "[0, 0], [50, 0]]}", "[0, 0], [50, 0]]}, {line: [[50, 0], [60, 0]]}"
    assert short(path, more).limits == []  # a part that only joins others
    few = short(path, duration=0.006)
    (warning,) = few.limits
    assert warning == (
        "the run has 3 steps, fewer than 5: set case.options.h to 6e-05 s or less"
    )
    ends = dict(summary(few))
    assert warning in str(ends["warning"])


HAIRPIN = """\
unit: mm
section: {rectangular: {thickness: 1, width: 10}}
material: {modulus: 1.0e5, density: 1200}
spacing: 7
rods: [{curve: [[0, 6], [50, 6], [100, 6], [110, 8], [100, 14], [50, 14], [0, 14]]}]
ground: {wave: {amplitude: 2, wavelength: 22}}
duration: 0.2
"""


def test_rods_that_went_through_rods_or_ground_are_told_with_what_they_lack(tmp_path):
    (tmp_path / "hairpin.yaml").write_text(HAIRPIN)
    said = str(summary(RodFileCase(str(tmp_path / "hairpin.yaml")))["warning"])
    assert "rods passed through each other (crossed edge pairs: " in said
    assert "penetrates the ground by " in said
    assert said.count("case.edge_contact={_target_: ") == 1


@pytest.mark.parametrize("rubbed", [0.0, 0.5])
@pytest.mark.parametrize("gave", [0.01, 1e-5])
def test_contacts_that_give_energy_are_told(gave, rubbed, tmp_path):
    """By pushing nodes out of the ground, into which they land by 2 % of an edge."""
    case = drawn(tmp_path / "falling.yaml", 2)
    (*_, last) = case.steps()
    at_work = float(last.state.clock.at_work)
    last = replace(last, impact=-gave * at_work, friction=rubbed * at_work)
    said = str(user_end(case.world, last, LengthUnit())["warning"])
    assert ("contacts added" in said) is (gave == 0.01)
