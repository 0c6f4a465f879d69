"""Structures of one's own, run as a user runs them."""

import csv
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pipeline.cases.morph import MorphCase
from pipeline.formats.structure_file import structure_file
from pipeline.steps.recording import record_steps
from tests.helpers.tables import rows_of
from tests.pipeline.conftest import Command, refusal
from tests.sim.morph.reference import DATA, load

NAME = "chain_planar_tension"


def run(command: Command, file: Path, out: str, *words: str) -> dict[str, Any]:
    done = command(
        "simulate",
        "case=structure_file",
        f"case.structure.path={file}",
        f"hydra.run.dir={out}",
        *words,
    )
    assert done.returncode == 0, done.stderr
    record: dict[str, Any] = json.loads((Path(out) / "run.json").read_text())
    result: dict[str, Any] = record["result"]
    return result


def test_a_run_tells_how_it_ended_and_what_its_links_carry(
    command: Command, project: Path
) -> None:
    del project
    known = load(NAME)
    result = run(command, DATA / f"{NAME}.json", "here")
    assert result["E"] == pytest.approx(known["expected"]["E"], abs=1e-8)
    assert result["S"] == pytest.approx(known["expected"]["S"], abs=1e-6)
    assert result["residual"] <= 1e-10
    assert result["mobility"] == known["expected"]["mobility"]
    assert result["projected_gradient"] <= 1e-9
    assert result["stop"] == "gradient"
    r = np.load("here/steps.npz")["r"]
    assert r.shape == (result["steps"] + 1, 8, 3)
    assert np.abs(r[-1] - known["expected"]["x"]).max() < 1e-6
    rows = rows_of(Path("here/reactions.csv"))
    assert len(rows) == result["rows"]
    tension = {row["constraint"]: float(row["tension"]) for row in rows[:7]}
    assert min(tension.values()) > 0.0  # every goal is stretched
    assert tension[result["largest_tension_in"]] == result["largest_tension"]
    assert max(tension.values()) == result["largest_tension"]
    assert [row["tension"] for row in rows[7:]] == [""] * (len(rows) - 7)


def test_worth_of_a_length_is_what_another_length_gains(tmp_path: Path) -> None:
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


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ({"dist": [[0, 9, 1.0]]}, "dist(0, 9) names a node that is not there"),
        ({"link": [[0, 1, 1.0]]}, "bad.json has no key 'link'"),
    ],
)
def test_bad_structures_are_one_line_that_names_the_file(
    command: Command, project: Path, content: dict[str, Any], said: str
) -> None:
    whole = {"nodes": [[0, 0, 0], [1, 0, 0]], "goals": [[0, 0, 0]], "leading": [0]}
    (project / "bad.json").write_text(json.dumps({**whole, **content}))
    words = ("case=structure_file", "case.structure.path=bad.json")
    line = refusal(command("simulate", *words))
    assert "bad.json" in line
    assert said in line
