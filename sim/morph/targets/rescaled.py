"""A target for nodes in another unit of length."""

from dataclasses import dataclass, replace

from sim.arrays import Floats
from sim.morph.targets.protocol import Target, Wireframe, slopes_of, smoothed


@dataclass(frozen=True, eq=False)
class Rescaled:
    """`target` for nodes in a unit of length `unit`, which the target is not in."""

    target: Target
    unit: float

    def closest(self, points: Floats) -> Floats:
        goals: Floats = self.target.closest(self.unit * points) / self.unit
        return goals

    @property
    def smooth(self) -> Target:
        return replace(self, target=smoothed(self.target))

    def slopes(self, points: Floats, goals: Floats) -> Floats | None:
        return slopes_of(self.target, self.unit * points, self.unit * goals)

    def wireframe(self, around: Floats) -> Wireframe:
        vertices, edges = self.target.wireframe(self.unit * around)
        return Wireframe(vertices / self.unit, edges)
