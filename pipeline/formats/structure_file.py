"""Structures from files in JSON or YAML, and back; from URDF and DXF.

    nodes     [[x, y, z], ...]
    links, bodies, joints, fixed, planar: see `pipeline.formats.structure_joints`
    leading   [node, ...]
    goals     [[x, y, z], ...], one for each leading node
    target    {sphere: {radius: 2}}, see `pipeline.formats.structure_target`
    unit      mm, cm, m or inch: of all lengths of the file
    radii, capsules, triangles, ranges: see `pipeline.formats.structure_volume`
    masses    [{nodes: [0, 1], mass: 2}], see `pipeline.formats.structure_masses`

Only `nodes` must be there; without `leading` every node leads. The elementary rows of
[dJ23], Fig. 4, may stand beside them or in their place:

    dist      [[a, b, length squared], ...]
    dot       [[a, b, p, q, constant], ...]
    triple    [[a, b, p, q, s, t, constant], ...]
    par       [[a, b, p, q], ...]
    coin      [[a, b], ...]
    fix       [[node, axis, coordinate], ...]

In a file that has such rows and no links, joints, fixed or planar, `bodies` are the
sets that its rows keep rigid, and add none. `owners` names the joint of a row. A file
may also carry notes, which change nothing: name, description, source, evidence, and
the answer that its author expects with its tolerance. Any other key is refused.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

import numpy as np
from pydantic import Field

from pipeline.config.checking import checked
from pipeline.config.models import Entry, Point, Rows, numbers
from pipeline.formats.dxf_file import dxf_structure
from pipeline.formats.json_file import read_entries, read_text
from pipeline.formats.structure_joints import StructureParts, drawn_up
from pipeline.formats.structure_masses import (
    StructureMasses,
    masses_document,
    masses_of,
)
from pipeline.formats.structure_start import check_start
from pipeline.formats.structure_target import TargetEntry
from pipeline.formats.structure_volume import (
    StructureVolume,
    ranges_of,
    solids_of,
    volume_document,
)
from pipeline.formats.urdf_file import urdf_entries
from pipeline.scans.reading.units import unit_named
from pipeline.terminal.errors import InputError
from sim.arrays import Floats
from sim.morph.dynamics.masses import RigidMass
from sim.morph.structure.constraints import (
    NODES,
    WITHOUT_CONSTANT,
    Constraint,
    ConstraintKind,
    ConstraintTable,
)
from sim.morph.structure.structure import Structure
from sim.morph.targets.protocol import Target

LOADING = ("springs", "hinges", "panels", "loads", "supports", "growth")


@dataclass(frozen=True, eq=False)
class OwnStructure(Structure):
    """A structure with what else its file says.

    Attributes
    ----------
    target : the shape it is to take, None where the file names none
    unit : of all lengths, "" where the file names none
    joints : those that bodies turn about in common nodes, by these nodes
    masses : of its bodies, links and nodes
    """

    target: Target | None = None
    unit: str = ""
    joints: Mapping[frozenset[int], str] = field(default_factory=dict)
    masses: tuple[RigidMass, ...] = ()

    @property
    def metres(self) -> float:
        """How long its unit is in m, 1 where the file names none."""
        return unit_named(self.unit).mm / 1000.0 if self.unit else 1.0


OwnedRow = Annotated[tuple[str, int], numbers(2)]


def _rows_of(kind: ConstraintKind) -> Any:
    """The rows of a kind in a file: nodes, an axis if it holds one, a constant."""
    axis = [Literal[0, 1, 2]] if kind is ConstraintKind.FIX else []
    constant = [] if kind in WITHOUT_CONSTANT else [float]
    entries = (*[int] * int(NODES[kind]), *axis, *constant)
    row: Any = tuple.__class_getitem__(entries)
    return Rows[Annotated[row, numbers(len(entries))]]


class ElementaryRows(Entry):
    """A list of rows for each kind of constraint, by its name in small letters."""

    __annotations__ = {kind.name.lower(): _rows_of(kind) for kind in ConstraintKind}


class StructureFile(ElementaryRows, StructureVolume, StructureMasses, StructureParts):
    """The content of a structure file."""

    nodes: Annotated[list[Point], Field(min_length=1)]
    leading: list[int] | None = None
    goals: list[Point] | None = None
    bodies: list[list[int]] | None = None
    target: TargetEntry | None = None
    unit: Literal["mm", "cm", "m", "inch"] | None = None
    owners: dict[str, list[OwnedRow]] | None = None
    name: Any = None
    description: Any = None
    source: Any = None
    evidence: Any = None
    expected: Any = None
    tolerance: Any = None


Content = TypeVar("Content", bound=StructureFile)


def read_content(path: str, model: type[Content]) -> Content:
    """A structure file, or one that holds more."""
    entries = structure_content(path)
    _refuse_slips(path, entries)
    for key in LOADING:
        if key in entries and key not in model.model_fields:
            raise InputError(
                f"{path} has {key}: a morph has none; case=loaded_file brings it into "
                "balance, and case=mechanism_motion moves it"
            )
    return checked(model, entries, path)


def _refuse_slips(path: str, entries: Mapping[str, Any]) -> None:
    """What people write who have not read on: nodes by name, `fix` of nodes."""
    nodes, fix = entries.get("nodes"), entries.get("fix")
    if isinstance(nodes, dict):
        named = ", ".join(str(name) for name in list(nodes)[:3])
        raise InputError(
            f"{path}: nodes is a map ({named}, ...): write a list of [x, y, z], of "
            "which the first is node 0, and count so everywhere"
        )
    if isinstance(fix, list) and fix and all(isinstance(node, int) for node in fix):
        raise InputError(
            f"{path}: fix holds rows [node, axis, coordinate], not nodes: did you mean "
            f"`fixed: {fix}`?"
        )


def structure_content(path: str) -> dict[str, Any]:
    """The entries of a structure file, as they stand or as a drawing says them."""
    suffix = Path(path).suffix.lower()
    if suffix not in (".urdf", ".dxf"):
        return read_entries(path, "structure file", "`nodes`")
    try:
        if suffix == ".dxf":
            return dxf_structure(path)
        return urdf_entries(read_text(path, "robot in URDF"))
    except ValueError as error:
        raise ValueError(_with_name(str(error), path)) from None


def _with_name(said: str, path: str) -> str:
    return said if said.startswith(path) else f"{path}: {said}"


def structure_file(path: str) -> Structure:
    """Read a structure; whatever is wrong is told with the file's name."""
    content = read_content(path, StructureFile)
    try:
        return structure_of(content)
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None


