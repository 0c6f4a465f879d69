"""conf/workflow.yaml, read and checked: which comparisons and figures are wanted."""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from pipeline.errors import InputError
from pipeline.folder_names import folder_name
from pipeline.yaml_file import check_keys, mapping, read_mapping

WORKFLOW = Path("conf/workflow.yaml")
UNITS = ("mm", "m", "cm", "inch")
VERDICTS = ("", "agrees", "differs", "cannot tell")


@dataclass(frozen=True)
class VirtualScan:
    """A synthetic scan of a simulated end state, in place of a real one."""

    seed: int = 0
    of: tuple[
        str, ...
    ] = ()  # Hydra overrides of the run scanned; () is the one compared

    def __post_init__(self) -> None:
        if type(self.seed) is not int or self.seed < 0:
            raise InputError(
                f"{WORKFLOW}: a virtual scan's seed must be a whole number from 0 up, "
                f"not {self.seed!r}"
            )


@dataclass(frozen=True)
class Compared:
    """A scan beside a case.

    Parameters
    ----------
    scan : files, each one view, or a synthetic scan
    scale_mm : mm per unit of the case
    input_draws : how often the case is printed anew, with errors, to learn what they
        do to the shape; 0 leaves that to the covariance of rigid lengths
    settings : of pipeline.compare.Comparison
    ingest : further settings of pipeline.ingest.Ingest, such as decimal_comma
    expect : verdict that a control must get, or ""
    """

    name: str
    case: str
    scan: tuple[str, ...] | VirtualScan
    sphere_radius_mm: float
    scale_mm: float
    unit: str = "mm"
    overrides: tuple[str, ...] = ()
    input_draws: int = 100
    expect: str = ""
    settings: Mapping[str, Any] = field(default_factory=dict)
    ingest: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        folder_name(self.name, f"{WORKFLOW}: comparisons")
        folder_name(self.case, f"{WORKFLOW}: comparisons.{self.name}.case")
        for name in ("sphere_radius_mm", "scale_mm"):
            value = getattr(self, name)
            if not isinstance(value, int | float) or not value > 0:
                raise InputError(
                    f"{WORKFLOW}: comparisons.{self.name}.{name} must be a positive "
                    f"number, not {value!r}"
                )
        if not isinstance(self.input_draws, int) or self.input_draws < 0:
            raise InputError(
                f"{WORKFLOW}: comparisons.{self.name}.input_draws must be 0 or more, "
                f"not {self.input_draws!r}"
            )
        if self.expect not in VERDICTS:
            raise InputError(
                f"{WORKFLOW}: comparisons.{self.name}.expect is {self.expect!r}: "
                f"choose one of {', '.join(VERDICTS[1:])}"
            )
        if self.unit not in UNITS:
            raise InputError(
                f"{WORKFLOW}: comparisons.{self.name}.unit is {self.unit!r}: "
                f"choose one of {', '.join(UNITS)}"
            )


@dataclass(frozen=True)
class MeasuredSeries:
    """Measurements beside a case: markers in time, a force by displacement.

    Parameters
    ----------
    measured : CSV file, see pipeline.compare_series
    along : column of the run's steps.csv that the measurements are given along
    synthetic : whether they were computed
    """

    name: str
    case: str
    measured: str
    along: str = "time"
    synthetic: bool = False
    overrides: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        folder_name(self.name, f"{WORKFLOW}: series")
        kinds = {"case": str, "measured": str, "along": str, "synthetic": bool}
        for name, kind in kinds.items():
            value = getattr(self, name)
            if not isinstance(value, kind):
                what = "true or false" if kind is bool else "a word"
                raise InputError(
                    f"{WORKFLOW}: series.{self.name}.{name} must be {what}, not "
                    f"{value!r}"
                )


@dataclass(frozen=True)
class Drawn:
    """A figure and what it shows.

    Parameters
    ----------
    cases : Hydra overrides of the run of each further row, by its label
    study : file of conf/study whose runs are rows too, in its order; or ""
    calibrations : files of conf/calibration, each a row
    parts : Hydra overrides of the case whose printed parts are a row, by its label
    """

    name: str
    comparisons: tuple[str, ...] = ()
    cases: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    study: str = ""
    calibrations: tuple[str, ...] = ()
    parts: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


@dataclass(frozen=True)
class Workflow:
    """Everything `make figures` makes."""

    comparisons: Mapping[str, Compared]
    figures: Mapping[str, Drawn]
    series: Mapping[str, MeasuredSeries] = field(default_factory=dict)


