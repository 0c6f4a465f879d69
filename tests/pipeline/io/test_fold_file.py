"""Crease patterns as other programs write them: read, held, folded, or refused."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

from pipeline.cases.origami import OrigamiCase
from pipeline.io.fold_file import fold_file
from pipeline.steps.simulate import record_steps
from pipeline.terminal import InputError
from sim.origami.pattern.fold_format import (
    Unassigned,
    pattern_document,
    read_pattern,
)
from sim.origami.pattern.pattern import CreasePattern, largest_panel_held, polygon_area
from tests.helpers.cases import composed
from tests.helpers.refusals import refused_in_one_line
from tests.helpers.tables import rows_of
from tests.sim.origami import drawn_patterns as drawn
from tests.sim.origami.folding.test_rigid_vertices import Vertex

FILES = drawn.files()
# Panels, creases that fold or may, and lines that divide panels, counted by hand.
COUNTS = {
    "waterbomb_base.cp": (6, 6, 0),
    "yoshimura.cp": (39, 56, 0),
    "miura.fold": (12, 17, 0),
    "square_twist.svg": (9, 12, 0),
    "hypar.svg": (16, 12, 16),
    "curved_crease.svg": (24, 12, 22),
    "pleats.svg": (6, 5, 0),
    "window.svg": (4, 4, 0),
    "slits.fold": (8, 5, 4),
    "slits.svg": (8, 5, 4),
    "cube_net.fold": (6, 5, 0),
    "corner.fold": (3, 1, 1),
    "star.fold": (18, 8, 9),
    "frames.fold": (2, 1, 0),
    "folded.fold": (2, 1, 0),
}


def read(name: str, folder: Path, text: str = "", **more: Any) -> CreasePattern:
    path = folder / name
    path.write_text(text or FILES[name])
    return fold_file(str(path), **more)


@pytest.mark.parametrize("name", FILES)
def test_patterns_of_other_programs_are_read(name, tmp_path):
    pattern = read(name, tmp_path)
    found = len(pattern.panels), len(pattern.creases), len(pattern.joints)
    assert found == COUNTS[name]
    again = read_pattern(
        pattern_document(pattern), scale=None, unassigned=Unassigned.REFUSE
    )
    assert again.panels == pattern.panels
    assert_allclose(again.assignment, pattern.assignment)
    assert again.joints.tolist() == pattern.joints.tolist()


def folded(name: str, folder: Path) -> OrigamiCase:
    (folder / name).write_text(FILES[name])
    return composed(
        OrigamiCase,
        "fold_file",
        f"case.pattern.path={folder / name}",
        "case.phases.0.fraction=0.3",
        "case.phases.0.increments=6",
    )


@pytest.mark.long
@pytest.mark.parametrize("name", FILES)
def test_patterns_of_other_programs_fold(name, tmp_path):
    case = folded(name, tmp_path)
    *_, last = case.steps()
    assert last.converged
    assert last.increment == 6
    moved = np.abs(last.x - case.mesh.rest).max()
    assert 0.01 * case.pattern.size < moved < 2.0 * case.pattern.size


@pytest.mark.parametrize(
    ("colour", "opacity", "fold"),
    [("blue", "0.5", 0.5), ("red", "50%", -0.5), ("blue", " 50 %", 0.5)],
)
def test_half_an_opacity_folds_by_half_however_it_is_written(
    colour, opacity, fold, tmp_path
):
    line = f'<line stroke="{colour}" opacity="{opacity}" x2="4" y2="4"/>'
    found = read("a.svg", tmp_path, f"<svg>{RIM}{line}</svg>")
    assert_allclose(np.asarray(found.assignment)[found.creases], fold)


def test_a_copy_by_use_is_drawn_where_it_is_put(tmp_path):
    """Half a rim and its mirror image; a symbol is drawn by its copies alone."""
    half = '<symbol id="h"><path stroke="black" d="M2 0H0V4H2"/></symbol>'
    copies = '<use href="#h"/><use href="#h" x="-4" transform="scale(-1 1)"/>'
    crease = '<line id="l" stroke="red" x1="0" y1="0" x2="0" y2="4"/>'
    moved = "<defs>" + crease + '</defs><use href="#l" x="2"/>'
    found = read("a.svg", tmp_path, f"<svg>{half}{copies}{moved}</svg>", scale=1.0)
    assert len(found.panels) == 2
    assert np.ptp(found.vertices[:, 0]) == 4.0


def test_what_a_drawing_shows_stays_up(tmp_path):
    """y runs down in SVG: a line left of another one stays left, one below below."""
    lines = '<line stroke="red" x1="1" y1="0" x2="1" y2="2"/>'
    rim = '<path stroke="black" d="M0 0 H 3 V 2 H 0 z"/>'
    pattern = read("a.svg", tmp_path, f"<svg>{rim}{lines}</svg>", scale=1.0)
    crease = pattern.vertices[pattern.edges[pattern.creases[0]]]
    assert_allclose(crease[:, 0], 1.0)
    assert_allclose(sorted(crease[:, 1]), [-2.0, 0.0])
    normals = [polygon_area(pattern.vertices[list(p)])[2] for p in pattern.panels]
    assert min(normals) > 0.0


@pytest.mark.parametrize(
    ("unit", "size"), [("mm", 0.002), ("in", 0.0508), ("unit", 0.1), (None, 0.1)]
)
def test_units_are_those_of_the_file(unit, size, tmp_path):
    content = drawn.cube_net() | {"frame_unit": unit}
    content["vertices_coords"] = [[x / 2, y / 2] for x, y in content["vertices_coords"]]
    if unit is None:
        del content["frame_unit"]
    pattern = read("net.fold", tmp_path, json.dumps(content))
    assert pattern.size == pytest.approx(size)
    assert read("net.fold", tmp_path, json.dumps(content), scale=3.0).size == 6.0


def test_a_frame_inherits_what_it_does_not_say(tmp_path):
    pattern = read("frames.fold", tmp_path)
    assert np.ptp(pattern.vertices[:, 2]) == 0.0
    assert pattern.size == pytest.approx(2 * 0.0254)
    bent = read("frames.fold", tmp_path, frame=0)
    assert np.ptp(bent.vertices[:, 2]) > 0.0
    with pytest.raises(ValueError, match=r"frame 2 does not exist: give one of 0 to 1"):
        read("frames.fold", tmp_path, frame=2)


def test_the_lips_of_a_cut_are_apart_and_its_ends_are_not(tmp_path):
    pattern = read("slits.fold", tmp_path)
    places = np.round(pattern.vertices, 9)
    twice = len(places) - len(np.unique(places, axis=0))
    assert twice == 2  # the middles of both slits
    assert len(set(pattern.tags)) == len(pattern.tags) - twice


def test_faces_that_are_not_convex_become_convex_panels(tmp_path):
    pattern = read("star.fold", tmp_path)
    for panel in pattern.panels:
        sides = np.diff(pattern.vertices[[*panel, *panel[:2]]], axis=0)[:, :2]
        turns = sides[:-1, 0] * sides[1:, 1] - sides[:-1, 1] * sides[1:, 0]
        assert turns.min() > -1e-12
    whole = sum(np.linalg.norm(polygon_area(pattern.vertices[list(p)]))
                for p in pattern.panels)  # fmt: skip
    scale = pattern.size / 4.0  # its radius is 2
    ring = 16 * np.sin(np.pi / 4)  # of the octagon around it
    assert whole == pytest.approx(ring * scale**2, rel=1e-9)


@pytest.mark.parametrize(
    ("head", "longest"),
    [
        ('width="150mm" height="75mm" viewBox="0 0 200 100"', 0.150),
        ('width="20cm" viewBox="0 0 200 100"', 0.200),
        ('width="10in" height="50mm" viewBox="0,0,200,100"', 0.100),
        ('width="300mm"', 200 * 0.0254 / 96),
        ('width="400px" viewBox="0 0 200 100"', 0.1),
    ],
)
def test_the_paper_of_a_drawing_is_its_size(head, longest, tmp_path):
    path = tmp_path / "sheet.svg"
    path.write_text(
        f'<svg xmlns="http://www.w3.org/2000/svg" {head}>'
        '<rect stroke="black" width="200" height="100"/>'
        '<line stroke="blue" x1="120" y1="0" x2="120" y2="100"/></svg>'
    )
    sides = np.ptp(fold_file(str(path)).vertices, axis=0)
    assert_allclose(sides[:2], [longest, longest / 2], rtol=1e-12)
    whole = np.ptp(fold_file(str(path), scale=0.001).vertices, axis=0)
    assert_allclose(whole[:2], [0.2, 0.1], rtol=1e-12)


def test_a_hole_is_tied_to_the_lines_around_it_by_one_line(tmp_path):
    """A sheet of 200 x 100 with a crease and a hole of 20 x 20; the line divides."""
    path = tmp_path / "hole.svg"
    tie = '<line stroke="yellow" x1="170" y1="50" x2="200" y2="50"/>'
    path.write_text(
        '<svg xmlns="http://www.w3.org/2000/svg">'
        '<rect stroke="black" width="200" height="100"/>'
        '<rect stroke="black" x="150" y="40" width="20" height="20"/>'
        f'<line stroke="blue" x1="120" y1="0" x2="120" y2="100"/>{tie}</svg>'
    )
    pattern = fold_file(str(path))
    areas = [polygon_area(pattern.vertices[list(p)]) for p in pattern.panels]
    size = (pattern.size / 200.0) ** 2
    assert sum(np.linalg.norm(a) for a in areas) == pytest.approx(19600 * size)
    assert min(a[2] for a in areas) > 0.0
    path.write_text(path.read_text().replace(tie, ""))
    told = r"the lines at \(150, [46]0\) are not connected to the rest: .* each hole"
    with pytest.raises((InputError, ValueError), match=told):
        fold_file(str(path))


def test_the_largest_panel_is_held_and_strains_nothing(tmp_path):
    pattern = read("corner.fold", tmp_path)
    rows = largest_panel_held(pattern)
    held = np.array([row[1:] for row in rows])
    assert held.sum() == 6
    areas = [np.linalg.norm(polygon_area(pattern.vertices[list(p)]))
             for p in pattern.panels]  # fmt: skip
    assert {row[0] for row in rows} <= set(pattern.panels[int(np.argmax(areas))])
    x = pattern.vertices[[row[0] for row in rows]]
    moves = [np.tile(e, (3, 1)) for e in np.eye(3)]
    moves += [np.cross(e, x) for e in np.eye(3)]
    seen = np.array([[move[i, k] for i in range(3) for k in range(3) if held[i, k]]
                     for move in moves])  # fmt: skip
    assert np.linalg.matrix_rank(seen) == 6


RIM = '<rect stroke="black" width="4" height="4"/>'
LINES = """
<line class="m one" x1="1" y1="0" x2="1" y2="4"/>
<line class="m" id="two" stroke="lime" x2="2" y2="4" x1="2" y1="0"/>
<g class="v"><path class="pale" d="M3 0V4"/></g>"""
STYLES = {
    "classes": ".m{stroke:#f00} .v{stroke:blue}.pale { opacity: 0.5 }",
    "commented": "/* .m{stroke:lime} */ .m { fill:none; stroke : red; } "
    "path{stroke:blue; stroke-opacity:.5}",
    "listed": "@import url(a.css); * {stroke:black} line, .none {stroke:lime} "
    ".m.one, #two{stroke:red} path.pale {stroke:#00f;opacity:0.5}",
    "later": ".m{stroke:lime} .m{stroke:rgb(255,0,0)} .v{stroke:blue;opacity:.5}",
}


@pytest.mark.parametrize("name", STYLES)
def test_lines_have_the_strokes_of_their_style_sheet(name, tmp_path):
    text = f"<svg><defs><style>{STYLES[name]}</style></defs>{RIM}{LINES}</svg>"
    found = read("styled.svg", tmp_path, text)
    folds = found.assignment[found.creases]
    assert len(found.panels) == 4
    assert sorted(folds.tolist()) == [-1.0, -1.0, 0.5]


def test_a_style_of_its_own_stands_over_the_class_of_a_line(tmp_path):
    line = '<line class="m" style="stroke:blue" x1="1" y1="0" x2="1" y2="4"/>'
    text = f"<svg><style>.m{{stroke:red}}</style>{RIM}{line}</svg>"
    found = read("own.svg", tmp_path, text)
    assert found.assignment[found.creases].tolist() == [1.0]


def test_what_a_style_sheet_fills_without_a_stroke_is_no_line(tmp_path):
    page = '<rect class="page" width="9" height="9"/>'
    crease = '<line stroke="red" x1="1" y1="0" x2="1" y2="4"/>'
    text = f"<svg><style>.page{{fill:#eee}}</style>{page}{RIM}{crease}</svg>"
    assert len(read("page.svg", tmp_path, text).panels) == 2


BAD: dict[str, tuple[str, str]] = {
    "ends.cp": (
        drawn.as_cp([*drawn.rim(0, 0, 4, 4), (1, 0, 1, 2, "M")]),
        "a line (M) has a free end at (1, 2)",
    ),
    "no_rim.cp": (
        drawn.as_cp([(0, 0, 1, 1, "M")]),
        "the complete outline of the sheet",
    ),
    "both.cp": (
        drawn.as_cp([*drawn.rim(0, 0, 2, 2), (1, 0, 1, 2, "M"), (1, 2, 1, 0, "V")]),
        "is both mountain and valley",
    ),
    "apart.cp": (
        drawn.as_cp([*drawn.rim(0, 0, 4, 4), *drawn.rim(1, 1, 2, 2)]),
        "CP has no J lines: save a sheet with holes as FOLD or SVG",
    ),
    "short.cp": ("2 1.0 0\n", "line 1 is '2 1.0 0'"),
    "kind.cp": ("7 1 0 0 1\n", "line 1 is of kind '7'"),
    "purple.svg": (
        f'<svg>{RIM}<line stroke="purple" x1="0" y1="0" x2="4" y2="4"/></svg>',
        "lines in 'purple': use red, blue, black",
    ),
    "opacity.svg": (
        f'<svg>{RIM}<line stroke="red" opacity="half" x2="4" y2="4"/></svg>',
        "opacity='half': give 0 to 1, or 0% to 100%",
    ),
    "endless.svg": (
        f'<svg>{RIM}<path d="M1e9990 0 L1 1" stroke="red"/></svg>',
        "a line ends at (inf, 0): give coordinates below 1e+100",
    ),
    "turned.svg": (f'<svg><g transform="rotate()">{RIM}</g></svg>', "without numbers"),
    "absent.svg": (
        f'<svg>{RIM}<use href="#gone"/></svg>',
        "has no 'gone', which a <use> refers to",
    ),
    "within.svg": (
        f'<svg>{RIM}<g id="a"><use href="#a"/></g></svg>',
        "file's 'a' has a <use> of itself",
    ),
    "laughs.svg": (
        "<svg>"
        + "".join(
            f'<g id="a{k}">' + 10 * f'<use href="#a{k - 1}"/>' + "</g>"
            if k
            else '<g id="a0"><line/></g>'
            for k in range(9)
        )
        + "</svg>",
        "more than 100000 elements",
    ),
    "letter.svg": (
        f'<svg>{RIM}<line stroke="red" x1="0" y1="0" x2="4" y2="3O"/></svg>',
        "y2='3O': give a number",
    ),
    "empty.svg": ("<svg/>", "the drawing has no lines in red, blue or black"),
    "not.svg": ("<svg", "the file is not SVG"),
    "curve.svg": (
        f'<svg>{RIM}<path stroke="red" d="M0 0 C 1 1 2 2 4 4"/></svg>',
        "has a path with curves (C)",
    ),
    "hole.svg": (
        f'<svg>{RIM}<circle stroke="black" cx="2" cy="2" r="1"/></svg>',
        "has a circle: draw it with straight lines",
    ),
    "skew.svg": (
        f'<svg><g transform="skewX(3)">{RIM}</g></svg>',
        "has a transform 'skewX'",
    ),
    "deep.svg": ("<svg>" + "<g>" * 3000 + "</g>" * 3000 + "</svg>", "too deep"),
    "bomb.svg": ('<!DOCTYPE s [<!ENTITY a "b">]><svg/>', "defines entities"),
    "halves.fold": (
        drawn.as_edges([*drawn.rim(0, 0, 2, 2), (1, 0, 1, 2, "C")]),
        "the sheet has 2 parts that share no edge",
    ),
    "classes.svg": (
        f"<svg>{RIM}{LINES}</svg>",
        "2 lines have a class without a stroke colour ('m one', 'pale'): ",
    ),
    "in_groups.svg": (
        f"<svg><style>g > .m{{stroke:red}}</style>{RIM}</svg>",
        "has the unsupported selector 'g > .m': select lines by tag, class",
    ),
    "printed.svg": (
        f"<svg><style>@media print {{.m{{stroke:red}}}}</style>{RIM}</svg>",
        "has unsupported '@media print': select lines by tag, class",
    ),
    "important.svg": (
        f"<svg><style>.m{{stroke:red !important}}</style>{RIM}</svg>",
        "sets `stroke: red !important` for '.m': remove the part from `!`",
    ),
    "edge.fold": (
        '{"vertices_coords": [[0, 0]], "edges_vertices": [[0, 3]]}',
        "edge 0-3 names a vertex outside 0 to",
    ),
    "lost_frame.fold": (
        '{"file_frames": [{"frame_parent": 7, "frame_inherit": true}]}',
        "correct frame_parent",
    ),
    "unit.fold": (
        json.dumps(drawn.cube_net() | {"frame_unit": "furlong"}),
        "frame_unit is 'furlong'",
    ),
    "short.fold": (
        json.dumps(
            drawn.cube_net()
            | {"edges_assignment": drawn.cube_net()["edges_assignment"][:-1]}
        ),
        "entries for",
    ),
    "signs.fold": (
        json.dumps(
            drawn.cube_net()
            | {
                "edges_foldAngle": [
                    -90 if letter == "V" else 90 if letter == "M" else 0
                    for letter in drawn.cube_net()["edges_assignment"]
                ]
            }
        ),
        "mountains fold by negative angles, valleys by positive: correct one",
    ),
    "plain.txt": ("nodes: [[0, 0]]", "name the file .yaml if it contains YAML"),
    "list.fold": ("[]", "is not a FOLD file: give an object with named entries"),
    "words.fold": (
        json.dumps(drawn.in_frames() | {"edges_foldAngle": {"a": 1}}),
        "edges_foldAngle must be a list, not",
    ),
    "far.fold": (
        json.dumps(drawn.in_frames() | {"vertices_coords": [[1e300, 0]]}),
        "give a number up to 1e+50",
    ),
    "undriven.svg": (
        drawn.as_svg([*drawn.rim(0, 0, 2, 2), (1, 0, 1, 2, "U")]),
        "the line of the SVG file with ends at (1, 0) and at (1, 2) has neither fold "
        "angle nor assignment: draw it red or blue (magenta: unassigned), or leave all "
        "such edges flat by case.pattern.unassigned=flat",
    ),
}


@pytest.mark.parametrize("name", BAD)
def test_what_cannot_be_folded_is_refused_for_its_reason(name, tmp_path):
    text, words = BAD[name]
    with refused_in_one_line(words, name):
        read(name, tmp_path, text)


def test_a_panel_that_is_not_flat_is_refused_before_anything_runs(tmp_path):
    document = drawn.folded_form()
    document["vertices_coords"][3][2] += 3.0
    path = tmp_path / "bent.fold"
    path.write_text(json.dumps(document))
    case = composed(OrigamiCase, "fold_file", f"case.pattern.path={path}")
    with pytest.raises(InputError, match=r"panel 0 is not flat: vertex \d .*triangles"):
        next(case.steps())


def test_a_sheet_of_which_no_crease_is_assigned_is_refused_unless_it_is_driven(
    tmp_path,
):
    text = BAD["undriven.svg"][0]
    crease = read("undriven.svg", tmp_path, text, unassigned="flat").creases[0]
    path = tmp_path / "undriven.svg"
    words = [f"case.pattern.path={path}", "case.pattern.unassigned=flat"]
    with pytest.raises(InputError, match="no crease is assigned: write M or V"):
        composed(OrigamiCase, "fold_file", *words)
    named = "case.phases=[{_target_: sim.origami.fold_and_load_phases.Fold, %s}]"
    one = named % f"creases: [{crease}], angles: [1.5]"
    assert composed(OrigamiCase, "fold_file", *words, one).phases
    with pytest.raises(InputError, match="no crease is assigned"):
        composed(OrigamiCase, "fold_file", *words, named % "fraction: 0.5")


def test_a_fold_counts_its_creases_beyond_the_tolerance(tmp_path):
    path = tmp_path / "sectors.fold"
    at = np.radians([0, 60, 160, 280])
    rim = np.column_stack([np.cos(at), np.sin(at)])
    document = {
        "vertices_coords": [[0, 0], *rim.tolist()],
        "edges_vertices": [[0, 1], [0, 2], [0, 3], [0, 4]],
        "edges_assignment": ["V", "M", "V", "V"],
        "faces_vertices": [[0, 1, 2], [0, 2, 3], [0, 3, 4], [0, 4, 1]],
    }
    path.write_text(json.dumps(document))
    case = composed(
        OrigamiCase,
        "fold_file",
        f"case.pattern.path={path}",
        "case.phases.0.fraction=0.6",
    )
    result = record_steps(case, "fold_file", tmp_path)
    assert result["fold"] == "folded"
    assert result["fold_off"] == (
        "4 of 4 creases more than 5 degrees from their target: at most 51 degrees "
        "over, 18 degrees short; crease 3 (0-3) from (0, 0) to (-0.93969, 0.34202) is "
        "at 159 degrees, target 108 degrees; rigid panels cannot come closer"
    )


@pytest.mark.parametrize("angles", [[], [-86.63, 24.293] * 3])
def test_a_vertex_of_six_equal_sectors_reaches_a_rigid_fold(angles, tmp_path):
    """Ron Resch's: it reaches these angles, and says so where others are asked for."""
    at = np.radians(60 * np.arange(6))
    rim = 20 * np.column_stack([np.cos(at), np.sin(at)])
    document = {
        "frame_unit": "mm",
        "vertices_coords": [[0, 0], *rim.tolist()],
        "edges_vertices": [[0, k] for k in range(1, 7)],
        "edges_assignment": [*"MVMVMV"],
        "edges_foldAngle": angles,
        "faces_vertices": [[0, k, k % 6 + 1] for k in range(1, 7)],
    }
    (tmp_path / "six.fold").write_text(json.dumps(document))
    fold = f"case.phases.0={{fraction: {1.0 if angles else 0.4}, increments: 6}}"
    words = [f"case.pattern.path={tmp_path / 'six.fold'}", fold]
    result = record_steps(composed(OrigamiCase, "fold_file", *words), "six", tmp_path)
    rows = rows_of(tmp_path / "folds.csv")
    reached = [float(r["reached_deg"]) for r in sorted(rows, key=lambda r: r["b"])]
    vertex = Vertex(np.full(6, 60.0), np.array([-1.0, 1.0] * 3))
    assert np.abs(vertex.loop(np.radians(reached))).max() < 1e-2
    assert result["fold"] == "folded"
    if angles:
        assert reached == pytest.approx(angles, abs=2e-3)
        assert "fold_off" not in result
        assert float(str(result["panel_strain"])) < 1e-7
    else:
        assert reached[0] < -80.0
        assert str(result["fold_off"]).startswith("6 of 6 creases more than 5 degrees")
        assert str(result["fold_off"]).endswith("rigid panels cannot come closer")


