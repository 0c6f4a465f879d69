"""A morphing case: a structure, a target, and how to bring one to the other.

reactions.csv has a row for each constraint, see `sim.mechanism.constraint_forces`:

    row              of the constraints, counted from 0
    constraint       its kind and nodes
    y                force of the row: grad f + J^T y = 0
    tension          of a link, positive in tension; empty for other rows
    dE2_dconstant    d(E^2)/d(constant), the constant of a link is its length squared
    dE2_dlength      d(E^2)/d(length) of a link; empty for other rows
    redundant        1 if the row depends on others, which then carry its share

Forces that hang on the residual (`sim.mechanism.mobility`) are left empty.
Every leading node hangs on its goal by a spring of stiffness one: y in lengths to the
power 2 - (power of a length in the row), tensions in the case's unit of length.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from pipeline.cases import record
from pipeline.io.structure_file import OwnStructure, aim_of, document, drawing_of
from sim.core.arrays import Bools, Floats
from sim.core.options import Checked, Choice, Count, NotNegative, Whole
from sim.mechanism.constraint_forces import Reactions, reactions
from sim.mechanism.constraint_projection import closed
from sim.mechanism.constraint_system import state, system_of
from sim.mechanism.constraints import ROWS, ConstraintKind
from sim.mechanism.design import rest
from sim.mechanism.global_search import (
    Attempt,
    attempts_of,
    lowest,
    morph_rounded_first,
)
from sim.mechanism.joints import limits_of
from sim.mechanism.mobility import (
    NearDependence,
    mobility,
    near_dependence,
    undetermined,
    warning,
)
from sim.mechanism.morph_objective import NewtonOptions
from sim.mechanism.obstacles import BARRIER_PARAMETERS, Obstacles, Touch
from sim.mechanism.projection_morph import (
    Followers,
    MorphStep,
    Multipliers,
    ProjectionOptions,
    Watch,
    morph,
)
from sim.mechanism.shape_measures import characteristic_length
from sim.mechanism.structure import Structure, same_places_in_words
from sim.mechanism.targets.sampled_surfaces import (
    CloudTarget,
    MeshTarget,
    SmoothCloud,
)
from sim.mechanism.targets.target_interface import Goals, Target, smoothed
from sim.mechanism.targets.transformed import AlongAxis, Moved, perturbed

FORCES = ("y", "tension", "dE2_dconstant", "dE2_dlength")


def reaction_rows(
    structure: Structure, found: Reactions, unsure: Bools
) -> Iterator[dict[str, float | str]]:
    """The rows of the table.

    Parameters
    ----------
    unsure : (m,) rows whose force hangs on the residual
    """
    table = structure.constraints
    of_row = np.repeat(np.arange(len(table)), ROWS[table.kind])
    dropped, links = set(found.redundant.tolist()), 0
    for row, i in enumerate(of_row.tolist()):
        y, slope = float(found.y[row]), float(found.sensitivity[row])
        forces: dict[str, float | str] = dict.fromkeys(FORCES, "")
        forces |= {"y": y, "dE2_dconstant": slope}
        if table.kind[i] == ConstraintKind.DIST:
            forces["tension"] = float(found.tension[links])
            length = float(np.sqrt(table.constant[i]))
            forces["dE2_dlength"] = 2.0 * length * slope
            links += 1
        yield {
            "row": row,
            "constraint": table.name(i),
            **(dict.fromkeys(forces, "") if unsure[row] else forces),
            "redundant": int(row in dropped),
        }


def strongest(
    structure: Structure, found: Reactions, unsure: Bools
) -> dict[str, float | str]:
    """The links with the largest tension and compression, for run.json."""
    table = structure.constraints
    links = np.flatnonzero(table.kind == ConstraintKind.DIST)
    sure = ~unsure[table.first_row[links]]
    links, tension = links[sure], found.tension[sure]
    if not len(links):
        return {}
    most, least = int(np.argmax(tension)), int(np.argmin(tension))
    return {
        "largest_tension": float(tension[most]),
        "largest_tension_in": table.name(int(links[most])),
        "smallest_tension": float(tension[least]),
        "smallest_tension_in": table.name(int(links[least])),
    }


CLOSED_BY_ROUNDING = 1e-6  # of L, up to which closing a start changes it unsaid
NOTHING = np.empty(0)
UNLIKE = 20.0  # ratio of sizes beyond which a unit is likely to be wrong
REACHED = 1e-3  # of L, up to which a target counts as reached
AT_LIMIT = 1e-3  # of the range of a joint, within which it is at a limit
LEAST_FORCE = 1e-4  # of L, force from which a contact counts
STILL = "nothing moves: add a shape or `target: {nodes: [[node, x, y, z]]}` to the file"
NAMED = 5  # pairs in contact, the strongest; nodes off their goals, the farthest
FAR = 0.1  # of the farthest node's distance to its goal, from which others are named
NEWTON = "case.method=newton "  # which several starts need
ONE_START = "a single start finds one minimum: {}case.starts=8 looks for lower ones"


class Method(Choice):
    PROJECTION = "projection"
    NEWTON = "newton"


@dataclass(frozen=True, eq=False)
class MorphCase(Checked):
    """One of conf/case, built by Hydra.

    Attributes
    ----------
    structure : see `sim.mechanism`
    target : None where the structure brings the goals of its leading nodes
    method : projection, eqs. (11) and (12) as the paper has them, or newton
    tolerance : projection: on the change per step of what `watch` names, E or S;
        newton: on the gradient along the constraints. 1e-6 and 1e-9 unless given
    residual : largest violation of a constraint, dimensionless
    followers : hold or home
    multipliers : frozen or tangent, in a projection
    perturb : seed, and standard deviations `turn` (rad) and `shift` of a small motion
        of the target, which breaks a symmetry
    ball_radius : of spheres at the nodes that have none in `structure`; newton only.
        Spheres, capsules and triangles cannot overlap, nor pass each other
    starts : newton: morphs from so many configurations, the first the structure's own;
        the lowest is taken, starts.csv lists all
    hops : of several starts, tried from the end of each towards lower minima
    seed : of random starts, and of the displacement that leaves a saddle
    reactions : write the forces of the constraints at the end to reactions.csv
    max_steps : at most
    watch : E or S, whose change per step ends a projection
    """

    structure: Structure
    target: Target | None = None
    method: Method | str = Method.PROJECTION
    tolerance: float | None = None
    max_steps: int = 1000
    residual: float = 1e-10
    followers: str = "hold"
    multipliers: str = "frozen"
    watch: str = "E"
    perturb: Mapping[str, Any] | None = None
    ball_radius: NotNegative = 0.0
    starts: Count = 1
    hops: Whole = 100
    seed: Whole = 0
    reactions: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        _ = self.options, self.shape
        self._check_goals()
        self._check_size()
        z = closed(system_of(self.structure), self.structure, self.residual)
        if self.obstacles is not None:
            self.obstacles.check(z)

    def _check_size(self) -> None:
        r0 = self.structure.r0
        if not np.ptp(r0, axis=0).any():
            raise ValueError("all nodes coincide, so E and S are undefined: move one")
        far = float(np.abs(r0).max()) / characteristic_length(r0)
        rounding = float(np.finfo(np.float64).eps) * far
        if rounding > 0.25 * self.residual:
            raise ValueError(
                f"nodes are {far:.1e} characteristic lengths from the origin, so that "
                f"rounding errors of {rounding:.1e} of this length exceed the residual "
                f"of {self.residual:.0e}: move them closer"
            )

    def _check_goals(self) -> None:
        target = self.shape.target if isinstance(self.shape, Moved) else self.shape
        if not isinstance(target, Target):
            raise ValueError(
                f"target is {target!r}: give a shape such as "
                "mt.targets.mesh_from_file(FILE)"
            )
        if isinstance(target, AlongAxis) and isinstance(self.options, NewtonOptions):
            raise ValueError(
                "a target along an axis gives no nearest points, which Newton steps "
                "need to lower E: choose `method: projection`"
            )

    @cached_property
    def options(self) -> ProjectionOptions | NewtonOptions:
        if Method(self.method) is Method.NEWTON:
            return NewtonOptions(
                tolerance=1e-9 if self.tolerance is None else self.tolerance,
                max_steps=self.max_steps,
                residual=self.residual,
                followers=Followers(self.followers),
                seed=self.seed,
            )
        if self.starts != 1:
            raise ValueError(
                f"starts is {self.starts}: several starts need `method: newton`"
            )
        if self.solid.is_limited:
            raise ValueError(
                "spheres, capsules, triangles and ranges need `method: newton`"
            )
        return ProjectionOptions(
            tolerance=1e-6 if self.tolerance is None else self.tolerance,
            max_steps=self.max_steps,
            residual=self.residual,
            followers=Followers(self.followers),
            multipliers=Multipliers(self.multipliers),
            watch=Watch(self.watch),
        )

    @cached_property
    def solid(self) -> Structure:
        """The structure with the spheres of `ball_radius`."""
        return record.with_spheres(self.structure, self.ball_radius)

    @cached_property
    def obstacles(self) -> Obstacles | None:
        """Bodies and ranges in their way, if there are any."""
        if not self.solid.is_limited:
            return None
        return Obstacles.of(self.solid).nearest

    @property
    def as_drawn(self) -> bool:
        """Whether it is a file that names nothing to move its nodes to."""
        own = self.structure
        aims = [self.target, own.goals, getattr(own, "target", None)]
        return isinstance(own, OwnStructure) and all(aim is None for aim in aims)

    @cached_property
    def shape(self) -> Target:
        """The target, or the structure's goals; without, a file's nodes stay."""
        own, lead = self.structure.r0, self.structure.leading
        given = Goals(own[lead]) if self.as_drawn else self.target
        target = aim_of(self.structure, given)
        if self.perturb is None:
            return target
        if set(self.perturb) != {"seed", "turn", "shift"}:
            raise ValueError(
                f"perturb has keys {', '.join(self.perturb)}: give seed, turn, shift"
            )
        by = self.perturb
        return perturbed(target, seed=by["seed"], turn=by["turn"], shift=by["shift"])

    @property
    def followed(self) -> Target:
        """What the steps follow: of a cloud, Newton's follow its smooth surface."""
        newton = isinstance(self.options, NewtonOptions)
        return smoothed(self.shape) if newton else self.shape

    def steps(self) -> Iterator[MorphStep]:
        """Of several starts, those of each, and at last the lowest end."""
        if not isinstance(self.options, NewtonOptions):
            yield from morph(self.structure, self.shape, self.options)
        elif self.starts == 1:
            yield from morph_rounded_first(self.solid, self.shape, self.options)
        else:
            searched = self.starts, self.hops
            yield from lowest(self.solid, self.shape, self.options, *searched)

    def rest_near(self, r: Floats) -> MorphStep:
        """Where it rests: a Newton morph if begun next to the configuration r (n, 3).

        So a print with errors keeps to the minimum of the print without.
        """
        if not isinstance(self.options, NewtonOptions):
            *_, last = self.steps()
            return last
        begun = state(replace(self.solid, r0=r))
        return rest(self.solid, self.shape, self.options, begun)

    def recorder(self) -> "MorphRecorder":
        return MorphRecorder(self)


