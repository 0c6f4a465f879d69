"""conf/calibration/<name>.yaml, read and checked: synthetic poses of one print."""

from dataclasses import fields
from pathlib import Path
from typing import Any

from pipeline.errors import InputError, one_line
from pipeline.hydra_command import Composer
from pipeline.yaml_file import check_keys, mapping, read_mapping

FOLDER = Path("conf/calibration")


def composed(path: Path, composer: Composer | None = None) -> dict[str, Any]:
    """What the file describes, every case composed, as plain data."""
    from pipeline.calibration.scans import SyntheticPoses
    from pipeline.virtual_scan import scanner_settings

    given = read_mapping(path)
    known = [f.name for f in fields(SyntheticPoses) if f.name != "cases"]
    check_keys(given, ["mechanism", "poses", *known], str(path))
    for key in ("mechanism", "poses", "scale_mm", "sphere_radius_mm"):
        if key not in given:
            raise InputError(f"{path} has no {key}: add it")
    shared = _words(given.pop("mechanism"), f"{path}: mechanism")
    poses = mapping(given.pop("poses"), f"{path}: poses")
    words = {
        name: [*shared, *_words(value, f"{path}: poses.{name}")]
        for name, value in poses.items()
    }
    if composer is None:
        with Composer() as own:
            cases = {n: own.compose("simulate", w) for n, w in words.items()}
    else:
        cases = {n: composer.compose("simulate", w) for n, w in words.items()}
    lab = {**scanner_settings(), **mapping(given.pop("lab", None), f"{path}: lab")}
    whole = {"cases": cases, "lab": lab, **given}
    try:
        SyntheticPoses(**whole)
    except (TypeError, ValueError) as error:
        raise InputError(f"{path}: {one_line(error)}") from error
    return whole


def _words(value: Any, where: str) -> list[str]:
    if isinstance(value, list) and all(isinstance(v, str) for v in value):
        return value
    raise InputError(f"{where} must be a list of Hydra overrides, not {value!r}")
