"""Origami cases: what conf/case builds, what it refuses, what a run leaves."""

import json
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pipeline.cases.fold_outcome import StrainWarning
from pipeline.cases.origami import OrigamiCase
from pipeline.cli.app import called
from pipeline.cli.show import write_fold_file
from pipeline.steps.simulate import record_steps
from pipeline.terminal import InputError
from sim.origami.folding.fold_simulation import OrigamiStep
from sim.origami.pattern.fold_format import pattern_document
from sim.origami.pattern.generators import miura
from tests.helpers.cases import composed
from tests.helpers.tables import rows_of
from tests.sim.origami.folds_by_theory import pop_up

case = partial(composed, OrigamiCase)


def test_a_run_says_what_contact_it_had_and_how_it_folded(tmp_path):
    chosen = case("single_fold", "case.contact.ke=null", "case.phases.0.increments=5")
    result = record_steps(chosen, "single_fold", tmp_path)
    assert result["rules"] == "full"
    assert result["ke"] > 0
    assert result["unconverged"] == 0
    assert (result["fold"], result["wrong_way"]) == ("folded", 0)
    assert result["largest_strain"] > 0.03 > result["panel_strain"]
    assert "warning" not in result  # of a crease whose elastic limit nobody gave
    (crease,) = rows_of(tmp_path / "folds.csv")
    assert float(crease["asked_deg"]) == pytest.approx(162.0)
    assert abs(float(crease["missing_deg"])) < 5.0
    header = (tmp_path / "steps.csv").read_text(encoding="utf-8").splitlines()[0]
    for name in ("strain_energy", "contact_energy", "load_factor", "iterations"):
        assert name in header.split(",")
    for name in ("wrong_way", "fold_missing_deg", "panel_strain"):
        assert name in header.split(",")


def test_the_largest_strain_is_no_less_than_that_of_panels():
    """Panels bend about their spokes where no bar and no crease is strained."""
    bent = case("single_fold")
    mesh, material = bent.mesh, bent.material
    strain = StrainWarning(bent.sheet, material, None)
    first = next(iter(bent.steps()))
    x = mesh.rest.copy()
    x[mesh.centre[0], 2] += 1e-4
    step = replace(first, x=x, strain=0.0)
    assert strain.largest(step) >= strain.of_panels(step) > 1e-4
    told = strain.summary(step)
    assert told["largest_strain"] == strain.largest(step)


def test_a_finished_run_becomes_a_fold_file_with_a_frame_an_increment(tmp_path):
    chosen = case("miura", "case.pattern.rows=2", "case.pattern.columns=2",
                  "case.supports=[[0,1,1,1],[1,0,1,1],[3,0,0,1]]",
                  "case.phases.0.increments=4")  # fmt: skip
    record_steps(chosen, "miura", tmp_path)
    out = tmp_path / "folded.fold"
    assert write_fold_file(tmp_path, out) == 5
    document = json.loads(out.read_text(encoding="utf-8"))
    assert len(document["file_frames"]) == 4
    creases = document["morphtrack:creases"]
    assert [c["held_by"] for c in creases] == ["closure"] * len(creases)
    last = document["file_frames"][-1]
    assert len(last["edges_foldAngle"]) == len(document["edges_vertices"])
    assert max(np.abs(last["edges_foldAngle"])) == pytest.approx(90.0, abs=30.0)
    assert write_fold_file(tmp_path, out, every=3) == 3


CROSSED = {
    "vertices_coords": [
        [0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0], [0.3, 0, 0.4], [0.3, 1, -0.4]
    ],
    "faces_vertices": [[0, 1, 2, 3], [2, 1, 4, 5]],
    "edges_vertices": [[1, 2]],
    "edges_assignment": ["V"],
}  # fmt: skip


def test_a_fold_file_whose_panels_cross_is_refused_before_anything_runs(tmp_path):
    path = tmp_path / "crossed.fold"
    path.write_text(json.dumps(CROSSED), encoding="utf-8")
    chosen = case("fold_file", f"case.pattern.path={path}", "case.pattern.scale=0.02")
    with pytest.raises(InputError, match=r"panel \d meets panel \d .*move") as refused:
        next(chosen.steps())
    assert "\n" not in str(refused.value)


