"""Structures from files in JSON or YAML, and back; from URDF and DXF.

`StructureFile` lists its keys. Only `nodes` is required, two numbers each in the plane
of `planar`, z where there is none; without `leading` every node leads, and of a target
{nodes: [[node, x, y, z], ...]} those that it names.

The elementary rows of [dJ23], Fig. 4, may be added or replace the others. In a file
that has such rows and no links, joints, fixed or planar, `bodies` are the sets that its
rows make rigid, and add none. `owners` names the joint of a row. A file may also have
notes, which change nothing. Any other key is refused.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

import numpy as np
from pydantic import Field, WithJsonSchema

from pipeline.config.config_files import checked, located
from pipeline.config.value_types import Entry, OneOf, Point, Positive, Rows, numbers
from pipeline.io.length_units import unit_named
from pipeline.io.structure_entries import (
    Named,
    Node,
    StructureEntries,
    counted,
    draft_of,
    entry_of,
    masses_document,
    ranges_of,
    solids_of,
    volume_document,
)
from pipeline.io.urdf_file import urdf_entries
from pipeline.io.yaml_and_json import read_entries, read_text
from pipeline.runs.atomic_files import read_json
from pipeline.terminal import InputError, close_to, commas
from sim.core.arrays import Floats, Ints
from sim.mechanism.constraint_system import linearise, state, system_of
from sim.mechanism.constraints import (
    NODES,
    WITHOUT_CONSTANT,
    Constraint,
    ConstraintKind,
)
from sim.mechanism.dynamics.rigid_masses import RigidMass, mass_matrix
from sim.mechanism.rounded_drawing import close_loops, drawing_precision
from sim.mechanism.structure import Structure
from sim.mechanism.targets.analytic_surfaces import (
    Circle,
    Cylinder,
    Ellipsoid,
    Plane,
    Sphere,
    Vector,
)
from sim.mechanism.targets.target_interface import Goals, Target

CLOSED = 0.1  # largest misfit that is closed, of the length, else in units of L
ROUNDING = 1e-6  # misfit that rounding explains
LIKELIER = 0.1  # a squared length's misfit as a length, over that as a square


def check_start(structure: Structure) -> None:
    """Refuse nodes that violate a row, and lengths in place of their squares.

    The solver closes a misfit of a tenth at most.
    """
    if not len(structure.constraints) or not np.ptp(structure.r0, axis=0).any():
        return
    system = system_of(structure)
    linear = linearise(system, state(structure))
    _check_squares(structure, linear.c)
    misfit = np.abs(linear.c / system.scale)
    table = structure.constraints
    links = np.flatnonzero(table.kind == ConstraintKind.DIST)
    rows = table.first_row[links]
    squares = table.constant[links]
    apart = np.sqrt(np.maximum(linear.c[rows] + squares, 0.0))
    misfit[rows] = np.abs(apart / np.sqrt(squares) - 1.0)
    worst = int(np.argmax(misfit))
    if not misfit[worst] > CLOSED:
        return
    i = int(np.searchsorted(table.first_row, worst, side="right")) - 1
    begin = f"the start violates a constraint: {table.name_of_row(worst)}"
    constant = float(table.constant[i])
    if table.kind[i] == ConstraintKind.DIST:
        length = float(apart[np.searchsorted(links, i)])
        if table.owners and table.owners[i]:
            raise ValueError(
                f"{begin} has the length {np.sqrt(constant):.4g}, but its nodes are "
                f"{length:.4g} apart: move the nodes, or leave out the length"
            )
        raise ValueError(
            f"{begin} is {constant:.4g}, but its nodes are {length:.4g} apart: dist "
            f"needs the square, {length**2:.4g}; use `links`, or move its nodes"
        )
    if table.kind[i] in (ConstraintKind.PAR, ConstraintKind.COIN):
        own = linear.c[table.first_row[i] : table.first_row[i + 1]]
        value, constant = float(np.linalg.norm(own)), 0.0
    else:
        value = float(linear.c[worst]) + constant
    raise ValueError(
        f"{begin} should be {constant:.4g} and is {value:.4g} at the start: move its "
        "nodes, or use `joints`, whose constants follow from the nodes"
    )


def _check_squares(structure: Structure, c: Floats) -> None:
    """Refuse lengths in place of squared lengths."""
    table = structure.constraints
    links: Ints = np.flatnonzero(table.kind == ConstraintKind.DIST).astype(np.int64)
    given = table.constant[links]
    square = c[table.first_row[links]] + given
    off = np.abs(given - square) > ROUNDING * square
    if not off.any():
        return
    apart = np.sqrt(square[off])
    as_length, as_square = np.abs(given[off] - apart), np.abs(given[off] - square[off])
    if (as_length <= LIKELIER * as_square).all():
        i = int(links[off][0])
        raise ValueError(
            f"{table.name(i)} is {given[off][0]:.6g}, but its nodes are {apart[0]:.6g} "
            f"apart (rows like this: {int(off.sum())}): dist needs squared lengths, "
            f"here {square[off][0]:.6g}; use `links` for lengths"
        )


SHAPES: dict[str, Callable[..., Target]] = {
    "sphere": Sphere,
    "circle": Circle,
    "cylinder": Cylinder,
    "plane": Plane,
    "ellipsoid": Ellipsoid,
}


class ShapeEntry(OneOf):
    """One of the shapes.

    Attributes
    ----------
    sphere : by radius and centre
    circle : by radius, centre and normal
    cylinder : by radius, a point and the direction of its axis
    plane : by a point and its normal
    ellipsoid : by semi-axes along x, y, z, and centre
    """

    remedy = "give one shape, or nodes with positions"

    __annotations__ = {
        name: entry_of(f"{name.title()}Entry", shape, {float: Positive, Vector: Point})
        for name, shape in SHAPES.items()
    }


class TargetEntry(ShapeEntry):
    """One of the shapes, or places for nodes.

    Attributes
    ----------
    nodes : [node, x, y, z]: where each is to go; x, y in the plane
    """

    nodes: Rows[Annotated[tuple[Node, float, float, float | None], numbers(4, 3)]]

    @property
    def shape(self) -> Target | None:
        """The shape, None for places of nodes."""
        named = [name for name in self.named if name in SHAPES]
        return SHAPES[named[0]](**dict(getattr(self, named[0]))) if named else None


LOADING = ("springs", "hinges", "panels", "loads", "supports", "growth")


@dataclass(frozen=True, eq=False)
class OwnStructure(Structure):
    """A structure with the other entries of its file.

    Attributes
    ----------
    target : the shape it is to take, None where the file names none
    unit : of all lengths, "" where the file names none
    joints : joints whose bodies turn about common nodes, by these nodes
    masses : of its bodies, links and nodes
    drawing : how its loops were closed, "" where they close as drawn
    node_names : of all nodes, none where the file numbers them
    """

    target: Target | None = None
    unit: str = ""
    joints: Mapping[frozenset[int], str] = field(default_factory=dict)
    masses: tuple[RigidMass, ...] = ()
    drawing: str = ""
    node_names: Sequence[str] = ()

    @property
    def metres(self) -> float:
        """How long its unit is in m, 1 where the file names none."""
        return unit_named(self.unit).mm / 1000.0 if self.unit else 1.0


def drawing_of(structure: Structure) -> dict[str, str]:
    """What was closed in the drawing of a file; nothing where all loops fit."""
    drawing = structure.drawing if isinstance(structure, OwnStructure) else ""
    return {"drawing": drawing} if drawing else {}


def aim_of(structure: Structure, target: Target | None) -> Target:
    """The target of a case, else that of the structure's file, else its goals."""
    if target is None and isinstance(structure, OwnStructure):
        target = structure.target
    if target is not None:
        return target
    if structure.goals is None:
        raise ValueError(
            "the case has no target and its structure has no goals: give a target, in "
            "a structure file as `target: {nodes: [[node, x, y, z]]}`"
        )
    return Goals(structure.goals)


