"""conf/study/<study>.yaml, read and checked: a case and what varies."""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from analysis.designs import (
    Design,
    Point,
    Range,
    Values,
    grid_points,
    sampled_points,
)
from pipeline.errors import InputError, one_line
from pipeline.yaml_file import check_keys, mapping, read_mapping

STUDIES = Path("conf/study")
GOALS = ("minimise", "maximise")


@dataclass(frozen=True)
class Study:
    """A case, what varies in it, and by which design.

    Parameters
    ----------
    fixed : values that every run takes, by dotted name
    vary : values or a range by dotted name; of every design but `list`
    runs : the points themselves; of design `list`
    samples, seed : of the designs that sample
    response : results that the plots show
    batches : most processes the runs are dealt to
    objective, goal : result that an adaptive study makes smallest or largest
    workers : runs that an adaptive study has going at once
    prune_by, prune_after : column of steps.csv by which an adaptive study ends runs
        early that do worse than the median of the others, and from which step on
    """

    name: str
    case: str
    design: Design
    fixed: Mapping[str, Any] = field(default_factory=dict)
    vary: Mapping[str, Values] = field(default_factory=dict)
    runs: tuple[Point, ...] = ()
    samples: int = 0
    seed: int = 0
    response: tuple[str, ...] = ("E", "S")
    batches: int = 200
    objective: str = ""
    goal: str = "minimise"
    workers: int = 1
    prune_by: str = ""
    prune_after: int = 0

    def __post_init__(self) -> None:
        for name in ("samples", "seed", "batches", "workers", "prune_after"):
            if type(getattr(self, name)) is not int:
                raise InputError(
                    f"{self._file}: {name} must be a whole number, "
                    f"not {getattr(self, name)!r}"
                )
        for name, values in self.vary.items():
            if not isinstance(values, Range) and len(values) == 0:
                raise InputError(f"{self._file}: vary.{name} is empty: give it values")
        if self.design is Design.LIST and not self.runs:
            raise InputError(f"{self._file}: a list has no runs: name some under runs")
        if self.design is not Design.LIST and not self.vary:
            raise InputError(f"{self._file}: nothing varies: name values under vary")
        samples = self.design not in (Design.LIST, Design.GRID)
        if samples and self.samples < 1:
            raise InputError(
                f"{self._file}: samples must be 1 or more, not {self.samples}"
            )
        for name in ("batches", "workers"):
            if getattr(self, name) < 1:
                raise InputError(
                    f"{self._file}: {name} must be 1 or more, not {getattr(self, name)}"
                )
        self._check_search()

    def _check_search(self) -> None:
        """Refuse what only an adaptive study has, elsewhere, and its lack there."""
        if self.design is not Design.ADAPTIVE:
            if self.objective or self.prune_by:
                raise InputError(
                    f"{self._file}: objective and prune_by are for the design "
                    f"adaptive, not {self.design.value}"
                )
            return
        if not self.objective:
            raise InputError(
                f"{self._file}: an adaptive study needs an objective: name a number of "
                "the result, such as S"
            )
        if self.goal not in GOALS:
            raise InputError(
                f"{self._file}: goal is {self.goal!r}: choose one of {', '.join(GOALS)}"
            )

    @property
    def _file(self) -> Path:
        return STUDIES / f"{self.name}.yaml"

    def points(self) -> list[Point]:
        """The values of each run, `fixed` left out."""
        if self.design is Design.ADAPTIVE:
            raise InputError(
                f"{self._file}: the runs of an adaptive study are found as it "
                f"goes: make study NAME={self.name}"
            )
        if self.design is Design.LIST:
            return list(self.runs)
        try:
            if self.design is Design.GRID:
                return grid_points(self.vary)
            return sampled_points(self.design, self.vary, self.samples, self.seed)
        except ValueError as error:
            raise InputError(f"{self._file}: {one_line(error)}") from error


def study_names() -> list[str]:
    """The studies that conf/study holds."""
    return sorted(path.stem for path in STUDIES.glob("*.yaml"))


def _values(given: Any, where: str) -> Values:
    if isinstance(given, list):
        return given
    if isinstance(given, dict):
        try:
            return Range(**given)
        except (TypeError, ValueError) as error:
            raise InputError(f"{where}: {one_line(error)}") from error
    raise InputError(
        f"{where} is {given!r}: give a list of values, or low and high of a range"
    )


def _list(given: Any, where: str) -> list[Any]:
    if not isinstance(given, list):
        raise InputError(f"{where} must be a list, not {given!r}")
    return given


def _design(given: Any, where: str) -> Design:
    try:
        return Design(given)
    except ValueError as error:
        names = ", ".join(d.value for d in Design)
        raise InputError(
            f"{where}: design is {given!r}: choose one of {names}"
        ) from error


def read_definition(name: str) -> dict[str, Any]:
    """conf/study/<name>.yaml as it stands."""
    path = STUDIES / f"{name}.yaml"
    if name not in study_names():
        raise InputError(
            f"conf/study has no study {name!r}: choose one of "
            f"{', '.join(study_names()) or '(none yet)'}"
        )
    return read_mapping(path)


def read_study(name: str) -> Study:
    """Read and check conf/study/<name>.yaml."""
    return study_of(name, read_definition(name))


def study_of(name: str, given: Mapping[str, Any]) -> Study:
    """The study that `given`, the content of its file, describes."""
    path = STUDIES / f"{name}.yaml"
    check_keys(given, [f.name for f in fields(Study) if f.name != "name"], str(path))
    for key in ("case", "design"):
        if key not in given:
            raise InputError(f"{path} has no {key}: add one")
    vary = mapping(given.get("vary"), f"{path}: vary")
    vary = {k: _values(v, f"{path}: vary.{k}") for k, v in vary.items()}
    whole = {**given} | {"design": _design(given["design"], str(path)), "vary": vary}
    whole["fixed"] = mapping(given.get("fixed"), f"{path}: fixed")
    runs = _list(given.get("runs", []), f"{path}: runs")
    whole["runs"] = tuple(mapping(run, f"{path}: each of runs") for run in runs)
    whole["response"] = tuple(
        _list(given.get("response", ["E", "S"]), f"{path}: response")
    )
    return Study(name=name, **whole)
