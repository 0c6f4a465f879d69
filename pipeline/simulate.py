"""Run one case: python -m pipeline.simulate case=<case> [case.key=value ...].

The steps that the case's solver yields go to steps.csv (numbers) and steps.npz
(arrays); run.json says what ran and how it ended.
"""

import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from numpy.typing import NDArray

from pipeline.checkpoints import Checkpoints, Continuable, Earlier, earlier_attempt
from pipeline.errors import InputError, RunFailedError, command, one_line
from pipeline.files import GrowingTable, StepWriter, point_to, write_json
from pipeline.hydra_command import (
    CONF,
    build,
    conf_directory,
    hydra_errors,
    raise_hydra_errors,
)
from pipeline.keys import identity
from pipeline.runs import RESULTS, Job, Numbers, perform, run_once, run_record
from sim.newton import NotConvergedError

DEFAULT_RUN_DIR = "results"  # as conf/simulate.yaml says; it means: by key


class Case(Protocol):
    """What the objects that conf/case describes have in common."""

    def steps(self) -> Iterator[Any]:
        """Yield the solver's step records; NotConvergedError ends them honestly."""

    def numbers(self, step: Any) -> dict[str, float]:
        """One row of steps.csv."""

    def arrays(self, step: Any) -> dict[str, NDArray[Any]]:
        """One entry of each array in steps.npz."""

    def fixed_arrays(self) -> dict[str, NDArray[Any]]:
        """Arrays that belong to the run rather than to a step."""

    def documents(self) -> dict[str, Any]:
        """JSON files that later steps of the pipeline read."""

    def result(self, last: Any) -> dict[str, float | str | int | bool]:
        """Numbers of the run: the stop rule that fired, and what it ended with."""

    def progress(self, step: Any) -> str:
        """What the progress bar says."""


@runtime_checkable
class Tabled(Protocol):
    """A case that has more to say of its last step than fits into run.json."""

    def tables(self, last: Any) -> dict[str, Iterable[Mapping[str, float | str]]]:
        """CSV files with their rows."""


@contextmanager
def _progress(name: str) -> Iterator[Any]:
    """A bar for a person at a terminal; nothing elsewhere."""
    if not sys.stderr.isatty():
        yield lambda _: None
        return
    from tqdm import tqdm

    with tqdm(desc=name, unit=" steps") as bar:

        def show(text: str) -> None:
            bar.set_postfix_str(text, refresh=False)
            bar.update()

        yield show


def record_steps(case: Case, name: str, out: Path, record_every: int = 1) -> Numbers:
    """Run the solver of `case`, write its steps into `out`, return its result.

    A case that can continue goes on from the checkpoint of a killed attempt.
    """
    for file, document in case.documents().items():
        write_json(out / file, document)
    last, written, first = None, True, 0
    steps, checkpoints, earlier = case.steps(), None, None
    if isinstance(case, Continuable):
        checkpoints, earlier = Checkpoints(case, out), earlier_attempt(out)
        if earlier is not None:
            steps, first = case.continued(earlier.state), earlier.index + 1
    with StepWriter(out, case.fixed_arrays()) as writer, _progress(name) as show:
        if earlier is not None:
            _copy_steps(earlier, writer)
            write_json(out / "continued.json", {"from": earlier.attempt, "step": first})
        for i, last in enumerate(steps, first):
            written = i % record_every == 0
            if written:
                writer.append(case.numbers(last), case.arrays(last))
            if checkpoints is not None:
                checkpoints.keep(i, last, writer.steps)
            show(case.progress(last))
        if not written:
            writer.append(case.numbers(last), case.arrays(last))
    if checkpoints is not None:
        checkpoints.drop()
    if isinstance(case, Tabled):
        _write_tables(case.tables(last), out)
    return case.result(last)


def _write_tables(
    tables: Mapping[str, Iterable[Mapping[str, float | str]]], out: Path
) -> None:
    for file, rows in tables.items():
        table = GrowingTable(out / file)
        for row in rows:
            table.append(row)
        table.close()


def _copy_steps(earlier: Earlier, writer: StepWriter) -> None:
    for k, row in enumerate(earlier.rows):
        writer.append(row, {name: part[k] for name, part in earlier.arrays.items()})


def planned(
    name: str, config: Mapping[str, Any], tags: Mapping[str, str] | None = None
) -> Job:
    """The job that runs the case which `config` describes."""
    tags = {"case": name, **(tags or {})}
    return Job("simulate", name, identity("simulate", config), config, tags=tags)


