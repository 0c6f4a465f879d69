"""What the folders of conf hold: names, each with what its file says of itself."""

import re
from collections.abc import Iterable
from difflib import get_close_matches
from pathlib import Path

from pipeline.terminal.errors import InputError
from pipeline.terminal.names import no_such

CONF = Path("conf")
PLAIN = re.compile(r"[\w-]+(,[\w-]+)*")  # names as they stand; more is Hydra's to read


def _files(kind: str) -> list[Path]:
    """Those that end: no pipe and no device."""
    return sorted(p for p in (CONF / kind).glob("*.yaml") if p.is_file())


def first_remark(path: Path) -> str:
    """The remark in the first line of a YAML file; empty where there is none."""
    with path.open(encoding="utf-8", errors="replace") as file:
        line = file.readline(1000).strip()
    return line.removeprefix("#").strip() if line.startswith("#") else ""


def listed(kind: str) -> dict[str, str]:
    """The files of conf/<kind> by name, each with its first remark."""
    return {path.stem: first_remark(path) for path in _files(kind)}


def case_names() -> list[str]:
    """The cases that conf/case holds."""
    return [path.stem for path in _files("case")]


def study_names() -> list[str]:
    """The studies that conf/study holds."""
    return [path.stem for path in _files("study")]


def check_cases(words: Iterable[str]) -> None:
    """Refuse a word case=NAME, or case=NAME,NAME, that names what conf/case lacks.

    So is a word that takes the case out, or a value of it that says nothing.
    """
    words = list(words)
    if sum(word.startswith("case=") for word in words) > 1:
        raise InputError("two cases are named: leave all but one out")
    for word in words:
        key, equals, value = word.partition("=")
        if key == "~case":
            raise InputError(f"{word}: a case is needed: leave the word out")
        if key.startswith("case.") and equals and not value:
            raise InputError(f"{word} says no value: write {word}VALUE, null for none")
        if key != "case":
            continue
        if "/" in value and not PLAIN.fullmatch(value):
            name = Path(value).stem
            if name in case_names():
                raise InputError(f"{word} is a path: write case={name}")
            raise no_such("conf/case has no case", name, case_names())
        if equals and not value:
            raise no_case(words)
        if PLAIN.fullmatch(value):
            for name in value.split(","):
                if name not in case_names():
                    raise no_such("conf/case has no case", name, case_names())


def no_case(words: Iterable[str]) -> InputError:
    """The refusal of words that name no case; one may be a case without `case=`."""
    names = case_names()
    for word in words:
        near = get_close_matches(word.rpartition("=")[2], names, 1)
        if near and not word.startswith("case."):
            return InputError(f"no case is named: did you mean case={near[0]}?")
    return InputError(f"no case is named: add case=<one of {', '.join(names)}>")
