"""Refused words of a command line: one line, with the known keys."""

import pytest

from pipeline.config.hydra import Composer
from pipeline.terminal import InputError

REFUSED = [
    (
        "case.tolerence=1",
        r"case has no key 'tolerence': did you mean tolerance\? it has .*structure",
    ),
    ("case.balls=1", "case has no key 'balls': .*it has .*ball_radius"),
    ("gruop=3", "no key 'gruop': .*it has record_every, case"),
    ("foo", "^foo has no value: write KEY=VALUE$"),
    ("case.target.radius", "has no value: write KEY=VALUE$"),
    ("=3", "^=3: the configuration has no key '': it has"),
    ("case.supports=[[0,1", "cannot be read: write each KEY=VALUE as one word"),
    ("case.target@foo=3", "case has no key 'target@foo'"),
    ("/rod/limb=xx", "cannot be read"),
    ("~case.nothing", "case has no key 'nothing'"),
    ("case.target.radius.x=1", "case.target.radius is .* and has no keys"),
]


@pytest.mark.parametrize(("word", "message"), REFUSED)
def test_the_message_for_an_unknown_key_lists_the_known_ones(word, message):
    composer = Composer()
    with pytest.raises(InputError, match=message) as caught:
        composer.compose("simulate", ["case=triangles_circle", word])
    assert "\n" not in str(caught.value)
    assert "verride" not in str(caught.value)


def test_entries_of_a_list_are_counted():
    composer = Composer()
    with pytest.raises(InputError, match="has 1 entry"):
        composer.compose("simulate", ["case=miura", "case.phases.9.fraction=0.9"])
