"""What is done to a sheet: fold it, turn its creases, load it, follow its path.

Each phase checks its numbers when it is made. `missing_folds` says how far creases are
from what is asked of them. `parse_sequence` and `verdict` serve folding sequences of a
pattern with several creases: [ZF19], Sect. 5c.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import Enum

import numpy as np

from sim.core.arrays import Floats, Ints
from sim.core.options import Checked, Count, Positive, is_finite
from sim.origami.model.mesh import BarHingeMesh

Rows = Sequence[Sequence[float]]


@dataclass(frozen=True, kw_only=True)
class PhaseOptions(Checked):
    """What is done to a sheet in equal increments.

    Parameters
    ----------
    increments : of the whole phase, or of each of its stages
    tolerance : on the unbalanced force, N
    contact : whether contact acts in this phase
    supports : rows (node, x, y, z), 1 where it is held; the case's where not given
    elastic : rows (node, x, y, z) of spring stiffness, N/m
    """

    increments: Count = 20
    tolerance: Positive = 1e-6
    contact: bool = True
    supports: Rows | None = None
    elastic: Rows = ()


@dataclass(frozen=True)
class Moments(PhaseOptions):
    """Moments on creases grow in equal increments, and leave with the phase.

    Parameters
    ----------
    creases : numbers of edges
    moments : N m of each at the end, positive where it raises the panels
    """

    creases: Sequence[int]
    moments: Sequence[float]

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.creases:
            raise ValueError("moments without creases: list the loaded creases")
        if len(self.moments) != len(self.creases):
            raise ValueError(
                f"moments must have one value per crease: {len(self.creases)}, not "
                f"{len(self.moments)}"
            )
        for crease, moment in zip(self.creases, self.moments, strict=True):
            if not is_finite(moment):
                raise ValueError(
                    f"the moment of crease {crease} must be finite, not {moment}"
                )
            if list(self.creases).count(crease) > 1:
                raise ValueError(f"crease {crease} is listed twice: sum its moments")

    def targets(self, mesh: BarHingeMesh) -> Floats:
        """(e,) moment on each edge, N m, zero where none is given."""
        out = np.zeros(len(mesh.pattern.edges))
        out[creases_among(mesh, self.creases)] = self.moments
        return out


def creases_among(mesh: BarHingeMesh, edges: Sequence[int]) -> list[int]:
    """The edges, all of which must be creases."""
    for edge in edges:
        if edge not in mesh.pattern.creases:
            creases = mesh.pattern.creases.tolist()
            raise ValueError(f"edge {edge} is not a crease: creases are {creases}")
    return list(edges)


@dataclass(frozen=True)
class Fold(PhaseOptions):
    """Self-folding: the rest angles of creases change, stage after stage.

    Parameters
    ----------
    creases : numbers of the edges that fold; all creases with an assigned angle where
        nothing is given
    angles : rest angle of each at its end, in units of pi; 1 is flat, above it the
        panels rise towards their normals
    fraction : part of the pattern's assigned angles, where `angles` is not given
    stages : the stage in which each crease folds, 1 or more; all in the first where
        nothing is given
    speeds : how fast each folds; one with speed v is done after 1 / v of its stage
    start : fold of each at rest before it folds, degrees; zero where nothing is given
    together : rest angles follow the folds that rigid panels have on the way, so that
        creases arrive together; where rigid panels cannot reach what is asked they end
        at the nearest folds. The sheet must be flat at the beginning, in one stage
    """

    creases: Sequence[int] = ()
    angles: Sequence[float] = ()
    fraction: float = 1.0
    stages: Sequence[int] = ()
    speeds: Sequence[float] = ()
    start: Sequence[float] = ()
    together: bool = False
    increments: Count = field(default=40, kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        if isinstance(self.fraction, bool | str) or not 0 <= self.fraction <= 1:
            raise ValueError(
                f"fraction must lie between 0 and 1, not {self.fraction}: it is a part "
                "of the assigned folds; to fold the other way, swap M and V"
            )
        for name in ("angles", "stages", "speeds", "start"):
            given = getattr(self, name)
            if len(given) not in (0, len(self.creases)):
                raise ValueError(
                    f"fold.{name} must have one value per crease: "
                    f"{len(self.creases)}, not {len(given)}"
                )
        if self.creases and not self.angles:
            raise ValueError("fold names creases without angles: give one for each")
        for crease, angle in zip(self.creases, self.angles, strict=False):
            if not 0 <= angle <= 2:
                raise ValueError(
                    f"rest angle {angle} of crease {crease} must be 0 to 2 (times pi)"
                )
        if any(not speed > 0 for speed in self.speeds):
            raise ValueError(f"speeds must be positive, not {list(self.speeds)}")
        check_sequence(self.stages)
        if self.together and (self.speeds or len(set(self.stages)) > 1):
            raise ValueError(
                "fold has `together` and several stages or speeds, which exclude each "
                "other: remove one"
            )

    def targets(self, mesh: BarHingeMesh) -> Floats:
        """(e,) rest angle of each edge at its end, rad; nan where it does not fold."""
        edges = len(mesh.pattern.edges)
        out = np.full(edges, np.nan)
        if not self.creases:
            assigned = np.asarray(mesh.pattern.assignment, dtype=np.float64)
            if not len(assigned):
                raise ValueError(
                    "the fold names no creases and the pattern assigns none: add "
                    "`creases`, or mountains and valleys"
                )
            folds = mesh.pattern.creases
            out[folds] = np.pi * (1 + self.fraction * assigned[folds])
            return out
        out[creases_among(mesh, self.creases)] = np.pi * np.array(self.angles)
        return out

    def stage_of(self, mesh: BarHingeMesh) -> Ints:
        """(e,) stage of each edge, 0 where it does not fold."""
        out = np.zeros(len(mesh.pattern.edges), dtype=np.int64)
        folds = np.isfinite(self.targets(mesh))
        out[folds] = 1
        out[list(self.creases)] = self.stages or 1
        return out

    def on_edges(
        self, mesh: BarHingeMesh, values: Sequence[float], other: float
    ) -> Floats:
        """(e,) values of its creases, if it gives any, and another on other edges."""
        out = np.full(len(mesh.pattern.edges), other)
        out[list(self.creases)] = values or other
        return out


def check_sequence(stages: Sequence[int]) -> None:
    """Refuse a folding sequence with a gap."""
    if not stages:
        return
    missing = set(range(1, max(stages) + 1)) - set(stages)
    if min(stages) < 1 or missing:
        shown = "-".join(str(s) for s in stages)
        what = f"lacks stage {min(missing)}" if missing else "has a stage below 1"
        raise ValueError(f"sequence {shown} {what}: number the stages 1, 2, 3, ...")


@dataclass(frozen=True)
class Load(PhaseOptions):
    """Forces that grow in equal increments.

    Parameters
    ----------
    nodes : that carry the force
    force : (3,) N on each of them, an increment
    move_tolerance : on the last move, m; what the paper's rules look at
    watch, axis : the node and the coordinate (0, 1, 2) whose displacement is recorded
    """

    nodes: Sequence[int]
    force: Sequence[float]
    increments: Count = field(default=50, kw_only=True)
    move_tolerance: Positive = 1e-8
    watch: int = -1
    axis: int = 2

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.nodes:
            raise ValueError("load has no nodes: name those that carry the force")
        if len(self.force) != 3:
            raise ValueError(f"load has force {list(self.force)}: give x, y and z")
        if self.axis not in (0, 1, 2):
            raise ValueError(f"load watches axis {self.axis}: it must be 0, 1 or 2")


@dataclass(frozen=True)
class Displace(Load):
    """One coordinate is moved in equal increments; the load that does it is found.

    Parameters
    ----------
    nodes, force : the pattern of the load, whose factor is found
    distance : of coordinate `axis` of node `watch` an increment, m
    """

    distance: float = 1e-4

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.watch < 0:
            raise ValueError("displace watches no node: name the one that is moved")
        if not abs(self.distance) > 0:
            raise ValueError("displace has distance 0: give the distance per increment")


@dataclass(frozen=True)
class Path(Load):
    """Load and displacement follow the equilibrium path, past limit points.

    Modified generalised displacement control: the first step of an increment has

        dlam = +- first_factor sqrt(|u_1 . u_1| / |u_i . u_i|),

    u_i being the displacement that `force` makes on the tangent; its sign turns where
    u_(i-1) . u_i < 0.

    Parameters
    ----------
    first_factor : load factor of the first increment
    """

    first_factor: Positive = 1.0


Phase = Fold | Load | Moments


def parse_sequence(text: str) -> tuple[int, ...]:
    """The stages in "1-2-2-3"."""
    words = str(text).split("-")
    if not all(word.isdecimal() for word in words):
        raise ValueError(
            f"sequence {text!r} is not stages joined by hyphens, such as 1-2-2-3"
        )
    stages = tuple(int(word) for word in words)
    check_sequence(stages)
    return stages


class SequenceVerdict(Enum):
    """How the corner of a box ends."""

    LOCK = "lock"
    NO = "no"
    JAMMED = "jammed"
    UNDECIDED = "undecided"  # of several draws


def verdict(
    mesh: BarHingeMesh, x: Floats, *, wall: int, first: int, second: int, reach: float
) -> SequenceVerdict:
    """Whether a wall panel ended between two others, which holds it in place.

    Parameters
    ----------
    x : (n, 3) m
    wall, first, second : numbers of panels
    reach : the two others count where their centres are within this distance of the
        wall's plane, m; elsewhere the folding was stopped on its way
    """
    corner = x[mesh.corner[mesh.corner_panel == wall]]
    middle = corner.mean(axis=0)
    normal = np.linalg.svd(corner - middle)[2][2]
    heights = [float((x[mesh.centre[p]] - middle) @ normal) for p in (first, second)]
    if max(abs(h) for h in heights) > reach:
        return SequenceVerdict.JAMMED
    return SequenceVerdict.LOCK if heights[0] * heights[1] < 0 else SequenceVerdict.NO


def missing_folds(asked: Floats, reached: Floats) -> Floats:
    """(c,) how far each crease is from what is asked, rad; zero where nothing is."""
    return np.asarray(np.nan_to_num(asked - reached))


def over_folds(asked: Floats, reached: Floats) -> Floats:
    """(c,) how far each crease is beyond what is asked; negative where it is short.

    What is to stay flat is beyond it on either side. In the unit of both arguments.
    """
    side = np.where(np.nan_to_num(asked) == 0.0, np.sign(reached), np.sign(asked))
    return np.asarray(-side * missing_folds(asked, reached))


def over_and_short(over: Floats, unit: str) -> str:
    """The largest of `over_folds` in degrees either way, in words."""
    most = {"over": over.max(initial=0.0), "short": (-over).max(initial=0.0)}
    parts = [f"{far:.0f}{unit} {way}" for way, far in most.items() if far > 0.0]
    return f"at most {', '.join(parts)}"
