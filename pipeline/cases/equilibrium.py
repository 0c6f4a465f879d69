"""An equilibrium case: elastic and rigid links and hinges under loads and springs."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pipeline.cases.structure_file import document
from sim.arrays import Floats, Ints
from sim.morph.closing import closed
from sim.morph.constraints import Kind
from sim.morph.equilibrium import Balance, Equilibrium, at_rest
from sim.morph.hinged import rigid_links
from sim.morph.loaded import Loaded, refuse_free_translation
from sim.morph.measures import characteristic_length
from sim.morph.system import system_of

Row = Mapping[str, float | str]


class EquilibriumStep(NamedTuple):
    """One equilibrium.

    Attributes
    ----------
    compliance : of the links, relative to the case's; 0 where they are rigid
    away : root mean square distance to the rigid links' nodes over L, nan without them
    force_error : largest difference to the rigid links' tensions, over the largest
    """

    s: int
    compliance: float
    body: Loaded
    found: Equilibrium
    away: float
    force_error: float


@dataclass(frozen=True, eq=False)
class EquilibriumCase:
    """One of conf/case, built by Hydra.

    Attributes
    ----------
    body : structure, stiffness, supports, loads, springs: `pipeline.cases.loaded`
    compliances : by which those of the links are multiplied, an equilibrium each, each
        found from the one before; 0 makes links rigid, and is what others are compared
        with
    tolerance : on the unbalanced forces, relative to the largest force on a node
    residual : largest violation of a constraint, dimensionless
    max_steps : Newton steps of each equilibrium
    """

    body: Loaded
    compliances: Sequence[float] = (1.0,)
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
        for factor in self.compliances:
            structure = self.with_compliance(factor).structure
            closed(system_of(structure), structure, self.residual)

    @cached_property
    def options(self) -> Balance:
        return Balance(self.tolerance, self.residual, self.max_steps)

    def with_compliance(self, factor: float) -> Loaded:
        """The body with the compliance of its links multiplied."""
        elastic = self.body.elastic
        if factor > 0.0:
            softer = replace(elastic, link_stiffness=elastic.link_stiffness / factor)
            return replace(self.body, elastic=softer)
        structure, hinges = rigid_links(self.body.structure, elastic)
        return replace(self.body, structure=structure, elastic=hinges)

    def steps(self) -> Iterator[EquilibriumStep]:
        bodies = [self.with_compliance(factor) for factor in self.compliances]
        found: list[Equilibrium] = []
        for body in bodies:
            found.append(at_rest(body, self.options, found[-1] if found else None))
        rigid = None
        if 0.0 in self.compliances:
            rigid = found[list(self.compliances).index(0.0)]
        for s, factor in enumerate(self.compliances):
            away, force_error = self._beside(rigid, found[s])
            yield EquilibriumStep(
                s, float(factor), bodies[s], found[s], away, force_error
            )

    def _beside(
        self, rigid: Equilibrium | None, found: Equilibrium
    ) -> tuple[float, float]:
        """How far nodes and tensions are from those with rigid links."""
        if rigid is None:
            return np.nan, np.nan
        L = characteristic_length(self.body.structure.r0)
        squares = np.square(found.r() - rigid.r()).sum(axis=1)
        away, own = float(np.sqrt(squares.mean())) / L, len(self.body.elastic.links)
        if found is rigid or own == 0:
            return away, 0.0
        exact = rigid.tension[len(rigid.tension) - own :]
        apart = float(np.abs(found.deformed.tension - exact).max())
        return away, apart / max(float(np.abs(exact).max()), 1e-300)

    def numbers(self, step: EquilibriumStep) -> dict[str, float]:
        found, tension = step.found, self._tension(step)
        lo, hi = (tension.min(), tension.max()) if len(tension) else (0.0, 0.0)
        return {
            "step": step.s,
            "compliance": step.compliance,
            "energy": found.energy,
            "away_from_rigid": step.away,
            "force_error": step.force_error,
            "largest_tension": float(hi),
            "smallest_tension": float(lo),
            "largest_moment": float(np.abs(found.deformed.moment).max(initial=0.0)),
            "unbalanced": found.unbalanced,
            "residual": found.residual,
            "iterations": found.steps,
            "negative": found.negative,
            "neutral": found.neutral,
        }

    def _links(self, body: Loaded) -> Ints:
        """(t, 2) rigid links, then elastic ones."""
        table = body.structure.constraints
        rigid = table.nodes[table.kind == Kind.DIST, :2]
        return np.concatenate([rigid, body.elastic.links])

    def _tension(self, step: EquilibriumStep) -> Floats:
        return np.concatenate([step.found.tension, step.found.deformed.tension])

    def arrays(self, step: EquilibriumStep) -> dict[str, NDArray[np.generic]]:
        found = step.found
        return {
            "r": found.r(),
            "g": found.g,
            "tension": self._tension(step),
            "moment": found.deformed.moment,
            "angle": found.deformed.angle,
            "support": found.support,
            "pull": found.pull,
        }

    def fixed_arrays(self) -> dict[str, NDArray[np.generic]]:
        body = self.body
        arrays: dict[str, NDArray[np.generic]] = {
            "links": self._links(body),
            "hinges": body.elastic.hinges,
            "force": body.force,
            "r0": body.structure.r0,
        }
        if body.target is not None:
            vertices, edges = body.target.wireframe(body.structure.r0)
            arrays |= {"target_vertices": vertices, "target_edges": edges}
        return arrays

    def documents(self) -> dict[str, object]:
        return {"structure.json": document(self.body.structure)}

    def tables(self, step: EquilibriumStep) -> dict[str, Iterable[Row]]:
        return {"reactions.csv": self._reactions(step)}

    def _reactions(self, step: EquilibriumStep) -> Iterator[Row]:
        """Every force and moment at the last equilibrium, a row each."""
        found, body = step.found, step.body
        rigid = len(found.tension)
        ends = self._links(body).tolist()
        for i, (a, b) in enumerate(ends):
            kind = "rigid link" if i < rigid else "elastic link"
            yield _row(f"link({a}, {b})", kind, tension=self._tension(step)[i])
        for nodes, moment, angle in zip(
            body.elastic.hinges,
            found.deformed.moment,
            found.deformed.angle,
            strict=True,
        ):
            name = f"hinge({', '.join(map(str, nodes.tolist()))})"
            yield _row(name, "hinge", moment=moment, angle=float(np.degrees(angle)))
        table = body.structure.constraints
        held = np.unique(table.nodes[table.kind == Kind.FIX, 0])
        for node in held.tolist():
            yield _row(f"node {node}", "support", force=found.support[node])
        for node in np.flatnonzero(body.spring > 0.0).tolist():
            yield _row(f"node {node}", "spring", force=found.pull[node])
        for node in np.flatnonzero(body.force.any(axis=1)).tolist():
            yield _row(f"node {node}", "load", force=body.force[node])

    def result(self, step: EquilibriumStep) -> dict[str, float | str | int]:
        row = self.numbers(step)
        ended: dict[str, float | str | int] = {
            "stop": "minimum",  # a saddle would have ended with an error
            **{name: row[name] for name in row if name not in ("step", "compliance")},
            "links": len(self._links(step.body)),
            "hinges": len(step.body.elastic.hinges),
        }
        for name in ("away_from_rigid", "force_error"):
            if not np.isfinite(row[name]):
                del ended[name]
        return ended

    def progress(self, step: EquilibriumStep) -> str:
        return f"compliance {step.compliance:g}"


def _row(
    what: str,
    kind: str,
    *,
    tension: float | str = "",
    moment: float | str = "",
    angle: float | str = "",
    force: Floats | None = None,
) -> dict[str, float | str]:
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
