"""What an editor would send back of a caption."""

import pytest

from analysis.captions.lint import caption_faults

GOOD = (
    r"**Two rods**, **a** light and **b** to **d** heavy: $2 \times 10^{-5}$ m apart, "
    "0.91119900(10) of `run_1e5`, commit 825e7b7c."
)


@pytest.mark.parametrize(
    ("caption", "letters", "words"),
    [
        ("A rod.", [], "does not begin with a title in bold"),
        ("**A rod**", [], "does not end with a full stop"),
        ("**A rod** of $L.", [], "$ that nothing closes"),
        ("**A rod** of `run.", [], "` that nothing closes"),
        ("**A rod** {{ of }}.", [], "a template that was not filled"),
        ("**A rod**, **a** light.", ["a", "b"], "says nothing of panel b"),
        ("**A rod**, **a**, **c**.", ["a"], "names panel c, which is not there"),
        ("**A rod** of 2.6e-05 m.", [], "2.6e-05 in print"),
        ("**A rod** of nan m.", [], "nan in print"),
        ("**A rod** of 0.12345678 m.", [], "0.12345678 in print"),
    ],
)  # fmt: skip
def test_an_editor_sends_back(caption: str, letters: list[str], words: str) -> None:
    assert caption_faults(caption, letters) == [f"caption: {words}"]


def test_a_good_caption_has_no_fault() -> None:
    assert caption_faults(GOOD, list("abcd")) == []
    assert caption_faults(GOOD, list("abcde")) == ["caption: says nothing of panel e"]
    assert caption_faults("**Sets**, **a** to **ab**.", ["a", "z", "aa", "ab"]) == []
