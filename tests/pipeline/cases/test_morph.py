"""Morphing cases as the configuration builds them."""

import json
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

from pipeline.cases.morph import MorphCase
from pipeline.io.structure_file import document, structure_file
from pipeline.runs.summary import summary_lines
from pipeline.steps.simulate import record_steps
from pipeline.terminal import InputError
from sim.mechanism.global_search import ALIKE
from sim.mechanism.named_structures import triangle_sheet
from sim.mechanism.structure_builder import Draft
from sim.mechanism.targets.analytic_surfaces import Circle, Sphere
from sim.mechanism.targets.target_interface import Goals
from sim.mechanism.targets.transformed import AlongAxis
from tests.helpers.cases import changed
from tests.helpers.refusals import refused_in_one_line
from tests.helpers.tables import rows_of
from tests.recorded import recorded, summary
from tests.sim.mechanism.reference import DATA, load

TRIANGLES = ["triangles_circle", "triangles_cylinder", "triangles_ellipsoid"]
SQUARE = {
    "nodes": [[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]],
    "dist": [[0, 1, 1.0], [1, 2, 1.0], [2, 3, 1.0], [3, 0, 1.0]],
    "leading": [2],
    "goals": [[1.5, 1.0, 0.0]],
}  # fmt: skip
NEWTON = {"method": "newton", "tolerance": 1e-9}
build = partial(changed, MorphCase)


def written(path: Path, **values: Any) -> str:
    path.write_text(json.dumps({**SQUARE, **values}))
    return str(path)


def test_the_three_cases_of_fig_3_share_one_structure():
    sheets = [build(name).structure for name in TRIANGLES]
    for sheet in sheets[1:]:
        assert_allclose(sheet.r0, sheets[0].r0, rtol=0)
        assert sheet.bodies == sheets[0].bodies


@pytest.mark.slow
def test_a_sheet_comes_to_lie_on_both_planes_of_a_mesh():
    """Two planes of 30 degrees, z = -|y| tan 30, that meet in the ridge y = z = 0."""
    (*_, last), recorder = recorded(build("triangles_onto_mesh"))
    x, y, z = last.r.T
    assert_allclose(z, -np.abs(y) * np.tan(np.radians(30.0)), atol=1e-8)
    assert np.abs(x).max() < 8.0  # within the mesh
    assert min((y > 0.3).sum(), (y < -0.3).sum()) >= 12
    result = recorder.summary()
    assert result["stop"] == "gradient"
    assert result["target_reached"]
    assert float(result["E"]) < 1e-9
    assert float(result["residual"]) <= 1e-10
    assert recorder.fixed_arrays()["target_vertices"].min() == -8.0


def test_result_says_how_the_run_ended():
    (*_, last), recorder = recorded(build("triangles_circle"))
    result = recorder.summary()
    assert result["stop"] == "change"
    assert result["mobility"] == 77
    assert result["redundant"] == 0
    assert result["E"] == last.E
    assert float(result["residual"]) <= 1e-10


def test_structure_file_is_solved_towards_its_goals(tmp_path):
    path = written(tmp_path / "square.json")
    case = MorphCase(structure_file(path), method="newton")
    (*_, last), recorder = recorded(case)
    result = recorder.summary()
    assert isinstance(case.shape, Goals)
    assert_allclose(last.r[2], SQUARE["goals"][0], atol=1e-8)  # type: ignore[index]
    assert result["stop"] == "gradient"
    assert float(result["projected_gradient"]) <= 1e-9
    assert (result["target_reached"], result["target_node"]) == (True, 2)
    assert float(result["target_miss"]) < 1e-8


