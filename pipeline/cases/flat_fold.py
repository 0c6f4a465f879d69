"""A pattern folded flat: each order in which its panels can lie on each other.

orders.csv has a row for each two panels that overlap, with which is above in the order
that was found last, as the first panel lies.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice
from typing import NamedTuple

import numpy as np

from pipeline.cases.record import Arrays, Documents, Row, Summary, TableRow, Tables
from pipeline.terminal.errors import InputError
from sim.arrays import Ints
from sim.limits import refuse_unless_count
from sim.origami.pattern.fold_format import pattern_document
from sim.origami.pattern.layers import LayerOrder, layer_orders
from sim.origami.pattern.pattern import CreasePattern

GAP = 0.05  # of the sheet's size, between layers as they are drawn


class OrderStep(NamedTuple):
    """One order of the panels."""

    s: int
    order: LayerOrder


@dataclass(frozen=True, eq=False)
class FlatFoldCase:
    """One of conf/case, built by Hydra.

    Attributes
    ----------
    pattern : flat, each crease assigned in full
    most : orders that are recorded
    """

    pattern: CreasePattern
    most: int = 100

    def __post_init__(self) -> None:
        refuse_unless_count(self, "most")

    def steps(self) -> Iterator[OrderStep]:
        try:
            for s, order in enumerate(islice(layer_orders(self.pattern), self.most)):
                yield OrderStep(s, order)
        except ValueError as error:
            raise InputError(str(error)) from None

    def recorder(self) -> "FlatFoldRecorder":
        return FlatFoldRecorder(self)


@dataclass(eq=False)
class FlatFoldRecorder:
    """Records panels, each at the height of its layer."""

    case: FlatFoldCase
    last: OrderStep = field(init=False)

    def see(self, step: OrderStep) -> None:
        self.last = step

    def row(self, step: OrderStep) -> Row:
        layers = step.order.layers()
        return {
            "step": step.s,
            "pairs": len(step.order.pairs),
            "layers": 1 + max(layers) if layers else -1,
        }

    def arrays(self, step: OrderStep) -> Arrays:
        panels = step.order.folding.panels
        layers = step.order.layers() or [0] * len(panels)
        height = GAP * self.case.pattern.size * np.array(layers, dtype=np.float64)
        deep = np.repeat(height, [len(corners) for corners in panels])
        return {
            "x": np.column_stack([np.concatenate(panels), deep]),
            "above": np.array(step.order.above),
        }

    def progress(self, step: OrderStep) -> str:
        return f"{step.s + 1} orders"

    def documents(self) -> Documents:
        return {"pattern.fold": pattern_document(self.case.pattern)}

    def fixed_arrays(self) -> Arrays:
        return {"triangles": self._triangles()}

    def _triangles(self) -> Ints:
        """(t, 3) nodes, which belong to one panel each."""
        out, first = [], 0
        for panel in self.case.pattern.panels:
            out += [(first, first + k, first + k + 1) for k in range(1, len(panel) - 1)]
            first += len(panel)
        return np.array(out, dtype=np.int64)

    def tables(self) -> Tables:
        return {"orders.csv": self._rows()}

    def _rows(self) -> Iterator[TableRow]:
        order = self.last.order
        for (i, j), above in zip(order.pairs, order.above, strict=True):
            yield {"panel": i, "other": j, "above": above}

    def summary(self) -> Summary:
        many = self.last.s + 1
        whole = many < self.case.most
        stop = "all orders found" if whole else "as many orders as asked for"
        return {"stop": stop, "orders": many, "steps": self.last.s}
