"""Many configurations from one start of Hydra: each as it is alone."""

import re

import pytest

from pipeline.config.hydra import Composer
from pipeline.config.workflow_file import read_workflow
from pipeline.terminal import InputError
from pipeline.workflow.plan import named_simulations

FOLDED = ["case=single_fold"]
WORDS = (FOLDED, ["case=box"], [*FOLDED, "record_every=3"], [*FOLDED, "+case.a=1"])


def test_what_is_composed_after_others_is_what_is_composed_alone():
    composer = Composer()
    together = [composer.compose("simulate", words) for words in (*WORDS, *WORDS)]
    alone = []
    for words in WORDS:
        composer = Composer()
        alone.append(composer.compose("simulate", words))
    assert together == [*alone, *alone]
    assert together[2] == {**together[0], "record_every": 3}
    assert "a" not in together[4]["case"]


def test_a_word_for_hydra_itself_is_heeded_between_others():
    composer = Composer()
    words = ["hydra/job_logging=default", *FOLDED]
    plain = composer.compose("simulate", FOLDED)
    assert composer.compose("simulate", words) == plain
    assert composer.compose("simulate", FOLDED) == plain


@pytest.mark.parametrize("word", ["hydra.run.dir=here", "+hydra.mode=MULTIRUN"])
def test_a_setting_of_hydra_is_no_word_of_a_case(word):
    """It was taken, and nothing came of it."""
    composer = Composer()
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
def test_a_file_of_one_s_own_has_one_name_for_every_case(case, key):
    words = [f"case={case}"]
    keys = ("case.path", key, "case.path")
    composer = Composer()
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
    with pytest.raises(InputError, match="give case"):
        composer.compose("simulate", both)


def test_a_named_run_of_a_case_composed_before_is_what_hydra_composes(monkeypatch):
    named = [w for w in named_simulations(read_workflow()).values() if len(w) > 1]
    named += [["case=box", "case.phases.0.increments=3", "case.contact.ke=1"]]
    composer = Composer()
    once = [composer.compose("simulate", words) for words in named]
    composer = Composer()
    monkeypatch.setattr("pipeline.config.hydra._sets_a_value", lambda _: False)
    assert once == [composer.compose("simulate", words) for words in named]


def test_a_word_that_no_case_takes_is_refused_alike_after_others():
    said = []
    for before in ([], [FOLDED]):
        composer = Composer()
        for words in before:
            composer.compose("simulate", words)
        with pytest.raises(InputError) as caught:
            composer.compose("simulate", [*FOLDED, "case.contact.radus=3"])
        said.append(str(caught.value))
    assert said[0] == said[1]
    assert "has no key 'radus'" in said[0]