def test_limits_that_a_morph_ends_at_are_told_with_their_bounds(tmp_path):
    """A diagonal of 1.45 of a square of side 1, whose corner is drawn to (1.5, 1)."""
    ranges = {"length": [[0, 2, None, 1.45], [1, 3, 0.5, None]]}
    held = {"unit": "mm", "fixed": [0], "planar": "z", "ranges": ranges}
    path = written(tmp_path / "square.json", **held)
    (*_, last), recorder = recorded(MorphCase(structure_file(path), method="newton"))
    assert_allclose(np.linalg.norm(last.r[2] - last.r[0]), 1.45, rtol=1e-6)
    result = recorder.summary()
    assert (result["target_reached"], result["target_node"]) == (False, 2)
    missed = np.linalg.norm(last.r[2] - [1.5, 1.0, 0.0])
    assert result["target_miss"] == pytest.approx(missed)
    assert result["E"] == pytest.approx(missed / (2.0 * np.sqrt(0.5)))  # L, 4 nodes
    assert result["limits"] == "length(0, 2) at its upper limit of 1.45 mm"
    assert "touching" not in result
    said = summary_lines({"result": result, "wall_s": 1.0})
    assert "limits reached: length(0, 2) at its upper limit of 1.45 mm" in said


def test_all_nodes_that_miss_the_target_by_a_tenth_of_the_worst_are_named(tmp_path):
    """Of nodes that are held at distances from 1 to 1.9, and one in place."""
    away = [1.0, 1.2, 1.8, 1.4, 1.9, 1.6, 1.1]
    nodes = [[float(i), 0.0, 0.0] for i in range(8)]
    aims = [[i, float(i), y, 0.0] for i, y in enumerate([*away, 0.1])]
    held = {"unit": "mm", "fixed": list(range(8)), "nodes": nodes}
    path = tmp_path / "held.json"
    path.write_text(json.dumps(held | {"target": {"nodes": aims}}))
    result = recorded(MorphCase(structure_file(str(path))))[1].summary()
    others = "node 2 by 1.8 mm, node 5 by 1.6 mm, node 3 by 1.4 mm, node 1 by 1.2 mm"
    assert result["target_node"] == 4
    assert result["target_others"] == f"{others} and 2 more"
    said = summary_lines({"result": result, "wall_s": 1.0})[0]
    assert said.startswith("target missed: node 4 by 1.9 mm, the farthest of 8; also")
    assert said.endswith(
        "and 2 more (tolerance 0.00229 mm, a thousandth of L); node 4 ends at (4, 0, 0)"
    )


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ({"nodes": {"x": [0, 0, 0], "B": [1, 0, 0]}}, "'x': use a letter other than x"),
        (
            {"nodes": {"A": [0, 0], "B": [1, 0]}, "fixed": ["C"]},
            "fixed: .*named C: the",
        ),
        ({"nodes": {"A1": [0, 0], "B": [1, 0]}, "fixed": ["A"]}, "did you mean A1"),
        ({"nodes": [[0, 0], [1, 0]], "planar": ["z"]}, "planar is .*: choose one of x"),
        ({"nodes": [{"A": [0, 0]}, {"B": [1, 0]}], "fixed": ["A"]}, "or a list of pl"),
        ({"nodes": [[0, 0, 0]], "fix": [0]}, r"did you mean `fixed: \[0\]`\?"),
        ({"rods": []}, "is a rod file: case=rod_file reads it"),
        ({"file_spec": 1, "vertices_coords": []}, "pattern: case=fold_file reads it"),
    ],
)
def test_slips_in_a_structure_file_are_answered_with_what_to_write(
    content, words, tmp_path
):
    (tmp_path / "slip.json").write_text(json.dumps(content))
    with pytest.raises((InputError, ValueError), match=words):
        structure_file(str(tmp_path / "slip.json"))


