"""What a run by hand says, how it is known again, and how any run is looked at."""

import base64
import json
import re
import xml.etree.ElementTree as ET

import numpy as np
import pytest
from PIL import Image

from analysis.figures.run_picture import shown_lines
from pipeline.io.mesh_writers import write_vtk_series
from pipeline.report.moving_shape import chosen_columns, read_moving_shape
from pipeline.report.scene import scene_of
from pipeline.runs.run_directory import own_name
from pipeline.runs.run_keys import edits
from pipeline.runs.step_jobs import content_digest

SMALL = ["case=triangles_circle", "case.target.radius=2.3"]
NAME = "triangles_circle,target.radius=2.3"


@pytest.mark.parametrize(
    ("words", "name"),
    [
        (["case=a"], "a"),
        (["case=a", "case.x.y=1e-3", "+case.z=[1,2]"], "a,x.y=1e-3,z=_1,2"),
        (["case=a", "record_every=3"], "a,record_every=3"),
        (["case=a", "case.path=/tmp/../b c.json"], "b_c"),
        (["case=a", "case.path='my bar.json'", "case.x=1"], "my_bar,x=1"),
    ],
)
def test_a_run_is_called_after_what_differs_from_its_case(words, name):
    assert own_name("a", words) == name


def test_long_names_are_cut_and_still_differ():
    one, two = (own_name("a", [f"case.x={'9' * 200}{end}"]) for end in "12")
    assert one != two
    assert max(len(one), len(two)) <= 80


def test_a_run_by_hand_says_what_came_out_and_is_known_again(project, command):
    done = command("simulate", *SMALL)
    assert done.returncode == 0, done.stderr
    result = json.loads((project / "results/own" / NAME / "run.json").read_text())
    reached, numbers, stopped, *places = done.stdout.splitlines()
    E, S = (result["result"][name] for name in "ES")
    assert reached.startswith("target reached: node ")
    assert numbers == f"E = {E:.5g}, S = {S:.5g}"
    assert f"stopped by: {result['result']['stop']}, after " in stopped
    assert f"{result['result']['steps']} steps" in stopped
    told = dict(line.split(maxsplit=1) for line in places)
    assert told["run"] == f"results/own/{NAME}"
    assert told["next"] == f"morphtrack show {NAME} --film"
    assert not re.search(r"[0-9a-f]{16}", done.stdout)
    with Image.open(project / told["picture"]) as picture:
        assert picture.width > 800
    page = (project / told["page"]).read_text()
    assert 'class="scene"' in page
    body = re.sub(r"<script.*?</script>", "", page, flags=re.DOTALL)
    assert not re.search(r'(src|href)="(https?:)?//', body)

    again = command("simulate", *SMALL)
    assert again.stdout == done.stdout
    runs = list((project / "results" / "runs").iterdir())
    assert len(runs) == 1

    case = project / "conf" / "case" / "triangles_circle.yaml"
    case.write_text(case.read_text() + "\nmax_steps: 900\n")
    other = command("simulate", *SMALL)
    assert other.returncode == 0, other.stderr
    assert len(list((project / "results" / "runs").iterdir())) == 2


@pytest.mark.slow
def test_pictures_are_none_of_a_runs_results(project, command):
    done = command("simulate", *SMALL)
    assert done.returncode == 0, done.stderr
    run = project / "results" / "own" / NAME
    before = content_digest(run)
    for name in ("picture.png", "run.html"):
        (run / name).unlink()
    assert content_digest(run) == before
    seen = command("show", NAME, "--vtk", "--gif", "--no-open")
    assert seen.returncode == 0, seen.stderr
    assert content_digest(run) == before
    assert edits(run) == []
    with Image.open(run / "moving.gif") as gif:
        assert getattr(gif, "n_frames", 1) > 3
    steps = len((run / "steps.csv").read_text().splitlines()) - 1
    listed = ET.parse(run / "vtk" / "steps.pvd").findall(".//DataSet")
    assert [(run / "vtk" / part.attrib["file"]).is_file() for part in listed] == (
        [True] * steps
    )
    shape = read_moving_shape(run)
    assert shape is not None
    last = ET.parse(run / "vtk" / listed[-1].attrib["file"]).find(".//Points/DataArray")
    assert last is not None
    written = np.array((last.text or "").split(), dtype=float).reshape(-1, 3)
    assert np.array_equal(written, shape.r[-1])


