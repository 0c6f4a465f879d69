"""Entries of a structure file: links, joints, bodies, masses, panels, ranges.

The classes list the keys of their entries. A joint is one of [dJ23], Fig. 4 and 6.
Where it names `bodies`, its nodes become part of them: those of its first side of the
first, those of its `other` side of the second, and a node without another side of both.

Of a mass one node is a point, two are a uniform rod, three a triangle, four a
tetrahedron. For any other body `centre` is where its centre is in the nodes as given,
and `inertia` its matrix about the centre. Nodes of a mass must move as one.

A range `angle: [a, b, p, q, least, most]` is between the directions a to b and p to q,
in degrees: 0 where they are the same, 180 where they are opposite. With a, b, c in line
and b between the others, [a, b, b, c] is 0 and [b, a, b, c] is 180. Both edges must be
links or lie within a rigid body, so that it is known by their dot product. A bound that
is null is none.

Links, springs, hinges and panels are counted from 0 in the order of their own keys.
"""

from collections.abc import Callable, Mapping, Sequence
from inspect import signature
from typing import Annotated, Any, Literal, get_type_hints

import numpy as np
from pydantic import (
    AfterValidator,
    BeforeValidator,
    Field,
    ValidationInfo,
    WithJsonSchema,
    create_model,
)

from pipeline.config.config_files import located
from pipeline.config.value_types import Entry, OneOf, Point, Positive, Rows, numbers
from sim.contact.bodies_that_may_meet import Solids
from sim.core.arrays import Ints
from sim.core.options import refuse_missing
from sim.mechanism.constraints import (
    NODES,
    Constraint,
    ConstraintKind,
    ConstraintTable,
)
from sim.mechanism.dynamics.rigid_masses import RigidMass
from sim.mechanism.joints import Plane
from sim.mechanism.ranges import Ranges
from sim.mechanism.statics.elastic_parts import Panels
from sim.mechanism.statics.loaded_structure import Growth, GrowthLaw
from sim.mechanism.structure import Structure
from sim.mechanism.structure_builder import JOINTS, Draft, Pair


def _is_there(value: int, info: ValidationInfo) -> int:
    """One of the nodes that the context counts, if it does."""
    count = (info.context or {}).get("nodes")
    if count is not None and not 0 <= value < count:
        raise ValueError(f"is {value}: the structure has nodes 0 to {count - 1}")
    return value


def counted(nodes: Any) -> dict[str, int]:
    """The context in which a `Node` is one of a list of nodes."""
    return {"nodes": len(nodes)} if isinstance(nodes, list) and nodes else {}


FORMS = [{"type": "integer"}, {"type": "string"}]  # names are read as numbers
Named = Annotated[int, WithJsonSchema({"anyOf": FORMS})]
Node = Annotated[Named, AfterValidator(_is_there)]
Two = Annotated[tuple[Named, Named], numbers(2)]
Three = Annotated[tuple[Named, Named, Named], numbers(3)]
Linked = Annotated[tuple[Named, Named, Positive | None], numbers(3, 2)]


SIZED = {Pair: Two, Plane: Three, Pair | None: Two | None, Plane | None: Three | None}


def entry_of(name: str, maker: Callable[..., Any], types: Mapping[Any, Any]) -> Any:
    """An entry of a file, of what a class or a method takes.

    Parameters
    ----------
    types : in a file, by those of the parameters
    """
    hints, fields = get_type_hints(maker), dict[str, Any]()
    for key, one in signature(maker).parameters.items():
        if key != "self":
            default = ... if one.default is one.empty else one.default
            fields[key] = types.get(hints[key], hints[key]), default
    made = create_model(name, __base__=Entry, __doc__=maker.__doc__, **fields)
    return Annotated[made | None, Field(default=None)]


class JointEntry(OneOf):
    """One joint: its kind, and what it joins.

    Attributes
    ----------
    hinge : turns about an axis
    spherical : turns about a point
    universal : turns about two axes that cross
    cylindrical : turns about a line and slides along it
    prismatic : slides along a line
    plane_point : a node keeps its height over a plane
    line_point : a node stays on a line
    parallel_plane_line : a line keeps its slope against a plane
    parallel_planes : two planes stay parallel
    planar : two planes stay parallel at their distance
    fixed : two bodies become one
    limited : the distance of two nodes has limits; prefer `ranges`
    """

    remedy = "give one type of joint per entry"

    __annotations__ = {k: entry_of(k, getattr(Draft, k), SIZED) for k in JOINTS}


