"""Words key=value that a case does not take: which one, why, and what it takes."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from pipeline.config.checking import did_you_mean
from pipeline.config.listed import case_names
from pipeline.terminal.errors import InputError

OWN_FILE = "case.path"
# A file, where a case waits for one.
SUCH_AS = {
    "case.structure.path": "conf/structure/four_bar.yaml",
    "case.path": "conf/robot/arch.yaml",
    "case.pattern.path": "mine.svg, which `morphtrack new pattern mine` writes",
    "case.body.path": "a structure file with `springs` and `loads`",
}
SAME = ({"duration", "lasts"}, {"path", "file"})  # for what other cases call so
SEVERAL = "gives several values: choose one, or add --multirun to run each"
UNREAD = (
    "write one KEY=VALUE a word, a value with blanks, brackets or quotation marks "
    "within those of the shell"
)


def refusal_of(
    words: Iterable[str], config: Mapping[str, Any], *, once: bool = False
) -> str:
    """What is wrong with the first word that cannot be taken; empty where all can.

    Parameters
    ----------
    config : what is composed without these words; empty where nothing is
    once : whether several values of a word are the reason
    """
    from hydra.core.override_parser.overrides_parser import OverridesParser
    from hydra.errors import HydraException

    for word in words:
        key = word.partition("=")[0].lstrip("+~")
        if word in case_names():
            return f"{word} says no value: did you mean case={word}?"
        if "=" not in word and not word.startswith("~"):
            return f"{word} says no value: write KEY=VALUE"
        try:
            read = OverridesParser.create().parse_override(word)
        except HydraException:
            return f"{word} cannot be read: {UNREAD}"
        if once and read.is_sweep_override():
            return f"{word} {SEVERAL}"
        if not config or key.startswith("hydra"):
            continue
        unknown = _unknown(key, config)
        if word.startswith("+") and ("." in key or not unknown):
            if not (unknown or word.startswith("++")):
                return f"{word}: there is a {key} already: write it without +"
            continue
        unknown = unknown or _of_another_kind(key, read.value(), config)
        if unknown:
            return f"{word}: {unknown}"
    return ""


def _of_another_kind(key: str, value: Any, config: Mapping[str, Any]) -> str:
    """What is wrong with keys in place of a list, or a list in place of keys."""
    here: Any = config
    for part in key.split("."):
        here = here[int(part)] if isinstance(here, list) else here[part]
    if isinstance(here, list) and isinstance(value, Mapping):
        return f"{key} is a list: write it in [ ], as in '{key}=[{{KEY: VALUE}}]'"
    if isinstance(here, Mapping) and isinstance(value, list):
        return f"{key} is made of keys of its own: write {key}.KEY=VALUE"
    return ""


def without_value(key: str) -> str:
    """What is said of a key that waits for a value."""
    value = f"FILE, such as {SUCH_AS[key]}" if key in SUCH_AS else "..."
    shown = OWN_FILE if key in SUCH_AS else key
    return f"{key} has no value yet: write {shown}={value}"


def _unknown(key: str, config: Mapping[str, Any]) -> str:
    """What is wrong with a key of no value; empty where there is one."""
    here: Any = config
    path: list[str] = []
    for part in key.split("."):
        where = ".".join(path) or "a simulation"
        if isinstance(here, Sequence) and not isinstance(here, str):
            if not part.isdecimal() or int(part) >= len(here):
                entries = f"{len(here)} entr{'y' if len(here) == 1 else 'ies'}"
                return f"{where} has {entries}, counted from 0: there is no {part}"
            here = here[int(part)]
        elif isinstance(here, Mapping):
            if part not in here:
                return f"{where} has no key {part!r}: {_remedy(part, path, here)}"
            here = here[part]
        else:
            return f"{where} is {here!r} and has no keys"
        path.append(part)
    return ""


def _remedy(part: str, path: list[str], here: Mapping[str, Any]) -> str:
    """The nearest key; of what a case leaves at its default, how it is set."""
    defaults = _left_out(here)
    if part in defaults:
        return f"it stands at its default: write +{'.'.join([*path, part])}=..."
    if not path and part in here.get("case", {}):
        return f"did you mean case.{part}?"
    deeper = [".".join([*path, *below]) for below in _below(here) if below[-1] == part]
    if len(deeper) == 1:
        return f"did you mean {deeper[0]}?"
    known = [str(key) for key in here if not str(key).startswith("_")] + defaults
    for alike in SAME:
        if part in alike and (other := alike.intersection(known)):
            return f"did you mean {'.'.join([*path, *other])}?"
    return f"it knows {', '.join(known)}{did_you_mean(part, known)}"


def _below(here: Any) -> Iterator[list[str]]:
    """The keys below a part of a configuration, each with those on the way."""
    if isinstance(here, Mapping):
        for key, value in here.items():
            yield [str(key)]
            yield from ([str(key), *rest] for rest in _below(value))


def _left_out(here: Mapping[str, Any]) -> list[str]:
    """Parameters of what a part of a case describes that its file does not name."""
    import inspect
    import pydoc

    from pipeline.config.building import check_target

    target = str(here.get("_target_", ""))
    try:
        check_target(target, "case")
    except InputError:  # said where the case is built; nothing foreign is imported here
        return []
    made = pydoc.locate(target)
    if not callable(made):
        return []
    return [n for n in inspect.signature(made).parameters if n not in here]