def test_a_run_says_which_creases_are_folded_where_the_sheet_is_free_of_stress(
    tmp_path,
):
    said = {}
    for name in ("folded.fold", "frames.fold"):
        case = folded(name, tmp_path)
        recorder = case.recorder()
        recorder.see(next(iter(case.steps())))
        said[name] = recorder.summary().get("stress_free")
    assert said["frames.fold"] is None
    assert said["folded.fold"] == (
        "1 of 1 creases folded, most of all crease 2 (1-2) by 143 degrees"
    )


TWO_PANELS: dict[str, Any] = {  # 40 x 20 mm
    "frame_classes": ["creasePattern"],
    "frame_unit": "mm",
    "vertices_coords": [[20 * i, 20 * j, 0] for j in range(2) for i in range(3)],
    "edges_vertices": [[1, 4], [0, 1], [1, 2], [2, 5], [5, 4], [4, 3], [3, 0]],
    "edges_assignment": [*"VBBBBBB"],
    "edges_foldAngle": [90, 0, 0, 0, 0, 0, 0],
    "faces_vertices": [[0, 1, 4, 3], [1, 2, 5, 4]],
}


@pytest.mark.parametrize(
    ("axes", "faces"),
    [
        ([[1, 0, 0], [0, 1, 0]], [[3, 4, 1, 0], [4, 5, 2, 1]]),  # clockwise
        ([[1, 0, 0], [0, 0, -1]], TWO_PANELS["faces_vertices"]),
        ([[1, 0, 0], [0, 0, -1]], []),
        ([[0.8, 0, 0.6], [0, 1, 0]], TWO_PANELS["faces_vertices"]),
    ],
)
def test_a_sheet_in_another_plane_or_listed_clockwise_folds_as_in_the_paper(
    axes, faces, tmp_path
):
    def end(name: str, document: dict[str, Any]) -> tuple[Any, Any]:
        (tmp_path / name).write_text(json.dumps(document))
        words = [f"case.pattern.path={tmp_path / name}", "case.phases.0.increments=3"]
        case = composed(OrigamiCase, "fold_file", *words)
        *_, last = case.steps()
        return case.pattern.vertices, last.x

    placed = np.array(TWO_PANELS["vertices_coords"])[:, :2] @ np.array(axes)
    other = {"vertices_coords": placed.tolist(), "faces_vertices": faces}
    flat, folded = end("flat.fold", TWO_PANELS)
    turned, also = end("other.fold", TWO_PANELS | other)
    assert np.ptp(turned, axis=0) == pytest.approx([0.04, 0.02, 0.0])
    assert turned == pytest.approx(flat, abs=1e-15)
    assert also == pytest.approx(folded, abs=1e-9)
    assert folded[:, 2].min() > -1e-3  # a valley folds to +z
    assert folded[:, 2].max() > 0.01


def test_lines_that_are_all_but_parallel_cross_far_away(tmp_path):
    lines = [*drawn.rim(0, 0, 1, 1), (0, -1e-320, 1, 0, "B")]
    pattern = read("all_but_parallel.cp", tmp_path, drawn.as_cp(lines))
    assert len(pattern.panels) == 1
