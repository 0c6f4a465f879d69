"""Bodies and ranges in structure files.

    radii      [[node, radius], ...], balls
    capsules   [[a, b, radius], ...], around the line from a to b
    triangles  [[a, b, c, thickness], ...], panels
    ranges     {length: [[a, b, least, most], ...],
                angle: [[a, b, p, q, least, most], ...],
                dot: [[a, b, p, q, least, most], ...],
                triple: [[a, b, p, q, s, t, least, most], ...]}

An angle is between the directions a to b and p to q, in degrees: 0 where they are the
same, 180 where they are opposite. With a, b, c in line and b between the others,
[a, b, b, c] is 0 and [b, a, b, c] is 180. Both edges must be links or lie within a
rigid body, so that it is known by their dot product. A bound that is null is none.
"""

from collections.abc import Sequence
from typing import Annotated

import numpy as np
from pydantic import Field

from pipeline.config.models import Entry, Rows, numbers
from sim.arrays import Floats, Ints
from sim.morph.library.draft import Draft
from sim.morph.structure.constraints import (
    NODES,
    Constraint,
    ConstraintKind,
    ConstraintTable,
)
from sim.morph.structure.ranges import Ranges
from sim.morph.structure.solids import Solids
from sim.morph.structure.structure import Structure

LONGEST = 1e100  # of a range: its square is a number still
SOLIDS = {"radii": 1, "capsules": 2, "triangles": 3}  # nodes of each
RANGES = {
    "length": ConstraintKind.DIST,
    "angle": ConstraintKind.DOT,
    "dot": ConstraintKind.DOT,
    "triple": ConstraintKind.TRIPLE,
}


Two = Annotated[tuple[int, int, float | None, float | None], numbers(4)]
Four = Annotated[tuple[int, int, int, int, float | None, float | None], numbers(6)]
Six = Annotated[
    tuple[int, int, int, int, int, int, float | None, float | None], numbers(8)
]


ANGLE = (
    "[a, b, c, d, least, most]: degrees between the directions a to b and c to d, 0 "
    "where they are the same; at a node b, [b, a, b, c] is 180 if a, b, c are in line"
)


class RangesFile(Entry):
    """Ranges by what they are of."""

    length: Rows[Two]
    angle: Annotated[Rows[Four], Field(description=ANGLE)]
    dot: Rows[Four]
    triple: Rows[Six]


class StructureVolume(Entry):
    """What takes room in a structure file, and ranges."""

    radii: Rows[Annotated[tuple[int, float], numbers(2)]]
    capsules: Rows[Annotated[tuple[int, int, float], numbers(3)]]
    triangles: Rows[Annotated[tuple[int, int, int, float], numbers(4)]]
    ranges: Annotated[RangesFile, Field(default={}, validate_default=True)]


def solids_of(content: StructureVolume) -> Solids:
    """The bodies of a file."""
    ball, radius = _bodies(content, "radii")
    capsule, capsule_radius = _bodies(content, "capsules")
    panel, thickness = _bodies(content, "triangles")
    return Solids(ball, radius, capsule, capsule_radius, panel, thickness)


def ranges_of(content: StructureVolume, structure: Structure, draft: Draft) -> Ranges:
    """The ranges of a file with the constraints and bodies of `structure`."""
    rows: list[tuple[Constraint, float, float]] = []
    joints: list[str] = []
    for name, entries in content.ranges:
        for i, entry in enumerate(entries):
            *nodes, least, most = entry
            where = f"ranges.{name}[{i}]"
            bounds = _in_unit(where, name, nodes, structure, (least, most))
            rows.append((Constraint(RANGES[name], tuple(nodes)), *bounds))
            half = len(nodes) // 2
            pair = nodes[:half], nodes[half:]
            joints.append("" if name == "triple" else draft.joint_between(*pair))
    return Ranges(
        ConstraintTable.of([row for row, _, _ in rows]),
        np.array([least for _, least, _ in rows], dtype=np.float64),
        np.array([most for _, _, most in rows], dtype=np.float64),
        _products(content, structure),
        tuple(joints),
    )


def _products(content: StructureVolume, structure: Structure) -> Floats:
    """(q,) product of the lengths of an angle's edges, nan of what is no angle."""
    found = [
        _length("", structure, entry[:2]) * _length("", structure, entry[2:4])
        if name == "angle"
        else np.nan
        for name, entries in content.ranges
        for entry in entries
    ]
    return np.array(found, dtype=np.float64)


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


def _bodies(content: StructureVolume, key: str) -> tuple[Ints, Floats]:
    rows = getattr(content, key)
    nodes: Ints = np.array([entry[:-1] for entry in rows], dtype=np.int64)
    sizes = np.array([entry[-1] for entry in rows], dtype=np.float64)
    return nodes.reshape(-1, SOLIDS[key]), sizes


def _in_unit(
    where: str,
    name: str,
    nodes: list[int],
    structure: Structure,
    bounds: tuple[float | None, float | None],
) -> tuple[float, float]:
    """Bounds of the row: squares of lengths, dot products for angles."""
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
        if not 0.0 <= low <= high <= 180.0:
            raise ValueError(
                f"{where} is {low:g} to {high:g} degrees: an angle is 0 to 180"
            )
        cosines = np.cos(np.deg2rad([high, low])) * product
        return (
            -np.inf if high == 180.0 else float(cosines[0]),
            np.inf if low == 0.0 else float(cosines[1]),
        )
    if name == "length":
        told = [value for value in bounds if value is not None]
        if min(told, default=0.0) < 0.0:
            raise ValueError(f"{where} has a negative length: give none below 0")
        if max(told, default=0.0) > LONGEST:
            raise ValueError(
                f"{where} has a length of {max(told):g}: give at most {LONGEST:g}, or "
                "leave it open by null"
            )
        return (
            -np.inf if least is None else least**2,
            np.inf if most is None else most**2,
        )
    return -np.inf if least is None else least, np.inf if most is None else most


def _length(where: str, structure: Structure, ends: Sequence[int]) -> float:
    table = structure.constraints
    own = np.sort(table.nodes[:, :2], axis=1) == sorted(ends)
    found = np.flatnonzero((table.kind == ConstraintKind.DIST) & own.all(axis=1))
    if not len(found):
        if table.owners and any(set(ends) <= set(body) for body in structure.bodies):
            return float(np.linalg.norm(np.subtract(*structure.r0[list(ends)])))
        raise ValueError(
            f"{where} names the edge {ends[0]}-{ends[1]}, which is no link: list it "
            "under `links` or `dist`, or make both nodes part of one body"
        )
    return float(np.sqrt(table.constant[found[0]]))
