"""One caption, as LaTeX and as HTML."""

import pytest

from analysis.figures.captions import LATEX, as_html, written

TEXT = (
    r"**A 5 % box.** `up_3`, $\mathcal{S}_{\mathrm{val}} = -1.5 \times 10^{-6}$ "
    "[dJ23] [x]"
)


def test_latex_keeps_mathematics_and_survives_the_rest():
    assert written(TEXT, LATEX) == (
        r"\textbf{A 5 \% box.} \texttt{up\_3}, "
        r"$\mathcal{S}_{\mathrm{val}} = -1.5 \times 10^{-6}$ \cite{dJ23} [x]"
    )


def test_html_has_italics_and_indices_and_no_markup():
    assert as_html(TEXT) == (
        "<b>A 5 % box.</b> <code>up_3</code>, "
        "<i>S</i><sub>val</sub> = −1.5 × 10<sup>−6</sup> [dJ23] [x]"
    )
    assert as_html(r"$\bar \kappa/\bar R_0$") == "κ/<i>R</i><sub>0</sub>"
    assert as_html("a < b") == "a &lt; b"


def test_mathematics_that_html_is_not_told_is_refused():
    with pytest.raises(ValueError, match=r"a caption has \\oint"):
        as_html(r"$\oint$")


def test_what_is_cut_off_is_still_text():
    assert as_html("$x_$") == "<i>x</i><sub> </sub>"
    assert as_html("2 $ and **") == "2 $ and **"


def test_latex_keeps_hyphens():
    assert written("`a --check`", LATEX) == r"\texttt{a -{}-check}"


@pytest.mark.parametrize(
    "mathematics",
    [r"\input{/etc/passwd}", "^^5cinput{/etc/passwd}", r"\write18{date}", r"x\\y"],
)
def test_mathematics_reads_no_file_and_runs_nothing(mathematics):
    with pytest.raises(ValueError, match="a caption has"):
        written(f"a ${mathematics}$", LATEX)


@pytest.mark.parametrize("tex", ["a%b", "a&b", "a#b", "a}b", "{a", "}a{", "a\\"])
def test_mathematics_that_would_not_end_where_it_ends_is_refused(tex):
    with pytest.raises(ValueError, match="a malformed formula"):
        written(f"in ${tex}$ out", LATEX)


def test_latex_text_is_one_line_of_letters_that_are_printed():
    assert written("a\n\n\x07b `c\x85d`", LATEX) == r"a b \texttt{c d}"
