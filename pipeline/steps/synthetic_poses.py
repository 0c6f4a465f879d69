"""conf/calibration/NAME.yaml: synthetic poses of one print, composed and checked."""

from pathlib import Path
from typing import Any, Self

from pydantic import Field, model_validator

from pipeline.config import value_types
from pipeline.config.config_files import CONF, checked
from pipeline.config.hydra import Composer, composed_file
from pipeline.config.workflow_file import scanner_settings
from pipeline.steps.settings import CalibrationSettings, ComparisonSettings
from sim.virtual_lab.lab_settings import VirtualLab

FOLDER = CONF / "calibration"


class PrintedPoses(value_types.Entry):
    """What is known of synthetic poses.

    Attributes
    ----------
    length_sd_mm : of every length's error, one for all poses
    play_sd_mm : of every link's play, anew in each pose
    lab : of the virtual scanner; its own errors of printing are best zero
    comparison : settings of morphtrack compare
    settings : of the calibration
    """

    scale_mm: value_types.Positive
    sphere_radius_mm: value_types.Positive
    seed: value_types.Count = 0
    length_sd_mm: value_types.NotNegative = 0.2
    play_sd_mm: value_types.NotNegative = 0.05
    lab: value_types.Settings = Field(default_factory=dict)
    comparison: value_types.Settings = Field(default_factory=dict)
    settings: value_types.Settings = Field(default_factory=dict)


class CalibrationFile(PrintedPoses):
    """Poses by name, each with its Hydra overrides after those of the mechanism."""

    mechanism: value_types.Words
    poses: dict[str, value_types.Words] = Field(min_length=1)


class SyntheticPoses(PrintedPoses):
    """One print with known errors, in several poses.

    Attributes
    ----------
    cases : configuration of the nominal simulation of each pose, by name
    """

    cases: dict[str, dict[str, Any]] = Field(min_length=1)

    @model_validator(mode="after")
    def _is_sound(self) -> Self:
        _ = self.scanner(0), self.compared, self.calibration
        return self

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
    def calibration(self) -> CalibrationSettings:
        """What is estimated."""
        return CalibrationSettings.from_plain(self.settings)


def composed(path: Path, composer: Composer | None = None) -> dict[str, Any]:
    """What the file describes, every case composed, as plain data."""
    given = checked(CalibrationFile, composed_file(path), str(path))
    by = composer or Composer()
    cases = {
        name: by.compose("simulate", [*given.mechanism, *own])
        for name, own in given.poses.items()
    }
    own = given.model_dump(exclude={"mechanism", "poses"}, exclude_unset=True)
    whole = {"cases": cases, **own, "lab": {**scanner_settings(), **given.lab}}
    checked(SyntheticPoses, whole, str(path))
    return whole
