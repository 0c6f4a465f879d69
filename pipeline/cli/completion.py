"""What a shell offers after a command: names, keys and values."""

import shlex
from collections.abc import Iterable, Sequence

import typer

from pipeline.config.config_files import case_names, study_names
from pipeline.figures.figure_names import figure_names
from pipeline.terminal import InputError


def studies() -> list[str]:
    """The studies of conf/study."""
    return _plain(study_names())


def figures() -> list[str]:
    """The names of all figures."""
    return _plain(figure_names())


def overrides(context: typer.Context, incomplete: str) -> list[str]:
    """case=NAME, then each key of that case with its value."""
    whole, before = _before(context.params.get("words") or (), incomplete)
    begun = before + incomplete
    found = _plain(word for word in _overrides(whole) if word.startswith(begun))
    return [word.removeprefix(before) for word in found]


def _plain(words: Iterable[str]) -> list[str]:
    """Those that a shell, which writes them as they are, does not run or expand."""
    return [word for word in words if shlex.quote(word) == word]


def _before(given: Sequence[str], incomplete: str) -> tuple[list[str], str]:
    """Whole overrides, and what stands before `incomplete` in its own.

    For bash, a word ends before = and after it.
    """
    whole: list[str] = []
    for word in given:
        if whole and (word == "=" or whole[-1].endswith("=")):
            whole[-1] += word
        else:
            whole.append(word)
    if whole and whole[-1].endswith("="):
        return whole[:-1], whole[-1]
    if whole and "=" not in whole[-1] and not incomplete:  # Typer drops a last =
        return whole[:-1], whole[-1] + "="
    return whole, ""


def _overrides(whole: Sequence[str]) -> list[str]:
    if not any(word.startswith("case=") for word in whole):
        return [f"case={name}" for name in case_names()]
    from pipeline.config.hydra import Composer, flat

    try:
        case = Composer().outline("simulate", whole)["case"]
    except InputError:
        return []
    leaves = {key: value for key, value in flat(case, "case") if key[-1] != "_"}
    # with a second word that begins as the first, a shell adds no blank after =
    return [
        f"{key}={text}" for key, value in leaves.items() for text in ("", _yaml(value))
    ]


def _yaml(value: object) -> str:
    return str(value).lower() if value in (None, True, False) else str(value)
