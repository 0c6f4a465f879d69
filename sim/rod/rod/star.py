"""The star-shaped rolling robot of [Hu20], Figs. 1 and 4: seven limbs in a ring."""

from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from sim.arrays import Floats
from sim.limits import refuse_unless_count, refuse_unless_positive
from sim.rod.rod.rod import PASSIVE, Rod, RodMaterial, chain, network, small_turns

LIMBS = 7
LOWEST = 4  # limb 5 of Fig. 4, counted from 0, is in contact at the start


@dataclass(frozen=True)
class StarShape:
    """Lengths of a limb, and how many edges each part has.

    Lengths and the curvature are those of [Hu20], Rolling robot. N = 84 nodes there;
    9 edges of 2.44 mm on the arc and 3 of 2.67 mm on the tail give that number.
    """

    arc_length: float = 22.0e-3  # m
    tail_length: float = 8.0e-3  # m
    curvature: float = 120.0  # 1/m
    arc_edges: int = 9
    tail_edges: int = 3

    def __post_init__(self) -> None:
        lengths = ("arc_length", "tail_length")
        refuse_unless_positive(self, *lengths, "curvature", of="star")
        refuse_unless_count(self, "arc_edges", "tail_edges", of="star")
        if self.arc_edges < 2:
            raise ValueError(
                f"star: {self.arc_edges} arc edges and {self.tail_edges} tail edges: "
                "give at least 2 and 1"
            )
        if not self.arc_length * self.curvature < 2.0 * np.pi:
            raise ValueError(
                f"star: arc_length x curvature is {self.arc_length * self.curvature:g} "
                "rad: an arc must stay below a full circle"
            )

    @property
    def nodes_per_limb(self) -> int:
        return self.arc_edges + self.tail_edges

    def refined(self, factor: int) -> "StarShape":
        """The same shape with `factor` times as many edges."""
        arc, tail = self.arc_edges * factor, self.tail_edges * factor
        return replace(self, arc_edges=arc, tail_edges=tail)


def _limb(shape: StarShape, k: int) -> Floats:
    """(arc_edges + tail_edges, 2): joint k, the inside of its arc, its tail.

    The arc bulges inwards, from joint k to joint k + 1 counter-clockwise.
    """
    span = shape.curvature * shape.arc_length
    chord = 2.0 / shape.curvature * np.sin(0.5 * span)
    joint_radius = chord / (2.0 * np.sin(np.pi / LIMBS))
    a = 2.0 * np.pi * (k - LOWEST - 0.5) / LIMBS - 0.5 * np.pi
    middle = a + np.pi / LIMBS  # the direction of the middle of the arc
    centre = joint_radius * np.cos(np.pi / LIMBS) + np.cos(0.5 * span) / shape.curvature
    s = np.linspace(-0.5, 0.5, shape.arc_edges + 1)[:-1] * span
    turn = middle + np.pi - s
    bow = np.column_stack([np.cos(turn), np.sin(turn)]) / shape.curvature
    arc = centre * np.array([np.cos(middle), np.sin(middle)]) + bow
    r = joint_radius + shape.tail_length * (
        np.arange(1, shape.tail_edges + 1) / shape.tail_edges
    )
    tail = r[:, None] * np.array([np.cos(a), np.sin(a)])
    return np.vstack([arc, tail])


def star(shape: StarShape, material: RodMaterial) -> Rod:
    """The robot standing on two tails; limb k (from 0) is arc k and the tail before it.

    Limbs count counter-clockwise, so that a robot that rolls to +x stands on limb 5,
    6, 7, 1 ... of Fig. 4 (here 4, 5, 6, 0 ...). The joints of three edges are rigid:
    see `sim.rod.rod.joints`.
    """
    n = shape.nodes_per_limb
    nodes = np.vstack([_limb(shape, k) for k in range(LIMBS)])
    nodes[:, 1] -= nodes[:, 1].min()
    edges: list[tuple[int, int]] = []
    bends: list[tuple[int, int, int]] = []
    edge_limb: list[int] = []
    bend_limb: list[int] = []
    for k in range(LIMBS):
        first = k * n
        arc = [*range(first, first + shape.arc_edges), (k + 1) % LIMBS * n]
        tail = [first, *range(first + shape.arc_edges, first + n)]
        for path in (arc, tail):
            edges += pairwise(path)
            bends += zip(path[:-2], path[1:-1], path[2:], strict=True)
        edge_limb += [k] * shape.arc_edges + [PASSIVE] * shape.tail_edges
        bend_limb += [k] * (shape.arc_edges - 1) + [PASSIVE] * (shape.tail_edges - 1)
    joints = [k * n for k in range(LIMBS)]
    rod = network(
        nodes, np.array(edges), np.array(bends), material, joints=joints,
        edge_limb=np.array(edge_limb), bend_limb=np.array(bend_limb),
    )  # fmt: skip
    return small_turns(rod)


def jumper(
    length: float, radius: float, turn: float, n: int, material: RodMaterial
) -> Rod:
    """The jumper of Fig. 7: an actuated arc above a straight foot on the ground.

    The first node is the free end of the arc; the foot begins where the arc has turned
    by `turn` (rad), and takes what is left of `length`.
    """
    if n < 4:
        raise ValueError(f"jumper: nodes is {n}: give 4 or more")
    if not 0.0 < turn < 1.9 * np.pi:
        raise ValueError(
            f"jumper: the arc turns by {turn:g} rad: stay below 5.9, it would meet its "
            "foot"
        )
    if not 0.0 < radius * turn < length:
        raise ValueError(
            f"jumper: an arc of {radius * turn:g} m leaves no foot of a limb of "
            f"{length:g} m: choose a smaller radius or turn"
        )
    left = radius * turn - np.linspace(0.0, length, n)  # of the arc; the foot if < 0
    angle = np.maximum(left, 0.0) / radius
    nodes = np.column_stack(
        [-radius * np.sin(angle) - np.minimum(left, 0.0), radius * (1 - np.cos(angle))]
    )
    rod = chain(nodes, material)
    limb = np.where(left > 0.0, 0, PASSIVE)
    return replace(rod, edge_limb=limb[:-1], bend_limb=limb[1:-1])
