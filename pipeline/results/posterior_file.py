"""The file posterior.json: what the fitted records of a set tell."""

from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from analysis.measured.model_error import Departure, ModelError
from analysis.measured.posterior import Posterior
from pipeline.store.files import read_json, write_json
from pipeline.terminal.errors import InputError, one_line

POSTERIOR = "posterior.json"
ARRAYS = ("u_held", "noise", "model", "gain")


def write_posterior(path: Path, of: Posterior) -> None:
    """Write it, numbers to the last bit."""
    value = {**asdict(of), "inputs": dict(of.inputs), "repeat_sd": dict(of.repeat_sd)}
    value["errors"] = {name: _error(one) for name, one in of.errors.items()}
    write_json(path, value)


def _error(of: ModelError) -> dict[str, Any]:
    return {**asdict(of), "kind": of.kind.value}


def read_posterior(path: Path) -> Posterior:
    """Read it; a file that is not whole is refused."""
    value = read_json(path)
    try:
        errors = {
            name: ModelError(
                Departure(one["kind"]),
                float(one["length"]),
                bool(one["relative"]),
                np.array(one["at"], dtype=np.float64),
                np.array(one["sd"], dtype=np.float64),
                int(one["records"]),
            )
            for name, one in value["errors"].items()
        }
        P, Q = len(value["fitted"]), len(value["held"])
        shapes = {"u_held": (Q,), "noise": (P, P), "model": (P, P), "gain": (P, Q)}
        arrays = {
            name: np.array(value[name], dtype=np.float64).reshape(shapes[name])
            for name in ARRAYS
        }
        return Posterior(
            inputs={k: float(v) for k, v in value["inputs"].items()},
            fitted=tuple(value["fitted"]),
            held=tuple(value["held"]),
            errors=errors,
            repeat_sd={k: float(v) for k, v in value["repeat_sd"].items()},
            **arrays,
        )
    except (KeyError, TypeError, ValueError) as error:
        raise InputError(f"{path} is no posterior: {one_line(error)}") from error
