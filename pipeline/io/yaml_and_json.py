"""JSON and YAML files of users: read safely, recognised, errors with their place.

YAML is checked before it is read: a few lines can stand for billions of values (`a: &a
[x, x]`, `b: &b [*a, *a]`, ...).
"""

import contextlib
import json
from codecs import BOM_UTF16_BE, BOM_UTF16_LE
from pathlib import Path

import yaml

from pipeline.config.config_files import located
from pipeline.config.hydra import hydra_errors
from pipeline.runs.atomic_files import check_ends
from pipeline.terminal import InputError, nearest, refusing

MOST_UNFOLDED = 100_000  # values beyond those that are written: some 10 s, 100 MB
LARGEST_YAML = 16_000_000  # bytes of a file, some minutes
LETTERS = 64  # of a text, which count as one more value
DEEPEST = 40  # of lists and mappings within each other: OmegaConf reads twice as many
READER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # the first is not always there


def check_aliases(path: Path) -> None:
    """Refuse a YAML file that unfolds too far, is too deep or names other objects."""
    if path.stat().st_size > LARGEST_YAML:
        raise InputError(
            f"{path} has more than 16 MB: put long tables into CSV or JSON files"
        )
    # The reader that follows refuses what is not YAML.
    with path.open("rb") as file, contextlib.suppress(yaml.YAMLError):
        _check(path, file.read())


def _check(path: Path, content: bytes) -> None:
    known: dict[str, tuple[int, int]] = {}  # size and depth by the name of an anchor
    within: list[tuple[str | None, int, int]] = [(None, 0, 0)]
    written = 0
    for event in yaml.parse(content, Loader=READER):
        mark = event.start_mark
        where = f"{path}, line {mark.line + 1 if mark else 0}"
        tag = getattr(event, "tag", None)
        if tag not in (None, "!"):
            raise InputError(f"{where}: the tag {tag} is not supported: remove it")
        if isinstance(event, yaml.CollectionStartEvent):
            written += 1
            within.append((event.anchor, 1, 1))
            continue
        if isinstance(event, yaml.ScalarEvent):
            if event.value and len(within) == 1:
                raise InputError(f"{path} has no keys: give lines of `key: value`")
            size, depth = 1 + len(event.value) // LETTERS, 0
            written += size
            anchor = event.anchor
        elif isinstance(event, yaml.AliasEvent):
            if any(event.anchor == anchor for anchor, _, _ in within):
                name = f"*{event.anchor}"
                raise InputError(f"{where}: alias {name} contains itself: remove it")
            size, depth = known.get(str(event.anchor), (0, 0))
            anchor = None
        elif isinstance(event, yaml.CollectionEndEvent):
            anchor, size, depth = within.pop()
        else:
            continue
        if anchor:
            known[anchor] = size, depth
        above, values, deep = within[-1]
        within[-1] = above, values + size, max(deep, depth + 1)
    _, values, depth = within[0]
    if values - written > MOST_UNFOLDED:
        raise InputError(
            f"{path}: its aliases (*name) expand to {values - written:,} values, more "
            f"than {MOST_UNFOLDED:,}: use fewer aliases"
        )
    if depth > DEEPEST + 1:
        raise InputError(
            f"{path} is nested too deep: use at most {DEEPEST} levels of lists and "
            "mappings"
        )


LARGEST_TEXT = 200_000_000  # bytes of a text
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
            "name the file .yaml if it contains YAML"
        ) from None
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None
    except RecursionError:
        raise ValueError(f"{path} is nested too deep: give a {what}") from None
    if not isinstance(content, dict):
        raise ValueError(f"{path} is not a {what}: give an object with {holds}")
    if holds in KINDS and holds.strip("`") not in content:
        for key, (kind, case) in KINDS.items():
            if key.strip("`") in content:
                raise ValueError(f"{path} is a {kind}: case={case} reads it")
    return content