def structure_entries(**entries: Any) -> Structure:
    """The same from the entries of a case file, in place of a file of their own."""
    return structure_of(checked(StructureFile, entries, "structure"))


def structure_of(content: StructureFile) -> Structure:
    """The structure that the content of a file describes."""
    _check_named_nodes(content)
    elementary = [
        _constraint(kind, entry)
        for kind in ConstraintKind
        for entry in getattr(content, kind.name.lower())
    ]
    said = content.is_said or all(c.kind is ConstraintKind.FIX for c in elementary)
    bodies = content.bodies
    draft = drawn_up(content, content.nodes, bodies or [] if said else [])
    for constraint, owner in zip(elementary, _owners(content), strict=True):
        draft.rows(owner, [constraint])
    made = draft.structure(*_aims(content))
    if not said:
        rigid = _links(made.constraints) if bodies is None else map(tuple, bodies)
        made = replace(made, bodies=tuple(rigid))
    structure = OwnStructure(
        made.r0,
        made.constraints,
        made.leading,
        made.bodies,
        made.goals,
        solids_of(content),
        ranges_of(content, made, draft),
        None if content.target is None else content.target.shape,
        content.unit or "",
        draft.turns,
        masses_of(content, made.r0),
    )
    check_start(structure)
    return structure


def _aims(content: StructureFile) -> tuple[list[int] | None, Floats | None]:
    """The nodes that lead, and their goals."""
    leading, goals, target = content.leading, content.goals, content.target
    if target is not None and target.nodes:
        if leading is not None or goals is not None:
            raise ValueError("`target` names nodes: leave out `leading` and `goals`")
        seen: set[int] = set()
        for i, (node, *_) in enumerate(target.nodes):
            if node in seen:
                raise ValueError(
                    f"target.nodes[{i}] names node {node} again: name it once"
                )
            seen.add(node)
        leading, goals = (
            [row[0] for row in target.nodes],
            [row[1:] for row in target.nodes],
        )
    return leading, None if goals is None else np.array(goals).reshape(-1, 3)


def _check_named_nodes(content: StructureFile) -> None:
    if content.goals is not None and content.leading is None:
        raise ValueError("`goals` without `leading`: name the nodes they are for")
    if content.leading == []:
        raise ValueError("`leading` is empty: name a node, or leave it out: all lead")
    n = len(content.nodes)
    for where, entry, nodes in _naming_nodes(content):
        if not all(0 <= node < n for node in nodes):
            raise ValueError(
                f"{where} is {list(entry)}: the structure has nodes 0 to {n - 1}"
            )


def _naming_nodes(
    content: StructureFile,
) -> Iterator[tuple[str, Sequence[Any], Sequence[int]]]:
    """Entries that name nodes, in whole and their nodes, where nobody else checks."""
    for i, body in enumerate(content.bodies or ()):
        yield f"bodies[{i}]", body, body
    for kind, rows in content.ranges:
        for i, row in enumerate(rows):
            yield f"ranges.{kind}[{i}]", row, row[:-2]
    for i, aim in enumerate(content.target.nodes if content.target else ()):
        yield f"target.nodes[{i}]", aim, aim[:1]


def _owners(content: StructureFile) -> list[str]:
    """Whose each elementary row is, in the order of kinds."""
    names = {
        kind.name.lower(): [""] * len(getattr(content, kind.name.lower()))
        for kind in ConstraintKind
    }
    for owner, rows in (content.owners or {}).items():
        for kind, i in rows:
            if kind not in names or not 0 <= i < len(names[kind]):
                raise ValueError(
                    f"owners.{owner} names {kind}[{i}], which is not there"
                )
            names[kind][i] = owner
    return [owner for owners in names.values() for owner in owners]


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
    owners: dict[str, list[list[object]]] = {}
    for kind in ConstraintKind:
        chosen = np.flatnonzero(table.kind == kind)
        integers = int(NODES[kind]) + (kind is ConstraintKind.FIX)
        rows: list[list[float]] = table.nodes[chosen, :integers].tolist()
        if kind not in WITHOUT_CONSTANT:
            constants = table.constant[chosen].tolist()
            rows = [[*row, k] for row, k in zip(rows, constants, strict=True)]
        content[kind.name.lower()] = rows
        for i, c in enumerate(chosen.tolist()):
            if table.owners and table.owners[c]:
                owners.setdefault(table.owners[c], []).append([kind.name.lower(), i])
    content["leading"] = structure.leading.tolist()
    if structure.goals is not None:
        content["goals"] = structure.goals.tolist()
    content["bodies"] = [list(body) for body in structure.bodies]
    if owners:
        content["owners"] = owners
    if isinstance(structure, OwnStructure) and structure.unit:
        content["unit"] = structure.unit
    if isinstance(structure, OwnStructure) and structure.masses:
        content["masses"] = masses_document(structure.masses)
    return content | volume_document(structure.solids, structure.ranges)
