"""Faults planted in a small figure are found; without them none is."""

import pytest

from analysis.figures.style import page_width, styled
from tests.analysis.figures.test_style import sound
from tests.figure_faults import caption_faults, faults


@pytest.mark.parametrize("width", [89, 183, "slide"])
def test_planted_faults_are_found_and_no_others(width):
    with page_width(width), styled():
        figure, panels = sound()
        assert faults(figure) == []
        panels[0].text(0.5, 1.5, "x", fontsize=5 if width != "slide" else 10)
        panels[0].text(0.5, 1.5, "scatter nan")
        panels[1].set_title("d", loc="left", weight="bold")
        panels[1].set_xlabel("time")
        figure.text(0.99, 0.5, "far too long")
        told = " ".join(faults(figure))
    for words in ("5.0 pt", "overlap", "no number", "a, c, d", "(unit)", "outside"):
        assert words in told


def test_captions_that_an_editor_sends_back():
    good = r"**Rods**, **a** light, **b** to **d** heavy: $2 \times 10^{-5}$ of `1e5`."
    assert caption_faults(good, list("abcd")) == []
    told = caption_faults(good, list("abcde"))
    assert told == ["panel e is drawn or named, not both"]
    for bad in ("A rod.", "**A rod**", "**A** $L.", "**A** {{ of }}.", "**A** 2e-5."):
        assert caption_faults(bad, ["a"]), bad
