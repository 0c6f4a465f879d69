"""An adaptive study as one job: Optuna asks for points, several processes run them.

The processes share a journal of Optuna's, which lasts as long as the job: the finished
runs are its memory. A search that begins again, after a kill or with more trials
requested, is first given all runs of its study.
"""

import logging
import math
import multiprocessing
import os
import sys
import threading
import warnings
from collections.abc import Mapping
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Literal

import optuna
import pandas as pd
from optuna.storages import JournalStorage
from optuna.storages.journal import JournalFileBackend

from analysis.experimental_designs import Point, Range, Values
from pipeline.config.hydra import Composer
from pipeline.runs.atomic_files import write_table
from pipeline.runs.case_job import sound_case
from pipeline.runs.run_attempts import run_once
from pipeline.runs.run_directory import Job, Ledger, Needs, Numbers, run_record
from pipeline.runs.study_members import (
    Member,
    Study,
    members,
    read_members,
    study_directory,
    study_of,
    write_members,
)
from pipeline.steps.simulate import record_steps
from pipeline.terminal import (
    FAILED,
    InputError,
    PrunedError,
    RunFailedError,
    lacks_machine,
    one_line,
)

JOURNAL = "trials.log"  # in the folder of the job, while it runs
LOST = (
    "a worker of the search was killed, or lacked memory or disk: "
    "run the same command again to continue from the finished runs"
)
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
    journal : that the processes of a search share
    seed : of what this process draws
    """

    study: Study
    composer: Composer
    journal: Path
    seed: int | None = None
    members: dict[int, Member] = field(default_factory=dict)  # by number of trial

    def __post_init__(self) -> None:
        optuna.logging.set_verbosity(optuna.logging.WARNING)
        logging.getLogger("optuna").propagate = False
        self.space = {k: distribution(v) for k, v in self.study.vary.items()}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", optuna.exceptions.ExperimentalWarning)
            sampler = optuna.samplers.TPESampler(
                seed=self.seed, multivariate=True, constant_liar=True
            )
        self._optuna = optuna.create_study(
            storage=JournalStorage(JournalFileBackend(str(self.journal))),
            study_name=self.study.name,
            load_if_exists=True,
            direction=GOALS[self.study.goal],
            sampler=sampler,
            pruner=optuna.pruners.MedianPruner(n_warmup_steps=self.study.prune_after),
        )

    def replay(self) -> int:
        """Tell Optuna the runs that the study has already; return how many."""
        if not (study_directory(self.study.name) / "members.json").is_file():
            return 0
        ledger, replayed = Ledger(), 0
        for row in read_members(self.study.name)["members"]:
            directory = ledger.directory(row["key"])
            if directory is None:
                continue
            state, value = self._outcome(directory)
            try:
                trial = optuna.trial.create_trial(
                    state=state,
                    value=value,
                    params=row["point"],
                    distributions=self.space,
                    intermediate_values=curve(directory, self.study.prune_by),
                )
            except ValueError:  # of other ranges
                continue
            if self._member(row["point"]).job.key == row["key"]:  # else of other code
                self._optuna.add_trial(trial)
                replayed += 1
        return replayed

    def _member(self, point: Point) -> Member:
        (member,) = members(self.study, self.composer, [point])
        return member

    def list_members(self) -> list[Member]:
        """The runs of all trials that are there, each once, listed as the study's."""
        for trial in self._optuna.get_trials(deepcopy=False):
            if trial.number < self.study.samples and trial.number not in self.members:
                self.members[trial.number] = self._member(dict(trial.params))
        each: dict[str, Member] = {}
        for number in sorted(self.members):
            each.setdefault(self.members[number].job.key, self.members[number])
        write_members(self.study, list(each.values()))
        return list(each.values())

    def run_trial(self) -> bool:
        """Run the next trial to its end, whatever that is; whether there was one."""
        trial = self._optuna.ask(self.space)
        if trial.number >= self.study.samples:
            return False
        self.list_members()
        job = self.members[trial.number].job
        try:
            directory: Path | None = run_once(job, partial(self._run, trial, job))
        except RunFailedError as error:
            print(f"{job.name} {job.key}: {one_line(error)}", file=sys.stderr)
            if lacks_machine(error):  # which says nothing about the run
                raise ChildProcessError(LOST) from error
            directory = Ledger().directory(job.key)
        state, value = self._outcome(directory)
        self._optuna.tell(trial, value, state)
        return True

    def _run(self, trial: optuna.trial.Trial, job: Job, out: Path) -> Numbers:
        column = self.study.prune_by

        def watch(numbers: Mapping[str, float]) -> None:
            """Report a number of a step, and end the run if it is pruned."""
            if column not in numbers:
                raise InputError(
                    f"steps have no {column!r} to prune by: "
                    f"choose one of {', '.join(numbers)}"
                )
            value = float(numbers[column])
            if math.isfinite(value):
                trial.report(value, int(next(iter(numbers.values()))))
                if trial.should_prune():
                    raise PrunedError(f"{column} is {value:g}: other runs are better")

        every = job.config.get("record_every", 1)
        case = sound_case(job.config)
        return record_steps(case, job.name, out, every, watch if column else None)

    def _outcome(
        self, directory: Path | None
    ) -> tuple[optuna.trial.TrialState, float | None]:
        """How a trial ended: where its record is; None where it was refused."""
        if directory is None:
            return optuna.trial.TrialState.FAIL, None
        record = run_record(directory)
        state = STATES[record["status"]]
        done = state is optuna.trial.TrialState.COMPLETE
        return state, _objective(self.study, record) if done else None

    def numbers(self) -> dict[str, float | int | str]:
        """The best value, where it is, and how many trials there were."""
        states = [trial.state for trial in self._optuna.trials]
        counts = {name: states.count(state) for name, state in STATES.items()}
        if not counts["finished"]:
            raise RunFailedError(
                f"none of the {sum(counts.values())} runs of {self.study.name} "
                "finished: change its values, or see results/failed"
            )
        best = self._optuna.best_trial
        assert best.value is not None  # it is complete
        point = {f"best.{name}": value for name, value in best.params.items()}
        return {f"best.{self.study.objective}": best.value, **point, **counts}


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
    """Run the trials that are missing; write their list into `out`.

    Returns
    -------
    the best value and its point, and how many trials finished, were pruned and failed
    """
    journal = out / JOURNAL
    search = Search(study, Composer(), journal)
    _share(study, journal, search.replay())
    listed = search.list_members()
    rows = [{"key": member.job.key, **member.point} for member in listed]
    write_table(out / "trials.csv", pd.DataFrame(rows))
    numbers = search.numbers()
    journal.unlink()
    return numbers


