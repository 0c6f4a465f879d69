"""The directory of a finished rod run, as figures read it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from analysis.figures.huang_2020 import RodShape
from pipeline.results.shown import Row, key_of_run
from pipeline.store.runs import run_record
from pipeline.terminal.errors import InputError
from sim.arrays import Floats, Ints


@dataclass(frozen=True, eq=False)
class RodRun:
    """What a rod run left.

    Attributes
    ----------
    x : (steps, n, 2) m
    edges, edge_limb : (m, 2), (m,)
    ground : (k, 2) m
    table : steps.csv
    """

    label: str
    key: str
    x: Floats
    edges: Ints
    edge_limb: Ints
    ground: Floats
    table: pd.DataFrame

    @property
    def perimeter(self) -> float:
        """Length of all edges at the start, m."""
        ends = self.x[0][self.edges]
        return float(np.linalg.norm(ends[:, 1] - ends[:, 0], axis=1).sum())

    def at(self, time: float, actuated: int | None = None) -> RodShape:
        """The shape at the recorded time nearest to `time`, one limb in red."""
        k = int(np.argmin(np.abs(self.table["time"].to_numpy() - time)))
        on = np.flatnonzero(self.edge_limb == (-2 if actuated is None else actuated))
        label = rf"$t$ = {self.table['time'].iloc[k]:.3g} s"
        return RodShape(label, self.x[k], self.edges, self.ground, on)


def nodes_of(time: float, shape: RodShape) -> pd.DataFrame:
    """Where the nodes of a shape are, m."""
    node = np.arange(len(shape.x))
    return pd.DataFrame(
        {"time": time, "node": node, "x": shape.x[:, 0], "y": shape.x[:, 1]}
    )


def read_table(row: Row) -> pd.DataFrame:
    """The numbers by step behind one row of a figure."""
    try:
        return pd.read_csv(row.simulated / "steps.csv")
    except OSError as error:
        raise InputError(
            f"{row.simulated} has no steps ({error.strerror}): give a finished run"
        ) from error


def read_rod(row: Row) -> RodRun:
    """The run behind one row of a figure."""
    table = read_table(row)
    with np.load(row.simulated / "steps.npz", allow_pickle=False) as arrays:
        for name in ("x", "edges", "edge_limb", "ground"):
            if name not in arrays:
                raise InputError(
                    f"{row.simulated}/steps.npz has no array {name}: is it a rod run?"
                )
        return RodRun(
            row.label,
            key_of_run(row.simulated),
            arrays["x"],
            arrays["edges"],
            arrays["edge_limb"],
            arrays["ground"],
            table,
        )


def results_of(rows: Sequence[Row]) -> list[dict[str, Any]]:
    """What each run found, as its run.json says."""
    return [dict(run_record(row.simulated)["result"]) for row in rows]
