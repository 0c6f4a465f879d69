"""Has the sheet folded as it was asked to, and if not, what holds it?

Each crease is compared with what is asked of it: how far it is beyond it or short of
it. What is missing is held by

closure    : rigid panels come no nearer to what is asked with creases on their sides
contact    : they would, but parts of the sheet that touch carry moments as large
compliance : neither; panels that bend, loads, or creases that pull against each other

A crease is on the wrong side where it folds as a mountain in place of a valley.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from functools import partial

import numpy as np

from sim.contact.contact_energy import pair_slopes
from sim.core.arrays import Bools, Floats, Ints
from sim.origami.fold_and_load_phases import Fold, Phase, missing_folds
from sim.origami.folding.equilibrium import near_at
from sim.origami.folding.flat_state_branching import (
    asked_folds,
    crease_stiffness,
    rigid_sheet,
)
from sim.origami.folding.fold_simulation import OrigamiStep
from sim.origami.folding.sheet import Sheet, build_problem, hinge_angles, part_at
from sim.origami.model.mesh import CENTRE_SHARE, BarHingeMesh, fold_weights
from sim.origami.pattern.pattern import CreasePattern
from sim.origami.pattern.rigid_folding import RigidFolds, RigidSheet

FOLD_TOLERANCE = np.radians(5.0)  # of a crease that has reached what is asked
WRONG = np.radians(1.0)  # fold from which a crease is on a side, or a panel bends
CARRIED = 0.1  # share of a crease's moment from which contact may hold it
FOLLOWED = 0.5  # share of what is asked; a crease behind it may hang on a detour
NEAR = 0.5  # of what is asked: nothing has folded where every crease is off by more
ALIKE = 1e-3  # rad, within which creases are off alike: the first is named
APPROACHES = 60  # steps towards what is asked along motions of rigid panels
SETTLED = 1e-4  # of such a step, rad


class FoldVerdict(Enum):
    """How a folding ended.

    Folded: creases on their sides, each as asked or held by closure alone, and those
    that are to stay flat as flat as asked. Not folded: rigid panels bring no crease
    near what is asked.
    """

    FOLDED = "folded"
    FAR = "not folded"
    CONTACT = "stopped by contact"
    POPPED = "snapped to the wrong assignment"
    OPEN = "not rigidly foldable"
    NOTHING = "no folds are assigned"


class HeldBy(Enum):
    """What holds a crease away from what is asked."""

    NOTHING = ""
    CONTACT = "contact"
    CLOSURE = "closure"
    COMPLIANCE = "compliance"


@dataclass(frozen=True, eq=False)
class FoldReport:
    """How a folding ended, crease by crease.

    Attributes
    ----------
    asked : (c,) folds asked for, rad, valleys positive; nan where none is
    reached : (c,) folds, rad
    held : what holds each crease that is away from what is asked
    why : the vertex, pair or crease at fault, in words
    """

    verdict: FoldVerdict
    why: str
    asked: Floats
    reached: Floats
    held: tuple[HeldBy, ...]

    @property
    def wrong_way(self) -> int:
        """How many creases are on the wrong side."""
        return int(wrong_side(self.asked, self.reached).sum())


def reached_folds(mesh: BarHingeMesh, x: Floats) -> Floats:
    """(c,) fold of each crease, rad, zero when flat, valleys positive.

    Of a crease with a width: the sum over its rims and its middle, which is two lines.
    """
    folding = mesh.hinge_share > 0
    whole = np.zeros(len(mesh.pattern.edges))
    turns = hinge_angles(mesh, x, folding) - np.pi
    each = fold_weights(mesh)[folding] * turns
    np.add.at(whole, mesh.hinge_crease[folding], each)
    return whole[mesh.pattern.creases]


def crease_lines(mesh: BarHingeMesh) -> Ints:
    """(q, 3) ends of the lines about which creases turn, and the number of the edge."""
    middle = (mesh.hinge_share == CENTRE_SHARE) | (mesh.hinge_share == 1.0)
    return np.column_stack([mesh.hinge[middle, 1:3], mesh.hinge_crease[middle]])


def asked_until(mesh: BarHingeMesh, phases: Sequence[Phase], number: int) -> Floats:
    """(c,) what the phases up to `number` ask for, rad; nan where nothing."""
    out = np.full(len(mesh.pattern.creases), np.nan)
    for phase in phases[: number + 1]:
        if isinstance(phase, Fold):
            folds = asked_folds(mesh, phase)
            out = np.where(np.isnan(folds), out, folds)
    return out


def wrong_side(asked: Floats, reached: Floats) -> Bools:
    """(c,) which creases fold as mountains in place of valleys, or the other way."""
    side = np.sign(np.nan_to_num(asked))
    return np.asarray(side * reached < -WRONG)


def fold_report(
    sheet: Sheet,
    phases: Sequence[Phase],
    step: OrigamiStep,
    tolerance: float = FOLD_TOLERANCE,
) -> FoldReport:
    """Compare a sheet with what the phases up to that of the step ask for.

    Parameters
    ----------
    tolerance : rad within which a crease has reached what is asked
    """
    mesh = sheet.mesh
    asked = asked_until(mesh, phases, step.phase)
    reached = reached_folds(mesh, step.x)
    away = np.abs(missing_folds(asked, reached)) > tolerance
    rigid = rigid_sheet(mesh, asked) if away.any() else None
    there = RigidFolds(np.nan_to_num(asked), ())
    if rigid is not None:
        there = nearest_rigid(rigid, reached)
    held = _held(sheet, step, away, reached, there, tolerance)
    verdict, why = _verdict(sheet, phases, step, asked, reached, held, there)
    return FoldReport(verdict, why, asked, reached, held)


def nearest_rigid(rigid: RigidSheet, reached: Floats) -> RigidFolds:
    """The folds of rigid panels that come nearest to what is asked.

    From where the sheet is, if it has folded as rigid panels can or every crease has
    followed; else from the flat sheet, since panels that bend need not go there.
    """
    near, share = rigid.closed(reached), np.sign(rigid.aim) * reached
    unbent = not near.open_vertices and np.abs(near.folds - reached).max() < WRONG
    off_flat = share >= np.minimum(WRONG, np.abs(rigid.aim))
    if (unbent and off_flat.all()) or (share >= FOLLOWED * np.abs(rigid.aim)).all():
        there = _settled(rigid, near)
        if there is not None:
            return there
    end = rigid.path()[-1]
    there = _settled(rigid, end)
    return end if there is None else there


def _settled(rigid: RigidSheet, state: RigidFolds) -> RigidFolds | None:
    """Where motions of rigid panels lead from closed folds towards what is asked."""
    for _ in range(APPROACHES):
        if state.open_vertices:
            break
        last, state = state, rigid.nearer(state.folds, rigid.aim)
        if np.abs(state.folds - last.folds).max() < SETTLED:
            return state
    return None


def _held(
    sheet: Sheet,
    step: OrigamiStep,
    away: Bools,
    reached: Floats,
    there: RigidFolds,
    tolerance: float,
) -> tuple[HeldBy, ...]:
    """What holds each crease that is `away` from what is asked."""
    mesh = sheet.mesh
    near = np.abs(there.folds - reached) <= tolerance
    vertices = set(there.open_vertices)
    ends = mesh.pattern.edges[mesh.pattern.creases]
    touched = np.array([not vertices.isdisjoint(pair) for pair in ends.tolist()])
    force = float(np.linalg.norm(step.contact_force, axis=1).max(initial=0.0))
    moment = crease_stiffness(mesh) * np.abs(there.folds - reached)
    pressed = force * mesh.pattern.size >= CARRIED * moment
    out = []
    for c, short in enumerate(away):
        if not short:
            out.append(HeldBy.NOTHING)
        elif near[c] or touched[c]:
            out.append(HeldBy.CLOSURE)
        elif force > 0 and pressed[c]:
            out.append(HeldBy.CONTACT)
        else:
            out.append(HeldBy.COMPLIANCE)
    return tuple(out)


def _verdict(
    sheet: Sheet,
    phases: Sequence[Phase],
    step: OrigamiStep,
    asked: Floats,
    reached: Floats,
    held: Sequence[HeldBy],
    there: RigidFolds,
) -> tuple[FoldVerdict, str]:
    """The verdict, and the vertex, pair or crease at fault."""
    pattern = sheet.mesh.pattern
    missing = np.abs(missing_folds(asked, reached))
    wrong = wrong_side(asked, reached)

    worst = partial(worst_crease, pattern, asked, reached)

    def by(kind: HeldBy) -> Bools:
        return np.array([h is kind for h in held], dtype=bool)

    if not np.nan_to_num(asked).any():
        return FoldVerdict.NOTHING, ""
    if wrong.any():
        why = f"{worst(wrong)}; creases on the wrong side: {wrong.sum()}"
        return FoldVerdict.POPPED, why + _does_not_close(pattern, there)
    if by(HeldBy.CONTACT).any():
        pair = pressed_pair(sheet, phases[step.phase], step.x)
        return FoldVerdict.CONTACT, f"{pair}; {worst(by(HeldBy.CONTACT))}"
    if there.open_vertices:
        return FoldVerdict.OPEN, worst(missing > 0) + _does_not_close(pattern, there)
    bent = (asked == 0.0) & ~by(HeldBy.NOTHING)
    if bent.any():
        return FoldVerdict.OPEN, worst(bent)
    soft = by(HeldBy.COMPLIANCE)
    if soft.any():
        return FoldVerdict.OPEN, f"{worst(soft)}, limited by compliance"
    if (missing > NEAR * np.abs(asked))[np.nan_to_num(asked) != 0.0].all():
        return FoldVerdict.FAR, ""
    return FoldVerdict.FOLDED, ""


def worst_crease(
    pattern: CreasePattern, asked: Floats, reached: Floats, chosen: Bools
) -> str:
    """The crease of those `chosen` that is off most, in words; folds (c,) in rad."""
    missing = np.abs(missing_folds(asked, reached))
    far = np.where(chosen, missing, -1.0)
    c = int(np.argmax(far >= far.max() - ALIKE))
    crease = pattern.crease_name(edge := pattern.creases[c])
    a, b = pattern.edges[edge]
    here, aim = np.degrees(reached[c]), np.degrees(asked[c])
    at = f"{crease} from {pattern.place(a)} to {pattern.place(b)} is at {round(here)}"
    return f"{at} degrees, target {round(aim)} degrees{' (flat)' if aim == 0.0 else ''}"


def _does_not_close(pattern: CreasePattern, there: RigidFolds) -> str:
    """The vertex at which rigid panels cannot fold as asked, in words."""
    if not there.open_vertices:
        return ""
    at = there.open_vertices[0]
    return f"; rigid panels cannot fold this way at vertex {at}, {pattern.place(at)}"


def pressed_pair(sheet: Sheet, phase: Phase, x: Floats) -> str:
    """The two parts that press each other hardest, in words."""
    problem = build_problem(sheet, phase)
    pairs = near_at(problem, x, 0.0).pairs
    slopes = np.abs(pair_slopes(pairs, problem.ke, x)).max(axis=(1, 2))
    if not slopes.any():
        return "no pair touches"
    which = int(slopes.argmax())
    own = 1 if which < pairs.faces else 2
    one, other = pairs.node[which, :own], pairs.node[which, own:]
    return f"{part_at(sheet.mesh, one)} presses {part_at(sheet.mesh, other)}"
