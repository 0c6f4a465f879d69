"""Three limbs that close about a body and lift it."""

from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from pipeline.cases.record import Summary
from pipeline.cases.rod_record import refuse_times
from pipeline.cases.space_motion import RunsInSpace
from pipeline.cases.space_rod import Wire
from sim.arrays import Floats
from sim.limits import refuse_unless_count, refuse_unless_positive
from sim.rod.gravity import GRAVITY
from sim.rod.moving.motion import SpaceMotionStep
from sim.rod.moving.space_world import MovingSupports, SpaceWorld
from sim.rod.moving.touching import LevelGround, Touching
from sim.rod.space.space_rod import SpaceRod, clamped, together
from sim.rod.stepping.options import Integrator, StepOptions
from sim.rod.stepping.world import Damping

LIMBS = 3
BODY = 2  # edges of the body: a rod so thick that it hardly bends


@dataclass(frozen=True, eq=False)
class GripperCase(RunsInSpace):
    """Limbs hang from a palm around a round body that stands on the ground.

    Their natural curvature grows until `closed`, then the palm rises. Bodies are rods:
    that which is held is one as thick as long, free to move.

    Parameters
    ----------
    wire, body : of the limbs, and of what they hold
    length, apart : of a limb, and its distance from the axis, m
    tall : length of the body's axis, m
    curvature : natural, of the limbs at the end, 1/m
    closed : s
    speed : of the palm, m/s
    """

    wire: Wire = field(default_factory=lambda: Wire(2.0e-3, 3.0e6))
    body: Wire = field(default_factory=lambda: Wire(8.0e-3, 3.0e6, 1000.0))
    length: float = 0.05
    apart: float = 0.016
    tall: float = 0.02
    edges: int = 8
    curvature: float = 30.0
    closed: float = 0.1
    speed: float = 0.05
    friction: float = 0.8
    damping: Damping = field(default_factory=lambda: Damping(5.0, 5.0e-3))
    duration: float = 0.25
    every: int = 10
    options: StepOptions = field(
        default_factory=lambda: StepOptions(1.0e-3, Integrator.ENERGY_MOMENTUM)
    )

    def __post_init__(self) -> None:
        names = ("length", "apart", "tall", "closed", "speed")
        refuse_unless_positive(self, *names, of="gripper")
        refuse_unless_count(self, "edges", of="gripper")
        refuse_times(self.duration, self.every)
        if self.edges < 4:
            raise ValueError(f"gripper: edges is {self.edges}: give 4 or more")
        _ = self.space_world

    @property
    def radii(self) -> Floats:
        """m"""
        limbs = np.full(LIMBS * self.edges, self.wire.radius)
        return np.append(limbs, np.full(BODY, self.body.radius))

    def _limb(self, k: int) -> SpaceRod:
        """Straight down, d1 to its left as seen from the axis, its first edge held."""
        a = 2.0 * np.pi * k / LIMBS
        out, left = np.array([np.cos(a), np.sin(a), 0.0]), (-np.sin(a), np.cos(a), 0.0)
        down = np.linspace(0.0, self.length, self.edges + 1)
        foot = self.body.radius + 0.5 * self.tall
        x = self.apart * out - down[:, None] * np.array([0.0, 0.0, 1.0])
        x[:, 2] += foot + self.length - 0.5 * self.wire.radius
        return clamped(self.wire.through(x, first=left), 0)

    @cached_property
    def _rods(self) -> SpaceRod:
        up = self.body.radius + self.tall * np.linspace(0.0, 1.0, BODY + 1)
        axis = np.column_stack([0 * up, 0 * up, up])
        return together(*map(self._limb, range(LIMBS)), self.body.through(axis))

    def natural(self, time: float) -> Floats:
        """(b, 3) 1/m: limbs bend about d1 towards the axis."""
        full = np.zeros_like(self._rods.curvature)
        limbs = (self._rods.bends < LIMBS * self.edges).all(axis=1)
        full[limbs, 0] = self.curvature * min(time / self.closed, 1.0)
        return full

    @cached_property
    def space_world(self) -> SpaceWorld:
        rod = self._rods
        velocity = np.where(rod.held, [0.0, 0.0, self.speed], 0.0)
        return SpaceWorld(
            replace(rod, curvature=np.zeros_like(rod.curvature)),
            (0.0, 0.0, -GRAVITY),
            self.damping,
            natural=self.natural,
            drive=MovingSupports(velocity, np.zeros(len(rod.edges)), start=self.closed),
            touching=Touching(self.radii, self.friction, LevelGround()),
        )

    def ends(self, last: SpaceMotionStep) -> Summary:
        """How far palm and body went up, and what a limb needs of friction at least."""
        rod, body = self.space_world.rod, slice(-BODY - 1, None)
        mass = rod.mass[body]
        moved = mass @ (last.x - rod.nodes)[body] / mass.sum()
        palm = float((last.x - rod.nodes)[0, 2])
        return {
            "palm_lifted": palm,
            "lifted": float(moved[2]),
            "aside": float(np.hypot(moved[0], moved[1])),
            "least_friction": self.least_friction,
        }

    @property
    def least_friction(self) -> float:
        """Weight of the body over what limbs push with, as straight beams would.

        The free end of a beam of natural curvature k goes aside by k L^2 / 2; kept at d
        it pushes with 3 B (k L^2 / 2 - d) / L^3.
        """
        L, B = self.length * (1.0 - 0.5 / self.edges), self.wire.bending
        d = self.apart - self.body.radius - self.wire.radius
        push = 3.0 * B * (0.5 * self.curvature * L**2 - d) / L**3
        weight = GRAVITY * float(self.space_world.rod.mass[-BODY - 1 :].sum())
        return weight / (LIMBS * push)
