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


def sheet(path: Path, document: dict[str, Any] | str, *words: str) -> OrigamiCase:
    text = document if isinstance(document, str) else json.dumps(document)
    path.write_text(text)
    return composed(OrigamiCase, "fold_file", f"case.pattern.path={path}", *words)


def folded(name: str, folder: Path) -> OrigamiCase:
    words = "case.phases.0.fraction=0.3", "case.phases.0.increments=6"
    return sheet(folder / name, FILES[name], *words)


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


PAPER = (
    '<rect stroke="black" width="200" height="100"/>'
    '<line stroke="blue" x1="120" y1="0" x2="120" y2="100"/>'
)


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
    text = f'<svg xmlns="http://www.w3.org/2000/svg" {head}>{PAPER}</svg>'
    sides = np.ptp(read("sheet.svg", tmp_path, text).vertices, axis=0)
    assert_allclose(sides[:2], [longest, longest / 2], rtol=1e-12)
    whole = np.ptp(read("sheet.svg", tmp_path, text, scale=0.001).vertices, axis=0)
    assert_allclose(whole[:2], [0.2, 0.1], rtol=1e-12)


def test_a_hole_is_tied_to_the_lines_around_it_by_one_line(tmp_path):
    """A sheet of 200 x 100 with a crease and a hole of 20 x 20; the line divides."""
    hole = '<rect stroke="black" x="150" y="40" width="20" height="20"/>'
    tie = '<line stroke="yellow" x1="170" y1="50" x2="200" y2="50"/>'
    pattern = read("hole.svg", tmp_path, f"<svg>{PAPER}{hole}{tie}</svg>")
    areas = [polygon_area(pattern.vertices[list(p)]) for p in pattern.panels]
    size = (pattern.size / 200.0) ** 2
    assert sum(np.linalg.norm(a) for a in areas) == pytest.approx(19600 * size)
    assert min(a[2] for a in areas) > 0.0
    told = r"the lines at \(150, [46]0\) are not connected to the rest: .* each hole"
    with pytest.raises((InputError, ValueError), match=told):
        read("hole.svg", tmp_path, f"<svg>{PAPER}{hole}</svg>")


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
OWN = '<line class="m" style="stroke:blue" x1="1" y1="0" x2="1" y2="4"/>'
PAGE = '<rect class="v" width="9" height="9"/><path stroke="red" d="M1 0V4"/>'
STYLES = {
    ".m{stroke:#f00} .v{stroke:blue}.pale { opacity: 0.5 }": LINES,
    "/* .m{stroke:lime} */ .m { fill:none; stroke : red; } "
    "path{stroke:blue; stroke-opacity:.5}": LINES,
    "@import url(a.css); * {stroke:black} line, .none {stroke:lime} "
    ".m.one, #two{stroke:red} path.pale {stroke:#00f;opacity:0.5}": LINES,
    ".m{stroke:lime} .m{stroke:rgb(255,0,0)} .v{stroke:blue;opacity:.5}": LINES,
    ".m{stroke:red}": OWN,
    ".v{fill:#eee}": PAGE,
}
FOLDS = {LINES: [-1.0, -1.0, 0.5], OWN: [1.0], PAGE: [-1.0]}


@pytest.mark.parametrize("style", STYLES)
def test_lines_have_the_strokes_of_their_style_sheet(style, tmp_path):
    """But for their own; what it fills without a stroke is no line."""
    lines = STYLES[style]
    text = f"<svg><defs><style>{style}</style></defs>{RIM}{lines}</svg>"
    found = read("styled.svg", tmp_path, text)
    folds = found.assignment[found.creases]
    assert len(found.panels) == 1 + len(folds)
    assert sorted(folds.tolist()) == FOLDS[lines]


CUBE = drawn.cube_net()
TURNED = [{"V": -90, "M": 90}.get(letter, 0) for letter in CUBE["edges_assignment"]]


def net(**more: Any) -> str:
    return json.dumps(CUBE | more)


