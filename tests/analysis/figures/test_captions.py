"""Templates: numbers with their digits, and no name that nobody gave."""

from pathlib import Path

import pytest

from analysis.figures.captions import filled, listed, spanned


def test_a_template_is_one_paragraph_with_the_digits_it_asks_for():
    text = filled(
        "S is\n{{ S | u(0.00017) }},\nway {{ w | sig(2) }} mm", {"S": 0.86567, "w": 3}
    )
    assert text == "S is 0.86567(17), way 3.0 mm"


def test_a_name_that_nobody_gave_is_refused():
    with pytest.raises(ValueError, match="'missing' is undefined"):
        filled("{{ missing }}", {})


def test_words_are_listed_as_people_do():
    assert listed("abc") == "a, b and c"
    assert listed("ab") == "a and b"
    assert listed("a") == "a"


def test_panels_are_named_by_their_letters():
    said = [spanned("abcd"[:many]) for many in (1, 2, 4)]
    assert said == ["**a**", "**a** and **b**", "**a** to **d**"]


@pytest.mark.parametrize(
    "template",
    [
        "{{ cycler.__init__.__globals__.os.mkdir('exploded') }}",
        "{{ S.__class__.__mro__[1].__subclasses__() }}",
        "{% for word in words %}{{ words.append(1) }}{% endfor %}",
        "{{ range(1000000000) | list }}",
    ],
)
def test_a_template_runs_nothing(template, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ValueError, match=r"unsafe|undefined|too big"):
        filled(template, {"S": 0.5, "words": [1]})
    assert not Path("exploded").exists()


@pytest.mark.parametrize("template", ["{{ S", "{{ 1 / 0 }}", "{{ S | nosuch }}"])
def test_a_template_that_is_none_is_refused(template):
    with pytest.raises(ValueError, match=r"unexpected|zero|nosuch"):
        filled(template, {"S": 0.5})
