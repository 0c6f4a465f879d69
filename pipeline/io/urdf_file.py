"""Robots in URDF as entries of a structure file, in m.

    links       one rigid body each; those that a fixed joint joins are one body
    revolute    hinge, its limits the range of an angle
    continuous  hinge without limits
    prismatic   prismatic, its limits the range of a distance
    root        held

The robot stands with every joint at zero, or a hundredth of its range within its limits
where zero is not. Of each joint that moves both bodies have nodes: two on the axis, at
its origin and one step on, that a hinge has in common, and one aside. A step is a
tenth of the way from joint to joint to joint, all together. Where a fixed joint ends is
a node too, such as the tip of a tool. Inertias, meshes and what else says nothing of
motions are not looked at.

Frames follow http://wiki.ros.org/urdf/XML/joint: `rpy` turns about fixed x, y, z.
"""

from typing import Any, NamedTuple
from xml.etree import ElementTree

import numpy as np
from scipy.spatial.transform import Rotation

from sim.core.arrays import Floats

WITHIN = 0.01  # of a joint's range, the least distance of the start from its limits
TURNING = ("revolute", "continuous")


class UrdfJoint(NamedTuple):
    """A joint as the file says it; limits in rad or m."""

    name: str
    kind: str
    parent: str
    child: str
    place: Floats  # (3,) of the child's frame in the parent's
    turned: Rotation
    axis: Floats  # (3,) in the child's frame
    least: float
    most: float

    @property
    def start(self) -> float:
        """The value of the joint at the start."""
        if not np.isfinite(self.least):
            return 0.0
        inside = WITHIN * (self.most - self.least)
        return float(np.clip(0.0, self.least + inside, self.most - inside))


def robot_joints(text: str) -> list[UrdfJoint]:
    """The joints of a URDF file, each after that of its parent.

    Raises
    ------
    ValueError
        where the file is no URDF, its links make no tree, or a joint is one that
        structure files cannot say: floating, planar, mimic
    """
    robot = _robot(text)
    joints = [_joint(element) for element in robot.findall("joint")]
    links = [_named(element, "link") for element in robot.findall("link")]
    for what, names in (("link", links), ("joint", [one.name for one in joints])):
        for name in names:
            if names.count(name) > 1:
                raise ValueError(f"{what} {name!r} appears twice: give each name once")
    ordered = _from_the_root(links, joints)
    if all(joint.kind == "fixed" for joint in ordered):
        raise ValueError("all joints of the robot are fixed: give one that moves")
    return ordered


def _robot(text: str) -> ElementTree.Element:
    if "<!ENTITY" in text:
        raise ValueError("the URDF file defines entities: replace them by their text")
    try:
        robot = ElementTree.fromstring(text)
    except ElementTree.ParseError as error:
        raise ValueError(f"the file is not URDF: {error}") from None
    if "ros.org/wiki/xacro" in text or "${" in text:
        raise ValueError("the file is xacro: expand it, as `xacro FILE > robot.urdf`")
    if robot.tag != "robot":
        raise ValueError(
            f"the file begins with <{robot.tag}>: a URDF file begins with <robot>"
        )
    return robot


def _named(element: ElementTree.Element, what: str) -> str:
    name = element.get("name")
    if not name:
        raise ValueError(f"a {what} of the URDF file has no name: give it one")
    return name


def _joint(element: ElementTree.Element) -> UrdfJoint:
    name = _named(element, "joint")
    kind = element.get("type", "")
    if kind not in (*TURNING, "prismatic", "fixed"):
        raise ValueError(
            f"joint {name!r} is of type {kind or 'none'}: give revolute, continuous, "
            "prismatic or fixed, or write a structure file"
        )
    if element.find("mimic") is not None:
        raise ValueError(
            f"joint {name!r} mimics another: remove `mimic`, or join both by links in "
            "a structure file"
        )
    sides = []
    for side in ("parent", "child"):
        found = element.find(side)
        link = None if found is None else found.get("link")
        if link is None:
            raise ValueError(f"joint {name!r} has no {side}: name its link")
        sides.append(link)
    axis = _three(name, element.find("axis"), "xyz", (1.0, 0.0, 0.0))
    if not axis.any():
        raise ValueError(f"joint {name!r} has the axis 0 0 0: give it a direction")
    return UrdfJoint(
        name, kind, sides[0], sides[1],
        _three(name, element.find("origin"), "xyz"),
        Rotation.from_euler("xyz", _three(name, element.find("origin"), "rpy")),
        axis / np.linalg.norm(axis), *_limits(name, kind, element.find("limit")),
    )  # fmt: skip


def _three(
    joint: str,
    element: ElementTree.Element | None,
    key: str,
    default: tuple[float, float, float] = (0.0, 0.0, 0.0),
) -> Floats:
    """(3,) numbers of an attribute."""
    text = None if element is None else element.get(key)
    if text is None:
        return np.array(default)
    try:
        found = np.array([float(word) for word in text.split()])
    except ValueError:
        found = np.empty(0)
    if found.shape != (3,) or not np.isfinite(found).all():
        raise ValueError(f"joint {joint!r} has {key}={text!r}: give three numbers")
    return found


