"""The directory of a finished morph run, as a comparison and a figure read it."""

from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from pipeline.runs.atomic_files import read_json
from pipeline.runs.checkpoints import read_arrays
from pipeline.runs.run_directory import record_or_empty
from pipeline.terminal import InputError
from sim.core.arrays import Floats, Ints


@dataclass(frozen=True, eq=False)
class SimulatedRun:
    """What a morph run left.

    Parameters
    ----------
    r : (steps, n, 3) configurations, in the case's unit
    bodies : sets of nodes at constant distances
    rigid : the same, and the fixed nodes, which keep their distances as well
    target_vertices, target_edges : (p, 3), (q, 2) wireframe of the target
    table : steps.csv
    """

    r: Floats
    bodies: tuple[tuple[int, ...], ...]
    rigid: tuple[tuple[int, ...], ...]
    target_vertices: Floats
    target_edges: Ints
    table: pd.DataFrame


def read_simulated(directory: Path) -> SimulatedRun:
    """Read the run directory of a mechanism and check it."""
    record = record_or_empty(directory)
    if record.get("status", "finished") != "finished":
        raise InputError(
            f"{directory}: the status of the run is {record.get('status')}: choose a "
            "finished run"
        )
    if not (directory / "steps.npz").is_file():
        raise InputError(f"{directory} has no steps.npz: run morphtrack simulate first")
    arrays = read_arrays(directory / "steps.npz")
    if "r" not in arrays:
        raise InputError(f"{directory}/steps.npz has no array r: choose a morph run")
    r = np.asarray(arrays["r"], dtype=np.float64)
    vertices = arrays.get("target_vertices", np.empty((0, 3)))
    edges = arrays.get("target_edges", np.empty((0, 2)))
    if r.ndim != 3 or r.shape[2] != 3 or len(r) == 0 or not np.isfinite(r).all():
        raise InputError(
            f"{directory}/steps.npz: r has shape {r.shape} or contains nan: it must be "
            "(steps, nodes, 3) of finite numbers"
        )
    structure = read_json(directory / "structure.json")
    if "bodies" not in structure:
        raise InputError(f"{directory}/structure.json has no list of bodies: add it")
    steps = directory / "steps.csv"
    bodies = tuple(tuple(int(j) for j in body) for body in structure["bodies"])
    axes = Counter(int(row[0]) for row in structure.get("fix", []))
    fixed = tuple(node for node, held in sorted(axes.items()) if held == 3)
    return SimulatedRun(
        r,
        bodies,
        (*bodies, fixed) if len(fixed) > 1 else bodies,
        np.asarray(vertices, dtype=np.float64),
        np.asarray(edges, dtype=np.int64),
        pd.read_csv(steps) if steps.is_file() else pd.DataFrame(),
    )
