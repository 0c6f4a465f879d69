"""Clamps in space that turn and move in time: held edges, carried by tables.

Each is turned about an axis that keeps its direction, through one node of its edge, and
moved; its frame goes with it. Between two times of a table it goes evenly.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from sim.arrays import Floats
from sim.rod.moving.bodies import HeightField
from sim.rod.moving.prescribed import PrescribedMotion
from sim.rod.moving.touching import REACHED, LevelGround, Touching
from sim.rod.space.frames import SpaceState, turns
from sim.rod.space.space_rod import SpaceRod
from sim.rod.stepping.turning import refuse_far


@dataclass(frozen=True, eq=False)
class TurningClamp:
    """A held edge on its way, from where the rod has it.

    Attributes
    ----------
    edge, about : of the rod, and its node that it turns about
    axis : of any length
    times, angles : s, rising, and rad by the right hand, 0 first
    moves : rows of time, s, and the way along x, y and z, m, 0 first
    """

    edge: int
    about: int
    axis: Sequence[float]
    times: Sequence[float] = (0.0,)
    angles: Sequence[float] = (0.0,)
    moves: Sequence[Sequence[float]] = ((0.0, 0.0, 0.0, 0.0),)

    def __post_init__(self) -> None:
        self.motion(np.zeros(3))

    def motion(self, about: Floats) -> PrescribedMotion:
        """About a point (3,), m."""
        return PrescribedMotion(about, self.axis, self.times, self.angles, self.moves)

    def placed(self, rod: SpaceRod, time: float) -> tuple[Floats, Floats]:
        """(2, 3) m of tail and head, and (3,) d1, at a time."""
        motion, ends = self.motion(rod.nodes[self.about]), rod.edges[self.edge]
        d1 = motion.turned(rod.directors[[self.edge]], time)[0]
        return motion.placed(rod.nodes[ends], time), d1


@dataclass(frozen=True, eq=False)
class TurningClamps:
    """All clamps of a rod that turn or move."""

    rod: SpaceRod
    clamps: Sequence[TurningClamp]

    def __post_init__(self) -> None:
        for clamp in self.clamps:
            held = self.rod.held[self.rod.edges[clamp.edge]].all()
            if not (held and self.rod.held_frames[clamp.edge]):
                raise ValueError(f"turns: edge {clamp.edge} is not held: clamp it")

    @cached_property
    def _edges(self) -> list[int]:
        return [clamp.edge for clamp in self.clamps]

    def _at(self, time: float) -> SpaceState:
        """Their edges alone, two nodes each."""
        placed = [clamp.placed(self.rod, time) for clamp in self.clamps]
        x, d = (np.array([one[k] for one in placed]) for k in (0, 1))
        return SpaceState(x.reshape(-1, 3), d, np.empty(0))

    def moved(self, time: float, h: float) -> tuple[Floats, Floats]:
        """(n, 3) m, (m,) rad, in a step of h seconds."""
        before, after = self._at(time), self._at(time + h)
        shift, spun = np.zeros_like(self.rod.nodes), np.zeros(len(self.rod.edges))
        shift[self.rod.edges[self._edges].ravel()] = after.x - before.x
        own = np.arange(2 * len(self.clamps)).reshape(-1, 2)
        spun[self._edges] = turns(before, after, own)
        return shift, spun

    def refuse_far(self, h: float) -> None:
        """A ValueError if one turns too far in a step of h seconds."""
        for clamp in self.clamps:
            refuse_far(clamp.times, clamp.angles, h)

    def refuse_within(self, touching: Touching) -> None:
        """A ValueError if a node of one comes to be within a plane or a body."""
        allowed = REACHED * float(touching.radius.min())
        for clamp in self.clamps:
            own = clamp.motion(self.rod.nodes[clamp.about])
            both = own, *(body.motion for body in touching.moved)
            times = np.unique(np.concatenate([one.finely for one in both]))
            radius = float(touching.radius[clamp.edge])
            found = [
                (radius - float(gap.min()), time, name)
                for time in times.tolist()
                for x in [clamp.placed(self.rod, time)[0]]
                for name, gap in _gaps(touching.at(time), x)
            ]
            low, at, name = max(found, default=(0.0, 0.0, ""))
            if low > allowed:
                raise ValueError(
                    f"{name}: a clamp that moves or turns, or the held edge behind "
                    f"it, is {low:.3g} m within it at {at:.3g} s: keep it away"
                )


def _gaps(touching: Touching, x: Floats) -> Iterator[tuple[str, Floats]]:
    """What touches by name, and (k,) how far from it points x (k, 3) are, m."""
    if isinstance(touching.ground, LevelGround):
        normal = np.array(touching.ground.normal)
        normal = normal / np.linalg.norm(normal)
        yield "ground", x @ normal - touching.ground.height
    for k, body in enumerate(touching.bodies):
        name = "ground" if isinstance(body, HeightField) else f"bodies[{k}]"
        yield name, body.distance(x)[0]
