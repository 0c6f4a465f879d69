"""spheres.csv, as a comparison reads it."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.linalg import block_diag

from pipeline.terminal.errors import InputError
from sim.arrays import Floats

CENTRE = ["x_mm", "y_mm", "z_mm"]
COVARIANCE = [f"cov_{axes}_mm2" for axes in ("xx", "xy", "xz", "yy", "yz", "zz")]


@dataclass(frozen=True, eq=False)
class SphereTable:
    """Spheres of one scan.

    Parameters
    ----------
    names : (m,) numbers of the spheres in the file
    centres_mm : (m, 3)
    covariances_mm2 : (m, 3, 3) of each centre
    covariance_mm2 : (3m, 3m) of all centres together
    synthetic : whether the scan was made by computation
    remark : what the spheres say against the radius that was stated, if anything
    """

    names: tuple[str, ...]
    centres_mm: Floats
    covariances_mm2: Floats
    covariance_mm2: Floats
    synthetic: bool
    remark: str = ""


def read_spheres(directory: Path) -> SphereTable:
    """Read DIR/spheres.csv and check it."""
    path = directory / "spheres.csv"
    if not path.is_file():
        raise InputError(f"{path} does not exist: run morphtrack ingest first")
    try:
        table = pd.read_csv(path, dtype={"sphere": str})
    except (pd.errors.ParserError, pd.errors.EmptyDataError, ValueError) as error:
        raise InputError(f"{path} is not a table: {error}") from error
    for column in ["sphere", *CENTRE, *COVARIANCE]:
        if column not in table:
            raise InputError(
                f"{path} has no column {column}: make it again with morphtrack ingest"
            )
    numbers = _numbers(table, path)
    six = numbers[:, 3:]
    covariances = six[:, [0, 1, 2, 1, 3, 4, 2, 4, 5]].reshape(-1, 3, 3)
    lowest = np.linalg.eigvalsh(covariances).min(axis=1, initial=np.inf)
    if not (lowest > 0).all():
        row = int(np.argmin(lowest))
        raise InputError(
            f"{path}: the covariance of sphere {table['sphere'][row]} is not positive "
            f"definite (lowest eigenvalue {lowest[row]:.2e} mm^2): correct or remove it"
        )
    synthetic = table.get("synthetic", pd.Series(dtype=bool))
    marked = synthetic.astype(str).str.lower().isin(["true", "1"]).any()
    centres = numbers[:, :3].copy()
    beside = directory / "covariance.npz"
    together, remark = _together(beside, centres, covariances), _remark(beside)
    return SphereTable(
        tuple(table["sphere"]), centres, covariances, together, bool(marked), remark
    )


def _remark(path: Path) -> str:
    """What the ingest noted of the spheres' own radius."""
    if not path.is_file():
        return ""
    with np.load(path, allow_pickle=False) as file:
        return str(file["radius_remark"]) if "radius_remark" in file else ""


def _together(path: Path, centres: Floats, covariances: Floats) -> Floats:
    """The covariance of all centres: the ingest's own, else each centre alone."""
    if not path.is_file():
        return np.asarray(block_diag(*covariances), dtype=np.float64)
    with np.load(path, allow_pickle=False) as file:
        whole = np.asarray(file["covariance_mm2"], dtype=np.float64)
        same = np.asarray(file["centres_mm"], dtype=np.float64)
    if same.shape != centres.shape or not np.allclose(same, centres, atol=1e-5):
        raise InputError(
            f"{path} does not belong to the spheres beside it: run the ingest again, "
            f"or delete {path.name} if spheres.csv was edited on purpose"
        )
    if whole.shape != (centres.size, centres.size):
        raise InputError(
            f"{path}: the covariance has shape {whole.shape} for {len(centres)} "
            "spheres: run the ingest again"
        )
    m = len(centres)
    own = np.einsum("iaib->iab", whole.reshape(m, 3, m, 3))
    if not np.allclose(own, covariances, rtol=1e-6, atol=1e-6 * np.abs(own).max()):
        raise InputError(
            f"{path} has other covariances than the spheres beside it: run the ingest "
            f"again, or delete {path.name} if spheres.csv was edited on purpose"
        )
    return whole


def _numbers(table: pd.DataFrame, path: Path) -> Floats:
    columns = [*CENTRE, *COVARIANCE]
    numbers: Floats = (
        table[columns].apply(pd.to_numeric, errors="coerce").to_numpy(np.float64)
    )
    row, column = np.nonzero(~np.isfinite(numbers))
    if len(row):
        bad = table[columns[column[0]]][row[0]]
        raise InputError(
            f"{path}: {columns[column[0]]} of sphere {table['sphere'][row[0]]} is "
            f"{bad!r}: it must be a finite number"
        )
    return numbers