def _held(value: Any) -> Any:
    """A node, or a node and its axes."""
    if type(value) is int:
        return value, "xyz"
    if isinstance(value, list | tuple) and len(value) == 2:
        axes = value[1]
        if isinstance(axes, str) and axes and set(axes) <= set("xyz"):
            return tuple(value)
    raise ValueError(f"is {value!r}: give a node, or [node, axes] such as [0, xy]")


Held = Annotated[
    tuple[int, str],
    BeforeValidator(_held),
    WithJsonSchema({"anyOf": [*FORMS, {"type": "array", "maxItems": 2}]}),
]


Matrix = Annotated[tuple[Point, Point, Point], numbers(3)]


class RigidMassEntry(Entry):
    """The mass of one node, or of nodes that move as one.

    Attributes
    ----------
    nodes : of the body that has the mass
    mass : kg
    centre : place of its centre of mass; without it that of uniform rods, triangles,
        tetrahedra
    inertia : 3 x 3 matrix about the centre, kg times a length of the file squared
    """

    nodes: Annotated[list[Named], Field(min_length=1)]
    mass: Positive
    centre: Point | None = None
    inertia: Matrix | None = None

    @property
    def made(self) -> RigidMass:
        """The mass, as dynamics needs it."""
        return RigidMass(
            tuple(self.nodes),
            self.mass,
            None if self.centre is None else np.array(self.centre),
            None if self.inertia is None else np.array(self.inertia),
        )


LONGEST = 1e100  # largest bound of a length: its square is still a number
SOLIDS = {"radii": 1, "capsules": 2, "triangles": 3}  # nodes of each
RANGES = {
    "length": ConstraintKind.DIST,
    "angle": ConstraintKind.DOT,
    "dot": ConstraintKind.DOT,
    "triple": ConstraintKind.TRIPLE,
}
ANGLE = (
    "[a, b, c, d, least, most]: degrees between the vectors a to b and c to d, 0 if "
    "parallel; [b, a, b, c] is the angle at node b, 180 if straight"
)
Length = Annotated[float, Field(ge=0.0, le=LONGEST)] | None
Degrees = Annotated[float, Field(ge=0.0, le=180.0)] | None
Product = float | None
PairRange = Annotated[tuple[Node, Node, Length, Length], numbers(4)]
AngleRange = Annotated[tuple[Node, Node, Node, Node, Degrees, Degrees], numbers(6)]
Four = Annotated[tuple[Node, Node, Node, Node, Product, Product], numbers(6)]
Six = Annotated[tuple[Node, Node, Node, Node, Node, Node, Product, Product], numbers(8)]


class RangesFile(Entry):
    """Ranges by the quantity that they limit.

    Attributes
    ----------
    length : [a, b, least, most]: distance of two nodes
    dot : [a, b, c, d, least, most]: dot product of the vectors a to b and c to d
    triple : [a, b, c, d, e, f, least, most]: triple product of three such vectors
    """

    length: Rows[PairRange]
    angle: Annotated[Rows[AngleRange], Field(description=ANGLE)]
    dot: Rows[Four]
    triple: Rows[Six]


class StructureEntries(Entry):
    """Links, joints, supports, masses, solid bodies and ranges of a structure file.

    Attributes
    ----------
    links : [a, b], as long as drawn, or [a, b, length]
    joints : between bodies
    fixed : nodes that stay, or [node, axes]
    planar : axis along which no node moves
    masses : of bodies, for motions
    radii : [node, radius]: spheres that cannot overlap
    capsules : [a, b, radius]: rods that cannot overlap
    triangles : [a, b, c, thickness]: panels that cannot overlap
    ranges : limits of lengths and angles
    """

    links: Rows[Linked]
    joints: Rows[JointEntry]
    fixed: Rows[Held]
    planar: Annotated[Literal["x", "y", "z"] | None, Field(default=None)]
    masses: Rows[RigidMassEntry]
    radii: Rows[Annotated[tuple[Named, float], numbers(2)]]
    capsules: Rows[Annotated[tuple[Named, Named, float], numbers(3)]]
    triangles: Rows[Annotated[tuple[Named, Named, Named, float], numbers(4)]]
    ranges: Annotated[RangesFile, Field(default={}, validate_default=True)]


