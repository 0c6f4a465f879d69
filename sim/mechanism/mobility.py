"""Mobility: rank, redundancy and motions; [dJ23], Methods, Mobility, eqs. (7) to (10).

The rank is that of J itself, by reflections, not of J J^T, in which a singular value
of 1e-6 would be lost (`sim.linalg.rank`).

Bodies in one plane that distances alone hold have a motion too many to first order. A
motion z + h v + h^2 a / 2 + ... satisfies c = 0 to second order if

    J v = 0,    J a + H(v, v) = 0,    H(v, v)_i = v . Hess c_i v,

and the second has a solution a just where w . H(v, v) = 0 for every w of the cokernel,
w J = 0. Where J has lost rank, these quadratic forms choose among its first-order
motions; elsewhere there are none, or they vanish with the row that is redundant.
Rigid motions that the constraints allow are left out. Lengths count in L of the
configuration, so that what is zero is so in every unit.

Constraints may nearly depend on each other, and then forces hang on it. Two links in a
line hold the node between them to first order not at all. Within a residual eps of the
rows it moves aside by sqrt(eps), where the Jacobian has full rank and a singular value
sigma of that size; a force across is then carried by tensions of 1/sigma, and they hang
on where in the residual the node is: with rows of unit length and lengths in L a
configuration is known to eps / sigma along the weak motion, sigma itself to as much,
and a force to the share eps / sigma^2 of its part along the weak combination w of rows,
|w J| = sigma (Golub and Van Loan, Matrix Computations, 2013, sect. 2.4: singular values
move no farther than the matrix).

The weak combinations are found by inverse iteration of a few vectors with the factor of
J J^T, at the price of some solutions. Rows that the factor drops depend on others
wholly, and are redundant; they are left out here.

A multiplier lambda is a pure number, and lengths are not: how much a change of one
counts against a change of the other depends on the unit. In metres a part of a few
millimetres would seem at rest as soon as lambda is, and rows would seem to depend on
others. Where there are multipliers, Newton steps and ranks are therefore taken in a
unit close to L of eq. (13) of [dJ23]: a power of two, so that scaling to and fro rounds
nothing.
"""

from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np

from sim.core.arrays import Bools, Floats, Ints
from sim.core.options import NotConvergedError
from sim.linalg.rank import SparseRows, column_pivots
from sim.mechanism.constraint_projection import admissible, satisfy_constraints
from sim.mechanism.constraint_system import (
    ConstraintSystem,
    LinearConstraints,
    linearise,
    state,
    system_of,
)
from sim.mechanism.constraints import DEGREE, ConstraintKind, ConstraintTable
from sim.mechanism.object_cache import once_per_owner
from sim.mechanism.shape_measures import characteristic_length, rigid_motions
from sim.mechanism.structure import Structure

DEPENDENT = 1e-10  # of a row, what is left of it without those before it
LARGEST = 3000  # unknowns whose modes are taken from a dense null space


@dataclass(frozen=True, eq=False)
class Mobility:
    """How a structure can move.

    Attributes
    ----------
    nodes, multipliers, rows : n, k and m
    rank : of the Jacobian
    redundant : rows that say nothing new, given the rows before them in elimination
    """

    nodes: int
    multipliers: int
    rows: int
    rank: int
    redundant: Ints

    @property
    def naive(self) -> int:
        """f = 3 n - m of the paper, with the multipliers counted as unknowns."""
        return 3 * self.nodes + self.multipliers - self.rows

    @property
    def mobility(self) -> int:
        """Independent motions, to first order."""
        return 3 * self.nodes + self.multipliers - self.rank


def mobility(structure: Structure, z: Floats | None = None) -> Mobility:
    """Rank and redundant rows, without a dense matrix.

    Parameters
    ----------
    z : (n + k, 3) state, the initial one unless given
    """
    unit, n = own_unit(structure), len(structure.r0)
    made = in_own_unit(structure)
    system = system_of(made)
    if z is None:
        z = state(made)
    elif unit != 1.0:
        z = np.concatenate([z[:n] / unit, z[n:]])
    dropped = np.flatnonzero(_independence(linearise(system, z)) == 0.0)
    rank = system.m - len(dropped)
    return Mobility(system.n, system.k, system.m, rank, dropped)


