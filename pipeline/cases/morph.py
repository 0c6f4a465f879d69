"""A morphing case: a structure, a target, and how to bring one to the other."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from pipeline.cases.reaction_table import reaction_rows, strongest
from pipeline.cases.record import Arrays, Documents, Row, Summary, Tables
from pipeline.formats.structure_file import OwnStructure, document
from sim.arrays import Bools, Floats
from sim.choice import Choice
from sim.limits import is_count, is_positive, refuse_unless_count
from sim.morph.equations.closing import closed
from sim.morph.equations.system import state, system_of
from sim.morph.mobility.mobility import mobility
from sim.morph.mobility.near_dependence import (
    NearDependence,
    near_dependence,
    undetermined,
    warning,
)
from sim.morph.morphing.design import rest
from sim.morph.morphing.morph import (
    Followers,
    MorphStep,
    Multipliers,
    ProjectionOptions,
    Watch,
    morph,
)
from sim.morph.morphing.problem import NewtonOptions
from sim.morph.morphing.reactions import Reactions, reactions
from sim.morph.morphing.rounded_first import morph_rounded_first
from sim.morph.morphing.starts import Attempt, attempts_of, lowest
from sim.morph.obstacles.volume import BARRIER_PARAMETERS, Obstacles, Touch
from sim.morph.structure.joints import limits_of
from sim.morph.structure.measures import characteristic_length
from sim.morph.structure.same_places import told_same_places
from sim.morph.structure.structure import Structure
from sim.morph.targets.goals import Goals
from sim.morph.targets.norms import AlongAxis
from sim.morph.targets.pose import Moved, perturbed
from sim.morph.targets.protocol import Target, smoothed
from sim.morph.targets.smooth_cloud import SmoothCloud

CLOSED_BY_ROUNDING = 1e-6  # of L, up to which closing a start changes it unsaid
NOTHING = np.empty(0)
REACHED = 1e-3  # of L, up to which a target counts as reached
AT_LIMIT = 1e-3  # of the range of a joint, within which it is at a limit
TOUCHING = 1e-4  # of L, force from which a contact counts
NAMED = 5  # pairs in contact, the strongest
NEWTON = "case.method=newton "  # which several starts need
ONE_START = (
    "one start leads to one, others may be lower: {}case.starts=8 looks for them"
)


class Method(Choice):
    PROJECTION = "projection"
    NEWTON = "newton"


@dataclass(frozen=True, eq=False)
class MorphCase:
    """One of conf/case, built by Hydra.

    Attributes
    ----------
    structure : see `sim.morph`
    target : None where the structure brings the goals of its leading nodes
    method : projection, eqs. (11) and (12) as the paper has them, or newton
    tolerance : projection: on the change per step of what `watch` names, E or S;
        newton: on the gradient along the constraints. 1e-6 and 1e-9 unless given
    residual : largest violation of a constraint, dimensionless
    followers : hold or home
    multipliers : frozen or tangent, in a projection
    perturb : seed, and standard deviations `turn` (rad) and `shift` of a small motion
        of the target, which breaks a symmetry
    ball_radius : of balls at the nodes that have none in `structure`; newton only.
        Balls, capsules and triangles cannot overlap, nor pass each other
    starts : newton: morphs from so many configurations, the first the structure's own;
        the lowest is kept, starts.csv lists all
    hops : of several starts, tried from the end of each towards lower minima
    seed : of random starts, and of the displacement that leaves a saddle
    reactions : write the forces of the constraints at the end to reactions.csv
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
    ball_radius: float = 0.0
    starts: int = 1
    hops: int = 100
    seed: int = 0
    reactions: bool = False

    def __post_init__(self) -> None:
        if self.ball_radius != 0.0 and not is_positive(self.ball_radius):
            raise ValueError(
                f"ball_radius must not be negative, not {self.ball_radius}"
            )
        refuse_unless_count(self, "starts")
        if not is_count(self.hops, least=0):
            raise ValueError(f"hops must be a whole number from 0 up, not {self.hops}")
        if not is_count(self.seed, least=0):
            raise ValueError(f"seed must be a whole number from 0 up, not {self.seed}")
        _ = self.options, self.shape
        self._check_goals()
        self._check_size()
        z = closed(system_of(self.structure), self.structure, self.residual)
        if self.obstacles is not None:
            self.obstacles.check(z)

    def _check_size(self) -> None:
        r0 = self.structure.r0
        if not np.ptp(r0, axis=0).any():
            raise ValueError(
                "all nodes are at one place, which leaves E and S without a length to "
                "be divided by: move one of them"
            )
        far = float(np.abs(r0).max()) / characteristic_length(r0)
        rounding = float(np.finfo(np.float64).eps) * far
        if rounding > 0.25 * self.residual:
            raise ValueError(
                f"nodes are {far:.1e} L from the origin, where a coordinate is rounded "
                f"to {rounding:.1e} L: too coarse for a residual of "
                f"{self.residual:.0e}: put the origin closer"
            )

    def _check_goals(self) -> None:
        target = self.shape.target if isinstance(self.shape, Moved) else self.shape
        if isinstance(target, AlongAxis) and isinstance(self.options, NewtonOptions):
            raise ValueError(
                "goals along an axis are not the nearest ones, and a Newton step need "
                "not lower E: choose `method: projection`"
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
                "balls, capsules, triangles and ranges need `method: newton`: choose "
                "it, or leave them out"
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
        """The structure with the balls of `ball_radius`."""
        if self.ball_radius == 0.0:
            return self.structure
        n, solids = len(self.structure.r0), self.structure.solids
        solids = solids.with_balls(n, self.ball_radius)
        return replace(self.structure, solids=solids)

    @cached_property
    def obstacles(self) -> Obstacles | None:
        """Bodies and ranges in their way, if there are any."""
        if not self.solid.is_limited:
            return None
        return Obstacles.of(self.solid).nearest

    @cached_property
    def shape(self) -> Target:
        """The target, or the structure's own goals."""
        target = self.target
        if target is None and isinstance(self.structure, OwnStructure):
            target = self.structure.target
        if target is None:
            if self.structure.goals is None:
                raise ValueError(
                    "the case has no target and its structure no goals: give one, in a "
                    "structure file as `target: {nodes: [[node, x, y, z]]}`"
                )
            target = Goals(self.structure.goals)
        if self.perturb is None:
            return target
        if set(self.perturb) != {"seed", "turn", "shift"}:
            raise ValueError(
                f"perturb has {', '.join(self.perturb)}: give seed, turn and shift"
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


@dataclass(eq=False)
class MorphRecorder:
    """Records the steps of a morph, and what holds it at the end."""

    case: MorphCase
    last: MorphStep = field(init=False)
    start_moved: float = field(default=0.0, init=False)
    _seen: list[MorphStep] = field(default_factory=list, init=False)

    def see(self, step: MorphStep) -> None:
        self.last = step
        if self.case.starts > 1:
            self._seen.append(step._replace(r=NOTHING, g=NOTHING, lam=NOTHING))
        if step.s == 0:
            away = np.linalg.norm(step.r - self.case.structure.r0, axis=1)
            self.start_moved = float(away.max())

    def row(self, step: MorphStep) -> Row:
        row: Row = {
            "step": step.s,
            "E": step.E,
            "S": step.S,
            "residual": step.residual,
            "gradient": step.gradient,
        }
        return row | ({"start": step.start} if self.case.starts > 1 else {})

    def arrays(self, step: MorphStep) -> Arrays:
        return {"r": step.r, "g": step.g, "lam": step.lam}

    def progress(self, step: MorphStep) -> str:
        which = f"start {step.start}, " if self.case.starts > 1 else ""
        return f"{which}E {step.E:.1e}"

    def documents(self) -> Documents:
        return {"structure.json": document(self.case.solid)}

    def fixed_arrays(self) -> Arrays:
        vertices, edges = self.case.shape.wireframe(self.case.structure.r0)
        return {"target_vertices": vertices, "target_edges": edges}

    def tables(self) -> Tables:
        tables: Tables = {}
        if self.case.reactions:
            told = self.case.structure, self.reactions, self._unsure
            tables["reactions.csv"] = reaction_rows(*told)
        if self._attempts:
            tables["starts.csv"] = [a._asdict() for a in self._attempts]
        if self.case.obstacles is not None:
            tables["contacts.csv"] = [touch.row() for touch in self._touching]
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
    def _touching(self) -> list[Touch]:
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

    def summary(self) -> Summary:
        step, structure = self.last, self.case.structure
        table, found = structure.constraints, mobility(structure)
        ended: Summary = {
            "method": Method(self.case.method).value,
            "stop": step.stop.value if step.stop is not None else "none",
            "E": step.E,
            "S": step.S,
            "residual": step.residual,
            "projected_gradient": step.gradient,
            "steps": step.s,
            "nodes": found.nodes,
            "rows": found.rows,
            "multipliers": found.multipliers,
            "redundant": len(found.redundant),
            "redundant_rows": "; ".join(table.name_of_row(i) for i in found.redundant),
            "mobility": found.mobility,
        }
        if self.start_moved > CLOSED_BY_ROUNDING * self._L:
            ended["start_moved"] = self.start_moved
        ended |= {"unit": self._unit} if self._unit else {}
        ended |= self._aimed() | self._starts() | self._where_the_target_went()
        ended |= self._surface() | self._held_by()
        if self.case.reactions:
            ended |= strongest(structure, self.reactions, self._unsure)
        return ended | warning(table, self._near) | self._doubled()

    def _aimed(self) -> Summary:
        """How far the leading node is from its goal that is farthest."""
        lead = self.case.structure.leading
        away = np.linalg.norm((self.last.r - self.last.g)[lead], axis=1)
        if not len(away):
            return {}
        worst, allowed = int(np.argmax(away)), REACHED * self._L
        return {
            "target_reached": bool(away[worst] <= allowed),
            "target_node": int(lead[worst]),
            "target_miss": float(away[worst]),
            "target_allowed": allowed,
            "target_nodes": len(lead),
        }

    def _doubled(self) -> Summary:
        """Nodes of a file that were written twice."""
        structure = self.case.structure
        said = isinstance(structure, OwnStructure) and told_same_places(structure)
        return {"doubled_nodes": said} if said else {}

    def _starts(self) -> Summary:
        """How many starts there were, how many minima they found, which was lowest.

        Of one start, that others may be lower, where nodes are off their goals.
        """
        attempts = self._attempts
        if not attempts:
            if self._aimed().get("target_reached", True):
                return {}
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

    def _where_the_target_went(self) -> Summary:
        shape = self.case.shape
        if not isinstance(shape, Moved):
            return {}
        went: Summary = {}
        for axis, turn, shift in zip("xyz", shape.turn, shape.shift, strict=True):
            went[f"target_turn_{axis}"] = turn
            went[f"target_shift_{axis}"] = shift
        return went

    def _surface(self) -> Summary:
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

    def _held_by(self) -> Summary:
        """Overlaps, and by name the limits and pairs that carry a force."""
        held: Summary = {}
        if self.case.obstacles is not None:
            held = {"overlaps": self.case.obstacles.overlaps(self.last.r)}
        if self._touching:
            held["smallest_gap"] = min(touch.room for touch in self._touching)
        carry = [t for t in self._touching if t.force > TOUCHING * self._L]
        limits = [self._limit(touch) for touch in carry if touch.bound]
        pairs = [touch.name for touch in carry if not touch.bound]
        found = {"limits": limits + self._of_joints(), "touching": pairs[:NAMED]}
        held |= {name: "; ".join(told) for name, told in found.items() if told}
        counted = self.case.obstacles is not None
        return held | ({"contacts": len(carry)} if counted else {})

    def _limit(self, touch: Touch) -> str:
        """A bound that is reached, with its value."""
        is_length = "length(" in touch.name
        return (
            f"{touch.name} of {touch.bound} {self._unit if is_length else ''}".rstrip()
        )

    def _of_joints(self) -> list[str]:
        """Joints that keep two nodes between limits, where they are at one."""
        found = [
            (one, one.reached(self.last.r, AT_LIMIT))
            for one in limits_of(self.case.structure.constraints)
        ]
        return [
            f"{one.name} (nodes {one.nodes[0]} and {one.nodes[1]}) at its {word} "
            f"{self._unit}".rstrip()
            for one, word in found
            if word
        ]

    @property
    def _unit(self) -> str:
        """Of lengths, "" where none was told."""
        structure = self.case.structure
        return structure.unit if isinstance(structure, OwnStructure) else ""
