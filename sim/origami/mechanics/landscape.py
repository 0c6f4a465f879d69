"""Energy of a sheet by the folds of one crease or two, least over all else.

The creases that are held have stiff springs in place of their own; the energy counts
what they themselves store at the folds that are reached, and no spring. By the envelope
theorem the slope of that energy in a held fold is the moment that holds it.

Several equilibria can have the same held folds. Each point is sought from its neighbour
nearer to where the sheet began, and again from any neighbour whose energy and slope
promise less, until none does: the energy is the least that such ways lead to.
"""

from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product

import numpy as np

from sim.arrays import Bools, Floats, Ints
from sim.origami.folding.leaving import asked_folds
from sim.origami.folding.sheet import Sheet
from sim.origami.folding.stepping import FoldSeen, FoldWorld, SavedFold
from sim.origami.loading.phases import Fold

LOWER = 1e-6  # of its energy, by which a point is found again
PROMISED = 0.1  # of its energy, that a neighbour must undercut to be tried
STIFFER = 100.0  # springs that hold creases, times the stiffest hinge


@dataclass(frozen=True, eq=False)
class LandscapeStep:
    """The sheet with its folds held at one point of the grid.

    Attributes
    ----------
    s : number from 0
    at : place in the grid, one number for each held group
    asked, reached : (g,) fold of each group along its assignment, the mean of its
        creases, rad
    moment : (g,) that holds it, the slope of the energy, N m
    energy : J, of all but contact
    """

    s: int
    at: tuple[int, ...]
    asked: Floats
    reached: Floats
    moment: Floats
    energy: float
    seen: FoldSeen


@dataclass(frozen=True, eq=False)
class _Held:
    """A world with springs on its held creases.

    Attributes
    ----------
    edge, place : (h,) of each held crease, and where it stands among the creases
    group : (h,) which fold of the grid it takes part in
    side : (h,) -1 for mountains, else 1
    own, spring : (h,) N m, their stiffness and that of the springs
    rest : (h,) folds at which the held creases have no stress of their own, rad
    """

    world: FoldWorld
    edge: Ints
    place: Ints
    group: Ints
    side: Floats
    own: Floats
    spring: Floats
    rest: Floats

    def mean(self, values: Floats) -> Floats:
        """(g,) over the creases of each group."""
        return np.asarray(np.bincount(self.group, values) / np.bincount(self.group))


def landscape(
    sheet: Sheet, phase: Fold, held: Sequence[Sequence[int]], grid: Sequence[Floats]
) -> Iterator[LandscapeStep]:
    """Yield the points of the grid, outward from where the folded sheet is.

    After all of them come those that were found again with less energy.

    Parameters
    ----------
    phase : to which folds, without stress, the creases are brought first, and how
    held : groups of edges, single hinges; those of one group fold by as much, each
        along its assignment, as a valley where it has none
    grid : folds of each group, rad, ascending

    Raises
    ------
    NotConvergedError
        where no equilibrium is found.
    """
    springs = _held(sheet, phase, held)
    world = springs.world
    folds = world.observe().folds[springs.place]
    begun = springs.mean(springs.side * folds)
    orders = [
        _outward(values, start) for values, start in zip(grid, begun, strict=True)
    ]
    found: dict[tuple[int, ...], LandscapeStep] = {}
    saved: dict[tuple[int, ...], SavedFold] = {}
    first = world.save()
    for steps in product(*orders):
        at = tuple(here for here, _ in steps)
        world.restore(_nearest(saved, steps, first))
        found[at] = _seen(springs, len(found), at, _asked(grid, at))
        saved[at] = world.save()
        yield found[at]
    ahead, s = deque(found), len(found)
    while ahead:
        start = ahead.popleft()
        for at in _promising(found, start):
            world.restore(saved[start])
            step = _seen(springs, s, at, _asked(grid, at))
            if step.energy < (1.0 - LOWER) * found[at].energy:
                found[at], saved[at] = step, world.save()
                ahead.append(at)
                s += 1
                yield step