def _limits(
    joint: str, kind: str, element: ElementTree.Element | None
) -> tuple[float, float]:
    """Least and most, infinite where the joint has none."""
    if kind not in ("revolute", "prismatic"):
        return -np.inf, np.inf
    try:
        least, most = (
            0.0 if element is None else float(element.get(key, "0"))
            for key in ("lower", "upper")
        )
    except ValueError:
        least = most = np.nan
    if not least < most or np.isinf([least, most]).any():
        free = ", or make it continuous" if kind == "revolute" else ""
        raise ValueError(
            f"joint {joint!r} is {kind} with limits {least:g} to {most:g}: give lower "
            f"below upper{free}"
        )
    if kind == "revolute" and most - least >= 2.0 * np.pi:
        return -np.inf, np.inf
    return least, most


def _from_the_root(links: list[str], joints: list[UrdfJoint]) -> list[UrdfJoint]:
    """The joints, each after that of its parent."""
    above: dict[str, UrdfJoint] = {}
    for joint in joints:
        for link in (joint.parent, joint.child):
            if link not in links:
                raise ValueError(
                    f"joint {joint.name!r} names link {link!r}, which does not exist"
                )
        if joint.child in above:
            raise ValueError(
                f"link {joint.child!r} has two parent joints, "
                f"{above[joint.child].name!r} and {joint.name!r}: a URDF file is a "
                "tree; close loops in a structure file"
            )
        above[joint.child] = joint
    roots = [link for link in links if link not in above]
    if len(roots) != 1:
        raise ValueError(
            f"the robot has several or no root links ({', '.join(roots) or 'none'}): "
            "connect its links into one tree"
        )
    ordered: list[UrdfJoint] = []
    reached = roots
    while reached:
        found = [joint for joint in joints if joint.parent in reached]
        ordered += found
        reached = [joint.child for joint in found]
    if len(ordered) < len(joints):
        raise ValueError("links of the robot form a closed loop: make them a tree")
    return ordered


STEP = 0.1  # of the way from joint to joint: how far the nodes of a joint are apart
ALONE = 0.1  # m, that way where all joints are at one place


class UrdfFrame(NamedTuple):
    """Where a link's frame is in that of the root."""

    place: Floats
    turned: Rotation


def urdf_entries(text: str) -> dict[str, Any]:
    """The entries of a structure file that moves as the robot of a URDF file does."""
    return _RobotBuilder(robot_joints(text)).entries()


class _RobotBuilder:
    """Adds the joints of a robot, in the order from its root."""

    def __init__(self, joints: list[UrdfJoint]) -> None:
        way = sum(float(np.linalg.norm(joint.place)) for joint in joints)
        self.joints = joints
        self.step = STEP * (way or ALONE)  # how far nodes of a joint are apart, m
        self.nodes: list[Floats] = []
        self.bodies: list[list[int]] = [[]]
        self.found: list[dict[str, Any]] = []
        self.ranges: dict[str, list[list[float | None]]] = {"angle": [], "length": []}

    def entries(self) -> dict[str, Any]:
        root = self.joints[0].parent
        frames = {root: UrdfFrame(np.zeros(3), Rotation.identity())}
        body = {root: 0}
        for joint in self.joints:
            at = frames[joint.parent]
            place = at.place + at.turned.apply(joint.place)
            frame = UrdfFrame(place, at.turned * joint.turned)
            body[joint.child] = body[joint.parent]
            if joint.kind != "fixed":
                body[joint.child] = len(self.bodies)
                self.bodies.append([])
                sides = body[joint.parent], body[joint.child]
                frame = self._moving(joint, frame, sides)
            frames[joint.child] = frame
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
            "ranges": self.ranges,
        }

    def _named(self, body: dict[str, int]) -> str:
        """The links of each body, and the joint of each entry."""
        links = [
            [k for k, i in body.items() if i == b] for b in range(len(self.bodies))
        ]
        moving = [joint.name for joint in self.joints if joint.kind != "fixed"]
        linked = "; ".join(" and ".join(own) for own in links)
        return f"bodies: {linked}. joints: {'; '.join(moving)}."

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
        """The nodes of a joint that moves; where the child's frame is then.

        The angle of a hinge is counted from the middle of its range, the distance of a
        slide from a step below its least.
        """
        place, axis = frame.place, frame.turned.apply(joint.axis)
        along = self.step * axis
        aside = np.cross(axis, np.eye(3)[np.argmin(np.abs(axis))])
        aside *= self.step / np.linalg.norm(aside)
        if joint.kind in TURNING:
            limited = np.isfinite(joint.least)
            middle = 0.5 * (joint.least + joint.most) if limited else 0.0
            turn = Rotation.from_rotvec((joint.start - middle) * along / self.step)
            p, q = self._node(place, *sides), self._node(place + along, *sides)
            u = self._node(place + aside, sides[0])
            v = self._node(place + 0.5 * turn.apply(aside), sides[1])
            self.found.append({"hinge": {"bodies": list(sides), "axis": [p, q]}})
            if limited:
                half = float(np.degrees(0.5 * (joint.most - joint.least)))
                self.ranges["angle"].append([p, u, p, v, None, half])
            turn = Rotation.from_rotvec(joint.start * axis)
            return UrdfFrame(place, turn * frame.turned)
        least = place + joint.least * along / self.step - along
        here = place + joint.start * along / self.step
        guide, slider = (
            [self._node(at + shift, side) for shift in (0.0 * along, along, aside)]
            for at, side in zip((least, here), sides, strict=True)
        )
        kind = {"bodies": list(sides), "guide": guide, "slider": slider}
        self.found.append({"prismatic": kind})
        stroke = joint.most - joint.least
        ends = [self.step, self.step + stroke]
        self.ranges["length"].append([guide[0], slider[0], *ends])
        return UrdfFrame(place + joint.start * axis, frame.turned)
