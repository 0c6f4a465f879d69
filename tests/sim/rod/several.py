"""Several rods, which nothing but touch joins."""

from typing import Any

import numpy as np

from sim.rod.rod.rod import Rod


def several(*rods: Rod) -> Rod:
    """The rods as one, their nodes, edges and bends one after the other.

    Limbs keep their numbers: those of one number are switched on together. Rods of
    rigid joints come alone, as a network of several pieces.
    """
    if any(len(rod.joints.fold) for rod in rods):
        raise ValueError("rod: rods of rigid joints cannot be put beside others")
    first = np.cumsum([0, *(len(rod.nodes) for rod in rods)])
    shifted = list(zip(rods, first.tolist(), strict=False))

    def all_of(name: str) -> Any:
        return np.concatenate([getattr(rod, name) for rod in rods])

    return Rod(
        edges=np.concatenate([rod.edges + k for rod, k in shifted]),
        bends=np.concatenate([rod.bends + k for rod, k in shifted]),
        nodes=all_of("nodes"),
        mass=all_of("mass"),
        rest_length=all_of("rest_length"),
        stretching=all_of("stretching"),
        voronoi=all_of("voronoi"),
        bending=all_of("bending"),
        curvature=all_of("curvature"),
        edge_limb=all_of("edge_limb"),
        bend_limb=all_of("bend_limb"),
        held=all_of("held"),
        pieces=sum(rod.pieces for rod in rods),
    )
