"""YAML that is too large, refused before it is built.

A few lines can stand for billions of values (`a: &a [x, x]`, `b: &b [*a, *a]`, ...):
OmegaConf, which reads every file of this project, gives each of them an object.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import omegaconf._utils as of_omegaconf
from yaml import MappingNode, Node, ScalarNode, SequenceNode
from yaml.constructor import ConstructorError

MOST_UNFOLDED = 100_000  # values beyond those that are written: some 10 s, 100 MB
LARGEST = 16_000_000  # bytes of a file, some minutes
NO_MAPPING = "it is {}: give lines of `key: value`"
TOO_DEEP = "it is nested too deep: at most 40 lists and mappings in each other are read"
TOO_LARGE = "it has more than 16 MB: put long tables into files of CSV or JSON"
LETTERS = 64  # of a text, which count as one more value
DEEPEST = 40  # of lists and mappings within each other: Hydra reads twice as many
DIGITS = 4300  # of a whole number: what Python reads
YAMLS = "tag:yaml.org,2002:"
SCALARS = {f"{YAMLS}{kind}" for kind in ("bool", "float", "int", "null", "str")}
PLAIN = {
    ScalarNode: {*SCALARS, f"{YAMLS}merge"},
    SequenceNode: {f"{YAMLS}seq"},
    MappingNode: {f"{YAMLS}map"},
}


def _own_size(node: Node) -> int:
    return 1 + (len(node.value) // LETTERS if isinstance(node, ScalarNode) else 0)


def _parts(node: Node) -> list[Node]:
    if isinstance(node, ScalarNode):
        return []
    pairs = isinstance(node, MappingNode)
    return [part for pair in node.value for part in pair] if pairs else node.value


def _depth(node: Node, known: dict[int, int]) -> int:
    """How deep a node is nested, each alias being what it names."""
    if id(node) not in known:
        depths = (1 + _depth(part, known) for part in _parts(node))
        known[id(node)] = max(depths, default=0)
    return known[id(node)]


def _unfolded(node: Node, known: dict[int, int]) -> int:
    """How many values a node stands for, each alias being what it names.

    Parameters
    ----------
    known : sizes by identity; 0 while one is being counted
    """
    size = known.get(id(node))
    if size == 0:
        raise _refused("an alias (*name) stands within what it names", node)
    if size is None:
        known[id(node)] = 0
        size = _own_size(node) + sum(_unfolded(part, known) for part in _parts(node))
        known[id(node)] = size
    return size


def _written(node: Node, seen: set[int]) -> int:
    """How many values a node holds as it is written, aliases apart."""
    if id(node) in seen:
        return 0
    seen.add(id(node))
    _check_kind(node)
    return _own_size(node) + sum(_written(part, seen) for part in _parts(node))


def _check_kind(node: Node) -> None:
    """Refuse what no configuration holds, or Python does not read."""
    if node.tag == f"{YAMLS}value":
        raise _refused("= is a sign of YAML: put it in quotes", node)
    if node.tag not in PLAIN[type(node)]:
        tag = node.tag.replace(YAMLS, "!!")
        raise _refused(f"the tag {tag} is none that is read: take it out", node)
    if node.tag.endswith(":int") and len(node.value) > DIGITS:
        many = f"a number has {len(node.value)} digits"
        raise _refused(f"{many}: at most {DIGITS} are read", node)
    for key, _ in node.value if isinstance(node, MappingNode) else ():
        if key.tag.endswith(":null"):
            raise _refused("a key is null: write a word", key)


def _refused(why: str, node: Node) -> ConstructorError:
    return ConstructorError(None, None, why, node.start_mark)


def guarded(shipped: Callable[[], Any]) -> Callable[[], Any]:
    """Makes readers of YAML as `shipped` does, which refuse what unfolds too far."""

    def loader() -> Any:
        made = shipped()

        class Guarded(made):  # type: ignore[misc, valid-type]
            def __init__(self, stream: Any) -> None:
                super().__init__(stream)
                name = getattr(stream, "name", None)
                if isinstance(name, str) and Path(name).stat().st_size > LARGEST:
                    raise ConstructorError(None, None, TOO_LARGE, self.get_mark())

            def get_single_node(self) -> Node | None:
                try:
                    node: Node | None = super().get_single_node()
                    if node is not None:
                        _check(node)
                except RecursionError:
                    raise ConstructorError(
                        None, None, TOO_DEEP, self.get_mark()
                    ) from None
                if node is not None:
                    of_file = isinstance(getattr(self.stream, "name", None), str)
                    one, nothing = isinstance(node, ScalarNode), node.value == ""
                    if of_file and not isinstance(node, MappingNode) and not nothing:
                        what = "one value" if one else "a list"
                        raise _refused(NO_MAPPING.format(what), node)
                return node

            def construct_object(self, node: Node, deep: bool = False) -> Any:
                try:
                    return super().construct_object(node, deep)
                except (KeyError, ValueError, IndexError):  # `!!bool maybe`, `0x_`
                    kind = node.tag.removeprefix(YAMLS)
                    said = f"{node.value!r} is no {kind}: write another value"
                    raise _refused(said, node) from None

        return Guarded

    loader.guarded = True  # type: ignore[attr-defined]
    return loader


def _check(root: Node) -> None:
    more = _unfolded(root, {}) - _written(root, set())
    if more > MOST_UNFOLDED:
        most = f"at most {MOST_UNFOLDED:,} are read"
        raise _refused(f"its aliases (*name) stand for {more:,} values: {most}", root)
    if _depth(root, {}) > DEEPEST:
        raise _refused(TOO_DEEP, root)


def guard_yaml() -> None:
    """Have whatever OmegaConf reads from now on judged."""
    if not hasattr(of_omegaconf.get_yaml_loader, "guarded"):
        of_omegaconf.get_yaml_loader = guarded(of_omegaconf.get_yaml_loader)
