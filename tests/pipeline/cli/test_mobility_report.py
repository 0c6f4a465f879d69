"""The command that counts and draws motions."""

from pathlib import Path

import numpy as np
from matplotlib.text import Annotation
from numpy.testing import assert_allclose

from analysis.figures.structures import modes_of_motion
from pipeline.cli.app import called
from pipeline.cli.mobility_report import held_nodes, report
from pipeline.io.structure_file import structure_file
from sim.mechanism.constraints import dist
from sim.mechanism.mobility import mobility, modes
from tests.sim.mechanism.mechanisms import of_loops, structure

ROOT = Path(__file__).parents[3]


def test_mobility_of_a_case_is_printed_and_its_modes_are_drawn(tmp_path, capsys):
    assert called(["mobility", "case=pentapod", "--out", str(tmp_path)]) == 0
    said = capsys.readouterr().out
    assert "mobility        7" in said
    assert "warning" not in said
    for kind in ("pdf", "png"):
        assert (tmp_path / f"pentapod.{kind}").stat().st_size > 1000
    with np.load(tmp_path / "pentapod_modes.npz") as saved:
        assert saved["modes"].shape == (7, 13, 3)


def test_a_planar_linkage_is_drawn_from_above_with_numbers_and_what_is_held():
    four_bar = structure_file(str(ROOT / "conf/structure/four_bar.yaml"))
    assert held_nodes(four_bar) == [0, 3]
    r, found = four_bar.r0, modes(four_bar)
    figure = modes_of_motion(r, four_bar.bodies, found, "", "mm", [0, 3])
    written = [t for t in figure.axes[0].texts if isinstance(t, Annotation)]
    places = {t.get_text(): t.xy for t in written if t.get_text().isdigit()}
    assert set(places) == set("0123")
    assert_allclose(places["2"], r[2, :2], atol=1e-12)
    assert "held" in [text.get_text() for text in figure.legends[0].get_texts()]
    named = modes_of_motion(r, four_bar.bodies, found, "", "mm", names=[*"ABC", "a$"])
    written = [t.get_text() for t in named.axes[0].texts if isinstance(t, Annotation)]
    assert written == ["A", "B", "C", r"a\$"]


def test_large_structures_are_counted_and_not_drawn(tmp_path, capsys):
    sizes = [f"case.structure.{key}" for key in ("rows=13", "columns=13")]
    words = ["case=triangles_cylinder", *sizes, "case.structure.variation=0"]
    assert called(["mobility", *words, "--out", str(tmp_path)]) == 0
    assert "not plotted: 3" in capsys.readouterr().out
    assert list(tmp_path.iterdir()) == []


def test_a_structure_that_cannot_move_is_called_one(tmp_path, capsys):
    path = tmp_path / "truss.yaml"
    for links, stiff in (("[0, 2], [1, 2]", True), ("[0, 2]", False)):
        path.write_text(
            "nodes: [[0, 0, 0], [1, 0, 0], [0, 1, 0]]\nplanar: z\nfixed: [0, 1]\n"
            f"links: [{links}]\n"
        )
        truss = structure_file(str(path))
        lines = report(mobility(truss), truss, mobility(truss).mobility)
        said = "the structure cannot move"
        assert (said in lines) == stiff
        words = ["case=structure_file", f"case.structure.path={path}"]
        # no modes: a traceback
        assert called(["mobility", *words, "--out", str(tmp_path)]) == 0
        assert ("modes           none" in capsys.readouterr().out) == stiff


def test_redundant_rows_are_named():
    bars = of_loops()["4-bar planar grounded (1 redundant)"]
    lines = report(mobility(bars), bars, 1)
    named = next(line for line in lines if line.startswith("redundant rows"))
    assert named.removeprefix("redundant rows").strip()


def test_special_configurations_bring_a_warning():
    r = np.array([[0.0, 0, 0], [2, 0, 0], [3, 0, 0], [1, 0, 0]])
    flat = structure(r, [dist(r, a, b) for a, b in ((0, 1), (1, 2), (2, 3), (3, 0))])
    found = mobility(flat)
    assert "the start is singular" in report(found, flat, 8)[-1]
    assert "may not continue" in report(found, flat, None)[-1]


def test_cases_without_constraints_are_refused(capsys, refused):
    assert "has no constraints to count" in refused("mobility", "case=star_robot")
    assert called(["mobility", "case=triangles_sphere"]) == 2
    assert capsys.readouterr().err.startswith("error: ")


BARS = """
unit: mm
nodes: [[0, 0, 0], [40, 0, 0], [45, 30, 0], [2, 25, 0]{more}]
links: [[0, 1], [1, 2], [2, 3], [3, 0]]
planar: z
fixed: [0, 1]
"""


def test_motions_are_kept_by_the_name_of_the_file_and_nodes_written_twice_are_named(
    tmp_path, capsys
):
    twice = BARS.format(more=", [45, 30, 0]")
    out, said = tmp_path / "out", []
    for name, text in (
        ("one", BARS.format(more="")),
        ("two", twice),
        ("two", twice + "coin: [[2, 4]]\n"),
    ):
        path = tmp_path / f"{name}.yaml"
        path.write_text(text)
        words = ["case=structure_file", f"case.structure.path={path}"]
        assert called(["mobility", *words, "--out", str(out)]) == 0
        said.append(capsys.readouterr().out)
    assert "mobility        1" in said[0]
    assert "warning: nodes 2 and 4 coincide" in said[1]
    assert "coincide" not in said[2]
    assert {p.name for p in out.glob("*.pdf")} == {"one.pdf", "two.pdf"}
