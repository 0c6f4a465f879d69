"""Mechanisms and crease patterns drawn in DXF."""

import importlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import ezdxf
import numpy as np
import pytest
from numpy.testing import assert_allclose

from pipeline.io import dxf_file
from pipeline.io.fold_file import fold_file
from pipeline.io.structure_file import OwnStructure, structure_file
from sim.mechanism.mobility import mobility
from tests.sim.origami import drawn_patterns as drawn

COLOURS = {"B": 7, "M": 1, "V": 5, "C": 3, "J": 2, "A": 8}


def pairs(*codes: object) -> str:
    """Group codes and values, a line each."""
    return "".join(f"{code}\n" for code in codes)


def dxf(*entities: str, unit: int | None = None) -> str:
    """A DXF of release 12, as its reference has it."""
    header = "" if unit is None else pairs(9, "$INSUNITS", 70, unit)
    return (
        pairs(0, "SECTION", 2, "HEADER", 9, "$ACADVER", 1, "AC1015")
        + header
        + pairs(0, "ENDSEC", 0, "SECTION", 2, "ENTITIES")
        + "".join(entities)
        + pairs(0, "ENDSEC", 0, "EOF")
    )


def line(
    a: Sequence[float], b: Sequence[float], layer: str = "0", colour: int = 256
) -> str:
    ends = zip((10, 20, 30, 11, 21, 31), (*a, 0.0, *b, 0.0), strict=True)
    return pairs(0, "LINE", 8, layer, 62, colour, *(x for pair in ends for x in pair))


def point(x: float, y: float) -> str:
    return pairs(0, "POINT", 8, 0, 10, x, 20, y, 30, 0.0)


def polygon(corners: Sequence[Sequence[float]], bulge: float = 0.0) -> str:
    """A closed polyline with the subclass markers that its kind must have."""
    head = pairs(0, "LWPOLYLINE", 100, "AcDbEntity", 8, 0, 100, "AcDbPolyline")
    head += pairs(90, len(corners), 70, 1)
    return head + "".join(pairs(10, x, 20, y, 42, bulge) for x, y in corners)


def written(folder: Path, text: str) -> str:
    path = folder / "drawing.dxf"
    path.write_text(text)
    return str(path)


def test_a_four_bar_of_lines_has_one_motion(tmp_path):
    """Ends miss each other by 1/2000 of its size; the unit is the header's."""
    bars = [
        line((0, 0), (0, 1)), line((0.002, 1), (3, 2)), line((3, 2), (4, 0)),
        line((4, 0), (3, 2)), point(0, 0), point(4, 0),
    ]  # fmt: skip
    made = structure_file(written(tmp_path, dxf(*bars, unit=4)))
    assert isinstance(made, OwnStructure)
    assert mobility(made).mobility == 1
    assert (len(made.r0), len(made.bodies), made.unit) == (4, 3, "mm")


def test_a_drawing_that_names_no_unit_is_given_none(tmp_path):
    bar = line((0, 0), (1, 0))
    units = []
    for drawing in (dxf(bar), dxf(bar, unit=0), dxf(bar, unit=5)):
        made = structure_file(written(tmp_path, drawing))
        assert isinstance(made, OwnStructure)
        units.append(made.unit)
    assert units == ["", "", "cm"]


def test_blocks_faces_and_drawings_in_space_are_read(tmp_path):
    document = ezdxf.new(units=6)
    block = document.blocks.new("BAR")
    block.add_line((0, 0, 0), (1, 0, 0))
    space = document.modelspace()
    space.add_blockref("BAR", (0, 0, 0), dxfattribs={"rotation": 90})
    space.add_3dface([(0, 1, 0), (1, 1, 0), (0, 1, 1)])
    space.add_polyline3d([(0, 1, 1), (0, 0, 1), (0, 0, 0)])
    space.add_text("no line")
    document.layers.add("help").off()
    space.add_circle((0, 0), 1, dxfattribs={"layer": "help"})
    path = tmp_path / "a.dxf"
    for kind in ("asc", "bin"):
        document.saveas(path, fmt=kind)
        made = structure_file(str(path))
        assert isinstance(made, OwnStructure)
        assert sorted(map(len, made.bodies)) == [2, 2, 2, 3]
        assert (len(made.r0), made.unit) == (5, "m")
        assert np.ptp(made.r0, axis=0) == pytest.approx(1.0)


