"""Fig. 7 of [ZF19]: what ke, d0 and their ratio do, and reactions beside statics."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd

from analysis.figures.zhu_filipov_2019 import behaviour_of_contact
from analysis.origami_sweeps import (
    even,
    force_shares,
    heights_under_load,
    reactions_by_statics,
)
from pipeline.cases.origami import OrigamiCase
from pipeline.errors import InputError
from pipeline.figures.shown import Drawn, Row
from pipeline.files import read_json
from pipeline.hydra_command import build
from pipeline.origami_run import read_row
from sim.origami.compliant import compliant_mesh
from sim.origami.contact import Contact
from sim.origami.material import Material
from sim.origami.mesh import Mesh
from sim.origami.pattern import Pattern
from sim.origami.phases import Fold, Load, Phase
from sim.origami.sheet import Sheet

L = 0.02  # length of the lower panel, m
KE = (0.002, 0.02, 0.2)  # J
D0 = (1e-3, 2e-3, 4e-3)  # m


def draw(rows: Sequence[Row]) -> Drawn:
    """One row: the case single_fold, whose sheet the sweeps press again and again."""
    if len(rows) != 1:
        raise InputError(f"{len(rows)} rows: Fig. 7 starts from one case, single_fold")
    run, case = read_row(rows[0]), _case(rows[0].simulated)
    sheet, phases = case.sheet, list(case.phases)
    own = replace(case.contact, rules="paper")
    ke = heights_under_load(sheet, phases, {k: replace(own, ke=k) for k in KE})
    d0 = heights_under_load(
        sheet,
        phases,
        {d: replace(own, ke=0.05, d0_edge=d, d0_centre=d) for d in D0},
    )
    ratio = force_shares(sheet, phases, replace(own, ke=0.05), even(0.5, 1.2, 15))
    reactions = pd.concat(
        [
            reactions_by_statics("single fold", _single_folds(case)),
            reactions_by_statics("double fold", _double_folds(case)),
        ],
        ignore_index=True,
    )
    tables = {"ke": ke, "d0": d0, "ratio": ratio, "reactions": reactions}
    return Drawn(behaviour_of_contact(run, ke, d0, ratio, reactions), tables, [run.key])


def _case(directory: Path) -> OrigamiCase:
    """The case that a finished run was made from."""
    case = build(read_json(directory / "run.json")["config"]["case"], "case")
    if not isinstance(case, OrigamiCase):
        raise InputError(f"{directory} is not the run of an origami case")
    return case


Variant = tuple[float, Sheet, list[Phase], int]


def _single_folds(case: OrigamiCase) -> Iterator[Variant]:
    """Upper panels of other lengths; W = 1.5 mm, ke = 2e-4 J."""
    for share in even(0.4, 0.9, 6):
        mesh = _strip([L, share * L], case.material)
        load = Load([5, 6], [0.0, 0.0, -5e-4], increments=20, watch=6)
        yield _variant(case, share, mesh, Fold([2], [1.9], increments=20), load)


def _double_folds(case: OrigamiCase) -> Iterator[Variant]:
    """A third panel of length x on a second of length 2 x, folded to a Z."""
    for share in even(0.5, 0.8, 4):
        mesh = _strip([L, 2 * share * L, share * L], case.material)
        fold = Fold([2, 5], [1.9, 0.1], increments=20)
        load = Load([9, 10], [0.0, 0.0, -5e-4], increments=20, watch=10)
        yield _variant(case, share, mesh, fold, load)


def _variant(
    case: OrigamiCase, share: float, mesh: Mesh, fold: Fold, load: Load
) -> Variant:
    contact = Contact("full", 2e-4, 1.5e-3, 1.05e-3).filled(mesh)
    return share, Sheet(mesh, case.supports, contact), [fold, load], 0


def _strip(lengths: Sequence[float], material: Material) -> Mesh:
    """Panels in a row along x, as wide as L, with creases of 1.5 mm between them."""
    x = np.concatenate([[0.0], np.cumsum(lengths)])
    low = np.column_stack([x, 0 * x, 0 * x])
    high = low + np.array([0.0, L, 0.0])
    n = len(x)
    panels = [[k, k + 1, n + k + 1, n + k] for k in range(n - 1)]
    pattern = Pattern(np.vstack([low, high]), panels)
    return compliant_mesh(pattern, replace(material, crease_width=1.5e-3))
