"""Two wires that loop each other and are pulled tight."""

from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from pipeline.cases.record import Summary
from pipeline.cases.rod_record import refuse_times
from pipeline.cases.space_motion import NEAR, RunsInSpace, skins_touching
from pipeline.cases.space_rod import Wire
from sim.arrays import Floats
from sim.limits import refuse_unless_count, refuse_unless_positive
from sim.rod.moving.motion import SpaceMotionStep
from sim.rod.moving.space_world import SpaceWorld
from sim.rod.moving.touching import Touching
from sim.rod.space.space_rod import SpaceRod, edge_tangents, together
from sim.rod.stepping.options import Integrator, StepOptions
from sim.rod.stepping.world import Damping

ALONG = 0.8  # cosine of an edge with its leg, below which it is of the loop


@dataclass(frozen=True, eq=False)
class LassoCase(RunsInSpace):
    """Two hairpins, each through the other, all four ends pulled with one force F.

    Half a hairpin is an elastica that turns by 90 degrees from its leg to its contact:
    B k^2 / 2 = F (1 - cos theta). So its legs are 2 sqrt(2 B / F) apart, and its
    curvature at the contact is sqrt(2 F / B).

    Parameters
    ----------
    force : at each end, N
    loop, leg : radius of the half circle and length of both legs at the start, m
    edges : of each wire, an odd number, so that middles of edges touch
    """

    wire: Wire
    force: float = 0.08
    loop: float = 0.02
    leg: float = 0.05
    edges: int = 41
    friction: float = 0.3
    damping: Damping = field(default_factory=lambda: Damping(40.0, 2.0e-3))
    duration: float = 0.3
    every: int = 30
    options: StepOptions = field(
        default_factory=lambda: StepOptions(5.0e-4, Integrator.ENERGY_MOMENTUM)
    )

    def __post_init__(self) -> None:
        refuse_unless_positive(self, "force", "loop", "leg", of="lasso")
        refuse_unless_count(self, "edges", of="lasso")
        refuse_times(self.duration, self.every)
        if self.edges < 9 or self.edges % 2 == 0:
            raise ValueError(
                f"lasso: edges is {self.edges}: give an odd number from 9 up, so that "
                "middles of edges meet"
            )
        _ = self.space_world

    @property
    def radii(self) -> Floats:
        """m"""
        return np.full(2 * self.edges, self.wire.radius)

    def _hairpin(self) -> SpaceRod:
        """In the plane y = 0, its top in z = 0; naturally straight."""
        R, half = self.loop, 0.5 * np.pi * self.loop
        s = np.linspace(-half - self.leg, half + self.leg, self.edges + 1)
        turn = np.clip(s, -half, half) / R
        down = np.maximum(np.abs(s) - half, 0.0)
        x = np.column_stack([R * np.sin(turn), 0 * s, R * (np.cos(turn) - 1.0) - down])
        return self.wire.through(x)

    @cached_property
    def space_world(self) -> SpaceWorld:
        first = self._hairpin()
        k = self.edges // 2
        top = float(first.nodes[k, 2])
        turned = first.nodes[:, [1, 0, 2]] * [1.0, 1.0, -1.0]
        by = np.array([0.0, 0.0, 2.0 * (top - self.wire.radius * (1.0 + NEAR))])
        rod = together(first, self.wire.through(turned + by, first=(1.0, 0.0, 0.0)))
        force = np.zeros_like(rod.nodes)
        force[[0, self.edges], 2] = -self.force
        force[[self.edges + 1, -1], 2] = self.force
        return SpaceWorld(
            replace(rod, curvature=np.zeros_like(rod.curvature)),
            (0.0, 0.0, 0.0),
            self.damping,
            force=force,
            touching=Touching(self.radii, self.friction),
        )

    def ends(self, last: SpaceMotionStep) -> Summary:
        """Width and squared curvature of the first hairpin over the elastica's."""
        world, x, m = self.space_world, last.x, self.edges
        t = edge_tangents(x, world.rod.edges)[:m]
        a, b = t[:-1], t[1:]
        turned = 2.0 * np.linalg.norm(np.cross(a, b), axis=1)
        k = turned / (1.0 + np.sum(a * b, axis=1)) / world.rod.voronoi[: m - 1]
        along = np.abs((a + b)[:, 2]) / np.linalg.norm(a + b, axis=1)
        bent = along < ALONG
        law = 2.0 * self.force * (1.0 - along) / self.wire.bending
        wide = 2.0 * np.sqrt(2.0 * self.wire.bending / self.force)
        return {
            "width_over_elastica": float(np.linalg.norm(x[0] - x[m]) / wide),
            "k2_over_elastica": float(np.mean(k[bent] ** 2 / law[bent])),
            "touching": skins_touching(self, x),
        }
