"""Synthetic poses of a mechanism whose true lengths are known.

They stand in for real scans until there are some. One print, wrong by seeded errors, is
brought to several shapes; in each its links have play of their own. Every pose is
scanned in the virtual lab, ingested and compared with the nominal simulation, as a real
scan is; nothing but truth.csv tells the true lengths.
"""

import copy
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from analysis.as_built.model import Model, Role, model_of
from pipeline.formats.structure_file import document
from pipeline.steps.calibration.poses import PoseFolders
from pipeline.steps.calibration.run import run_step
from pipeline.steps.calibration.settings import Settings
from pipeline.steps.compare import ComparisonSettings
from pipeline.steps.compare import run_step as compare
from pipeline.steps.ingest import Ingest
from pipeline.steps.ingest import run_step as ingest
from pipeline.steps.simulate import run_in
from pipeline.steps.virtual_scan import run_step as virtual_scan
from pipeline.store.case_job import planned, sound_case
from pipeline.store.files import replacing, write_json
from pipeline.store.runs import Job, Needs, Numbers
from pipeline.terminal.errors import InputError
from sim.arrays import Floats
from sim.lab.scanner import VirtualLab
from sim.morph.mobility.units import rescaled
from sim.morph.structure.structure import Structure


@dataclass(frozen=True)
class SyntheticPoses:
    """One print with known errors, in several poses.

    Parameters
    ----------
    cases : configuration of the nominal simulation of each pose, by name
    length_sd_mm : of every length's error, one for all poses
    play_sd_mm : of every link's play, anew in each pose
    lab : of the virtual scanner; its own errors of printing are best zero
    comparison : settings of morphtrack compare
    settings : of the calibration
    """

    cases: Mapping[str, Any]
    scale_mm: float
    sphere_radius_mm: float
    seed: int = 0
    length_sd_mm: float = 0.2
    play_sd_mm: float = 0.05
    lab: Mapping[str, Any] = field(default_factory=dict)
    comparison: Mapping[str, Any] = field(default_factory=dict)
    settings: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not self.cases:
            raise ValueError("poses is empty: give one pose or more")
        if type(self.seed) is not int or self.seed < 0:
            raise ValueError(f"seed must be a whole number from 0 up, not {self.seed}")
        for name in ("scale_mm", "sphere_radius_mm"):
            value = getattr(self, name)
            if not isinstance(value, int | float) or not 0.0 < value < np.inf:
                raise ValueError(f"{name} must be positive, not {value!r}")
        for name in ("length_sd_mm", "play_sd_mm"):
            value = getattr(self, name)
            if not isinstance(value, int | float) or not 0.0 <= value < np.inf:
                raise ValueError(f"{name} must be zero or positive, not {value!r}")
        _ = self.scanner(0), self.compared, self.calibration

    def scanner(self, pose: int) -> VirtualLab:
        """The lab of one pose."""
        own = {"scale_mm": self.scale_mm, "ball_radius_mm": self.sphere_radius_mm}
        seed = 1000 * self.seed + pose
        return VirtualLab.from_mapping({**self.lab, **own, "seed": seed})

    @property
    def compared(self) -> ComparisonSettings:
        """Settings of every comparison."""
        return ComparisonSettings(scale_mm=self.scale_mm, **self.comparison)

    @property
    def calibration(self) -> Settings:
        """What is estimated."""
        given = dict(self.settings)
        for name in ("references", "leave_out"):
            given[name] = tuple(given.get(name, ()))
        return Settings(**given)


def run_synthetic(config: SyntheticPoses, out: Path) -> dict[str, Any]:
    """Print, scan and compare every pose, then calibrate; all of it goes into `out`."""
    nominal = _structure(next(iter(config.cases.values())))
    model = model_of(nominal, config.scale_mm, config.calibration.unknowns)
    rng = np.random.default_rng([config.seed, 0xA5B])
    theta = config.length_sd_mm * rng.standard_normal(model.unknowns)
    if model.scale:
        theta[-1] = 0.0
    folders = []
    for number, (name, case) in enumerate(config.cases.items()):
        play = config.play_sd_mm * rng.standard_normal(len(model.row))
        play[model.role != list(Role).index(Role.LINK)] = 0.0
        print_of = printed(nominal, model, theta, play)
        folders.append(_pose(config, number, (name, case), print_of, out))
    numbers = run_step(config.calibration, folders, out)
    table = pd.DataFrame({"unknown": model.names, "true_deviation_mm": theta})
    with replacing(out / "truth.csv") as temporary:
        table.to_csv(temporary, index=False, lineterminator="\n")
    found = pd.read_csv(out / "deviations.csv")
    inside = (found["low_mm"] <= theta) & (theta <= found["high_mm"])
    numbers["true_within_95"] = f"{int(inside.sum())} of {len(theta)}"
    numbers["true_play_mm"] = config.play_sd_mm
    return numbers


def perform(job: Job, needs: Needs, out: Path) -> Numbers:
    """Calibrate from poses that a planned job describes; it makes them itself."""
    del needs
    return run_synthetic(SyntheticPoses(**job.config), out)


def printed(nominal: Structure, model: Model, theta: Floats, play: Floats) -> Structure:
    """The structure with deviations theta, and play (r,) of each row, both in mm."""
    constant = model.constants(theta)
    loose = np.flatnonzero(play)
    at = model.constraint[loose]
    constant[at] = (np.sqrt(constant[at]) + play[loose]) ** 2
    table = replace(model.structure.constraints, constant=constant)
    made = rescaled(replace(model.structure, constraints=table), _scale(nominal, model))
    return replace(made, r0=nominal.r0, goals=nominal.goals)


def _scale(nominal: Structure, model: Model) -> float:
    return float(np.ptp(model.structure.r0) / np.ptp(nominal.r0))


def _structure(config: Mapping[str, Any]) -> Structure:
    case: Any = sound_case(config)
    if not isinstance(getattr(case, "structure", None), Structure):
        raise InputError("a calibration needs cases of morphing: this one has no links")
    structure: Structure = case.structure
    return structure


def _pose(
    config: SyntheticPoses,
    number: int,
    named: tuple[str, Mapping[str, Any]],
    print_of: Structure,
    out: Path,
) -> PoseFolders:
    """Simulate a pose as drawn and as printed; scan and compare it."""
    name, case = named
    here = out / "poses" / name
    simulated = run_in(here / "simulated", planned(name, case))
    path = here / "printed.json"
    write_json(path, document(print_of))
    as_printed = copy.deepcopy(dict(case))
    as_printed["case"]["structure"] = {
        "_target_": "pipeline.formats.structure_file.structure_file",
        "path": str(path),
    }
    made = run_in(here / "printed", planned(f"{name}-printed", as_printed))
    virtual_scan(config.scanner(number), made, here / "scan")
    views = sorted((here / "scan").glob("*.ply"))
    ingest(
        Ingest(sphere_radius_mm=config.sphere_radius_mm, unit="mm"),
        views,
        here / "spheres",
    )
    shutil.rmtree(here / "scan")  # megabytes; what was measured is in spheres
    compare(
        config.compared,
        here / "spheres",
        simulated,
        here / "comparison",
        pictured=False,
    )
    return PoseFolders(name, here / "comparison", here / "spheres", simulated)