def sound_case(config: Mapping[str, Any]) -> Case:
    """The case that `config` describes, refused here if it is not sound."""
    for key in config:
        if key not in ("case", "record_every"):
            raise InputError(f"nobody reads {key}: did you mean case.{key}?")
    every = config.get("record_every", 1)
    if not isinstance(every, int) or every < 1:
        raise InputError(f"record_every must be 1 or more, not {every}")
    case: Case = build(config["case"], "case")
    if not hasattr(case, "steps"):
        raise InputError("case has no _target_: name a class of pipeline.cases")
    return case


def perform_job(job: Job, needs: Mapping[str, Any], out: Path) -> Numbers:
    """Run a planned job."""
    del needs  # a simulation reads no other run
    case = sound_case(job.config)
    return record_steps(case, job.name, out, job.config.get("record_every", 1))


def run_in(directory: Path, job: Job) -> Path:
    """Run in a folder of the user's choice, never over what is there already."""
    if (directory / "run.json").is_file():
        if run_record(directory)["key"] == job.key:
            return directory
        raise InputError(f"{directory} holds another run: choose a new hydra.run.dir")
    if directory.is_dir() and any(directory.iterdir()):
        raise InputError(f"{directory} is not empty: choose a new hydra.run.dir")
    directory.mkdir(parents=True, exist_ok=True)
    try:
        perform(directory, job, lambda out: perform_job(job, {}, out))
    except NotConvergedError as error:
        raise RunFailedError(f"{one_line(error)} (kept in {directory})") from error
    return directory


def _simulate(config: Any) -> None:
    from hydra.core.hydra_config import HydraConfig
    from omegaconf import OmegaConf

    with hydra_errors():
        plain = OmegaConf.to_container(config, resolve=True, throw_on_missing=True)
    assert isinstance(plain, dict)  # the root of a configuration is a mapping
    settings = HydraConfig.get()
    name = str(settings.runtime.choices["case"])
    job = planned(name, {str(k): v for k, v in plain.items()})
    sound_case(job.config)
    run_dir = str(settings.run.dir)
    if run_dir != DEFAULT_RUN_DIR:
        print(run_in(Path(run_dir), job))
        return
    directory = run_once(job, lambda out: perform_job(job, {}, out))
    if list(settings.overrides.task) == [f"case={name}"]:
        point_to(RESULTS / "simulate" / name, directory)
    print(directory)


def case_names() -> list[str]:
    """The cases that conf/case holds."""
    return sorted(path.stem for path in (CONF / "case").glob("*.yaml"))


def _check_choice(words: Sequence[str]) -> None:
    """Refuse a command line without a case, or with one that conf/case lacks."""
    names = ", ".join(case_names())
    chosen = [word.partition("=")[2] for word in words if word.startswith("case=")]
    if not chosen:
        raise InputError(f"no case is named: add case=<one of {names}>")
    for name in chosen[-1].split(","):
        if name not in case_names():
            raise InputError(f"conf/case has no case {name!r}: choose one of {names}")


def _help() -> str:
    cases = "\n".join(f"  {name}" for name in case_names())
    return (
        f"{__doc__}\nOptions:\n"
        "  case.KEY=VALUE      change a value of the case, at any depth\n"
        "  record_every=N      record every n-th step and the last\n"
        "  hydra.run.dir=DIR   put the run into DIR instead of results/runs/<key>;\n"
        "                      killed, it is begun anew in another DIR\n"
        "  --multirun          run every combination of comma-separated values\n"
        f"  --cfg job           print the configuration, run nothing\n\nCases:\n{cases}"
    )


@command
def main() -> int:
    """Run the case that the command line names."""
    import hydra

    raise_hydra_errors()
    folder = str(conf_directory())
    if {"-h", "--help"} & set(sys.argv):
        print(_help())
        return 0
    _check_choice(sys.argv[1:])
    failures: list[Exception] = []

    def kept_from_hydra(config: Any) -> None:
        """Hydra reports what it sees raised, at length; so it sees nothing raised."""
        try:
            _simulate(config)
        except Exception as error:  # noqa: BLE001 - raised again below
            failures.append(error)

    with hydra_errors():
        hydra.main(version_base="1.3", config_path=folder, config_name="simulate")(
            kept_from_hydra
        )()
    for error in failures:
        raise error
    return 0


if __name__ == "__main__":
    sys.exit(main())
