"""YAML files of others that stand for more than can be held, refused before reading.

A few lines can stand for billions of values (`a: &a [x, x]`, `b: &b [*a, *a]`, ...).
"""

import contextlib
from pathlib import Path

import yaml

from pipeline.terminal.errors import InputError

MOST_UNFOLDED = 100_000  # values beyond those that are written: some 10 s, 100 MB
LARGEST = 16_000_000  # bytes of a file, some minutes
LETTERS = 64  # of a text, which count as one more value
DEEPEST = 40  # of lists and mappings within each other: OmegaConf reads twice as many
READER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # the first is not always there


def check_aliases(path: Path) -> None:
    """Refuse a YAML file that unfolds too far, is too deep or names other objects."""
    if path.stat().st_size > LARGEST:
        raise InputError(
            f"{path} has more than 16 MB: put long tables into files of CSV or JSON"
        )
    # The reader that follows tells what is no YAML.
    with path.open("rb") as file, contextlib.suppress(yaml.YAMLError):
        _check(path, file.read())


def _check(path: Path, content: bytes) -> None:
    known: dict[str, tuple[int, int]] = {}  # size and depth by the name of an anchor
    within: list[tuple[str | None, int, int]] = [(None, 0, 0)]
    written = 0
    for event in yaml.parse(content, Loader=READER):
        mark = event.start_mark
        where = f"{path}, line {mark.line + 1 if mark else 0}"
        tag = getattr(event, "tag", None)
        if tag not in (None, "!"):
            raise InputError(f"{where}: the tag {tag} is not read: take it out")
        if isinstance(event, yaml.CollectionStartEvent):
            written += 1
            within.append((event.anchor, 1, 1))
            continue
        if isinstance(event, yaml.ScalarEvent):
            if event.value and len(within) == 1:
                raise InputError(f"{path} is one value: give lines of `key: value`")
            size, depth = 1 + len(event.value) // LETTERS, 0
            written += size
            anchor = event.anchor
        elif isinstance(event, yaml.AliasEvent):
            if any(event.anchor == anchor for anchor, _, _ in within):
                name = f"*{event.anchor}"
                raise InputError(f"{where}: {name} stands within what it names")
            size, depth = known.get(str(event.anchor), (0, 0))
            anchor = None
        elif isinstance(event, yaml.CollectionEndEvent):
            anchor, size, depth = within.pop()
        else:
            continue
        if anchor:
            known[anchor] = size, depth
        above, values, deep = within[-1]
        within[-1] = above, values + size, max(deep, depth + 1)
    _, values, depth = within[0]
    if values - written > MOST_UNFOLDED:
        raise InputError(
            f"{path}: its aliases (*name) stand for {values - written:,} values: at "
            f"most {MOST_UNFOLDED:,} are read"
        )
    if depth > DEEPEST + 1:
        raise InputError(
            f"{path} is nested too deep: at most {DEEPEST} lists and mappings in each "
            "other are read"
        )
