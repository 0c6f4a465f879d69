"""An overhand knot in a wire whose ends are pulled apart."""

from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from pipeline.cases.record import Summary
from pipeline.cases.rod_record import refuse_times
from pipeline.cases.space_motion import RunsInSpace
from pipeline.cases.space_rod import Wire
from sim.arrays import Floats
from sim.limits import refuse_unless_count, refuse_unless_positive
from sim.rod.moving.motion import SpaceMotionStep
from sim.rod.moving.space_world import MovingSupports, SpaceWorld
from sim.rod.moving.touching import Touching
from sim.rod.space.frames import edge_lengths
from sim.rod.space.space_rod import edge_tangents
from sim.rod.stepping.options import Integrator, StepOptions
from sim.rod.stepping.world import Damping

FINE = 4000  # points of a piece of the curve
APART = 1.5  # radii, of strands from the middle of their braid at the start
HALF_TURNS = 3  # of the braid: a trefoil
TAIL = 2  # edges at each end whose stretch tells the pull


@dataclass(frozen=True, eq=False)
class KnotCase(RunsInSpace):
    """A braid of two strands and a loop that joins them; both ends are pulled along it.

    Of a naturally straight round wire without friction t.n + B k^2 / 2 + C tau^2 / 2 is
    the same everywhere, contacts included, as their forces are across the tangent t. So
    the pull F is B k^2 / 2 where the loop runs across it: F = B / 2 R^2, at which
    Audoly, Clauvelin and Neukirch (PRL 99 (2007) 164301) arrive for loose knots. Their
    friction adds mu 0.492 B / (R^2 sqrt(h / R)), h the radius of the wire.

    Parameters
    ----------
    loop, braid : radius and length at the start, m
    tail : length of both, m
    speed : of each end, m/s, from the time `rests` on, s
    """

    wire: Wire
    loop: float = 0.02
    braid: float = 0.03
    tail: float = 0.04
    edges: int = 64
    friction: float = 0.1
    speed: float = 0.02
    rests: float = 0.1
    damping: Damping = field(default_factory=lambda: Damping(8.0, 4.0e-3))
    duration: float = 0.5
    every: int = 20
    options: StepOptions = field(
        default_factory=lambda: StepOptions(5.0e-4, Integrator.ENERGY_MOMENTUM)
    )

    def __post_init__(self) -> None:
        names = ("loop", "braid", "tail", "speed", "rests")
        refuse_unless_positive(self, *names, of="knot")
        refuse_unless_count(self, "edges", of="knot")
        refuse_times(self.duration, self.every)
        if self.edges < 40:
            raise ValueError(f"knot: edges is {self.edges}: give 40 or more")
        _ = self.space_world

    @property
    def radii(self) -> Floats:
        """m"""
        return np.full(self.edges, self.wire.radius)

    def _curve(self) -> Floats:
        """(n, 3) tail, strand, loop, strand, tail, from left to right twice."""
        R, b, far = self.loop, self.braid, APART * self.wire.radius
        s = np.linspace(0.0, 1.0, FINE, endpoint=False)
        turn, x, a = HALF_TURNS * np.pi * s, b * (s - 0.5), np.pi * s
        out, back = np.cos(turn), np.sin(turn)
        pieces = [
            (-0.5 * b - self.tail * (1.0 - s), far + 0 * s, 0 * s),
            (x, far * out, far * back),
            (0.5 * b + R * np.sin(a), -far - R + R * np.cos(a), 0 * s),
            (-x, -far - 2.0 * R + 0 * s, 0 * s),
            (-0.5 * b - R * np.sin(a), -far - R - R * np.cos(a), 0 * s),
            (x, -far * out, -far * back),
            (0.5 * b + self.tail * np.append(s, 1.0), far + 0 * np.append(s, 1.0)),
        ]
        pieces[-1] = (*pieces[-1], 0 * pieces[-1][0])
        return np.concatenate([np.column_stack(piece) for piece in pieces])

    @cached_property
    def space_world(self) -> SpaceWorld:
        """Bent so and let go, its ends held until they are pulled."""
        fine = self._curve()
        s = np.append(0.0, np.linalg.norm(np.diff(fine, axis=0), axis=1).cumsum())
        even = np.linspace(0.0, s[-1], self.edges + 1)
        x = np.column_stack([np.interp(even, s, fine[:, k]) for k in range(3)])
        rod = self.wire.through(x, first=(0.0, 0.0, 1.0))
        rod.held[[0, -1]] = True
        velocity = np.zeros_like(x)
        velocity[[0, -1], 0] = -self.speed, self.speed
        return SpaceWorld(
            replace(rod, curvature=np.zeros_like(rod.curvature)),
            (0.0, 0.0, 0.0),
            self.damping,
            drive=MovingSupports(velocity, np.zeros(self.edges), start=self.rests),
            touching=Touching(self.radii, self.friction),
        )

    def pull(self, step: SpaceMotionStep) -> float:
        """Mean tension of both tails, N."""
        rod = self.space_world.rod
        longer = edge_lengths(step.x, rod.edges) / rod.rest_length - 1.0
        tension = rod.stretching * longer
        return float(
            np.concatenate([tension[1 : 1 + TAIL], tension[-1 - TAIL : -1]]).mean()
        )

    def across(self, step: SpaceMotionStep) -> float:
        """Curvature of the loop where it runs across the pull, on both sides, 1/m."""
        rod = self.space_world.rod
        t = edge_tangents(step.x, rod.edges)
        a, b = t[:-1], t[1:]
        turned = 2.0 * np.linalg.norm(np.cross(a, b), axis=1)
        k = turned / (1.0 + np.sum(a * b, axis=1)) / rod.voronoi
        along = (a + b)[:, 0]
        j = np.flatnonzero(along[:-1] * along[1:] < 0.0)
        share = along[j] / (along[j] - along[j + 1])
        found = (1.0 - share) * k[j] + share * k[j + 1]
        return float(np.sqrt(np.mean(found**2))) if len(j) else float("nan")

    def ends(self, last: SpaceMotionStep) -> Summary:
        """The pull beside what it is without friction, and how tight the loop is."""
        k, h, B = self.across(last), self.wire.radius, self.wire.bending
        rod = self.space_world.rod
        gone = rod.length - float(np.linalg.norm(last.x[-1] - last.x[0]))
        return {
            "pull": self.pull(last),
            "F_R2_over_B": self.pull(last) / (B * k**2),
            "loose_F_R2_over_B": float(0.5 + 0.492 * self.friction / np.sqrt(h * k)),
            "R_over_h": 1.0 / (h * k),
            "shortening": gone,
        }
