"""What may stand below `hydra` in a composed configuration: what Hydra ships, no more.

Hydra makes objects of what it finds there (callbacks, launchers, sweepers, handlers of
logs) before a case is looked at, and its own list of what it refuses is not whole. So
every configuration is judged where it is composed, for one run and for each of many,
and no other object is ever named.
"""

import copy
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import Any, ClassVar

import hydra._internal.hydra as start_of_hydra
import yaml
from hydra._internal.config_loader_impl import ConfigLoaderImpl
from hydra.core.config_search_path import ConfigSearchPath
from hydra.core.utils import JobRuntime
from hydra.errors import HydraException
from hydra.plugins.config_source import ConfigResult
from hydra.types import RunMode
from omegaconf import DictConfig, OmegaConf

from pipeline.config.yaml_aliases import guard_yaml
from pipeline.terminal.errors import InputError

HYDRAS = "config_path=hydra/config"  # what its own part is called in the cache
PLUGINS = "hydra._internal.core_plugins"
# Values that Hydra ships, or conf/simulate.yaml gives, by dotted name.
SOUND: dict[str, tuple[object, ...]] = {
    "run.dir": ("results", "outputs/${now:%Y-%m-%d}/${now:%H-%M-%S}"),
    "sweep.dir": ("results", "multirun/${now:%Y-%m-%d}/${now:%H-%M-%S}"),
    "sweep.subdir": (".", "${hydra.job.num}"),
    "output_subdir": (None, ".hydra"),
    "job.chdir": (None, False),
    "launcher._target_": (f"{PLUGINS}.basic_launcher.BasicLauncher",),
    "sweeper._target_": (f"{PLUGINS}.basic_sweeper.BasicSweeper",),
    "sweeper.params": (None,),  # a file's would count as typed
    "searchpath": ([],),
    "callbacks": (None,),
    "job.env_copy": ([],),
}
# What Hydra writes itself, prints, or takes as words: nothing comes of it.
DATA = (
    "help.", "hydra_help.", "job.config.", "job.config_name", "job.id", "job.num",
    "job.override_dirname", "mode", "overrides.", "runtime.", "sweeper.max_batch_size",
    "verbose",
)  # fmt: skip
# What whoever types a command may choose, and no file: Hydra writes over what is in
# other places that it knows.
TYPED = ("run.dir", "job.name")
LOGS = ("hydra_logging", "job_logging")


def _leaves(node: Mapping[str, Any], above: str = "") -> Iterator[tuple[str, Any]]:
    """Values by dotted name; a list is one value, an empty mapping none."""
    for key, value in node.items():
        if isinstance(value, Mapping):
            yield from _leaves(value, f"{above}{key}.")
        else:
            yield f"{above}{key}", value


@cache
def _shipped_logs(kind: str) -> list[Any]:
    """How Hydra can set up a log, in each of the ways that it ships."""
    folder = files("hydra.conf") / "hydra" / kind
    return [yaml.safe_load(file.read_text("utf-8")) for file in folder.iterdir()]


def _unsound(settings: dict[str, Any], typed: Sequence[str]) -> tuple[str, Any] | None:
    """The first setting that is neither shipped, nor data, nor typed."""
    for kind in LOGS:
        log = settings.pop(kind, None)
        if log is not None and log not in _shipped_logs(kind):
            return kind, log
    names = {word.lstrip("+").partition("=")[0] for word in typed}
    for key, value in _leaves(settings):
        sound = key.startswith(DATA) or value in SOUND.get(key, ())
        sound = sound or (key == "job.name" and value == JobRuntime().get("name"))
        if not (sound or _is_typed(key, names)):
            return key, value
    return None


def _is_typed(key: str, names: Collection[str]) -> bool:
    """Whether a setting that may be typed was; of the sweeper's values, all may."""
    if key.startswith("sweeper.params."):
        above = key.split(".")
        ways = (".".join(above[:n]) for n in range(2, len(above) + 1))
        return any(f"hydra.{way}" in names for way in ways)
    return key in TYPED and f"hydra.{key}" in names


def _named(config_name: str | None, choices: Mapping[str, Any]) -> str:
    """The files that a configuration was composed of, as a person would name them."""
    chosen = [
        f"{group}={choice}"
        for group, choice in choices.items()
        if choice is not None and not group.startswith("hydra/")
    ]
    return ", ".join([f"{config_name}.yaml", *chosen])


def _refused(key: str, value: Any, where: str) -> InputError:
    return InputError(
        f"hydra.{key} is {value!r} in {where}: settings of Hydra can run code: none "
        "may differ from what is shipped: remove it"
    )


