"""What has volume: balls at nodes, capsules along links, panels between three nodes."""

from dataclasses import dataclass, field, replace

import numpy as np

from sim.arrays import Floats, Ints


def _none(columns: int) -> Ints:
    return np.empty((0, columns), dtype=np.int64)


@dataclass(frozen=True, eq=False)
class Solids:
    """Bodies that cannot pass through each other.

    Attributes
    ----------
    ball, ball_radius : (b, 1) nodes and (b,) radii
    capsule, capsule_radius : (c, 2) ends and (c,) radii
    panel, panel_thickness : (p, 3) corners and (p,) thicknesses, rounded at the rim
    """

    ball: Ints = field(default_factory=lambda: _none(1))
    ball_radius: Floats = field(default_factory=lambda: np.empty(0))
    capsule: Ints = field(default_factory=lambda: _none(2))
    capsule_radius: Floats = field(default_factory=lambda: np.empty(0))
    panel: Ints = field(default_factory=lambda: _none(3))
    panel_thickness: Floats = field(default_factory=lambda: np.empty(0))

    def __len__(self) -> int:
        return len(self.ball) + len(self.capsule) + len(self.panel)

    @property
    def kinds(self) -> tuple[tuple[str, Ints, str, Floats], ...]:
        """Each kind's name with its nodes, and its size's name with its sizes."""
        return (
            ("ball", self.ball, "radius", self.ball_radius),
            ("capsule", self.capsule, "radius", self.capsule_radius),
            ("triangle", self.panel, "thickness", self.panel_thickness),
        )

    def check(self, r0: Floats) -> None:
        """Refuse bodies that the nodes r0 (n, 3) do not make."""
        for kind, nodes, size_name, sizes in self.kinds:
            _check_kind(kind, nodes, len(r0))
            bad = np.flatnonzero(~((sizes > 0.0) & np.isfinite(sizes)))
            if len(bad):
                raise ValueError(
                    f"the {described(kind, nodes[bad[0]])} has the {size_name} "
                    f"{sizes[bad[0]]:g}: it must be positive and finite"
                )
        corners = r0[self.panel]
        sides = corners - np.roll(corners, 1, axis=1)
        area = np.linalg.norm(np.cross(sides[:, 0], sides[:, 1]), axis=1)
        flat = np.flatnonzero(area <= 1e-9 * np.square(sides).sum(axis=(1, 2)))
        if len(flat):
            name = described("triangle", self.panel[flat[0]])
            raise ValueError(f"the {name} is flat: choose nodes that are not in line")

    def scaled(self, factor: float) -> "Solids":
        """The same in another unit of length."""
        return replace(
            self,
            ball_radius=factor * self.ball_radius,
            capsule_radius=factor * self.capsule_radius,
            panel_thickness=factor * self.panel_thickness,
        )

    def with_balls(self, n: int, radius: float) -> "Solids":
        """The same with a ball at each of the n nodes that has none."""
        free = np.setdiff1d(np.arange(n), self.ball)
        return replace(
            self,
            ball=np.concatenate([self.ball[:, 0], free]).reshape(-1, 1),
            ball_radius=np.append(self.ball_radius, np.full(len(free), radius)),
        )


def described(kind: str, nodes: Ints) -> str:
    """What a person calls a body, such as `capsule of nodes 3 and 4`."""
    *first, last = map(str, nodes.tolist())
    if not first:
        return f"{kind} of node {last}"
    return f"{kind} of nodes {', '.join(first)} and {last}"


def _check_kind(kind: str, nodes: Ints, n: int) -> None:
    bad = np.flatnonzero(((nodes < 0) | (nodes >= n)).any(axis=1))
    if len(bad):
        raise ValueError(
            f"the {described(kind, nodes[bad[0]])} names a node that is not there: "
            f"the structure has nodes 0 to {n - 1}"
        )
    ordered = np.sort(nodes, axis=1)
    bad = np.flatnonzero((np.diff(ordered, axis=1) == 0).any(axis=1))
    if len(bad):
        raise ValueError(
            f"the {described(kind, nodes[bad[0]])} names a node twice: name each once"
        )
    _, index, count = np.unique(ordered, axis=0, return_index=True, return_counts=True)
    if (count > 1).any():
        twice = nodes[index[np.argmax(count > 1)]]
        raise ValueError(f"the {described(kind, twice)} is there twice: give it once")
