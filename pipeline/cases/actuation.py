"""Which coordinates drive a structure along a path, and hold it at the end.

actuation.csv has a row for each coordinate that may be driven:

    coordinate, kind   length, corner, hinge or crease, with its nodes
    start, end, stroke along the path; rad for angles
    gain               how far it moves, at most, in a motion of unit length at the end
    condition_alone    as the only driver, where there is one motion
    chosen             1 for the set of drivers
    effort             of a chosen driver, force or moment, to hold what acts at the end
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from analysis.drivers import RANK, Drivers, choose, condition, efforts
from pipeline.cases.driven_paths import Configuration, Path
from sim.arrays import Floats
from sim.morph.limits import refuse_unless_positive

Row = Mapping[str, float | str]
WRITTEN = 8  # coordinates whose condition alone is in steps.csv


class DriveStep(NamedTuple):
    """A configuration, and how well the drivers are placed there.

    Attributes
    ----------
    drivers : chosen at the end of the path
    condition : of these drivers here
    """

    s: int
    here: Configuration
    drivers: Drivers
    condition: float


@dataclass(frozen=True, eq=False)
class ActuationCase:
    """One of conf/case, built by Hydra.

    Attributes
    ----------
    path : a linkage's turn, a morph or a folding; see `pipeline.cases.driven_paths`
    tolerance : singular value relative to the largest below which nothing is driven
    """

    path: Path
    tolerance: float = RANK

    def __post_init__(self) -> None:
        refuse_unless_positive(self, "tolerance")

    @cached_property
    def _configurations(self) -> list[Configuration]:
        return self.path.configurations()

    def steps(self) -> Iterator[DriveStep]:
        """Choose drivers at the end of the path, then judge them all along."""
        path = self._configurations
        found = choose(path[-1].A, tolerance=self.tolerance)
        for s, here in enumerate(path):
            fits = here.A.shape[1] >= found.rank
            placed = condition(here.A, found.chosen) if fits else np.inf
            yield DriveStep(s, here, found, placed)

    def _alone(self, A: Floats) -> Floats:
        """(c,) condition of each as the only driver; nan where motions are more."""
        if A.shape[1] != 1:
            return np.full(len(A), np.nan)
        return np.array([condition(A, np.array([i])) for i in range(len(A))])

    def numbers(self, step: DriveStep) -> dict[str, float]:
        A = step.here.A
        row = {
            "step": float(step.s),
            "along": step.here.along,
            "motions": float(A.shape[1]),
            "condition": step.condition,
        }
        if len(A) <= WRITTEN:
            row |= {f"condition_{i}": float(c) for i, c in enumerate(self._alone(A))}
        return row

    def arrays(self, step: DriveStep) -> dict[str, NDArray[np.generic]]:
        here = step.here
        gain = np.linalg.norm(here.A, axis=1)
        return {"r": here.r, "values": here.values, "gain": gain}

    def fixed_arrays(self) -> dict[str, NDArray[np.generic]]:
        return {"coordinates": np.array(self.path.names)}

    def documents(self) -> dict[str, object]:
        return self.path.documents()

    def tables(self, step: DriveStep) -> dict[str, Iterable[Row]]:
        return {"actuation.csv": self._rows(step)}

    def _rows(self, step: DriveStep) -> Iterator[Row]:
        found, here = step.drivers, step.here
        start = self._configurations[0].values
        held = efforts(here.A, found.chosen, here.work) * here.lever[found.chosen]
        effort = dict(zip(found.chosen.tolist(), held.tolist(), strict=True))
        gain, alone = np.linalg.norm(here.A, axis=1), self._alone(here.A)
        for i, name in enumerate(self.path.names):
            yield {
                "coordinate": name,
                "kind": name.partition("(")[0],
                "start": float(start[i]),
                "end": float(here.values[i]),
                "stroke": float(here.values[i] - start[i]),
                "gain": float(gain[i]),
                "condition_alone": float(alone[i]) if alone[i] < np.inf else "",
                "chosen": int(i in effort),
                "effort": effort.get(i, ""),
            }

    def result(self, step: DriveStep) -> dict[str, float | str | int]:
        found, names = step.drivers, self.path.names
        placed = found.condition if found.rank else "nothing is driven"
        return {
            "stop": "end of the path",
            "motions": found.motions,
            "driven": found.rank,
            "held": "yes" if found.rank == found.motions else "no",
            "drivers": "; ".join(names[i] for i in found.chosen),
            "condition": placed,
            "best_of_all_sets": "yes" if found.optimal else "not all were tried",
            "steps": step.s,
        }

    def progress(self, step: DriveStep) -> str:
        return f"step {step.s}"
