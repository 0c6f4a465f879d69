"""Which link lengths, or which places of joints, bring a structure closest to targets.

The power mean of E^2, eq. (5) of [dJ23], at the ends of the morphs to T targets,

    F(p) = (1/T sum_t E_t^2q)^(1/q),    l_i = l_i0 (1 + p_g),    link i of group g,

is lowered over the relative changes p of the lengths, or over other numbers that the
constants of the constraints follow. Its exponent q goes from the mean, q = 1, towards
the worst case: F <= max E_t^2 <= T^(1/q) F. A morph ends where E^2 is stationary, so
that to first order neither the motion of the nodes nor that of their nearest points
counts, and the forces at the end tell (`sim.mechanism.constraint_forces`)

    dE^2/dp_g = sum_i 2 l_i l_i0 dE^2/d(l_i^2),
    dF/dp_g = 1/T sum_t (E_t^2 / F)^(q - 1) dE_t^2/dp_g.

They balance those of bodies that touch and of ranges that are met, too.

L stays that of the structure given: if it grew with the lengths, E would fall by size
alone. Every configuration satisfies the constraints with the lengths as they then are.

The search is within bounds. Its steps are those of the spectral projected gradient
(Birgin, Martinez, Raydan, SIAM J. Optim. 10, 2000), which keep to the bounds, their
lengths by Armijo's condition. `MorphObjective` has F of lengths or places, its slope,
and the shapes behind it, from whose ends the next ones begin, so that each stays on its
branch.

The places of joints may change instead of lengths. A node that is made at another place
x of its bodies changes the constants k = h(x) of all rows that it is in, lengths and
cosines alike, and of its supports. So what a place is worth follows from what constants
are worth (`sim.mechanism.constraint_forces`) by the chain rule, with the Jacobian of
the rows where the structure is made:

    dE^2/dx = J(x)^T dE^2/dk.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Annotated, ClassVar, NamedTuple, Protocol

import numpy as np
from scipy.spatial import cKDTree

from sim.core.arrays import Floats, Ints, connected
from sim.core.options import (
    Checked,
    Choice,
    Count,
    NotConvergedError,
    Positive,
    Requirement,
    within,
)
from sim.mechanism.constraint_forces import reactions
from sim.mechanism.constraint_system import (
    LinearConstraints,
    linearise,
    state,
    system_of,
)
from sim.mechanism.constraints import WITHOUT_CONSTANT, ConstraintKind
from sim.mechanism.mobility import mobility
from sim.mechanism.morph_objective import NewtonOptions
from sim.mechanism.newton_morph import morph_newton
from sim.mechanism.obstacles import BARRIER_PARAMETERS, Obstacles
from sim.mechanism.projection_morph import MorphStep
from sim.mechanism.shape_measures import characteristic_length
from sim.mechanism.structure import Structure
from sim.mechanism.targets.target_interface import Target
from sim.optimize.newton import Step, Trial, halved, line_search

FIRST = 0.02  # largest change in the first step
SHORTEST_STEP = 1e-6  # step length at which the line search ends


class DesignStop(Choice):
    """Why the search ended."""

    GRADIENT = "gradient"  # no change within the bounds lowers F to first order
    REACHED = "reached"  # F vanishes


class DesignStep(NamedTuple):
    """One set of lengths, or of places.

    Attributes
    ----------
    change : (g,) relative change of each group of links, or of what else varies
    F : power mean of E^2
    E : (T,) at the end of the morph to each target
    gradient : largest change that the gradient of F asks for within the bounds
    ends : the last step of each morph
    stop : why this step is the last, None if it is not
    """

    s: int
    change: Floats
    F: float
    E: Floats
    gradient: float
    ends: tuple[MorphStep, ...]
    stop: DesignStop | None


class Objective(NamedTuple):
    """F, its slope (g,) in the changes, the shape behind each E (T,)."""

    F: float
    slope: Floats
    E: Floats
    ends: tuple[MorphStep, ...]


def power_mean(E: Sequence[float] | Floats, q: float) -> tuple[float, Floats]:
    """F = (1/T sum_t E_t^2q)^(1/q), and its slope (T,) in each E_t^2."""
    squares = np.square(np.asarray(E, dtype=np.float64))
    unit = 2.0 ** np.frexp(squares.max())[1]  # no power vanishes
    F = float(unit * ((squares / unit) ** q).mean() ** (1.0 / q))
    return F, (squares / max(F, 1e-300)) ** (q - 1.0) / len(squares)


def search(sought: "MorphObjective", change: Floats) -> Iterator[DesignStep]:
    """Yield ever better numbers, `change` (g,) first."""
    options, most = sought.options, np.full(len(change), sought.options.limit)
    here = sought.at(change, None)
    scale = FIRST / max(float(np.abs(here.slope).max()), 1e-300)
    for s in range(options.max_steps + 1):
        ahead = np.clip(change - here.slope, -most, most) - change
        left = float(np.abs(ahead).max())
        stop = None
        if options.reached >= here.F:
            stop = DesignStop.REACHED
        elif left <= options.tolerance:
            stop = DesignStop.GRADIENT
        yield DesignStep(s, change, here.F, here.E, left, here.ends, stop)
        if stop is not None:
            return
        direction = np.clip(change - scale * here.slope, -most, most) - change
        alpha, after = _line_search(sought, change, here, direction)
        change_of_slope = float((after.slope - here.slope) @ direction) * alpha
        moved = alpha * direction
        scale = float(np.clip(moved @ moved / max(change_of_slope, 1e-300), 1e-3, 1e3))
        change, here = change + moved, after
    raise NotConvergedError(
        f"no convergence in {options.max_steps} steps: a change of {left:.1e} still "
        f"lowers the objective F (tolerance {options.tolerance:.0e}); raise "
        "max_steps or tolerance",
        best=change,
    )


def _line_search(
    sought: "MorphObjective", change: Floats, here: Objective, direction: Floats
) -> tuple[float, Objective]:
    """The longest step tried that meets Armijo's condition, and F there.

    Numbers whose shapes do not close count as a step that is too long.
    """
    unclosed: NotConvergedError | None = None

    def trials(share: float) -> Iterator[Trial[tuple[float, Objective]]]:
        nonlocal unclosed
        try:
            after = sought.at(change + share * direction, here.ends)
        except NotConvergedError as error:
            unclosed = error
        else:
            yield Trial((share, after), after.F - here.F)

    slope, shares = float(here.slope @ direction), halved(1.0, SHORTEST_STEP)
    found = line_search(Step(trials, slope, 0.0, shares))
    if found is not None:
        return found.point
    if unclosed is not None:
        raise NotConvergedError(
            f"changing {sought.variables.name} to lower F = {here.F:.3e} further makes "
            f"the structure impossible to assemble ({unclosed}): choose targets that "
            "it can reach, or remove links from its loops",
            best=change,
        )
    raise NotConvergedError(
        f"no change of {sought.variables.name} lowers F = {here.F:.3e} although its "
        "gradient does not vanish: lower the tolerance of the morphs",
        best=change,
    )


@dataclass(frozen=True)
class DesignOptions(Checked):
    """When to stop, and how far to go.

    Attributes
    ----------
    tolerance : on the gradient of F, whose variables are relative changes
    reached : F below which every target counts as reached
    limit : largest relative change of a length
    mean_exponent : q, at least 1, of the power mean
    """

    tolerance: Positive = 1e-6
    reached: Positive = 1e-14
    max_steps: Count = 100
    limit: Annotated[Positive, Requirement("below 1", lambda limit: limit < 1.0)] = 0.2
    mean_exponent: Annotated[float, within(1.0, np.inf, "1 or more")] = 1.0
    morph: NewtonOptions = field(default_factory=NewtonOptions)


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
            "the structure has no link between two bodies whose length can change: add "
            "such links, or set `places`"
        )
    ends = np.sort(table.nodes[chosen, :2], axis=1)
    alike = [_images(structure.r0, ends, axes) for axes in symmetries]
    own = np.arange(len(ends))
    pairs_alike = np.column_stack(
        [np.tile(own, len(alike) + 1), np.concatenate([own, *alike])]
    )
    _, group = connected(pairs_alike, len(own))
    return Links(np.array(chosen, dtype=np.int64), group)


def _images(r0: Floats, ends: Ints, axes: str) -> Ints:
    """(l,) the link that is the image of each."""
    if not axes or set(axes) - set("xyz"):
        raise ValueError(f"{axes!r} is not a symmetry: name axes among x, y and z")
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
            f"{away[worst]:.2g} from the nearest mirror image; omit this symmetry"
        )
    return np.array([place[pair] for pair in images], dtype=np.int64)


@dataclass(frozen=True, eq=False)
class MorphObjective:
    """F of what varies, by morphs to targets."""

    structure: Structure
    targets: Sequence[Target]
    variables: Variables
    options: DesignOptions

    def at(
        self, change: Floats, before: tuple[MorphStep, ...] | None = None
    ) -> Objective:
        """F of lengths or places that differ by `change` (g,)."""
        made = self.variables.changed(self.structure, change)
        starts = before or (None,) * len(self.targets)
        ends = tuple(
            rest(made, target, self.options.morph, start and start.state)
            for target, start in zip(self.targets, starts, strict=True)
        )
        E = np.array([end.E for end in ends])
        F, shares = power_mean(E, self.options.mean_exponent)
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
        raise ValueError("the design has no target: give one or more")
    refuse_redundant(structure)
    sought = MorphObjective(structure, targets, variables, options)
    yield from search(sought, np.zeros(variables.count))


def refuse_redundant(structure: Structure) -> None:
    """Rows that hang on each other hold lengths to each other, too."""
    if len(mobility(structure).redundant):
        raise ValueError(
            "redundant constraints: lengths cannot change independently; remove the "
            "constraints that `morphtrack mobility` lists as redundant"
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


@dataclass(frozen=True, eq=False)
class Places:
    """Nodes (p,) that may be made elsewhere; three numbers each, displacement / L."""

    node: Ints
    name: ClassVar[str] = "places"

    @property
    def count(self) -> int:
        return 3 * len(self.node)

    def changed(self, structure: Structure, change: Floats) -> Structure:
        """The structure made with its nodes elsewhere, placed where they were.

        Raises
        ------
        ValueError
            for a node whose place rows without a constant tie to others.
        """
        table = structure.constraints
        tying = np.isin(table.kind, WITHOUT_CONSTANT)
        tied = np.intersect1d(self.node, table.nodes[tying])
        if len(tied):
            raise ValueError(
                f"node {tied[0]} has a par or coin constraint, so its place depends on "
                "other nodes: choose nodes without one"
            )
        made, r0 = self.made(structure, change), structure.r0
        apart = _rows(structure, made).c - _rows(structure, r0).c
        own = apart[table.first_row[:-1]]
        own[tying] = 0.0
        return structure.with_constants(table.constant + own)

    def slope(self, structure: Structure, change: Floats, worth: Floats) -> Floats:
        """(3p,) what places are worth where constants of rows are worth `worth`."""
        rows = _rows(structure, self.made(structure, change))
        in_places = rows.transpose_times(worth)[self.node].ravel()
        return np.asarray(characteristic_length(structure.r0) * in_places)

    def made(self, structure: Structure, change: Floats) -> Floats:
        """(n, 3) nodes where the structure is made."""
        r = structure.r0.copy()
        r[self.node] += characteristic_length(r) * change.reshape(-1, 3)
        return r


def _rows(structure: Structure, made: Floats) -> LinearConstraints:
    """The rows where the structure is made."""
    z = state(structure)
    z[: len(made)] = made
    return linearise(system_of(structure), z)
