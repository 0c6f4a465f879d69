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
    radii, capsules, triangles, ranges: see `pipeline.formats.structure_volume`

Only `nodes` must be there; without `leading` every node leads. A file may also carry
notes, which change nothing: name, description, source, evidence, and the answer that
its author expects with its tolerance. Any other key is refused.
"""

from typing import Annotated, Any, Literal, TypeVar

import numpy as np
from pydantic import Field

from pipeline.config.checking import checked
from pipeline.config.models import Point, Rows, numbers
from pipeline.formats.json_file import read_entries
from pipeline.formats.structure_volume import (
    StructureVolume,
    ranges_of,
    solids_of,
    volume_document,
)
from sim.morph.structure.constraints import (
    NODES,
    Constraint,
    ConstraintKind,
    ConstraintTable,
)
from sim.morph.structure.structure import Structure

WITHOUT_CONSTANT = (ConstraintKind.PAR, ConstraintKind.COIN)


class StructureFile(StructureVolume):
    """The content of a structure file."""

    nodes: Annotated[list[Point], Field(min_length=1)]
    dist: Rows[Annotated[tuple[int, int, float], numbers(3)]]
    dot: Rows[Annotated[tuple[int, int, int, int, float], numbers(5)]]
    triple: Rows[Annotated[tuple[int, int, int, int, int, int, float], numbers(7)]]
    par: Rows[Annotated[tuple[int, int, int, int], numbers(4)]]
    coin: Rows[Annotated[tuple[int, int], numbers(2)]]
    fix: Rows[Annotated[tuple[int, Literal[0, 1, 2], float], numbers(3)]]
    leading: list[int] | None = None
    goals: list[Point] | None = None
    bodies: list[list[int]] | None = None
    name: Any = None
    description: Any = None
    source: Any = None
    evidence: Any = None
    expected: Any = None
    tolerance: Any = None


Content = TypeVar("Content", bound=StructureFile)


def read_content(path: str, model: type[Content]) -> Content:
    """A structure file, or one that holds more."""
    return checked(model, read_entries(path, "structure file", "`nodes`"), path)


def structure_file(path: str) -> Structure:
    """Read a structure; whatever is wrong is told with the file's name."""
    content = read_content(path, StructureFile)
    try:
        return structure_of(content)
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None


def structure_of(content: StructureFile) -> Structure:
    """The structure that the content of a file describes."""
    table = ConstraintTable.of(
        [
            _constraint(kind, entry)
            for kind in ConstraintKind
            for entry in getattr(content, kind.name.lower())
        ]
    )
    n, leading, bodies = len(content.nodes), content.leading, content.bodies
    if content.goals is not None and leading is None:
        raise ValueError("`goals` without `leading`: name the nodes they are for")
    if leading == []:
        raise ValueError("`leading` is empty: name a node, or leave it out: all lead")
    for i, body in enumerate(bodies or ()):
        if not all(0 <= node < n for node in body):
            raise ValueError(
                f"bodies[{i}] is {body}: the structure has nodes 0 to {n - 1}"
            )
    return Structure(
        np.array(content.nodes, dtype=np.float64),
        table,
        np.array(range(n) if leading is None else leading, dtype=np.int64),
        _links(table) if bodies is None else tuple(map(tuple, bodies)),
        None if content.goals is None else np.array(content.goals).reshape(-1, 3),
        solids_of(content),
        ranges_of(content, table),
    )


def _constraint(kind: ConstraintKind, entry: tuple[Any, ...]) -> Constraint:
    constant = 0.0 if kind in WITHOUT_CONSTANT else entry[-1]
    return Constraint(
        kind, entry[: NODES[kind] + (kind is ConstraintKind.FIX)], constant
    )


def _links(table: ConstraintTable) -> tuple[tuple[int, ...], ...]:
    """Two-node bodies: what a file that names no bodies surely keeps rigid."""
    ends: list[list[int]] = table.nodes[table.kind == ConstraintKind.DIST, :2].tolist()
    return tuple(tuple(pair) for pair in ends)


def document(structure: Structure) -> dict[str, object]:
    """The content of a file from which `structure_file` makes the same structure."""
    table = structure.constraints
    content: dict[str, object] = {"nodes": structure.r0.tolist()}
    for kind in ConstraintKind:
        chosen = np.flatnonzero(table.kind == kind)
        integers = int(NODES[kind]) + (kind is ConstraintKind.FIX)
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