@pytest.mark.parametrize("planar", ["x", "y", "z", None])
def test_nodes_with_names_and_two_numbers_are_those_with_numbers_and_three(
    planar, tmp_path
):
    """Names count in the order of the file; a plane that no file names is z."""
    flat = {"A": [0, 0], "B": [30, 50], "top": [110, 70], "D": [100, 0]}
    axis = "xyz".index(planar or "z")
    places = [[*at[:axis], 0, *at[axis:]] for at in flat.values()]
    parts = {
        "links": [["A", "B"], ["B", "top"], ["top", "D", 71.0]],
        "fixed": ["A", ["D", "xyz"]],
        "masses": [{"nodes": ["A", "B"], "mass": 1.0}],
        "joints": [{"hinge": {"bodies": [0, 1], "axis": ["A", "B"]}}],
        "bodies": [["A", "B", "top"], ["A", "B", "D"]],
        "target": {"nodes": [["top", *places[2]]]},
        "name": "A",
        "unit": "mm",
    }
    if planar is not None:
        parts["planar"] = planar
    numbers = {f'"{name}"': str(i) for i, name in enumerate(flat)}
    text = json.dumps(parts)
    for name, i in numbers.items():
        text = text.replace(name, i)
    counted = json.loads(text) | {"nodes": places, "planar": planar or "z", "name": ""}
    (tmp_path / "named.yaml").write_text(json.dumps(parts | {"nodes": flat}))
    (tmp_path / "counted.json").write_text(json.dumps(counted))
    named, other = (
        structure_file(str(tmp_path / name)) for name in ("named.yaml", "counted.json")
    )
    assert document(named) == document(other) | {"node_names": list(flat)}


@pytest.mark.parametrize("planar", [None, "x", "y", "z"])
def test_a_goal_in_a_plane_has_the_third_coordinate_of_its_node(tmp_path, planar):
    content = {"nodes": [[0, 0, 7], [5, 6, 7]], "links": [[0, 1]]}
    content |= {"target": {"nodes": [[1, 8, 9]]}}
    path = str(tmp_path / "plane.json")
    Path(path).write_text(json.dumps(content | {"planar": planar}))
    expected = {"x": [5, 8, 9], "y": [8, 6, 9], "z": [8, 9, 7]}
    if planar is None:
        with pytest.raises(ValueError, match=r"target.nodes: node 1 needs x, y, z, or"):
            structure_file(path)
    else:
        assert structure_file(path).goals.tolist() == [expected[planar]]


def test_springs_in_a_morph_are_answered_with_the_cases_that_take_them(tmp_path):
    path = written(tmp_path / "square.json", springs=[[0, 2, 1.0]])
    with pytest.raises(InputError, match="use case=loaded_file for its equilibrium"):
        structure_file(path)


def test_perturbation_moves_the_target_by_its_seed_and_is_recorded():
    asked = {"seed": 4, "turn": 0.01, "shift": 0.02}
    results = []
    for perturb in (asked, asked, {**asked, "seed": 5}, None):
        results.append(summary(build("triangles_cylinder", perturb=perturb)))
    assert results[0] == results[1]
    assert results[0]["target_turn_x"] != results[2]["target_turn_x"]
    assert 0.0 < abs(float(results[0]["target_shift_y"])) < 0.1
    assert results[0]["S"] != results[3]["S"]
    assert "target_turn_x" not in results[3]


def test_balls_of_a_case_end_without_an_overlap():
    (*_, last), recorder = recorded(build("triangles_enclosed", reactions=True))
    result = recorder.summary()
    assert result["overlaps"] == 0
    assert result["stop"] == "gradient"
    tables = {name: list(rows) for name, rows in recorder.tables().items()}
    assert len(tables["reactions.csv"]) == result["rows"]
    forces = [float(row["force"]) for row in tables["contacts.csv"]]
    assert sum(force > 1e-3 for force in forces) > 50
    assert min(float(row["room"]) for row in tables["contacts.csv"]) > 0.0
    assert last.gradient <= 1e-9
    assert recorder.reactions.gradient <= 1e-7  # before contacts are balanced


