"""What is said of a name that nothing has: which names come close to it."""

from collections.abc import Collection
from difflib import get_close_matches

from pipeline.terminal.errors import InputError


def close_to(name: str, known: Collection[str]) -> str:
    """A question that offers the names nearest to `name`; empty where none is near."""
    near = get_close_matches(name, known)
    return f"did you mean {' or '.join(near)}?" if near else ""


def no_such(said: str, name: str, known: Collection[str]) -> InputError:
    """The refusal of `name`, which is none of `known`.

    Parameters
    ----------
    said : what was looked for and where, such as "conf/case has no case"
    """
    remedy = close_to(name, known) or f"choose one of {', '.join(known) or '(none)'}"
    return InputError(f"{said} {name!r}: {remedy}")
