"""C3D by ezc3d, in a process of its own: a damaged file can end it or never end."""

import os
import subprocess
import sys
from importlib.util import find_spec
from io import BytesIO
from pathlib import Path

import numpy as np

from pipeline.formats.motion.track import METRES, Track
from pipeline.terminal.errors import InputError

READER = Path(__file__).with_name("c3d_reader.py")


def read(path: Path) -> Track:
    """The markers of a C3D file; see pipeline.formats.motion.markers.read_motion."""
    if find_spec("ezc3d") is None:
        raise InputError(
            f"{path}: C3D files are read by the package ezc3d, which is not installed: "
            "run make formats (pip: the extra morphtrack[formats]), or export CSV"
        )
    words = [sys.executable, "-P", str(READER), str(path)]
    env = os.environ | {"OPENBLAS_NUM_THREADS": "1"}  # each takes memory
    try:
        made = subprocess.run(
            words, env=env, capture_output=True, timeout=60, check=True
        )
    except subprocess.SubprocessError as error:
        said = f"{path} cannot be read as C3D: is it damaged? export it again"
        raise InputError(said) from error
    with np.load(BytesIO(made.stdout)) as file:
        names, derived, places = file["names"], file["derived"], file["places"]
        unit, rate = str(file["unit"]), float(file["rate"])
    many = places.shape[1]
    if unit not in METRES or not 0.0 < rate < np.inf or len(names) < many:
        raise InputError(
            f"{path}: POINT:UNITS is {unit or 'missing'}, the frame rate {rate:g} Hz, "
            f"{len(names)} of {many} markers have names: give m, cm or mm, and the rest"
        )
    places[(places == 0.0).all(axis=2)] = np.nan  # lost frames are often filled so
    own = np.flatnonzero(~np.isin(names[:many], derived))
    time = np.arange(len(places)) / rate
    return Track(time, tuple(map(str, names[own])), places[:, own], unit)