def _independence(linear: LinearConstraints) -> Floats:
    """(m,) share of each row that those eliminated before it do not say; 0: none."""
    system = linear.system
    number = (3 * system.block_node[:, None] + np.arange(3)).ravel()
    at = np.flatnonzero(linear.B.ravel())
    at = at[np.argsort(number[at], kind="stable")]
    unknowns = np.arange(3 * (system.n + system.k) + 1)
    columns = SparseRows(
        np.searchsorted(number[at], unknowns),
        np.repeat(system.block_row, 3)[at],
        linear.B.ravel()[at],
    )
    return column_pivots(system.normal.fronts, columns, DEPENDENT)


def modes(structure: Structure) -> Floats:
    """(f, n, 3) independent motions of the nodes, U of eq. (9), each of unit length.

    They are ordered by how much of a rigid motion they are, the most rigid last.
    """
    structure = in_own_unit(structure)
    motions = _motions(structure, state(structure), mobility(structure).rank)
    U = _ordered(motions, structure.r0)
    U /= np.maximum(np.linalg.norm(U, axis=1, keepdims=True), 1e-300)
    return np.asarray(U.reshape(-1, len(structure.r0), 3))


def refuse_many(unknowns: int) -> None:
    """Refuse more unknowns than have a dense null space."""
    if unknowns > LARGEST:
        raise ValueError(
            f"the structure has {unknowns} unknowns, but at most {LARGEST} are "
            "supported: use fewer nodes"
        )


def _motions(structure: Structure, z: Floats, rank: int) -> Floats:
    """(f, 3n) independent motions of the nodes at the state z, from a dense null space.

    Together with the change of their multipliers they are orthonormal.
    """
    system = system_of(structure)
    refuse_many(3 * system.n + system.k)
    linear = linearise(system, z)
    J = unit_rows(linear)[:, _used(system.n, system.k)]
    _, _, rows = np.linalg.svd(J)
    return np.asarray(rows[rank:, : 3 * system.n])


def _ordered(U: Floats, r: Floats) -> Floats:
    """U turned so that the most rigid motions are last."""
    rigid = rigid_motions(r)
    return np.asarray(np.linalg.eigh(U @ rigid @ rigid.T @ U.T).eigenvectors.T @ U)


def unit_rows(linear: LinearConstraints) -> Floats:
    """(m, 3n + 3k) the Jacobian, dense, its rows of unit length."""
    J = dense_rows(linear)
    J /= np.maximum(np.linalg.norm(J, axis=1, keepdims=True), 1e-300)
    return J


def dense_rows(linear: LinearConstraints) -> Floats:
    """(m, 3n + 3k) the Jacobian, dense."""
    system = linear.system
    blocks = np.zeros((system.m, system.n + system.k, 3))
    np.add.at(blocks, (system.block_row, system.block_node), linear.B)
    return blocks.reshape(system.m, 3 * (system.n + system.k))


def nearby_mobility(structure: Structure, seed: int = 0) -> int | None:
    """Mobility at a generic configuration close by; None if there is none.

    Where it differs from the mobility at the initial configuration, that one is
    special (a flat parallelogram, a dead centre), and some of its first-order motions
    lead nowhere.
    """
    structure = in_own_unit(structure)
    system, z = system_of(structure), state(structure)
    L = characteristic_length(structure.r0)
    noise = np.random.default_rng(seed).normal(size=structure.r0.shape)
    dz = admissible(system, z, noise)
    size = 0.02 * L / max(float(np.abs(dz).max()), 1e-300)
    far = float(np.abs(z[: system.n]).max()) / max(L, 1e-300)
    tolerance = max(1e-12, 1e-15 * far)  # coordinates have 16 digits
    try:
        near = satisfy_constraints(system, z + size * dz, tolerance=tolerance)
    except NotConvergedError:
        return None
    return mobility(structure, near).mobility


