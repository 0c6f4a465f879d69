"""Which of two materials parts that grow are made of, so that shapes come close.

Each growth that may be of two materials has a share x in [0, 1] of the second: its
strain at rest is (1 - x) e + x e'. Sought are shares by which the shapes at rest, at
one value of the field each, are closest to their targets, by the power mean of E^2 of
`sim.morph.morphing.search`, and last each share is 0 or 1 (relaxation, penalisation and
continuation: Bendsoe and Sigmund, Topology Optimization, 2003, ch. 1):

    relaxed    F + w sum 4 x (1 - x) / q, by its gradient; w = 0, then ever larger
    rounded    shares above 1/2 are 1, the others 0
    changed    the one share that lowers F most is turned, as long as one does

Where a rest hangs on its strains e, grad Pi(z, e) + J^T y = 0 and c(z) = 0, the slope
of any phi(r) is that of the adjoint a,

    K a + J^T b = grad phi,  J a = 0,
    dphi/de = -a . d(grad Pi)/de,          of a rigid link, c = r . r - l^2: b d(l^2)/de

with K the curvature of the potential energy and the constraints' forces.
"""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np

from sim.arrays import Bools, Floats
from sim.choice import Choice
from sim.convergence import NotConvergedError
from sim.morph.morphing.search import Objective, SearchOptions, power_mean, search
from sim.morph.statics.equilibrium import (
    SHIFT,
    Equilibrium,
    EquilibriumOptions,
    at_rest,
)
from sim.morph.statics.growth import GrowingStructure
from sim.morph.statics.loaded import LoadedStructure
from sim.morph.statics.potential import PotentialEnergy
from sim.morph.structure.measures import characteristic_length
from sim.morph.targets.protocol import Target

WEIGHTS = 0.0, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0  # of the penalty, of the first F
BINARY = 0.01  # share from which 0 or 1 is reached


class PatternStage(Choice):
    """How far a pattern is decided."""

    RELAXED = "relaxed"
    ROUNDED = "rounded"
    CHANGED = "changed"


class PatternStep(NamedTuple):
    """One pattern.

    Attributes
    ----------
    share : (q,) of the second material, of each growth that may be of two
    weight : of the penalty, relative to F at the start
    F : power mean of E^2, without the penalty
    E : (T,) of the shape at each value of the field
    ends : the rests behind them
    """

    s: int
    stage: PatternStage
    share: Floats
    weight: float
    F: float
    E: Floats
    ends: tuple[Equilibrium, ...]


@dataclass(frozen=True)
class PatternOptions:
    """When to stop, and where to begin.

    Attributes
    ----------
    sharpness : q of the power mean, 1 for the mean, larger nearer to the worst
    seed : of the first shares, between a quarter and three; a half each unless given
    """

    sharpness: float = 1.0
    seed: int | None = None
    search: SearchOptions = field(
        default_factory=lambda: SearchOptions(1e-4, 1e-10, max_steps=60)
    )
    rest: EquilibriumOptions = field(default_factory=EquilibriumOptions)

    def __post_init__(self) -> None:
        if not 1.0 <= self.sharpness < np.inf:
            raise ValueError(f"sharpness must be 1 or more, not {self.sharpness}")


@dataclass(frozen=True, eq=False)
class PatternObjective:
    """F of shares, over `unit`, with its penalty.

    Attributes
    ----------
    values, targets : of the field, and of the shape at each
    """

    body: GrowingStructure
    values: Sequence[float]
    targets: Sequence[Target]
    options: PatternOptions
    unit: float = 1.0
    weight: float = 0.0
    name = "patterns"

    @property
    def chosen(self) -> Bools:
        """(growths,) which may be of two materials."""
        return np.array([growth.other is not None for growth in self.body.growths])

    @property
    def bounds(self) -> tuple[Floats, Floats]:
        count = int(np.count_nonzero(self.chosen))
        return np.zeros(count), np.ones(count)

    def _strains(self, value: float) -> tuple[Floats, Floats]:
        """(growths,) of the first materials, and by how much the second differ."""
        first, _ = self.body.strains(value)
        second = [
            e if growth.other is None else growth.other.at(value)[0]
            for growth, e in zip(self.body.growths, first, strict=True)
        ]
        return first, np.array(second) - first

    def at(
        self, change: Floats, before: tuple[Equilibrium, ...] | None = None
    ) -> Objective[Equilibrium]:
        """F of the shares `change` (g,)."""
        lead = self.body.structure.leading
        size = len(self.body.force) * characteristic_length(self.body.structure.r0) ** 2
        share, found = np.zeros(len(self.chosen)), []
        share[self.chosen] = change
        starts = before or (None,) * len(self.targets)
        for value, target, start in zip(self.values, self.targets, starts, strict=True):
            strain, more = self._strains(value)
            grown = self.body.grown(strain + share * more)
            end = _held_rest(grown, self.options.rest, start)
            away = np.zeros_like(self.body.force)
            away[lead] = end.r()[lead] - target.closest(end.r()[lead])
            worth = rest_slopes(grown, end, 2.0 / size * away)
            own = self._of_growths(worth, strain + share * more) * more
            E = float(np.sqrt(np.square(away).sum() / size))
            found.append((E, own[self.chosen], end))
        each = np.array([E for E, _, _ in found])
        F, shares = power_mean(each, self.options.sharpness)
        slope = sum(by * own for by, (_, own, _) in zip(shares, found, strict=True))
        grey = 4.0 * self.weight / len(change)
        return Objective(
            F / self.unit + grey * float(change @ (1.0 - change)),
            slope / self.unit + grey * (1.0 - 2.0 * change),
            each,
            tuple(end for _, _, end in found),
        )

    def _of_growths(
        self, worth: tuple[Floats, Floats, Floats, Floats], strain: Floats
    ) -> Floats:
        """(growths,) slope in the strain of each, from those of its parts."""
        links, hinges, panels, rigid = worth
        return np.array(
            [
                (links[g.links].sum() + panels[g.panels].sum() + rigid[g.rigid].sum())
                / (1.0 + e)
                + hinges[g.hinges].sum()
                for g, e in zip(self.body.growths, strain, strict=True)
            ]
        )