def test_lines_and_triangles_are_written_as_vtk_reads_them(tmp_path):
    r = np.arange(24.0).reshape(2, 4, 3)
    links, faces = np.array([[0, 3]]), np.array([[0, 1, 2], [1, 2, 3]])
    path = write_vtk_series(tmp_path, r, links, faces, [0.0, 0.5])
    times = [p.attrib["timestep"] for p in ET.parse(path).findall(".//DataSet")]
    assert times == ["0.0", "0.5"]
    piece = ET.parse(tmp_path / "step00001.vtp").find(".//Piece")
    assert piece is not None
    counts = [piece.attrib[f"NumberOf{kind}"] for kind in ("Points", "Lines", "Polys")]
    assert counts == ["4", "1", "2"]
    polys = {a.attrib["Name"]: a.text for a in piece.findall("Polys/DataArray")}
    assert polys == {"connectivity": "0 1 2 1 2 3", "offsets": "3 6"}
    moved = piece.find("PointData/DataArray")
    assert moved is not None
    assert set((moved.text or "").split()) == {"12.0"}


MOVED = "time,z_c,y_c,x_c\n0,3,0,1e-8\n1,1,{y},2e-8\n2,2,0.1,3e-8\n"
MODULUS = "step,time,curvature,modulus\n1,1,1,1\n1,1,1,1\n"
STILL = "time,x_c,y_c,z_c,kinetic,bending\n0,0,0,0,1,0\n1,4e-16,-5e-16,0,0.5,0.5\n"
LEFT = "step,strain_energy,residual,largest_fold_deg\n0,0,0,1\n1,{J},1e-9,2\n"
ZERO = "step,strain_energy,contact_energy,fold_missing_deg\n0,0,0,1\n1,0,0,2\n"


@pytest.mark.parametrize(
    ("table", "chosen"),
    [
        ("step,residual,E,S\n1,1,1,1\n1,1,1,1\n", ["step", "E", "S"]),
        (MODULUS, ["time", "curvature", "modulus"]),
        ("sample,S\n1,1\n1,1\n", ["sample", "S"]),
        (MOVED.format(y=0.2), ["time", "y_c", "z_c"]),
        (MOVED.format(y=2e-4).replace("0.1", "1e-4"), ["time", "z_c"]),
        (STILL, ["time", "kinetic", "bending"]),
        (LEFT.format(J=9e-11), ["step", "largest_fold_deg"]),
        (LEFT.format(J=2e-10), ["step", "strain_energy", "largest_fold_deg"]),
        (ZERO, ["step", "fold_missing_deg"]),
        ("step,stage,fold_missing_deg\n0,0,9\n1,1,2\n", ["step", "fold_missing_deg"]),
    ],
)
def test_the_numbers_that_tell_most_are_drawn(tmp_path, table, chosen):
    """The coordinates that move most, and no energy below what a solver leaves open:
    1e-9 N unbalanced on a sheet of 0.1 m leave 1e-10 J."""
    (tmp_path / "steps.csv").write_text(table)
    assert list(chosen_columns(tmp_path, 0.1)) == chosen


ANGLES = {"mountain: -80°": [[0, 1]], "valley: 40° to 60°": [[1, 2], [2, 3]]}
OFF = {
    "limited by closure: at most 50° over, 18° short": [[0, 1], [1, 2]],
    "on the wrong side: at most 100° short": [[2, 3]],
}
MISSED = {  # by the side that is asked: +108, -108 and +40 degrees; -0.3 of -90
    "mountain, missed: -90° to 0°": [[1, 2], [3, 4]],
    "valley, missed: -60° to 158°": [[0, 1], [2, 3]],
}


