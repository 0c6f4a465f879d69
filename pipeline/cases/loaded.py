"""What an equilibrium case is about: structures with supports, loads and stiffness."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Annotated, Any

import numpy as np

from pipeline.config.models import Rows, numbers
from pipeline.formats.structure_file import StructureFile, read_content, structure_of
from pipeline.formats.structure_growth import (
    Counts,
    StructureGrowth,
    growths_of,
    panels_of,
)
from sim.arrays import Floats, Ints
from sim.morph.statics.elastic import Elastic
from sim.morph.statics.growth import GrowingStructure
from sim.morph.statics.hinged import hinges_between, soft_links
from sim.morph.statics.loaded import LoadedStructure
from sim.morph.structure.constraints import Constraint, ConstraintKind, ConstraintTable
from sim.morph.structure.structure import Structure
from sim.morph.targets.goals import Goals
from sim.morph.targets.protocol import Target

Matrix = Sequence[Sequence[float]]
Pushed = Annotated[tuple[int, float, float, float], numbers(4)]


class LoadedFile(StructureGrowth, StructureFile):
    """A structure file with elastic parts, loads and supports."""

    springs: Rows[Annotated[tuple[int, int, float, float | None], numbers(4, 3)]]
    hinges: Rows[
        Annotated[tuple[int, int, int, int, float, float | None], numbers(6, 5)]
    ]
    loads: Rows[Pushed]
    supports: Rows[Pushed]


def loaded_structure(
    structure: Structure,
    *,
    link_stiffness: float | None = None,
    hinge_stiffness: float | None = None,
    supports: Matrix = (),
    loads: Matrix = (),
    spring: float = 0.0,
    target: Target | None = None,
) -> LoadedStructure:
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
) -> LoadedStructure:
    """A structure file that may have elastic parts, growth, loads and supports as well.

        springs   [[a, b, stiffness, rest length], ...]
        hinges    [[i, j, k, l, stiffness, rest angle in degrees], ...]
        loads     [[node, x, y, z], ...]
        supports  [[node, x, y, z], ...], 1 where the node is held

    j-k is the axis of a hinge, i and l are nodes beside it; 180 degrees are flat. A
    length or angle that is left out is that of the nodes as given. Panels and growth:
    `pipeline.formats.structure_growth`.

    Parameters
    ----------
    spring : stiffness by which each leading node hangs on the target, or on its goal
        where there is no target
    """
    content = read_content(path, LoadedFile)
    try:
        structure = structure_of(content)
        elastic = _elastic(structure.r0, content)
        aim = target
        if aim is None and structure.goals is not None:
            aim = Goals(structure.goals)
        made = _loaded(structure, elastic, content.supports, content.loads, spring, aim)
        if not content.growth:
            return made
        elastic = made.elastic
        parts = (content.links, elastic.links, elastic.hinges, elastic.panels)
        counts, rows = Counts(*(len(part) for part in parts)), _rows(structure, content)
        growths = growths_of(content, counts, rows)
        return GrowingStructure(**vars(made), growths=growths)
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None


def _rows(structure: Structure, content: LoadedFile) -> list[list[int]]:
    """The constraints that are each link; none of one within a body."""
    owners, bodies = structure.constraints.owners, structure.bodies
    return [
        [row for row, owner in enumerate(owners) if owner == f"link {a}-{b}"]
        if not any(len(body) > 2 and {a, b} <= set(body) for body in bodies)
        else []
        for a, b, _ in content.links
    ]


def _elastic(r0: Floats, content: LoadedFile) -> Elastic:
    links, hinges = content.springs, content.hinges
    made = Elastic.between(
        r0,
        _nodes("springs", links, 2, len(r0)),
        1.0,
        _nodes("hinges", hinges, 4, len(r0)),
    )
    length, angle = made.rest_length.copy(), made.rest_angle.copy()
    for i, link in enumerate(links):
        if link[3] is not None:
            length[i] = link[3]
    for i, hinge in enumerate(hinges):
        if hinge[5] is not None:
            angle[i] = np.radians(hinge[5])
    return replace(
        made,
        link_stiffness=np.array([link[2] for link in links], dtype=np.float64),
        rest_length=length,
        hinge_stiffness=np.array([hinge[4] for hinge in hinges], dtype=np.float64),
        rest_angle=angle,
        panels=panels_of(
            r0, _nodes("panels", content.panels, 3, len(r0)), content.panels
        ),
    )


def _nodes(key: str, rows: Sequence[Sequence[Any]], count: int, n: int) -> Ints:
    """(rows, count) the nodes that rows begin with."""
    for i, row in enumerate(rows):
        for node in row[:count]:
            if type(node) is not int or not 0 <= node < n:
                given = [value for value in row if value is not None]
                raise ValueError(
                    f"{key}[{i}] is {given}: its first {count} must be nodes, "
                    f"0 to {n - 1}"
                )
    chosen = [list(row[:count]) for row in rows]
    return np.array(chosen, dtype=np.int64).reshape(-1, count)


def _loaded(
    structure: Structure,
    elastic: Elastic,
    supports: Matrix,
    loads: Matrix,
    spring: float,
    target: Target | None,
) -> LoadedStructure:
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
        Constraint(
            ConstraintKind.FIX, (int(node), axis), float(structure.r0[node, axis])
        )
        for (node,), row in zip(
            _nodes("supports", supports, 1, n), supports, strict=True
        )
        for axis in range(3)
        if row[1 + axis]
    ]
    joined = structure.constraints.followed_by(ConstraintTable.of(fixed))
    return LoadedStructure(
        replace(structure, constraints=joined), elastic, force, springs, target
    )
