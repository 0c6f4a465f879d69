"""Structures of one's own, run as a user runs them."""

import csv
import json

import numpy as np
import pytest

from pipeline.cases.morph import MorphCase
from pipeline.io.structure_file import structure_file
from pipeline.steps.simulate import record_steps
from tests.recorded import recorded
from tests.sim.mechanism.reference import DATA, load

NAME = "chain_planar_tension"


def test_a_run_tells_how_it_ended_and_what_its_links_carry():
    known = load(NAME)
    structure = structure_file(str(DATA / f"{NAME}.json"))
    case = MorphCase(structure, method="newton", reactions=True)
    steps, recorder = recorded(case)
    result = recorder.summary()
    assert result["E"] == pytest.approx(known["expected"]["E"], abs=1e-8)
    assert result["S"] == pytest.approx(known["expected"]["S"], abs=1e-6)
    assert result["mobility"] == known["expected"]["mobility"]
    assert result["stop"] == "gradient"
    assert np.abs(steps[-1].r - known["expected"]["x"]).max() < 1e-6
    rows = list(recorder.tables()["reactions.csv"])
    assert len(rows) == result["rows"]
    tension = {row["constraint"]: float(row["tension"]) for row in rows[:7]}
    assert min(tension.values()) > 0.0  # every goal is stretched
    assert tension[str(result["largest_tension_in"])] == result["largest_tension"]
    assert max(tension.values()) == result["largest_tension"]
    assert [row["tension"] for row in rows[7:]] == [""] * (len(rows) - 7)


def test_worth_of_a_length_is_what_another_length_gains(tmp_path):
    change, squares = 1e-4, []
    for sign in (1.0, 0.0, -1.0):
        content = load(NAME)
        length = np.sqrt(content["dist"][3][2]) + sign * change
        content["dist"][3][2] = length**2
        path = tmp_path / "chain.json"
        path.write_text(json.dumps(content))
        case = MorphCase(
            structure_file(str(path)),
            method="newton",
            tolerance=1e-11,
            reactions=sign == 0.0,
        )
        squares.append(float(record_steps(case, "chain", tmp_path)["E"]) ** 2)
    with (tmp_path / "reactions.csv").open() as file:
        row = list(csv.DictReader(file))[3]
    slope = (squares[0] - squares[2]) / (2.0 * change)
    assert float(row["dE2_dlength"]) == pytest.approx(slope, rel=1e-6)