PLACE = {"type": "array", "items": {"type": "number"}, "minItems": 2, "maxItems": 3}
NAMED = {"type": "object", "additionalProperties": PLACE}
PLACES = {"anyOf": [{"type": "array", "items": PLACE, "minItems": 1}, NAMED]}
OwnedRow = Annotated[tuple[str, int], numbers(2)]


def _rows_of(kind: ConstraintKind) -> Any:
    """The rows of a kind in a file: nodes, an axis if it holds one, a constant."""
    axis = [Literal[0, 1, 2]] if kind is ConstraintKind.FIX else []
    constant = [] if kind in WITHOUT_CONSTANT else [float]
    entries = (*[int] * int(NODES[kind]), *axis, *constant)
    row: Any = tuple.__class_getitem__(entries)
    return Rows[Annotated[row, numbers(len(entries))]]


class ElementaryRows(Entry):
    """A list of rows for each kind of constraint, by its name in small letters.

    Attributes
    ----------
    dist : [a, b, squared distance]
    dot : [a, b, c, d, constant]: dot product of the vectors a to b and c to d
    triple : [a, b, c, d, e, f, constant]: triple product of three such vectors
    par : [a, b, c, d]: two such vectors stay parallel
    coin : [a, b]: two nodes stay at one place
    fix : [node, axis, coordinate], axis 0, 1, 2 for x, y, z
    """

    __annotations__ = {kind.name.lower(): _rows_of(kind) for kind in ConstraintKind}


