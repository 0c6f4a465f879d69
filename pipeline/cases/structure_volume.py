"""Bodies and ranges in structure files.

    radii      [[node, radius], ...], balls
    capsules   [[a, b, radius], ...], around the line from a to b
    triangles  [[a, b, c, thickness], ...], panels
    ranges     {length: [[a, b, least, most], ...],
                angle: [[a, b, p, q, least, most], ...],
                dot: [[a, b, p, q, least, most], ...],
                triple: [[a, b, p, q, s, t, least, most], ...]}

An angle is that from edge ab to edge pq, in degrees from 0 to 180; both edges must be
links under `dist`, so that it is known by their dot product. A bound that is null is
none.
"""

import numpy as np

from sim.arrays import Floats, Ints
from sim.morph.constraints import NODES, Constraint, Kind, Table
from sim.morph.ranges import Ranges
from sim.morph.solids import Solids

SOLIDS = {"radii": 1, "capsules": 2, "triangles": 3}  # nodes of each
RANGES = {
    "length": Kind.DIST,
    "angle": Kind.DOT,
    "dot": Kind.DOT,
    "triple": Kind.TRIPLE,
}


def solids_of(content: dict[str, object]) -> Solids:
    """The bodies of a file."""
    ball, radius = _bodies(content, "radii")
    capsule, capsule_radius = _bodies(content, "capsules")
    panel, thickness = _bodies(content, "triangles")
    return Solids(ball, radius, capsule, capsule_radius, panel, thickness)


def ranges_of(content: dict[str, object], table: Table) -> Ranges:
    """The ranges of a file with the constraints `table`."""
    asked = content.get("ranges", {})
    if not isinstance(asked, dict):
        raise ValueError("`ranges` is not an object: give {length: [...], ...}")
    rows: list[tuple[Constraint, float, float]] = []
    for name, entries in asked.items():
        if name not in RANGES:
            raise ValueError(
                f"`ranges` has no `{name}`: the keys are {', '.join(RANGES)}"
            )
        count = int(NODES[RANGES[name]])
        for i, entry in enumerate(_entries(f"ranges.{name}", entries)):
            where = f"ranges.{name}[{i}]"
            nodes = _nodes(where, entry, count, 2)
            least, most = (_bound(where, value) for value in entry[count:])
            bounds = _in_unit(where, name, nodes, table, (least, most))
            rows.append((Constraint(RANGES[name], tuple(nodes)), *bounds))
    return Ranges(
        Table.of([row for row, _, _ in rows]),
        np.array([least for _, least, _ in rows], dtype=np.float64),
        np.array([most for _, _, most in rows], dtype=np.float64),
    )


def volume_document(solids: Solids, ranges: Ranges) -> dict[str, object]:
    """The part of a file from which the same bodies and ranges are made."""
    content: dict[str, object] = {}
    for key, (_, nodes, _, sizes) in zip(SOLIDS, solids.kinds, strict=True):
        if len(nodes):
            pairs = zip(nodes.tolist(), sizes.tolist(), strict=True)
            content[key] = [[*own, size] for own, size in pairs]
    written: dict[str, list[list[float | None]]] = {}
    for i in range(len(ranges)):
        kind = Kind(ranges.table.kind[i])
        name = "length" if kind is Kind.DIST else kind.name.lower()
        bounds = [
            ranges.shown(i, float(bound)) if np.isfinite(bound) else None
            for bound in (ranges.least[i], ranges.most[i])
        ]
        nodes = ranges.table.nodes[i, : NODES[kind]].tolist()
        written.setdefault(name, []).append([*nodes, *bounds])
    if written:
        content["ranges"] = written
    return content


def _bodies(content: dict[str, object], key: str) -> tuple[Ints, Floats]:
    count, nodes, sizes = SOLIDS[key], [], []
    for i, entry in enumerate(_entries(key, content.get(key, []))):
        nodes.append(_nodes(f"{key}[{i}]", entry, count, 1))
        sizes.append(_number(f"{key}[{i}]", entry[-1]))
    shaped: Ints = np.array(nodes, dtype=np.int64).reshape(-1, count)
    return shaped, np.array(sizes, dtype=np.float64)


def _entries(name: str, entries: object) -> list[list[object]]:
    if not isinstance(entries, list) or not all(isinstance(e, list) for e in entries):
        raise ValueError(f"`{name}` is not a list of lists: give [[...], ...]")
    return entries


def _nodes(where: str, entry: list[object], count: int, more: int) -> list[int]:
    if len(entry) != count + more:
        raise ValueError(f"{where} is {entry}: it needs {count + more} numbers")
    nodes = [value for value in entry[:count] if type(value) is int]
    if len(nodes) < count:
        raise ValueError(f"{where} is {entry}: its first {count} must be integers")
    return nodes


def _number(where: str, value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError(f"{where} has {value!r}: give a number there")
    return float(value)


def _bound(where: str, value: object) -> float | None:
    return None if value is None else _number(where, value)


def _in_unit(
    where: str,
    name: str,
    nodes: list[int],
    table: Table,
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
        product = _length(where, table, nodes[:2]) * _length(where, table, nodes[2:])
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
        if min(value for value in (least, most, 0.0) if value is not None) < 0.0:
            raise ValueError(f"{where} has a negative length: give none below 0")
        return (
            -np.inf if least is None else least**2,
            np.inf if most is None else most**2,
        )
    return -np.inf if least is None else least, np.inf if most is None else most


def _length(where: str, table: Table, ends: list[int]) -> float:
    own = np.sort(table.nodes[:, :2], axis=1) == sorted(ends)
    found = np.flatnonzero((table.kind == Kind.DIST) & own.all(axis=1))
    if not len(found):
        raise ValueError(
            f"{where} names the edge {ends[0]}-{ends[1]}, which is no link: list it "
            "under `dist`, or give a range of the dot product"
        )
    return float(np.sqrt(table.constant[found[0]]))