@pytest.mark.parametrize(
    ("rows", "kind", "shown"),
    [
        ("5,-80,0,0,\n6,40,0,0,\n7,60,0,0,\n", "folds", ANGLES),
        ("5,158,-50,0,closure\n6,-90,-18,0,closure\n7,-60,100,1,closure\n",
         "missing", OFF),
        ("5,158,-50,0,closure\n6,-90,-18,0,closure\n7,-60,100,1,closure\n"
         "8,-0.3,-89.7,0,closure\n", "folds", MISSED),
    ],
)  # fmt: skip
def test_creases_are_shown_with_their_angles_and_with_how_far_they_are_off(
    rows, kind, shown, tmp_path
):
    lines = np.array([[0, 1, 5], [1, 2, 6], [2, 3, 7], [3, 4, 8]])
    np.savez(tmp_path / "steps.npz", x=np.zeros((1, 5, 3)), crease_lines=lines)
    head = "crease,reached_deg,missing_deg,wrong_way,held_by\n"
    (tmp_path / "folds.csv").write_text(head + rows)
    found = getattr(read_moving_shape(tmp_path), kind)
    assert {name: pairs.tolist() for name, pairs in found.items()} == shown


def test_lines_within_a_panel_are_not_drawn_as_creases_are(tmp_path):
    """Two squares beside each other, each of two triangles."""
    triangles = [[0, 1, 2], [0, 2, 3], [1, 4, 5], [1, 5, 2]]
    corners = [[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0], [2, 0, 0], [2, 1, 0.0]]
    np.savez(
        tmp_path / "steps.npz",
        x=[corners],
        bars=np.array([[0, 1], [2, 0], [1, 5], [1, 2]]),
        triangles=np.array(triangles),
        triangle_panel=np.array([0, 0, 1, 1]),
    )
    shape = read_moving_shape(tmp_path)
    assert shape is not None
    assert shape.inner.tolist() == [[0, 2], [1, 5]]
    assert shape.links.tolist() == [[0, 1], [1, 2]]


@pytest.mark.parametrize("body", [[0, 1, 2], [0, 1]])
def test_the_page_of_a_mechanism_has_the_lines_and_the_names_of_its_picture(
    body, tmp_path
):
    """A bar of three nodes in a line, and one of two."""
    x = np.array([[0, 0, 0], [1, 0, 0], [2, 0, 0.0]])
    np.savez(tmp_path / "steps.npz", r=[x])
    structure = {"bodies": [body], "node_names": ["A", "B", "C"]}
    (tmp_path / "structure.json").write_text(json.dumps(structure))
    scene = scene_of(tmp_path)
    assert scene is not None
    links = np.frombuffer(base64.b64decode(scene["links"]), "<u4").reshape(-1, 2)
    assert set(links.ravel().tolist()) == set(body)
    assert scene["names"] == ["A", "B", "C"]
    assert scene["dots"]


def test_several_starts_are_charted_by_their_own_steps(tmp_path):
    rows = "0,.4,0\n1,.2,0\n2,.5,1\n3,.1,1\n4,.2,2\n5,.1,1\n"
    (tmp_path / "steps.csv").write_text(f"step,E,start\n{rows}")
    found = chosen_columns(tmp_path)
    assert list(found) == ["step of its start", "E", "start"]
    assert found["step of its start"].tolist() == [0, 1, 0, 1, 0, 1]


def test_a_flat_body_has_its_rim_and_no_diagonal_but_a_link_there(tmp_path):
    x = [[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0], [2, 0, 0], [2, 1, 0.0]]
    np.savez(tmp_path / "steps.npz", r=[x])
    bodies = {"bodies": [[0, 1, 2, 3], [1, 4, 5, 2], [0, 2], [1, 3]]}
    (tmp_path / "structure.json").write_text(json.dumps(bodies))
    shape = read_moving_shape(tmp_path)
    assert shape is not None
    sides = {frozenset(pair) for pair in shown_lines(shape).tolist()}
    rims = ((0, 1), (1, 2), (2, 3), (3, 0), (1, 4), (4, 5), (5, 2))
    assert sides == {*map(frozenset, rims), frozenset((0, 2)), frozenset((1, 3))}


