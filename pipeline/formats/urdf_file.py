"""Robots in URDF as entries of a structure file, in m.

    links       one rigid body each; those that a fixed joint joins are one body
    revolute    hinge, its limits the range of an angle
    continuous  hinge without limits
    prismatic   prismatic, its limits the range of a distance
    root        held

The robot stands with every joint at zero, or a hundredth of its range within its limits
where zero is not. Of each joint that moves both bodies have nodes: two on the axis, at
its origin and one step on, that a hinge has in common, and one beside it. A step is a
tenth of the way from joint to joint to joint, all together. Where a fixed joint ends is
a node too, such as the tip of a tool. Inertias, meshes and what else says nothing of
motions are not looked at.
"""

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from scipy.spatial.transform import Rotation

from pipeline.formats.urdf_joints import TURNING, UrdfJoint, robot_joints
from sim.arrays import Floats

STEP = 0.1  # of the way from joint to joint: how far the nodes of a joint are apart
ALONE = 0.1  # m, that way where all joints are at one place


class UrdfFrame(NamedTuple):
    """Where a link's frame is in that of the root."""

    place: Floats
    turned: Rotation


def urdf_entries(text: str) -> dict[str, Any]:
    """The entries of a structure file that moves as the robot of a URDF file does."""
    return _Drawn(robot_joints(text)).entries()


@dataclass(eq=False)
class _Drawn:
    """Draws a robot's joints, in the order from its root."""

    joints: list[UrdfJoint]
    nodes: list[Floats] = field(default_factory=list)
    bodies: list[list[int]] = field(default_factory=list)
    found: list[dict[str, Any]] = field(default_factory=list)
    angle: list[list[float | None]] = field(default_factory=list)
    length: list[list[float]] = field(default_factory=list)

    def entries(self) -> dict[str, Any]:
        root = self.joints[0].parent
        frames = {root: UrdfFrame(np.zeros(3), Rotation.identity())}
        body = {root: self._new_body()}
        self._measure()
        for joint in self.joints:
            at = frames[joint.parent]
            place = at.place + at.turned.apply(joint.place)
            turned = at.turned * joint.turned
            if joint.kind == "fixed":
                body[joint.child] = body[joint.parent]
                frames[joint.child] = UrdfFrame(place, turned)
                continue
            body[joint.child] = self._new_body()
            sides = body[joint.parent], body[joint.child]
            moved = self._moving(joint, UrdfFrame(place, turned), sides)
            frames[joint.child] = moved
        for joint in self.joints:
            if joint.kind == "fixed":
                self._tip(frames[joint.child].place, self.bodies[body[joint.child]])
        return {
            "description": self._named(body),
            "unit": "m",
            "nodes": [node.tolist() for node in self.nodes],
            "bodies": self.bodies,
            "joints": self.found,
            "fixed": self.bodies[0][:3],
            "ranges": {"angle": self.angle, "length": self.length},
        }

    def _named(self, body: dict[str, int]) -> str:
        """The links of each body, and the joint of each entry."""
        links = [
            [k for k, i in body.items() if i == b] for b in range(len(self.bodies))
        ]
        moving = [joint.name for joint in self.joints if joint.kind != "fixed"]
        said = "; ".join(" and ".join(own) for own in links)
        return f"bodies: {said}. joints: {'; '.join(moving)}."

    def _measure(self) -> None:
        """How far nodes of a joint are apart, m."""
        way = sum(float(np.linalg.norm(joint.place)) for joint in self.joints)
        self.step = STEP * (way or ALONE)

    def _new_body(self) -> int:
        self.bodies.append([])
        return len(self.bodies) - 1

    def _node(self, place: Floats, *bodies: int) -> int:
        self.nodes.append(place)
        for body in bodies:
            self.bodies[body].append(len(self.nodes) - 1)
        return len(self.nodes) - 1

    def _tip(self, place: Floats, body: list[int]) -> None:
        """A node where a fixed link begins, unless its body has one there."""
        apart = [float(np.linalg.norm(self.nodes[node] - place)) for node in body]
        if body and min(apart) > 1e-6 * self.step:
            body.append(len(self.nodes))
            self.nodes.append(place)

    def _moving(
        self, joint: UrdfJoint, frame: UrdfFrame, sides: tuple[int, int]
    ) -> UrdfFrame:
        """The nodes of a joint that moves; where the child's frame is then."""
        along = frame.turned.apply(joint.axis)
        beside = np.cross(along, np.eye(3)[np.argmin(np.abs(along))])
        beside *= self.step / np.linalg.norm(beside)
        draw = self._turning if joint.kind in TURNING else self._sliding
        draw(joint, frame.place, self.step * along, beside, sides)
        if joint.kind in TURNING:
            turn = Rotation.from_rotvec(joint.start * along)
            return UrdfFrame(frame.place, turn * frame.turned)
        return UrdfFrame(frame.place + joint.start * along, frame.turned)

    def _turning(
        self,
        joint: UrdfJoint,
        place: Floats,
        along: Floats,
        beside: Floats,
        sides: tuple[int, int],
    ) -> None:
        """A hinge; its angle is counted from the middle of its range."""
        limited = np.isfinite(joint.least)
        middle = 0.5 * (joint.least + joint.most) if limited else 0.0
        turn = Rotation.from_rotvec((joint.start - middle) * along / self.step)
        p, q = self._node(place, *sides), self._node(place + along, *sides)
        u = self._node(place + beside, sides[0])
        v = self._node(place + 0.5 * turn.apply(beside), sides[1])
        self.found.append({"hinge": {"bodies": list(sides), "axis": [p, q]}})
        if limited:
            half = float(np.degrees(0.5 * (joint.most - joint.least)))
            self.angle.append([p, u, p, v, None, half])

    def _sliding(
        self,
        joint: UrdfJoint,
        place: Floats,
        along: Floats,
        beside: Floats,
        sides: tuple[int, int],
    ) -> None:
        """A slide; its distance is counted from a step below its least."""
        least = place + joint.least * along / self.step - along
        here = place + joint.start * along / self.step
        guide, slider = (
            [self._node(at + shift, side) for shift in (0.0 * along, along, beside)]
            for at, side in zip((least, here), sides, strict=True)
        )
        self.found.append(
            {"prismatic": {"bodies": list(sides), "guide": guide, "slider": slider}}
        )
        stroke = joint.most - joint.least
        self.length.append([guide[0], slider[0], self.step, self.step + stroke])
