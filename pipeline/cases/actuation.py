"""Which coordinates drive a structure along a path, and hold it at the end.

actuation.csv has a row for each coordinate that may be driven:

    coordinate, kind   length, angle, hinge or crease, with its nodes
    start, end, stroke along the path; rad for angles
    gain               how far it moves, at most, in a motion of unit length at the end
    condition_alone    as the only driver, where there is one motion
    chosen             1 for the set of drivers
    effort             of a chosen driver, force or moment, to hold what acts at the end
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import numpy as np

from analysis.designs.drivers import RANK, Drivers, choose, condition, efforts
from pipeline.cases.driven_paths import DrivenPath
from pipeline.cases.record import Arrays, Documents, Row, Summary, TableRow, Tables
from sim.arrays import Floats
from sim.driven import Configuration
from sim.limits import refuse_unless_positive

WRITTEN = 8  # coordinates whose condition alone is in steps.csv


class DriveStep(NamedTuple):
    """A configuration on the path."""

    s: int
    here: Configuration


@dataclass(frozen=True, eq=False)
class ActuationCase:
    """One of conf/case, built by Hydra.

    Attributes
    ----------
    path : a linkage's turn, a morph or a folding; see `pipeline.cases.driven_paths`
    tolerance : singular value relative to the largest below which nothing is driven
    """

    path: DrivenPath
    tolerance: float = RANK

    def __post_init__(self) -> None:
        refuse_unless_positive(self, "tolerance")

    def steps(self) -> Iterator[DriveStep]:
        for s, here in enumerate(self.path.configurations()):
            yield DriveStep(s, here)

    def recorder(self) -> "ActuationRecorder":
        return ActuationRecorder(self)


@dataclass(eq=False)
class ActuationRecorder:
    """Records a path; drivers are chosen at its end, and judged all along it."""

    case: ActuationCase
    path: list[Configuration] = field(default_factory=list)

    def see(self, step: DriveStep) -> None:
        self.path.append(step.here)

    def row(self, step: DriveStep) -> Row:
        A = step.here.A
        row = {
            "step": float(step.s),
            "along": step.here.along,
            "motions": float(A.shape[1]),
            "condition": np.nan,
        }
        if len(A) <= WRITTEN:
            row |= {f"condition_{i}": float(c) for i, c in enumerate(_alone(A))}
        return row

    @cached_property
    def _drivers(self) -> Drivers:
        return choose(self.path[-1].A, tolerance=self.case.tolerance)

    def late(self) -> dict[str, list[float]]:
        """How well the drivers are placed at each step."""
        found = self._drivers
        placed = [
            condition(A, found.chosen) if A.shape[1] >= found.rank else np.inf
            for A in (here.A for here in self.path)
        ]
        return {"condition": placed}

    def arrays(self, step: DriveStep) -> Arrays:
        here = step.here
        gain = np.linalg.norm(here.A, axis=1)
        return {"r": here.r, "values": here.values, "gain": gain}

    def progress(self, step: DriveStep) -> str:
        return f"step {step.s}"

    def documents(self) -> Documents:
        return self.case.path.documents()

    def fixed_arrays(self) -> Arrays:
        return {"coordinates": np.array(self.case.path.names)}

    def tables(self) -> Tables:
        return {"actuation.csv": self._rows()}

    def _rows(self) -> Iterator[TableRow]:
        chosen, here = self._drivers.chosen, self.path[-1]
        start = self.path[0].values
        held = efforts(here.A, chosen, here.work) * here.lever[chosen]
        effort = dict(zip(chosen.tolist(), held.tolist(), strict=True))
        gain, alone = np.linalg.norm(here.A, axis=1), _alone(here.A)
        for i, name in enumerate(self.case.path.names):
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

    def summary(self) -> Summary:
        found, names = self._drivers, self.case.path.names
        return {
            "stop": "end of the path",
            "motions": found.motions,
            "driven": found.rank,
            "held": "yes" if found.rank == found.motions else "no",
            "drivers": "; ".join(names[i] for i in found.chosen),
            "condition": found.condition if found.rank else "nothing is driven",
            "best_of_all_sets": "yes" if found.optimal else "not all were tried",
            "steps": len(self.path) - 1,
        }


def _alone(A: Floats) -> Floats:
    """(c,) condition of each as the only driver; nan where motions are more."""
    if A.shape[1] != 1:
        return np.full(len(A), np.nan)
    return np.array([condition(A, np.array([i])) for i in range(len(A))])
