"""Which link lengths, or which places of joints, bring a structure closest to targets.

The power mean of E^2, eq. (5) of [dJ23], at the ends of the morphs to T targets,

    F(p) = (1/T sum_t E_t^2q)^(1/q),    l_i = l_i0 (1 + p_g),    link i of group g,

is lowered over the relative changes p of the lengths, or over other numbers that the
constants of the constraints follow (`sim.morph.morphing.places`). Its sharpness q goes
from the mean, q = 1, towards the worst case: F <= max E_t^2 <= T^(1/q) F. A morph ends
where E^2 is stationary, so that to first order neither the motion of the nodes nor that
of their nearest points counts, and the forces at the end tell
(`sim.morph.morphing.reactions`)

    dE^2/dp_g = sum_i 2 l_i l_i0 dE^2/d(l_i^2),
    dF/dp_g = 1/T sum_t (E_t^2 / F)^(q - 1) dE_t^2/dp_g.

They balance those of bodies that touch and of ranges that are met, too.

L stays that of the structure given: if it grew with the lengths, E would fall by size
alone. Every configuration satisfies the constraints with the lengths as they then are;
steps are those of `sim.morph.morphing.search`.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import ClassVar, Protocol

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components
from scipy.spatial import cKDTree

from sim.arrays import Floats, Ints
from sim.convergence import NotConvergedError
from sim.limits import refuse_unless_positive
from sim.morph.mobility.mobility import mobility
from sim.morph.morphing.morph import MorphStep
from sim.morph.morphing.newton_morph import morph_newton
from sim.morph.morphing.problem import NewtonOptions
from sim.morph.morphing.reactions import reactions
from sim.morph.morphing.search import (
    DesignStep,
    Objective,
    SearchOptions,
    power_mean,
    search,
)
from sim.morph.obstacles.volume import BARRIER_PARAMETERS, Obstacles
from sim.morph.structure.constraints import ConstraintKind
from sim.morph.structure.measures import characteristic_length
from sim.morph.structure.structure import Structure
from sim.morph.targets.protocol import Target


@dataclass(frozen=True)
class DesignOptions(SearchOptions):
    """When to stop, and how far to go.

    Attributes
    ----------
    limit : largest relative change of a length
    sharpness : q, at least 1, of the power mean
    """

    limit: float = 0.2
    sharpness: float = 1.0
    morph: NewtonOptions = field(default_factory=NewtonOptions)

    def __post_init__(self) -> None:
        super().__post_init__()
        refuse_unless_positive(self, "limit")
        if not self.limit < 1.0:
            raise ValueError(f"limit must be below 1, not {self.limit}")
        if not 1.0 <= self.sharpness < np.inf:
            raise ValueError(f"sharpness must be 1 or more, not {self.sharpness}")


@dataclass(frozen=True, eq=False)
class Links:
    """The lengths that may change.

    Attributes
    ----------
    constraint : (l,) places of the links in the table of constraints
    group : (l,) links of one group keep one ratio to their first lengths
    """

    constraint: Ints
    group: Ints
    name: ClassVar[str] = "lengths"

    @property
    def count(self) -> int:
        return int(self.group.max()) + 1

    def changed(self, structure: Structure, change: Floats) -> Structure:
        """The structure with other lengths, its nodes where they were."""
        constant = structure.constraints.constant.copy()
        constant[self.constraint] *= (1.0 + change[self.group]) ** 2
        return structure.with_constants(constant)

    def slope(self, structure: Structure, change: Floats, worth: Floats) -> Floats:
        factor = self.changed(structure, change).constraints.constant[self.constraint]
        factor *= 2.0 / (1.0 + change[self.group])  # 2 l_i l_i0
        first = structure.constraints.first_row[self.constraint]
        slope = np.zeros(self.count)
        np.add.at(slope, self.group, factor * worth[first])
        return slope


class Variables(Protocol):
    """What of a structure may change."""

    @property
    def name(self) -> str:
        """What a person calls it."""

    @property
    def count(self) -> int:
        """How many numbers say it."""

    def changed(self, structure: Structure, change: Floats) -> Structure:
        """The structure after a change (g,), its nodes where they were."""

    def slope(self, structure: Structure, change: Floats, worth: Floats) -> Floats:
        """(g,) what each changes where a row's constant is worth `worth` (m,)."""


