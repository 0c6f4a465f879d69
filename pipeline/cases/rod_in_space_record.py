"""How rods in space are run, at rest and in motion, and what is recorded of them."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from pipeline.cases import record
from pipeline.cases.rod_record import MovingRod, RodCase, held_and_loads, is_left
from sim.core.arrays import Floats, Ints
from sim.rods.plane.records_and_checkpoints import state_arrays, state_from
from sim.rods.space.frames import SpaceState, of_runs, second_directors
from sim.rods.space.rigid_bodies import DrivenBody
from sim.rods.space.rod import SpaceRod
from sim.rods.space.simulate import SpaceMotionStep, simulate_in_space
from sim.rods.space.state import SpaceMoving
from sim.rods.space.statics import SpaceStep, followed
from sim.rods.space.world import SpaceWorld

CORNERS = 8  # of a section in pictures; the first shows the twist
SLIM = 0.004  # of the length: radius of a thinner rod in pictures


class MovingSpaceRod(MovingRod):
    """How a case is run about a rod that moves in its `space_world`.

    Its sections have `radii` (m,) in pictures, m.
    """

    def steps(self: Any, state: record.State | None = None) -> Iterator[Any]:
        return moved_in_space(self, state)

    def recorder(self) -> record.Recorder[Any, Any]:
        return SpaceMotionRecorder(self)


def moved_in_space(case: Any, state: record.State | None) -> Iterator[SpaceMotionStep]:
    """The motion of a case from the start, or from a recorded state."""
    start = None if state is None else state_from(SpaceMoving, state)
    options, every = case.options, case.every
    yield from simulate_in_space(
        case.space_world, options, case.duration, every=every, start=start
    )


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


def skin_fixed_arrays(rod: SpaceRod, case: Any) -> record.Arrays:
    """Lines along the first corners, which show the twist, the skin's triangles, and
    what holds and loads the rod."""
    a, b = sleeves(rod).transpose(1, 0, 2)
    after_a, after_b = np.roll(a, -1, axis=1), np.roll(b, -1, axis=1)
    halves = [np.stack([a, after_a, after_b], axis=-1), np.stack([a, after_b, b], -1)]
    return {
        "edges": np.column_stack([a[:, 0], b[:, 0]]),
        "triangles": np.concatenate(halves).reshape(-1, 3),
        "node_edges": rod.edges,
        **held_and_loads(rod, getattr(case, "space_world", None)),
    }


def skin_arrays(case: Any, rod: SpaceRod, state: SpaceState) -> record.Arrays:
    """What is recorded of a rod in space: its skin, nodes and frames."""
    radii = np.maximum(case.radii, SLIM * rod.length)
    found = {"r": skin(state, rod.edges, radii), "nodes": state.x}
    return {**found, "directors": state.d, "twist": state.twist}


class RestingSpaceRod(RodCase):
    """How a case is run about a rod in space that rests `load_steps` times on a way.

    `setting(share)` has its rod, loads and supports by the share of the way.
    """

    stop = "rest"

    def steps(self: Any) -> Iterator[SpaceStep]:
        yield from followed(self.setting, self.load_steps)

    def recorder(self) -> "SpaceRecorder":
        return SpaceRecorder(self)


class SpaceRecorder(record.WholeRecorder[Any, SpaceStep]):
    """Records the rests of a rod in space, with what its case says of all of them."""

    def row(self, step: SpaceStep) -> record.Row:
        rest = step.rest
        stretch, bend, twist = rest.energy.tolist()
        return {
            "step": step.s,
            "share": step.share,
            "bending": bend,
            "twisting": twist,
            "stretching": stretch,
            "turned": float(rest.state.twist.sum()),
            **record.attributes(rest, "residual", "allowed"),
            "iterations": rest.steps,
            "negative": rest.negative,
            **self.case.columns(rest),
        }

    @property
    def _rod(self) -> SpaceRod:
        rod: SpaceRod = self.case.setting(0.0).rod
        return rod

    def arrays(self, step: SpaceStep) -> record.Arrays:
        return skin_arrays(self.case, self._rod, step.rest.state)

    def progress(self, step: SpaceStep) -> str:
        return f"share {step.share:.2f}"

    def fixed_arrays(self) -> record.Arrays:
        return skin_fixed_arrays(self._rod, self.case)

    def summary(self) -> record.Summary:
        last = self.last.rest
        return {
            "stop": self.case.stop,
            "nodes": len(last.state.x),
            "residual": last.residual,
            "energy": float(last.energy.sum()),
            **self.case.ends(self.seen),
        }


def _ground_of(world: SpaceWorld) -> record.Arrays:
    """For pictures, of what stays in place: lines on bodies, and of a plane
    normal . x = height four numbers.
    """
    found: record.Arrays = {}
    model = world.contact
    if model is None:
        return found
    stay = [body for body in model.bodies if not isinstance(body, DrivenBody)]
    if stay:
        lines = [body.lines(world.rod.nodes) for body in stay]
        found["ground_lines"] = np.concatenate(lines)
    if model.ground is not None:
        normal, height = np.array(model.ground.normal), model.ground.height
        size = float(np.linalg.norm(normal))
        found["ground_plane"] = np.array([*(normal / size), height])
    return found


def moved_lines(world: SpaceWorld, time: float, x: Floats) -> Floats:
    """(2 q, 3) ends of lines on bodies that move, m, for nodes x (n, 3)."""
    moved = world.contact.at(time).moved if world.contact else []
    each = [body.lines(x).reshape(-1, 3) for body in moved]
    return np.concatenate([np.empty((0, 3)), *each])


class SpaceMotionRecorder(record.Recorder[Any, SpaceMotionStep]):
    """Records a motion in space, with what its case says besides."""

    @property
    def _world(self) -> SpaceWorld:
        world: SpaceWorld = self.case.space_world
        return world

    def row(self, step: SpaceMotionStep) -> record.Row:
        mass, ledger = self._world.rod.mass, step.moving.ledger
        return {
            "step": step.moving.step,
            "time": step.time,
            **record.along_axes("{}_c", mass @ step.x / mass.sum()),
            **record.attributes(step, "kinetic", "stretching", "bending", "twisting"),
            "gravity": step.gravity,
            "turned": float(step.moving.state.twist.sum()),
            **record.attributes(ledger, "given", "damped", "friction", "impact"),
            "out_of_balance": ledger.left,
            **record.attributes(step, "iterations", "substeps"),
            "h": step.moving.last,
            **self.case.columns(step),
        }

    def arrays(self, step: SpaceMotionStep) -> record.Arrays:
        found = skin_arrays(self.case, self._world.rod, step.moving.state)
        lines = moved_lines(self._world, step.time, step.x)
        return found | {"r": np.concatenate([found["r"], lines])}

    def progress(self, step: SpaceMotionStep) -> str:
        return f"t {step.time:.3f} s"

    def state(self, step: SpaceMotionStep) -> record.Arrays:
        return state_arrays(step.moving) if is_left(self.case, step.time) else {}

    def fixed_arrays(self) -> record.Arrays:
        world = self._world
        gravity = np.array(world.gravity)
        up = {"up": -gravity / np.linalg.norm(gravity)} if gravity.any() else {}
        found = {**skin_fixed_arrays(world.rod, self.case), **up, **_ground_of(world)}
        ends = len(moved_lines(world, 0.0, world.rod.nodes))
        if ends:
            first = CORNERS * len(world.rod.edges)
            found["body_edges"] = np.arange(first, first + ends).reshape(-1, 2)
        return found

    def summary(self) -> record.Summary:
        step, ledger = self.last, self.last.moving.ledger
        return {
            "stop": self.case.stop,
            "nodes": len(step.x),
            "time": step.time,
            "steps": step.moving.step,
            "energy": step.energy,
            "residual": ledger.residual,
            "residual_share": ledger.share,
            "out_of_balance": ledger.left,
            "balance": ledger.balance,
            "complementarity": ledger.complementarity,
            "contact_gap": ledger.gap,
            **self.case.ends(step),
        }
