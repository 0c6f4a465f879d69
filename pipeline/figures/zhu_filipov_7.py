"""Fig. 7 of [ZF19]: what ke, d0 and their ratio do, and reactions beside statics."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from analysis.figures.origami_sweeps import (
    force_shares,
    heights_under_load,
    reactions_by_statics,
)
from analysis.figures.pressed_folds import PressedFold, Sweeps, behaviour_of_contact
from pipeline.cases.origami import OrigamiCase
from pipeline.results.origami_run import read_row
from pipeline.results.shown import DrawnFigure, Row
from pipeline.store.case_job import sound_case
from pipeline.store.runs import run_record
from pipeline.terminal.errors import InputError
from sim.origami.loading.phases import Load

CAPTION = """
**What the parameters of contact do to pressed folds**, after Fig. 7 of [ZF19]. **a** to
**c**, single fold, flat and folded, and double fold (triangles: held nodes; arrows:
load); **d**, the symbols; **e**, **f**, the single fold under load with two $d_0$ (red:
forces of contact). **g**, **h**, load (mN) by height $z$ (mm) of the outer edge for
values of $k_e$ (J) and of $d_0$ (mm). **i**, share of the contact force at nodes of
edges and of centres by $d_{0c}/d_{0e}$. **j**, **k**, reactions (mN) by $x/L$ of single
and double fold: marks from {{ strips }} runs, lines by statics; they differ by {{
by_statics | times(100) | sig(1) }} % at most. As in print, a larger $k_e$ makes the
transition sharper and the reactions are those of statics. In print the forces stand at
the edges below $d_{0c}/d_{0e}$ = 0.7; here their share is above 0.99 up to {{ at_edges
| sig(2) }}. In print $z$ ends about $d_0$ (**h**); here, under the full load, {{ ends |
listed }}.
"""

AT_EDGES = 0.99  # share of the contact force that is nearly all of it
KE, D0 = 0.05, 0.002  # J, m: what the sweeps of d0 and of its ratio hold fixed
SHOWN = (2 * D0, D0)  # d0 of (e) and (f), m
REMEDY = (
    "give the cases single_fold and double_fold, runs of single_fold_strip and "
    "double_fold_strip, and those of the study contact_behaviour"
)


def draw(rows: Sequence[Row]) -> DrawnFigure:
    """A single fold and a double fold, strips by x/L, then the study's runs."""
    if len(rows) < 3:
        raise InputError(f"Fig. 7 has {len(rows)} rows: {REMEDY}")
    cases = [_case(row) for row in rows]
    folds = [_pressed(row, case) for row, case in zip(rows, cases, strict=True)]
    strips: dict[int, dict[float, PressedFold]] = {2: {}, 3: {}}  # by panels
    ke, d0, ratio = {}, {}, {}
    for fold, case in list(zip(folds, cases, strict=True))[2:]:
        if case.nodes is None:
            strips[fold.run.panels][_x_over_L(case)] = fold
            continue
        scale = _scale(case)
        if fold.d0_edge == fold.d0_centre == D0:
            ke[scale] = fold.run
        if scale == KE and fold.d0_edge == fold.d0_centre:
            d0[fold.d0_edge] = fold
        if scale == KE and fold.d0_edge == D0:
            ratio[fold.d0_centre / D0] = fold.run
    _check(ke=ke, d0=d0, ratio=ratio, single=strips[2], double=strips[3])
    by_statics = [
        reactions_by_statics("single fold", strips[2]),
        reactions_by_statics("double fold", strips[3]),
    ]
    tip = int(folds[0].loaded[-1])
    sweeps = Sweeps(
        heights_under_load(ke, tip),
        heights_under_load({value: fold.run for value, fold in d0.items()}, tip),
        force_shares(ratio, cases[0].mesh.centre),
        pd.concat(by_statics, ignore_index=True),
    )
    loaded = [d0[value] for value in SHOWN]
    figure = behaviour_of_contact(folds[0], folds[1], loaded, sweeps)
    keys = [fold.run.key for fold in folds]
    said = _said(by_statics) | _said_of_sweeps(sweeps)
    return DrawnFigure(figure, sweeps.tables(), keys, said=said)


def _said(by_statics: Sequence[pd.DataFrame]) -> dict[str, Any]:
    """How far reactions are from those of statics at most, and of how many runs."""
    table = pd.concat(by_statics)
    away = (table["simulated"] / table["statics"] - 1.0).abs().max()
    return {"by_statics": away, "strips": len(table) // 2}


def _said_of_sweeps(sweeps: Sweeps) -> dict[str, Any]:
    """Up to which ratio edges bear all, and the height at the full load by d0."""
    shares = sweeps.ratio
    ends = sweeps.d0.groupby("value", as_index=False)["height"].last()
    pairs = 1e3 * ends[["height", "value"]].to_numpy(np.float64)
    heights = [f"{z:.2f} mm for {d0:g} mm" for z, d0 in pairs]
    at_edges = shares["ratio"][shares["edge"] > AT_EDGES].max()
    return {"at_edges": at_edges, "ends": heights}


def _check(**found: Mapping[float, object]) -> None:
    """Refuse a figure that lacks the runs of one of its parts."""
    for name, runs in found.items():
        if not runs or (name == "d0" and not set(SHOWN) <= set(runs)):
            raise InputError(f"Fig. 7 has no runs for its part {name!r}: {REMEDY}")


def _case(row: Row) -> OrigamiCase:
    """The case that a finished run was made from."""
    case = sound_case(run_record(row.simulated)["config"])
    if not isinstance(case, OrigamiCase):
        raise InputError(f"{row.simulated} is not the run of an origami case")
    return case


def _pressed(row: Row, case: OrigamiCase) -> PressedFold:
    load, contact = case.phases[-1], case.sheet.contact
    if not isinstance(load, Load):
        raise InputError(f"{row.simulated} ends without a load: {REMEDY}")
    assert contact.d0_edge is not None  # the sheet's contact is filled
    assert contact.d0_centre is not None
    held = np.array([int(support[0]) for support in case.supports])
    return PressedFold(
        read_row(row), held, np.array(load.nodes), contact.d0_edge, contact.d0_centre
    )


def _scale(case: OrigamiCase) -> float:
    """The potential's ke, J."""
    assert case.sheet.contact.ke is not None  # the sheet's contact is filled
    return case.sheet.contact.ke


def _x_over_L(case: OrigamiCase) -> float:
    """Length of the last panel of a strip, of the first's."""
    ends = np.unique(case.pattern.vertices[:, 0])
    return round(float((ends[-1] - ends[-2]) / (ends[1] - ends[0])), 6)