def _known(given: Mapping[str, Any], kind: type, where: str) -> None:
    names = [f.name for f in fields(kind) if f.name != "name"]
    check_keys(given, names, f"{WORKFLOW}: {where}")


def _scan(value: Any, where: str) -> tuple[str, ...] | VirtualScan:
    if isinstance(value, str):
        return (value,)
    if isinstance(value, list) and value and all(isinstance(v, str) for v in value):
        return tuple(value)
    if isinstance(value, dict) and list(value) == ["virtual"]:
        given = mapping(value["virtual"], f"{WORKFLOW}: {where}.virtual")
        _known(given, VirtualScan, f"{where}.virtual")
        of = _words(given.get("of", []), f"{where}.virtual.of")
        return VirtualScan(**given | {"of": of})
    raise InputError(
        f"{WORKFLOW}: {where} is {value!r}: give a list of files, "
        "or virtual: {seed: 1}"
    )


def _words(value: Any, where: str) -> tuple[str, ...]:
    if isinstance(value, list) and all(isinstance(v, str) for v in value):
        return tuple(value)
    raise InputError(f"{WORKFLOW}: {where} must be a list of words, not {value!r}")


def _compared(name: str, given: dict[str, Any], defaults: dict[str, Any]) -> Compared:
    where = f"comparisons.{name}"
    whole = defaults | given
    _known(whole, Compared, where)
    for key in ("case", "scan"):
        if key not in whole:
            raise InputError(f"{WORKFLOW}: {where} has no {key}: add one")
    whole["scan"] = _scan(whole["scan"], f"{where}.scan")
    whole["overrides"] = _words(whole.get("overrides", []), f"{where}.overrides")
    for key in ("settings", "ingest"):
        whole[key] = mapping(whole.get(key), f"{WORKFLOW}: {where}.{key}")
    try:
        return Compared(name=name, **whole)
    except TypeError as error:
        raise InputError(f"{WORKFLOW}: {where}: {error}") from error


def _measured_series(name: str, given: dict[str, Any]) -> MeasuredSeries:
    where = f"series.{name}"
    _known(given, MeasuredSeries, where)
    for key in ("case", "measured"):
        if key not in given:
            raise InputError(f"{WORKFLOW}: {where} has no {key}: add one")
    words = _words(given.get("overrides", []), f"{where}.overrides")
    return MeasuredSeries(name=name, **given | {"overrides": words})


def _cases(given: Any, where: str) -> dict[str, tuple[str, ...]]:
    """Cases by name, or by a label with the overrides that make them."""
    if isinstance(given, dict):
        return {str(k): _words(v, f"{where}.{k}") for k, v in given.items()}
    return {name: (f"case={name}",) for name in _words(given, where)}


def _drawn(name: str, given: dict[str, Any], known: Mapping[str, Compared]) -> Drawn:
    where = f"figures.{name}"
    _known(given, Drawn, where)
    comparisons = _words(given.get("comparisons", []), f"{where}.comparisons")
    for comparison in comparisons:
        if comparison not in known:
            raise InputError(
                f"{WORKFLOW}: {where} shows the comparison {comparison!r}, "
                f"which is not there: choose among {', '.join(known)}"
            )
    study = given.get("study", "")
    if not isinstance(study, str):
        raise InputError(
            f"{WORKFLOW}: {where}.study must be a name of conf/study, not {study!r}"
        )
    cases = _cases(given.get("cases", []), f"{where}.cases")
    calibrations = _words(given.get("calibrations", []), f"{where}.calibrations")
    parts = _cases(given.get("parts", []), f"{where}.parts")
    return Drawn(name, comparisons, cases, study, calibrations, parts)


def read_workflow(path: Path = WORKFLOW) -> Workflow:
    """Read and check conf/workflow.yaml."""
    whole = read_mapping(path)
    check_keys(whole, ("defaults", "comparisons", "series", "figures"), str(path))
    defaults = mapping(whole.get("defaults"), f"{WORKFLOW}: defaults")
    comparisons = {
        name: _compared(
            name, mapping(given, f"{WORKFLOW}: comparisons.{name}"), defaults
        )
        for name, given in mapping(
            whole.get("comparisons"), f"{WORKFLOW}: comparisons"
        ).items()
    }
    figures = {
        name: _drawn(name, mapping(given, f"{WORKFLOW}: figures.{name}"), comparisons)
        for name, given in mapping(whole.get("figures"), f"{WORKFLOW}: figures").items()
    }
    series = {
        name: _measured_series(name, mapping(given, f"{WORKFLOW}: series.{name}"))
        for name, given in mapping(whole.get("series"), f"{WORKFLOW}: series").items()
    }
    return Workflow(comparisons, figures, series)
