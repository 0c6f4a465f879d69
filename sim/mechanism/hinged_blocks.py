"""Rigid blocks in the plane, the elastic ligaments that hinge them, and their grips.

A block moves by q = (x, y, theta): the displacement of its reference point and its
turn. Every force and moment follows from the energies of the hinges, so lengths and
stiffnesses may be of any consistent units.

The energy of a ligament between two blocks has two derivatives. Block a stands at X_a +
x_a and is turned by theta_a; its end of the ligament lies at the arm r_a from there.
With R the rotation and R' r = R r turned left,

    d = X_b + x_b + R_b r_b - X_a - x_a - R_a r_a         from end to end
    w = theta_b - theta_a                                 relative turn
    m = (theta_a + theta_b) / 2                           mean turn
    E = k_e e^2 / 2 + k_s s^2 / 2 + k_w w^2 / 2 + ...

In the frame that turns with m, u along the ligament at rest and t across it,

    e = u . d - l_0,                 s = t . d,
    de = u . dd + s dm,              ds = t . dd - (u . d) dm,
    d2e = u . d2d + (t.dd) dm + dm (t.dd) - (u.d) dm dm
    d2s = t . d2d - (u.dd) dm - dm (u.dd) - (t.d) dm dm.

The published (`polar`) strains (Meeussen et al., Adv. Funct. Mater. 2024, 2415986) are
the ligament's length l and the angle psi of d, now with u = d / l:

    e = l - l_0,                     s = l_0 (psi - psi_0 - m),
    de = u . dd,                     dpsi = t . dd / l,
    d2e = u . d2d + l dpsi dpsi,     d2psi = t . d2d / l - (de dpsi + dpsi de) / l.

In both dd/dtheta_a = -R'_a r_a and d2d/dtheta_a^2 = R_a r_a; for b the signs turn.

The linear moment is supplemented by a cubic one, a friction element in parallel that
sticks up to a moment M and then slips (Jenkins), and a one-sided spring once a void has
closed. With the slip so far s_w, the friction element adds

    |w - s_w| <= M / k:  k (w - s_w)^2 / 2,     beyond:  M |w - s_w| - M^2 / (2 k),

the incremental potential whose minimum over w is its equilibrium at the end of a step
(Ortiz and Stainier, Comput. Methods Appl. Mech. Eng. 171, 1999).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from sim.core.arrays import Bools, Floats, Ints, refuse_first
from sim.core.numba_kernels import kernel

NOT_NEGATIVE = ("stretch", "compression", "shear", "turn", "friction", "stick", "touch")
STIFFNESSES = (*NOT_NEGATIVE, "turn_cubic")
FREE, HELD = 0.0, np.inf  # stiffness of what does not resist, and of what does not give


@dataclass(frozen=True, eq=False)
class LigamentHinges:
    """Elastic ligaments between blocks, each with three stiffnesses.

    A ligament goes from a point of block a to a point of block b; in the frame that
    turns with the mean of both it elongates by e and shears by s, and it bends by their
    relative turn w:

        E = k_stretch e^2 / 2 + k_shear s^2 / 2 + k_turn w^2 / 2.

    Attributes
    ----------
    blocks : (h, 2) a and b
    ends : (h, 2, 2) the point of a and the point of b, at rest
    stretch, shear : (h,) force by length
    turn : (h,) moment by angle
    compression : (h,) as `stretch`, where a ligament is shorter than at rest
    turn_cubic : (h,) moment by angle cubed, added to that of `turn`
    friction : (h,) moment at which a ligament slips; 0 where it does not rub
    stick : (h,) moment by angle of the friction (Jenkins) element before it slips
    voids : (h, 2) angles that are open on the side of b's next and of a's next corner;
        infinite where nothing can touch
    touch : (h,) moment by angle beyond the closing of a void
    polar : whether elongation and shear are those of the ligament's length and angle,
        as published (see above), which lose their meaning where a ligament is
        pressed to a point; they agree with the others to first order in e / l and s / l
    """

    blocks: Ints
    ends: Floats
    stretch: Floats
    shear: Floats
    turn: Floats
    compression: Floats
    turn_cubic: Floats
    friction: Floats
    stick: Floats
    voids: Floats
    touch: Floats
    polar: bool

    def __post_init__(self) -> None:
        for name in NOT_NEGATIVE:
            values = getattr(self, name)
            refuse_first(
                ~((values >= 0.0) & (values < np.inf)),
                lambda i: f"{name} of hinge {i} must be a number from 0 up",  # noqa: B023
            )

    def __len__(self) -> int:
        return len(self.blocks)

    def lengths(self) -> Floats:
        """(h,) lengths at rest."""
        return np.asarray(np.linalg.norm(self.ends[:, 1] - self.ends[:, 0], axis=1))


@dataclass(frozen=True)
class Grip:
    """What holds a point of a block and moves it.

    Attributes
    ----------
    block : index
    point : (x, y) that is held, at rest; it need not lie within the block
    motion : (x, y) displacement of the anchor for one unit of driving
    stiffness : force by length of the clamp; infinite where it does not give
    turning : moment by angle that keeps the block from turning about the point
    """

    block: int
    point: tuple[float, float]
    motion: tuple[float, float]
    stiffness: float = HELD
    turning: float = FREE


@dataclass(frozen=True, eq=False)
class BlockAssembly:
    """Blocks with their hinges and grips.

    Attributes
    ----------
    corners : for each block (c, 2) its outline at rest, counter-clockwise
    hinges : between them
    grips : at most one on each block
    """

    corners: tuple[Floats, ...]
    hinges: LigamentHinges
    grips: Sequence[Grip] = ()

    def __post_init__(self) -> None:
        held = [grip.block for grip in self.grips]
        unknown = [k for k in [*self.hinges.blocks.ravel(), *held] if not self.has(k)]
        if unknown:
            raise ValueError(
                f"block {unknown[0]} does not exist: choose 0 to {len(self) - 1}"
            )
        if len(set(held)) < len(held):
            twice = max(held, key=held.count)
            raise ValueError(f"two grips hold block {twice}: give it one only")
        turned = [k for k, outline in enumerate(self.corners) if not area(outline) > 0]
        if turned:
            raise ValueError(
                f"block {turned[0]} has no area, or its corners are listed clockwise: "
                "list them counter-clockwise"
            )

    def __len__(self) -> int:
        return len(self.corners)

    def has(self, block: int) -> bool:
        """Whether there is a block of this number."""
        return 0 <= block < len(self)

    def references(self) -> Floats:
        """(b, 2) points whose displacements are unknowns: grips, else centroids."""
        points = np.array([centroid(outline) for outline in self.corners])
        for grip in self.grips:
            points[grip.block] = grip.point
        return points


def area(outline: Floats) -> float:
    """Area of a polygon (c, 2); positive if its corners go counter-clockwise."""
    x, y = outline.T
    return float(0.5 * np.sum(x * np.roll(y, -1) - np.roll(x, -1) * y))


def centroid(outline: Floats) -> Floats:
    """(2,) centroid of a polygon (c, 2)."""
    x, y = outline.T
    ahead = np.roll(outline, -1, axis=0)
    double = x * ahead[:, 1] - ahead[:, 0] * y
    return np.asarray((outline + ahead).T @ double / (3.0 * double.sum()))


def void_angles(corners: Sequence[Floats], blocks: Ints, hinged: Ints) -> Floats:
    """(h, 2) open angles on both sides of hinged corners (h, 2) of blocks (h, 2).

    The first lies between a's edge to its previous corner and b's edge to its next
    one, and opens with the relative turn w; the second closes with it.
    """
    angles = np.empty((len(blocks), 2))
    for k, ((a, b), (i, j)) in enumerate(zip(blocks, hinged, strict=True)):
        for side, (one, at, other, to) in enumerate(((a, i, b, j), (b, j, a, i))):
            p, q = corners[one], corners[other]
            u, v = p[at - 1] - p[at], q[(to + 1) % len(q)] - q[to]
            angles[k, side] = np.arctan2(u[0] * v[1] - u[1] * v[0], u @ v) % (2 * np.pi)
    return angles


LOWER = np.tril_indices(6)  # the entries of a hinge's 6 x 6 block of the Hessian


class HingeArrays(NamedTuple):
    """The hinges as the kernels read them.

    Attributes
    ----------
    blocks : (h, 2)
    arms : (h, 2, 2) from the references of a and b to the ends
    rest : (h, 2) vector from a's reference to b's in the drawing
    length, angle : (h,) of the ligament at rest
    stretch, compression, shear, turn, turn_cubic, friction, stick, touch, voids,
        polar : as in `LigamentHinges`
    """

    blocks: Ints
    arms: Floats
    rest: Floats
    length: Floats
    angle: Floats
    stretch: Floats
    compression: Floats
    shear: Floats
    turn: Floats
    turn_cubic: Floats
    friction: Floats
    stick: Floats
    touch: Floats
    voids: Floats
    polar: Bools


def hinge_arrays(assembly: BlockAssembly) -> HingeArrays:
    """Arms and rest states of all hinges of an assembly."""
    hinges: LigamentHinges = assembly.hinges
    X = assembly.references()[hinges.blocks]
    along = hinges.ends[:, 1] - hinges.ends[:, 0]
    return HingeArrays(
        hinges.blocks, hinges.ends - X, X[:, 1] - X[:, 0], hinges.lengths(),
        np.arctan2(along[:, 1], along[:, 0]), hinges.stretch, hinges.compression,
        hinges.shear, hinges.turn,
        hinges.turn_cubic, hinges.friction, hinges.stick, hinges.touch, hinges.voids,
        np.full(len(hinges), hinges.polar),
    )  # fmt: skip


@kernel
def _turned(r: Floats, theta: float) -> tuple[float, float]:
    """R r."""
    c, s = math.cos(theta), math.sin(theta)
    return c * r[0] - s * r[1], s * r[0] + c * r[1]


@kernel
def _rubbing(w: float, slip: float, k: float, m: float) -> tuple[float, float, float]:
    """Energy, moment and stiffness of the Jenkins element."""
    over = w - slip
    if k * abs(over) <= m:
        return 0.5 * k * over * over, k * over, k
    return m * abs(over) - 0.5 * m * m / k, math.copysign(m, over), 0.0


@kernel
def _turning(
    w: float, slip: float, h: int, hinges: HingeArrays
) -> tuple[float, float, float]:
    """Energy, moment and stiffness of all that resists the relative turn w."""
    k, cubic = hinges.turn[h], hinges.turn_cubic[h]
    E = 0.5 * k * w * w + 0.25 * cubic * w**4
    M = k * w + cubic * w**3
    slope = k + 3.0 * cubic * w * w
    if hinges.friction[h] > 0.0:
        more = _rubbing(w, slip, hinges.stick[h], hinges.friction[h])
        E, M, slope = E + more[0], M + more[1], slope + more[2]
    for side, sign in ((0, 1.0), (1, -1.0)):
        beyond = hinges.voids[h, side] + sign * w
        if beyond < 0.0:
            E += 0.5 * hinges.touch[h] * beyond * beyond
            M += sign * hinges.touch[h] * beyond
            slope += hinges.touch[h]
    return E, M, slope


@kernel
def _strains(
    h: int, dx: float, dy: float, mean: float, hinges: HingeArrays
) -> tuple[float, float, float, float, float, float]:
    """u, length along u, s, its stiffness, and the length by which t . dd counts."""
    if hinges.polar[h]:
        length, l0 = math.hypot(dx, dy), hinges.length[h]
        s = math.atan2(dy, dx) - hinges.angle[h] - mean
        s -= 2.0 * math.pi * math.floor(s / (2.0 * math.pi) + 0.5)
        return dx / length, dy / length, length, s, hinges.shear[h] * l0 * l0, length
    angle = hinges.angle[h] + mean
    ux, uy = math.cos(angle), math.sin(angle)
    return ux, uy, ux * dx + uy * dy, ux * dy - uy * dx, hinges.shear[h], 1.0


@kernel
def _curved(
    i: int, j: int, a: Floats, b: Floats, dm: Floats, N: float, Q: float, along: float,
    s: float, polar: bool,
) -> float:  # fmt: skip
    """N d2e + Q d2s without d2d, for de = a and ds = b; dpsi = b + dm if `polar`."""
    if polar:
        p, q = b[i] + dm[i], b[j] + dm[j]
        return float(N * along * p * q - Q * (a[i] * q + p * a[j]) / along)
    both = dm[i] * dm[j]
    d2e = b[i] * dm[j] + dm[i] * b[j] + along * both
    d2s = s * both - a[i] * dm[j] - dm[i] * a[j]
    return float(N * d2e + Q * d2s)


@kernel
def add_hinges(
    q: Floats, slip: Floats, hinges: HingeArrays, gradient: Floats, entries: Floats
) -> float:
    """Energy of all hinges; adds its gradient (b, 3), fills (h, 21) of its Hessian.

    Parameters
    ----------
    q : (b, 3) motions of the blocks
    slip : (h,) slips of the friction elements so far
    entries : lower triangles of the hinges' blocks of the Hessian, row by row
    """
    energy = 0.0
    Dx, Dy, a, b = np.zeros(6), np.zeros(6), np.empty(6), np.empty(6)
    Dx[0] = Dy[1] = -1.0
    Dx[3] = Dy[4] = 1.0
    turn = np.array([0.0, 0.0, 0.5, 0.0, 0.0, 0.5])  # of the mean, by the unknowns
    for h in range(len(hinges.blocks)):
        one, other = hinges.blocks[h]
        mean = 0.5 * (q[one, 2] + q[other, 2])
        ax, ay = _turned(hinges.arms[h, 0], q[one, 2])
        bx, by = _turned(hinges.arms[h, 1], q[other, 2])
        dx = hinges.rest[h, 0] + q[other, 0] - q[one, 0] + bx - ax
        dy = hinges.rest[h, 1] + q[other, 1] - q[one, 1] + by - ay
        Dx[2], Dy[2], Dx[5], Dy[5] = ay, -ax, -by, bx
        l0, polar = hinges.length[h], hinges.polar[h]
        ux, uy, along, s, k_s, unit = _strains(h, dx, dy, mean, hinges)
        k_e = hinges.stretch[h] if along > l0 else hinges.compression[h]
        N, Q = k_e * (along - l0), k_s * s
        E_w, M, k_w = _turning(q[other, 2] - q[one, 2], slip[h], h, hinges)
        energy += 0.5 * (N * (along - l0) + Q * s) + E_w

        for i in range(6):
            a[i] = ux * Dx[i] + uy * Dy[i] + (0.0 if polar else s * turn[i])
            b[i] = (ux * Dy[i] - uy * Dx[i]) / unit
            b[i] -= (1.0 if polar else along) * turn[i]
        for i in range(3):
            gradient[one, i] += N * a[i] + Q * b[i]
            gradient[other, i] += N * a[3 + i] + Q * b[3 + i]
        gradient[one, 2] -= M
        gradient[other, 2] += M

        place = 0
        for i in range(6):
            for j in range(i + 1):
                entries[h, place] = k_e * a[i] * a[j] + k_s * b[i] * b[j]
                entries[h, place] += _curved(i, j, a, b, turn, N, Q, along, s, polar)
                place += 1
        # what d2d adds in the rows of the two turns, and the relative turn
        T = Q / unit
        entries[h, 5] += N * (ux * ax + uy * ay) + T * (ux * ay - uy * ax) + k_w
        entries[h, 20] += -N * (ux * bx + uy * by) - T * (ux * by - uy * bx) + k_w
        entries[h, 17] -= k_w
    return energy


@kernel
def slipped(q: Floats, slip: Floats, hinges: HingeArrays) -> Floats:
    """(h,) slips at the end of a step that ended at q."""
    after = slip.copy()
    for h in range(len(hinges.blocks)):
        m = hinges.friction[h]
        if m > 0.0:
            one, other = hinges.blocks[h]
            over = q[other, 2] - q[one, 2] - slip[h]
            beyond = abs(over) - m / hinges.stick[h]
            if beyond > 0.0:
                after[h] += math.copysign(beyond, over)
    return after
