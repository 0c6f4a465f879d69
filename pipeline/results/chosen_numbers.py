"""Which numbers of a run by step tell most: what its picture, film and page show."""

from pathlib import Path

import numpy as np

from pipeline.results.step_numbers import step_numbers
from sim.arrays import Floats

PREFERRED = (
    "E", "S", "strain_energy", "contact_energy", "largest_rise", "largest_fold_deg",
    "clearance",
)  # fmt: skip
ENERGIES = ("strain_energy", "contact_energy")
CENTRE = ("x_c", "y_c", "z_c")
STILL = 1e-3  # a coordinate that moves by less of the one that moves most stands still
ROUNDED = 1e-12  # of the shape, by which a centre that stays moves all the same
AXES = ("time", "field", "step")


def chosen_columns(directory: Path, size: float = 0.0) -> dict[str, Floats]:
    """Time or step, and the two numbers of steps.csv that tell most.

    A centre that moves by rounding tells nothing, nor does an energy below the work, J,
    of the largest force that its solver left unbalanced, N, on a way as long as the
    shape is large.

    Parameters
    ----------
    size : of the shape, m
    """
    table = step_numbers(directory)
    if not table:
        return {}
    along = next((name for name in AXES if name in table), next(iter(table)))
    floor = size * np.nan_to_num(table.get("residual", np.zeros(1))).max()
    others = [
        name
        for name, values in table.items()
        if name not in AXES and _says(values, floor if name in ENERGIES else 0.0)
    ]
    moved = {name: np.ptp(table[name]) for name in CENTRE if name in others}
    others = [name for name in others if moved.get(name, size) >= ROUNDED * size]
    moved = {name: way for name, way in moved.items() if name in others}
    seen = [name for name in moved if moved[name] >= STILL * max(moved.values())]
    most = sorted(sorted(seen, key=lambda name: float(moved[name]))[-2:])
    known = [name for name in (*PREFERRED, *most) if name in others]
    varied = [
        name for name in others if np.nanmax(table[name]) > np.nanmin(table[name])
    ]
    return {name: table[name] for name in [along, *(known or varied or others)[:2]]}


def _says(values: Floats, floor: float) -> bool:
    """Whether a column has a number that is not zero, nor below a floor."""
    return bool((np.isfinite(values) & (np.abs(values) > floor)).any())