def _used(n: int, k: int) -> Ints:
    """Columns of a state that hold an unknown."""
    return np.concatenate([np.arange(3 * n), 3 * (n + np.arange(k))])


def motions_of_the_whole(linear: LinearConstraints, r: Floats) -> Floats:
    """(3n, 0 to 6) orthonormal rigid motions that the constraints allow."""
    rigid = rigid_motions(r)
    rest = np.zeros((linear.system.k, 3))
    moved = [
        linear.times(np.vstack([motion.reshape(-1, 3), rest])) for motion in rigid.T
    ]
    rate = np.array(moved).T / linear.system.scale[:, None]
    sizes, across = np.linalg.svd(rate, full_matrices=True)[1:]
    free = np.append(sizes, np.zeros(len(across) - len(sizes))) <= 1e-9
    return np.asarray(rigid @ across[free].T)


def singular_values(linear: LinearConstraints) -> Floats:
    """Of the Jacobian with rows of unit length, descending."""
    return np.asarray(np.linalg.svd(unit_rows(linear), compute_uv=False))


def counted(sizes: Floats) -> int:
    """How many singular values are not rounding."""
    return int(np.count_nonzero(sizes > 1e-8))


FLAT = 1e-9  # volume over the cube of the longest side


def flat_by_distances(structure: Structure) -> list[tuple[int, ...]]:
    """Sets of four nodes in one plane, all linked, that no other row holds flat.

    Out of the plane their distances do not change to first order ([dJ23], Methods,
    Body-node): each such set adds a motion that leads nowhere.
    """
    table, r = structure.constraints, structure.r0
    linked: dict[int, set[int]] = {}
    for a, b in table.nodes[table.kind == ConstraintKind.DIST, :2].tolist():
        linked.setdefault(a, set()).add(b)
        linked.setdefault(b, set()).add(a)
    held = [
        frozenset(nodes) for nodes in table.nodes[table.kind == ConstraintKind.TRIPLE]
    ]
    found: list[tuple[int, ...]] = []
    for a, near in linked.items():
        for b, c, d in combinations(sorted(n for n in near if n > a), 3):
            if c in linked[b] and d in linked[b] and d in linked[c]:
                sides = r[[b, c, d]] - r[a]
                longest = float(np.abs(sides).max())
                flat = abs(np.linalg.det(sides)) <= FLAT * longest**3
                if flat and not any(one <= {a, b, c, d} for one in held):
                    found.append((a, b, c, d))
    return found


LOST = 1e-7  # singular value, over the largest, that counts as zero


@dataclass(frozen=True, eq=False)
class Tangent:
    """What a configuration allows.

    Attributes
    ----------
    motions : (d, n + k, 3) orthonormal first-order motions that are not rigid
    rigid : how many rigid motions the constraints allow
    cokernel : (s, m) orthonormal combinations of the scaled rows that vanish
    forms : (q, d, d) independent forms w . H on the motions, q <= s
    smallest : singular value of the scaled J that is the last to count, over the first
    """

    motions: Floats
    rigid: int
    cokernel: Floats
    forms: Floats
    smallest: float


def tangent(system: ConstraintSystem, z: Floats) -> Tangent:
    """At the state z (n + k, 3)."""
    refuse_many(3 * system.n + system.k)
    J, used = dense_jacobian(system, z)
    left, sizes, right = np.linalg.svd(J)
    rank = _rank(sizes)
    L = characteristic_length(z[: system.n]) or 1.0
    flat, rigid = _without_rigid(system, z, L * J, right[rank:], used)
    motions = np.zeros((len(flat), 3 * len(z)))
    motions[:, used] = flat
    shaped = motions.reshape(-1, len(z), 3)
    cokernel = left[:, rank:].T
    smallest = sizes[rank - 1] / sizes[0] if rank else 0.0
    forms = _forms(system, z, L * shaped, cokernel)
    return Tangent(shaped, rigid, cokernel, forms, float(smallest))