NOTES = ("name", "description", "source", "evidence", "expected", "tolerance")


class Notes(Entry):
    """What a file may say about itself, which changes nothing.

    Attributes
    ----------
    name, description, source, evidence : notes of the author, which change nothing
    expected, tolerance : the answer that the author expects, and how exactly; notes too
    """

    __annotations__ = dict.fromkeys(NOTES, Annotated[Any, Field(default=None)])


class StructureFile(ElementaryRows, StructureEntries, Notes):
    """The content of a structure file.

    Attributes
    ----------
    nodes : x, y, z of each, or x, y in a plane; by name if a mapping
    leading : nodes that move towards the target; all by default
    goals : x, y, z for each leading node; `target` is simpler
    bodies : lists of nodes that move as one
    target : a shape, or places of nodes
    unit : of all lengths of the file
    drawing_precision : last digit of `nodes`
    owners : [kind, number] of elementary rows, by the name of the part they make
    node_names : names of `nodes` if these are a list
    """

    nodes: Annotated[list[Point], Field(min_length=1), WithJsonSchema(PLACES)]
    leading: list[Named] | None = None
    goals: list[Point] | None = None
    bodies: list[list[Node]] | None = None
    target: TargetEntry | None = None
    unit: Literal["mm", "cm", "m", "inch"] | None = None
    drawing_precision: Annotated[float, Field(ge=0.0)] | None = None
    owners: dict[str, list[OwnedRow]] | None = None
    node_names: list[str] = Field(default_factory=list)


WORDS = {"nodes", "planar", "unit", "owners", *NOTES}  # no names of nodes in these
Content = TypeVar("Content", bound=StructureFile)


def read_content(path: str, model: type[Content]) -> Content:
    """The content of a structure file, or of one with further entries."""
    entries = structure_content(path)
    fix = entries.get("fix")
    if isinstance(fix, list) and fix and all(isinstance(node, int) for node in fix):
        raise InputError(
            f"{path}: fix has rows [node, axis, coordinate], not nodes: did you mean "
            f"`fixed: {fix}`?"
        )
    for key in LOADING:
        if key in entries and key not in model.model_fields:
            raise InputError(
                f"{path} has {key}, which a morph does not support: use "
                "case=loaded_file for its equilibrium, case=mechanism_motion for motion"
            )
    return checked(model, entries, path, counted(entries.get("nodes")))


def structure_content(path: str) -> dict[str, Any]:
    """The entries of a structure file, a DXF drawing or a URDF file."""
    suffix = Path(path).suffix.lower()
    if suffix not in (".urdf", ".dxf"):
        entries = read_entries(path, "structure file", "`nodes`")
        with located(path):
            return in_numbers(entries)
    with located(path):
        if suffix == ".dxf":
            # here: it imports all of sim.origami's patterns
            from pipeline.io.dxf_file import dxf_structure

            return dxf_structure(path)
        return urdf_entries(read_text(path, "robot in URDF"))


