"""Many configurations from one start of Hydra: each as it is alone."""

import re

import pytest

from pipeline.config.hydra import Composer
from pipeline.terminal.errors import InputError

FOLDED = ["case=single_fold"]
WORDS = (FOLDED, ["case=box"], [*FOLDED, "record_every=3"], [*FOLDED, "+case.a=1"])


def test_what_is_composed_after_others_is_what_is_composed_alone() -> None:
    with Composer() as composer:
        together = [composer.compose("simulate", words) for words in (*WORDS, *WORDS)]
    alone = []
    for words in WORDS:
        with Composer() as composer:
            alone.append(composer.compose("simulate", words))
    assert together == [*alone, *alone]
    assert together[2] == {**together[0], "record_every": 3}
    assert "a" not in together[4]["case"]


def test_a_word_for_hydra_itself_is_heeded_between_others() -> None:
    with Composer() as composer:
        words = ["hydra/job_logging=default", *FOLDED]
        plain = composer.compose("simulate", FOLDED)
        assert composer.compose("simulate", words) == plain
        assert composer.compose("simulate", FOLDED) == plain


@pytest.mark.parametrize("word", ["hydra.run.dir=here", "+hydra.mode=MULTIRUN"])
def test_a_setting_of_hydra_is_no_word_of_a_case(word: str) -> None:
    """It was taken, and nothing came of it."""
    with Composer() as composer:
        with pytest.raises(InputError, match=f"^{re.escape(word)}: only `morphtrack s"):
            composer.compose("simulate", [*FOLDED, word])
        with pytest.raises(InputError, match="only `morphtrack simulate`"):
            next(composer.variants("simulate", [*FOLDED, word], [{}]))


@pytest.mark.parametrize(
    ("case", "key"),
    [
        ("structure_file", "case.structure.path"),
        ("fold_file", "case.pattern.path"),
        ("loaded_file", "case.body.path"),
        ("mechanism_motion", "case.body.path"),
    ],
)
def test_a_file_of_one_s_own_has_one_name_for_every_case(case: str, key: str) -> None:
    words = [f"case={case}"]
    keys = ("case.path", key, "case.path")
    with Composer() as composer:
        one, other = (
            composer.compose("simulate", [*words, f"{k}=a.yaml"]) for k in keys[:2]
        )
        points = ({k: "a.yaml", "record_every": 1} for k in keys)
        assert list(composer.variants("simulate", words, points)) == [one] * 3
        assert one == other
        assert "path" not in one["case"]
        with pytest.raises(InputError, match=r"no value yet: write case\.path=FILE, "):
            composer.compose("simulate", words)
        both = [*words, f"{key}=a.yaml", "case.path=b.yaml"]
        with pytest.raises(InputError, match="write one file, as"):
            composer.compose("simulate", both)
