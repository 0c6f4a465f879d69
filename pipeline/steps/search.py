"""An adaptive study as one job: Optuna asks for points, several workers run them.

Optuna keeps no database here: the finished runs are its memory. A search that begins
again, after a kill or with more trials wanted, is first told all runs of its study.
"""

import logging
import math
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any, Literal

import optuna
import pandas as pd

from analysis.designs.sampling import Point, Range, Values
from pipeline.config.hydra import Composer
from pipeline.steps.search_workers import Worker, workers
from pipeline.store.case_job import planned
from pipeline.store.runs import Job, Ledger, Needs, Numbers, run_record
from pipeline.studies.file import Study, study_of
from pipeline.studies.members import Member, overrides, write_members
from pipeline.terminal.errors import InputError, RunFailedError

STATES = {
    "finished": optuna.trial.TrialState.COMPLETE,
    "pruned": optuna.trial.TrialState.PRUNED,
    "failed": optuna.trial.TrialState.FAIL,
}
GOALS: Mapping[str, Literal["minimize", "maximize"]] = {
    "minimise": "minimize",
    "maximise": "maximize",
}


def distribution(values: Values) -> optuna.distributions.BaseDistribution:
    """What Optuna draws from for a range, or for a list of choices."""
    if not isinstance(values, Range):
        return optuna.distributions.CategoricalDistribution(list(values))
    if values.integer:
        low, high = int(values.low), int(values.high)
        return optuna.distributions.IntDistribution(low, high, log=values.log)
    return optuna.distributions.FloatDistribution(
        values.low, values.high, log=values.log
    )


def curve(directory: Path, column: str) -> dict[int, float]:
    """A column of steps.csv by step; empty where there is none."""
    path = directory / "steps.csv"
    if not column or not path.is_file():
        return {}
    table = pd.read_csv(path)
    if column not in table:
        return {}
    pairs = zip(table.iloc[:, 0], table[column], strict=True)
    return {int(step): float(value) for step, value in pairs if math.isfinite(value)}


@dataclass
class Search:
    """A study of Optuna's and the runs it is made of.

    Parameters
    ----------
    study : as conf/study describes it
    composer : of configurations
    """

    study: Study
    composer: Composer
    members: dict[str, Member] = field(default_factory=dict)
    told: int = 0

    def __post_init__(self) -> None:
        optuna.logging.set_verbosity(optuna.logging.WARNING)
        logging.getLogger("optuna").propagate = False
        self.space = {k: distribution(v) for k, v in self.study.vary.items()}

    def begin(self) -> None:
        """Tell a new study of Optuna's every run that this study has already."""
        earlier = list(self._earlier())
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", optuna.exceptions.ExperimentalWarning)
            sampler = optuna.samplers.TPESampler(
                seed=self.study.seed + len(earlier),  # not the same draws once more
                multivariate=True,
                constant_liar=True,
            )
        self._optuna = optuna.create_study(
            direction=GOALS[self.study.goal],
            sampler=sampler,
            pruner=optuna.pruners.MedianPruner(n_warmup_steps=self.study.prune_after),
        )
        for member, directory in earlier:
            self._replay(member, directory)

    def _earlier(self) -> Iterator[tuple[Member, Path]]:
        """Runs of this study that have ended, oldest first."""
        ledger = Ledger()
        found = []
        for key in ledger.ended():
            directory = ledger.directory(key)
            assert directory is not None  # it has ended
            record = run_record(directory)
            if record["tags"].get("study") == self.study.name:
                found.append((record["ended"], key, record, directory))
        for _, key, record, directory in sorted(found, key=lambda row: row[:2]):
            point = _point(self.study, record["config"])
            member = point and self._member(point)
            if member and member.job.key == key:  # else it is of other code or values
                yield member, directory

    def _member(self, point: Point) -> Member:
        tags = {"study": self.study.name, "case": self.study.case}
        (config,) = self.composer.variants(
            "simulate", [f"case={self.study.case}"], [overrides(self.study, point)]
        )
        return Member(point, planned(self.study.case, config, tags))

    def _replay(self, member: Member, directory: Path) -> None:
        self.members[member.job.key] = member
        self.told += 1
        record = run_record(directory)
        state = STATES[record["status"]]
        steps = curve(directory, self.study.prune_by)
        done = state is optuna.trial.TrialState.COMPLETE
        self._optuna.add_trial(
            optuna.trial.create_trial(
                state=state,
                value=_objective(self.study, record) if done else None,
                params=member.point,
                distributions=self.space,
                intermediate_values=steps,
            )
        )

    def ask(self) -> tuple[optuna.trial.Trial, Job]:
        """The next trial and the run that it is."""
        trial = self._optuna.ask(self.space)
        member = self._member(dict(trial.params))
        self.members.setdefault(member.job.key, member)
        write_members(self.study, list(self.members.values()))
        return trial, member.job

    def tell(self, trial: optuna.trial.Trial, directory: Path | None) -> None:
        """How a trial ended: where its record is; None where it was refused."""
        self.told += 1
        record = run_record(directory) if directory else {"status": "failed"}
        state = STATES.get(record["status"], optuna.trial.TrialState.FAIL)
        done = state is optuna.trial.TrialState.COMPLETE
        value = _objective(self.study, record) if done else None
        self._optuna.tell(trial, value, state)

    def numbers(self) -> dict[str, float | int | str]:
        """The best value, where it is, and how many trials there were."""
        states = [trial.state for trial in self._optuna.trials]
        counts = {name: states.count(state) for name, state in STATES.items()}
        if not counts["finished"]:
            raise RunFailedError(
                f"none of the {len(states)} trials of {self.study.name} came to its end"
            )
        best = self._optuna.best_trial
        assert best.value is not None  # it is complete
        point = {f"best.{name}": value for name, value in best.params.items()}
        return {f"best.{self.study.objective}": best.value, **point, **counts}


