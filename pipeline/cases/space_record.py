"""What is recorded of a rod in space: numbers, nodes and frames, a skin to look at."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from pipeline.cases.record import Arrays, Documents, Row, Summary, Tables
from sim.arrays import Floats, Ints
from sim.rod.space.frames import SpaceState, of_runs, second_directors
from sim.rod.space.path import SpaceSetting, SpaceStep, followed
from sim.rod.space.space_rod import SpaceRod

CORNERS = 8  # of a section as it is drawn; the first shows the twist
SLIM = 0.004  # of the length: radius of a thinner rod as it is drawn


class SpaceCase(Protocol):
    """A case about a rod in space; its settings by the share of the way."""

    @property
    def rests(self) -> int:
        """Rests after the first."""
        ...

    @property
    def radii(self) -> Floats:
        """(m,) of the section of each edge, m."""
        ...

    def setting(self, share: float) -> SpaceSetting:
        """Rod, loads and supports."""
        ...


def rests_of(case: SpaceCase) -> Iterator[SpaceStep]:
    """The steps of a case."""
    yield from followed(case.setting, case.rests)


def skin(state: SpaceState, edges: Ints, radii: Floats) -> Floats:
    """(8 m, 3) corners of the section in the middle of each edge, m."""
    middle = state.x[edges].mean(axis=1)
    second = second_directors(state, edges)
    angle = 2.0 * np.pi * np.arange(CORNERS) / CORNERS
    round_ = [np.cos(a) * state.d + np.sin(a) * second for a in angle]
    around = middle[:, None] + radii[:, None, None] * np.stack(round_, axis=1)
    return np.asarray(around.reshape(-1, 3))


def sleeves(rod: SpaceRod) -> Ints:
    """(b, 2, 8) corners of the skin that face each other between edges that meet.

    The first director of an edge that runs the other way counts turned around, as where
    twist is measured, and its second does not: its corners run backwards.
    """
    number, _ = of_runs(rod.bends, len(rod.edges))
    first, second = rod.edges[number[:, 0]], rod.edges[number[:, 1]]
    backwards = np.column_stack([
        (first[:, :1] == second).any(axis=1), ~(second[:, :1] == first).any(axis=1)
    ])  # fmt: skip
    k = np.arange(CORNERS)
    corner = np.where(backwards[..., None], (CORNERS // 2 - k) % CORNERS, k)
    return np.asarray(CORNERS * number[..., None] + corner)


def skin_fixed_arrays(rod: SpaceRod) -> Arrays:
    """Lines along the first corners, which show the twist, and the skin's triangles."""
    a, b = sleeves(rod).transpose(1, 0, 2)
    after_a, after_b = np.roll(a, -1, axis=1), np.roll(b, -1, axis=1)
    halves = [np.stack([a, after_a, after_b], axis=-1), np.stack([a, after_b, b], -1)]
    skin_of = {
        "edges": np.column_stack([a[:, 0], b[:, 0]]),
        "triangles": np.concatenate(halves).reshape(-1, 3),
    }
    return {**skin_of, "node_edges": rod.edges}


@dataclass(eq=False)
class SpaceRecorder:
    """Records the rests of a rod.

    Parameters
    ----------
    ends : what a case says of all its steps, besides
    """

    case: SpaceCase
    ends: Callable[[list[SpaceStep]], Summary]
    seen: list[SpaceStep] = field(default_factory=list)

    def see(self, step: SpaceStep) -> None:
        self.seen.append(step)

    def row(self, step: SpaceStep) -> Row:
        rest = step.rest
        stretch, bend, twist = rest.energy.tolist()
        return {
            "step": step.s,
            "share": step.share,
            "bending": bend,
            "twisting": twist,
            "stretching": stretch,
            "turned": float(rest.state.twist.sum()),
            "residual": rest.residual,
            "allowed": rest.allowed,
            "iterations": rest.steps,
            "negative": rest.negative,
        }

    def arrays(self, step: SpaceStep) -> Arrays:
        state, rod = step.rest.state, self._rod
        radii = np.maximum(self.case.radii, SLIM * rod.length)
        found = {"r": skin(state, rod.edges, radii), "nodes": state.x}
        return {**found, "directors": state.d, "twist": state.twist}

    @property
    def _rod(self) -> SpaceRod:
        return self.case.setting(0.0).rod

    def progress(self, step: SpaceStep) -> str:
        return f"share {step.share:.2f}"

    def documents(self) -> Documents:
        return {}

    def fixed_arrays(self) -> Arrays:
        return skin_fixed_arrays(self._rod)

    def tables(self) -> Tables:
        return {}

    def summary(self) -> Summary:
        last = self.seen[-1].rest
        return {
            "stop": "rest",
            "nodes": len(last.state.x),
            "residual": last.residual,
            "energy": float(last.energy.sum()),
            **self.ends(self.seen),
        }
