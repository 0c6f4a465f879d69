"""Configuration files: which there are, their names, and what is wrong with one."""

import contextlib
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from pipeline.terminal import InputError, close_to, named_nodes, no_such

if TYPE_CHECKING:
    from pydantic import BaseModel
    from pydantic_core import ErrorDetails


Model = TypeVar("Model", bound="BaseModel")

UNKNOWN_KEY = "unknown_key"  # kind of error of pipeline.config.value_types.Entry
# What a value of the wrong kind should have been, by the kind of pydantic's error.
KINDS = {
    "bool_type": "true or false",
    "dict_type": "a mapping",
    "finite_number": "a finite number",
    "float_type": "a number",
    "greater_than": "above {gt}",
    "greater_than_equal": "{ge:g} or more",
    "int_type": "a whole number",
    "less_than": "below {lt}",
    "less_than_equal": "{le:g} or less",
    "list_type": "a list",
    "string_type": "a word",
    "too_short": "a list with one or more entries",
    "tuple_type": "a list",
}


def parts_of(config: Any, where: str = "") -> Iterator[tuple[str, Any]]:
    """All that a configuration holds, each with its place."""
    yield where, config
    if isinstance(config, Mapping):
        for key, value in config.items():
            yield from parts_of(value, f"{where}.{key}")
    elif isinstance(config, Sequence) and not isinstance(config, str):
        for i, value in enumerate(config):
            yield from parts_of(value, f"{where}[{i}]")


def known_keys(key: str, known: list[str]) -> str:
    """The keys closest to one that is unknown, if any, and all of them."""
    return f"{close_to(key, known)} it has {', '.join(known)}".lstrip()


def _place(parts: tuple[int | str, ...]) -> str:
    """A dotted name, with numbers of list entries in brackets; none of kinds of one."""
    named = [p for p in parts if isinstance(p, int) or not p.startswith("[")]
    text = "".join(f"[{p}]" if isinstance(p, int) else f".{p}" for p in named)
    return text.removeprefix(".")


def no_key(key: str, known: list[str]) -> str:
    """The message for a key that is none of `known`."""
    return f"has no key {key!r}: {known_keys(key, known)}"


def refuse_unknown(given: Iterable[str], known: list[str], where: str) -> None:
    """Refuse an unknown key."""
    for key in given:
        if key not in known:
            raise InputError(f"{where} {no_key(key, known)}")


def _kind(error: "ErrorDetails") -> str:
    """What is wrong with the value of an error."""
    kind, context, value = error["type"], error.get("ctx", {}), error["input"]
    if kind == "missing":
        return f"has no {error['loc'][-1]}: add one"
    if kind in ("value_error", UNKNOWN_KEY):
        return str(context["error"])
    if kind == "literal_error":
        choices = context["expected"].replace(" or ", ", ").replace("'", "")
        return f"is {value!r}: choose one of {choices.lstrip(', ')}"
    sound = KINDS[kind].format(**context) if kind in KINDS else error["msg"]
    if kind == "greater_than" and context["gt"] == 0:
        sound = "a positive number"
    return f"must be {sound}, not {value!r}"


def _message(error: "ErrorDetails", file: str) -> str:
    """One error of a model as a line."""
    loc = error["loc"]
    place = loc[:-1] if error["type"] == "missing" else loc
    where = f"{file}: {_place(place)}" if _place(place) else file
    return f"{where} {_kind(error)}"


def checked(model: type[Model], value: Any, file: str, context: Any = None) -> Model:
    """The model that `value`, the content of `file`, describes.

    Parameters
    ----------
    context : what validators of the model are given

    Raises
    ------
    InputError
        with the first thing that is wrong: where it is, its value, what it should be
    """
    from pydantic import ValidationError

    try:
        return model.model_validate(value, context=context)
    except ValidationError as error:
        found = error.errors(include_url=False)
        # A misspelt key leaves another one missing: the first is the one to mend.
        found.sort(key=lambda one: one["type"] != UNKNOWN_KEY)
        raise InputError(_message(found[0], file)) from error


@contextlib.contextmanager
def located(place: str, names: Sequence[str] = ()) -> Iterator[None]:
    """Begin the message of an error with the place, such as a file or a key, once.

    Parameters
    ----------
    names : of the nodes that the message numbers
    """
    try:
        yield
    except ValueError as error:
        message = named_nodes(str(error), names)
        begin = "" if message.startswith(place) else f"{place}: "
        raise ValueError(f"{begin}{message}") from None


ROOT = Path(__file__).parents[2]
PROJECT = Path("conf")  # of the folder in which a command is given
PACKAGED = ROOT / "conf"
CONF = PROJECT if PROJECT.is_dir() else PACKAGED
os.environ.setdefault("MORPHTRACK_CONF", str(PACKAGED))  # for hydra.searchpath
PLAIN = re.compile(r"[\w-]+(,[\w-]+)*")  # names as they stand; more is Hydra's to read


def _files(kind: str) -> list[Path]:
    """Those that end: no pipe and no device."""
    return sorted(p for p in (CONF / kind).glob("*.yaml") if p.is_file())


def first_remark(path: Path) -> str:
    """The remark in the first line of a YAML file; empty where there is none."""
    if not path.is_file():
        return ""
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
    """Refuse a word case=NAME, or case=NAME,NAME, that conf/case does not have.

    A word that removes the case or gives an empty value is refused too.
    """
    words = list(words)
    if sum(word.startswith("case=") for word in words) > 1:
        raise InputError("two cases are named: leave all but one out")
    for word in words:
        key, equals, value = word.partition("=")
        if key == "~case":
            raise InputError(f"{word}: remove it, a simulation needs a case")
        if key.startswith("case.") and equals and not value:
            raise InputError(f"{word} has no value: write {word}VALUE, null for none")
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
    name = "one of `morphtrack list cases`"
    return InputError(f"no case is named: give your FILE, or case=NAME, {name}")


@contextlib.contextmanager
def project_folder(*paths: Path | None) -> Iterator[tuple[Path | None, ...]]:
    """Work where conf is, else where the code is; yield `paths` as seen from there."""
    if PROJECT.is_dir():
        yield paths
        return
    absolute = tuple(path and path.absolute() for path in paths)
    with contextlib.chdir(ROOT):
        yield absolute


SOUND = re.compile(r"\w[\w.\- ]*")
LONGEST = 100  # bytes; file systems hold 255, and other names are made of this one


def folder_name(name: str, where: str) -> str:
    """`name`, refused where it would lead out of its parent folder."""
    if SOUND.fullmatch(name) is None:
        raise InputError(
            f"{where}: {name!r} becomes the name of a folder: use letters, digits, "
            "'_', '-', '.' and blanks only, and begin with a letter or digit"
        )
    if len(name.encode()) > LONGEST:
        raise InputError(
            f"{where}: {name[:20]!r}... becomes the name of a folder: shorten it to "
            f"{LONGEST} bytes"
        )
    return name


def check_folder_names(names: Iterable[str], where: str) -> None:
    """Refuse names that lead out of a folder, and two names of one folder."""
    seen: dict[str, str] = {}
    for name in names:
        other = seen.setdefault(folder_name(name, where).casefold(), name)
        if other != name:
            raise InputError(
                f"{where}: {other!r} and {name!r} differ only in upper and lower case, "
                "which some disks ignore: rename one"
            )
