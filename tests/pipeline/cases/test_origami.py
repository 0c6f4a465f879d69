"""Origami cases: what conf/case builds, what it refuses, what a run leaves."""

import csv
import json
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pipeline.cases.fold_outcome import StrainWarning
from pipeline.cases.origami import OrigamiCase
from pipeline.commands.closure import main as check_closure
from pipeline.commands.fold_file import write_fold_file
from pipeline.config.building import build
from pipeline.config.hydra import Composer
from pipeline.figures.zhu_filipov_10 import draw
from pipeline.formats.fold_file import fold_file
from pipeline.results.shown import Row
from pipeline.steps.recording import record_steps
from pipeline.store.files import write_json
from pipeline.terminal.errors import InputError
from sim.origami.folding.folding import OrigamiStep
from sim.origami.pattern.fold_format import pattern_document
from sim.origami.pattern.tessellations import miura
from tests.helpers.cases import composed
from tests.sim.origami.folds_by_theory import pop_up

CASES = [
    "single_fold",
    "double_fold",
    "single_fold_strip",
    "double_fold_strip",
    "box",
    "box_corner",
    "box_corner_free",
    "folding_sequence",
    "interlocking",
    "interlocking_free",
    "miura",
    "yoshimura",
    "waterbomb",
]
case = partial(composed, OrigamiCase)


@pytest.mark.parametrize("name", CASES)
def test_every_case_yields_the_flat_sheet_and_a_converged_increment(name: str) -> None:
    chosen = case(name)
    steps = chosen.steps()
    first, second = next(steps), next(steps)
    assert (first.x == chosen.mesh.rest).all()
    assert second.converged
    recorder = chosen.recorder()
    recorder.see(second)
    assert recorder.row(second)["iterations"] > 0
    shapes = {k: v.shape for k, v in recorder.arrays(second).items()}
    names = ("x", "contact_force", "support_force")
    assert shapes == dict.fromkeys(names, chosen.mesh.rest.shape)


@pytest.mark.parametrize(
    ("name", "override", "said"),
    [
        ("folding_sequence", "case.sequence=1-3-3-3", "sequence 1-3-3-3 lacks stage 2"),
        ("folding_sequence", "case.sequence=1-2-2", "3 stages for 4 creases"),
        (
            "box",
            "case.contact.rules=papre",
            "'papre': choose one of paper, full",
        ),
        ("box", "case.material.panel_modulus=-1", "panel_modulus must be positive"),
        ("box", "case.material.panel_thickness=0", "panel_thickness must be positive"),
        ("miura", "case.material.panel_thickness=0.1", "panels are 0.1 m thick and"),
        (
            "miura",
            "case.phases.0.tolerance=10",
            r"phases\[0\].tolerance is 10 N, and cr",
        ),
        ("miura", "case.phases.0.fraction=2", "fraction must lie between 0 and 1"),
        ("miura", "case.phases.0.fraction=-0.5", "to fold the other way, swap M and V"),
        ("miura", "++case.contact.thickness=-1", "^case.contact: thickness must be 0"),
        ("miura", "++case.contact.d0_edge=-1", "^case.contact: d0_edge must be pos"),
        ("miura", "++case.contact.thickness=0.5", "thickness of contact is 0.5 m, but"),
        ("miura", "++case.contact.d0_centre=0.4", "d0_centre of contact is 0.4 m, but"),
        ("box", "case.supports=[[7,1,2,1]]", "support of node 7 has 2 for y: give 1"),
        ("miura", "case.phases.0.fraction=nan", "fraction must lie between 0 and 1"),
        ("box", "case.phases.0.increments=0", "increments must be 1 or more"),
        ("miura", "case.pattern.angle=95", "angle must lie between 0 and 90"),
        ("box", "case.phases.0.creases=[0,1,2,3]", "edge 0 is not a crease"),
        ("box", "case.supports=[[77,1,1,1]]", "support names node 77"),
        ("box", "+case.strain_limit=-1", "strain_limit must be zero or more, not -1"),
        ("box", "+case.fold_tolerance=0", "fold_tolerance must be positive, not 0"),
        ("box", "+case.material.elastic_limit=-1", "elastic_limit must be positive"),
        ("box", "+case.eigenvalues=-2", "eigenvalues must be zero or more, not -2"),
        ("single_fold", "case.phases.1.nodes=[99]", "load names node 99"),
        ("single_fold", "case.phases.1.watch=13", "load names node 13"),
        ("single_fold", "case.phases.1.nodes=[0]", "acts on supports only"),
        ("single_fold", "+case.phases.1.elastic=[[1,0,0,-3]]", "node 1 is negative"),
    ],
)
def test_bad_values_are_refused_in_one_line(
    name: str, override: str, said: str
) -> None:
    with pytest.raises(InputError, match=said) as refused:
        case(name, override)
    assert "\n" not in str(refused.value)


