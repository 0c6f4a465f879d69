"""Axes of joints as what may change of a structure, apart from its other nodes.

An axis is the line that some nodes are on, those that a hinge, a slide or a universal
joint names. It is made elsewhere by four numbers, a shift across and a tilt,

    m' = m + L (o1 e1 + o2 e2),  u' = (u + t1 e1 + t2 e2) / |...|,  r_i' = m' + s_i u',

m the middle of its nodes, u its direction, e1, e2 across it and s_i where the node i is
along it: what a shift along the axis or other distances on it would change, no motion
tells. Constants of rows follow as those of places do (`sim.morph.morphing.places`).
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from sim.arrays import Floats
from sim.morph.morphing.places import constants_where_made, slope_in_places
from sim.morph.structure.constraints import WITHOUT_CONSTANT
from sim.morph.structure.measures import characteristic_length
from sim.morph.structure.structure import Structure

OFF = 1e-9  # of its length, how far from its axis a node may be


@dataclass(frozen=True, eq=False)
class Axes:
    """Axes that may be made elsewhere, by the nodes on each; four numbers an axis."""

    nodes: tuple[tuple[int, ...], ...]
    name: ClassVar[str] = "axes"

    @property
    def count(self) -> int:
        return 4 * len(self.nodes)

    def changed(self, structure: Structure, change: Floats) -> Structure:
        """The structure made with its axes elsewhere, drawn where they were.

        Raises
        ------
        ValueError
            for nodes that are not in line, or tied to nodes off the axis.
        """
        self._refuse(structure)
        return structure.with_constants(
            constants_where_made(structure, self.made(structure, change))
        )

    def slope(self, structure: Structure, change: Floats, worth: Floats) -> Floats:
        """(4a,) as in `sim.morph.morphing.design`."""
        made, L = self.made(structure, change), characteristic_length(structure.r0)
        in_places = slope_in_places(structure, made, worth)
        out = []
        for nodes, own in zip(self.nodes, change.reshape(-1, 4), strict=True):
            _, frame, along = _line(structure.r0, nodes)
            w = np.array([1.0, *own[2:]]) @ frame
            size = float(np.linalg.norm(w))
            turned = (frame[1:] - np.outer(frame[1:] @ w, w) / size**2) / size
            pushed = in_places[list(nodes)]
            out.append(
                [*(L * frame[1:] @ pushed.sum(axis=0)), *turned @ (along @ pushed)]
            )
        return np.array(out).ravel()

    def made(self, structure: Structure, change: Floats) -> Floats:
        """(n, 3) nodes where the structure is made."""
        r, L = structure.r0.copy(), characteristic_length(structure.r0)
        for nodes, own in zip(self.nodes, change.reshape(-1, 4), strict=True):
            middle, frame, along = _line(structure.r0, nodes)
            w = np.array([1.0, *own[2:]]) @ frame
            u = w / np.linalg.norm(w)
            r[list(nodes)] = middle + L * own[:2] @ frame[1:] + np.outer(along, u)
        return r

    def _refuse(self, structure: Structure) -> None:
        table, r = structure.constraints, structure.r0
        of_axis = np.full(len(r) + 1, -1)  # the last stands for no node
        for a, nodes in enumerate(self.nodes):
            middle, frame, along = _line(r, nodes)
            off = np.abs((r[list(nodes)] - middle) @ frame[1:].T).max(axis=1)
            if len(nodes) < 2 or off.max() > OFF * np.ptp(along) or not np.ptp(along):
                raise ValueError(
                    f"axis {list(nodes)} is no line: name two nodes or more at "
                    "different places in line"
                )
            if (of_axis[list(nodes)] >= 0).any() or len(set(nodes)) < len(nodes):
                raise ValueError(f"axis {list(nodes)} names a node again: name it once")
            of_axis[list(nodes)] = a
        for row in table.nodes[np.isin(table.kind, WITHOUT_CONSTANT)]:
            of = of_axis[row[row >= 0]]
            if of.max() >= 0 and of.min() != of.max():
                tied = row[row >= 0].tolist()
                raise ValueError(
                    f"nodes {tied} stay in line or at one place, and not all are of "
                    "one axis: name all of them in it"
                )


def _line(r: Floats, nodes: tuple[int, ...]) -> tuple[Floats, Floats, Floats]:
    """Middle (3,), axes along and across (3, 3), and where nodes are along it."""
    own = r[list(nodes)]
    middle = own.mean(axis=0)
    _, _, frame = np.linalg.svd(own - middle)
    return middle, frame, (own - middle) @ frame[0]
