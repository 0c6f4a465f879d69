"""Structure files whose elastic parts grow, beside closed forms; what is refused."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hydra.errors import InstantiationException
from hydra.utils import instantiate
from numpy.testing import assert_allclose

from pipeline.cases.equilibrium import EquilibriumCase, loaded_file
from pipeline.cases.mechanism_motion import MechanismMotionCase, in_metres
from pipeline.io.structure_file import structure_file
from pipeline.report.moving_shape import chosen_columns, read_moving_shape
from pipeline.report.scene import scene_of
from pipeline.steps.simulate import record_steps
from pipeline.terminal import InputError
from sim.core.arrays import Floats
from tests.helpers.tables import rows_of
from tests.pipeline.cases import test_equilibrium
from tests.pipeline.shipped_cases import config_of

LAW = [[20, 0, 0], [60, 0.04, 0.004]]
ROD: dict[str, Any] = {  # two springs in a line, the first of which grows
    "nodes": [[0, 0, 0], [1, 0, 0], [3, 0, 0]],
    "springs": [[0, 1, 7.0], [1, 2, 5.0]],
    "supports": [[0, 1, 1, 1], [1, 0, 1, 1], [2, 0, 1, 1]],
    "growth": [{"springs": [0], "strain": LAW}],
}
FLAP: dict[str, Any] = {
    "nodes": [[0, 0, 0], [0, 20, 0], [-20, 10, 0], [20, 10, 0]],
    "bodies": [[0, 1, 2], [0, 1, 3]],
    "fixed": [0, 1, 2],
    "hinges": [[2, 0, 1, 3, 4.0]],
    "growth": [{"hinges": [0], "turn": [[0, 0, 0], [600, -60, 2]]}],
}
SHEET: dict[str, Any] = {
    "nodes": [[0, 0, 0], [2, 0, 0], [0, 2, 0]],
    "panels": [[0, 1, 2, 3.0, 0.2, 0.1]],
    "planar": "z",
    "fixed": [0, [1, "y"]],
    "growth": [{"panels": [0], "strain": LAW}],
}


def of_file(folder: Path, content: dict[str, Any], **values: Any) -> EquilibriumCase:
    return test_equilibrium.of_file(folder, content, **{"values": [40.0], **values})


def ends(case: EquilibriumCase) -> list[Floats]:
    return [step.found.r() for step in case.steps()]


def test_a_free_part_is_longer_by_its_strain_at_each_value(tmp_path):
    first, middle, last = ends(of_file(tmp_path, ROD, values=[20, 30, 60]))
    assert_allclose(first[:, 0], [0, 1, 3], atol=1e-9)
    assert_allclose(middle[:, 0], [0, 1.01, 3.01], atol=1e-9)
    assert_allclose(last[:, 0], [0, 1.04, 3.04], atol=1e-9)


def test_rigid_links_grow_as_elastic_ones(tmp_path):
    elastic, rigid = ends(of_file(tmp_path, ROD, compliances=[1.0, 0.0]))
    assert_allclose(rigid, elastic, atol=1e-8)


TRIANGLE: dict[str, Any] = {  # two rigid links, the first of which grows
    "nodes": [[0, 0, 0], [3, 0, 0], [1.5, 2, 0]],
    "links": [[2, 0, 2.5], [1, 2, 2.5]],
    "fixed": [0, 1],
    "planar": "z",
    "springs": [[0, 2, 1.0]],
    "growth": [{"links": [0], "strain": LAW}],
}


def apex(strain: float) -> Floats:
    """Where circles of 2.5 (1 + strain) and 2.5 about the ends of a base of 3 meet."""
    x = (9.0 + 2.5**2 * ((1.0 + strain) ** 2 - 1.0)) / 6.0
    return np.array([x, np.sqrt((2.5 * (1.0 + strain)) ** 2 - x**2), 0.0])


def test_a_rigid_link_grows_to_where_circles_meet_with_its_u(tmp_path):
    case = of_file(tmp_path, TRIANGLE, values=[20, 40, 60])
    for step, strain in zip(case.steps(), (0.0, 0.02, 0.04), strict=True):
        assert_allclose(step.found.r()[2], apex(strain), atol=1e-8)
        slope = (apex(strain + 1e-6) - apex(strain - 1e-6)) / 2e-6
        assert_allclose(step.u[2], np.abs(0.1 * strain * slope), rtol=0.02, atol=1e-9)


def test_a_rigid_link_that_grows_strains_a_spring_against_a_wall(tmp_path):
    content = ROD | {
        "links": [[0, 1]],
        "springs": [[1, 2, 5.0]],
        "supports": [[0, 1, 1, 1], [1, 0, 1, 1], [2, 1, 1, 1]],
        "growth": [{"links": [0], "strain": LAW}],
    }
    (step,) = of_file(tmp_path, content, values=[60]).steps()
    assert_allclose(step.found.deformed.tension, [-5.0 * 0.04], rtol=1e-8)
    assert_allclose(step.found.tension, [-5.0 * 0.04], rtol=1e-8)


def test_u_of_places_follows_the_tables_and_squares_add_up(tmp_path):
    both = ROD | {
        "growth": [
            {"springs": [0], "strain": LAW},
            {"springs": [1], "strain": [[20, 0, 0.001], [60, 0, 0.001]]},
        ]
    }
    case = of_file(tmp_path, both)
    record_steps(case, "rod", tmp_path)
    (row,) = rows_of(tmp_path / "steps.csv")
    assert float(row["field"]) == 40.0
    assert_allclose(float(row["u_place"]), np.hypot(1 * 0.002, 2 * 0.001), rtol=1e-6)
    places = rows_of(tmp_path / "places.csv")
    assert_allclose([float(p["x"]) for p in places], [0, 1.02, 3.02], atol=1e-8)
    u = [0, 0.002, np.hypot(0.002, 0.002)]
    assert_allclose([float(p["u_x"]) for p in places], u, atol=1e-8)


def test_a_hinge_turns_by_degrees(tmp_path):
    (step,) = of_file(tmp_path, FLAP, values=[300]).steps()
    assert_allclose(np.degrees(step.found.deformed.angle), 150.0, atol=1e-6)
    arm, turned = 20.0, np.radians(30.0)
    tip = step.found.r()[3]
    assert_allclose(tip[0], arm * np.cos(turned), rtol=1e-8)
    assert_allclose(abs(tip[2]), arm * np.sin(turned), rtol=1e-8)
    assert_allclose(np.linalg.norm(step.u[3]), arm * np.radians(1.0), rtol=1e-3)


def test_a_panel_grows_alike_in_all_directions(tmp_path):
    (found,) = ends(of_file(tmp_path, SHEET))
    assert_allclose(found, [[0, 0, 0], [2.04, 0, 0], [0, 2.04, 0]], atol=1e-8)


def test_the_shipped_strip_bends_down_as_it_is_heated(tmp_path, monkeypatch):
    monkeypatch.chdir(Path(__file__).parents[3])
    case = instantiate(config_of("growing_strip"), _convert_="object")
    record_steps(case, "growing_strip", tmp_path)
    shape = read_moving_shape(tmp_path)  # as pictures show it
    assert shape is not None
    assert (len(shape.links), len(shape.faces)) == (4, 8)
    assert list(chosen_columns(tmp_path)) == ["field", "u_place", "energy"]
    scene = scene_of(tmp_path)  # as its page does
    assert scene is not None
    assert (scene["along"], scene["shown"]) == ("field", ["u_place", "energy"])
    assert scene["columns"]["field"] == pytest.approx([20.0, 30.0, 40.0, 60.0])
    with np.load(tmp_path / "steps.npz") as arrays:
        tip = arrays["r"][:, 4, 1]
        assert arrays["u_r"].shape == arrays["r"].shape
    assert tip[0] == pytest.approx(0.0, abs=1e-8)
    assert (np.diff(tip) < -0.1).all()


def test_a_file_with_growth_is_refused_where_nothing_grows(tmp_path):
    path = tmp_path / "grows.json"
    path.write_text(json.dumps(ROD))
    with pytest.raises(InputError, match="which a morph does not support"):
        structure_file(str(path))
    with pytest.raises(ValueError, match="growth does not work in a motion: remove it"):
        MechanismMotionCase(loaded_file(str(path)), duration=1.0, h=0.1)


def test_panels_in_mm_are_those_in_metres(tmp_path):
    mm = {k: v for k, v in SHEET.items() if k != "growth"} | {"unit": "mm"}
    path = tmp_path / "sheet.json"
    path.write_text(json.dumps(mm))
    body = loaded_file(str(path))
    made, away = in_metres(body).elastic.panels, 1.1 * body.structure.r0
    energy = body.elastic.panels.stretched(away).energy  # N mm
    assert energy > 0.0
    assert_allclose(made.stretched(away / 1000.0).energy, energy / 1000.0, rtol=1e-12)


@pytest.mark.parametrize(
    ("content", "values", "words"),
    [
        (ROD, {"values": []}, "list field values for the growth"),
        (ROD, {"values": 40}, "values is 40: list field values"),
        (ROD, {"values": [float("nan")]}, "list field values"),
        (ROD, {"values": [80]}, "the field 80 is outside its table, 20 to 60"),
        (
            {k: v for k, v in ROD.items() if k != "growth"},
            {"values": [40]},
            "but the structure has no `growth`: leave values empty",
        ),
    ],
)
def test_values_of_a_field_that_do_not_fit_are_refused(
    content, values, words, tmp_path
):
    with pytest.raises(InstantiationException, match=words):
        of_file(tmp_path, content, **values)


@pytest.mark.parametrize(
    ("content", "entry", "words"),
    [
        (ROD, {"springs": [2], "strain": LAW}, r"growth\[0\].springs is 2: the f"),
        (ROD, {"springs": [-1], "strain": LAW}, r"the file has springs 0 to 1"),
        (ROD, {"springs": [0, 0], "strain": LAW}, r"0 is in growth\[0\] too"),
        (ROD, {"springs": [0]}, "give links, springs or panels"),
        (TRIANGLE, {"links": [2], "strain": LAW}, r"the file has links 0 to 1"),
        (TRIANGLE, {"links": [0], "turn": LAW}, "give links, springs or panels"),
        (
            TRIANGLE | {"bodies": [[0, 1, 2]]},
            {"links": [0], "strain": LAW},
            r"growth\[0\].links: another part fixes the length of link 0",
        ),
        (ROD, {"springs": [0], "turn": LAW}, "give links, springs or panels"),
        (FLAP, {"hinges": [0], "strain": LAW}, "give links, springs or panels"),
        (ROD, {"strain": LAW}, "give links, springs or panels"),
        (ROD, {"springs": [0], "strain": LAW[:1]}, "needs two rows or more"),
        (ROD, {"springs": [0], "strain": LAW[::-1]}, "their field must increase"),
        (ROD, {"springs": [0], "strain": [[0, -1, 0], [1, 0, 0]]}, "above -1, and u"),
        (ROD, {"springs": [0], "strain": [[0, 0, -1], [1, 0, 0]]}, "u 0 or more"),
        (FLAP, {"hinges": [0], "turn": [[0, 0, -1], [1, 0, 0]]}, r": u 0 or more"),
        (ROD, {"springs": [0], "strain": [[0, 0], [1, 0]]}, "it needs 3 numbers"),
        (ROD, {"springs": "0", "strain": LAW}, r"growth\[0\].springs must be a list"),
        (ROD, {"springs": [0], "strain": LAW, "more": 1}, r"growth\[0\].*more"),
    ],
)
def test_growth_that_is_none_is_refused_in_one_line(content, entry, words, tmp_path):
    path = tmp_path / "grows.json"
    path.write_text(json.dumps(content | {"growth": [entry]}))
    with pytest.raises((ValueError, InputError), match=words) as caught:
        loaded_file(str(path))
    assert "\n" not in str(caught.value)
    assert str(path) in str(caught.value)


@pytest.mark.parametrize(
    ("panel", "words"),
    [
        ([0, 1, 9, 3.0, 0.2, 0.1], r"panels\[0\]\[2\] is 9: the structure has nodes"),
        ([0, 1, 1, 3.0, 0.2, 0.1], "panel 0 has no area at rest"),
        ([0, 0, 1, 3.0, 0.2, 0.1], "panel 0 has no area at rest"),
        ([0, 1, 2, -3.0, 0.2, 0.1], "modulus and thickness of panel 0"),
        (
            [0, 1, 2, 3.0, 1.2, 0.1],
            r"Poisson's ratio 1.2 of panel 0 must be in",
        ),
        ([0, 1, 2, 3.0, 0.2], "it needs 6 numbers"),
    ],
)
def test_panels_that_are_none_are_refused(panel, words, tmp_path):
    path = tmp_path / "sheet.json"
    path.write_text(json.dumps(SHEET | {"panels": [panel]}))
    with pytest.raises((ValueError, InputError), match=words):
        loaded_file(str(path))
