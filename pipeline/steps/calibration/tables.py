"""What a calibration found, as tables and as a structure file."""

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from analysis.as_built.adjust import Calibration
from analysis.as_built.model import Model, Role
from pipeline.formats.structure_file import document
from sim.morph.mobility.units import rescaled
from sim.morph.structure.structure import Structure


def deviations_table(found: Calibration) -> pd.DataFrame:
    """A row an unknown: its deviation from nominal, u, and a 95 % interval."""
    half = found.half_width()
    model = found.model
    nominal = model.lengths
    return pd.DataFrame(
        {
            "unknown": model.names,
            "role": [roles_of(model, g) for g in range(model.unknowns)],
            "nominal_mm": nominal,
            "deviation_mm": found.theta,
            "u_mm": found.u,
            "low_mm": found.theta - half,
            "high_mm": found.theta + half,
            "degrees_of_freedom": found.dof,
            "as_built_mm": nominal + found.theta,
        }
    )


def roles_of(model: Model, group: int) -> str:
    """What an unknown belongs to; the scanner's scale to the scanner."""
    rows = np.flatnonzero(model.group == group)
    return list(Role)[model.role[rows[0]]].value if len(rows) else "scanner"


def spread_table(found: Calibration) -> pd.DataFrame:
    """A row a kind of play, one of scatter: standard deviation, u, 95 % interval."""
    rows: list[dict[str, Any]] = []
    kinds = [f"{role.value} play" for role in found.model.play]
    kinds += ["scatter of centres"] * found.model.scatter
    for k, kind in enumerate(kinds):
        sigma = float(np.sqrt(found.variances[k]))
        u2 = float(np.sqrt(found.variances_covariance[k, k]))
        low, high = found.spread_interval(k)
        u = u2 / (2.0 * sigma) if sigma > 0.0 else float("nan")
        rows.append(
            {"what": kind, "sd_mm": sigma, "u_mm": u, "low_mm": low,
             "high_mm": high}
        )  # fmt: skip
    return pd.DataFrame(rows, columns=["what", "sd_mm", "u_mm", "low_mm", "high_mm"])


def growth_table(parts: list[tuple[int, Calibration]]) -> pd.DataFrame:
    """A row a number of poses: the uncertainty that they leave, by role."""
    rows = []
    for poses, found in parts:
        roles = [roles_of(found.model, g) for g in range(found.model.unknowns)]
        row: dict[str, Any] = {"poses": poses}
        for role in dict.fromkeys(roles):
            chosen = np.array(roles) == role
            row[f"{role}_u_mm"] = float(np.sqrt(np.mean(found.u[chosen] ** 2)))
        for k, kind in enumerate(found.model.play):
            row[f"{kind.value}_play_mm"] = float(np.sqrt(found.variances[k]))
            low, high = found.spread_interval(k)
            row |= {
                f"{kind.value}_play_low_mm": low,
                f"{kind.value}_play_high_mm": high,
            }
        rows.append(row)
    return pd.DataFrame(rows)


def as_built(nominal: Structure, found: Calibration, scale_mm: float) -> Structure:
    """The structure with its constants as estimated, in the case's unit."""
    in_mm = found.model.structure
    table = replace(in_mm.constraints, constant=found.model.constants(found.theta))
    made = rescaled(replace(in_mm, constraints=table), scale_mm)
    return replace(made, r0=nominal.r0, goals=nominal.goals)


def as_built_document(nominal: Structure, made: Structure) -> dict[str, object]:
    """A structure file that says what it is."""
    note = f"as built: constants of a drawing with {len(nominal.r0)} nodes, calibrated"
    return {"description": note, **document(made)}