@pytest.mark.parametrize("by", ["colour", "layer"])
def test_a_miura_in_dxf_is_the_one_in_cp(by, tmp_path):
    lines = drawn.zigzag(4, 3)
    names = {"M": "Mountain", "V": "valley", "B": "Border"}
    drawing = dxf(
        *(
            line((a, b), (c, d), colour=COLOURS[e])
            if by == "colour"
            else line((a, b), (c, d), layer=names[e])
            for a, b, c, d, e in lines
        ),
        line((0, 0), (9, 9), colour=8),  # a grey help line
    )
    found = fold_file(written(tmp_path, drawing))
    cp = tmp_path / "miura.cp"
    cp.write_text(drawn.as_cp(lines))
    expected = fold_file(str(cp))
    assert found.panels == expected.panels
    assert_allclose(found.vertices, expected.vertices)
    assert_allclose(found.assignment, expected.assignment)


@pytest.mark.parametrize(
    ("layer", "fold"),
    [
        ("folds-MOUNTAIN", -1.0),
        ("valley lines 2", 1.0),
    ],
)
def test_a_layer_is_known_by_a_word_of_its_name(layer, fold, tmp_path):
    sides = [line(a[:2], a[2:4], layer="sheet_border") for a in drawn.rim(0, 0, 4, 2)]
    drawing = dxf(*sides, line((2, 0), (2, 2), layer=layer))
    found = fold_file(written(tmp_path, drawing))
    assert found.assignment[found.creases].tolist() == [fold]


def test_a_pattern_has_the_unit_of_its_header(tmp_path):
    rim = polygon([(0, 0), (4, 0), (4, 2), (0, 2)])
    crease = line((2, 0), (2, 2), colour=1)
    assert fold_file(written(tmp_path, dxf(rim, crease, unit=1))).size == pytest.approx(
        4 * 0.0254
    )


CIRCLE = pairs(0, "CIRCLE", 8, "holes", 10, 0.0, 20, 0.0, 30, 0.0, 40, 1.0)
BAR = line((0, 0), (1, 0))
BAD: dict[str, tuple[Any, str, str]] = {
    "a circle": (structure_file, dxf(BAR, CIRCLE), "a CIRCLE on layer 'holes'"),
    "an arc": (
        structure_file, dxf(polygon([(0, 0), (1, 0)], bulge=0.5)), "polyline with arcs"
    ),
    "nothing": (structure_file, dxf(), "no lines in its model space"),
    "a point": (structure_file, dxf(BAR, point(0.5, 0)), "a POINT at (0.5, 0, 0)"),
    "no DXF": (structure_file, "hello\n", "is not DXF"),
    "cut short": (structure_file, dxf(BAR)[:-12], "is not DXF (DXFStructureError)"),
    "a letter in a number": (
        structure_file, dxf(BAR).replace("1\n21", "1O\n21"), "is not DXF (DXFStr"
    ),
    "a line of no length": (structure_file, dxf(line((1, 1), (1, 1))), "of length 0"),
    "nan": (structure_file, dxf(line((0, np.nan), (1, 0))), "coordinates nan or inf"),
    "a colour": (fold_file, dxf(line((0, 0), (1, 0), colour=30)), ": use red, blue"),
    "a loose end": (fold_file, dxf(line((0, 0), (1, 0), colour=1)), "complete outline"),
    "only help": (fold_file, dxf(line((0, 0), (1, 0), layer="aux")), "no lines of the"),
    "a word inside a word": (
        fold_file,
        dxf(BAR, line((0, 0), (0, 1), "mountainous"), line((0, 0), (1, 1), "Valley")),
        "layer 'mountainous', of unknown crease type: name the layer after one of"
    ),
    "two kinds": (
        fold_file, dxf(line((0, 0), (0, 1), "mountain_valley")), "two crease types"
    ),
    "in space": (
        fold_file, dxf(BAR.replace("31\n0.0", "31\n2.0")), "2 deep along z: draw"
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", BAD)
def test_what_cannot_be_read_is_refused_in_one_line(name, tmp_path):
    read, text, words = BAD[name]
    with pytest.raises(ValueError, match=r"^[^\n]*drawing\.dxf: [^\n]*$") as caught:
        read(written(tmp_path, text))
    assert words in str(caught.value)


def test_a_drawing_without_its_package_or_its_file_is_refused(tmp_path, monkeypatch):
    def missing(name: str) -> Any:
        if name.startswith("ezdxf"):
            raise ImportError(name)
        return importlib.import_module(name)

    with pytest.raises(ValueError, match=r"none\.dxf: the file does not exist"):
        structure_file(str(tmp_path / "none.dxf"))
    monkeypatch.setattr(dxf_file, "import_module", missing)
    with pytest.raises(ValueError, match=r"the package ezdxf.*make formats"):
        structure_file(written(tmp_path, dxf(BAR)))
