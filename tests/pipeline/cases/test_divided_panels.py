"""How a panel bends depends less on how it is divided than bars and hinges err."""

import json
from pathlib import Path

import numpy as np
import pytest

from pipeline.cases.origami import OrigamiCase
from tests.helpers.cases import composed

Point = tuple[float, float]
FORCE = 1e-4  # N, on each node that is pressed


def sunk(
    path: Path, points: list[Point], edges: list[tuple[int, int, str]],
    held: list[Point], pressed: list[Point],
) -> tuple[float, OrigamiCase]:  # fmt: skip
    """How far pressed corners sink, m, of a sheet without creases drawn in cm."""
    content = {
        "frame_unit": "cm",
        "vertices_coords": points,
        "edges_vertices": [edge[:2] for edge in edges],
        "edges_assignment": [edge[2] for edge in edges],
    }
    path.write_text(json.dumps(content))
    load = "_target_: sim.origami.fold_and_load_phases.Load, increments: 1"
    at = [points.index(point) for point in pressed]
    case = composed(
        OrigamiCase,
        "fold_file",
        f"case.pattern.path={path}",
        f"case.phases=[{{{load}, nodes: {at}, force: [0, 0, {-FORCE}]}}]",
        f"case.supports={[[points.index(p), 1, 1, 1] for p in held]}",
        "++case.contact.ke=0.1",
    )
    *_, last = case.steps()
    assert last.converged
    return float(-(last.x - case.mesh.rest)[at, 2].mean()), case


def strip(path: Path, parts: int) -> float:
    """Sag of a clamped strip, 3 by 1 cm in equal parts, over that of a beam."""
    along = [0.0, 0.5, *(0.5 + 3.0 * k / parts for k in range(1, parts + 1))]
    points = [(x, y) for x in along for y in (0.0, 1.0)]
    last = len(points) - 2
    edges = [(0, 1, "B"), (last, last + 1, "B")]
    edges += [(i, i + 2, "B") for i in range(last)]
    edges += [(i, i + 1, "J") for i in range(2, last, 2)]
    down, case = sunk(path, points, edges, points[:4], points[-2:])
    thickness = float(np.asarray(case.material.panel_thickness))
    EI = case.material.panel_modulus * 0.01 * thickness**3 / 12.0
    return down / (2.0 * FORCE * 0.03**3 / (3.0 * EI))


CORNERS: list[Point] = [
    (0, 0), (3, 0), (3, 1), (1, 1), (1, 3), (0, 3), (1, 0), (0, 1),
]  # fmt: skip
RIM = [(0, 6), (6, 1), (1, 2), (2, 3), (3, 4), (4, 5), (5, 7), (7, 0)]


def angle_sag(path: Path, *lines: tuple[int, int]) -> float:
    """Sag of the far end of an L, held at the end and the corner of its other arm."""
    edges = [(*pair, "B") for pair in RIM] + [(*pair, "J") for pair in lines]
    return sunk(path, CORNERS, edges, [(3, 0), (3, 1), (0, 0)], [(0, 3)])[0]


def test_divisions_of_a_panel_differ_by_less_than_the_model_errs(tmp_path):
    path = tmp_path / "sheet.fold"
    alone, in_four = strip(path, 1), strip(path, 4)
    assert alone == pytest.approx(0.27, abs=0.01)  # one panel: too stiff by 3.6
    assert alone < in_four < 1.0  # more parts lead towards the beam
    assert in_four / alone < 1.0 / alone
    left_alone = angle_sag(path)
    of_two = [angle_sag(path, (6, 3)), angle_sag(path, (7, 3)), angle_sag(path, (0, 3))]
    assert of_two == pytest.approx([left_alone] * 3, rel=0.07)
    of_three = angle_sag(path, (6, 3), (7, 3))
    assert 1.0 < of_three / left_alone < 1.8 < 1.0 / alone