def links_of(structure: Structure, symmetries: Sequence[str] = ()) -> Links:
    """The links between bodies; those that symmetries make alike are one group.

    Parameters
    ----------
    symmetries : each the axes whose coordinates, from the middle, change their signs:
        "x" is a mirror, "xy" a half turn about z
    """
    pairs = {frozenset(body) for body in structure.bodies if len(body) == 2}
    table = structure.constraints
    chosen = [
        i
        for i in np.flatnonzero(table.kind == ConstraintKind.DIST).tolist()
        if frozenset(table.nodes[i, :2].tolist()) in pairs
    ]
    if not chosen:
        raise ValueError(
            "the structure has no links between bodies: nothing can change"
        )
    ends = np.sort(table.nodes[chosen, :2], axis=1)
    alike = [_images(structure.r0, ends, axes) for axes in symmetries]
    own = np.arange(len(ends))
    rows, cols = np.tile(own, len(alike) + 1), np.concatenate([own, *alike])
    graph = coo_array((np.ones(len(rows)), (rows, cols)), shape=(len(own), len(own)))
    _, group = connected_components(graph, directed=False)
    return Links(np.array(chosen, dtype=np.int64), group.astype(np.int64))


def _images(r0: Floats, ends: Ints, axes: str) -> Ints:
    """(l,) the link that is the image of each."""
    if not axes or set(axes) - set("xyz"):
        raise ValueError(f"{axes!r} is no symmetry: name axes among x, y and z")
    d = r0 - r0.mean(axis=0)
    image = d * [-1.0 if axis in axes else 1.0 for axis in "xyz"]
    found = cKDTree(d).query(image)
    away, node = np.atleast_1d(found[0]), np.atleast_1d(found[1])
    worst = int(np.argmax(away))
    place = {pair: i for i, pair in enumerate(map(tuple, ends.tolist()))}
    images = [(int(a), int(b)) for a, b in np.sort(node[ends], axis=1)]
    missing = [pair for pair in images if pair not in place]
    if away[worst] > 1e-6 * characteristic_length(r0) or missing:
        raise ValueError(
            f"the structure has no symmetry {axes}: node {worst} is "
            f"{away[worst]:.2g} from the next image; leave it out"
        )
    return np.array([place[pair] for pair in images], dtype=np.int64)


@dataclass(frozen=True, eq=False)
class MorphObjective:
    """F of what varies, by morphs to targets."""

    structure: Structure
    targets: Sequence[Target]
    variables: Variables
    options: DesignOptions

    @property
    def name(self) -> str:
        return self.variables.name

    @property
    def bounds(self) -> tuple[Floats, Floats]:
        most = np.full(self.variables.count, self.options.limit)
        return -most, most

    def at(
        self, change: Floats, before: tuple[MorphStep, ...] | None = None
    ) -> Objective:
        """F of lengths or places that differ by `change` (g,)."""
        made = self.variables.changed(self.structure, change)
        starts = before or (None,) * len(self.targets)
        ends = tuple(
            rest(
                made, target, self.options.morph, None if start is None else start.state
            )
            for target, start in zip(self.targets, starts, strict=True)
        )
        E = np.array([end.E for end in ends])
        F, shares = power_mean(E, self.options.sharpness)
        worth = sum(
            share * _sensitivity(made, end)
            for share, end in zip(shares, ends, strict=True)
        )
        slope = self.variables.slope(self.structure, change, np.asarray(worth))
        return Objective(F, slope, E, ends)


def design(
    structure: Structure,
    targets: Sequence[Target],
    variables: Variables,
    options: DesignOptions,
) -> Iterator[DesignStep]:
    """Yield ever better lengths or places, the structure's own first."""
    if not targets:
        raise ValueError("no target to design for: give one or more")
    refuse_redundant(structure)
    sought = MorphObjective(structure, targets, variables, options)
    yield from search(sought, options, np.zeros(variables.count))


def refuse_redundant(structure: Structure) -> None:
    """Rows that hang on each other hold lengths to each other, too."""
    if len(mobility(structure).redundant):
        raise ValueError(
            "the constraints are redundant: lengths and places cannot change one by "
            "one; leave the redundant rows out (morphtrack mobility names them)"
        )


def rest(
    made: Structure, target: Target, options: NewtonOptions, start: Floats | None
) -> MorphStep:
    """Where a morph from the end of another one, `start` (n + k, 3), comes to rest.

    Bodies that touched there, and ranges that were met, need not allow that end with
    other lengths: then it begins where the structure does.
    """
    try:
        *_, end = morph_newton(made, target, options, start)
    except ValueError as error:
        if start is None or not made.is_limited:
            raise
        try:
            *_, end = morph_newton(made, target, options)
        except ValueError:
            raise NotConvergedError(str(error), best=start) from None
    return end


def _sensitivity(made: Structure, end: MorphStep) -> Floats:
    """(m,) d(E^2)/d(constant) of each row, with what contacts carry."""
    contacts = None
    if made.is_limited:
        kappa = BARRIER_PARAMETERS[-1] * characteristic_length(made.r0) ** 2
        contacts = Obstacles.of(made).nearest.contacts(end.state, kappa)
    return reactions(made, end.state, end.g, contacts).sensitivity
