"""Small multiples of a measured set: which panels there are, and what they say."""

from dataclasses import replace

import numpy as np
import pandas as pd

from analysis.figures.measured_sets import (
    ShownFamily,
    ShownSet,
    measured_set,
    short_names,
    verdicts_in_words,
)
from analysis.figures.style import NOTE, lines_below

AT = np.linspace(0.0, 1.0, 5)


def rows(
    records: list[str], quantity: str, value: float, at: np.ndarray = AT
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Measured values 0.1 below those predicted, half of them inside; of all records
    but those called kept..."""
    tables = [
        pd.DataFrame({"record": r, "quantity": quantity, "at": at}) for r in records
    ]
    whole = pd.concat(tables, ignore_index=True)
    half = np.where(np.arange(len(whole)) % 2, 0.05, 0.2)
    prediction = whole.assign(
        value=value, half_width=half, low=value - half, high=value + half
    )
    measured = whole.assign(
        measured=value - 0.1, u_measured=0.02, predicted=value, E=0.1, u_val=0.06,
        half_width=half, inside95=half > 0.1,
    )  # fmt: skip
    return measured[~measured["record"].str.startswith("kept")], prediction


def shown() -> ShownSet:
    tests = ["test_a", "test_b", "kept_c"]
    one = np.zeros(1)
    families = [
        ShownFamily("force_X", "N", "closing", *rows(tests[:2], "force", 2.0), 0.15),
        ShownFamily("force_Y", "N", "closing", *rows(tests[2:], "force", 4.0), 0.15),
        ShownFamily(
            "loop", "N", "closing", *rows(tests, "half", 0.3), 0.1, about="force"
        ),
        ShownFamily(
            "work", "mJ", "", *rows(tests, "work", 9.0, one), 1.0, {"fitted": "agrees"}
        ),
    ]
    groups = {name: name for name in tests}
    fitted = frozenset({"test_a"})
    return ShownSet("toy", "A toy", families, fitted, groups, 2.0, [("a", "k")], "c.")


def test_every_test_has_a_panel_that_says_how_it_ended() -> None:
    figure = measured_set(shown())
    titles = [" ".join(axes.get_title().split()) for axes in figure.axes]
    assert titles == [
        "test b: predicted, 40% inside, rms $E$ 0.1, within 0.15 N",
        "test a: fitted, 60% inside, rms $E$ 0.1, within 0.15 N",
        "kept c: predicted, not yet measured",
        r"predicted: 0% inside, rms $E$ 0.1 $\leq$ 1 mJ"
        r" fitted: 100% inside, rms $E$ 0.1 $\leq$ 1 mJ"
        " 1 predicted, not yet measured",
    ]
    names = [label.get_text() for label in figure.axes[-1].get_yticklabels()]
    assert figure.axes[-1].get_xlabel() == "work (mJ)"
    assert names == ["test a", "test b", "kept c"]
    said = " ".join(lines_below(figure)[NOTE].split())
    assert "agrees: work (fitted)" in said


def test_a_record_that_is_not_drawn_lengthens_no_name() -> None:
    """What the drawn ones share is told by none of them, whatever others are called."""
    of = shown()
    names = {name: f"{name}_11.00" for name in of.groups}
    more = replace(of, groups={**names, "refused_12.00": "refused_12.00"})
    first = measured_set(more).axes[0].get_title()
    assert " ".join(first.split()).startswith("test b:")


def test_records_left_out_of_their_fit_are_drawn_and_told() -> None:
    """0.4 mJ too much, where the others predict it: a cross there."""
    of = shown()
    measured, _ = rows(["test_a"], "work", 9.0, np.zeros(1))
    apart = measured.assign(predicted=9.3, E=0.4, inside95=False)
    loops = of.families[0].measured.assign(E=0.3)
    families = [
        replace(of.families[0], left_out=loops[loops["record"] == "test_a"]),
        *of.families[1:3],
        replace(of.families[3], left_out=apart, aims={"left out": 0.3}),
    ]
    axes = measured_set(replace(of, families=families)).axes
    titles = [" ".join(one.get_title().split()) for one in axes]
    assert titles[-1].endswith(
        r"left out: 0% inside, rms $E$ 0.4 $>$ 0.3 mJ 1 predicted, not yet measured"
    )
    assert titles[1].endswith("left out: 60% inside, rms $E$ 0.3, beyond")
    assert "left out" not in titles[0]
    crosses = [line for line in axes[-1].get_lines() if line.get_marker() == "x"]
    assert [list(line.get_xdata()) for line in crosses] == [[9.3]]


def test_branches_lie_half_their_difference_about_the_mean() -> None:
    top = measured_set(shown()).axes[0]
    ends = {round(float(line.get_ydata()[0]), 9) for line in top.get_lines()}  # type: ignore[index, arg-type]
    assert {2.0, 2.3, 1.7, 2.1} <= ends


def test_verdicts_are_told_together_where_they_are_alike() -> None:
    told = [
        ("lowering", "fitted", "cannot tell"), ("lowering", "left out", "cannot tell"),
        ("tip_height", "fitted", "cannot tell"), ("tip_height", "left out", "differs"),
        ("period", "fitted", "cannot tell"), ("period", "left out", "cannot tell"),
    ]  # fmt: skip
    assert verdicts_in_words(told) == (
        "cannot tell: lowering, period (fitted, left out), tip height (fitted); "
        "differs: tip height (left out)"
    )
    assert verdicts_in_words([]) == "none yet"


def test_names_lose_the_words_that_all_of_them_have() -> None:
    assert short_names(["a_one_z", "a_two_z"]) == {"a_one_z": "one", "a_two_z": "two"}
    assert short_names(["same"]) == {"same": "same"}
    assert short_names(["m|1", "m|2"]) == {"m|1": "1", "m|2": "2"}


def test_of_several_quantities_each_cross_stands_on_the_line_of_its_own() -> None:
    of = shown()
    one = np.zeros(1)
    tables = [rows(["test_a"], f"node_{axis}", 1.0, one) for axis in "xyz"]
    measured, prediction = (pd.concat(part) for part in zip(*tables, strict=True))
    apart = measured.assign(predicted=1.3, E=0.4, inside95=False)
    nodes = ShownFamily("node", "mm", "", measured, prediction, 1.0, left_out=apart)
    (axes,) = measured_set(replace(of, families=[nodes])).axes
    at: dict[str, list[float]] = {"s": [], "x": []}
    for line in axes.get_lines():
        if line.get_marker() in at:
            at[str(line.get_marker())].append(float(line.get_ydata()[0]))  # type: ignore[index, arg-type]
    assert at["x"] == at["s"]
    assert len(set(at["x"])) == 3
