"""Several rods, which nothing but touch joins."""

from typing import Any

import numpy as np

from sim.rods.plane.rod import Rod

KEPT = (
    "nodes", "mass", "rest_length", "stretching", "voronoi", "bending", "curvature",
    "edge_limb", "bend_limb", "held",
)  # fmt: skip


def several(*rods: Rod) -> Rod:
    """The rods as one, their nodes, edges and bends one after the other.

    Limbs keep their numbers: those of one number are switched on together. Rods of
    rigid joints come alone, as a network of several pieces.
    """
    if any(len(rod.joints.fold) for rod in rods):
        raise ValueError("rod: rods of rigid joints cannot be put beside others")
    first = np.cumsum([0, *(len(rod.nodes) for rod in rods)])
    shifted = list(zip(rods, first.tolist(), strict=False))

    joined: dict[str, Any] = {
        name: np.concatenate([getattr(rod, name) for rod in rods]) for name in KEPT
    }
    return Rod(
        edges=np.concatenate([rod.edges + k for rod, k in shifted]),
        bends=np.concatenate([rod.bends + k for rod, k in shifted]),
        pieces=sum(rod.pieces for rod in rods),
        **joined,
    )
