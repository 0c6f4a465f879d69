"""An equilibrium case: a structure with supports, loads and stiffness, at rest."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Annotated, Any, NamedTuple

import numpy as np
from pydantic import AfterValidator

from pipeline.cases import record
from pipeline.config.config_files import checked, located
from pipeline.config.value_types import Entry, Rows, numbers
from pipeline.io import structure_file
from pipeline.io.structure_entries import (
    Node,
    StructureGrowth,
    growths_of,
    panels_of,
)
from sim.core.arrays import Floats, Ints
from sim.core.options import is_finite
from sim.mechanism.constraint_projection import closed
from sim.mechanism.constraint_system import system_of
from sim.mechanism.constraints import Constraint, ConstraintKind, ConstraintTable
from sim.mechanism.mobility import (
    NearDependence,
    near_dependence,
    undetermined,
    warning,
)
from sim.mechanism.obstacles import Obstacles
from sim.mechanism.shape_measures import characteristic_length
from sim.mechanism.statics.elastic_parts import (
    Elastic,
    hinges_between,
    rigid_links,
    soft_links,
)
from sim.mechanism.statics.equilibrium import Equilibrium, EquilibriumOptions, at_rest
from sim.mechanism.statics.loaded_structure import (
    GrowingStructure,
    LoadedStructure,
    refuse_free_translation,
    spread,
)
from sim.mechanism.structure import Structure
from sim.mechanism.targets.target_interface import Goals, Target

NO_GROWTH = np.empty(0)


class EquilibriumStep(NamedTuple):
    """One equilibrium.

    Attributes
    ----------
    compliance : of the links, relative to the case's; 0 where they are rigid
    field : where parts grow, the field, and the largest standard uncertainty that its
        tables leave a place of a node
    u : (n, 3) of each
    """

    s: int
    compliance: float
    body: LoadedStructure
    found: Equilibrium
    field: record.Row
    u: Floats


@dataclass(frozen=True, eq=False)
class EquilibriumCase:
    """One of conf/case, built by Hydra.

    Attributes
    ----------
    body : structure, stiffness, supports, loads, springs: `pipeline.cases.equilibrium`
    compliances : by which those of the links are multiplied, an equilibrium each, each
        found from the one before; 0 makes links rigid, and is what others are compared
        with
    values : of the field that parts grow by, one equilibrium after the other; none
        where nothing grows
    tolerance : on the unbalanced forces, relative to the largest force on a node
    residual : largest violation of a constraint, dimensionless
    max_steps : Newton steps of each equilibrium
    """

    body: LoadedStructure
    compliances: Sequence[float] = (1.0,)
    values: Sequence[float] = ()
    tolerance: float = 1e-9
    residual: float = 1e-10
    max_steps: int = 500

    def __post_init__(self) -> None:
        _ = self.options
        given = self.compliances
        listed = isinstance(given, Sequence) and given
        if not (
            listed and all(is_finite(factor) and factor >= 0.0 for factor in given)
        ):
            raise ValueError(
                f"compliances is {given}: list finite factors from 0 up, such as [1]"
            )
        refuse_free_translation(self.body)
        check_values(self.body, self.values)
        for factor, strains, _, _ in self._bodies:
            structure = self.with_compliance(factor, strains).structure
            z = closed(system_of(structure), structure, self.residual)
            if structure.is_limited:
                Obstacles.of(structure).check(z)

    @cached_property
    def options(self) -> EquilibriumOptions:
        return EquilibriumOptions(self.tolerance, self.residual, self.max_steps)

    @property
    def _bodies(self) -> Iterator[tuple[float, Floats, Floats, record.Row]]:
        """A compliance, strains of growths and their u, and the row of the field,
        for each equilibrium."""
        body = self.body
        for factor in self.compliances:
            if isinstance(body, GrowingStructure):
                for value in self.values:
                    yield factor, *body.strains(value), {"field": float(value)}
            else:
                yield factor, NO_GROWTH, NO_GROWTH, {}

    def with_compliance(
        self, factor: float, strains: Floats = NO_GROWTH
    ) -> LoadedStructure:
        """The body, grown, with the compliance of its links multiplied."""
        body = self.body
        if isinstance(body, GrowingStructure):
            body = body.grown(strains)
        elastic = body.elastic
        if factor > 0.0:
            softer = replace(elastic, link_stiffness=elastic.link_stiffness / factor)
            return replace(body, elastic=softer)
        structure, hinges = rigid_links(body.structure, elastic)
        return replace(body, structure=structure, elastic=hinges)

    def steps(self) -> Iterator[EquilibriumStep]:
        found: Equilibrium | None = None
        for s, (factor, strains, own, row) in enumerate(self._bodies):
            body = self.with_compliance(factor, strains)
            found = at_rest(body, self.options, found)
            u = spread(partial(self._places, factor, found), found.r(), strains, own)
            if row:
                row["u_place"] = float(np.linalg.norm(u, axis=1).max())
            yield EquilibriumStep(s, float(factor), body, found, row, u)

    def _places(self, factor: float, start: Equilibrium, strains: Floats) -> Floats:
        return at_rest(self.with_compliance(factor, strains), self.options, start).r()

    def recorder(self) -> "EquilibriumRecorder":
        return EquilibriumRecorder(self)


class EquilibriumRecorder(record.WholeRecorder[EquilibriumCase, EquilibriumStep]):
    """Records equilibria; how far they are from that with rigid links, at the end."""

    def row(self, step: EquilibriumStep) -> record.Row:
        found, tension = step.found, _tension(step)
        lo, hi = (tension.min(), tension.max()) if len(tension) else (0.0, 0.0)
        return {
            "step": step.s,
            "compliance": step.compliance,
            **step.field,
            "energy": found.energy,
            "away_from_rigid": np.nan,
            "force_error": np.nan,
            "largest_tension": float(hi),
            "smallest_tension": float(lo),
            "largest_moment": float(np.abs(found.deformed.moment).max(initial=0.0)),
            **record.attributes(found, "unbalanced", "residual"),
            "iterations": found.steps,
            **record.attributes(found, "negative", "neutral"),
        }

    def late(self) -> dict[str, list[float]]:
        """Of each equilibrium, how far nodes and tensions are from rigid links.

        away_from_rigid is the root mean square distance of the nodes over L,
        force_error the largest difference of tensions over the largest; nan where no
        links are rigid.
        """
        rigid = [step.found for step in self.seen if step.compliance == 0.0]
        apart = [
            self._difference(rigid[0], step.found) if rigid else (np.nan, np.nan)
            for step in self.seen
        ]
        away, error = map(list, zip(*apart, strict=True))
        return {"away_from_rigid": away, "force_error": error}

    def _difference(
        self, rigid: Equilibrium, found: Equilibrium
    ) -> tuple[float, float]:
        body = self.case.body
        L = characteristic_length(body.structure.r0)
        squares = np.square(found.r() - rigid.r()).sum(axis=1)
        away, own = float(np.sqrt(squares.mean())) / L, len(body.elastic.links)
        if found is rigid or own == 0:
            return away, 0.0
        exact = rigid.tension[len(rigid.tension) - own :]
        apart = float(np.abs(found.deformed.tension - exact).max())
        return away, apart / max(float(np.abs(exact).max()), 1e-300)

    def arrays(self, step: EquilibriumStep) -> record.Arrays:
        found = step.found
        return {
            "r": found.r(),
            "g": found.g,
            "tension": _tension(step),
            "moment": found.deformed.moment,
            "angle": found.deformed.angle,
            "support": found.support,
            "pull": found.pull,
            **({"u_r": step.u} if step.field else {}),
        }

    def progress(self, step: EquilibriumStep) -> str:
        field = f", field {step.field['field']:g}" if step.field else ""
        return f"compliance {step.compliance:g}{field}"

    def documents(self) -> record.Documents:
        return {"structure.json": structure_file.document(self.case.body.structure)}

    def fixed_arrays(self) -> record.Arrays:
        body = self.case.body
        arrays: record.Arrays = {
            "links": _links(body),
            "bars": body.elastic.links,
            "triangles": body.elastic.panels.nodes,
            "hinges": body.elastic.hinges,
            "force": body.force,
            "r0": body.structure.r0,
        }
        if body.target is not None:
            arrays |= record.wires(body.target, body.structure.r0)
        return arrays

    def tables(self) -> record.Tables:
        last = self.last
        tables: record.Tables = {"reactions.csv": _reactions(last, self._near)}
        if last.body.structure.is_limited:
            obstacles = Obstacles.of(last.body.structure)
            contacts = obstacles.touching(last.found.z, last.found.kappa)
            tables["contacts.csv"] = [touch.row() for touch in contacts]
        if last.field:
            tables["places.csv"] = [
                {
                    "node": node,
                    **record.along_axes("{}", r),
                    **record.along_axes("u_{}", u),
                }
                for node, (r, u) in enumerate(zip(last.found.r(), last.u, strict=True))
            ]
        return tables

    @cached_property
    def _near(self) -> NearDependence | None:
        last = self.last
        return near_dependence(last.body.structure, last.found.z, self.case.residual)

    def summary(self) -> record.Summary:
        last, late = self.last, self.late()
        row = self.row(last) | {name: values[-1] for name, values in late.items()}
        unsure = undetermined(self._near, last.found.y).any()
        shown = [
            name
            for name in row
            if name not in ("step", "compliance")
            and not (unsure and name in ("largest_tension", "smallest_tension"))
            and not (name in late and not np.isfinite(row[name]))
        ]
        return {
            # A saddle would have ended with an error.
            "stop": "neutral" if last.found.neutral else "minimum",
            "neutral_motion": last.found.neutral_motion,
            **{name: row[name] for name in shown},
            "links": len(_links(last.body)),
            "hinges": len(last.body.elastic.hinges),
            **self._in_words(bool(unsure)),
            **warning(last.body.structure.constraints, self._near),
            **structure_file.drawing_of(self.case.body.structure),
        }

    def _in_words(self, unsure: bool) -> record.Summary:
        """The node that moved most, the links with the largest forces."""
        last, structure = self.last, self.case.body.structure
        unit = getattr(structure, "unit", "")
        found: record.Summary = {
            "moved": record.moved_most(
                structure.r0, last.found.r(), record.LengthUnit(unit)
            )
        }
        tension, links = _tension(last), _links(last.body).tolist()
        links_in_words = [
            f"link({links[k][0]}, {links[k][1]}) carries the largest {word}, "
            f"{size[k]:.4g}"
            for word, size in (("tension", tension), ("compression", -tension))
            for k in ([] if unsure or not len(size) else [int(size.argmax())])
            if size[k] > 0.0
        ]
        return found | ({"bears": "; ".join(links_in_words)} if links_in_words else {})


def check_values(body: LoadedStructure, values: Sequence[float]) -> None:
    """Refuse values of a field where nothing grows, none where something does."""
    listed = isinstance(values, Sequence) and all(map(is_finite, values))
    grows = isinstance(body, GrowingStructure)
    if not listed or (grows and not values):
        raise ValueError(
            f"values is {values}: list field values for the growth, such as [20, 40]"
        )
    if values and not grows:
        raise ValueError(
            f"values is {list(values)}, but the structure has no `growth`: leave "
            "values empty"
        )
    if isinstance(body, GrowingStructure):
        for value in values:
            body.strains(value)


def _links(body: LoadedStructure) -> Ints:
    """(t, 2) rigid links, then elastic ones."""
    table = body.structure.constraints
    rigid = table.nodes[table.kind == ConstraintKind.DIST, :2]
    return np.concatenate([rigid, body.elastic.links])


def _tension(step: EquilibriumStep) -> Floats:
    return np.concatenate([step.found.tension, step.found.deformed.tension])


def _reactions(
    step: EquilibriumStep, near: NearDependence | None
) -> Iterator[record.TableRow]:
    """Every force and moment at an equilibrium, a row each.

    Those that hang on the residual (`sim.mechanism.mobility`) are empty.
    """
    found, body = step.found, step.body
    rigid, tension = len(found.tension), _tension(step)
    table = body.structure.constraints
    unsure = undetermined(near, found.y)[table.first_row[:-1]]
    in_link = unsure[table.kind == ConstraintKind.DIST]
    for i, (a, b) in enumerate(_links(body).tolist()):
        kind = "rigid link" if i < rigid else "elastic link"
        known = "" if i < rigid and in_link[i] else tension[i]
        yield _row(f"link({a}, {b})", kind, tension=known)
    bent = found.deformed.moment, found.deformed.angle
    for nodes, moment, angle in zip(body.elastic.hinges, *bent, strict=True):
        name = f"hinge({', '.join(map(str, nodes.tolist()))})"
        yield _row(name, "hinge", moment=moment, angle_deg=float(np.degrees(angle)))
    fixed = table.kind == ConstraintKind.FIX
    unheld = set(table.nodes[fixed & unsure, 0].tolist())
    for node in np.unique(table.nodes[fixed, 0]).tolist():
        if node in unheld:
            yield _row(f"node {node}", "support")
        else:
            yield _force_row(node, "support", found.support[node])
    for node in np.flatnonzero(body.spring > 0.0).tolist():
        yield _force_row(node, "spring", found.pull[node])
    for node in np.flatnonzero(body.force.any(axis=1)).tolist():
        yield _force_row(node, "load", body.force[node])


REACTION = ("tension", "moment", "angle_deg", "force_x", "force_y", "force_z")


def _row(part: str, kind: str, **numbers: float | str) -> record.TableRow:
    """A row of reactions.csv; empty where a number has no meaning."""
    return {"part": part, "kind": kind, **dict.fromkeys(REACTION, ""), **numbers}


def _force_row(node: int, kind: str, force: Floats) -> record.TableRow:
    return _row(f"node {node}", kind, **record.along_axes("force_{}", force))


Matrix = Sequence[Sequence[float]]


def _held(value: float) -> float:
    if value not in (0, 1):
        raise ValueError(f"is {value:g}: give 1 where it is held, 0 where it is free")
    return value


Held = Annotated[float, AfterValidator(_held)]


class Loading(Entry):
    """Loads and supports of nodes.

    Attributes
    ----------
    loads : [node, x, y, z]: forces
    supports : [node, x, y, z]: 1 where the node is held, 0 where it is free
    """

    loads: Rows[Annotated[tuple[Node, float, float, float], numbers(4)]]
    supports: Rows[Annotated[tuple[Node, Held, Held, Held], numbers(4)]]


class LoadedFile(Loading, StructureGrowth, structure_file.StructureFile):
    """A structure file with elastic parts, loads and supports.

    Attributes
    ----------
    springs : [a, b, stiffness, rest length], which is as drawn if left out
    hinges : [i, j, k, l, stiffness, rest angle]: axis j-k, wings i and l; moment per
        rad, degrees
    """

    springs: Rows[Annotated[tuple[Node, Node, float, float | None], numbers(4, 3)]]
    hinges: Rows[
        Annotated[tuple[Node, Node, Node, Node, float, float | None], numbers(6, 5)]
    ]


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
    """A structure from `sim.mechanism`, all its links and hinges alike.

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
            "hinge_stiffness is given, but no triangular bodies share a side: omit it"
        )
    bent = hinges if hinge_stiffness is not None else hinges[:0]
    no_links = np.empty((0, 2), dtype=np.int64)
    elastic = Elastic.between(r0, no_links, 1.0, bent, hinge_stiffness or 1.0)
    made = structure
    if link_stiffness is not None:
        made, links = soft_links(structure, link_stiffness)
        names = ("links", "link_stiffness", "rest_length")
        elastic = replace(elastic, **record.attributes(links, *names))
    given = {"supports": list(supports), "loads": list(loads)}
    loading = checked(Loading, given, "body", {"nodes": len(r0)})
    return _loaded(made, elastic, loading, spring, target)