def _point(study: Study, config: Mapping[str, Any]) -> Point | None:
    """The values that a run took; None where one is outside the ranges of now."""
    point: Point = {}
    for name, values in study.vary.items():
        value: Any = config
        for part in name.split("."):
            try:
                value = value[int(part) if isinstance(value, list) else part]
            except (KeyError, IndexError, ValueError, TypeError):
                return None
        inside = (
            values.low <= value <= values.high
            if isinstance(values, Range)
            else value in values
        )
        if not inside:
            return None
        point[name] = value
    return point


def _objective(study: Study, record: Mapping[str, Any]) -> float:
    value = record["result"].get(study.objective)
    if not isinstance(value, int | float) or isinstance(value, bool):
        known = [k for k, v in record["result"].items() if isinstance(v, int | float)]
        raise InputError(
            f"conf/study/{study.name}.yaml: a run has no number {study.objective!r} to "
            f"{study.goal}: choose one of {', '.join(known)}"
        )
    return float(value)


def run_search(study: Study, out: Path) -> dict[str, Any]:
    """Run the trials that are still wanted; write their list into `out`.

    Returns
    -------
    the best value and its point, and how many trials finished, were pruned and failed
    """
    with Composer() as composer:
        search = Search(study, composer)
        search.begin()
        with workers(min(study.workers, max(study.samples - search.told, 0))) as crew:
            _work(search, crew)
        write_members(study, list(search.members.values()))
    rows = [{"key": k, **m.point} for k, m in search.members.items()]
    pd.DataFrame(rows).to_csv(out / "trials.csv", index=False, lineterminator="\n")
    return search.numbers()


def _work(search: Search, crew: list[Worker]) -> None:
    """Keep every worker busy until as many trials are told as are wanted."""
    busy: dict[Connection, tuple[Worker, optuna.trial.Trial]] = {}

    def give(worker: Worker) -> None:
        if search.told + len(busy) < search.study.samples:
            trial, job = search.ask()
            worker.give(job, search.study.prune_by)
            busy[worker.connection] = worker, trial

    for worker in crew:
        give(worker)
    while busy:
        for ready in wait(list(busy)):
            assert isinstance(ready, Connection)
            worker, trial = busy[ready]
            message = worker.take()
            if message.step is not None:
                trial.report(message.value, message.step)
                worker.answer(go_on=not trial.should_prune())
                continue
            del busy[ready]
            search.tell(trial, message.directory)
            give(worker)


@dataclass(frozen=True)
class SearchConfig:
    """What a search is planned with.

    Parameters
    ----------
    study : content of its file in conf/study
    base : configuration of its case, which every trial changes
    """

    study: Mapping[str, Any]
    base: Mapping[str, Any]


def perform(job: Job, needs: Needs, out: Path) -> Numbers:
    """Run a planned search."""
    del needs  # a search reads the runs of its own study only
    config = SearchConfig(**job.config)
    return run_search(study_of(job.name, config.study), out)
