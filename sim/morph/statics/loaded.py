"""A structure with elastic parts, and what acts on it."""

from dataclasses import dataclass

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from sim.arrays import Floats, Ints
from sim.morph.statics.elastic import Elastic
from sim.morph.structure.constraints import (
    NODES,
    Constraint,
    ConstraintKind,
    ConstraintTable,
    fix,
)
from sim.morph.structure.structure import Structure
from sim.morph.targets.protocol import Target

NAMED = 6  # nodes in a message


@dataclass(frozen=True, eq=False)
class LoadedStructure:
    """A structure, what is elastic in it, and what acts on it.

    Attributes
    ----------
    structure : its constraints are rigid, its FIX rows are supports
    force : (n, 3) load on each node, which keeps its direction
    spring : (n,) stiffness by which each node hangs on the target
    """

    structure: Structure
    elastic: Elastic
    force: Floats
    spring: Floats
    target: Target | None = None

    def __post_init__(self) -> None:
        self.elastic.check(self.structure.r0)
        if not np.isfinite(self.force).all():
            node = int(np.flatnonzero(~np.isfinite(self.force).all(axis=1))[0])
            raise ValueError(
                f"the load on node {node} is {self.force[node].tolist()}: give finite "
                "numbers"
            )
        if not (np.isfinite(self.spring) & (self.spring >= 0.0)).all():
            raise ValueError("springs to the target must have a stiffness of 0 or more")
        if self.spring.any() and self.target is None:
            raise ValueError("nodes hang on a target that is not given: give one")

    @property
    def size(self) -> float:
        """Of the structure, its diagonal."""
        diagonal = float(np.linalg.norm(np.ptp(self.structure.r0, axis=0)))
        return diagonal if diagonal > 0.0 else 1.0

    @property
    def stiffness(self) -> float:
        """The largest, force / length."""
        values = [0.0, float(np.abs(self.force).max(initial=0.0)) / self.size]
        values += [float(self.spring.max(initial=0.0))]
        values += [float(self.elastic.link_stiffness.max(initial=0.0))]
        values += [float(self.elastic.panels.stiffness.max(initial=0.0))]
        i, j, k, wing = self.structure.r0[self.elastic.hinges].transpose(1, 0, 2)
        arm = np.minimum(
            np.linalg.norm(i - j, axis=1), np.linalg.norm(wing - k, axis=1)
        )
        values += [float((self.elastic.hinge_stiffness / arm**2).max(initial=0.0))]
        return max(values) or 1.0


def two_bars(
    height: float = 0.3, stiffness: float = 50.0, load: float = 0.0
) -> LoadedStructure:
    """The truss of von Mises: half span 1, its apex free in the plane xz.

    Parameters
    ----------
    height : of the apex above the supports, at rest
    stiffness : of each bar, force / length
    load : downwards on the apex
    """
    r = np.array([[-1.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, height]])
    rows = [*fix(r, 0), *fix(r, 1), Constraint(ConstraintKind.FIX, (2, 1), 0.0)]
    bars = np.array([[0, 2], [1, 2]])
    structure = Structure(r, ConstraintTable.of(rows), np.arange(3), ((0, 2), (1, 2)))
    force = np.zeros((3, 3))
    force[2, 2] = -load
    return LoadedStructure(
        structure, Elastic.between(r, bars, stiffness), force, np.zeros(3)
    )


def refuse_free_translation(loaded: LoadedStructure) -> None:
    """Refuse loads that carry away a part that nothing holds.

    A part is whatever is joined by constraints and elastic parts. Along an axis it is
    held by a support along that axis, and by a spring to the target.
    """
    part, held = _parts(loaded), np.zeros((len(loaded.force), 3), dtype=np.bool_)
    table = loaded.structure.constraints
    fixed = table.nodes[table.kind == ConstraintKind.FIX, :2]
    held[fixed[:, 0], fixed[:, 1]] = True
    held[loaded.spring > 0.0] = True
    largest = float(np.abs(loaded.force).max(initial=0.0))
    for p in range(int(part.max()) + 1):
        nodes = np.flatnonzero(part == p)
        free = ~held[nodes].any(axis=0)
        total = np.where(free, loaded.force[nodes].sum(axis=0), 0.0)
        if np.abs(total).max() > 1e-12 * largest:
            axis = int(np.argmax(np.abs(total)))
            raise ValueError(
                f"the loads carry {_names(nodes)} away along {'xyz'[axis]}: nothing "
                f"holds them there, and their loads add up to {total[axis]:.4g}: add a "
                "support or a spring, or balance the loads"
            )


def _parts(loaded: LoadedStructure) -> Ints:
    """(n,) the part that each node belongs to."""
    n, table = len(loaded.force), loaded.structure.constraints
    groups = [
        row[: NODES[kind]]
        for row, kind in zip(table.nodes, table.kind, strict=True)
        if kind != ConstraintKind.FIX
    ]
    elastic = loaded.elastic
    groups += [*elastic.links, *elastic.hinges, *elastic.panels.nodes]
    first = [group[0] for group in groups for _ in group]
    other = [node for group in groups for node in group]
    graph = coo_array((np.ones(len(first)), (first, other)), shape=(n, n))
    return connected_components(graph, directed=False)[1].astype(np.int64)


def _names(nodes: Ints) -> str:
    few = ", ".join(map(str, nodes[:NAMED].tolist()))
    more = f" and {len(nodes) - NAMED} more" if len(nodes) > NAMED else ""
    return f"node{'s' * (len(nodes) > 1)} {few}{more}"
