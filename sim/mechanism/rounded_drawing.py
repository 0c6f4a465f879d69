"""Structures drawn with rounded coordinates, whose loops close to the last digit only.

A linkage such as Bennett's moves because its lengths and angles satisfy conditions that
no generic linkage satisfies. A file that holds its nodes with three decimals breaks
them: the Jacobian keeps a singular value of the size of the last digit where it should
lose a rank, and nothing moves.

`close_loops` looks for the nearest drawing q that moves. With c(z) the rows, whose
constants follow from the drawing, and V the motions of the small singular values,
configurations z_k a finite way s_k along V are to be those of q:

    least |q|   with   c(z_k) = c(q),   V (z_k - q) = s_k,   all from the given drawing

by Gauss-Newton's method; each z_k is eliminated by the left null space of [J(z_k); V].
Shaky structures, which move to first order only, and frames that are rigid have no such
q within the last digit, and stay as drawn.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from scipy.linalg import orth, qr

from sim.core.arrays import Bools, Floats
from sim.mechanism.constraint_system import linearise, state, system_of
from sim.mechanism.constraints import ROWS, WITHOUT_CONSTANT, ConstraintKind
from sim.mechanism.mobility import dense_jacobian, mobility
from sim.mechanism.shape_measures import characteristic_length, rigid_motions
from sim.mechanism.structure import Structure

COARSEST = 2e-3  # last digit over L; coarser coordinates were chosen, not rounded
FINEST = 1e-11  # last digit over L; finer coordinates are exact
LARGEST = 600  # unknowns of what is closed, by dense matrices in seconds
SUSPECT = 100.0  # last digits over L that a singular value of a closed loop may have
CANDIDATES = 3  # ranks that are tried
WITHIN = 2.0  # last digits that a coordinate may move
FAR = 20.0  # last digits that one step may move it
BENDS = (2e-2, 2e-3)  # residual of a configuration before it is corrected
LONGEST = 0.1  # rms way of the nodes to a configuration, over L
ON_THE_WAY = 50.0  # last digits over L that a corrected configuration may be off
CLOSED = 1e-12  # residual of a closed drawing
RAMP, CORRECTIONS, ROUNDS = 4, 20, 15


def drawing_precision(nodes: Floats) -> float:
    """The last digit of nodes (n, 3) as a file holds them; 0 of exact and round ones.

    Each number is taken with the fewest decimals that give it back.
    """
    size = characteristic_length(nodes)
    written = (np.format_float_positional(x, trim="-") for x in nodes.ravel())
    digit = float(10.0 ** -max(len(x.partition(".")[2]) for x in written))
    return digit if FINEST * size < digit <= COARSEST * size else 0.0


@dataclass(frozen=True, eq=False)
class ClosedDrawing:
    """A structure whose loops close.

    Attributes
    ----------
    structure : with the nodes and constants of the nearest drawing that moves
    motions : that it has beyond those of the given one
    moved : the farthest that a coordinate moved
    relaxed : constraints that the others imply then, and that were left out
    """

    structure: Structure
    motions: int
    moved: float
    relaxed: int


def close_loops(structure: Structure, precision: float) -> ClosedDrawing | None:
    """The nearest structure that has more motions, within the last digit, if any.

    Parameters
    ----------
    precision : the last digit of the nodes, in the unit of the structure; 0 if exact.
        Structures of more than `LARGEST` unknowns stay as drawn.
    """
    if precision == 0.0 or not len(structure.constraints):
        return None
    drawing = _Drawing(structure, precision)
    if drawing.size > LARGEST:
        return None
    rank = mobility(structure).rank
    for V in drawing.suspects(rank):
        for bend in BENDS:
            q = drawing.nearest(V, bend)
            if q is None:
                continue
            made = drawing.at(q, len(q) - len(V))
            moved = float(np.abs(made.r0 - structure.r0).max())
            if moved < WITHIN * precision and mobility(made).rank == len(q) - len(V):
                relaxed = len(structure.constraints) - len(made.constraints)
                return ClosedDrawing(made, rank - len(q) + len(V), moved, relaxed)
    return None


class _Drawing:
    """A structure as drawn. Ways x (size,) from it count in L, of multipliers in 1."""

    def __init__(self, structure: Structure, precision: float) -> None:
        self.structure, self.system = structure, system_of(structure)
        self.z = state(structure)
        self.columns = dense_jacobian(self.system, self.z)[1]
        self.size, self.nodes = len(self.columns), 3 * self.system.n
        L = characteristic_length(structure.r0)
        self.unit, self.digit = np.ones(self.size), precision / L
        self.unit[: self.nodes] = L
        self.c0, self.J0 = self.rows(np.zeros(self.size))
        table = structure.constraints
        constant = np.repeat(~np.isin(table.kind, WITHOUT_CONSTANT), ROWS[table.kind])
        # whose constants follow from the drawing; others are lengths that were given
        self.follows: Bools = constant & (np.abs(self.c0) < 3.0 * self.digit + 1e-9)

    def rows(self, x: Floats) -> tuple[Floats, Floats]:
        """c (m,) over the scales of the rows, and J (m, size)."""
        way = np.zeros(self.z.size)
        way[self.columns] = x * self.unit
        z = self.z + way.reshape(self.z.shape)
        J, _ = dense_jacobian(self.system, z)
        return linearise(self.system, z).c / self.system.scale, J * self.unit

    def at(self, q: Floats, rank: int) -> Structure:
        """The structure that is drawn at q, without rows that the others imply.

        Rounded, they would agree with others nearly, and nothing could tell which rank
        is meant. Supports and constraints of three rows stay.
        """
        table, nodes = self.structure.constraints, q[: self.nodes] * self.unit[0]
        c, J = self.rows(q)
        change = np.where(self.follows, c * self.system.scale, 0.0)
        first = table.first_row[:-1]
        made = replace(table, constant=table.constant + change[first])
        stays = (ROWS[table.kind] > 1) | (table.kind == ConstraintKind.FIX)
        J /= np.maximum(np.linalg.norm(J, axis=1, keepdims=True), 1e-300)
        basis = orth(J[np.repeat(stays, ROWS[table.kind])].T, rcond=1e-9)
        others = np.flatnonzero(~stays)
        rest = J[first[others]].T
        order = qr(rest - basis @ (basis.T @ rest), mode="r", pivoting=True)[1]
        stays[others[order[: rank - basis.shape[1]]]] = True
        return replace(
            self.structure,
            r0=self.structure.r0 + nodes.reshape(-1, 3),
            constraints=made.only(stays),
        )

    def suspects(self, rank: int) -> Iterator[Floats]:
        """Motions (d, size) of the ranks that may be right, the widest gap first.

        They are lower than the given one, or at last this one where joints do not fit.
        """
        _, found, right = np.linalg.svd(self.J0)
        values = np.concatenate([found, np.zeros(self.size)])[: self.size]
        lowest = int(np.count_nonzero(values > SUSPECT * self.digit * values[0]))
        ranks = np.arange(max(lowest, 1), rank)
        gap = values[ranks - 1] / np.maximum(values[ranks], 1e-3 * self.digit)
        likely = ranks[np.argsort(-gap, kind="stable")][:CANDIDATES].tolist()
        if np.abs(self.c0[~self.follows]).max(initial=0.0) > CLOSED:
            likely.append(rank)
        yield from (right[lower:] for lower in likely)

    def nearest(self, V: Floats, bend: float) -> Floats | None:
        """The least q with the motions V (d, size); None where none is close by."""
        ways = self._ways(V, bend)
        found = [self._configuration(V, way) for way in ways]
        places = [x for x in found if x is not None]
        if not ways or len(places) < len(ways):
            return None
        q, last = np.zeros(self.size), np.inf
        for tried in range(ROUNDS):
            cq, Jq = self.rows(q)
            slopes, misfits = [Jq[~self.follows]], [cq[~self.follows]]
            worst, own = float(np.abs(misfits[0]).max(initial=0.0)), []
            for x, way in zip(places, ways, strict=True):
                F, M = self._misfit(V, x, way + V @ q, np.where(self.follows, cq, 0.0))
                G = np.vstack([-Jq * self.follows[:, None], -V])
                left = np.linalg.qr(M, mode="complete")[0][:, self.size :]
                slopes.append(left.T @ G)
                misfits.append(left.T @ F)
                own.append((F, M, G))
                worst = max(worst, float(np.abs(F).max()))
            if tried > 3 and worst > 0.7 * last:
                return q if worst < CLOSED else None
            B, last = np.vstack(slopes), worst
            spurious = np.clip(1000.0 * worst, 1e-7, 1e-2)  # of rows that will agree
            step = _least(B, B @ q - np.concatenate(misfits), spurious) - q
            if np.abs(step[: self.nodes]).max() > FAR * self.digit:
                return None
            places = [
                x - _least(M, F + G @ step)
                for x, (F, M, G) in zip(places, own, strict=True)
            ]
            q = q + step
        return q if last < CLOSED else None

    def _misfit(
        self, V: Floats, x: Floats, along: Floats, c: Floats
    ) -> tuple[Floats, Floats]:
        """Of a configuration that should have the rows c and be so far along V."""
        own, J = self.rows(x)
        return np.concatenate([own - c, V @ x - along]), np.vstack([J, V])

    def _ways(self, V: Floats, bend: float) -> list[Floats]:
        """Where along V (d, size) configurations are sought, without rigid motions."""
        rigid = V[:, : self.nodes] @ rigid_motions(self.structure.r0)
        turn, share, _ = np.linalg.svd(rigid)
        inner = turn[:, np.count_nonzero(share > 0.999) :].T
        if not len(inner):
            return []
        rng = np.random.default_rng(0)
        mixed = rng.normal(size=(min(len(inner), 4) + 2, len(inner)))
        if len(inner) == 1:
            mixed = np.array([[1.0], [-1.0], [1.0], [-1.0]])
        small, ways = 1e-3, []
        for way in mixed @ inner:
            bent = self.rows(small * way @ V)[0] - self.c0
            size = np.sqrt(bend * small**2 / max(float(np.abs(bent).max()), 1e-300))
            most = LONGEST * np.sqrt(self.system.n) / np.linalg.norm(way)
            ways.append(rng.uniform(0.5, 1.0) * min(size, most) * way)
        return ways

    def _configuration(self, V: Floats, way: Floats) -> Floats | None:
        """The configuration of the given drawing there, as far as it has one."""
        c = np.where(self.follows, self.c0, 0.0)
        x = np.zeros(self.size)
        for k in range(CORRECTIONS):
            if k < RAMP:
                x = x + way @ V / RAMP
            F, M = self._misfit(V, x, min(1.0, (k + 1) / RAMP) * way, c)
            x = x - _least(M, F)
        F, _ = self._misfit(V, x, way, c)
        return x if np.abs(F).max() < ON_THE_WAY * self.digit else None


def _least(A: Floats, b: Floats, cut: float = 1e-9) -> Floats:
    """The least x of the least |A x - b|."""
    return np.asarray(np.linalg.lstsq(A, b, rcond=cut)[0])