def dense_jacobian(system: ConstraintSystem, z: Floats) -> tuple[Floats, Ints]:
    """J with its rows over their scale and one column an unknown, and their places."""
    places = _used(system.n, system.k)
    J = dense_rows(linearise(system, z))[:, places]
    return J / system.scale[:, None], places


def null_space(J: Floats) -> Floats:
    """(n - rank, n) unit motions that a dense J leaves, at right angles."""
    _, sizes, right = np.linalg.svd(J)
    return right[_rank(sizes) :]


def _rank(sizes: Floats) -> int:
    """How many singular values count as more than zero."""
    return int(np.count_nonzero(sizes > LOST * sizes.max(initial=1e-300)))


def _without_rigid(
    system: ConstraintSystem, z: Floats, J: Floats, null: Floats, used: Ints
) -> tuple[Floats, int]:
    """The part of a null space at right angles to its rigid motions; how many."""
    rigid = rigid_motions(z[: system.n]).T
    basis = np.zeros((len(rigid), z.size))
    basis[:, : 3 * system.n] = rigid
    basis = basis[:, used]
    _, sizes, turn = np.linalg.svd(J @ basis.T)
    sizes = np.append(sizes, np.zeros(len(basis) - len(sizes)))
    allowed = turn[sizes <= LOST] @ basis
    inner = null - (null @ allowed.T) @ allowed
    _, sizes, motions = np.linalg.svd(inner, full_matrices=False)
    return motions[: len(null) - len(allowed)], len(allowed)


def _forms(
    system: ConstraintSystem, z: Floats, motions: Floats, cokernel: Floats
) -> Floats:
    """Independent forms; exact, since no residual is of more than third degree."""
    d, s = len(motions), len(cokernel)
    if d * s == 0:
        return np.zeros((0, d, d))
    all_forms = np.zeros((s, d, d))
    here = linearise(system, z).c

    def second(v: Floats) -> Floats:
        ahead, behind = linearise(system, z + v).c, linearise(system, z - v).c
        return cokernel @ ((ahead + behind - 2.0 * here) / system.scale)

    own = [second(v) for v in motions]
    for i in range(d):
        all_forms[:, i, i] = own[i]
        for j in range(i):
            mixed = 0.5 * (second(motions[i] + motions[j]) - own[i] - own[j])
            all_forms[:, i, j] = all_forms[:, j, i] = mixed
    _, sizes, flat = np.linalg.svd(all_forms.reshape(s, d * d), full_matrices=False)
    return np.asarray(flat[sizes > LOST].reshape(-1, d, d))


SURE = 1e-2  # share of a force that may hang on the residual
VECTORS = 6  # weak combinations that are sought at once
ITERATIONS = 12
NAMED = 0.1  # share of the largest in a combination from which a row is named


@dataclass(frozen=True, eq=False)
class NearDependence:
    """Combinations of rows that are almost zero.

    Attributes
    ----------
    singular_value : (q,) of J with rows of unit length, ascending; none is regular
    combinations : (q, m) unit vectors w, |w J| = singular value
    size : (m,) length of each row of J, by which a force is multiplied
    residual : of the constraints that configurations are held to
    """

    singular_value: Floats
    combinations: Floats
    size: Floats
    residual: float

    def __len__(self) -> int:
        return len(self.singular_value)

    def names(self, table: ConstraintTable) -> list[str]:
        """The constraints that the combinations are made of."""
        weights = np.abs(self.combinations)
        strong = weights >= NAMED * weights.max(axis=1, keepdims=True)
        rows = np.flatnonzero(strong.any(axis=0)).tolist()
        return list(dict.fromkeys(table.name_of_row(row) for row in rows))