def test_forces_that_hang_on_the_residual_are_left_out_and_said(tmp_path):
    in_line = {
        "nodes": [[0, 0, 0], [1, 0, 0], [2, 0, 0]],
        "dist": [[0, 1, 1.0], [1, 2, 1.0]],
        "fix": [[node, axis, 2.0 * (node and axis == 0)] for node in (0, 2)
                for axis in range(3)],
        "leading": [1],
        "goals": [[1.0, 0.5, 0.0]],
    }  # fmt: skip
    path = tmp_path / "line.json"
    path.write_text(json.dumps(in_line))
    case = MorphCase(structure_file(str(path)), method="newton", reactions=True)
    _, recorder = recorded(case)
    result, rows = recorder.summary(), list(recorder.tables()["reactions.csv"])
    warning = str(result["warning"])
    assert warning.startswith("dist(0, 1); dist(1, 2); fix(0, x); fix(2, x) are nearly")
    assert "largest_tension" not in result
    told = {row["constraint"]: row["y"] for row in rows}
    assert told["dist(0, 1)"] == told["fix(2, x)"] == ""
    assert_allclose(told["fix(0, y)"], 0.25, rtol=1e-3)


def test_several_starts_are_listed_and_the_lowest_is_kept():
    steps, recorder = recorded(build("triangles_ellipsoid", **NEWTON, starts=3, hops=2))
    rows, result = list(recorder.tables()["starts.csv"]), recorder.summary()
    last = steps[-1]
    assert {recorder.row(step)["start"] for step in steps} == {0, 1, 2}
    assert [row["start"] for row in rows] == [0, 1, 2]
    assert result["starts"] == 3
    assert result["E"] == last.E == float(rows[last.start]["E"])
    assert min(float(row["E"]) for row in rows) + ALIKE >= last.E
    assert result["lowest_start"] == [row["minimum"] for row in rows].index(0)
    assert "minimum" not in result


def test_of_one_start_it_is_said_that_other_minima_may_be_lower():
    """Where nodes are off their goals, with what looks for them; not at a target."""
    said = []
    for radius, values in ((5.3, NEWTON), (5.3, {}), (4.0, NEWTON)):
        case = build("triangles_circle", **values, target=Circle(radius))
        said.append(recorded(case)[1].summary().get("minimum", ""))
    words = "a single start finds one minimum: {}case.starts=8 looks for lower ones"
    newton = "case.method=newton "
    assert said == [words.format(""), words.format(newton), ""]


