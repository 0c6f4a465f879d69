"""What an equilibrium case is about: structures with supports, loads and stiffness."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from pipeline.cases.structure_file import Content, read_content, structure_of
from sim.arrays import Floats, Ints
from sim.morph.constraints import Constraint, Kind, Table
from sim.morph.elastic import Elastic
from sim.morph.hinged import hinges_between, soft_links
from sim.morph.loaded import Loaded
from sim.morph.structure import Structure
from sim.morph.targets.goals import Goals
from sim.morph.targets.protocol import Target

Rows = Sequence[Sequence[float]]
ELASTIC_KEYS = ("springs", "hinges", "loads", "supports")


def loaded_structure(
    structure: Structure,
    *,
    link_stiffness: float | None = None,
    hinge_stiffness: float | None = None,
    supports: Rows = (),
    loads: Rows = (),
    spring: float = 0.0,
    target: Target | None = None,
) -> Loaded:
    """A structure from `sim.morph`, all its links and hinges alike.

    Parameters
    ----------
    link_stiffness : of every link, force / length; rigid where none is given
    hinge_stiffness : of the hinge wherever two triangular bodies share a side, moment
        / rad, at rest in the initial configuration; free where none is given
    supports : rows (node, x, y, z), 1 where the node is held
    loads : rows (node, x, y, z) of forces
    spring : stiffness by which each leading node hangs on the target
    """
    hinges, r0 = hinges_between(structure.bodies), structure.r0
    if hinge_stiffness is not None and not len(hinges):
        raise ValueError(
            "hinge_stiffness is given, but no two triangular bodies share a side: "
            "leave it out"
        )
    bent = hinges if hinge_stiffness is not None else hinges[:0]
    no_links = np.empty((0, 2), dtype=np.int64)
    elastic = Elastic.between(r0, no_links, 1.0, bent, hinge_stiffness or 1.0)
    made = structure
    if link_stiffness is not None:
        made, links = soft_links(structure, link_stiffness)
        elastic = replace(
            elastic,
            links=links.links,
            link_stiffness=links.link_stiffness,
            rest_length=links.rest_length,
        )
    return _loaded(made, elastic, supports, loads, spring, target)


def loaded_file(
    path: str, *, spring: float = 0.0, target: Target | None = None
) -> Loaded:
    """A structure file that may have springs, hinges, loads and supports as well.

        springs   [[a, b, stiffness, rest length], ...]
        hinges    [[i, j, k, l, stiffness, rest angle in degrees], ...]
        loads     [[node, x, y, z], ...]
        supports  [[node, x, y, z], ...], 1 where the node is held

    j-k is the axis of a hinge, i and l are nodes beside it; 180 degrees are flat. A
    length or angle that is left out is that of the nodes as given.

    Parameters
    ----------
    spring : stiffness by which each leading node hangs on the target, or on its goal
        where there is no target
    """
    content = read_content(path)
    try:
        own = {key: content.pop(key, []) for key in ELASTIC_KEYS}
        structure = structure_of(content, ELASTIC_KEYS)
        elastic = _elastic(structure.r0, own)
        supports = _rows("supports", own["supports"], 4, 4)
        loads = _rows("loads", own["loads"], 4, 4)
        aim = target
        if aim is None and structure.goals is not None:
            aim = Goals(structure.goals)
        return _loaded(structure, elastic, supports, loads, spring, aim)
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None


def _elastic(r0: Floats, own: Content) -> Elastic:
    links = _rows("springs", own["springs"], 3, 4)
    hinges = _rows("hinges", own["hinges"], 5, 6)
    made = Elastic.between(
        r0,
        _nodes("springs", links, 2, len(r0)),
        1.0,
        _nodes("hinges", hinges, 4, len(r0)),
    )
    length, angle = made.rest_length.copy(), made.rest_angle.copy()
    for i, row in enumerate(links):
        if len(row) == 4:
            length[i] = row[3]
    for i, row in enumerate(hinges):
        if len(row) == 6:
            angle[i] = np.radians(row[5])
    return replace(
        made,
        link_stiffness=np.array([row[2] for row in links], dtype=np.float64),
        rest_length=length,
        hinge_stiffness=np.array([row[4] for row in hinges], dtype=np.float64),
        rest_angle=angle,
    )


def _rows(key: str, content: object, least: int, most: int) -> list[list[float]]:
    """Rows of numbers, or what is wrong with them."""
    if not isinstance(content, list):
        raise ValueError(f"`{key}` is not a list: give [[...], ...]")
    for i, row in enumerate(content):
        if not (
            isinstance(row, list)
            and least <= len(row) <= most
            and all(type(value) in (int, float) for value in row)
        ):
            size = f"{least}" if least == most else f"{least} or {most}"
            raise ValueError(f"{key}[{i}] is {row}: it needs {size} numbers")
    return content


def _nodes(key: str, rows: Rows, count: int, n: int) -> Ints:
    """(rows, count) the nodes that rows begin with."""
    for i, row in enumerate(rows):
        for node in row[:count]:
            if type(node) is not int or not 0 <= node < n:
                raise ValueError(
                    f"{key}[{i}] is {list(row)}: its first {count} must be nodes, "
                    f"0 to {n - 1}"
                )
    chosen = [list(row[:count]) for row in rows]
    return np.array(chosen, dtype=np.int64).reshape(-1, count)


def _loaded(
    structure: Structure,
    elastic: Elastic,
    supports: Rows,
    loads: Rows,
    spring: float,
    target: Target | None,
) -> Loaded:
    n = len(structure.r0)
    force, springs = np.zeros((n, 3)), np.zeros(n)
    for (node,), row in zip(_nodes("loads", loads, 1, n), loads, strict=True):
        force[node] += row[1:4]
    springs[structure.leading] = spring
    if spring and target is None:
        raise ValueError("spring is given and no target: name what nodes hang on")
    for row in supports:
        if not all(value in (0, 1) for value in row[1:4]):
            raise ValueError(
                f"supports has {list(row)}: give a node, then for x, y and z 1 where "
                "it is held and 0 where it is free"
            )
    fixed = [
        Constraint(Kind.FIX, (int(node), axis), float(structure.r0[node, axis]))
        for (node,), row in zip(
            _nodes("supports", supports, 1, n), supports, strict=True
        )
        for axis in range(3)
        if row[1 + axis]
    ]
    joined = structure.constraints.followed_by(Table.of(fixed))
    return Loaded(
        replace(structure, constraints=joined), elastic, force, springs, target
    )