def in_numbers(entries: Mapping[str, Any]) -> dict[str, Any]:
    """Entries with numbers for names of nodes, and all coordinates of a plane."""
    made, nodes = dict(entries), entries.get("nodes")
    if isinstance(nodes, Mapping):
        for name in nodes:
            if not isinstance(name, str) or set(name) <= set("xyz"):
                raise ValueError(f"node {name!r}: use a letter other than x, y and z")
        names = {name: i for i, name in enumerate(nodes)}
        for key, value in entries.items():
            with located(str(key)):
                made[key] = value if key in WORDS else _numbered(value, names)
        made["node_names"] = list(names)
        made["nodes"] = nodes = list(nodes.values())
    rows = nodes if isinstance(nodes, list) else []
    if any(isinstance(at, Mapping) for at in rows):
        raise ValueError(
            "nodes must be a mapping {B0: [0, 0], ...} or a list of places"
        )
    for name, at in zip(made.get("node_names", range(len(rows))), rows, strict=True):
        _check_place(name, at)
    if rows and all(isinstance(at, list) and len(at) == 2 for at in rows):
        made["planar"] = made.get("planar") or "z"
        axis = "xyz".find(str(made["planar"]))
        made["nodes"] = [[*at[:axis], 0.0, *at[axis:]] for at in rows]
    return made


def _check_place(name: str | int, at: Any) -> None:
    """Refuse texts, such as numbers without a comma between them."""
    is_row = isinstance(at, list | tuple)
    texts = [one for one in at if isinstance(one, str)] if is_row else [at]
    if texts:
        none = f"{texts[0]!r} is not a number" if is_row else "not two or three numbers"
        raise ValueError(f"node {name} is at {at}: {none}; separate numbers by commas")


def _numbered(value: Any, names: Mapping[str, int]) -> Any:
    """A value with numbers for names of nodes; axes, and numbers of bodies, stay."""
    if isinstance(value, list):
        return [_numbered(one, names) for one in value]
    if isinstance(value, dict):
        return {
            k: v if k == "bodies" else _numbered(v, names) for k, v in value.items()
        }
    if not isinstance(value, str) or set(value) <= set("xyz"):
        return value
    if value in names:
        return names[value]
    if re.match(r"[\d.+-]", value):  # as no name begins
        raise ValueError(f"{value!r} is not a number{commas([value])}")
    near = close_to(value, names) or f"the nodes are {', '.join(names)}"
    raise ValueError(f"no node is named {value}: {near}{commas([value])}")


def structure_file(path: str) -> Structure:
    """Read a structure; errors begin with the file's name."""
    content = read_content(path, StructureFile)
    with located(path, content.node_names):
        return structure_of(content)


def structure_entries(**entries: Any) -> Structure:
    """The same from the entries of a case file, in place of a file of their own."""
    plain = in_numbers(entries)
    context = counted(plain.get("nodes"))
    return structure_of(checked(StructureFile, plain, "structure", context))


def structure_of(content: StructureFile) -> Structure:
    """The structure that the content of a file describes."""
    _check_leading(content)
    elementary = [
        Constraint(
            kind,
            entry[: NODES[kind] + (kind is ConstraintKind.FIX)],
            0.0 if kind in WITHOUT_CONSTANT else entry[-1],
        )
        for kind in ConstraintKind
        for entry in getattr(content, kind.name.lower())
    ]
    parted = content.links or content.joints or content.fixed or content.planar
    by_parts = bool(parted) or all(c.kind is ConstraintKind.FIX for c in elementary)
    bodies = content.bodies
    precision = content.drawing_precision
    if precision is None:
        precision = drawing_precision(np.array(content.nodes))
    parts = bodies or [] if by_parts else []
    draft = draft_of(content, content.nodes, parts, precision)
    for constraint, owner in zip(elementary, _owners(content), strict=True):
        draft.rows(owner, [constraint])
    made = draft.structure(*_aims(content))
    if not by_parts:
        if bodies is None:  # two nodes each, which links surely make rigid
            table = made.constraints
            bodies = table.nodes[table.kind == ConstraintKind.DIST, :2].tolist()
        made = replace(made, bodies=tuple(map(tuple, bodies)))
    ranges, target = ranges_of(content, made, draft), content.target
    structure = OwnStructure(
        **vars(replace(made, solids=solids_of(content), ranges=ranges)),
        target=None if target is None else target.shape,
        unit=content.unit or "",
        joints=draft.turns,
        masses=tuple(entry.made for entry in content.masses),
        node_names=content.node_names,
    )
    mass_matrix(made.r0, structure.masses)  # refuses masses that do not fit
    check_start(structure)
    return _closed(structure, precision, draft.misfit)