BAD: dict[str, tuple[dict[str, Any], str]] = {
    "zero length": ({"dist": [[0, 1, 0.0]]}, "dist(0, 1) has length zero"),
    "negative length": ({"dist": [[0, 1, -2.0]]}, "has the negative squared length -2"),
    "nobody leads": ({"leading": [], "goals": []}, "`leading` is empty: name a node"),
    "link to itself": ({"dist": [[1, 1, 1.0]]}, "dist(1, 1) has length zero"),
    "not a number": ({"nodes": [[0, 0, float("nan")]]}, "nodes[0][2] is nan: give a"),
    "flat": ({"nodes": [[0, 0], [1, 0, 0]]}, "nodes[0] is [0, 0]: it needs 3 numbers"),
    "no nodes": ({"nodes": []}, "nodes must be a list with one or more entries"),
    "short entry": ({"dist": [[0, 1]]}, "dist[0] is [0, 1]: it needs 3 numbers"),
    "text": ({"dist": [[0, 1, "one"]]}, "dist[0][2] must be a number, not 'one'"),
    "fraction of a node": (
        {"dist": [[0, 0.5, 1.0]]},
        "dist[0][1] must be a whole",
    ),
    "axis": ({"fix": [[0, 3, 0.0]]}, "fix[0][1] is 3: choose one of 0, 1, 2"),
    "plane on a line": (
        {
            "nodes": [[0, 0, 0], [1, 0, 0], [2, 0, 0], [0, 1, 0]],
            "triple": [[0, 3, 0, 1, 1, 2, 0.0]],
        },
        "triple(0, 3, 0, 1, 1, 2) has a plane whose nodes are on one line",
    ),
    "unknown key": (
        {"rods": [[0, 1, 1.0]]},
        "has no key 'rods': did you mean nodes",
    ),
    "body of unknown nodes": ({"bodies": [[0, 4]]}, "bodies[0][1] is 4: the structure"),
    "body that is none": (
        {"bodies": [[0, "x"]]},
        "bodies[0][1] must be a whole",
    ),
    "line of no length": (
        {
            "nodes": [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 1, 0]],
            "dist": [],
            "par": [[0, 1, 2, 3]],
        },
        "par(0, 1, 2, 3) has a line through coincident nodes",
    ),
    "far away": ({"nodes": [[0, 0, 1e200]] * 3}, "nodes[0][2] is 1e+200: give a"),
    "too many digits": (
        {"leading": [10**30]},
        "number 100000000000000000... is too long",
    ),
    "leading": ({"leading": [7]}, "leading node 7 does not exist"),
    "target": (
        {"leading": None, "goals": None, "target": {"nodes": [[7, 0, 0, 1]]}},
        "target.nodes[0][0] is 7: the structure has nodes 0 to 3",
    ),
    "target twice": (
        {"leading": None, "goals": None, "target": {"nodes": [[2, 0, 0, 1]] * 2}},
        "target.nodes[1] repeats node 2: name it once",
    ),
    "goals": ({"goals": [[0, 0, 0]] * 3}, "goals have shape (3, 3), not (1, 3)"),
    "goal": ({"goals": [[0, 0, float("inf")]]}, "goals[0][2] is inf: give a"),
    "no comma": ({"nodes": [[0, 0], ["50 0"]]}, "node 1 is at ['50 0']: '50 0' is not"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_structure_files_are_refused_in_one_line(name, tmp_path):
    values, words = BAD[name]
    path = written(tmp_path / "bad.json", **values)
    with refused_in_one_line("bad.json", words):
        structure_file(path)


COMMAS = "; separate numbers by commas"
TEXTS = {
    "B: [50 0]": f"node B is at ['50 0']: '50 0' is not a number{COMMAS}",
    "B: 50 0": f"node B is at 50 0: not two or three numbers{COMMAS}",
    "B: 50": f"node B is at 50: not two or three numbers{COMMAS}",
    "B: [50, 0.1.2]": "node B is at [50, '0.1.2']: '0.1.2' is not a number",
    "B: [50, 0]}\nlinks: [[A, B, 5O]]\nbodies: {": "links: '5O' is not a number",
    "B: [50, 0]}\nlinks: [[A B]]\nbodies: {": "A B: the nodes are A, B; separate them",
    "B: [50, 0]}\nradii: [[A, 1 2]]\nbodies: {": "'1 2' is not a number; separate them",
}


@pytest.mark.parametrize("text", TEXTS)
def test_a_text_that_stands_for_a_number_is_no_unknown_name(text, tmp_path):
    path = tmp_path / "texts.yaml"
    path.write_text(f"nodes: {{A: [0, 0], {text}}}")
    with refused_in_one_line("texts.yaml", TEXTS[text]):
        structure_file(str(path))


def test_a_key_that_is_there_twice_is_refused(tmp_path):
    path = tmp_path / "twice.json"
    path.write_text('{"nodes": [[0, 0, 0]], "fix": [], "fix": [[0, 1, 0.0]]}')
    with pytest.raises(ValueError, match=r"twice\.json: the key `fix` appears twice"):
        structure_file(str(path))


def test_notes_in_a_structure_file_change_nothing(tmp_path):
    bare = structure_file(written(tmp_path / "bare.json"))
    noted = structure_file(written(tmp_path / "n.json", name="x", expected={"E": 0.1}))
    assert document(noted) == document(bare)


def test_a_structure_of_mobility_0_is_named_so_with_its_redundant_rows():
    bars = Draft(np.array([[0.0, 0, 0], [4, 0, 0], [0, 3, 0], [4, 3, 0]]))
    for node in (0, 1):
        bars.held(node)
    for node in (2, 3):
        bars.held(node, "z")
    for a, b in ((0, 2), (0, 3), (1, 2), (1, 3), (2, 3)):
        bars.link(a, b)
    frame = bars.structure([3], np.array([[5.0, 3.0, 0.0]]))
    minimum = recorded(MorphCase(frame, method="newton"))[1].summary()["minimum"]
    assert minimum.startswith("mobility 0: this structure cannot move (redundant: link")


def test_a_target_that_is_no_shape_is_refused():
    with pytest.raises(ValueError, match=r"target is 'roof.stl': give a shape such as"):
        MorphCase(triangle_sheet(2, 2), "roof.stl")


def test_nodes_far_from_the_origin_are_refused_for_their_rounding(tmp_path):
    far = {"nodes": [[x + 1e7, y, z] for x, y, z in SQUARE["nodes"]]}
    structure = structure_file(written(tmp_path / "far.json", **far))
    with pytest.raises(ValueError, match=r"nodes are 1\.4e\+07 character"):
        MorphCase(structure, method="newton")
    assert MorphCase(structure, method="newton", residual=1e-6).residual == 1e-6


def test_goals_along_an_axis_need_the_literal_method(tmp_path):
    structure = structure_file(written(tmp_path / "square.json"))
    target = AlongAxis(Sphere(1.5), (0.0, 0.0, 1.0))
    assert MorphCase(structure, target, method="projection").shape is target
    for perturb in (None, {"seed": 1, "turn": 0.1, "shift": 0.0}):
        with pytest.raises(ValueError, match="choose `method: projection`"):
            MorphCase(structure, target, method="newton", perturb=perturb)


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"nodes": [[1, 2, 3]], "dist": [], "leading": [0]}, "all nodes coincide"),
        (
            {"dist": [[0, 1, 1.0], [0, 1, 4.0]]},
            r"violates a constraint: dist\(0, 1\)",
        ),
    ],
)
def test_what_cannot_move_is_refused_before_the_first_step(values, words, tmp_path):
    path = written(tmp_path / "odd.json", **values)
    with pytest.raises(ValueError, match=words):
        MorphCase(structure_file(path), method="newton")