class _ReadBefore(dict[str, ConfigResult | None]):
    """What one composition reads: copies of what is known, since it changes them."""

    def __init__(self, known: dict[str, ConfigResult]) -> None:
        super().__init__()
        self._known = known

    def __contains__(self, name: object) -> bool:
        return super().__contains__(name) or name in self._known

    def __missing__(self, name: str) -> ConfigResult | None:
        super().__setitem__(name, copy.deepcopy(self._known[name]))
        return self[name]

    def __setitem__(self, name: str, read: ConfigResult | None) -> None:
        super().__setitem__(name, read)
        if read is not None:
            self._known[name] = copy.deepcopy(read)


class _JudgingLoader(ConfigLoaderImpl):
    """Composes as Hydra does, and hands over nothing that names a foreign object.

    One start of Hydra reads a file once, and one process composes once what Hydra adds
    to every configuration of a folder: most of what a composition costs.
    """

    _hydras: ClassVar[
        dict[Any, ConfigResult]
    ] = {}  # its part, by places and what is chosen

    def __init__(self, config_search_path: ConfigSearchPath) -> None:
        super().__init__(config_search_path)
        self._known: dict[str, ConfigResult] = {}  # what was read, by name
        self._in_parts = False

    def load_configuration(
        self,
        config_name: str | None,
        overrides: list[str],
        run_mode: RunMode,
        from_shell: bool = True,
        validate_sweep_overrides: bool = True,
    ) -> DictConfig:
        for word in overrides:
            if "oc.env" in word:
                raise InputError(
                    f"{word}: run.json, MLflow and archives would show a variable of "
                    "yours: write the value itself"
                )
        given = config_name, overrides, run_mode, from_shell, validate_sweep_overrides
        self._in_parts = not any("hydra" in word for word in overrides)
        try:
            config = super().load_configuration(*given)
        except HydraException:  # of a file that chooses other parts of Hydra
            self._in_parts = False
            config = super().load_configuration(*given)
        settings: Any = OmegaConf.to_container(config.hydra, resolve=False)
        unsound = _unsound(settings, overrides)
        if unsound is not None:
            choices = settings["runtime"]["choices"]
            raise _refused(*unsound, _named(config_name, choices))
        return config

    def _process_config_searchpath(
        self, config_name: str | None, parsed_overrides: list[Any], repo: Any
    ) -> None:
        """Refuse other places of configurations, before anything is sought there."""
        repo.cache = _ReadBefore(self._known)
        loaded = repo.load_config(config_path=config_name) if config_name else None
        if loaded is not None and OmegaConf.is_dict(loaded.config):
            found = OmegaConf.select(loaded.config, "hydra.searchpath")
            if found:
                raise _refused("searchpath", found, f"{config_name}.yaml")
        for word in parsed_overrides:
            if word.get_key_element() == "hydra.searchpath":
                raise _refused("searchpath", word.value(), "the command line")
        if loaded is not None and self._in_parts:
            chosen = [one for one in loaded.defaults_list if _is_of_hydra(one)]
            others = [one for one in loaded.defaults_list if one not in chosen]
            loaded.defaults_list = others
            words = tuple(f"{one.group}={one.value}" for one in chosen)
            dict.__setitem__(repo.cache, HYDRAS, self._hydras_part(words))

    def _hydras_part(self, words: tuple[str, ...]) -> ConfigResult:
        """What Hydra adds to a configuration that chooses `words` of it."""
        key = (str(self.config_search_path), words)
        if key not in self._hydras:
            whole = super()._load_configuration_impl(None, [*words], RunMode.RUN)
            part = copy.deepcopy(whole.hydra)
            part._set_parent(None)
            part.overrides.hydra = []  # nobody typed them
            part.job.name = "???"  # of each start its own
            read: Any = self.repository.load_config("hydra/config")
            read.config, read.defaults_list = part, []
            self._hydras[key] = read
        return copy.deepcopy(self._hydras[key])


def _is_of_hydra(default: Any) -> bool:
    return bool(default.is_override() and default.group.startswith("hydra/"))


def guard_hydra() -> None:
    """Have whatever Hydra composes from now on judged; `${oc.env:X}` is no more.

    What else tells of the machine, a configuration loses where its values are resolved.
    """
    guard_yaml()
    start_of_hydra.ConfigLoaderImpl = _JudgingLoader  # type: ignore[attr-defined]
    OmegaConf.clear_resolver("oc.env")
