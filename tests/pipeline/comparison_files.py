"""Folders of a finished run and of an ingest, as the steps before leave them."""

import json
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from analysis.labels.rigid_distances import Mechanism
from pipeline.config.hydra import Composer
from sim.core.arrays import Floats
from sim.mechanism.shape_measures import characteristic_length, shape_factor
from tests.analysis.mechanisms import Scan

SCALE_MM = 40.0


@cache
def morph_config() -> dict[str, Any]:
    """Of some morph."""
    return Composer().compose("simulate", ["case=pentapod"])


def write_run(
    directory: Path, mechanism: Mechanism, initial_mm: Floats, key: str = "run0"
) -> Path:
    """A morph run that ends in the mechanism's nodes; lengths in units of 40 mm."""
    directory.mkdir(parents=True, exist_ok=True)
    share = np.array([0.0, 0.9, 0.99, 0.999, 1.0])[:, None, None]
    r = (initial_mm + share * (mechanism.nodes_mm - initial_mm)) / SCALE_MM
    np.savez(
        directory / "steps.npz",
        r=r,
        target_vertices=np.array([[-1.0, -1, 0], [1, -1, 0], [1, 1, 0], [-1, 1, 0]]),
        target_edges=np.array([[0, 1], [1, 2], [2, 3], [3, 0]]),
    )
    L = characteristic_length(r[0])
    E = 0.3 * 0.1 ** np.arange(5.0)
    S = [shape_factor(x, L) for x in r]
    table = pd.DataFrame({"step": range(5), "E": E, "S": S, "residual": 1e-12})
    table.to_csv(directory / "steps.csv", index=False)
    bodies = [list(body) for body in mechanism.bodies]
    (directory / "structure.json").write_text(json.dumps({"bodies": bodies}))
    record = {"key": key, "step": "simulate", "status": "finished", "result": {}}
    record |= {"config": morph_config()}
    (directory / "run.json").write_text(json.dumps(record))
    return directory


def write_ingest(directory: Path, scan: Scan) -> Path:
    """spheres.csv of a scan."""
    directory.mkdir(parents=True, exist_ok=True)
    axes = ["xx", "xy", "xz", "yy", "yz", "zz"]
    row, column = [0, 0, 0, 1, 1, 2], [0, 1, 2, 1, 2, 2]
    table = pd.DataFrame(scan.centres_mm, columns=["x_mm", "y_mm", "z_mm"])
    table.insert(0, "sphere", range(len(table)))
    table["radius_mm"], table["rms_mm"], table["points"] = 6.0, 0.05, 400
    six = [f"cov_{a}_mm2" for a in axes]
    table[six] = scan.covariances_mm2[:, row, column]
    table["free_radius_mm"], table["free_radius_sd_mm"] = 6.0, 0.01
    table["cap"], table["views"], table["synthetic"] = 0.4, 8, True
    table.to_csv(directory / "spheres.csv", index=False)
    return directory