def test_files_that_are_no_structures_are_refused(tmp_path):
    with pytest.raises(ValueError, match="No such file"):
        structure_file(str(tmp_path / "none.json"))
    (tmp_path / "binary.json").write_bytes(bytes(range(128, 256)))
    with pytest.raises(ValueError, match="is not a text file"):
        structure_file(str(tmp_path / "binary.json"))


NAME = "chain_planar_tension"


def test_a_run_tells_how_it_ended_and_what_its_links_carry():
    known = load(NAME)
    structure = structure_file(str(DATA / f"{NAME}.json"))
    case = MorphCase(structure, method="newton", reactions=True)
    steps, recorder = recorded(case)
    result = recorder.summary()
    assert result["E"] == pytest.approx(known["expected"]["E"], abs=1e-8)
    assert result["S"] == pytest.approx(known["expected"]["S"], abs=1e-6)
    assert result["mobility"] == known["expected"]["mobility"]
    assert result["stop"] == "gradient"
    assert np.abs(steps[-1].r - known["expected"]["x"]).max() < 1e-6
    rows = list(recorder.tables()["reactions.csv"])
    assert len(rows) == result["rows"]
    tension = {row["constraint"]: float(row["tension"]) for row in rows[:7]}
    assert min(tension.values()) > 0.0  # every goal is stretched
    assert tension[str(result["largest_tension_in"])] == result["largest_tension"]
    assert max(tension.values()) == result["largest_tension"]
    assert [row["tension"] for row in rows[7:]] == [""] * (len(rows) - 7)


def test_worth_of_a_length_is_what_another_length_gains(tmp_path):
    change, squares = 1e-4, []
    for sign in (1.0, 0.0, -1.0):
        content = load(NAME)
        length = np.sqrt(content["dist"][3][2]) + sign * change
        content["dist"][3][2] = length**2
        path = tmp_path / "chain.json"
        path.write_text(json.dumps(content))
        case = MorphCase(
            structure_file(str(path)),
            method="newton",
            tolerance=1e-11,
            reactions=sign == 0.0,
        )
        squares.append(float(record_steps(case, "chain", tmp_path)["E"]) ** 2)
    row = rows_of(tmp_path / "reactions.csv")[3]
    slope = (squares[0] - squares[2]) / (2.0 * change)
    assert float(row["dE2_dlength"]) == pytest.approx(slope, rel=1e-6)