def _asked(grid: Sequence[Floats], at: tuple[int, ...]) -> Floats:
    return np.array([values[i] for values, i in zip(grid, at, strict=True)])


def _promising(
    found: dict[tuple[int, ...], LandscapeStep], start: tuple[int, ...]
) -> Iterator[tuple[int, ...]]:
    """Neighbours of a point whose energy its own and its slope undercut."""
    here = found[start]
    for axis, way in product(range(len(start)), (-1, 1)):
        at = (*start[:axis], start[axis] + way, *start[axis + 1 :])
        if at in found:
            there = found[at]
            promised = here.energy + here.moment @ (there.asked - here.reached)
            if promised < (1.0 - PROMISED) * there.energy:
                yield at


def _nearest(
    saved: dict[tuple[int, ...], SavedFold],
    steps: Sequence[tuple[int, int | None]],
    first: SavedFold,
) -> SavedFold:
    """Where to come from: the last held fold changes, the one before at its start."""
    at = [here for here, _ in steps]
    for k in reversed(range(len(steps))):
        before = steps[k][1]
        if before is not None:
            at[k] = before
            return saved[tuple(at)]
    return first


def _outward(values: Floats, start: float) -> list[tuple[int, int | None]]:
    """Places by distance from a start, each with that from which it is reached."""
    middle = int(np.argmin(np.abs(values - start)))
    up = [(i, i - 1) for i in range(middle + 1, len(values))]
    down = [(i, i + 1) for i in reversed(range(middle))]
    return [(middle, None), *up, *down]


def _held(sheet: Sheet, phase: Fold, held: Sequence[Sequence[int]]) -> _Held:
    """The sheet at its rest folds, and its held creases."""
    mesh = sheet.mesh
    edge = np.array([c for group in held for c in group], dtype=np.int64)
    hinge = np.array([_hinge_of(mesh.hinge_crease == c, c) for c in edge])
    stiffness = mesh.hinge_stiffness.copy()
    stiffness[hinge] = STIFFER * stiffness.max()
    stiff = replace(mesh, hinge_stiffness=stiffness)
    world = FoldWorld(replace(sheet, mesh=stiff), phase)
    rest = np.nan_to_num(asked_folds(mesh, phase))
    for part in np.arange(1, phase.increments + 1) / phase.increments:
        world.act(dict(zip(mesh.pattern.creases.tolist(), part * rest, strict=True)))
        world.step(1.0 / phase.increments)
    assigned = np.asarray(mesh.pattern.assignment)[edge] if len(
        mesh.pattern.assignment) else np.zeros(len(edge))  # fmt: skip
    place = np.searchsorted(mesh.pattern.creases, edge)
    return _Held(
        world=world,
        edge=edge,
        place=place,
        group=np.repeat(np.arange(len(held)), [len(group) for group in held]),
        side=np.where(assigned < 0, -1.0, 1.0),
        own=mesh.hinge_stiffness[hinge],
        spring=stiffness[hinge],
        rest=rest[place],
    )


def _hinge_of(chosen: Bools, crease: int) -> int:
    if np.count_nonzero(chosen) != 1:
        raise ValueError(
            f"edge {crease} is held, but has {np.count_nonzero(chosen)} hinges: name "
            "creases of a sheet with compliant false"
        )
    return int(np.argmax(chosen))


def _seen(held: _Held, s: int, at: tuple[int, ...], asked: Floats) -> LandscapeStep:
    """Go to the folds that are asked, and take the springs off the energy."""
    told = held.side * asked[held.group]
    held.world.act(dict(zip(held.edge.tolist(), told.tolist(), strict=True)))
    seen = held.world.step(1.0)
    folds = seen.folds[held.place]
    away, bent = told - folds, folds - held.rest
    energy = float(seen.energies[:4].sum() + seen.energies[5])
    energy += 0.5 * float((held.own * bent**2 - held.spring * away**2).sum())
    moment = held.side * (held.spring * away + held.own * bent)
    whole = np.bincount(held.group, moment).astype(np.float64)
    reached = held.mean(held.side * folds)
    return LandscapeStep(s, at, asked, reached, whole, energy, seen)
