"""Rigid blocks in the plane, the elastic ligaments that hinge them, and their grips.

A block moves by q = (x, y, theta): the displacement of its reference point and its
turn. Every force and moment follows from the energies of the hinges, so lengths and
stiffnesses may be of any consistent units.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from sim.arrays import Floats, Ints

STIFFNESSES = (
    "stretch", "compression", "shear", "turn", "friction", "stick", "touch",
)  # fmt: skip
FREE, HELD = 0.0, np.inf  # stiffness of what does not resist, and of what does not give


@dataclass(frozen=True, eq=False)
class LigamentHinges:
    """Elastic ligaments between blocks, each with three stiffnesses.

    A ligament goes from a point of block a to a point of block b; in the frame that
    turns with the mean of both it elongates by e and shears by s, and it bends by their
    relative turn w:

        E = k_stretch e^2 / 2 + k_shear s^2 / 2 + k_turn w^2 / 2.

    Attributes
    ----------
    blocks : (h, 2) a and b
    ends : (h, 2, 2) the point of a and the point of b as drawn, at rest
    stretch, shear : (h,) force by length
    turn : (h,) moment by angle
    compression : (h,) as `stretch`, where a ligament is shorter than at rest; the same
        where not given
    turn_cubic : (h,) moment by angle cubed, added to that of `turn`
    friction : (h,) moment at which a ligament slips; 0 where it does not rub
    stick : (h,) moment by angle of the rubbing part before it slips (a Jenkins element)
    voids : (h, 2) angles that are open on the side of b's next and of a's next corner;
        infinite where nothing can touch
    touch : (h,) moment by angle beyond the closing of a void
    polar : whether elongation and shear are those of the ligament's length and angle,
        as published (`hinge_energy`), which lose their meaning where a ligament is
        pressed to a point; they agree with the others to first order in e / l and s / l
    """

    blocks: Ints
    ends: Floats
    stretch: Floats
    shear: Floats
    turn: Floats
    compression: Floats = field(default_factory=lambda: np.zeros(0))
    turn_cubic: Floats = field(default_factory=lambda: np.zeros(0))
    friction: Floats = field(default_factory=lambda: np.zeros(0))
    stick: Floats = field(default_factory=lambda: np.zeros(0))
    voids: Floats = field(default_factory=lambda: np.zeros((0, 2)))
    touch: Floats = field(default_factory=lambda: np.zeros(0))
    polar: bool = False

    def __post_init__(self) -> None:
        count = len(self.blocks)
        if len(self.compression) == 0:
            object.__setattr__(self, "compression", self.stretch)
        for name in ("turn_cubic", "friction", "stick", "touch"):
            if len(getattr(self, name)) == 0:
                object.__setattr__(self, name, np.zeros(count))
        if len(self.voids) == 0:
            object.__setattr__(self, "voids", np.full((count, 2), np.inf))
        self._check(count)

    def _check(self, count: int) -> None:
        short = np.flatnonzero(~(self.lengths() > 0.0))
        if len(short):
            raise ValueError(
                f"hinge {short[0]} has no length: its two ends must lie apart"
            )
        for name in STIFFNESSES:
            values = getattr(self, name)
            wrong = np.flatnonzero(~((values >= 0.0) & (values < np.inf)))
            if len(values) != count or len(wrong):
                at = wrong[0] if len(wrong) else min(len(values), count)
                raise ValueError(
                    f"{name} of hinge {at} must be a number from 0 up, one for each of"
                    f" the {count} hinges"
                )
        loose = np.flatnonzero((self.friction > 0.0) & (self.stick == 0.0))
        if len(loose):
            raise ValueError(
                f"hinge {loose[0]} has friction and no stick: say its moment by angle"
                " before it slips"
            )

    def __len__(self) -> int:
        return len(self.blocks)

    def lengths(self) -> Floats:
        """(h,) lengths at rest."""
        return np.asarray(np.linalg.norm(self.ends[:, 1] - self.ends[:, 0], axis=1))


@dataclass(frozen=True)
class Grip:
    """What holds a point of a block and moves it.

    Attributes
    ----------
    block : index
    point : (x, y) that is held, as drawn; it need not lie within the block
    motion : (x, y) displacement of the anchor for one unit of driving
    stiffness : force by length of the clamp; infinite where it does not give
    turning : moment by angle that keeps the block from turning about the point
    """

    block: int
    point: tuple[float, float]
    motion: tuple[float, float]
    stiffness: float = HELD
    turning: float = FREE

    def __post_init__(self) -> None:
        for name, value in (("stiffness", self.stiffness), ("turning", self.turning)):
            if not value >= 0.0:
                raise ValueError(f"{name} of the grip on block {self.block} is {value}")
        if not np.isfinite([*self.point, *self.motion]).all():
            raise ValueError(f"point or motion of the grip on block {self.block}")


@dataclass(frozen=True, eq=False)
class BlockAssembly:
    """Blocks with their hinges and grips.

    Attributes
    ----------
    corners : for each block (c, 2) its outline as drawn, counter-clockwise
    hinges : between them
    grips : at most one on each block
    """

    corners: tuple[Floats, ...]
    hinges: LigamentHinges
    grips: Sequence[Grip] = ()

    def __post_init__(self) -> None:
        held = [grip.block for grip in self.grips]
        unknown = [k for k in [*self.hinges.blocks.ravel(), *held] if not self.has(k)]
        if unknown:
            raise ValueError(
                f"there is no block {unknown[0]}: they are 0 to {len(self) - 1}"
            )
        if len(set(held)) < len(held):
            raise ValueError("two grips hold one block: give it one")
        turned = [k for k, outline in enumerate(self.corners) if not area(outline) > 0]
        if turned:
            raise ValueError(
                f"block {turned[0]} has no area, or its corners go round clockwise"
            )

    def __len__(self) -> int:
        return len(self.corners)

    def has(self, block: int) -> bool:
        """Whether there is a block of this number."""
        return 0 <= block < len(self)

    def references(self) -> Floats:
        """(b, 2) points whose displacements are unknowns: grips, else centroids."""
        points = np.array([centroid(outline) for outline in self.corners])
        for grip in self.grips:
            points[grip.block] = grip.point
        return points

    def placed(self, q: Floats) -> list[Floats]:
        """Outlines of all blocks after the motion q (b, 3)."""
        return [
            place(outline, reference, motion)
            for outline, reference, motion in zip(
                self.corners, self.references(), q, strict=True
            )
        ]


def area(outline: Floats) -> float:
    """Area of a polygon (c, 2); positive if its corners go counter-clockwise."""
    x, y = outline.T
    return float(0.5 * np.sum(x * np.roll(y, -1) - np.roll(x, -1) * y))


def centroid(outline: Floats) -> Floats:
    """(2,) centroid of a polygon (c, 2)."""
    x, y = outline.T
    ahead = np.roll(outline, -1, axis=0)
    double = x * ahead[:, 1] - ahead[:, 0] * y
    return np.asarray((outline + ahead).T @ double / (3.0 * double.sum()))


def place(points: Floats, reference: Floats, motion: Floats) -> Floats:
    """Points (p, 2) of a block whose reference has moved by x, y, turned by theta."""
    c, s = np.cos(motion[2]), np.sin(motion[2])
    turned = (points - reference) @ np.array([[c, s], [-s, c]])
    return np.asarray(turned + reference + motion[:2])


def void_angles(corners: Sequence[Floats], blocks: Ints, hinged: Ints) -> Floats:
    """(h, 2) open angles on both sides of hinged corners (h, 2) of blocks (h, 2).

    The first lies between a's edge to its previous corner and b's edge to its next
    one, and opens with the relative turn w; the second closes with it.
    """
    angles = np.empty((len(blocks), 2))
    for k, ((a, b), (i, j)) in enumerate(zip(blocks, hinged, strict=True)):
        for side, (one, at, other, to) in enumerate(((a, i, b, j), (b, j, a, i))):
            p, q = corners[one], corners[other]
            u, v = p[at - 1] - p[at], q[(to + 1) % len(q)] - q[to]
            angles[k, side] = np.arctan2(u[0] * v[1] - u[1] * v[0], u @ v) % (2 * np.pi)
    return angles
