"""What printing errors do to a simulated shape.

The case of a finished simulation runs again with other link lengths, as often as asked:
the covariance of its last configurations enters the budget of a comparison. A Newton
morph begins each at the end of that run, closed with the lengths drawn, so that none
ends in another minimum because its way was another.
"""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from analysis.validation.input_uncertainty import (
    distance_covariance,
    draw_shapes,
    shape_covariance,
)
from analysis.validation.loose_joints import closing_with_errors
from analysis.validation.uncertainty import UncertaintyOptions
from pipeline.cases.morph import MorphCase
from pipeline.results.simulated_run import read_simulated
from pipeline.steps.run_goals import goals_of
from pipeline.store.case_job import sound_case
from pipeline.store.files import replacing
from pipeline.store.runs import Job, Needs, Numbers, run_record
from pipeline.terminal.errors import InputError
from sim.arrays import Floats
from sim.morph.structure.structure import Structure

LARGEST_LOSS = 0.1  # share of draws that may fail to converge


@dataclass(frozen=True)
class InputUncertainty:
    """How often the case is printed again, and how badly.

    Parameters
    ----------
    scale_mm : mm of the print per unit of the case
    printing_sd_mm : of each end of a link; joint_play_sd_mm : of each joint in it
    """

    scale_mm: float
    printing_sd_mm: float = UncertaintyOptions.printing_sd_mm
    joint_play_sd_mm: float = UncertaintyOptions.joint_play_sd_mm
    draws: int = 100
    seed: int = 0

    def __post_init__(self) -> None:
        if not 0 < self.scale_mm < np.inf:
            raise ValueError(f"scale_mm must be positive, not {self.scale_mm}")
        if self.draws < 2:
            raise ValueError(f"draws must be 2 or more, not {self.draws}")
        for name in ("printing_sd_mm", "joint_play_sd_mm"):
            if not 0 <= getattr(self, name) < np.inf:
                raise ValueError(
                    f"{name} must be zero or positive, not {getattr(self, name)}"
                )

    @property
    def length_sd_mm(self) -> float:
        """Of a link: two ends, each printed and each with its play."""
        return float(np.sqrt(2) * np.hypot(self.printing_sd_mm, self.joint_play_sd_mm))


def run_step(config: InputUncertainty, simulated: Path, out: Path) -> dict[str, Any]:
    """Print the case of a finished run again and again; write the covariance."""
    run = read_simulated(simulated)
    case: Any = sound_case(run_record(simulated)["config"])
    if not isinstance(case, MorphCase):
        raise InputError(f"{simulated} is not the run of a morphing case")

    def solve(structure: Structure) -> Floats:
        return replace(case, structure=structure).rest_near(run.r[-1]).r

    sd = config.length_sd_mm / config.scale_mm
    rng = np.random.default_rng(config.seed)
    closing = closing_with_errors(case.structure, run.r)
    try:
        shapes = list(draw_shapes(closing, solve, sd, config.draws, rng))
    except ValueError as error:
        raise InputError(
            f"a print with errors of {config.length_sd_mm:.2g} mm a length cannot "
            f"begin: {error}; or lower printing_sd_mm and joint_play_sd_mm"
        ) from error
    found = [x for x in shapes if x is not None]
    lost = config.draws - len(found)
    if lost > LARGEST_LOSS * config.draws:
        raise InputError(
            f"{lost} of {config.draws} prints did not converge: lower "
            "printing_sd_mm or joint_play_sd_mm, or raise the case's max_steps"
        )
    drawn, nodes = config.scale_mm * np.array(found), config.scale_mm * run.r[-1]
    covariance = shape_covariance(nodes, drawn)
    goals = goals_of(simulated, config.scale_mm)
    distances = distance_covariance(nodes, drawn, goals)
    out.mkdir(parents=True, exist_ok=True)
    path = out / "input_covariance.npz"
    with replacing(path) as temporary, temporary.open("wb") as file:
        np.savez(
            file,
            covariance_mm2=covariance,
            distance_covariance_mm2=distances,
            nodes_mm=nodes,
        )
    node_u = float(np.sqrt(np.trace(covariance) / len(run.r[-1])))
    return {"draws": config.draws, "not_converged": lost, "node_u_mm": node_u}


def perform(job: Job, needs: Needs, out: Path) -> Numbers:
    """Print the case of the simulation that a planned job names."""
    return run_step(InputUncertainty(**job.config), needs["simulated"], out)


@dataclass(frozen=True, eq=False)
class PrintedAgain:
    """What printing errors do: covariances (3n, 3n), mm^2, in the simulation's frame.

    Parameters
    ----------
    covariance : of the nodes, rigid motion removed; None where nothing was drawn
    distance_covariance : of the nodes' distances from the target
    """

    covariance: Floats | None = None
    distance_covariance: Floats | None = None


def read_printed_again(directory: Path, nodes_mm: Floats) -> PrintedAgain:
    """What `run_step` wrote for a run that ends in `nodes_mm` (n, 3)."""
    path = directory / "input_covariance.npz"
    if not path.is_file():
        raise InputError(
            f"{path} does not exist: run morphtrack input_uncertainty first"
        )
    try:
        with np.load(path, allow_pickle=False) as file:
            names = ("covariance_mm2", "distance_covariance_mm2", "nodes_mm")
            nodes, distances, same = (np.asarray(file[n], np.float64) for n in names)
    except (KeyError, ValueError) as error:
        raise InputError(
            f"{path} cannot be used ({error}): run morphtrack input_uncertainty again"
        ) from error
    if same.shape != nodes_mm.shape or not np.allclose(same, nodes_mm, rtol=1e-9):
        raise InputError(
            f"{path} belongs to another run or another scale_mm: run "
            "morphtrack input_uncertainty again"
        )
    return PrintedAgain(nodes, distances)
