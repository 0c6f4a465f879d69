"""conf/calibration/<name>.yaml, composed and checked: synthetic poses of one print."""

from pathlib import Path
from typing import Any

from pydantic import Field

from pipeline.config.checking import checked
from pipeline.config.hydra import Composer, composed_file
from pipeline.config.models import Count, Entry, Settings, Words
from pipeline.terminal.errors import InputError, one_line

FOLDER = Path("conf/calibration")


class CalibrationFile(Entry):
    """Poses by name, each with its Hydra overrides after those of the mechanism."""

    mechanism: Words
    poses: dict[str, Words]
    scale_mm: float
    sphere_radius_mm: float
    seed: Count = 0
    length_sd_mm: float = 0.2
    play_sd_mm: float = 0.05
    lab: Settings = Field(default_factory=dict)
    comparison: Settings = Field(default_factory=dict)
    settings: Settings = Field(default_factory=dict)


def composed(path: Path, composer: Composer | None = None) -> dict[str, Any]:
    """What the file describes, every case composed, as plain data."""
    from pipeline.steps.calibrate import SyntheticPoses
    from pipeline.steps.virtual_scan import scanner_settings

    given = checked(CalibrationFile, composed_file(path), str(path))
    words = {name: [*given.mechanism, *own] for name, own in given.poses.items()}
    if composer is None:
        with Composer() as own_composer:
            cases = _cases(own_composer, words)
    else:
        cases = _cases(composer, words)
    own = given.model_dump(exclude={"mechanism", "poses"}, exclude_unset=True)
    whole = {"cases": cases, **own, "lab": {**scanner_settings(), **given.lab}}
    try:
        SyntheticPoses(**whole)
    except (TypeError, ValueError) as error:
        raise InputError(f"{path}: {one_line(error)}") from error
    return whole


def _cases(composer: Composer, words: dict[str, list[str]]) -> dict[str, Any]:
    return {name: composer.compose("simulate", w) for name, w in words.items()}
