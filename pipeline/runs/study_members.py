"""Studies: conf/study/<study>.yaml, and which runs a study has."""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, model_validator

from analysis.experimental_designs import (
    Design,
    Point,
    Range,
    Values,
    grid_points,
    sampled_points,
)
from pipeline.config.config_files import CONF, checked, folder_name, study_names
from pipeline.config.hydra import Composer, composed_file, overridden
from pipeline.config.value_types import AtLeastOne, Count, Entry, Settings, Words
from pipeline.runs.atomic_files import read_json, write_text
from pipeline.runs.case_job import planned, sound_case
from pipeline.runs.run_directory import RESULTS, Job, finished
from pipeline.terminal import InputError, no_such, refusing

STUDIES = CONF / "study"
MOST_RUNS = 1_000_000
RESPONSE = ("E", "S")  # of results, what the plots show by default


def _design(value: Any) -> Design:
    try:
        return Design(value)
    except ValueError as error:
        names = ", ".join(d.value for d in Design)
        raise ValueError(f"is {value!r}: choose one of {names}") from error


def _values(value: Any) -> Values:
    if value == []:
        raise ValueError("is empty: give it values")
    if isinstance(value, list):
        return value
    if isinstance(value, Mapping):
        try:
            return Range(**value)
        except TypeError as error:
            raise ValueError(
                f"is {dict(value)}: a range has low and high only"
            ) from error
    raise ValueError(f"is {value!r}: give a list of values, or a range (low, high)")


class Study(Entry):
    """A case, what varies in it, and by which design.

    Attributes
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
    name : of the study, that of its file
    case : file of conf/case
    design : list, grid, a sampling, or adaptive
    """

    name: str
    case: str
    design: Annotated[Design, BeforeValidator(_design)]
    fixed: Settings = Field(default_factory=dict)
    vary: dict[str, Annotated[Any, BeforeValidator(_values)]] = Field(
        default_factory=dict
    )
    runs: list[Settings] = Field(default_factory=list)
    samples: Count = 0
    seed: int = 0
    response: Words = RESPONSE
    batches: AtLeastOne = 200
    objective: str = ""
    goal: Literal["minimise", "maximise"] = "minimise"
    workers: AtLeastOne = 1
    prune_by: str = ""
    prune_after: int = 0

    @model_validator(mode="after")
    def _has_what_its_design_needs(self) -> "Study":
        is_list = self.design is Design.LIST
        is_search = self.design is Design.ADAPTIVE
        is_sampled = self.design not in (Design.LIST, Design.GRID)
        wrong = {
            "the design is list, but `runs` is empty: add runs": is_list
            and not self.runs,
            "nothing varies: list values under vary": not (is_list or self.vary),
            f"samples must be 1 or more, not {self.samples}": is_sampled
            and self.samples < 1,
            "an adaptive study needs an objective: name a number of the result, such "
            "as S": is_search and not self.objective,
            "objective and prune_by are for the design adaptive, not "
            f"{self.design.value}": not is_search
            and bool(self.objective or self.prune_by),
        }
        for message, applies in wrong.items():
            if applies:
                raise InputError(f"{self._file}: {message}")
        return self

    @property
    def _file(self) -> Path:
        return STUDIES / f"{self.name}.yaml"

    def points(self) -> list[Point]:
        """The values of each run, `fixed` left out."""
        if self.design is Design.ADAPTIVE:
            raise InputError(
                f"{self._file}: an adaptive study chooses its runs one by one: run "
                f"`make study NAME={self.name}`"
            )
        if self.design is Design.LIST:
            return list(self.runs)
        counts = (
            v.count if isinstance(v, Range) else len(v) for v in self.vary.values()
        )
        many = math.prod(counts) if self.design is Design.GRID else self.samples
        if many > MOST_RUNS:
            raise InputError(
                f"{self._file}: the study has {many:,} runs, more than {MOST_RUNS:,}: "
                "give fewer values or samples"
            )
        with refusing(ValueError, place=str(self._file)):
            if self.design is Design.GRID:
                return grid_points(self.vary)
            return sampled_points(self.design, self.vary, self.samples, self.seed)


def read_study(name: str, words: Sequence[str] = ()) -> Study:
    """Read and check conf/study/<name>.yaml, with overrides such as samples=8."""
    if name not in study_names():
        raise no_such("conf/study has no study", name, study_names())
    given = composed_file(STUDIES / f"{name}.yaml")
    return study_of(name, overridden(given, words))


def study_of(name: str, given: Mapping[str, Any]) -> Study:
    """The study that `given`, the content of its file, describes."""
    return checked(Study, {**given, "name": name}, str(STUDIES / f"{name}.yaml"))


MEMBERS = "members.json"
MOST_REFUSED = 20  # points refused one after the other, before the study is


@dataclass(frozen=True)
class Member:
    """One run of a study: the values it takes, and its job."""

    point: Point
    job: Job

    @property
    def label(self) -> str:
        """The values, each after the last part of its name."""
        words = [f"{n.rpartition('.')[2]}={v}" for n, v in self.point.items()]
        return " ".join(words)


def members(
    study: Study, composer: Composer, points: Sequence[Point] | None = None
) -> list[Member]:
    """The runs of a study, each key once, in the order of its points.

    Parameters
    ----------
    points : some of the study; None for all
    """
    chosen = study.points() if points is None else points
    tags = {"study": study.name, "case": study.case}
    found: dict[str, Member] = {}
    configs = composer.variants(
        "simulate",
        [f"case={study.case}"],
        [{**study.fixed, **point} for point in chosen],
    )
    for point, config in zip(chosen, configs, strict=True):
        job = planned(study.case, config, tags)
        found.setdefault(job.key, Member(point, job))
    return list(found.values())


def check_first(found: Sequence[Member]) -> None:
    """Refuse a study of which the first runs are all refused."""
    refused: InputError | None = None
    for member in found[:MOST_REFUSED]:
        try:
            if not finished(member.job.key):
                sound_case(member.job.config)
            return
        except InputError as error:
            refused = refused or error
    if refused:
        raise refused


def study_directory(name: str, results: Path = RESULTS) -> Path:
    """Where the table and the plots of a study are."""
    return results / "study" / folder_name(name, "the name of a study")


def batch_file(study: str, batch: str) -> Path:
    """The table of a batch: the key and the status of each of its runs."""
    return study_directory(study) / "batches" / f"{batch}.csv"


def write_members(study: Study, found: list[Member]) -> None:
    """Write the list of its runs for table, status and tracking."""
    rows = [{"key": m.job.key, "point": m.point} for m in found]
    write_rows(study.name, study.case, study.response, rows)


def write_rows(
    name: str,
    case: str,
    response: Sequence[str],
    rows: list[dict[str, Any]],
    results: Path = RESULTS,
) -> None:
    """Write members.json.

    Parameters
    ----------
    response : results that the plots show
    rows : key and point of each run
    """
    value = {"study": name, "case": case, "response": list(response), "members": rows}
    path, text = study_directory(name, results) / MEMBERS, json.dumps(value) + "\n"
    if not path.is_file() or path.read_text(encoding="utf-8") != text:
        write_text(path, text)


def read_members(name: str, results: Path = RESULTS) -> dict[str, Any]:
    """The list of the runs of a study that was planned before."""
    path = study_directory(name, results) / MEMBERS
    if not path.is_file():
        if name not in study_names():
            raise no_such("conf/study has no study", name, study_names())
        raise InputError(
            f"the study {name} is not planned yet: run `make study NAME={name}`"
        )
    value: dict[str, Any] = read_json(path)
    return value