def _closed(structure: OwnStructure, precision: float, misfit: float) -> OwnStructure:
    """The structure, with its loops closed where rounded coordinates keep them open.

    `misfit` is that of rows that its bodies omit, in its unit.
    """
    found, unit = close_loops(structure, precision), structure.unit
    said: list[str] = []
    if found is not None:
        moved, made = f"{found.moved:.2g} {unit}".rstrip(), found.structure
        structure = replace(structure, r0=made.r0, constraints=made.constraints)
        said.append(
            f"nodes were moved by {moved} or less to close all loops"
            + f", and {found.relaxed} rows omitted that others imply"
            * (found.relaxed > 0)
        )
        if found.motions:
            said.append(f"this adds {found.motions} to the mobility")
    if misfit:
        misfits = f"{misfit:.2g} {unit}".rstrip()
        said.append(f"constraints with misfits of up to {misfits} were omitted")
    precise = f"coordinates are rounded to {precision:g} {unit}".rstrip()
    return replace(structure, drawing=f"{precise}: {'; '.join(said)}" if said else "")


def _aims(content: StructureFile) -> tuple[list[int] | None, Floats | None]:
    """The nodes that lead, and their goals."""
    leading, goals, target = content.leading, content.goals, content.target
    if target is not None and target.nodes:
        if leading is not None or goals is not None:
            raise ValueError("`target` names nodes: leave out `leading` and `goals`")
        seen: set[int] = set()
        for i, (node, *_) in enumerate(target.nodes):
            if node in seen:
                raise ValueError(f"target.nodes[{i}] repeats node {node}: name it once")
            seen.add(node)
        leading = [row[0] for row in target.nodes]
        goals = [_goal(content, *row) for row in target.nodes]
    return leading, None if goals is None else np.array(goals).reshape(-1, 3)


def _goal(content: StructureFile, node: int, *at: float | None) -> Any:
    """A node's goal; of two coordinates, its own is the one that `planar` keeps."""
    goal = [x for x in at if x is not None]
    if len(goal) == 2:
        if not content.planar:
            raise ValueError(f"target.nodes: node {node} needs x, y, z, or `planar`")
        axis = "xyz".index(content.planar)
        goal.insert(axis, content.nodes[node][axis])
    return goal


def _check_leading(content: StructureFile) -> None:
    if content.goals is not None and content.leading is None:
        raise ValueError("`goals` without `leading`: name their nodes in `leading`")
    if content.leading == []:
        raise ValueError(
            "`leading` is empty: name a node, or omit it to lead all nodes"
        )


def _owners(content: StructureFile) -> list[str]:
    """The owner of each elementary row, in the order of kinds."""
    names = {
        kind.name.lower(): [""] * len(getattr(content, kind.name.lower()))
        for kind in ConstraintKind
    }
    for owner, rows in (content.owners or {}).items():
        for kind, i in rows:
            if kind not in names or not 0 <= i < len(names[kind]):
                raise ValueError(
                    f"owners.{owner} names {kind}[{i}], which does not exist: "
                    "correct the row"
                )
            names[kind][i] = owner
    return [owner for owners in names.values() for owner in owners]


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
    own = vars(structure)
    content |= {key: own[key] for key in ("unit", "node_names") if own.get(key)}
    if own.get("masses"):
        content["masses"] = masses_document(own["masses"])
    return content | volume_document(structure.solids, structure.ranges)


def scale_mm(given: float | None, simulated: Path) -> float:
    """The given scale, else mm per unit of the structure of a run."""
    if given is not None:
        return given
    unit = unit_of(simulated)
    if not unit:
        raise InputError(
            f"{simulated}/structure.json names no unit: give --scale-mm, mm of the "
            "print per unit of the case (40 where a link of length 1 is 40 mm)"
        )
    return unit_named(unit).mm


def unit_of(simulated: Path) -> str:
    """The unit of the structure of a run; "" where its file names none."""
    path = simulated / "structure.json"
    return str(read_json(path).get("unit", "")) if path.is_file() else ""