@pytest.mark.parametrize("times", [1.5, 30.0])
def test_a_target_that_is_not_much_larger_is_seen_whole(times, tmp_path):
    x = np.array([[0.0, 0.0, 0.0], [1.0, 1.0, 0.0]])
    wire = {"target_vertices": times * x, "target_edges": np.array([[0, 1]])}
    np.savez(tmp_path / "steps.npz", r=[x], **wire)
    shape = read_moving_shape(tmp_path)
    assert shape is not None
    assert shape.box[1].max() == (times if times < 2.0 else 1.0)


X2 = np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0]])  # a rod that goes right, then up


@pytest.mark.parametrize(
    ("own", "tip"),
    [
        ((0.0, -2.0, 0.0, 0.0), (0.0, -1.0)),  # keeps its direction
        ((0.0, 0.0, 3.0, 0.0), (0.0, 1.0)),  # along the last edge
        ((0.0, 0.0, 0.0, 3.0), (-1.0, 0.0)),  # to its left
    ],
)
def test_marks_of_a_rod_are_where_it_is_and_loads_turn_with_it(own, tip, tmp_path):
    np.savez(
        tmp_path / "steps.npz", x=[X2 * [1.0, 0.0], X2],
        edges=np.array([[0, 1], [1, 2]]), held=np.array([0]), force=0.0 * X2,
        load_ends=np.array([[1, 2]]), load_force=np.array([own]),
    )  # fmt: skip
    shape = read_moving_shape(tmp_path)
    assert shape is not None
    assert shape.held.tolist() == [[0.0, 0.0, 0.0]]
    at, ahead = shape.loads[:, 0, [0, 2]]
    assert at.tolist() == [1.0, 1.0]
    assert ahead - at == pytest.approx(0.15 * np.array(tip))


@pytest.mark.parametrize(("plane", "view"), [(2, (90, -90)), (1, (0, -90))])
def test_the_page_of_a_planar_mechanism_looks_at_its_plane(plane, view, tmp_path):
    x = np.delete(np.random.default_rng(1).uniform(0.0, 1.0, (5, 3)), plane, axis=1)
    np.savez(tmp_path / "steps.npz", r=[np.insert(x, plane, 0.5, axis=1)])
    scene = scene_of(tmp_path)
    assert scene is not None
    assert tuple(scene["view"]) == view


@pytest.mark.parametrize(("first", "said"), [(0, "at the start"), (1, "at step 1")])
def test_the_grey_shape_of_a_statics_is_that_of_its_first_load_step(
    first, said, tmp_path
):
    np.savez(tmp_path / "steps.npz", x=np.zeros((1, 2, 3)))
    (tmp_path / "steps.csv").write_text(f"step,E\n{first},0\n")
    shape = read_moving_shape(tmp_path)
    assert shape is not None
    assert shape.began == said


def test_the_page_of_a_fold_shows_no_dots_of_nodes(tmp_path):
    np.savez(tmp_path / "steps.npz", x=np.zeros((1, 2, 3)), crease_lines=[[0, 1, 5]])
    head = "crease,reached_deg,missing_deg,wrong_way,held_by\n"
    (tmp_path / "folds.csv").write_text(f"{head}5,-80,0,0,\n")
    scene = scene_of(tmp_path)
    assert scene is not None
    assert not scene["dots"]


def test_planes_of_the_ground_are_drawn_under_what_moves_and_seen_whole(tmp_path):
    """A floor at z = -1, and a wall at x = 3."""
    r = np.random.default_rng(1).uniform(0.0, 1.0, (2, 5, 3))
    planes = np.array([[0.0, 0.0, 1.0, -1.0], [-1.0, 0.0, 0.0, -3.0]])
    np.savez(tmp_path / "steps.npz", r=r, ground_plane=planes)
    shape = read_moving_shape(tmp_path)
    assert shape is not None
    floor, wall = np.split(shape.fixed, 2)
    assert floor[..., 2] == pytest.approx(-1.0)
    assert wall[..., 0] == pytest.approx(3.0)
    low, high = shape.box
    assert low[2] == pytest.approx(-1.0)
    assert high[0] == pytest.approx(3.0)
    assert (floor[..., :2].min(axis=(0, 1)) < r[..., :2].min(axis=(0, 1))).all()
