"""What is said of a name that nothing has: which names come close to it."""

import re
from collections.abc import Collection
from difflib import get_close_matches

from pipeline.terminal.errors import InputError


def close_to(name: str, known: Collection[str]) -> str:
    """A question that offers the names nearest to `name`; empty where none is near."""
    near = get_close_matches(name, known) or _by_a_part(name, known)[:3]
    return f"did you mean {' or '.join(near)}?" if near else ""


def _by_a_part(name: str, known: Collection[str]) -> list[str]:
    """Those that have a word close to `name`, as rod_file,path=arm.yaml has arm."""
    return [k for k in known if get_close_matches(name, re.split(r"[^a-zA-Z0-9_]", k))]


def no_such(said: str, name: str, known: Collection[str]) -> InputError:
    """The refusal of `name`, which is none of `known`.

    Parameters
    ----------
    said : what was looked for and where, such as "conf/case has no case"
    """
    remedy = close_to(name, known) or f"choose one of {', '.join(known) or '(none)'}"
    return InputError(f"{said} {name!r}: {remedy}")
