"""Energy of a sheet by one fold or two that are held, least over all other moves.

minima.csv has a row for each minimum of the grid, the deepest first: the folds, the
energy, what it takes to come from there to a deeper one, and whether it lies inside.
Points that were found again with less energy have a further row in steps.csv.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from pipeline.cases.origami import OrigamiCase
from pipeline.cases.record import Arrays, Documents, Row, Summary, TableRow, Tables
from pipeline.terminal.errors import InputError
from sim.arrays import Floats
from sim.limits import is_count, is_finite
from sim.origami.folding.sheet import StartError
from sim.origami.loading.phases import Fold
from sim.origami.mechanics.basins import Basin, basins
from sim.origami.mechanics.landscape import LandscapeStep, landscape


@dataclass(frozen=True, eq=False)
class FoldAxis:
    """Creases that are held at the same fold, and the folds at which they are.

    Attributes
    ----------
    creases : numbers of the edges; each folds along its assignment, as a valley
        without one
    start, end : degrees
    points : of the grid, ends among them
    """

    creases: Sequence[int]
    start: float
    end: float
    points: int

    def __post_init__(self) -> None:
        if not self.creases:
            raise ValueError("an axis holds no creases: name some")
        for name in ("start", "end"):
            value = getattr(self, name)
            if not is_finite(value) or not abs(value) < 180.0:
                raise ValueError(f"{name} of an axis is {value}: give -180 to 180")
        if not is_count(self.points, 2):
            raise ValueError(f"an axis has {self.points} points: give 2 or more")
        if not self.start < self.end:
            raise ValueError(
                f"an axis goes from {self.start} to {self.end}: let it ascend"
            )

    @property
    def folds(self) -> Floats:
        """(points,) rad."""
        return np.radians(np.linspace(self.start, self.end, self.points))


@dataclass(frozen=True, eq=False)
class FoldLandscapeCase:
    """One of conf/case, built by Hydra.

    Attributes
    ----------
    of : its only phase folds the sheet to where its creases have no stress
    axes : one or two
    """

    of: OrigamiCase
    axes: Sequence[FoldAxis]

    def __post_init__(self) -> None:
        if len(self.axes) not in (1, 2):
            raise ValueError(f"the landscape has {len(self.axes)} axes: give 1 or 2")
        if self.of.compliant:
            raise ValueError(
                "creases with a width have no single fold: set compliant to false"
            )
        held = [c for axis in self.axes for c in axis.creases]
        there = self.of.pattern.creases.tolist()
        for crease in held:
            if crease not in there or held.count(crease) > 1:
                raise ValueError(
                    f"edge {crease} is held {held.count(crease)} times: name creases, "
                    f"each once, of {there}"
                )
        _ = self._rest

    @property
    def _rest(self) -> Fold:
        phase = self.of.phases[0]
        if len(self.of.phases) != 1 or not isinstance(phase, Fold):
            raise ValueError(
                "a landscape has one phase, sim.origami.loading.phases.Fold: give it"
            )
        return phase

    def steps(self) -> Iterator[LandscapeStep]:
        held = [list(axis.creases) for axis in self.axes]
        grid = [axis.folds for axis in self.axes]
        try:
            yield from landscape(self.of.sheet, self._rest, held, grid)
        except StartError as error:
            raise InputError(str(error)) from None

    def recorder(self) -> "LandscapeRecorder":
        return LandscapeRecorder(self)


@dataclass(eq=False)
class LandscapeRecorder:
    """Records the points of a landscape, then finds its minima."""

    case: FoldLandscapeCase
    energy: Floats = field(init=False)
    steps: int = 0

    def __post_init__(self) -> None:
        self.energy = np.full([axis.points for axis in self.case.axes], np.inf)

    def see(self, step: LandscapeStep) -> None:
        self.energy[step.at] = step.energy
        self.steps = step.s

    def row(self, step: LandscapeStep) -> Row:
        found: Row = {"step": step.s}
        for k in range(len(step.at)):
            found |= {
                f"asked_{k}_deg": float(np.degrees(step.asked[k])),
                f"fold_{k}_deg": float(np.degrees(step.reached[k])),
                f"moment_{k}": float(step.moment[k]),
            }
        contact = float(step.seen.energies[4])
        numbers = {"energy": step.energy, "contact_energy": contact}
        return found | numbers | {"residual": step.seen.residual}

    def arrays(self, step: LandscapeStep) -> Arrays:
        return {"x": step.seen.x, "folds": step.seen.folds}

    def progress(self, step: LandscapeStep) -> str:
        return f"E {step.energy:.1e} J"

    def documents(self) -> Documents:
        return self.case.of.recorder().documents()

    def fixed_arrays(self) -> Arrays:
        return self.case.of.recorder().fixed_arrays()

    @cached_property
    def _minima(self) -> list[Basin]:
        return basins(self.energy)

    def tables(self) -> Tables:
        return {"minima.csv": self._rows()}

    def _rows(self) -> Iterator[TableRow]:
        folds = [np.degrees(axis.folds) for axis in self.case.axes]
        for basin in self._minima:
            here = {
                f"asked_{k}_deg": float(folds[k][i]) for k, i in enumerate(basin.at)
            }
            climb = basin.climb if np.isfinite(basin.climb) else ""
            inside = int(basin.inside)
            yield {**here, "energy": basin.energy, "climb": climb, "inside": inside}

    def summary(self) -> Summary:
        climbs = [b.climb for b in self._minima if np.isfinite(b.climb)]
        found: Summary = {
            "stop": "all points found",
            "steps": self.steps,
            "minima": len(self._minima),
            "energy": self._minima[0].energy,
        }
        return found | ({"largest_climb": max(climbs)} if climbs else {})
