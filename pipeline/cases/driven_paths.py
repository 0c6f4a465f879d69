"""Paths along which drivers are judged: a linkage's turn, a morph, a folding."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import numpy as np

from pipeline.cases.morph import MorphCase
from pipeline.cases.origami import OrigamiCase
from pipeline.cases.structure_file import document
from sim.arrays import Floats
from sim.morph.driving import Coordinates, driven_map, released
from sim.morph.limits import refuse_unless_count, refuse_unless_positive
from sim.morph.linkages import CORNERS, FourBar
from sim.morph.measures import characteristic_length
from sim.morph.mobility import internal_motions
from sim.morph.system import state
from sim.origami.driving import crease_folds, fold_motions, passive_moments


class Configuration(NamedTuple):
    """One place on a path.

    Attributes
    ----------
    along : what the path is measured by
    r : (n, 3) nodes
    A : (c, f) how the f motions change the c coordinates
    values : (c,) of the coordinates
    work : (f,) of the forces that drivers have to hold, in each motion
    lever : (c,) what an effort in units of A counts as: 1 as a force, L as a moment
    """

    along: float
    r: Floats
    A: Floats
    values: Floats
    work: Floats
    lever: Floats


def _force(load: Sequence[float]) -> Floats:
    force = np.array(load, dtype=np.float64)
    if force.shape != (3,) or not np.isfinite(force).all():
        raise ValueError(f"load is {load}: give the force on each node as [x, y, z]")
    return force


@dataclass(frozen=True, eq=False)
class FourBarPath:
    """A whole turn of the crank; the joints' angles may be driven.

    Attributes
    ----------
    load : (3,) force on each node
    """

    linkage: FourBar = field(default_factory=FourBar)
    increments: int = 180
    load: Sequence[float] = (0.0, -1.0, 0.0)

    def __post_init__(self) -> None:
        refuse_unless_count(self, "increments")
        _force(self.load)

    @property
    def names(self) -> list[str]:
        return Coordinates.of(corners=CORNERS).names

    @property
    def unit(self) -> str:
        return "angle of the crank, rad"

    def configurations(self) -> list[Configuration]:
        joints, before, path = Coordinates.of(corners=CORNERS), None, []
        for angle, r in self.linkage.turn(self.increments):
            structure = self.linkage.structure(angle)
            U = internal_motions(structure, state(structure))
            L = characteristic_length(r)
            A = driven_map(joints, r, U, L)
            before = joints.values(r, before)
            work = np.einsum("fnj,j->f", U, _force(self.load))
            lever = joints.levers(L)
            path.append(Configuration(angle, r, A, before, work, lever))
        return path

    def documents(self) -> dict[str, object]:
        return {"structure.json": document(self.linkage.structure(0.0))}


@dataclass(frozen=True, eq=False)
class MorphPath:
    """The steps of a morph; links, struts, corners and hinges may be driven.

    Attributes
    ----------
    lengths : pairs of nodes: a link that is named may change its length, other pairs
        are struts put in. Links between bodies where nothing at all is named
    corners, hinges, normal : see `sim.morph.driving`
    load : (3,) force on each node besides the pull of springs of stiffness one towards
        the goals
    """

    of: MorphCase
    lengths: Sequence[Sequence[int]] = ()
    corners: Sequence[Sequence[int]] = ()
    hinges: Sequence[Sequence[int]] = ()
    normal: Sequence[float] = (0.0, 0.0, 1.0)
    load: Sequence[float] = (0.0, 0.0, 0.0)

    def __post_init__(self) -> None:
        self.coordinates.check(len(self.of.structure.r0))
        _force(self.load)

    @cached_property
    def coordinates(self) -> Coordinates:
        lengths = self.lengths
        if not (self.lengths or self.corners or self.hinges):
            lengths = [body for body in self.of.structure.bodies if len(body) == 2]
        return Coordinates.of(lengths, self.corners, self.hinges, self.normal)

    @property
    def names(self) -> list[str]:
        return self.coordinates.names

    @property
    def unit(self) -> str:
        return "step"

    def configurations(self) -> list[Configuration]:
        made = released(self.of.structure, self.coordinates)
        L, before, path = characteristic_length(made.r0), None, []
        for step in self.of.steps():
            U = internal_motions(made, step.state)
            A = driven_map(self.coordinates, step.r, U, L)
            before = self.coordinates.values(step.r, before)
            work = np.einsum("fnj,nj->f", U, step.g - step.r + _force(self.load))
            lever = self.coordinates.levers(L)
            path.append(Configuration(step.s, step.r, A, before, work, lever))
        return path

    def documents(self) -> dict[str, object]:
        return self.of.documents()


@dataclass(frozen=True, eq=False)
class FoldPath:
    """The increments of a folding; creases may be driven.

    Attributes
    ----------
    rigid : singular value of the closure, relative to the largest, below which a
        motion counts as one of rigid panels
    """

    of: OrigamiCase
    rigid: float = 1e-2

    def __post_init__(self) -> None:
        refuse_unless_positive(self, "rigid")
        if self.of.compliant:
            raise ValueError(
                "creases with a width have no single fold: set compliant to false"
            )

    @property
    def names(self) -> list[str]:
        pattern = self.of.pattern
        ends = pattern.edges[pattern.creases].tolist()
        return [f"crease({a}, {b})" for a, b in ends]

    @property
    def unit(self) -> str:
        return "increment"

    def configurations(self) -> list[Configuration]:
        mesh, path = self.of.mesh, []
        for step in self.of.steps():
            A, _ = fold_motions(mesh.pattern, step.x, self.rigid)
            work = -A.T @ passive_moments(mesh, step.x)
            folds = crease_folds(mesh, step.x)
            lever = np.ones(len(A))  # A and work are of the same angles
            path.append(Configuration(step.s, step.x, A, folds, work, lever))
        return path

    def documents(self) -> dict[str, object]:
        return self.of.documents()


Path = FourBarPath | MorphPath | FoldPath
