"""JSON and YAML files that users bring: what is wrong is told with the file's name."""

import json
from codecs import BOM_UTF16_BE, BOM_UTF16_LE
from pathlib import Path

from pipeline.config.hydra import hydra_errors
from pipeline.formats.yaml_aliases import check_aliases
from pipeline.store.files import check_ends
from pipeline.terminal.errors import InputError

LARGEST = 200_000_000  # bytes of a text
YAML = (".yaml", ".yml")
Content = dict[str, object]
KINDS = {  # what a file is by the key that no other has, and the case that reads it
    "`nodes`": ("structure file", "structure_file"),
    "`rods`": ("rod file", "rod_file"),
    "`vertices_coords`": ("crease pattern", "fold_file"),
}


def read_entries(path: str, what: str, holds: str) -> Content:
    """The entries of a file by name, not yet looked at.

    Parameters
    ----------
    what : the file is to be, such as "structure file"
    holds : what such a file holds, for one that is no object
    """
    text = read_text(path, what, " in JSON or YAML")
    try:
        content = _from_yaml(path) if Path(path).suffix in YAML else _from_json(text)
    except json.JSONDecodeError as error:
        raise ValueError(
            f"{path} is not JSON: {error.msg} in line {error.lineno}: correct it, or "
            "name the file .yaml if it holds YAML"
        ) from None
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None
    except RecursionError:
        raise ValueError(f"{path} is nested too deep: give a {what}") from None
    if not isinstance(content, dict):
        raise ValueError(f"{path} is no {what}: give an object with {holds}")
    if holds in KINDS and holds.strip("`") not in content:
        for key, (kind, case) in KINDS.items():
            if key.strip("`") in content:
                raise ValueError(f"{path} is a {kind}: case={case} reads it")
    return content


def read_text(path: str, what: str, form: str = "") -> str:
    """The text of a file that is to be `what`, in `form`."""
    check_ends(Path(path))
    if Path(path).is_file() and Path(path).stat().st_size > LARGEST:
        raise InputError(f"{path} has more than 200 MB: give a {what} of fewer")
    try:
        content = Path(path).read_bytes()
        wide = content.startswith((BOM_UTF16_LE, BOM_UTF16_BE))
        return content.decode("utf-16" if wide else "utf-8-sig")
    except OSError as error:
        raise ValueError(f"{path}: {error.strerror}: give a {what}") from None
    except UnicodeDecodeError:
        raise ValueError(f"{path} is not a text: give a {what}{form}") from None


def _from_json(text: str) -> object:
    return json.loads(text, object_pairs_hook=_each_key_once, parse_int=_integer)


def _from_yaml(path: str) -> object:
    """Plain data; what YAML would put in from elsewhere stays the text it is."""
    from omegaconf import OmegaConf

    check_aliases(Path(path))
    with hydra_errors():
        return OmegaConf.to_container(OmegaConf.load(path), resolve=False)


def _integer(text: str) -> int:
    if len(text) > 18:
        raise ValueError(f"a number is {text[:18]}...: at most 18 digits can be read")
    return int(text)


def _each_key_once(pairs: list[tuple[str, object]]) -> dict[str, object]:
    content = dict(pairs)
    if len(content) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"`{twice}` is there twice: give it once")
    return content