def draft_of(
    content: StructureEntries,
    nodes: list[tuple[float, float, float]],
    bodies: list[list[int]],
    precision: float = 0.0,
) -> Draft:
    """The draft of a structure; errors begin with the place."""
    draft = Draft(nodes, precision)
    for i, (node, axes) in enumerate(content.fixed):
        with located(f"fixed[{i}]"):
            draft.held(node, axes)
    if content.planar is not None:
        for node in range(len(nodes)):
            if not any(node == n and content.planar in a for n, a in content.fixed):
                draft.held(node, content.planar)
    for i, link in enumerate(content.links):
        with located(f"links[{i}]"):
            draft.link(*link)
    for i, body in enumerate(bodies):
        with located(f"bodies[{i}]"):
            draft.body(*body)
    for i, joint in enumerate(content.joints):
        (kind,) = joint.named
        with located(f"joints[{i}].{kind}"):
            getattr(draft, kind)(**dict(getattr(joint, kind)))
    return draft


def masses_document(masses: tuple[RigidMass, ...]) -> list[dict[str, object]]:
    """The entry of a file."""
    return [
        {"nodes": list(m.nodes), "mass": m.mass}
        | ({} if m.centre is None else {"centre": m.centre.tolist()})
        | ({} if m.inertia is None else {"inertia": m.inertia.tolist()})
        for m in masses
    ]


def solids_of(content: StructureEntries) -> Solids:
    """The solid bodies of a file."""
    arrays: list[Any] = []
    for key, count in SOLIDS.items():
        rows = np.array(getattr(content, key), dtype=np.float64).reshape(-1, count + 1)
        arrays += [rows[:, :count].astype(np.int64), rows[:, count].copy()]
    return Solids(*arrays)


def ranges_of(content: StructureEntries, structure: Structure, draft: Draft) -> Ranges:
    """The ranges of a file with the constraints and bodies of `structure`."""
    rows: list[Constraint] = []
    bounds: list[tuple[float, float, float]] = []
    joints: list[str] = []
    for name, entries in content.ranges:
        for i, (*nodes, low, high) in enumerate(entries):
            where = f"ranges.{name}[{i}]"
            rows.append(Constraint(RANGES[name], tuple(nodes)))
            bounds.append(_in_unit(where, name, nodes, structure, (low, high)))
            half = len(nodes) // 2
            pair = nodes[:half], nodes[half:]
            joints.append("" if name == "triple" else draft.joint_between(*pair))
    least, most, product = np.array(bounds, dtype=np.float64).reshape(-1, 3).T.copy()
    return Ranges(ConstraintTable.of(rows), least, most, product, tuple(joints))


def volume_document(solids: Solids, ranges: Ranges) -> dict[str, object]:
    """The part of a file from which the same bodies and ranges are made."""
    content: dict[str, object] = {}
    for key, (_, nodes, _, sizes) in zip(SOLIDS, solids.kinds, strict=True):
        if len(nodes):
            pairs = zip(nodes.tolist(), sizes.tolist(), strict=True)
            content[key] = [[*own, size] for own, size in pairs]
    written: dict[str, list[list[float | None]]] = {}
    for i in range(len(ranges)):
        kind = ConstraintKind(ranges.table.kind[i])
        name = "length" if kind is ConstraintKind.DIST else kind.name.lower()
        bounds = [
            float(np.sqrt(max(bound, 0.0)) if name == "length" else bound)
            if np.isfinite(bound)
            else None
            for bound in (ranges.least[i], ranges.most[i])
        ]
        nodes = ranges.table.nodes[i, : NODES[kind]].tolist()
        written.setdefault(name, []).append([*nodes, *bounds])
    if written:
        content["ranges"] = written
    return content


def _in_unit(
    where: str,
    name: str,
    nodes: list[int],
    structure: Structure,
    bounds: tuple[float | None, float | None],
) -> tuple[float, float, float]:
    """Bounds of the row: squares of lengths, dot products for angles.

    At last the product of the lengths of an angle's edges, nan of what is no angle.
    """
    least, most = bounds
    if None not in bounds and not least < most:  # type: ignore[operator]
        raise ValueError(
            f"{where} is empty: least {least:g} is not below most {most:g}; give least "
            "below most, or hold the value by a constraint"
        )
    if name == "angle":
        a, b = nodes[:2], nodes[2:]
        product = _length(where, structure, a) * _length(where, structure, b)
        low, high = 0.0 if least is None else least, 180.0 if most is None else most
        cosines = np.cos(np.deg2rad([high, low])) * product
        return (
            -np.inf if high == 180.0 else float(cosines[0]),
            np.inf if low == 0.0 else float(cosines[1]),
            product,
        )
    power = 2 if name == "length" else 1
    return (
        -np.inf if least is None else least**power,
        np.inf if most is None else most**power,
        np.nan,
    )


