"""The edge to Hydra: compose a configuration, say what is wrong with it.

`DictConfig` ends here: callers get plain containers and frozen dataclasses.
"""

import copy
import os
import re
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from pipeline.config.checking import did_you_mean
from pipeline.config.listed import CONF, check_cases
from pipeline.config.words import refusal_of, without_value
from pipeline.terminal.errors import InputError

if TYPE_CHECKING:
    from yaml.error import MarkedYAMLError

OWN_FILE = "${case.path}"  # of a part of a case
ABSENT = object()  # no value at all, not even null


def conf_directory() -> Path:
    """The absolute path of conf, which Hydra needs."""
    if not CONF.is_dir():
        raise InputError(
            f"no folder {CONF} in {Path.cwd()}: run from the project's own folder"
        )
    return CONF.resolve()


def said_by(error: BaseException) -> str:
    """What Hydra or OmegaConf says of a configuration, on one line, without advice."""
    if not str(error) and error.__cause__:
        return said_by(error.__cause__)
    if type(error).__name__ == "MissingMandatoryValue":
        return without_value(str(getattr(error, "full_key", "")))
    lines = [line.strip() for line in str(error).splitlines()]
    advice = ("full_key", "object_type", "See https", "Set ")
    said = " ".join(line for line in lines if line and not line.startswith(advice))
    if type(error).__name__.startswith(("Interpolation", "GrammarParse")):
        place = getattr(error, "full_key", "")
        return f"{place}: {said}: write the value itself, or the name of one"
    return said.partition(" Config search path:")[0]


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
        raise InputError(said_by(error)) from error
    except UnicodeDecodeError as error:
        raise InputError(
            f"{_holding(error.object)} is not UTF-8: save it so"
        ) from error
    except RecursionError as error:
        raise InputError(
            "files of conf name each other in their defaults, without an end: take "
            "one of these lines out"
        ) from error
    except MarkedYAMLError as error:
        raise InputError(_said_of_yaml(error)) from error
    except YAMLError as error:  # a character that no text holds
        file = _shown(getattr(error, "name", "?"))
        raise InputError(f"{file} is not YAML: {str(error).splitlines()[0]}") from error
    except OSError as error:
        if error.errno is not None:  # OmegaConf's own has no number, nor the file
            raise
        raise InputError(
            f"a file of conf is no mapping, but {str(error).rpartition(': ')[2]}: "
            "give lines of `key: value`"
        ) from error


def _holding(part: bytes) -> str:
    """The file of conf that these bytes were read of."""
    files = (path for path in sorted(CONF.rglob("*.yaml")) if path.is_file())
    found = (str(path) for path in files if part in path.read_bytes())
    return next(found, "a file of conf")


def _said_of_yaml(error: "MarkedYAMLError") -> str:
    """Which line of which file is no YAML, and why."""
    mark = error.problem_mark or error.context_mark
    file, line = ("?", 0) if mark is None else (_shown(mark.name), mark.line + 1)
    problem = error.problem or ""
    if "duplicate key" in problem:
        key = problem.removeprefix("found duplicate key ")
        return f"{file}, line {line}: {key!r} appears twice: rename or remove one"
    return f"{file} is not YAML: line {line}: {problem}"


def _shown(file: str) -> Path:
    """A file as a person in this folder would name it."""
    path = Path(file)
    return path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path


def check_settings() -> None:
    """Refuse a file of conf that chooses what Hydra runs beside a case."""
    from omegaconf import OmegaConf

    for path in sorted(CONF.rglob("*.yaml")):
        if not (path.is_file() and re.search(rb"^hydra *:", path.read_bytes(), re.M)):
            continue
        with hydra_errors():
            block: Any = OmegaConf.select(OmegaConf.load(path), "hydra") or {}
        for key in ("callbacks", "launcher", "sweeper"):
            if block.get(key) not in (None, {"params": {}}):
                raise InputError(
                    f"{path} sets hydra.{key}: type such settings, as in "
                    f"hydra/{key}=NAME, and take them out of the file"
                )


@contextmanager
def told_words(name: str, words: Sequence[str]) -> Iterator[None]:
    """As `hydra_errors`; a word that is the reason is told with what would be taken."""
    try:
        with hydra_errors():
            yield
    except (InputError, ValueError) as error:
        once = "--multirun" in str(error)  # Hydra was asked for one run
        said = refusal_of(words, _composed_without(name, words), once=once)
        if not said:
            raise
        raise InputError(said) from error


def _composed_without(name: str, words: Sequence[str]) -> dict[str, Any]:
    """What is composed of the case alone; empty where even that cannot be."""
    from hydra import initialize_config_dir

    chosen = [word.partition(",")[0] for word in words if word.startswith("case=")]
    try:
        with _beside(), initialize_config_dir(str(CONF.resolve()), version_base="1.3"):
            return Composer().outline(name, chosen[:1])
    except InputError:
        return {}


@contextmanager
def _beside() -> Iterator[None]:
    """Room for another start of Hydra while one is going on."""
    from hydra.core.global_hydra import GlobalHydra

    held = GlobalHydra.instance().hydra
    GlobalHydra.instance().clear()
    try:
        yield
    finally:
        GlobalHydra.instance().hydra = held