def test_a_run_says_what_contact_it_had_and_how_it_folded(tmp_path: Path) -> None:
    chosen = case("single_fold", "case.contact.ke=null", "case.phases.0.increments=5")
    result = record_steps(chosen, "single_fold", tmp_path)
    assert result["rules"] == "full"
    assert result["ke"] > 0
    assert result["unconverged"] == 0
    assert (result["fold"], result["wrong_way"]) == ("folded", 0)
    assert result["largest_strain"] > 0.03 > result["panel_strain"]
    assert "warning" not in result  # of a crease whose elastic limit nobody gave
    with (tmp_path / "folds.csv").open(encoding="utf-8") as file:
        (crease,) = csv.DictReader(file)
    assert float(crease["asked_deg"]) == pytest.approx(162.0)
    assert abs(float(crease["missing_deg"])) < 5.0
    header = (tmp_path / "steps.csv").read_text(encoding="utf-8").splitlines()[0]
    for name in ("strain_energy", "contact_energy", "load_factor", "iterations"):
        assert name in header.split(",")
    for name in ("wrong_way", "fold_missing_deg", "panel_strain"):
        assert name in header.split(",")


def test_the_largest_strain_is_no_less_than_that_of_panels() -> None:
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


def test_a_finished_run_becomes_a_fold_file_with_a_frame_an_increment(
    tmp_path: Path,
) -> None:
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


def test_a_fold_file_is_folded_by_its_assignment(tmp_path: Path) -> None:
    pattern = miura(2, 2, width=0.02, height=0.02, angle=60.0)
    path = tmp_path / "pattern.fold"
    path.write_text(json.dumps(pattern_document(pattern)), encoding="utf-8")
    found = fold_file(str(path))
    assert found.assignment == pytest.approx(np.asarray(pattern.assignment))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{", "is not JSON"),
        ("[]", "is no FOLD file: give an object with named entries"),
        ('{"vertices_coords": [[0, 0]]}', "has no faces_vertices"),
    ],
)
def test_files_that_are_not_patterns_are_refused(
    text: str, said: str, tmp_path: Path
) -> None:
    path = tmp_path / "bad.fold"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ValueError, match=said):
        fold_file(str(path))
    with pytest.raises(ValueError, match="give a FOLD file"):
        fold_file(str(tmp_path / "absent.fold"))


CROSSED = {
    "vertices_coords": [
        [0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0], [0.3, 0, 0.4], [0.3, 1, -0.4]
    ],
    "faces_vertices": [[0, 1, 2, 3], [2, 1, 4, 5]],
    "edges_vertices": [[1, 2]],
    "edges_assignment": ["V"],
}  # fmt: skip


def test_a_fold_file_whose_panels_cross_is_refused_before_anything_runs(
    tmp_path: Path,
) -> None:
    path = tmp_path / "crossed.fold"
    path.write_text(json.dumps(CROSSED), encoding="utf-8")
    chosen = case("fold_file", f"case.pattern.path={path}", "case.pattern.scale=0.02")
    with pytest.raises(InputError, match=r"panel \d meets panel \d .*move") as refused:
        next(chosen.steps())
    assert "\n" not in str(refused.value)


