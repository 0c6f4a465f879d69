"""What is unknown of a printed mechanism, and the rows that measured nodes must obey.

Every constraint is written as a length,

    h(x) = theta_g + e,

with h zero where the nodes x are as nominal: |r_b - r_a| - l for a link; for other rows
the residual over its nominal slope, so that h is how far a node is from its plane or
line. theta_g is the deviation of the printed part, common to all poses, of the group g
that the row belongs to; rows without a constant, and nominal ones, have none. e is the
play of link or joint, new in each pose. A scanner whose scale is wrong by kappa
measures (1 + kappa) x.

`refuse_null_directions` names what scanned poses cannot tell of a mechanism.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.sparse import coo_array

from sim.core.arrays import Bools, Floats, Ints
from sim.core.options import Choice
from sim.mechanism.constraint_system import (
    ConstraintSystem,
    linearise,
    state,
    system_of,
)
from sim.mechanism.constraints import NODES, ConstraintKind
from sim.mechanism.mobility import rescaled
from sim.mechanism.structure import Structure

WITH_CONSTANT = (ConstraintKind.DIST, ConstraintKind.DOT, ConstraintKind.TRIPLE)


class Role(Choice):
    """What a row of the constraints belongs to."""

    LINK = "link"
    BODY = "body"
    JOINT = "joint"


class Free(Choice):
    """How rows of one role may deviate from the drawing."""

    OWN = "own"  # each by itself
    EQUAL = "equal"  # those of one nominal value together
    NOMINAL = "nominal"  # not at all


@dataclass(frozen=True)
class Unknowns:
    """What is estimated.

    Attributes
    ----------
    links, bodies, joints : how the constants of their rows may deviate
    link_play, joint_play : whether they change from pose to pose, by an amount whose
        standard deviation is estimated
    scatter : whether centres scatter more than stated, alike in all directions; shown
        by the rows of bodies, so only where there are some
    scale : whether the scanner's scale is unknown
    references : pairs of nodes whose distance is as nominal
    """

    links: Free = Free.OWN
    bodies: Free = Free.OWN
    joints: Free = Free.NOMINAL
    link_play: bool = True
    joint_play: bool = False
    scatter: bool = True
    scale: bool = False
    references: tuple[tuple[int, int], ...] = ()

    def of(self, role: Role) -> Free:
        """How the rows of one role may deviate."""
        free = {Role.LINK: self.links, Role.BODY: self.bodies, Role.JOINT: self.joints}
        return free[role]


@dataclass(frozen=True, eq=False)
class Model:
    """The rows of a structure in mm, and the unknowns in them.

    Attributes
    ----------
    structure : in mm
    constraint : (r,) which constraint each used row belongs to
    row : (r,) its place among the rows of the system
    role : (r,) place of its role in the order of `Role`
    group : (r,) number of the unknown deviation, -1 where there is none
    unit : (r,) slope of the residual, by which it becomes a length; 0 for links
    names : of the unknown deviations
    play : the roles whose rows have play
    scatter : whether centres scatter more than stated
    scale : whether the scanner's scale is the last unknown
    """

    structure: Structure
    constraint: Ints
    row: Ints
    role: Ints
    group: Ints
    unit: Floats
    names: tuple[str, ...]
    play: tuple[Role, ...]
    scatter: bool
    scale: bool

    @cached_property
    def system(self) -> ConstraintSystem:
        return system_of(self.structure)

    @property
    def unknowns(self) -> int:
        return len(self.names)

    @property
    def variances(self) -> int:
        """How many are estimated: of each play, and of scatter."""
        return len(self.play) + self.scatter

    @cached_property
    def lengths(self) -> Floats:
        """(u,) nominal length of each link or edge; nan for what is no length."""
        links = np.flatnonzero((self.unit == 0.0) & (self.group >= 0))
        constant = self.structure.constraints.constant[self.constraint[links]]
        lengths = np.full(self.unknowns, np.nan)
        lengths[self.group[links]] = np.sqrt(constant)
        return lengths

    @cached_property
    def touched(self) -> Bools:
        """(r, n) nodes that a row depends on."""
        table = self.structure.constraints
        found = np.zeros((len(self.row), len(self.structure.r0)), dtype=np.bool_)
        for k, c in enumerate(self.constraint):
            found[k, table.nodes[c, : NODES[table.kind[c]]]] = True
        return found

    def evaluate(self, x: Floats, kappa: float = 0.0) -> tuple[Floats, Floats]:
        """h (r,), and its slopes (r, 3n) in the measured nodes x (n, 3)."""
        n, table = len(x), self.structure.constraints
        z = state(self.structure)
        z[:n] = x / (1.0 + kappa)
        linear = linearise(self.system, z, eliminate=True)
        system = self.system
        own = system.block_node < n
        columns = 3 * system.block_node[own, None] + np.arange(3)
        rows = np.repeat(system.block_row[own], 3)
        J = coo_array(
            (linear.B[own].ravel(), (rows, columns.ravel())), shape=(system.m, 3 * n)
        ).tocsr()
        h, A = linear.c[self.row], J[self.row].toarray()
        link = self.unit == 0.0
        constant = table.constant[self.constraint[link]]
        length = np.sqrt(h[link] + constant)
        slope = np.where(link, 1.0, self.unit)
        slope[link] = 2.0 * length
        h = h / slope
        h[link] = length - np.sqrt(constant)
        return h, A / (slope[:, None] * (1.0 + kappa))

    def design(self, x: Floats, A: Floats, kappa: float) -> Floats:
        """(r, unknowns) how h changes with them at the same measured nodes, sign -."""
        G = np.zeros((len(self.row), self.unknowns))
        has = np.flatnonzero(self.group >= 0)
        G[has, self.group[has]] = 1.0
        if self.scale:
            G[:, -1] = A @ x.ravel() / (1.0 + kappa)
        return G

    def constants(self, theta: Floats) -> Floats:
        """(q,) the constants of the constraints with deviations theta, in mm."""
        constant = self.structure.constraints.constant.copy()
        for k in np.flatnonzero(self.group >= 0):
            c, deviation = self.constraint[k], theta[self.group[k]]
            if self.unit[k] == 0.0:
                constant[c] = (np.sqrt(constant[c]) + deviation) ** 2
            else:
                constant[c] += deviation * self.unit[k]
        return constant


def model_of(structure: Structure, scale_mm: float, unknowns: Unknowns) -> Model:
    """The rows of a structure, printed at `scale_mm` mm per unit of the case."""
    made = rescaled(structure, 1.0 / scale_mm)
    table = made.constraints
    constraint, row = _used_rows(table.kind, table.first_row)
    roles = list(Role)
    role = np.array([roles.index(_role(made, c)) for c in constraint], dtype=np.int64)
    unit = _units(made, constraint)
    group, names = _groups(made, constraint, role, unknowns)
    play = [Role.LINK] * unknowns.link_play + [Role.JOINT] * unknowns.joint_play
    for component in play:
        if not (role == roles.index(component)).any():
            raise ValueError(
                f"the structure has no {component.value} whose play can be estimated: "
                f"leave out {component.value}_play"
            )
    if unknowns.scale:
        if not ((unit == 0.0) & (group < 0)).any():
            raise ValueError(
                "the scale of the scanner cannot be separated from the lengths: give "
                "an independently measured length as a reference, or fix the scale"
            )
        names = [*names, "scale of the scanner"]
    if not names:
        raise ValueError("nothing is estimated: set links, bodies, joints or scale")
    scatter = unknowns.scatter and bool((role == roles.index(Role.BODY)).any())
    return Model(
        made, constraint, row, role, group, unit, tuple(names), tuple(play), scatter,
        unknowns.scale,
    )  # fmt: skip


def _used_rows(kind: Ints, first: Ints) -> tuple[Ints, Ints]:
    """Constraints and rows: a line has two without its multiplier, ground none."""
    many = np.diff(first)
    many[kind == ConstraintKind.PAR] = 2
    many[kind == ConstraintKind.FIX] = 0  # the scanner's frame is not the drawing's
    constraint = np.repeat(np.arange(len(kind)), many)
    within = np.arange(len(constraint)) - np.repeat(np.cumsum(many) - many, many)
    return constraint.astype(np.int64), (first[constraint] + within).astype(np.int64)


def _role(structure: Structure, constraint: int) -> Role:
    table = structure.constraints
    kind = table.kind[constraint]
    nodes = set(table.nodes[constraint, : NODES[kind]].tolist())
    if any(len(body) > 2 and nodes <= set(body) for body in structure.bodies):
        return Role.BODY
    return Role.LINK if kind == ConstraintKind.DIST else Role.JOINT


def _units(structure: Structure, constraint: Ints) -> Floats:
    """(r,) nominal slope of each residual in the first node it holds; 0 for links."""
    table, r = structure.constraints, structure.r0
    unit = np.ones(len(constraint))
    for k, c in enumerate(constraint):
        kind, nodes = table.kind[c], table.nodes[c]
        if kind == ConstraintKind.DIST:
            unit[k] = 0.0
        elif kind == ConstraintKind.DOT:
            unit[k] = np.linalg.norm(r[nodes[3]] - r[nodes[2]])
        elif kind == ConstraintKind.TRIPLE:
            u, v = r[nodes[3]] - r[nodes[2]], r[nodes[5]] - r[nodes[4]]
            unit[k] = np.linalg.norm(np.cross(u, v))
    return unit


def _groups(
    structure: Structure, constraint: Ints, role: Ints, unknowns: Unknowns
) -> tuple[Ints, list[str]]:
    """Number of the unknown of each row, -1 where it has none; their names."""
    table, roles = structure.constraints, list(Role)
    known = {frozenset(pair) for pair in unknowns.references}
    group = np.full(len(constraint), -1, dtype=np.int64)
    names: list[str] = []
    place: dict[tuple[object, ...], int] = {}
    for k, c in enumerate(constraint):
        free = unknowns.of(roles[role[k]])
        kind = table.kind[c]
        pair = frozenset(table.nodes[c, :2].tolist())
        reference = kind == ConstraintKind.DIST and pair in known
        known -= {pair} if reference else set()
        if free is Free.NOMINAL or kind not in WITH_CONSTANT or reference:
            continue
        key: tuple[object, ...] = (c,)
        if free is Free.EQUAL:
            size = float(np.round(table.constant[c], 6))
            key = (roles[role[k]], ConstraintKind(kind), size)
        if key not in place:
            place[key] = len(names)
            more = "" if free is Free.OWN else " and others of the same length"
            names.append(f"{roles[role[k]].value} {table.name(int(c))}{more}")
        group[k] = place[key]
    if known:
        pairs = ", ".join("-".join(map(str, sorted(pair))) for pair in known)
        raise ValueError(
            f"no link or edge has the nodes {pairs}: name the two ends of one as a "
            "reference"
        )
    return group, names


NOTHING = 1e-10  # of the scaled information in a direction without information
PLAY = 1e-6  # share of the rows' information that must be left for play
SHARE = 0.3  # of the largest part of a null direction that gets an unknown named
NAMED = 6


def refuse_null_directions(model: Model, N: Floats) -> None:
    """Refuse unknowns that the information N (u, u) leaves open, by name."""
    own = np.diag(N)
    unseen = np.flatnonzero(own <= 0.0)
    if len(unseen):
        raise ValueError(
            f"no scan shows {listed([model.names[i] for i in unseen])} with all its "
            "nodes: scan a pose in which their spheres are seen"
        )
    unit = 1.0 / np.sqrt(own)
    value, vector = np.linalg.eigh(unit[:, None] * N * unit)
    if value[0] > NOTHING:
        return
    part = np.abs(unit * vector[:, 0])
    named = np.flatnonzero(part > SHARE * part.max())
    raise ValueError(
        f"{listed([model.names[i] for i in named])} cannot be separated in these "
        "poses: scan other poses, or estimate fewer of them"
    )


def refuse_play(model: Model, F: Floats, plain: Floats) -> None:
    """Refuse variances that the deviations leave no rows for, as those of one pose do.

    Parameters
    ----------
    F, plain : (k, k) information on the variances, with and without the deviations
    """
    unit = 1.0 / np.sqrt(np.diag(plain))
    left, vector = np.linalg.eigh(unit[:, None] * F * unit)
    if left[0] > PLAY:
        return
    what = [f"{role.value} play" for role in model.play]
    what += ["scatter of the centres"] * model.scatter
    part = np.abs(vector[:, left <= PLAY]).max(axis=1)
    named = [what[k] for k in np.flatnonzero(part > SHARE * part.max())]
    raise ValueError(
        f"{' and '.join(named)} cannot be estimated: every length is measured once, or "
        "several causes act alike; scan two or more poses (four determine play to "
        "within 20 %)"
    )


def listed(names: list[str]) -> str:
    """The first names, and how many more."""
    more = len(names) - NAMED
    return ", ".join(names[:NAMED]) + (f" and {more} more" if more > 0 else "")