def _share(study: Study, journal: Path, replayed: int) -> None:
    """Have processes run trials until the study has its number of samples."""
    crew = min(study.workers, study.samples - replayed)
    if crew < 1:
        return
    pool = ProcessPoolExecutor(
        crew, multiprocessing.get_context("spawn"), initializer=_end_with_parent
    )
    first = study.seed + replayed  # not the same draws once more
    try:
        seeds = range(first, first + crew)
        for ended in as_completed(
            [pool.submit(work, study, journal, s) for s in seeds]
        ):
            ended.result()
    except BrokenProcessPool as error:
        raise ChildProcessError(LOST) from error
    finally:
        pool.shutdown(cancel_futures=True)


def _end_with_parent() -> None:
    """Have this process end when the search has ended."""
    parent = multiprocessing.parent_process()
    assert parent is not None

    def wait() -> None:
        parent.join()
        os._exit(FAILED)

    threading.Thread(target=wait, daemon=True).start()


def work(study: Study, journal: Path, seed: int) -> None:
    """Run trials until enough are there."""
    search = Search(study, Composer(), journal, seed)
    while search.run_trial():
        pass


def perform(job: Job, needs: Needs, out: Path) -> Numbers:
    """Run a planned search."""
    del needs  # a search reads the runs of its own study only
    return run_search(study_of(job.name, job.config["study"]), out)
