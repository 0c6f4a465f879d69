"""Numbers behind Fig. 5 and Fig. 7 of [ZF19]: one node at a panel, one fold pressed."""

from collections.abc import Iterable
from dataclasses import replace

import numpy as np
import pandas as pd

from sim.arrays import Floats
from sim.contact.candidates import find_pairs
from sim.contact.potential import pair_terms
from sim.contact.surface import Surface
from sim.origami.assembly import assemble
from sim.origami.contact import Contact
from sim.origami.folding import OrigamiStep, run
from sim.origami.phases import Fold, Load, Phase
from sim.origami.problem import near_at
from sim.origami.sheet import Sheet, build_problem

TRIANGLE = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])


def node_at_panel(point: Floats, *, d0: float, ke: float) -> tuple[float, float]:
    """Force on a node along z, and its stiffness, next to the triangle of Fig. 5."""
    x = np.vstack([point, TRIANGLE])
    surface = Surface(
        point=np.array([0]),
        point_panel=np.empty((1, 0), dtype=np.int64),
        point_reach=np.array([d0]),
        triangle=np.array([[1, 2, 3]]),
        triangle_panel=np.array([0]),
        edge=np.empty((0, 2), dtype=np.int64),
        edge_reach=0.0,
        tag=np.full((4, 2), -1),
        rest=x,
        limited=False,
        thickness=0.0,
    )
    pairs = find_pairs(surface, x, d0)
    g, h = np.zeros(12), np.zeros((12, 12))
    if len(pairs.row):
        pair_terms(pairs, 0, ke, x, g, h)
    return float(-g[2]), float(h[2, 2])


def approach(heights: Iterable[float]) -> pd.DataFrame:
    """Fig. 5b, c: a node over (0.2, 0.2) comes down; d0 = 1, ke = 1."""
    rows = [
        (z, *node_at_panel(np.array([0.2, 0.2, z]), d0=1.0, ke=1.0)) for z in heights
    ]
    return pd.DataFrame(rows, columns=["d", "force", "stiffness"])


def crossing(places: Iterable[float], heights: Iterable[float]) -> pd.DataFrame:
    """Fig. 5e, f: a node moves along (delta, delta) at given heights."""
    rows = [
        (delta, z, *node_at_panel(np.array([delta, delta, z]), d0=1.0, ke=1.0))
        for z in heights
        for delta in places
    ]
    return pd.DataFrame(rows, columns=["delta", "z", "force", "stiffness"])


def pressed(sheet: Sheet, contact: Contact, phases: list[Phase]) -> list[OrigamiStep]:
    """The steps of a fold and a load with other contact."""
    changed = replace(sheet, contact=contact.filled(sheet.mesh))
    return list(run(changed, phases))


def heights_under_load(
    sheet: Sheet, phases: list[Phase], contacts: dict[float, Contact]
) -> pd.DataFrame:
    """Fig. 7g, h: height of the loaded node over the load, for each contact.

    Parameters
    ----------
    phases : a fold, then a load that watches the node
    contacts : by the value that tells them apart
    """
    load = phases[-1]
    assert isinstance(load, Load)
    rows = [
        (value, step.load, float(step.x[load.watch, load.axis]))
        for value, contact in contacts.items()
        for step in pressed(sheet, contact, phases)
        if step.phase == len(phases) - 1
    ]
    return pd.DataFrame(rows, columns=["value", "load", "height"])


def force_shares(
    sheet: Sheet, phases: list[Phase], contact: Contact, ratios: Iterable[float]
) -> pd.DataFrame:
    """Fig. 7i: parts of the contact force at centres and at edges over d0c / d0e."""
    rows = []
    for ratio in ratios:
        assert contact.d0_edge is not None  # the caller gives it
        changed = replace(contact, d0_centre=ratio * contact.d0_edge)
        last = pressed(sheet, changed, phases)[-1]
        size = np.linalg.norm(last.contact_force, axis=1)
        centre = float(size[sheet.mesh.centre].sum())
        edge = float(size.sum()) - centre
        rows.append((ratio, centre / (centre + edge), edge / (centre + edge)))
    return pd.DataFrame(rows, columns=["ratio", "centre", "edge"])


def support_reactions(sheet: Sheet, phase: Load, step: OrigamiStep) -> Floats:
    """(n,) vertical force that the supports exert on each node, N."""
    problem = build_problem(sheet, replace(phase, supports=[]))
    near = near_at(problem, step.x, problem.skin)
    system = assemble(problem.model, near.pairs, problem.ke, step.x, step.angles)
    force: Floats = system.force[problem.model.unknown][:, 2]
    force[list(phase.nodes)] -= phase.force[2] * step.factor
    return force


def reactions_by_statics(
    name: str, sheets: Iterable[tuple[float, Sheet, list[Phase], int]]
) -> pd.DataFrame:
    """Fig. 7j, k: reactions at both ends of the lower panel beside those of statics.

    Parameters
    ----------
    sheets : x/L, the sheet, its fold and load, and the axis along which it is folded
    """
    rows = []
    for ratio, sheet, phases, axis in sheets:
        load = phases[-1]
        assert isinstance(load, Load)
        assert isinstance(phases[0], Fold)
        step = list(run(sheet, phases))[-1]
        up = support_reactions(sheet, load, step)
        held = np.array([int(row[0]) for row in sheet.supports])
        place = step.x[held, axis]
        span = (place.min(), place.max())
        total = -len(load.nodes) * load.force[2] * step.factor
        at = float(step.x[list(load.nodes), axis].mean())
        far = total * (at - span[0]) / (span[1] - span[0])
        for support, end, statics in zip(
            ("free end", "crease end"), span, (total - far, far), strict=True
        ):
            simulated = float(up[held[np.abs(place - end) < 1e-3]].sum())
            rows.append((name, ratio, support, simulated, statics))
    columns = ["case", "x_over_L", "support", "simulated", "statics"]
    return pd.DataFrame(rows, columns=columns)


def even(start: float, stop: float, count: int) -> list[float]:
    """`count` values at equal distances."""
    return [float(v) for v in np.linspace(start, stop, count)]
