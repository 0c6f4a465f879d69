"""The edge to Hydra: compose a configuration, explain what is wrong with it.

`DictConfig` ends here: callers get plain containers and frozen dataclasses.
"""

import copy
import os
import re
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pipeline.config.config_files import CONF, case_names, check_cases, known_keys
from pipeline.terminal import InputError, close_to, shown_path

if TYPE_CHECKING:
    from yaml.error import MarkedYAMLError


FILE_KEY = "case.path"
# A file, where a case waits for one.
SUCH_AS = {
    "case.structure.path": "conf/structure/four_bar.yaml",
    "case.path": "conf/robot/arch.yaml",
    "case.pattern.path": "mine.svg, which `morphtrack new pattern mine` writes",
    "case.body.path": "a structure file with `springs` and `loads`",
}
FILE_NAMES = {"path", "file"}  # for what other cases call so
SEVERAL = "gives several values: choose one, or add --multirun to run each"
UNREAD = (
    "write each KEY=VALUE as one word; quote values with blanks, brackets or quotation "
    "marks for the shell"
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
            return f"{word} has no value: did you mean case={word}?"
        if "=" not in word and not word.startswith("~"):
            files = sorted(p.name for p in Path().glob("*.*") if p.stem == word)
            meant = f"did you mean {files[0]}?" if files else "write KEY=VALUE"
            return f"{word} has no value: {meant}"
        try:
            read = OverridesParser.create().parse_override(word)
        except HydraException:
            return f"{word} cannot be read: {UNREAD}"
        if once and read.is_sweep_override():
            return f"{word} {SEVERAL}"
        if not config or key.startswith("hydra"):
            continue
        here, unknown = _at(key, config)
        if word.startswith("+") and ("." in key or not unknown):
            if not (unknown or word.startswith("++")):
                return f"{word}: there is a {key} already: write it without +"
            continue
        if unknown:
            return f"{word}: {unknown}"
        if isinstance(here, list) and isinstance(read.value(), Mapping):
            such = f"'{key}=[{{KEY: VALUE}}]'"
            return f"{word}: {key} is a list: write it in [ ], as in {such}"
        if isinstance(here, Mapping) and isinstance(read.value(), list):
            return f"{word}: {key} is a group of keys: write {key}.KEY=VALUE"
    return ""


def without_value(key: str) -> str:
    """The message for a key that needs a value."""
    value = f"FILE, such as {SUCH_AS[key]}" if key in SUCH_AS else "..."
    shown = FILE_KEY if key in SUCH_AS else key
    return f"{key} has no value yet: write {shown}={value}"


def _at(key: str, config: Mapping[str, Any]) -> tuple[Any, str]:
    """The value of a key; of one that has none, what is wrong with it."""
    here: Any = config
    path: list[str] = []
    for part in key.split("."):
        where = ".".join(path) or "the configuration"
        if isinstance(here, Sequence) and not isinstance(here, str):
            if not part.isdecimal() or int(part) >= len(here):
                entries = f"{len(here)} entr{'y' if len(here) == 1 else 'ies'}"
                return None, (f"{where} has {entries}, counted from 0, and no {part}")
            here = here[int(part)]
        elif isinstance(here, Mapping):
            if part not in here:
                remedy = _remedy(part, path, here, config)
                return None, f"{where} has no key {part!r}: {remedy}"
            here = here[part]
        else:
            return None, f"{where} is {here!r} and has no keys: end the key there"
        path.append(part)
    return here, ""


def _remedy(
    part: str, path: list[str], here: Mapping[str, Any], config: Mapping[str, Any]
) -> str:
    """The nearest key, or how to set a default that the case does not list."""
    from pipeline.config.build_objects import parameters_of

    taken = parameters_of(str(here.get("_target_", "")))
    defaults = [name for name in taken if name not in here]
    if part in defaults:
        return f"to add it, write +{'.'.join([*path, part])}=..."
    if not path and part in here.get("case", {}):
        return f"did you mean case.{part}?"
    deeper = [".".join(keys) for keys in _below(config) if keys[-1] == part]
    if len(deeper) == 1:
        return f"did you mean {deeper[0]}?"
    known = [str(key) for key in here if not str(key).startswith("_")] + defaults
    if part in FILE_NAMES and (other := FILE_NAMES.intersection(known)):
        return f"did you mean {'.'.join([*path, *other])}?"
    return known_keys(part, known)


def _below(here: Any) -> Iterator[list[str]]:
    """The keys below a part of a configuration, each with those on the way."""
    if isinstance(here, Mapping):
        for key, value in here.items():
            yield [str(key)]
            yield from ([str(key), *rest] for rest in _below(value))


FILE_REFERENCE = "${case.path}"  # of a part of a case


def message_of(error: BaseException) -> str:
    """The message of Hydra or OmegaConf on one line, without its advice."""
    if not str(error) and error.__cause__:
        return message_of(error.__cause__)
    if type(error).__name__ == "MissingMandatoryValue":
        return without_value(str(getattr(error, "full_key", "")))
    lines = [line.strip() for line in str(error).splitlines()]
    advice = ("full_key", "object_type", "See https", "Set ", "To append")
    text = " ".join(line for line in lines if line and not line.startswith(advice))
    if text.startswith("Could not override 'hydra."):
        key = text.split("'")[1]
        near = close_to(key, ("hydra.run.dir", "hydra.sweep.dir"))
        return f"there is no key {key}: {near or '--hydra-help lists all'}"
    if type(error).__name__.startswith(("Interpolation", "GrammarParse")):
        place = getattr(error, "full_key", "")
        return f"{place}: {text}: write a value, or the name of an existing key"
    return text.partition(" Config search path:")[0]


@contextmanager
def hydra_errors() -> Iterator[None]:
    """Turn whatever Hydra and OmegaConf raise into an InputError of one line."""
    from hydra.errors import HydraException
    from omegaconf.errors import OmegaConfBaseException
    from yaml.error import MarkedYAMLError, YAMLError

    # a list of defaults may leave itself out
    warnings.filterwarnings("ignore", ".*Defaults list is missing `_self_`")
    try:
        yield
    except (HydraException, OmegaConfBaseException) as error:
        raise InputError(message_of(error)) from error
    except UnicodeDecodeError as error:
        raise InputError(
            f"{_holding(error.object)} is not UTF-8: save it as UTF-8"
        ) from error
    except RecursionError as error:
        raise InputError(
            "the defaults lists in conf are circular: remove one of their entries"
        ) from error
    except MarkedYAMLError as error:
        raise InputError(_yaml_message(error)) from error
    except YAMLError as error:  # a character that no text holds
        file = shown_path(Path(getattr(error, "name", "?")))
        raise InputError(f"{file} is not YAML: {str(error).splitlines()[0]}") from error
    except OSError as error:
        if error.errno is not None:  # OmegaConf's own has no number, nor the file
            raise
        raise InputError(
            f"a file in conf/ is {str(error).rpartition(': ')[2]}, not a mapping: give "
            "lines of `key: value`"
        ) from error


def _holding(part: bytes) -> str:
    """The file of conf that has these bytes."""
    files = (path for path in sorted(CONF.rglob("*.yaml")) if path.is_file())
    found = (str(path) for path in files if part in path.read_bytes())
    return next(found, "a file in conf/")


def _yaml_message(error: "MarkedYAMLError") -> str:
    """The file, line and reason of text that is not YAML."""
    mark = error.problem_mark or error.context_mark
    file = shown_path(Path(mark.name if mark else "?"))
    line = mark.line + 1 if mark else 0
    problem = error.problem or ""
    if "duplicate key" in problem:
        key = problem.removeprefix("found duplicate key ")
        return f"{file}, line {line}: {key!r} appears twice: rename or remove one"
    return f"{file} is not YAML: line {line}: {problem}"


def check_settings() -> None:
    """Refuse a file of conf that sets callbacks, a launcher or a sweeper."""
    from omegaconf import OmegaConf

    for path in sorted(CONF.rglob("*.yaml")):
        if not (path.is_file() and re.search(rb"^hydra *:", path.read_bytes(), re.M)):
            continue
        with hydra_errors():
            block: Any = OmegaConf.select(OmegaConf.load(path), "hydra") or {}
        for key in ("callbacks", "launcher", "sweeper"):
            if block.get(key) not in (None, {"params": {}}):
                raise InputError(
                    f"{path} sets hydra.{key}: remove it, and add hydra/{key}=NAME to "
                    "the command"
                )


@contextmanager
def explain_override_error(name: str, words: Sequence[str]) -> Iterator[None]:
    """As `hydra_errors`, with the wrong word and the keys that would be right."""
    try:
        with hydra_errors():
            yield
    except (InputError, ValueError) as error:
        once = "--multirun" in str(error)  # Hydra was asked for one run
        message = refusal_of(words, _composed_without(name, words), once=once)
        if not message:
            raise
        raise InputError(message) from error


def _composed_without(name: str, words: Sequence[str]) -> dict[str, Any]:
    """What is composed of the case alone; empty where even that cannot be."""
    from hydra import initialize_config_dir

    chosen = [word.partition(",")[0] for word in words if word.startswith("case=")]
    try:
        with (
            _other_start(),
            initialize_config_dir(str(CONF.resolve()), version_base="1.3"),
        ):
            return Composer().outline(name, chosen[:1])
    except InputError:
        return {}


@contextmanager
def _other_start(other: Any = None) -> Iterator[None]:
    """Use another start of Hydra, or make room for one, while one is going on."""
    from hydra.core.global_hydra import GlobalHydra

    held = GlobalHydra.instance().hydra
    GlobalHydra.instance().hydra = other
    try:
        yield
    finally:
        GlobalHydra.instance().hydra = held


def composed_file(path: Path) -> dict[str, Any]:
    """A file that is no case, composed by Hydra as cases are, as plain data."""
    from hydra import compose, initialize_config_dir

    if not path.is_file():
        raise InputError(
            f"{Path.cwd()} has no {path}: check the name, or run this in the project's "
            "top folder"
        )
    folder = str(path.parent.resolve())
    try:
        with (
            hydra_errors(),
            _other_start(),
            initialize_config_dir(folder, version_base="1.3"),
        ):
            return plain_config(compose(path.stem))
    except ValueError as error:
        if "defaults must be a list" not in str(error):
            raise
        raise InputError(
            f"{path}: Hydra reads `defaults:` as a list of files; for settings of all "
            "entries rename `defaults:` to `shared:`"
        ) from error


def overridden(config: Mapping[str, Any], words: Sequence[str]) -> dict[str, Any]:
    """`config` with overrides in Hydra's words, each for a value that is there.

    A word with `+` in front adds a value.
    """
    if not words:
        return dict(config)
    from hydra.core.override_parser.overrides_parser import OverridesParser
    from omegaconf import OmegaConf

    with hydra_errors():
        held = OmegaConf.create(dict(config))
        for word in OverridesParser.create().parse_overrides(list(words)):
            key = word.key_or_group
            if word.is_sweep_override() or word.is_delete():
                raise InputError(f"{word.input_line}: give one value, as in {key}=1")
            _, unknown = _at(key, config)
            if unknown and not word.is_add():
                remedy = f"to add it, write +{key}=..."
                raise InputError(f"{word.input_line}: {unknown}; {remedy}")
            OmegaConf.update(held, key, word.value(), merge=False)
        return plain_config(held)


def plain_config(config: Any) -> dict[str, Any]:
    """A composed configuration as plain data, complete."""
    plain = _resolved(config, throw_on_missing=True)
    _put_own_file(plain.get("case"))
    return plain


def _put_own_file(case: Any) -> None:
    """Take `path` out of a case of which a part has it: the part reads the file."""
    if not isinstance(case, dict) or "path" not in case:
        return
    for name, part in case.items():
        if isinstance(part, dict) and "path" in part:
            file = case.pop("path")
            if part["path"] == FILE_REFERENCE:
                part["path"] = file
            if part["path"] is None:
                raise InputError(without_value(f"case.{name}.path"))
            if file not in (None, part["path"]):
                raise InputError(
                    f"case.path is {file}, but case.{name}.path is {part['path']}: "
                    "give case.path only"
                )
            return


def _resolved(config: Any, *, throw_on_missing: bool) -> dict[str, Any]:
    from omegaconf import OmegaConf

    plain = OmegaConf.to_container(
        config, resolve=True, throw_on_missing=throw_on_missing
    )
    assert isinstance(plain, dict)  # the root of a configuration is a mapping
    return {str(k): v for k, v in plain.items()}


def flat(config: Any, name: str = "") -> Iterator[tuple[str, Any]]:
    """The leaves of a configuration with their dotted names."""
    if isinstance(config, Mapping) and config:
        for key, value in config.items():
            yield from flat(value, f"{name}.{key}" if name else str(key))
    elif isinstance(config, list | tuple) and any(
        isinstance(item, Mapping | list | tuple) for item in config
    ):
        for i, value in enumerate(config):
            yield from flat(value, f"{name}.{i}")
    elif name:
        yield name, config


class Composer:
    """Composes configurations; one start of Hydra serves many of them.

    Hydra holds one start for the whole process. A composer sets its own only while it
    composes, so that several serve side by side.
    """

    def __init__(self) -> None:
        from hydra import initialize_config_dir
        from hydra.core.global_hydra import GlobalHydra

        with hydra_errors(), _other_start():
            initialize_config_dir(str(CONF.resolve()), version_base="1.3")
            self._hydra = GlobalHydra.instance().hydra
        self._cases: dict[tuple[str, str], Any] = {}  # composed, by name and word

    def compose(self, name: str, overrides: Sequence[str] = ()) -> dict[str, Any]:
        """conf/<name>.yaml with `overrides`, resolved, as plain data."""
        words = _of_a_case(overrides)
        with explain_override_error(name, words), _other_start(self._hydra):
            return plain_config(self._composed(name, words))

    def _composed(self, name: str, words: Sequence[str]) -> Any:
        """What Hydra composes; a case once, in copies of which words set values."""
        from hydra import compose
        from hydra.core.override_parser.overrides_parser import OverridesParser
        from omegaconf import OmegaConf
        from omegaconf.errors import OmegaConfBaseException

        case, *others = words or [""]
        values = OverridesParser.create().parse_overrides(others)
        if not (case.startswith("case=") and all(map(_sets_a_value, values))):
            return compose(name, overrides=list(words))
        if (name, case) not in self._cases:
            self._cases[name, case] = compose(name, overrides=[case])
        config = copy.deepcopy(self._cases[name, case])
        try:
            for word in values:
                OmegaConf.update(config, word.key_or_group, word.value())
        except OmegaConfBaseException:  # Hydra says what is wrong with the word
            return compose(name, overrides=list(words))
        return config

    def outline(self, name: str, overrides: Sequence[str] = ()) -> dict[str, Any]:
        """As `compose`; a case may still wait for a value, which is "???" then."""
        with hydra_errors(), _other_start(self._hydra):
            config = self._composed(name, overrides)
            return _resolved(config, throw_on_missing=False)

    def variants(
        self, name: str, overrides: Sequence[str], points: Iterable[Mapping[str, Any]]
    ) -> Iterator[dict[str, Any]]:
        """conf/<name>.yaml once for each point, which sets values by dotted name.

        Composing once and setting values costs a hundredth of composing each; where
        nothing but a file is interpolated, plain data is set, at a tenth of that.
        """
        from omegaconf import OmegaConf

        words = _of_a_case(overrides)
        with explain_override_error(name, words):
            with _other_start(self._hydra):
                base = self._composed(name, words)
            left_open = OmegaConf.missing_keys(base)
            plain: Any = None
            text = OmegaConf.to_yaml(base)
            if text.count("${") == text.count(FILE_REFERENCE):
                plain = OmegaConf.to_container(base)
            known: set[str] = set()
            for point in points:
                if plain and known.issuperset(point) and left_open <= point.keys():
                    made = _with_values(plain, point)
                    _put_own_file(made["case"])
                    yield made
                    continue
                config = copy.deepcopy(base)
                for key, value in point.items():
                    _set(config, key, value)
                known |= point.keys()
                yield plain_config(config)


def _of_a_case(overrides: Sequence[str]) -> list[str]:
    """Words that say a case and its values, as Hydra takes them, and nothing else."""
    check_cases(overrides)
    for word in overrides:
        if word.lstrip("+~").startswith("hydra."):
            raise InputError(
                f"{word}: only `morphtrack simulate` takes settings of Hydra: remove it"
            )
    return list(overrides)


def _sets_a_value(word: Any) -> bool:
    """Whether a word of Hydra's names no group, adds no key and takes none away."""
    plain = word.type is not None and word.type.name == "CHANGE"
    dotted = "." in word.key_or_group and word.package is None
    return plain and dotted and not word.is_sweep_override()


def _set(config: Any, key: str, value: Any) -> None:
    """Set a value that is there already."""
    from omegaconf import OmegaConf
    from omegaconf.errors import OmegaConfBaseException

    try:
        OmegaConf.update(config, key, value, merge=False)
    except OmegaConfBaseException as error:
        raise InputError(
            f"the case has no {key}: `morphtrack simulate --cfg job` shows its keys"
        ) from error


def _with_values(plain: Mapping[str, Any], point: Mapping[str, Any]) -> dict[str, Any]:
    """A copy of `plain` that has the values of `point`, given by dotted name."""
    copied = copy.deepcopy(dict(plain))
    for key, value in point.items():
        *path, last = key.split(".")
        place: Any = copied
        for part in path:
            place = place[int(part) if isinstance(place, list) else part]
        place[int(last) if isinstance(place, list) else last] = value
    return copied


def raise_hydra_errors() -> None:
    """Have Hydra's own main raise its errors rather than print them."""
    os.environ["HYDRA_FULL_ERROR"] = "1"
