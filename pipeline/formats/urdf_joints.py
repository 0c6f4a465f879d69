"""The joints of a robot in URDF, from its root on.

Frames follow http://wiki.ros.org/urdf/XML/joint: `rpy` turns about fixed x, y, z.
"""

from typing import NamedTuple
from xml.etree import ElementTree

import numpy as np
from scipy.spatial.transform import Rotation

from sim.arrays import Floats

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
        """The value at which the robot is drawn."""
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
    _check_names("link", links)
    _check_names("joint", [joint.name for joint in joints])
    ordered = _from_the_root(links, joints)
    if all(joint.kind == "fixed" for joint in ordered):
        raise ValueError("no joint of the robot moves: name one that does")
    return ordered


def _robot(text: str) -> ElementTree.Element:
    if "<!ENTITY" in text:
        raise ValueError("the URDF file defines entities: write them out")
    try:
        robot = ElementTree.fromstring(text)
    except ElementTree.ParseError as error:
        raise ValueError(f"the file is not URDF: {error}") from None
    if "ros.org/wiki/xacro" in text or "${" in text:
        raise ValueError("the file is xacro: expand it, as `xacro FILE > robot.urdf`")
    if robot.tag != "robot":
        raise ValueError(
            f"the file holds <{robot.tag}>: a URDF file begins with <robot>"
        )
    return robot


def _named(element: ElementTree.Element, what: str) -> str:
    name = element.get("name")
    if not name:
        raise ValueError(f"a {what} of the URDF file has no name: give it one")
    return name


def _check_names(what: str, names: list[str]) -> None:
    for name in names:
        if names.count(name) > 1:
            raise ValueError(f"{what} {name!r} is there twice: name each once")


def _joint(element: ElementTree.Element) -> UrdfJoint:
    name = _named(element, "joint")
    kind = element.get("type", "")
    if kind not in (*TURNING, "prismatic", "fixed"):
        raise ValueError(
            f"joint {name!r} is of type {kind or 'none'}: revolute, continuous, "
            "prismatic and fixed are read; write another in a structure file"
        )
    if element.find("mimic") is not None:
        raise ValueError(
            f"joint {name!r} mimics another, which no joint here does: leave `mimic` "
            "out, or tie both by links in a structure file"
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
                    f"joint {joint.name!r} names the link {link!r}, which is not there"
                )
        if joint.child in above:
            raise ValueError(
                f"link {joint.child!r} hangs on two joints, "
                f"{above[joint.child].name!r} and {joint.name!r}: a URDF file is a "
                "tree; close loops in a structure file"
            )
        above[joint.child] = joint
    roots = [link for link in links if link not in above]
    if len(roots) != 1:
        raise ValueError(
            f"the robot has the roots {', '.join(roots) or 'none'}: join its links to "
            "one tree"
        )
    ordered: list[UrdfJoint] = []
    reached = roots
    while reached:
        found = [joint for joint in joints if joint.parent in reached]
        ordered += found
        reached = [joint.child for joint in found]
    if len(ordered) < len(joints):
        raise ValueError("links of the robot hang on each other in a ring: make a tree")
    return ordered