def loaded_file(
    path: str, *, spring: float = 0.0, target: Target | None = None
) -> LoadedStructure:
    """A structure file that may have elastic parts, growth, loads and supports as well.

        springs   [[a, b, stiffness, rest length], ...]
        hinges    [[i, j, k, l, stiffness, rest angle in degrees], ...]
        loads     [[node, x, y, z], ...]
        supports  [[node, x, y, z], ...], 1 where the node is held

    j-k is the axis of a hinge, i and l are nodes at its sides; 180 degrees are flat. A
    length or angle that is left out is that of the nodes as given. Panels and growth:
    `pipeline.io.structure_entries`.

    Parameters
    ----------
    spring : stiffness by which each leading node hangs on the target, or on its goal
        where there is no target
    """
    content = structure_file.read_content(path, LoadedFile)
    with located(path, content.node_names):
        structure = structure_file.structure_of(content)
        elastic = _elastic(structure.r0, content)
        aim = target
        if aim is None and structure.goals is not None:
            aim = Goals(structure.goals)
        made = _loaded(structure, elastic, content, spring, aim)
        if not content.growth:
            return made
        growths = growths_of(content, _rows(structure, content))
        return GrowingStructure(**vars(made), growths=growths)


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
    made = Elastic.between(r0, _nodes(links, 2), 1.0, _nodes(hinges, 4))
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
        panels=panels_of(r0, _nodes(content.panels, 3), content.panels),
    )


def _nodes(rows: Sequence[Sequence[Any]], count: int) -> Ints:
    """(rows, count) the nodes that rows begin with."""
    return np.array([row[:count] for row in rows], dtype=np.int64).reshape(-1, count)


def _loaded(
    structure: Structure,
    elastic: Elastic,
    loading: Loading,
    spring: float,
    target: Target | None,
) -> LoadedStructure:
    n = len(structure.r0)
    force, springs = np.zeros((n, 3)), np.zeros(n)
    for node, *pull in loading.loads:
        force[node] += pull
    springs[structure.leading] = spring
    if spring and target is None:
        raise ValueError("spring is given without a target: add one")
    fixed = [
        Constraint(ConstraintKind.FIX, (node, axis), float(structure.r0[node, axis]))
        for node, *held in loading.supports
        for axis in range(3)
        if held[axis]
    ]
    joined = structure.constraints.followed_by(ConstraintTable.of(fixed))
    return LoadedStructure(
        replace(structure, constraints=joined), elastic, force, springs, target
    )
