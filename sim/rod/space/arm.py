"""A tapered round arm, clamped at its root, with tendons that run within it."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sim.arrays import Floats
from sim.limits import refuse_unless_count, refuse_unless_positive
from sim.rod.space.frames import SpaceState, second_directors
from sim.rod.space.sections import SpaceMaterial, disc
from sim.rod.space.space_rod import SpaceRod, StretchLaw, clamped, through
from sim.rod.space.tendons import Tendon, routed


@dataclass(frozen=True)
class TaperedArm:
    """The arm at rest: straight, along `axis` from the origin.

    Parameters
    ----------
    profile : rows of arc length and radius, m, linear between
    tied : arc length at which tendons end, m
    edges : from the root to there; the middle of one is at either
    axis, first : direction of the arm, and of d1 at its root
    """

    profile: Sequence[tuple[float, float]]
    tied: float
    material: SpaceMaterial
    edges: int = 24
    axis: tuple[float, float, float] = (0.0, 0.0, -1.0)
    first: tuple[float, float, float] = (0.0, 1.0, 0.0)
    law: StretchLaw = StretchLaw.RUBBER

    def __post_init__(self) -> None:
        refuse_unless_count(self, "edges", of="arm")
        refuse_unless_positive(self, "tied", of="arm")
        table = np.array(self.profile, dtype=np.float64)
        if table.ndim != 2 or table.shape[1] != 2 or len(table) < 2:
            raise ValueError("arm: profile must have rows of arc length and radius")
        if (np.diff(table[:, 0]) <= 0.0).any() or (table[:, 1] <= 0.0).any():
            raise ValueError("arm: arc lengths must rise, radii be positive")
        if not self.tied + 0.5 * self.tied / self.edges < self.length:
            raise ValueError(
                f"arm: tendons are tied at {self.tied:g} m, the arm ends at "
                f"{self.length:g} m: tie them half an edge before it"
            )

    @property
    def length(self) -> float:
        """m."""
        return float(self.profile[-1][0])

    @property
    def nodes(self) -> Floats:
        """(n,) arc lengths; the clamp is in the middle of the first edge."""
        h = self.tied / self.edges
        even = h * (np.arange(self.edges + 2) - 0.5)
        left = self.length - even[-1]
        more = max(1, round(left / h))
        return np.concatenate([even, even[-1] + left / more * np.arange(1, more + 1)])

    @property
    def radii(self) -> Floats:
        """(m,) in the middle of each edge, m."""
        middle = 0.5 * (self.nodes[1:] + self.nodes[:-1])
        return np.asarray(np.interp(middle, *np.array(self.profile).T))

    @property
    def rod(self) -> SpaceRod:
        """Clamped."""
        axis = np.array(self.axis) / np.linalg.norm(self.axis)
        sections = [disc(float(r)) for r in self.radii]
        made = through(
            self.nodes[:, None] * axis, self.material, sections, first=self.first,
            law=self.law,
        )  # fmt: skip
        return clamped(made, 0)

    def tendon(
        self, rod: SpaceRod, offset: Sequence[tuple[float, float]], angle: float,
        tension: float, friction: float = 0.0,
    ) -> Tendon:  # fmt: skip
        """A tendon straight along the arm.

        Parameters
        ----------
        offset : rows of arc length and distance from the axis, m
        angle : rad, from d1 towards d2
        """
        c, s = np.cos(angle), np.sin(angle)
        before = -self.nodes[0]
        rows = [(at + before, off * c, off * s) for at, off in offset]
        return routed(
            rod, self.radii, self.tied + before, rows, tension=tension,
            friction=friction,
        )  # fmt: skip

    def place(self, state: SpaceState, rod: SpaceRod, at: float, off: Floats) -> Floats:
        """(3,) where a point of a section is, m.

        Parameters
        ----------
        at : arc length at rest, m
        off : (3,) from the axis, along t, d1 and d2 of that section, m
        """
        middle = 0.5 * (self.nodes[1:] + self.nodes[:-1])
        k = int(np.clip(np.searchsorted(middle, at) - 1, 0, len(middle) - 2))
        share = (at - middle[k]) / (middle[k + 1] - middle[k])
        d = state.d, second_directors(state, rod.edges)
        e = np.diff(state.x, axis=0)
        t = e / np.linalg.norm(e, axis=1, keepdims=True)
        frame = np.stack([(1.0 - share) * v[k] + share * v[k + 1] for v in (t, *d)])
        frame /= np.linalg.norm(frame, axis=1, keepdims=True)
        x = [np.interp(at, self.nodes, state.x[:, a]) for a in range(3)]
        return np.asarray(x + off @ frame)