ON_A_SHEET = {
    '<line stroke="purple" x2="4" y2="4"/>': "lines in 'purple': use red, blue, black",
    '<line stroke="red" opacity="half" x2="4" y2="4"/>': (
        "opacity='half': give 0 to 1, or 0% to 100%"
    ),
    '<path d="M1e9990 0 L1 1" stroke="red"/>': (
        "a line ends at (inf, 0): give coordinates below 1e+100"
    ),
    '<g transform="rotate()"><line/></g>': "without numbers",
    '<use href="#gone"/>': "has no 'gone', which a <use> refers to",
    '<g id="a"><use href="#a"/></g>': "file's 'a' has a <use> of itself",
    '<line stroke="red" x2="4" y2="3O"/>': "y2='3O': give a number",
    '<path stroke="red" d="M0 0 C 1 1 2 2 4 4"/>': "has a path with curves (C)",
    '<circle stroke="black" r="1"/>': "has a circle: draw it with straight lines",
    '<g transform="skewX(3)"><line/></g>': "has a transform 'skewX'",
    LINES: "2 lines have a class without a stroke colour ('m one', 'pale'): ",
    "<style>g > .m{stroke:red}</style>": (
        "has the unsupported selector 'g > .m': select lines by tag, class"
    ),
    "<style>@media print {.m{stroke:red}}</style>": (
        "has unsupported '@media print': select lines by tag, class"
    ),
    "<style>.m{stroke:red !important}</style>": (
        "sets `stroke: red !important` for '.m': remove the part from `!`"
    ),
}
BAD: dict[str, tuple[str, str]] = {
    **{
        f"{k}.svg": (f"<svg>{RIM}{lines}</svg>", words)
        for k, (lines, words) in enumerate(ON_A_SHEET.items())
    },
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
    "laughs.svg": (
        '<svg><g id="a0"><line/></g>'
        + "".join(
            f'<g id="a{k}">' + 10 * f'<use href="#a{k - 1}"/>' + "</g>"
            for k in range(1, 9)
        )
        + "</svg>",
        "more than 100000 elements",
    ),
    "empty.svg": ("<svg/>", "the drawing has no lines in red, blue or black"),
    "not.svg": ("<svg", "the file is not SVG"),
    "deep.svg": ("<svg>" + "<g>" * 3000 + "</g>" * 3000 + "</svg>", "too deep"),
    "bomb.svg": ('<!DOCTYPE s [<!ENTITY a "b">]><svg/>', "defines entities"),
    "halves.fold": (
        drawn.as_edges([*drawn.rim(0, 0, 2, 2), (1, 0, 1, 2, "C")]),
        "the sheet has 2 parts that share no edge",
    ),
    "edge.fold": (
        '{"vertices_coords": [[0, 0]], "edges_vertices": [[0, 3]]}',
        "edge 0-3 names a vertex outside 0 to",
    ),
    "lost_frame.fold": (
        '{"file_frames": [{"frame_parent": 7, "frame_inherit": true}]}',
        "correct frame_parent",
    ),
    "unit.fold": (net(frame_unit="furlong"), "frame_unit is 'furlong'"),
    "short.fold": (net(edges_assignment=CUBE["edges_assignment"][:-1]), "entries for"),
    "signs.fold": (
        net(edges_foldAngle=TURNED),
        "mountains fold by negative angles, valleys by positive: correct one",
    ),
    "plain.txt": ("nodes: [[0, 0]]", "name the file .yaml if it contains YAML"),
    "list.fold": ("[]", "is not a FOLD file: give an object with named entries"),
    "words.fold": (
        net(edges_foldAngle={"a": 1}),
        "edges_foldAngle must be a list, not",
    ),
    "far.fold": (net(vertices_coords=[[1e300, 0]]), "give a number up to 1e+50"),
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
    with pytest.raises(InputError, match=r"panel 0 is not flat: vertex \d .*triangles"):
        next(sheet(tmp_path / "bent.fold", document).steps())


def test_a_sheet_whose_creases_are_not_assigned_is_refused_unless_driven(tmp_path):
    text = BAD["undriven.svg"][0]
    crease = read("undriven.svg", tmp_path, text, unassigned="flat").creases[0]
    path, flat = tmp_path / "undriven.svg", "case.pattern.unassigned=flat"
    with pytest.raises(InputError, match="no crease is assigned: write M or V"):
        sheet(path, text, flat)
    named = "case.phases=[{_target_: sim.origami.fold_and_load_phases.Fold, %s}]"
    one = named % f"creases: [{crease}], angles: [1.5]"
    assert sheet(path, text, flat, one).phases
    with pytest.raises(InputError, match="no crease is assigned"):
        sheet(path, text, flat, named % "fraction: 0.5")


def test_a_fold_counts_its_creases_beyond_the_tolerance(tmp_path):
    at = np.radians([0, 60, 160, 280])
    rim = np.column_stack([np.cos(at), np.sin(at)])
    document = {
        "vertices_coords": [[0, 0], *rim.tolist()],
        "edges_vertices": [[0, 1], [0, 2], [0, 3], [0, 4]],
        "edges_assignment": ["V", "M", "V", "V"],
        "faces_vertices": [[0, 1, 2], [0, 2, 3], [0, 3, 4], [0, 4, 1]],
    }
    case = sheet(tmp_path / "sectors.fold", document, "case.phases.0.fraction=0.6")
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
    fold = f"case.phases.0={{fraction: {1.0 if angles else 0.4}, increments: 6}}"
    case = sheet(tmp_path / "six.fold", document, fold)
    result = record_steps(case, "six", tmp_path)
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
        case = sheet(tmp_path / name, document, "case.phases.0.increments=3")
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
