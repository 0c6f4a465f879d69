"""Paths along which drivers are judged: a linkage's turn, a morph, a folding."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from pipeline.cases.morph import MorphCase
from pipeline.cases.origami import OrigamiCase
from pipeline.cases.record import Documents
from pipeline.formats.structure_file import OwnStructure, document
from sim.arrays import Floats
from sim.driven import Configuration
from sim.limits import refuse_unless_count, refuse_unless_positive
from sim.morph.library.linkages import CORNERS, FourBar
from sim.morph.statics.drivable import drivable
from sim.morph.statics.driven_paths import morphed, turned
from sim.morph.statics.driving import Coordinates
from sim.origami.folding.driving import folded


def _force(load: Sequence[float]) -> Floats:
    force = np.array(load, dtype=np.float64)
    if force.shape != (3,) or not np.isfinite(force).all():
        raise ValueError(f"load is {load}: give the force on each node as [x, y, z]")
    return force


@dataclass(frozen=True, eq=False)
class DrivenFourBar:
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

    def configurations(self) -> Iterator[Configuration]:
        joints, linkage = Coordinates.of(corners=CORNERS), self.linkage
        turn = ((t, linkage.structure(t)) for t, _ in linkage.turn(self.increments))
        return turned(turn, joints, _force(self.load))

    def documents(self) -> Documents:
        return {"structure.json": document(self.linkage.structure(0.0))}


@dataclass(frozen=True, eq=False)
class DrivenMorph:
    """The steps of a morph; links, struts, corners and hinges may be driven.

    Attributes
    ----------
    lengths : pairs of nodes: a link that is named may change its length, other pairs
        are struts put in
    corners, hinges, normal : see `sim.morph.statics.driving`. Where nothing at all is
        named, what the structure leaves to be driven: `sim.morph.statics.drivable`
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
        if not (self.lengths or self.corners or self.hinges):
            return drivable(self.of.structure)
        return Coordinates.of(self.lengths, self.corners, self.hinges, self.normal)

    @property
    def names(self) -> list[str]:
        """What each coordinate is called, with the joint of the file that it turns."""
        made, structure = self.coordinates, self.of.structure
        joints = structure.joints if isinstance(structure, OwnStructure) else {}
        about = [*made.lengths.tolist(), *made.corners[:, 1:2].tolist()]
        about += made.hinges[:, 1:3].tolist()
        own = [joints.get(frozenset(nodes), "") for nodes in about]
        return [
            f"{joint}: {name}" if joint else name
            for joint, name in zip(own, made.names, strict=True)
        ]

    def configurations(self) -> Iterator[Configuration]:
        of, force = self.of, _force(self.load)
        return morphed(of.structure, of.steps(), self.coordinates, force)

    def documents(self) -> Documents:
        return self.of.recorder().documents()


@dataclass(frozen=True, eq=False)
class DrivenFold:
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

    def configurations(self) -> Iterator[Configuration]:
        return folded(self.of.mesh, self.of.steps(), self.rigid)

    def documents(self) -> Documents:
        return self.of.recorder().documents()


DrivenPath = DrivenFourBar | DrivenMorph | DrivenFold