def rest_slopes(
    loaded: LoadedStructure, found: Equilibrium, slope: Floats
) -> tuple[Floats, Floats, Floats, Floats]:
    """What a rest's shape is worth in what elastic parts are at rest.

    Parameters
    ----------
    slope : (n, 3) of phi in the nodes

    Returns
    -------
    slopes of phi in the logarithms of rest lengths (l,), in rest angles (h,), in the
    logarithms of the panels' sides at rest (p,) and of lengths of rigid links (q,)
    """
    problem = replace(PotentialEnergy.of(loaded), kappa=found.kappa)
    if problem.obstacles is not None:
        problem = replace(problem, obstacles=problem.obstacles.reaching(1.0))
    point = problem.point(found.z, found.deformed.angle)
    rho = problem.weights(point.linear)
    factor = problem.factorise(point, rho, SHIFT, convex=False)
    a, force = np.zeros_like(point.z), np.zeros_like(point.z)
    b, table = np.zeros_like(rho), problem.system.table
    force[: len(slope)] = slope
    for _ in range(4):  # each makes J a smaller
        a += factor.solve(force.ravel()).reshape(-1, 3)
        b += rho * point.linear.times(a)
        force = -point.linear.transpose_times(rho * point.linear.times(a))
    elastic, panels = loaded.elastic, point.deformed.panels
    links, hinges, strain = problem.strains(point, a)
    pull = 2.0 * panels.strain + [1.0, 1.0, 0.0]
    return (
        elastic.rest_length * elastic.link_stiffness * links,
        elastic.hinge_stiffness * hinges,
        np.einsum("pk,pkl,pl->p", pull, elastic.panels.material, strain),
        2.0 * table.constant * b[table.first_row[:-1]],
    )


def _held_rest(
    grown: LoadedStructure, options: EquilibriumOptions, start: Equilibrium | None
) -> Equilibrium:
    end = at_rest(grown, options, start)
    if end.neutral:
        raise ValueError(
            f"{end.neutral} motions cost the structure no energy, so that nothing says "
            "which shape it takes: hold it, by `fixed`, `supports` or `planar`"
        )
    return end


def find_pattern(
    body: GrowingStructure,
    values: Sequence[float],
    targets: Sequence[Target],
    options: PatternOptions,
) -> Iterator[PatternStep]:
    """Yield ever better patterns: relaxed, then rounded, then by single changes."""
    sought = PatternObjective(body, values, targets, options)
    count = len(sought.bounds[0])
    share, s = np.full(count, 0.5), 0
    if options.seed is not None:
        share = np.random.default_rng(options.seed).uniform(0.25, 0.75, count)
    here = sought.at(share)
    unit = max(here.F, 1e-300)
    ends = here.ends
    for weight in WEIGHTS:
        relaxed = replace(sought, unit=unit, weight=weight)
        try:
            for step in search(relaxed, options.search, share, ends):
                share, ends = step.change, step.ends
                F, _ = power_mean(step.E, options.sharpness)
                yield PatternStep(
                    s, PatternStage.RELAXED, share, weight, F, step.E, ends
                )
                s += 1
        except NotConvergedError:  # a stage need not end: the next goes on from it
            pass
        if (np.minimum(share, 1.0 - share) <= BINARY).all():
            break
    yield from _decided(sought, np.round(share), ends, s)


def _decided(
    sought: PatternObjective, share: Floats, ends: tuple[Equilibrium, ...], s: int
) -> Iterator[PatternStep]:
    """The rounded pattern, and those by which single changes lower F."""
    here, stage = sought.at(share, ends), PatternStage.ROUNDED
    while True:
        yield PatternStep(s, stage, share, 0.0, here.F, here.E, here.ends)
        if sought.options.search.reached > here.F:
            return
        tried = []
        for i in range(len(share)):
            other = share.copy()
            other[i] = 1.0 - other[i]
            with suppress(NotConvergedError):  # one without a rest is not taken
                tried.append((sought.at(other, here.ends), other))
        best, other = min(tried, key=lambda pair: pair[0].F, default=(here, share))
        if not best.F < here.F * (1.0 - 1e-9):
            return
        share, here, stage, s = other, best, PatternStage.CHANGED, s + 1