class MorphRecorder(record.Recorder[MorphCase, MorphStep]):
    """Records the steps of a morph, and what holds it at the end."""

    start_moved = 0.0

    def __init__(self, case: MorphCase) -> None:
        super().__init__(case)
        self._seen: list[MorphStep] = []

    def see(self, step: MorphStep) -> None:
        super().see(step)
        if self.case.starts > 1:
            self._seen.append(step._replace(r=NOTHING, g=NOTHING, lam=NOTHING))
        if step.s == 0:
            away = np.linalg.norm(step.r - self.case.structure.r0, axis=1)
            self.start_moved = float(away.max())

    def row(self, step: MorphStep) -> record.Row:
        start = ["start"] if self.case.starts > 1 else []
        numbers = record.attributes(step, "E", "S", "residual", "gradient", *start)
        return {"step": step.s, **numbers}

    def arrays(self, step: MorphStep) -> record.Arrays:
        return record.attributes(step, "r", "g", "lam")

    def progress(self, step: MorphStep) -> str:
        which = f"start {step.start}, " if self.case.starts > 1 else ""
        return f"{which}E {step.E:.3g}"

    def documents(self) -> record.Documents:
        return {"structure.json": document(self.case.solid)}

    def fixed_arrays(self) -> record.Arrays:
        return record.wires(self.case.shape, self.case.structure.r0)

    def tables(self) -> record.Tables:
        places = enumerate(self.last.r)
        nodes = [{"node": i, **record.along_axes("{}", place)} for i, place in places]
        tables: record.Tables = {"nodes.csv": nodes}
        if self.case.reactions:
            found = self.case.structure, self.reactions, self._unsure
            tables["reactions.csv"] = reaction_rows(*found)
        if self._attempts:
            tables["starts.csv"] = [a._asdict() for a in self._attempts]
        if self.case.obstacles is not None:
            tables["contacts.csv"] = [touch.row() for touch in self._contacts]
        return tables

    @property
    def _attempts(self) -> list[Attempt]:
        """Where each of several starts has led; none of one."""
        return attempts_of(self._seen)

    @property
    def _L(self) -> float:
        return characteristic_length(self.case.structure.r0)

    @property
    def _kappa(self) -> float:
        """That of the last potential of bodies and ranges."""
        return BARRIER_PARAMETERS[-1] * self._L**2

    @cached_property
    def _contacts(self) -> list[Touch]:
        """Of the last step, where there are obstacles."""
        if self.case.obstacles is None:
            return []
        return self.case.obstacles.touching(self.last.state, self._kappa)

    @cached_property
    def reactions(self) -> Reactions:
        """Of the constraints, in the last step."""
        last, contacts = self.last, None
        if self.case.obstacles is not None:
            contacts = self.case.obstacles.contacts(last.state, self._kappa)
        return reactions(self.case.structure, last.state, last.g, contacts)

    @cached_property
    def _near(self) -> NearDependence | None:
        case = self.case
        return near_dependence(case.structure, self.last.state, case.residual)

    @property
    def _unsure(self) -> Bools:
        """(m,) rows whose force hangs on the residual."""
        return undetermined(self._near, self.reactions.y)

    def summary(self) -> record.Summary:
        step, structure = self.last, self.case.structure
        table, found = structure.constraints, mobility(structure)
        ended: record.Summary = {
            "method": Method(self.case.method).value,
            "stop": record.stop_of(step),
            **record.attributes(step, "E", "S", "residual"),
            "projected_gradient": step.gradient,
            "steps": step.s,
            **record.attributes(found, "nodes", "rows", "multipliers"),
            "redundant": len(found.redundant),
            "redundant_rows": "; ".join(table.name_of_row(i) for i in found.redundant),
            "mobility": found.mobility,
        }
        if self.start_moved > CLOSED_BY_ROUNDING * self._L:
            ended["start_moved"] = self.start_moved
        ended |= {"unit": self._unit} if self._unit else {}
        ended |= self._aimed() | self._starts(ended) | self._where_the_target_went()
        ended |= self._surface() | self._held_by()
        if self.case.reactions:
            ended |= strongest(structure, self.reactions, self._unsure)
        ended |= warning(table, self._near)
        doubled = isinstance(structure, OwnStructure) and same_places_in_words(
            structure
        )
        ended |= {"doubled_nodes": doubled} if doubled else {}
        return ended | self._unlike_in_size() | drawing_of(structure)

    def _aimed(self) -> record.Summary:
        """How far leading nodes are from their goals, the farthest first."""
        if self.case.as_drawn:
            return {"no_target": STILL}
        lead = self.case.structure.leading
        away = np.linalg.norm((self.last.r - self.last.g)[lead], axis=1)
        if not len(away):
            return {}
        worst, allowed = int(np.argmax(away)), REACHED * self._L
        off = np.argsort(-away, kind="stable")[1:]
        off = off[away[off] > max(FAR * away[worst], allowed)]
        others = [f"node {lead[k]} by {away[k]:.3g} {self._unit}".rstrip() for k in off]
        more = f" and {len(off) - NAMED + 1} more" * (len(off) >= NAMED)
        place = self.last.r[lead[worst]]
        at = ", ".join(f"{x if abs(x) > 1e-3 * allowed else 0.0:.5g}" for x in place)
        return {
            "target_reached": bool(away[worst] <= allowed),
            "target_node": int(lead[worst]),
            "target_miss": float(away[worst]),
            "target_at": f"({at})",
            "target_allowed": allowed,
            "target_nodes": len(lead),
            "target_others": ", ".join(others[: NAMED - 1]) + more,
        }

    def _unlike_in_size(self) -> record.Summary:
        """How many times a target from a file is larger, or smaller, than the nodes."""
        shape = self.case.shape
        surface = shape.target if isinstance(shape, Moved) else shape
        if not isinstance(surface, MeshTarget | CloudTarget):
            return {}
        r = self.case.structure.r0
        sizes = [np.ptp(x, axis=0).max() for x in (surface.wireframe(r).vertices, r)]
        times = float(sizes[0] / sizes[1])
        if 1.0 / UNLIKE <= times <= UNLIKE:
            return {}
        return {
            "target_size": f"the target is {times:.2g} times as large as the "
            "structure: check the target file's unit"
        }

    def _starts(self, ended: record.Summary) -> record.Summary:
        """How many starts there were, how many minima they found, which was lowest.

        Of one start that is off its goals, that it cannot move or others may be lower.
        """
        attempts = self._attempts
        if not attempts:
            if self._aimed().get("target_reached", True):
                return {}
            if not ended["mobility"]:
                names = ended["redundant_rows"]
                also = f" (redundant: {names})" if names else ""
                return {"minimum": f"mobility 0: this structure cannot move{also}"}
            by = "" if Method(self.case.method) is Method.NEWTON else NEWTON
            return {"minimum": ONE_START.format(by)}
        numbers = [attempt.minimum for attempt in attempts]
        return {
            "starts": len(attempts),
            "minima": max(numbers) + 1,
            "lowest_found": numbers.count(0),
            "lowest_start": numbers.index(0),
            "failed_starts": numbers.count(-1),
        }

    def _where_the_target_went(self) -> record.Summary:
        shape = self.case.shape
        if not isinstance(shape, Moved):
            return {}
        return {
            f"target_{what}_{axis}": value
            for axis, *both in zip("xyz", shape.turn, shape.shift, strict=True)
            for what, value in zip(("turn", "shift"), both, strict=True)
        }

    def _surface(self) -> record.Summary:
        """How far a cloud is from the smooth surface that stood for it."""
        aim, here = self.case.followed, self.last.g
        if isinstance(aim, Moved):
            here = aim.into(here)
            aim = aim.target
        if not isinstance(aim, SmoothCloud):
            return {}
        rms, largest = aim.misfit
        beyond = aim.is_beyond(here[self.case.structure.leading])
        return {
            "surface_rms": rms,
            "surface_farthest": largest,
            "surface_width": aim.width,
            "beyond_points": int(np.count_nonzero(beyond)),
        }

    def _held_by(self) -> record.Summary:
        """Overlaps, and by name the limits and pairs that carry a force."""
        held: record.Summary = {}
        if self.case.obstacles is not None:
            held = {"overlaps": self.case.obstacles.overlaps(self.last.r)}
        if self._contacts:
            held["smallest_gap"] = min(touch.room for touch in self._contacts)
        carry = [t for t in self._contacts if t.force > LEAST_FORCE * self._L]
        limits = [self._limit(touch) for touch in carry if touch.bound]
        pairs = [touch.name for touch in carry if not touch.bound]
        found = {"limits": limits + self._of_joints(), "touching": pairs[:NAMED]}
        held |= {name: "; ".join(names) for name, names in found.items() if names}
        counted = self.case.obstacles is not None
        return held | ({"contacts": len(carry)} if counted else {})

    def _limit(self, touch: Touch) -> str:
        """A bound that is reached, with its value."""
        unit = self._unit if "length(" in touch.name else ""
        return f"{touch.name} of {touch.bound} {unit}".rstrip()

    def _of_joints(self) -> list[str]:
        """Joints that keep two nodes between limits, where they are at one."""
        return [
            f"{one.name} (nodes {one.nodes[0]} and {one.nodes[1]}) at its {word} "
            f"{self._unit}".rstrip()
            for one in limits_of(self.case.structure.constraints)
            if (word := one.reached(self.last.r, AT_LIMIT))
        ]

    @property
    def _unit(self) -> str:
        """Of lengths, "" where there is none."""
        return str(getattr(self.case.structure, "unit", ""))
