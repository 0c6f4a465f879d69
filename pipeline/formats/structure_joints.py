"""Links, bodies and joints in structure files, as a person says them.

    links   [[a, b], ...] as long as the nodes are apart, or [[a, b, length], ...]
    bodies  [[node, node, ...], ...], rigid
    joints  [{hinge: {bodies: [0, 1], axis: [2, 3]}}, ...], one joint an entry
    fixed   [node, ...], held where it is, or [[node, "xz"], ...] along these axes
    planar  z: every node stays at its z

A joint is one of [dJ23], Fig. 4 and 6. Where it names `bodies`, its nodes become part
of them: those of its first side of the first, those of its `other` side of the second,
and a node without another side of both.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, WithJsonSchema

from pipeline.config.models import Entry, OneOf, Positive, Rows, numbers
from sim.morph.library.draft import Draft

Two = Annotated[tuple[int, int], numbers(2)]
Three = Annotated[tuple[int, int, int], numbers(3)]
Linked = Annotated[tuple[int, int, Positive | None], numbers(3, 2)]


class HingeEntry(Entry):
    """Fig. 4m: turns about an axis."""

    axis: Two
    other: Two | None = None
    bodies: Two | None = None


class SphericalEntry(Entry):
    """Fig. 4k: turns about a node."""

    at: int
    other: int | None = None
    bodies: Two | None = None


class UniversalEntry(Entry):
    """Fig. 4l: two axes meet at their first nodes and keep their angle."""

    axis: Two
    other: Two
    bodies: Two | None = None


class CylindricalEntry(Entry):
    """Fig. 4j: slides along an axis and turns about it."""

    axis: Two
    other: Two
    bodies: Two | None = None


class PrismaticEntry(Entry):
    """Fig. 4g: slides along the first two nodes of the guide."""

    guide: Three
    slider: Three
    bodies: Two | None = None


class PlanePointEntry(Entry):
    """Fig. 4e: a node stays at its height over a plane."""

    plane: Three
    point: int


class LinePointEntry(Entry):
    """Fig. 4f: a node stays on a line."""

    line: Two
    point: int


class ParallelLineEntry(Entry):
    """Fig. 4h: a line keeps its slope against a plane."""

    plane: Three
    line: Two


class TwoPlanesEntry(Entry):
    """Fig. 4i: two planes."""

    plane: Three
    other: Three
    bodies: Two | None = None


class FixedEntry(Entry):
    """Two bodies become one: `bodies`, or two planes that begin at one place."""

    plane: Three | None = None
    other: Three | None = None
    bodies: Two | None = None


class LimitedEntry(Entry):
    """Two nodes between two distances, by one node more: [dJ23], Discussion."""

    nodes: Two
    least: float
    most: float


class JointEntry(OneOf):
    """One joint: its kind, and what it joins."""

    remedy = "give one kind of joint an entry"

    hinge: HingeEntry | None = None
    spherical: SphericalEntry | None = None
    universal: UniversalEntry | None = None
    cylindrical: CylindricalEntry | None = None
    prismatic: PrismaticEntry | None = None
    plane_point: PlanePointEntry | None = None
    line_point: LinePointEntry | None = None
    parallel_plane_line: ParallelLineEntry | None = None
    parallel_planes: TwoPlanesEntry | None = None
    planar: TwoPlanesEntry | None = None
    fixed: FixedEntry | None = None
    limited: LimitedEntry | None = None


def _held(value: Any) -> Any:
    """A node, or a node and its axes."""
    if type(value) is int:
        return value, "xyz"
    if isinstance(value, list | tuple) and len(value) == 2:
        axes = value[1]
        if isinstance(axes, str) and axes and set(axes) <= set("xyz"):
            return tuple(value)
    raise ValueError(f"is {value!r}: give a node, or [node, axes] such as [0, xy]")


Held = Annotated[
    tuple[int, str],
    BeforeValidator(_held),
    WithJsonSchema({"anyOf": [{"type": "integer"}, {"type": "array", "maxItems": 2}]}),
]


class StructureParts(Entry):
    """The part of a structure file that says links, bodies, joints and supports."""

    links: Rows[Linked]
    joints: Rows[JointEntry]
    fixed: Rows[Held]
    planar: Annotated[Literal["x", "y", "z"] | None, Field(default=None)]

    @property
    def is_said(self) -> bool:
        """Whether any of them is there."""
        return bool(self.links or self.joints or self.fixed or self.planar)


def drawn_up(
    content: StructureParts,
    nodes: list[tuple[float, float, float]],
    bodies: list[list[int]],
) -> Draft:
    """The draft of what a file says; whatever is wrong is told with its place."""
    draft = Draft(nodes)
    for i, (node, axes) in enumerate(content.fixed):
        with _said_at(f"fixed[{i}]"):
            draft.held(node, axes)
    if content.planar is not None:
        for node in range(len(nodes)):
            if not any(node == n and content.planar in a for n, a in content.fixed):
                draft.held(node, content.planar)
    for i, link in enumerate(content.links):
        with _said_at(f"links[{i}]"):
            draft.link(*link)
    for i, body in enumerate(bodies):
        with _said_at(f"bodies[{i}]"):
            draft.body(*body)
    for i, joint in enumerate(content.joints):
        (kind,) = joint.named
        with _said_at(f"joints[{i}].{kind}"):
            getattr(draft, kind)(**dict(getattr(joint, kind)))
    return draft


@contextmanager
def _said_at(place: str) -> Iterator[None]:
    """What is wrong, with its place in the file."""
    try:
        yield
    except ValueError as error:
        raise ValueError(f"{place}: {error}") from None
