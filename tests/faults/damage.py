"""Ways to damage a good file: its bytes, or the tree that its text describes."""

import copy
import json
import random
from typing import Any

import yaml
from hypothesis import strategies as st

SCRAPS = [
    b"", b"9" * 18, b"-1", b"0", b"nan", b"1e999", b"1e18", b"-1e-320", b"\n", b"\0",
    b"[]", b"{}", b"null", b",", b"\xff", b"true", b'"', b"[[[[", b"&a [*a]", b"!!",
    b"/", b"<", b"*a", b"[*a,*a]", b"&a ", b"\xff\xff\xff\x7f", b"\0\0\xc0\x7f",
]  # fmt: skip
HEAD = 600  # bytes, in which files say most of what they are
VALUES: list[Any] = [
    None, True, 0, 1, -1, 5000, 10**6, 10**17, 0.0, 1e-9, 1e-320, 1e30, 1e300, -1e308,
    float("nan"), float("inf"), "", "a", "${x}", "..", "\0", [], {}, [[]], [0, 0],
    [0, 0, 0], [[0, 0]], [[0, 0, 0], [0, 0, 1e-300]], {"a": 1}, "mm", "inch", 90,
]  # fmt: skip


@st.composite
def damaged(draw: st.DrawFn, good: list[bytes]) -> bytes:
    """A good file with words replaced, removed, doubled or cut off."""
    content = draw(st.sampled_from(good))
    for _ in range(draw(st.integers(1, 4))):
        start = draw(st.integers(0, draw(st.sampled_from([len(content), HEAD]))))
        stop = start + draw(st.integers(0, 12))
        put = draw(
            st.one_of(
                st.sampled_from(SCRAPS),
                st.binary(max_size=8),
                st.just(content[stop : stop + 40]),
            )
        )
        stop = draw(st.sampled_from([stop, start + len(put)]))
        content = content[:start] + put + content[stop:]
    if draw(st.integers(0, 9)) == 0:
        content = content[: draw(st.integers(0, len(content)))]
    return content


def _places(tree: Any) -> list[tuple[Any, Any]]:
    """Each mapping or list within a tree, with a key of it."""
    pairs: Any = (
        tree.items() if isinstance(tree, dict)
        else enumerate(tree) if isinstance(tree, list) else ()
    )  # fmt: skip
    found = [(tree, key) for key, _ in pairs]
    return found + [place for owner, key in found for place in _places(owner[key])]


def edit(content: bytes, suffix: str, chance: random.Random) -> bytes:
    """A file with values replaced, removed, doubled, scaled or moved.

    Raises
    ------
    yaml.YAMLError
        The content is no tree.
    """
    tree = yaml.safe_load(content)
    for _ in range(chance.randint(1, 3)):
        places = _places(tree)
        if not places:
            break
        owner, key = chance.choice(places)
        value = owner[key]
        way = chance.choice(["put", "put", "remove", "double", "scale", "move"])
        if way == "remove":
            del owner[key]
        elif way == "double" and isinstance(owner, list):
            owner.insert(key, copy.deepcopy(value))
        elif way == "scale" and type(value) in (int, float):
            owner[key] = value * chance.choice([-1, 0.5, 1e-9, 1e9, 1.0001])
        elif way == "move":
            other, at = chance.choice(places)
            owner[key] = copy.deepcopy(other[at])
        else:
            owner[key] = copy.deepcopy(chance.choice(VALUES))
    if suffix == ".yaml":
        return yaml.safe_dump(tree, allow_unicode=True).encode()
    return json.dumps(tree).encode()


@st.composite
def edited(draw: st.DrawFn, good: list[bytes], suffix: str) -> bytes:
    """A good file with some of its values edited."""
    chance = draw(st.randoms(use_true_random=False))
    return edit(draw(st.sampled_from(good)), suffix, chance)
