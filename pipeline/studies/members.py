"""Which runs a study has: each key once, dealt to batches, listed in members.json."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from analysis.designs.sampling import Point
from pipeline.config.folder_names import folder_name
from pipeline.config.hydra import Composer
from pipeline.config.listed import study_names
from pipeline.store.case_job import planned, sound_case
from pipeline.store.files import read_json
from pipeline.store.plan_file import Batch, write_if_other
from pipeline.store.runs import RESULTS, Job
from pipeline.studies.file import Study
from pipeline.terminal.errors import InputError
from pipeline.terminal.names import no_such

MOST_REFUSED = 20  # points refused one after the other, before the study is
RUNS_A_BATCH = 50  # at least, so that the start of a process is shared by many runs


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


def overrides(study: Study, point: Point) -> dict[str, Any]:
    """All values that a run of the study sets, by dotted name."""
    return {**study.fixed, **point}


def members(study: Study, composer: Composer) -> list[Member]:
    """The runs of a study, each key once, in the order of its points."""
    tags = {"study": study.name, "case": study.case}
    found: dict[str, Member] = {}
    points = study.points()
    configs = composer.variants(
        "simulate",
        [f"case={study.case}"],
        [overrides(study, point) for point in points],
    )
    refused: list[InputError] = []
    sound = False
    for point, config in zip(points, configs, strict=True):
        sound = sound or _is_sound(config, refused)
        if len(refused) == min(MOST_REFUSED, len(points)) and not sound:
            raise refused[0]  # what is wrong with all of them is refused here
        job = planned(study.case, config, tags)
        found.setdefault(job.key, Member(point, job))
    if len(found) < len(points):
        same = len(points) - len(found)
        print(
            f"note: {same} of {len(points)} points are runs that others are, run once"
        )
    return list(found.values())


def _is_sound(config: Mapping[str, Any], refused: list[InputError]) -> bool:
    """Whether the case can be built; why not is added to `refused`."""
    try:
        sound_case(config)
    except InputError as error:
        refused.append(error)
        return False
    return True


def batches(jobs: list[Job], most: int) -> list[Batch]:
    """Deal the jobs of a study to few processes, with enough runs each for its start.

    A job's key says in which batch it is: a run more changes the batch it falls into.
    """
    number = max(1, min(most, -(-len(jobs) // RUNS_A_BATCH)))
    number = min(max(number, 2), len(jobs))
    hands: dict[int, list[Job]] = {}
    for job in sorted(jobs, key=lambda job: job.key):
        hands.setdefault(int(job.key, 16) % number, []).append(job)
    return [
        Batch(tuple(hand), f"{hand[0].tags['study']}.{i + 1}")
        for i, hand in sorted(hands.items())
    ]


def study_directory(name: str, results: Path = RESULTS) -> Path:
    """Where the table and the plots of a study are."""
    return results / "study" / folder_name(name, "the name of a study")


def write_members(study: Study, found: list[Member]) -> None:
    """Leave the list of wanted runs for table, status and tracking."""
    rows = [{"key": m.job.key, "point": m.point} for m in found]
    value = {"study": study.name, "case": study.case, "response": study.response}
    path = study_directory(study.name) / "members.json"
    write_if_other(path, {**value, "members": rows}, compact=True)


def read_members(name: str, results: Path = RESULTS) -> dict[str, Any]:
    """The list of wanted runs of a study that was planned before."""
    path = study_directory(name, results) / "members.json"
    if not path.is_file():
        if name not in study_names():
            raise no_such("conf/study has no study", name, study_names())
        raise InputError(
            f"the study {name} was not planned yet: make study NAME={name}"
        )
    value: dict[str, Any] = read_json(path)
    return value
