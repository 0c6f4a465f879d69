"""A folded sheet that repeats has the ratios and moduli of its closed forms."""

from dataclasses import replace

import numpy as np
import pytest

from sim.origami.fold_and_load_phases import Fold
from sim.origami.mechanics import FoldedCell, folded_cells, plate_of
from sim.origami.model.sheet_material import SheetMaterial
from sim.origami.pattern.generators import miura
from sim.origami.pattern.pattern import CreasePattern

a, b, ACUTE = 0.02, 0.03, 60.0  # sides along and across the straight creases, m
SHEET = miura(4, 4, width=a, height=b, angle=ACUTE)
PERIODS = [[0, 2], [0, 10]]
STIFF = SheetMaterial(2e9, 2e9, 5e-3, 1e-5, 2e-3)
THIN = replace(STIFF, panel_thickness=5e-5, crease_thickness=1e-6)


def cells(material: SheetMaterial, increments: int = 4) -> list[FoldedCell]:
    fold = Fold(fraction=0.7, increments=increments)
    return list(folded_cells(SHEET, material, fold, PERIODS))


def poisson(cell: FoldedCell) -> float:
    """-e_y / e_x = -1 / (c^2 t^2), for L = a sqrt(1 - s^2 g^2) along x and
    S = b c t / sqrt(1 + c^2 t^2) across, as Schenk and Guest (2013) have them."""
    L = 0.5 * np.linalg.norm(cell.periods[0])
    acute = np.radians(ACUTE)
    sine = (1 - (L / a) ** 2) / np.sin(acute) ** 2
    return float(-1 / ((1 - sine) * np.tan(acute) ** 2))


def test_a_miura_sheet_has_the_ratio_of_its_closed_form_and_bent_the_opposite():
    """The latter where panels bend and do not stretch."""
    found = list(zip(cells(STIFF), cells(THIN), strict=True))
    assert len(found) == 4
    for stiff, thin in found:
        in_plane, _ = plate_of(stiff, STIFF).poisson()
        assert in_plane < 0
        assert in_plane == pytest.approx(poisson(stiff), rel=2e-3)
        in_plane, bending = plate_of(thin, THIN).poisson()
        assert bending == pytest.approx(-poisson(thin), rel=2e-3)
        assert in_plane == pytest.approx(poisson(thin), rel=2e-2)


def test_a_pull_turns_its_creases_alone():
    before, here, after = cells(STIFF, 60)[29:32]
    strain = np.log(after.periods[0, 0] / before.periods[0, 0])
    turn = (np.abs(after.folds) - np.abs(before.folds)) / strain
    creases = SHEET.edges[SHEET.creases]
    ends = SHEET.vertices[creases]
    length = np.linalg.norm(ends[:, 1] - ends[:, 0], axis=1)
    energy = 0.0  # four creases of each kind in a cell
    for side in (a, b):
        rate = turn[np.abs(length - side) < 1e-9]
        assert np.ptp(rate) < 1e-4 * np.abs(rate).max()
        energy += 4 * STIFF.whole_crease(side) * rate[0] ** 2
    area = abs(np.linalg.det(here.periods))
    found = plate_of(here, STIFF).moduli()[0]
    assert found == pytest.approx(energy / area, rel=2e-3)


def test_a_pleated_sheet_bends_by_its_creases_alone():
    """Curvature k over a period p turns its two creases by k p / 2 each."""
    wide, deep, w = 0.012, 0.008, 0.02
    x, y = np.meshgrid(np.arange(5) * wide / 2, np.arange(4) * w)
    z = np.broadcast_to([0.0, deep, 0.0, deep, 0.0], x.shape) - deep / 2
    corner = np.arange(20).reshape(4, 5)
    panels = [
        [corner[j, i], corner[j, i + 1], corner[j + 1, i + 1], corner[j + 1, i]]
        for j in range(3)
        for i in range(4)
    ]
    places = np.column_stack([x.ravel(), y.ravel(), z.ravel()])
    periods = np.array([[wide, 0.0], [0.0, w]])
    pleats = CreasePattern(places, [[int(v) for v in panel] for panel in panels])
    crease = STIFF.whole_crease(w)
    for shift in (0.0, 3 * wide):
        moved = replace(pleats, vertices=places + np.array([shift, 0, 0]))
        plate = plate_of(FoldedCell(np.zeros(1), moved, periods), STIFF)
        found = plate.moduli()[2]
        assert found == pytest.approx(
            2 * crease * (wide / 2) ** 2 / (wide * w), rel=1e-3
        )


def test_a_sheet_smaller_than_a_cell_is_refused():
    small = miura(2, 2, width=a, height=b, angle=ACUTE)
    fold = Fold(fraction=0.5, increments=1)
    (cell,) = folded_cells(small, THIN, fold, [[0, 2], [0, 6]])
    with pytest.raises(ValueError, match="no cell of the sheet is surrounded"):
        plate_of(cell, THIN)


def test_vertices_that_are_no_period_apart_are_refused():
    fold = Fold(fraction=0.5, increments=1)
    with pytest.raises(
        ValueError, match="differ in distance or direction from 0 and 1"
    ):
        list(folded_cells(SHEET, THIN, fold, [[0, 1], [0, 10]]))


def test_a_sheet_that_is_folded_as_drawn_is_refused():
    tilted = SHEET.vertices + np.array([0.0, 0.0, 1e-3]) * (
        np.arange(len(SHEET.vertices))[:, None] % 5 == 2
    )
    folded = CreasePattern(tilted, SHEET.panels, SHEET.assignment)
    with pytest.raises(ValueError, match="folded at rest"):
        list(folded_cells(folded, THIN, Fold(fraction=0.5), PERIODS))
