"""Layers from files and cases: how many orders, and a FOLD file that says one."""

import json
from functools import partial
from pathlib import Path

import pytest

from pipeline.cases.flat_fold import FlatFoldCase
from pipeline.commands.layers import main as layers
from pipeline.terminal.errors import InputError
from sim.origami.pattern.fold_format import pattern_document
from sim.origami.pattern.pattern import CreasePattern
from sim.origami.pattern.units import stamps
from tests.helpers.cases import composed
from tests.recorded import recorded, table

maps = partial(composed, FlatFoldCase, "map_layers")


def written(path: Path, pattern: CreasePattern) -> str:
    path.write_text(json.dumps(pattern_document(pattern)), encoding="utf-8")
    return str(path)


def test_a_map_is_folded_in_each_of_its_orders() -> None:
    steps, recorder = recorded(maps())
    found = recorder.summary()
    assert found["stop"] == "all orders found"
    assert found["orders"] == len(steps) > 1
    heights = {tuple(recorder.arrays(step)["x"][::4, 2].tolist()) for step in steps}
    assert len(heights) == len(steps)
    assert len(table(maps(), "orders.csv")) == 15  # all six lie on each other
    first = recorded(maps("+case.most=1"))[1].summary()
    assert first["stop"] == "as many orders as asked for"


def test_a_case_without_an_order_says_which_vertex_forbids_it() -> None:
    with pytest.raises(InputError, match=r"vertex 5 has .*Maekawa"):
        recorded(maps("case.pattern.signs=VVVVVVV"))
    with pytest.raises(Exception, match="give M or V for each of 7 creases"):
        maps("case.pattern.signs=VV")


def test_a_fold_file_says_how_its_panels_lie(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    sheet = written(tmp_path / "map.fold", stamps("VV", columns=3, side=0.02))
    out = tmp_path / "folded.fold"
    assert layers([sheet, "--out", str(out)]) == 0
    assert "2 orders of 3 panels" in capsys.readouterr().out
    folded = json.loads(out.read_text(encoding="utf-8"))
    assert folded["frame_classes"] == ["foldedForm"]
    assert {(f, g) for f, g, _ in folded["faceOrders"]} == {(0, 1), (0, 2), (1, 2)}
    orders = {(f, g): s for f, g, s in folded["faceOrders"]}
    assert orders[0, 1] == orders[1, 2] == 1  # valleys shut face to face
    x = [round(place[0], 9) for place in folded["vertices_coords"]]
    assert x == [0.0, 0.02, 0.0, 0.02] * 2


def test_a_file_that_cannot_be_folded_is_told_why(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    sheet = stamps("MVMV", rows=2, columns=2, side=0.02)
    assert layers([written(tmp_path / "no.fold", sheet)]) == 1
    assert "vertex 4 has 2 mountains and 2 valleys" in capsys.readouterr().out
    assert layers([str(tmp_path / "absent.fold")]) == 2