def read_text(path: str, what: str, form: str = "") -> str:
    """The text of a file that is to be `what`, in `form`."""
    check_ends(Path(path))
    if Path(path).is_file() and Path(path).stat().st_size > LARGEST_TEXT:
        raise InputError(f"{path} has more than 200 MB: give a smaller {what}")
    try:
        content = Path(path).read_bytes()
        wide = content.startswith((BOM_UTF16_LE, BOM_UTF16_BE))
        return content.decode("utf-16" if wide else "utf-8-sig")
    except OSError as error:
        raise ValueError(f"{path}: {error.strerror}: give a {what}") from None
    except UnicodeDecodeError:
        raise ValueError(f"{path} is not a text file: give a {what}{form}") from None


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
        raise ValueError(f"number {text[:18]}... is too long: give up to 18 digits")
    return int(text)


def _each_key_once(pairs: list[tuple[str, object]]) -> dict[str, object]:
    content = dict(pairs)
    if len(content) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"the key `{twice}` appears twice: give it once")
    return content


DRAWINGS = (".fold", ".cp", ".svg")
SUFFIXES = (*DRAWINGS, ".yaml", ".yml", ".json", ".dxf", ".urdf")
SAYS = {
    "structure_file": "brings it to its target",
    "loaded_file": "finds its equilibrium",
    "mechanism_motion": "moves it",
    "fold_file": "folds it",
}


def is_file_name(word: str) -> bool:
    """Whether a word of a command line names a file that a case could read."""
    return Path(word).suffix.lower() in SUFFIXES or Path(word).is_file()


def case_of(path: str) -> str:
    """The name of the case that reads a file.

    Raises
    ------
    InputError
        for a file that is not there, of another kind, or that several cases read
    """
    file = Path(path)
    if not file.is_file():
        raise InputError(f"the file {path} does not exist: {nearest(file)}")
    suffix = file.suffix.lower()
    if suffix not in SUFFIXES:
        raise InputError(
            f"{path}: {suffix or 'suffixless'} files are not supported: give one of "
            f"{', '.join(SUFFIXES)}"
        )
    if suffix in DRAWINGS:
        return "fold_file"
    if suffix == ".urdf":
        return "structure_file"
    with refusing(ValueError):
        return _of_drawing(path) if suffix == ".dxf" else _of_entries(path)


def _of_drawing(path: str) -> str:
    """A crease pattern has mountains or valleys, a mechanism points that are held."""
    from pipeline.io.dxf_file import dxf_creases, read_dxf

    with located(path):
        is_held = len(read_dxf(path).points) > 0
    try:
        is_folded = bool({"M", "V"} & set(dxf_creases(path)["edges_assignment"]))
    except ValueError:  # of lines that no pattern has
        is_folded = False
    if is_held == is_folded:
        both = "both" if is_held else "neither"
        found = f"has {both} creases (red, blue) and held points"
        raise _undecided(path, found, ["fold_file", "structure_file"])
    return "fold_file" if is_folded else "structure_file"


def _of_entries(path: str) -> str:
    kinds = {key.strip("`"): case for key, (_, case) in KINDS.items()}
    entries = read_entries(path, "file of a case", " or ".join(KINDS))
    if "defaults" in entries or "_target_" in entries:
        raise ValueError(
            f"{path} is a configuration file: give case={Path(path).stem}, or the case "
            "that uses it"
        )
    found = [case for key, case in kinds.items() if key in entries]
    if len(found) != 1:
        keys = ", ".join(KINDS)
        many = "several" if found else "none"
        raise ValueError(
            f"{path} has {many} of {keys}: a structure, rod or FOLD file has one"
        )
    if found != ["structure_file"]:
        return found[0]
    from pipeline.io.structure_file import LOADING  # imports a solver

    evidence = {
        "structure_file": [key for key in ("goals", "target") if entries.get(key)],
        "loaded_file": [key for key in LOADING if entries.get(key)],
        "mechanism_motion": [key for key in ("masses",) if entries.get(key)],
    }
    if evidence["loaded_file"]:  # goals are what its springs hang on
        evidence["structure_file"] = []
    cases = [case for case, keys in evidence.items() if keys]
    if len(cases) > 1:
        raise _undecided(
            path, f"has {' and '.join(evidence[c][0] for c in cases)}", cases
        )
    return cases[0] if cases else "structure_file"


def _undecided(path: str, found: str, cases: list[str]) -> ValueError:
    choices = " or ".join(f"case={case} ({SAYS[case]})" for case in cases)
    return ValueError(f"{path} {found}: write {choices}, with case.path={path}")