def composed_run(name: str, words: Sequence[str]) -> tuple[dict[str, Any], Any]:
    """conf/<name>.yaml with overrides as plain data, and Hydra's own settings."""
    from hydra import compose, initialize_config_dir
    from omegaconf import OmegaConf

    with initialize_config_dir(str(conf_directory()), version_base="1.3"):
        config = compose(name, overrides=list(words), return_hydra_config=True)
    own = OmegaConf.masked_copy(config, [str(k) for k in config if k != "hydra"])
    return plain_config(own), config.hydra


def composed_file(path: Path) -> dict[str, Any]:
    """A file that is no case, composed by Hydra as cases are, as plain data."""
    from hydra import compose, initialize_config_dir

    if not path.is_file():
        raise InputError(
            f"there is no {path} in {Path.cwd()}: check its name, or run from the "
            "project's own folder"
        )
    folder = str(path.parent.resolve())
    try:
        with (
            hydra_errors(),
            _beside(),
            initialize_config_dir(folder, version_base="1.3"),
        ):
            return plain_config(compose(path.stem))
    except ValueError as error:
        if "defaults must be a list" not in str(error):
            raise
        raise InputError(
            f"{path}: `defaults:` is the list of files that this one is made of: "
            "rename `defaults:` to `shared:`"
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
            there = OmegaConf.select(held, key, default=ABSENT) is not ABSENT
            if not (there or word.is_add()):
                remedy = _near(key, config) or f"; to add it, write +{key}=..."
                raise InputError(f"{word.input_line}: there is no {key}{remedy}")
            OmegaConf.update(held, key, word.value(), merge=False)
        return plain_config(held)


def _near(key: str, config: Mapping[str, Any]) -> str:
    """A question that names what comes close to the first part that is not there.

    Or else where the last part stands elsewhere.
    """
    here: Any = config
    for part in key.split("."):
        if not isinstance(here, Mapping):
            return ""
        if part not in here:
            near = did_you_mean(part, [str(known) for known in here])
            last = key.rpartition(".")[2]
            there = [
                n for n, v in config.items() if isinstance(v, Mapping) and last in v
            ]
            return near or (f", did you mean {there[0]}.{last}?" if there else "")
        here = here[part]
    return ""


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
            if part["path"] == OWN_FILE:
                part["path"] = file
            if part["path"] is None:
                raise InputError(without_value(f"case.{name}.path"))
            if file not in (None, part["path"]):
                raise InputError(
                    f"case.path is {file} and case.{name}.path is {part['path']}: "
                    "write one file, as case.path"
                )
            return


def _resolved(config: Any, *, throw_on_missing: bool) -> dict[str, Any]:
    from omegaconf import OmegaConf

    plain = OmegaConf.to_container(
        config, resolve=True, throw_on_missing=throw_on_missing
    )
    assert isinstance(plain, dict)  # the root of a configuration is a mapping
    return {str(k): v for k, v in plain.items()}


class Composer:
    """Composes configurations; one start of Hydra serves many of them."""

    def __enter__(self) -> Self:
        from hydra import initialize_config_dir

        with hydra_errors():
            self._hydra = initialize_config_dir(
                str(conf_directory()), version_base="1.3"
            )
        self._hydra.__enter__()
        return self

    def __exit__(self, *exception: object) -> None:
        self._hydra.__exit__(*exception)

    def compose(self, name: str, overrides: Sequence[str] = ()) -> dict[str, Any]:
        """conf/<name>.yaml with `overrides`, resolved, as plain data."""
        from hydra import compose

        words = _of_a_case(overrides)
        with told_words(name, words):
            return plain_config(compose(name, overrides=words))

    def sources(self, name: str, overrides: Sequence[str] = ()) -> list[Path]:
        """The files of conf that `compose` reads, relative to it."""
        from hydra.core.global_hydra import GlobalHydra
        from hydra.types import RunMode

        with hydra_errors():
            loader = GlobalHydra.instance().config_loader()
            found = loader.compute_defaults_list(name, list(overrides), RunMode.RUN)
        return [Path(f"{one.config_path}.yaml") for one in found.defaults]

    def outline(self, name: str, overrides: Sequence[str] = ()) -> dict[str, Any]:
        """As `compose`; a case may still wait for a value, which is "???" then."""
        from hydra import compose

        with hydra_errors():
            config = compose(name, overrides=list(overrides))
            return _resolved(config, throw_on_missing=False)

    def variants(
        self, name: str, overrides: Sequence[str], points: Iterable[Mapping[str, Any]]
    ) -> Iterator[dict[str, Any]]:
        """conf/<name>.yaml once for each point, which sets values by dotted name.

        Composing once and setting values costs a hundredth of composing each; where
        nothing but a file is interpolated, plain data is set, at a tenth of that.
        """
        from hydra import compose
        from omegaconf import OmegaConf

        words = _of_a_case(overrides)
        with told_words(name, words):
            base = compose(name, overrides=words)
            left_open = OmegaConf.missing_keys(base)
            plain: Any = None
            text = OmegaConf.to_yaml(base)
            if text.count("${") == text.count(OWN_FILE):
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
                f"{word}: only `morphtrack simulate` takes settings of Hydra, typed: "
                "take it out"
            )
    return list(overrides)


def _set(config: Any, key: str, value: Any) -> None:
    """Set a value that is there already."""
    from omegaconf import OmegaConf
    from omegaconf.errors import OmegaConfBaseException

    try:
        OmegaConf.update(config, key, value, merge=False)
    except OmegaConfBaseException as error:
        raise InputError(
            f"the case has no {key}: add --cfg job to a morphtrack simulate command to "
            "see what it has"
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