def test_closure_of_a_fold_file_names_the_vertices_that_stay_open(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    document = pattern_document(miura(2, 2, width=0.02, height=0.02, angle=60.0))
    path = tmp_path / "pattern.fold"
    path.write_text(json.dumps(document), encoding="utf-8")
    assert check_closure([str(path)]) == 0
    said = capsys.readouterr().out
    assert said.startswith("1 of 1 inner vertices close (rotations by the fold angles")
    assert said.endswith("mountains and valleys fold flat is not judged)\n")
    angles = document["edges_foldAngle"]
    document["edges_foldAngle"] = [0.5 * angle for angle in angles]
    path.write_text(json.dumps(document), encoding="utf-8")
    assert check_closure([str(path)]) == 1
    assert capsys.readouterr().out.startswith("vertex 4 stays open by")
    assert check_closure([str(path), "--tolerance", "-1"]) == 2
    assert check_closure([str(tmp_path / "absent.fold")]) == 2


def test_closure_is_told_of_holes_and_slits(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "card.fold"
    path.write_text(pop_up(10.0), encoding="utf-8")
    assert check_closure([str(path)]) == 0
    said = capsys.readouterr().out
    assert said.startswith("0 of 0 inner vertices and 2 of 2 holes or slits close (")
    path.write_text(pop_up(-5.0), encoding="utf-8")  # no parallelogram
    assert check_closure([str(path)]) == 1
    assert capsys.readouterr().out.startswith("the hole or slit at vertex ")


def test_a_sheet_without_enough_supports_is_refused_before_anything_runs() -> None:
    with pytest.raises(InputError, match=r"node \d+ along \w for one: add supports"):
        next(case("single_fold", "case.supports=[[0,1,1,1]]").steps())


def ended(chosen: OrigamiCase, last: OrigamiStep) -> dict[str, Any]:
    """How a run that ends with `last` is summed up."""
    recorder = chosen.recorder()
    recorder.see(last)
    return dict(recorder.summary())


def test_the_strain_that_is_warned_of_can_be_chosen() -> None:
    words = ("case.phases.0.increments=5", "case.phases.1.increments=1")
    *_, last = case("single_fold", *words).steps()
    strain = ended(case("single_fold", *words), last)["largest_strain"]
    assert isinstance(strain, float)
    for limit, warned in ((0.99 * strain, True), (1.01 * strain, False)):
        chosen = case("single_fold", *words, f"+case.strain_limit={limit}")
        assert ("warning" in ended(chosen, last)) == warned


@pytest.mark.parametrize(("limit", "warned"), [(0.03, True), (0.3, False)])
def test_creases_are_warned_of_beyond_the_limit_of_their_material(
    limit: float, warned: bool
) -> None:
    words = ("case.phases.0.increments=5", "case.phases.1.increments=1")
    chosen = case("single_fold", *words, f"+case.material.elastic_limit={limit}")
    *_, last = chosen.steps()
    said = str(ended(chosen, last).get("warning", ""))
    assert ("of a crease is above 3.0%" in said) == warned


def test_a_sheet_that_did_not_fold_is_not_called_done() -> None:
    chosen = case("folding_sequence", "case.phases.0.increments=4",
                  "case.imperfections=null")  # fmt: skip
    *_, last = chosen.steps()
    result = ended(chosen, last)
    assert result["fold"] == "stopped by contact"
    assert result["stop"] == "no increments left"
    assert "presses" in result["fold_why"]


def test_a_sequence_that_hangs_on_imperfections_is_undecided() -> None:
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


def test_eigenvalues_are_recorded_on_request() -> None:
    chosen = case("single_fold", "+case.eigenvalues=2")
    steps = chosen.steps()
    next(steps)
    numbers = chosen.recorder().row(next(steps))
    assert 0 < numbers["eigenvalue_0"] < numbers["eigenvalue_1"]


def test_fig_10_reads_the_verdict_of_every_row(tmp_path: Path) -> None:
    words = ["case=folding_sequence", "case.sequence=1-1-1-1"]
    words += ["case.phases.0.increments=3", "case.contact.enabled=false"]
    words += ["case.imperfections=null"]
    with Composer() as composer:
        config = composer.compose("simulate", words)
    result = record_steps(build(config["case"], "case"), "sequence", tmp_path)
    write_json(tmp_path / "run.json", {"config": config, "result": result, "key": "k"})
    drawn = draw([Row(label, tmp_path) for label in ("a", "b", "c", "study")])
    table = drawn.tables["verdicts"]
    assert table["sequence"].tolist() == ["1-1-1-1"] * 4
    assert table["increments"].tolist() == [3] * 4
    assert set(table["verdict"]) == {result["verdict"]}
    assert drawn.keys == ["k"] * 4
