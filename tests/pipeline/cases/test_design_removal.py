"""Cases of removal, run and drawn."""

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hydra.errors import InstantiationException

from pipeline.cases.design_removal import RemovalCase
from pipeline.figures.design_removal import draw
from pipeline.results.shown import Row
from pipeline.steps.recording import record_steps
from pipeline.terminal.errors import InputError
from tests.helpers.cases import changed
from tests.helpers.tables import rows_of

build = partial(changed, RemovalCase, "design_removal")


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, Any]]:
    out = tmp_path_factory.mktemp("removal")
    return out, dict(record_steps(build(), "design_removal", out))


def test_the_sheet_without_a_fifth_of_its_links_fits_three_shapes_no_worse(
    run: tuple[Path, dict[str, Any]],
) -> None:
    """Already with the lengths that were; at E below 1e-8 a shape is met."""
    out, result = run
    rows = rows_of(out / "steps.csv")
    assert (int(rows[0]["links"]), result["links"]) == (63, 50)
    assert result["links"] <= 0.8 * 63
    assert result["mobility_before"] == 3 * 144 - (144 + 63)
    for row in rows:
        assert int(row["mobility"]) <= result["mobility_before"]
        assert float(row["residual"]) <= 1e-10
    for later in (rows[13], rows[-1]):
        for t in range(3):
            before = max(float(rows[0][f"E_{t}"]), 1e-8)
            assert float(later[f"E_{t}"]) <= before
    assert float(rows[0]["E_0"]) > 0.1
    assert float(rows[-1]["E_0"]) < 1e-3


def test_links_that_went_are_written_in_their_order(
    run: tuple[Path, dict[str, Any]],
) -> None:
    out, result = run
    rows = rows_of(out / "removed.csv")
    assert [int(row["links"]) for row in rows] == list(range(62, 49, -1))
    manners = [row["manner"] for row in rows]
    assert manners.count("cut") == result["cut"]
    assert manners.count("joined") == result["joined"]
    with np.load(out / "steps.npz") as arrays:
        links, gone = arrays["links"], np.isnan(arrays["length"][-1])
        change = arrays["length"][-1] / arrays["length"][0] - 1.0
    names = {f"dist({a}, {b})" for a, b in links[gone].tolist()}
    assert names == {row["link"] for row in rows}
    assert np.nanmax(np.abs(change)) <= 0.2 + 1e-12


def test_figure_shows_the_links_that_are_left(
    run: tuple[Path, dict[str, Any]], tmp_path: Path
) -> None:
    drawn = draw([Row("design_removal", run[0])])
    titles = [ax.get_title() for ax in drawn.figure.axes]
    assert sum("lengths found" in title for title in titles) == 3
    assert drawn.said["removed"] == len(drawn.tables["removed"]) == 13
    with pytest.raises(InputError, match="shows one run, not 2"):
        draw([Row("a", run[0]), Row("b", run[0])])
    with pytest.raises(InputError, match=r"removed.csv does not exist"):
        draw([Row("a", tmp_path)])


@pytest.mark.parametrize(
    ("key", "value", "words"),
    [
        ("remove", 0, "count must be"),
        ("remove", 63, "63 of 63 links cannot go"),
        ("trials", 0, "trials must be"),
        ("symmetries", ["xy"], "leave symmetries empty"),
    ],
)
def test_bad_values_of_a_removal_are_refused(key: str, value: Any, words: str) -> None:
    with pytest.raises(InstantiationException) as caught:
        build(**{key: value})
    assert isinstance(caught.value.__cause__, ValueError)
    assert words in str(caught.value.__cause__)
