"""An equilibrium case: elastic and rigid links and hinges under loads and springs."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import NamedTuple

import numpy as np

from pipeline.cases.moved_most import ToldLengths, moved_most
from pipeline.cases.record import Arrays, Documents, Row, Summary, TableRow, Tables
from pipeline.formats.structure_file import OwnStructure, document
from sim.arrays import Floats, Ints
from sim.limits import is_finite
from sim.morph.equations.closing import closed
from sim.morph.equations.system import system_of
from sim.morph.mobility.near_dependence import (
    NearDependence,
    near_dependence,
    undetermined,
    warning,
)
from sim.morph.obstacles.volume import Obstacles, Touch
from sim.morph.statics.equilibrium import Equilibrium, EquilibriumOptions, at_rest
from sim.morph.statics.growth import GrowingStructure, spread
from sim.morph.statics.hinged import rigid_links
from sim.morph.statics.loaded import LoadedStructure, refuse_free_translation
from sim.morph.structure.constraints import ConstraintKind
from sim.morph.structure.measures import characteristic_length

NO_GROWTH = np.empty(0)
PLACE = ("x", "y", "z", "u_x", "u_y", "u_z")


class EquilibriumStep(NamedTuple):
    """One equilibrium.

    Attributes
    ----------
    compliance : of the links, relative to the case's; 0 where they are rigid
    told : where parts grow, the field, and the largest standard uncertainty that its
        tables leave a place of a node
    u : (n, 3) of each
    """

    s: int
    compliance: float
    body: LoadedStructure
    found: Equilibrium
    told: Row
    u: Floats


@dataclass(frozen=True, eq=False)
class EquilibriumCase:
    """One of conf/case, built by Hydra.

    Attributes
    ----------
    body : structure, stiffness, supports, loads, springs: `pipeline.cases.loaded`
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
        if not isinstance(self.compliances, Sequence):
            raise ValueError(f"compliances is {self.compliances}: give a list, as [1]")
        if not self.compliances:
            raise ValueError("compliances is empty: give 1, or a list of factors")
        for factor in self.compliances:
            if not (isinstance(factor, int | float) and 0.0 <= factor < np.inf):
                raise ValueError(
                    f"compliances has {factor}: give finite numbers from 0 up"
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
    def _bodies(self) -> Iterator[tuple[float, Floats, Floats, Row]]:
        """A compliance, strains of growths and their u, and what is told of the field,
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
        for s, (factor, strains, own, told) in enumerate(self._bodies):
            body = self.with_compliance(factor, strains)
            found = at_rest(body, self.options, found)
            u = spread(partial(self._places, factor, found), found.r(), strains, own)
            if told:
                told["u_place"] = float(np.linalg.norm(u, axis=1).max())
            yield EquilibriumStep(s, float(factor), body, found, told, u)

    def _places(self, factor: float, start: Equilibrium, strains: Floats) -> Floats:
        return at_rest(self.with_compliance(factor, strains), self.options, start).r()

    def recorder(self) -> "EquilibriumRecorder":
        return EquilibriumRecorder(self)


@dataclass(eq=False)
class EquilibriumRecorder:
    """Records equilibria; how far they are from that with rigid links, at the end."""

    case: EquilibriumCase
    seen: list[EquilibriumStep] = field(default_factory=list)

    def see(self, step: EquilibriumStep) -> None:
        self.seen.append(step)

    def row(self, step: EquilibriumStep) -> Row:
        found, tension = step.found, _tension(step)
        lo, hi = (tension.min(), tension.max()) if len(tension) else (0.0, 0.0)
        return {
            "step": step.s,
            "compliance": step.compliance,
            **step.told,
            "energy": found.energy,
            "away_from_rigid": np.nan,
            "force_error": np.nan,
            "largest_tension": float(hi),
            "smallest_tension": float(lo),
            "largest_moment": float(np.abs(found.deformed.moment).max(initial=0.0)),
            "unbalanced": found.unbalanced,
            "residual": found.residual,
            "iterations": found.steps,
            "negative": found.negative,
            "neutral": found.neutral,
        }

    def late(self) -> dict[str, list[float]]:
        """Of each equilibrium, how far nodes and tensions are from rigid links.

        away_from_rigid is the root mean square distance of the nodes over L,
        force_error the largest difference of tensions over the largest; nan where no
        links are rigid.
        """
        rigid = [step.found for step in self.seen if step.compliance == 0.0]
        apart = [
            self._beside(rigid[0], step.found) if rigid else (np.nan, np.nan)
            for step in self.seen
        ]
        return {
            "away_from_rigid": [away for away, _ in apart],
            "force_error": [error for _, error in apart],
        }

    def _beside(self, rigid: Equilibrium, found: Equilibrium) -> tuple[float, float]:
        body = self.case.body
        L = characteristic_length(body.structure.r0)
        squares = np.square(found.r() - rigid.r()).sum(axis=1)
        away, own = float(np.sqrt(squares.mean())) / L, len(body.elastic.links)
        if found is rigid or own == 0:
            return away, 0.0
        exact = rigid.tension[len(rigid.tension) - own :]
        apart = float(np.abs(found.deformed.tension - exact).max())
        return away, apart / max(float(np.abs(exact).max()), 1e-300)

    def arrays(self, step: EquilibriumStep) -> Arrays:
        found = step.found
        return {
            "r": found.r(),
            "g": found.g,
            "tension": _tension(step),
            "moment": found.deformed.moment,
            "angle": found.deformed.angle,
            "support": found.support,
            "pull": found.pull,
            **({"u_r": step.u} if step.told else {}),
        }

    def progress(self, step: EquilibriumStep) -> str:
        return ", ".join(
            f"{name} {step.told.get(name, step.compliance):g}"
            for name in ("compliance", "field")
            if name == "compliance" or step.told
        )

    def documents(self) -> Documents:
        return {"structure.json": document(self.case.body.structure)}

    def fixed_arrays(self) -> Arrays:
        body = self.case.body
        arrays: Arrays = {
            "links": _links(body),
            "bars": body.elastic.links,
            "triangles": body.elastic.panels.nodes,
            "hinges": body.elastic.hinges,
            "force": body.force,
            "r0": body.structure.r0,
        }
        if body.target is not None:
            vertices, edges = body.target.wireframe(body.structure.r0)
            arrays |= {"target_vertices": vertices, "target_edges": edges}
        return arrays

    def tables(self) -> Tables:
        last = self.seen[-1]
        tables: Tables = {"reactions.csv": _reactions(last, self._near)}
        if last.body.structure.is_limited:
            tables["contacts.csv"] = [touch.row() for touch in self._touching]
        if last.told:
            tables["places.csv"] = _places_of(last)
        return tables

    @property
    def _touching(self) -> list[Touch]:
        last = self.seen[-1]
        obstacles = Obstacles.of(last.body.structure)
        return obstacles.touching(last.found.z, last.found.kappa)

    @cached_property
    def _near(self) -> NearDependence | None:
        last = self.seen[-1]
        return near_dependence(last.body.structure, last.found.z, self.case.residual)

    def summary(self) -> Summary:
        last, late = self.seen[-1], self.late()
        row = self.row(last) | {name: values[-1] for name, values in late.items()}
        unsure = undetermined(self._near, last.found.y).any()
        told = [
            name
            for name in row
            if name not in ("step", "compliance")
            and not (unsure and name in ("largest_tension", "smallest_tension"))
            and not (name in late and not np.isfinite(row[name]))
        ]
        return {
            "stop": "minimum",  # a saddle would have ended with an error
            **{name: row[name] for name in told},
            "links": len(_links(last.body)),
            "hinges": len(last.body.elastic.hinges),
            **self._in_words(bool(unsure)),
            **warning(last.body.structure.constraints, self._near),
        }

    def _in_words(self, unsure: bool) -> Summary:
        """The node that moved most, the links that are pulled and pressed most."""
        last, structure = self.seen[-1], self.case.body.structure
        unit = structure.unit if isinstance(structure, OwnStructure) else ""
        said: Summary = {
            "moved": moved_most(structure.r0, last.found.r(), ToldLengths(unit))
        }
        tension, links = _tension(last), _links(last.body).tolist()
        ends = [] if unsure or not len(tension) else [tension.argmax()]
        ends += [] if unsure or not len(tension) else [tension.argmin()]
        signs = ("tension", 1.0), ("compression", -1.0)
        told = [
            f"link({links[k][0]}, {links[k][1]}) the largest {word}, "
            f"{sign * tension[k]:.4g}"
            for k, (word, sign) in zip(ends, signs, strict=False)
            if sign * tension[k] > 0.0
        ]
        return said | ({"bears": "; ".join(told)} if told else {})


def _places_of(step: EquilibriumStep) -> Iterator[TableRow]:
    """Where each node is, with the standard uncertainty that tables of growth leave."""
    for node, (place, u) in enumerate(zip(step.found.r(), step.u, strict=True)):
        told = zip(PLACE, (*place.tolist(), *u.tolist()), strict=True)
        yield {"node": node, **dict(told)}


def check_values(body: LoadedStructure, values: Sequence[float]) -> None:
    """Refuse values of a field where nothing grows, none where something does."""
    listed = isinstance(values, Sequence) and all(map(is_finite, values))
    grows = isinstance(body, GrowingStructure)
    if not listed or (grows and not values):
        raise ValueError(
            f"values is {values}: list values of the field by which parts grow, such "
            "as [20, 40]"
        )
    if values and not grows:
        raise ValueError(
            f"values is {list(values)}, and the body has no growth: leave it empty"
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
) -> Iterator[TableRow]:
    """Every force and moment at an equilibrium, a row each.

    Those that hang on the residual (`sim.morph.mobility.near_dependence`) are empty.
    """
    found, body = step.found, step.body
    rigid, tension = len(found.tension), _tension(step)
    table = body.structure.constraints
    unsure = undetermined(near, found.y)[table.first_row[:-1]]
    in_link = unsure[table.kind == ConstraintKind.DIST]
    for i, (a, b) in enumerate(_links(body).tolist()):
        kind = "rigid link" if i < rigid else "elastic link"
        told = "" if i < rigid and in_link[i] else tension[i]
        yield _row(f"link({a}, {b})", kind, tension=told)
    for nodes, moment, angle in zip(
        body.elastic.hinges,
        found.deformed.moment,
        found.deformed.angle,
        strict=True,
    ):
        name = f"hinge({', '.join(map(str, nodes.tolist()))})"
        yield _row(name, "hinge", moment=moment, angle=float(np.degrees(angle)))
    fixed = table.kind == ConstraintKind.FIX
    unheld = set(table.nodes[fixed & unsure, 0].tolist())
    for node in np.unique(table.nodes[fixed, 0]).tolist():
        force = None if node in unheld else found.support[node]
        yield _row(f"node {node}", "support", force=force)
    for node in np.flatnonzero(body.spring > 0.0).tolist():
        yield _row(f"node {node}", "spring", force=found.pull[node])
    for node in np.flatnonzero(body.force.any(axis=1)).tolist():
        yield _row(f"node {node}", "load", force=body.force[node])


def _row(
    what: str,
    kind: str,
    *,
    tension: float | str = "",
    moment: float | str = "",
    angle: float | str = "",
    force: Floats | None = None,
) -> TableRow:
    """A row of reactions.csv; empty where a number has no meaning."""
    parts: list[float | str] = ["", "", ""] if force is None else force.tolist()
    return {
        "part": what,
        "kind": kind,
        "tension": tension,
        "moment": moment,
        "angle_deg": angle,
        **dict(zip(("force_x", "force_y", "force_z"), parts, strict=True)),
    }
