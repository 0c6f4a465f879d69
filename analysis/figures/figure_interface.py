"""What figures show, finished runs, and what drawing yields."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from analysis.figures.mechanisms import LineDrawing
from analysis.figures.style import Runs, say_below, styled
from sim.core.arrays import Floats

Numbers = Mapping[str, Any]


@dataclass(frozen=True, eq=False)
class ShownRun:
    """A finished run as figures see it.

    Parameters
    ----------
    label, key : what it is called, and the run behind it, "" if made by hand
    read : what one of its files holds, by name: a table, arrays or a document; of
        "structure" a mechanism; of a file that is not there, the second argument
    result, case : numbers that it ended with, the configuration of its case
    spheres, comparison : of a scan of it, where a figure shows one
    """

    label: str
    key: str
    read: Callable[..., Any]
    result: Numbers = field(default_factory=dict)
    case: Numbers = field(default_factory=dict)
    spheres: "ShownRun | None" = None
    comparison: "ShownRun | None" = None

    @property
    def title(self) -> str:
        """Its label in words."""
        return self.label.replace("_", " ")

    @cached_property
    def arrays(self) -> Mapping[str, Any]:
        """steps.npz."""
        found: Mapping[str, Any] = self.read("steps.npz")
        return found

    @cached_property
    def table(self) -> pd.DataFrame:
        """steps.csv."""
        return pd.DataFrame(self.read("steps.csv"))

    def column(self, name: str) -> Floats:
        """(steps,) numbers by step."""
        return self.table[name].to_numpy(np.float64)

    @cached_property
    def r(self) -> Floats:
        """(steps, n, 3) nodes of a mechanism."""
        return np.asarray(self.arrays["r"], dtype=np.float64)

    @cached_property
    def bodies(self) -> tuple[tuple[int, ...], ...]:
        """Sets of nodes at constant distances."""
        return tuple(tuple(body) for body in self.read("structure.json")["bodies"])

    @cached_property
    def target(self) -> LineDrawing:
        """The wireframe of what a mechanism is to reach, if it has one."""
        return LineDrawing(
            self.arrays.get("target_vertices", np.empty((0, 3))),
            self.arrays.get("target_edges", np.empty((0, 2), np.int64)),
        )


@dataclass(frozen=True)
class DrawnFigure:
    """A figure, and the numbers it plots.

    Parameters
    ----------
    caption : what the template of the caption names in addition to what its runs found
    runs : (what, key) of those it shows, where these are not all it was given
    notes : lines below the art
    keys : of the runs it was made from
    """

    figure: Figure
    tables: dict[str, pd.DataFrame] = field(default_factory=dict)
    caption: dict[str, Any] = field(default_factory=dict)
    runs: Runs | None = None
    notes: Sequence[str] = ()
    keys: tuple[str, ...] = ()


def node_table(nodes: Floats, **first: object) -> pd.DataFrame:
    """A row a node (n, 2 or 3): what `first` says of all of them, its number, place."""
    places = dict(zip("xyz", nodes.T, strict=False))
    return pd.DataFrame(first | {"node": np.arange(len(nodes))} | places)


def draw_with_runs(
    function: Callable[[Sequence[ShownRun]], DrawnFigure], runs: Sequence[ShownRun]
) -> DrawnFigure:
    """What a function draw_NAME draws, in the style of the page, with its runs named.

    Parameters
    ----------
    function : puts the runs on a sheet
    """
    with styled():
        made = function(runs)
        every = [(run.label, run.key) for run in runs]
        shown = every if made.runs is None else made.runs
        say_below(made.figure, shown, *made.notes)
    return made
