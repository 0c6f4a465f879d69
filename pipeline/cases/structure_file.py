"""Structures from JSON files, and back.

    nodes     [[x, y, z], ...]
    dist      [[a, b, length squared], ...]
    dot       [[a, b, p, q, constant], ...]
    triple    [[a, b, p, q, s, t, constant], ...]
    par       [[a, b, p, q], ...]
    coin      [[a, b], ...]
    fix       [[node, axis, coordinate], ...]
    leading   [node, ...]
    goals     [[x, y, z], ...], one for each leading node
    bodies    [[node, node, ...], ...], sets that stay rigid, for drawings
    radii, capsules, triangles, ranges: see `pipeline.cases.structure_volume`

Only `nodes` must be there; without `leading` every node leads. A file may also carry
notes, which change nothing: name, description, source, evidence, and the answer that
its author expects with its tolerance. Any other key is refused.
"""

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from pipeline.cases.structure_volume import (
    SOLIDS,
    ranges_of,
    solids_of,
    volume_document,
)
from sim.arrays import Floats
from sim.morph.constraints import NODES, Constraint, Kind, Table
from sim.morph.structure import Structure

WITHOUT_CONSTANT = (Kind.PAR, Kind.COIN)
KEYS = (
    "nodes", *(kind.name.lower() for kind in Kind), "leading", "goals", "bodies",
    *SOLIDS, "ranges",
)  # fmt: skip
NOTES = ("name", "description", "source", "evidence", "expected", "tolerance")


Content = dict[str, object]


def structure_file(path: str) -> Structure:
    """Read a structure; whatever is wrong is told with the file's name."""
    content = read_content(path)
    try:
        return structure_of(content)
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None


def read_content(path: str) -> Content:
    """The entries of a structure file by name, not yet looked at."""
    try:
        text = Path(path).read_text(encoding="utf-8")
        content = json.loads(text, object_pairs_hook=_each_key_once, parse_int=_integer)
    except OSError as error:
        raise ValueError(f"{path}: {error.strerror}: give a structure file") from None
    except UnicodeDecodeError:
        raise ValueError(
            f"{path} is not a text: give a structure file in JSON"
        ) from None
    except json.JSONDecodeError as error:
        raise ValueError(
            f"{path} is not JSON: {error.msg} in line {error.lineno}"
        ) from None
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None
    if not isinstance(content, dict):
        raise ValueError(f"{path}: no structure: give an object with `nodes` and more")
    return content


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


def structure_of(content: Content, more: Sequence[str] = ()) -> Structure:
    """The structure that the entries of a file describe.

    Parameters
    ----------
    more : keys that were read already, named where one is misspelt
    """
    for key in content:
        if key not in (*KEYS, *NOTES):
            known = ", ".join((*KEYS, *more))
            raise ValueError(f"nobody reads `{key}`: the keys are {known}")
    if "nodes" not in content:
        raise ValueError("no `nodes` here: give them as [[x, y, z], ...]")
    r0 = _points("nodes", content["nodes"])
    constraints: list[Constraint] = []
    for kind in Kind:
        name = kind.name.lower()
        entries = content.get(name, [])
        if not isinstance(entries, list):
            raise ValueError(f"`{name}` is not a list: give [[...], ...]")
        constraints += [_constraint(kind, i, entry) for i, entry in enumerate(entries)]
    if "goals" in content and "leading" not in content:
        raise ValueError("`goals` without `leading`: name the nodes they are for")
    leading = content.get("leading", list(range(len(r0))))
    if not (isinstance(leading, list) and all(type(i) is int for i in leading)):
        raise ValueError("`leading` is not a list of node numbers")
    if not leading:
        raise ValueError("`leading` is empty: name a node, or leave it out: all lead")
    goals = _points("goals", content["goals"]) if "goals" in content else None
    table = Table.of(constraints)
    bodies = _bodies(content["bodies"], len(r0)) if "bodies" in content else None
    return Structure(
        r0,
        table,
        np.array(leading, dtype=np.int64),
        _links(table) if bodies is None else bodies,
        goals,
        solids_of(content),
        ranges_of(content, table),
    )


def _bodies(content: object, n: int) -> tuple[tuple[int, ...], ...]:
    if not isinstance(content, list):
        raise ValueError("`bodies` is not a list: give [[node, node, ...], ...]")
    for i, body in enumerate(content):
        if not isinstance(body, list) or not all(type(node) is int for node in body):
            raise ValueError(f"bodies[{i}] is {body}: give a list of node numbers")
        if not all(0 <= node < n for node in body):
            raise ValueError(
                f"bodies[{i}] is {body}: the structure has nodes 0 to {n - 1}"
            )
    return tuple(tuple(body) for body in content)


def _points(name: str, values: object) -> Floats:
    try:
        points = np.array(values, dtype=np.float64)
    except (TypeError, ValueError):
        points = np.zeros(0)
    if points.ndim != 2 or points.shape[1] != 3:
        raise ValueError(f"`{name}` must be a list of [x, y, z]")
    return points


def _constraint(kind: Kind, i: int, entry: object) -> Constraint:
    name = f"{kind.name.lower()}[{i}]"
    integers = int(NODES[kind]) + (kind is Kind.FIX)
    length = integers + (kind not in WITHOUT_CONSTANT)
    if not isinstance(entry, list) or len(entry) != length:
        raise ValueError(f"{name} is {entry}: it needs {length} numbers")
    if not all(type(value) is int for value in entry[:integers]):
        raise ValueError(f"{name} is {entry}: its first {integers} must be integers")
    constant = 0.0 if kind in WITHOUT_CONSTANT else entry[-1]
    if isinstance(constant, bool) or not isinstance(constant, int | float):
        raise ValueError(f"{name} is {entry}: its last must be a number")
    if kind is Kind.FIX and entry[1] not in (0, 1, 2):
        raise ValueError(f"{name} is {entry}: its axis must be 0, 1 or 2")
    return Constraint(kind, tuple(entry[:integers]), float(constant))


def _links(table: Table) -> tuple[tuple[int, ...], ...]:
    """Two-node bodies: what a file that names no bodies surely keeps rigid."""
    ends: list[list[int]] = table.nodes[table.kind == Kind.DIST, :2].tolist()
    return tuple(tuple(pair) for pair in ends)


def document(structure: Structure) -> dict[str, object]:
    """The content of a file from which `structure_file` makes the same structure."""
    table = structure.constraints
    content: dict[str, object] = {"nodes": structure.r0.tolist()}
    for kind in Kind:
        chosen = np.flatnonzero(table.kind == kind)
        integers = int(NODES[kind]) + (kind is Kind.FIX)
        rows: list[list[float]] = table.nodes[chosen, :integers].tolist()
        if kind not in WITHOUT_CONSTANT:
            constants = table.constant[chosen].tolist()
            rows = [[*row, k] for row, k in zip(rows, constants, strict=True)]
        content[kind.name.lower()] = rows
    content["leading"] = structure.leading.tolist()
    if structure.goals is not None:
        content["goals"] = structure.goals.tolist()
    content["bodies"] = [list(body) for body in structure.bodies]
    return content | volume_document(structure.solids, structure.ranges)
