"""What printing errors do to a simulated shape.

The case of a finished simulation runs again with other link lengths, as often as asked:
the covariance of its last configurations enters the budget of a comparison. A Newton
morph begins each at the end of that run, closed with the sampled lengths, so that none
ends in another minimum because its way was another.
"""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from analysis.comparison.input_uncertainty import (
    closing_with_errors,
    distance_covariance,
    draw_shapes,
    shape_covariance,
)
from pipeline.runs.atomic_files import write_arrays
from pipeline.runs.run_directory import Job, Needs, Numbers
from pipeline.runs.simulated_run import read_simulated
from pipeline.steps.deviation import goals_of, morph_case
from pipeline.steps.settings import InputUncertainty
from pipeline.terminal import InputError, file_of_step
from sim.core.arrays import Floats
from sim.mechanism.structure import Structure

NAMES = ("covariance_mm2", "distance_covariance_mm2", "nodes_mm")  # of the arrays
LARGEST_LOSS = 0.1  # share of draws that may fail to converge


def run_step(config: InputUncertainty, simulated: Path, out: Path) -> dict[str, Any]:
    """Print the case of a finished run again and again; write the covariance."""
    run, case = read_simulated(simulated), morph_case(simulated)

    def solve(structure: Structure) -> Floats:
        return replace(case, structure=structure).rest_near(run.r[-1]).r

    sd = config.length_sd_mm / config.scale_mm
    rng = np.random.default_rng(config.seed)
    closing = closing_with_errors(case.structure, run.r)
    try:
        shapes = list(draw_shapes(closing, solve, sd, config.draws, rng))
    except ValueError as error:
        raise InputError(
            f"a print with length errors of {config.length_sd_mm:.2g} mm cannot be "
            f"assembled: {error}; or lower printing_sd_mm and joint_play_sd_mm"
        ) from error
    found = [x for x in shapes if x is not None]
    lost = config.draws - len(found)
    if lost > LARGEST_LOSS * config.draws:
        raise InputError(
            f"{lost} of {config.draws} prints did not converge: lower "
            "printing_sd_mm or joint_play_sd_mm, or raise the case's max_steps"
        )
    sampled, nodes = config.scale_mm * np.array(found), config.scale_mm * run.r[-1]
    covariance = shape_covariance(nodes, sampled)
    goals = goals_of(simulated, config.scale_mm)
    distances = distance_covariance(nodes, sampled, goals)
    found_mm = dict(zip(NAMES, (covariance, distances, nodes), strict=True))
    write_arrays(out / "input_covariance.npz", **found_mm)
    node_u = float(np.sqrt(np.trace(covariance) / len(run.r[-1])))
    return {"draws": config.draws, "not_converged": lost, "node_u_mm": node_u}


def perform(job: Job, needs: Needs, out: Path) -> Numbers:
    """Print the case of the simulation that a job names."""
    return run_step(InputUncertainty(**job.config), needs["simulated"], out)


@dataclass(frozen=True, eq=False)
class PrintedAgain:
    """What printing errors do: covariances (3n, 3n), mm^2, in the simulation's frame.

    Parameters
    ----------
    covariance : of the nodes, rigid motion removed; None where nothing was sampled
    distance_covariance : of the nodes' distances from the target
    """

    covariance: Floats | None = None
    distance_covariance: Floats | None = None


def read_printed_again(directory: Path, nodes_mm: Floats) -> PrintedAgain:
    """What `run_step` wrote for a run that ends in `nodes_mm` (n, 3)."""
    path = file_of_step(directory / "input_covariance.npz", "input_uncertainty")
    try:
        with np.load(path, allow_pickle=False) as file:
            nodes, distances, same = (np.asarray(file[n], np.float64) for n in NAMES)
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