def test_closure_of_a_fold_file_names_the_vertices_that_stay_open(tmp_path, capsys):
    document = pattern_document(miura(2, 2, width=0.02, height=0.02, angle=60.0))
    path = tmp_path / "pattern.fold"
    path.write_text(json.dumps(document), encoding="utf-8")
    assert called(["closure", str(path)]) == 0
    said = capsys.readouterr().out
    assert said.startswith("1 of 1 inner vertices close (rotations by the fold angles")
    assert said.endswith("mountains and valleys fold flat is not judged)\n")
    angles = document["edges_foldAngle"]
    document["edges_foldAngle"] = [0.5 * angle for angle in angles]
    path.write_text(json.dumps(document), encoding="utf-8")
    assert called(["closure", str(path)]) == 1
    assert capsys.readouterr().out.startswith("vertex 4 stays open by")
    assert called(["closure", str(path), "--tolerance", "-1"]) == 2
    assert called(["closure", str(tmp_path / "absent.fold")]) == 2


def test_closure_is_told_of_holes_and_slits(tmp_path, capsys):
    path = tmp_path / "card.fold"
    path.write_text(pop_up(10.0), encoding="utf-8")
    assert called(["closure", str(path)]) == 0
    said = capsys.readouterr().out
    assert said.startswith("0 of 0 inner vertices and 2 of 2 holes or slits close (")
    path.write_text(pop_up(-5.0), encoding="utf-8")  # no parallelogram
    assert called(["closure", str(path)]) == 1
    assert capsys.readouterr().out.startswith("the hole or slit at vertex ")


def test_a_sheet_without_enough_supports_is_refused_before_anything_runs():
    with pytest.raises(
        InputError, match=r"for example node \d+ along \w: add supports"
    ):
        next(case("single_fold", "case.supports=[[0,1,1,1]]").steps())


def ended(chosen: OrigamiCase, last: OrigamiStep) -> dict[str, Any]:
    """How a run that ends with `last` is summed up."""
    recorder = chosen.recorder()
    recorder.see(last)
    return dict(recorder.summary())


def test_strains_are_warned_of_beyond_a_limit_that_is_chosen_or_of_the_material():
    words = ("case.phases.0.increments=5", "case.phases.1.increments=1")
    *_, last = case("single_fold", *words).steps()
    strain = ended(case("single_fold", *words), last)["largest_strain"]
    assert isinstance(strain, float)
    for limit, warned in ((0.99 * strain, True), (1.01 * strain, False)):
        chosen = case("single_fold", *words, f"+case.strain_limit={limit}")
        assert ("warning" in ended(chosen, last)) == warned
    for limit, warned in ((0.03, True), (0.3, False)):
        chosen = case("single_fold", *words, f"+case.material.elastic_limit={limit}")
        *_, last = chosen.steps()
        said = str(ended(chosen, last).get("warning", ""))
        assert ("of a crease is above 3.0%" in said) == warned


def test_a_sheet_that_did_not_fold_is_not_called_done():
    chosen = case("folding_sequence", "case.phases.0.increments=4",
                  "case.imperfections=null")  # fmt: skip
    *_, last = chosen.steps()
    result = ended(chosen, last)
    assert result["fold"] == "stopped by contact"
    assert result["stop"] == "no increments left"
    assert "presses" in result["fold_why"]


def test_a_sequence_that_hangs_on_imperfections_is_undecided():
    """As drawn it locks: a triangle meets the wall edge-on, and passes on one side."""
    words = ("case.sequence=1-2-1-2", "case.phases.0.increments=20")
    chosen = case("folding_sequence", *words, "case.imperfections.draws=29")
    *_, last = chosen.steps()
    result = ended(chosen, last)
    assert result["verdict"] == "undecided"
    assert result["verdict_as_drawn"] == "lock"
    assert 2 <= result["draws"] < 29
    assert result["stage"] == 1
    low, high = result["lock_share_low"], result["lock_share_high"]
    assert 0 < low < result["lock_share"] < high < 1
    plain = case("folding_sequence", *words, "case.imperfections=null")
    assert ended(plain, last)["verdict"] == "lock"


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