def _length(where: str, structure: Structure, ends: Sequence[int]) -> float:
    table = structure.constraints
    own = np.sort(table.nodes[:, :2], axis=1) == sorted(ends)
    found = np.flatnonzero((table.kind == ConstraintKind.DIST) & own.all(axis=1))
    if not len(found):
        if table.owners and any(set(ends) <= set(body) for body in structure.bodies):
            return float(np.linalg.norm(np.subtract(*structure.r0[list(ends)])))
        raise ValueError(
            f"{where} names the edge {ends[0]}-{ends[1]}, which is not a link: list it "
            "under `links` or `dist`, or make both nodes part of one body"
        )
    return float(np.sqrt(table.constant[found[0]]))


Triple = Annotated[tuple[float, float, float], numbers(3)]
PanelRow = Annotated[tuple[Node, Node, Node, float, float, float], numbers(6)]


class GrowthEntry(Entry):
    """Parts of one material.

    Attributes
    ----------
    links, springs, panels, hinges : those that grow, by number from 0 in their own list
    strain : [field, strain, u] of links, springs and panels
    turn : [field, degrees, u] of hinges
    """

    links: Rows[int]
    springs: Rows[int]
    panels: Rows[int]
    hinges: Rows[int]
    strain: Rows[Triple]
    turn: Rows[Triple]


class StructureGrowth(Entry):
    """Panels and growth in a structure file.

    Attributes
    ----------
    panels : [a, b, c, modulus, Poisson's ratio, thickness]: triangles in plane stress
    growth : parts of one material, whose rest lengths or angles follow a field
    """

    panels: Rows[PanelRow]
    growth: Rows[GrowthEntry]


def panels_of(r: Any, nodes: Ints, rows: Sequence[Sequence[Any]]) -> Panels:
    """Panels at rest in the nodes `r` (n, 3) as given, their corners `nodes` (p, 3)."""
    modulus, poisson, thickness = (
        np.array([row[3:] for row in rows], dtype=np.float64).reshape(-1, 3).T
    )
    return Panels.between(r, nodes, modulus, poisson, thickness)


def growths_of(content: Any, rows: Sequence[Sequence[int]]) -> tuple[Growth, ...]:
    """The growth of each entry of a file with links, springs, hinges and panels.

    Parameters
    ----------
    rows : of the constraints that are each link, one unless others hold its length
    """
    seen: dict[tuple[str, int], int] = {}
    for i, entry in enumerate(content.growth):
        for kind in ("links", "springs", "hinges", "panels"):
            where, parts = f"growth[{i}].{kind}", getattr(entry, kind)
            count = len(getattr(content, kind))
            refuse_missing(f"{where} is {{}}", parts, count, f"the file has {kind}")
            for part in parts:
                if (kind, part) in seen:
                    other = seen[kind, part]
                    raise ValueError(
                        f"{where}: {part} is in growth[{other}] too: remove one"
                    )
                seen[kind, part] = i
                if kind == "links" and len(rows[part]) != 1:
                    raise ValueError(
                        f"{where}: another part fixes the length of link {part}: "
                        "remove one of them"
                    )
    return tuple(
        _growth(entry, f"growth[{i}]", rows) for i, entry in enumerate(content.growth)
    )


def _growth(entry: GrowthEntry, name: str, rows: Sequence[Sequence[int]]) -> Growth:
    turns, grows = bool(entry.hinges), entry.links or entry.springs or entry.panels
    given = turns, bool(entry.turn), bool(grows), bool(entry.strain)
    if given not in ((True, True, False, False), (False, False, True, True)):
        raise ValueError(
            f"{name}: give links, springs or panels with `strain`, or hinges with "
            "`turn`; a row of `strain` or `turn` is [field, value, u]"
        )
    springs, hinges, panels = (
        np.array(part, dtype=np.int64)
        for part in (entry.springs, entry.hinges, entry.panels)
    )
    table = entry.turn if turns else entry.strain
    law = GrowthLaw.of(table, f"{name}.{'turn' if turns else 'strain'}", turn=turns)
    if turns:
        law = GrowthLaw(law.field, np.radians(law.strain), np.radians(law.u))
    rigid = np.array([rows[link][0] for link in entry.links], dtype=np.int64)
    return Growth(law, springs, hinges, panels, rigid)
