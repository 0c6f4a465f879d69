"""Small multiples of a measured set: which panels there are, and what they say."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.patches import Patch

from analysis.figures import style
from analysis.figures.measured_panels import ShownFamily, Unfitted
from analysis.figures.measured_sets import (
    ShownSet,
    measured_set,
    roles,
    short_names,
    verdicts_in_words,
)
from tests.figure_faults import faults

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


def verdict(
    part: str, rms: float, aim: float, said: str, inside: float = 0.5
) -> pd.DataFrame:
    told = {"part": part, "rms_E": rms, "aim": aim, "rms_u_val": 0.06, "verdict": said}
    return pd.DataFrame([told | {"coverage": inside}])


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
            "work", "mJ", "", *rows(tests, "work", 9.0, one), 1.0,
            verdict("fitted", 0.1, 1.0, "agrees"),
        ),
    ]  # fmt: skip
    groups = {name: name for name in tests}
    fitted = frozenset({"test_a"})
    runs = [("a", "k")]
    return ShownSet(families, fitted, groups, 2.0, runs, "c.", ["E_kPa"])


def titles(of: ShownSet) -> list[str]:
    return [" ".join(axes.get_title().split()) for axes in measured_set(of).axes]


def test_every_test_has_a_panel_that_says_what_it_was_for():
    figure = measured_set(shown())
    assert [" ".join(axes.get_title().split()) for axes in figure.axes] == [
        "test b, predicted",
        "test a, fitted",
        "kept c, predicted, not yet measured",
        "work",
        "Outcome: aim, share in 95 % intervals, verdict of validation",
    ]
    lines, held = figure.axes[-2:]
    names = [label.get_text() for label in lines.get_yticklabels()]
    assert lines.get_xlabel() == "$E$ (mJ)"
    assert names == ["test a", "test b", "kept c"]
    assert [text.get_text() for text in lines.texts] == ["9.00"] * 3
    assert held.get_yticklabels()[0].get_text() == "work, fitted"
    assert "Fitted: E kPa on test a (1 record)" in roles(shown())
    assert "Predicted, not yet measured: kept c (1 record)" in roles(shown())
    assert not figure.get_suptitle()  # the caption says it


def test_nothing_fitted_is_said_and_what_is_not_drawn_has_no_mark():
    of = shown()
    lone = [family for family in of.families if family.lone]
    alone = replace(of, families=lone, fitted=frozenset(), inputs=[])
    assert "Nothing fitted. Predicted: " in roles(alone)
    figure = measured_set(alone)
    legend = [text.get_text() for text in figure.legends[0].get_texts()]
    assert legend[0] == "95 %, predicted"
    assert "95 %, fitted" not in legend


def test_what_held_and_what_did_not_is_told_in_one_panel():
    """An error of a tenth of its aim is met; of twice its aim missed."""
    of = shown()
    missed = verdict("predicted", 0.3, 0.15, "differs", 0.97)
    first = replace(of.families[0], verdicts=missed)
    held = measured_set(replace(of, families=[first, *of.families[1:]])).axes[-1]
    told = ["missed, 97 %, differs", "met, 50 %, agrees"]
    assert [text.get_text() for text in held.texts][:2] == told
    assert [text.get_weight() for text in held.texts][:2] == ["bold", "normal"]
    points = [line for line in held.get_lines() if line.get_marker() == "D"]
    assert [float(line.get_xdata()[0]) for line in points] == [2.0, 0.1]  # type: ignore[index, arg-type]


def test_of_many_tests_those_not_yet_measured_share_a_panel_by_family():
    of = shown()
    kept = [f"kept_{k}" for k in range(7)]
    more = ShownFamily("force_Y", "N", "closing", *rows(kept, "force", 4.0), 0.15)
    told = titles(replace(of, families=[of.families[0], more], groups={}))
    assert told == [
        "test b, predicted",
        "test a, fitted",
        "kept 0, 1, 2, 3, 4, 5, 6, predicted, not yet measured",
    ]


def test_errors_of_many_quantities_stand_below_those_of_their_unit():
    """Bars hold the middle 95 % of them; a width shares its panel with a length."""
    of = shown()
    nodes = [rows(["test_a"], f"node_{axis}", 1.0) for axis in "xyz"]
    measured, prediction = (pd.concat(part) for part in zip(*nodes, strict=True))
    sizes = [
        ShownFamily(name, "mm", "at", *rows(["test_a"], name, 5.0), 1.0)
        for name in ("length", "width")
    ]
    node = ShownFamily("node", "mm", "at", measured, prediction, 0.2)
    (axes,) = measured_set(replace(of, families=[node, *sizes])).axes
    assert axes.get_ylabel().split() == ["length,", "below", "width", "(mm)"]
    (low,) = axes.child_axes
    bars = [one for one in low.collections if isinstance(one, LineCollection)]
    assert [len(one.get_segments()) for one in bars] == [5, 5]
    assert low.get_ylabel() == "$E$ (mm)"


def test_a_record_that_is_not_drawn_lengthens_no_name():
    """What the drawn ones share is told by none of them, whatever others are called."""
    of = shown()
    names = {name: f"{name}_11.00" for name in of.groups}
    more = replace(of, groups={**names, "refused_12.00": "refused_12.00"})
    assert titles(more)[0].startswith("test b")


def test_records_left_out_of_their_fit_are_drawn_and_told():
    """0.4 mJ too much, where the others predict it: a cross there."""
    of = shown()
    measured, _ = rows(["test_a"], "work", 9.0, np.zeros(1))
    apart = measured.assign(predicted=9.3, E=0.4, inside95=False)
    loops = of.families[0].measured.assign(E=0.3)
    families = [
        replace(of.families[0], left_out=loops[loops["record"] == "test_a"]),
        *of.families[1:3],
        replace(of.families[3], left_out=apart),
    ]
    figure = measured_set(replace(of, families=families))
    crosses = [x for x in figure.axes[-2].get_lines() if x.get_marker() == "x"]
    assert [float(line.get_xdata()[0]) for line in crosses] == [0.4]  # type: ignore[index, arg-type]
    assert "left out" in [text.get_text() for text in figure.legends[0].get_texts()]
    ends = [float(x.get_ydata()[0]) for x in figure.axes[1].child_axes[0].get_lines()]  # type: ignore[index, arg-type]
    assert {0.1, 0.3} <= set(ends)


def test_branches_lie_half_their_difference_about_the_mean():
    top = measured_set(shown()).axes[0]
    ends = {round(float(line.get_ydata()[0]), 9) for line in top.get_lines()}  # type: ignore[index, arg-type]
    assert {2.0, 2.3, 1.7, 2.1} <= ends


def test_verdicts_are_told_together_where_they_are_alike():
    told = [
        ("lowering", "fitted", "inconclusive"),
        ("lowering", "left out", "inconclusive"),
        ("tip_height", "fitted", "inconclusive"), ("tip_height", "left out", "differs"),
        ("period", "fitted", "inconclusive"), ("period", "left out", "inconclusive"),
    ]  # fmt: skip
    assert verdicts_in_words(told) == (
        "inconclusive: lowering, period (fitted, left out), tip height (fitted); "
        "differs: tip height (left out)"
    )
    assert verdicts_in_words([]) == "none yet"


def test_names_lose_the_words_that_all_of_them_have():
    assert short_names(["a_one_z", "a_two_z"]) == {"a_one_z": "one", "a_two_z": "two"}
    assert short_names(["same"]) == {"same": "same"}
    assert short_names(["m|1", "m|2"]) == {"m|1": "1", "m|2": "2"}


def test_errors_of_several_quantities_stand_on_the_line_of_their_record():
    """As fitted below it, as left out above; no value is printed, there are three."""
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
    assert at == {"s": [0.18] * 3, "x": [-0.18] * 3}
    assert not axes.texts


def test_what_the_intervals_and_what_chance_may_add_look_apart():
    """Grey is the interval of what was fitted, hatched is k u_val: an entry each."""
    figure = measured_set(shown())
    (legend,) = figure.legends
    look = {
        text.get_text(): (patch.get_facecolor(), patch.get_hatch())  # type: ignore[attr-defined]
        for text, patch in zip(legend.get_texts(), legend.legend_handles, strict=True)
        if isinstance(patch, Patch)
    }
    assert [*look] == [
        "95 %, predicted",
        "95 %, fitted",
        r"$\pm\,2\,u_\mathrm{val}$ of $E$",
    ]
    assert len(set(look.values())) == 3
    (low,) = figure.axes[1].child_axes  # of what was fitted: its band of E
    hatched = {band.get_hatch() for band in low.collections}
    assert hatched == {look[r"$\pm\,2\,u_\mathrm{val}$ of $E$"][1]} != {None}


def test_a_model_of_which_nothing_is_fitted_has_its_distances_and_their_aim():
    """Specimens 0.3 and 0.4 mm off: the root of their mean square; 1 mm is aimed at."""
    told = {"record": ["a_1", "a_2"], "group": ["a", "a"], "at": [25.0, 25.0]}
    far = pd.DataFrame({**told, "rms": [0.3, 0.4]})
    strips = Unfitted("strips only", "mm", "at, C", 1.0, far, far.assign(rms=0.1))
    assert strips.worst() == {"a": pytest.approx(np.sqrt(0.125))}
    figure = measured_set(replace(shown(), unfitted=[strips]))
    titles = {ax.get_title(): ax for ax in figure.axes}
    (panel,) = [ax for title, ax in titles.items() if "strips only" in title]
    assert "met in 1 of 1" in panel.get_title()
    heights = [float(line.get_ydata()[0]) for line in panel.get_lines()]  # type: ignore[index, arg-type]
    assert heights == [0.1, pytest.approx(np.sqrt(0.125)), 1.0]


def test_tests_without_errors_stand_lower_where_that_saves_height():
    """Five measured tests and four to come: a row each on a page, all on one page."""
    tests = [f"test_{k}" for k in range(5)] + [f"kept_{k}" for k in range(4)]
    of = shown()
    apart = [
        ShownFamily(f"f{k}", "N", "closing", *rows([name], "force", 2.0), 0.15)
        for k, name in enumerate(tests)
    ]
    figure = measured_set(replace(of, families=apart, groups={}))
    tops = [round(ax.get_position().y1, 2) for ax in figure.axes]
    assert len(set(tops[:5])) == 1
    assert len(set(tops[5:9])) == 1
    assert tops[0] > tops[5]


@pytest.mark.slow
def test_names_of_lines_and_titles_have_room_in_one_column():
    """Rows are farther apart than a line of text of 6 pt takes, 2.4 mm."""
    kinds = ("L2_rubber_opentoclose", "T1_plastic_freefloating")
    records = [f"{kinds[k % 2]}_test{k}_{'ab'[k // 6]}" for k in range(11)]
    quantities = ("zero_crossing_open", "zero_crossing_closed", "half_hysteresis")
    met = verdict("fitted", 0.1, 1.0, "agrees")
    families = [
        ShownFamily(f"force_{k}", "N", "closing", *rows(some, "force", 2.0), 0.1, met)
        for k, some in enumerate((records[:3], records[3:6], records[6:9], records[9:]))
    ]
    families += [
        ShownFamily(name, "mm", "", *rows(records, name, 9.0, np.zeros(1)), 1.0)
        for name in quantities
    ]
    groups = {name: name for name in records}
    with style.page_width(89):
        figure = measured_set(replace(shown(), families=families, groups=groups))
        assert not [fault for fault in faults(figure) if "overlap" in fault]
    figure.canvas.draw()
    named = [axes for axes in figure.axes if "test0" in _named(axes)]
    assert named
    for axes in named:
        high = axes.get_window_extent().height / figure.dpi * 25.4
        assert high / len(records) > 2.4


def _named(axes: Axes) -> str:
    return " ".join(label.get_text() for label in axes.get_yticklabels())