def near_dependence(
    structure: Structure, z: Floats, residual: float
) -> NearDependence | None:
    """What makes forces hang on the residual at a state; None where nothing does.

    Parameters
    ----------
    z : (n + k, 3) state
    residual : of the constraints that it is held to, dimensionless
    """
    unit, n = own_unit(structure), len(structure.r0)
    if unit != 1.0:
        z = np.concatenate([z[:n] / unit, z[n:]])
    linear = linearise(system_of(in_own_unit(structure)), z)
    sizes, weak, length = _weakest(linear)
    few = np.flatnonzero(sizes**2 * SURE < residual)
    if not len(few):
        return None
    return NearDependence(sizes[few], weak[few], length, residual)


def undetermined(found: NearDependence | None, y: Floats) -> Bools:
    """(m,) rows of whose force more than `SURE` of the largest hangs on the residual.

    Parameters
    ----------
    y : (m,) forces of the rows, in any one unit
    """
    if found is None:
        return np.zeros(len(y), dtype=np.bool_)
    force, w = y * found.size, found.combinations
    share = np.minimum(1.0, found.residual / found.singular_value**2)
    parts = np.abs(w * (w @ force * share)[:, None]).sum(axis=0)
    return np.asarray(parts > SURE * np.abs(force).max(initial=1e-300))


def warning(table: ConstraintTable, found: NearDependence | None) -> dict[str, str]:
    """What a run says of them, under the key `warning`; nothing where nothing is."""
    if found is None:
        return {}
    names = "; ".join(found.names(table))
    return {
        "warning": f"{names} are nearly redundant (smallest singular value "
        f"{found.singular_value[0]:.1e}: dead centre or infinitesimal mechanism). "
        f"Their forces are omitted, as the residual of {found.residual:.0e} alters "
        "them: at a dead centre lower the residual, in an infinitesimal mechanism "
        "change lengths"
    }


def _weakest(linear: LinearConstraints) -> tuple[Floats, Floats, Floats]:
    """The smallest singular values of the independent rows, their w and lengths."""
    m = linear.system.m
    squares = np.bincount(
        linear.system.block_row, np.square(linear.B).sum(axis=1), minlength=m
    )
    factor = linear.factorise()
    independent = squares > 0.0
    independent[factor.dropped] = False
    length = np.where(independent, np.sqrt(squares), 0.0)
    rows = np.flatnonzero(independent)
    count = min(VECTORS, len(rows))
    if not count:
        return np.empty(0), np.empty((0, m)), length
    over = np.zeros(m)
    over[rows] = length[rows]
    w = np.zeros((m, count))
    w[rows] = np.random.default_rng(0).normal(size=(len(rows), count))
    for _ in range(ITERATIONS):
        w = over[:, None] * factor.solve(over[:, None] * np.linalg.qr(w)[0])
    w = np.linalg.qr(w)[0]
    scaled = np.divide(
        w, over[:, None], out=np.zeros_like(w), where=independent[:, None]
    )
    combined = np.array([linear.transpose_times(s.copy()).ravel() for s in scaled.T])
    turn, sizes, _ = np.linalg.svd(combined, full_matrices=False)
    return sizes[::-1], (w @ turn).T[::-1], length


def own_unit(structure: Structure) -> float:
    """The power of two closest to L; 1 without multipliers, or if L vanishes."""
    L = characteristic_length(structure.r0)
    if structure.constraints.multipliers == 0 or L == 0.0:
        return 1.0
    return float(2.0 ** np.round(np.log2(L)))


def in_own_unit(structure: Structure) -> Structure:
    """The same structure in its own unit."""
    unit = own_unit(structure)
    return structure if unit == 1.0 else rescaled(structure, unit)


@once_per_owner
def rescaled(structure: Structure, unit: float) -> Structure:
    """The same structure with its lengths in `unit`."""
    table, goals = structure.constraints, structure.goals
    constant = table.constant / unit ** DEGREE[table.kind].astype(np.float64)
    return replace(
        structure,
        r0=structure.r0 / unit,
        constraints=replace(table, constant=constant),
        goals=None if goals is None else goals / unit,
        solids=structure.solids.scaled(1.0 / unit),
        ranges=structure.ranges.scaled(1.0 / unit),
    )
