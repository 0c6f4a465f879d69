"""The cases of conf/case as Hydra composes them."""

from functools import cache
from pathlib import Path
from typing import Any

from hydra import compose, initialize_config_dir
from omegaconf import OmegaConf

CONF = Path(__file__).parents[2] / "conf"
NAMES = sorted(path.stem for path in (CONF / "case").glob("*.yaml"))


@cache
def _composed(name: str) -> Any:
    with initialize_config_dir(str(CONF), version_base="1.3"):
        return compose("simulate", [f"case={name}"]).case


def config_of(name: str) -> dict[str, Any]:
    """A case as plain data, with ??? where a value must be given."""
    config = OmegaConf.to_container(_composed(name))
    assert isinstance(config, dict)
    for part in list(config.values()):  # one of them reads the file of the case
        if isinstance(part, dict) and "path" in part:
            file = config.pop("path", None)
            if part["path"] == "${case.path}":
                part["path"] = file or "???"
    return {str(key): value for key, value in config.items()}


def first_line(name: str) -> str:
    """The comment that says what a case is."""
    text = (CONF / f"case/{name}.yaml").read_text(encoding="utf-8")
    return text.splitlines()[0]
