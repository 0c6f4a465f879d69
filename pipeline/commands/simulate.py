"""Run one case: morphtrack simulate case=<case> [case.key=value ...].

The steps that the case's solver yields go to steps.csv (numbers) and steps.npz
(arrays); run.json says what ran and how it ended.
"""

import contextlib
import os
import shlex
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pipeline.config.hydra import (
    check_settings,
    composed_run,
    conf_directory,
    hydra_errors,
    plain_config,
    raise_hydra_errors,
    told_words,
)
from pipeline.config.listed import check_cases, listed, no_case
from pipeline.results.told_run import PAGE, PICTURE, meant, shown_path, told, told_sheet
from pipeline.steps.simulate import DEFAULT_RUN_DIR, run_case, run_in
from pipeline.store.attempts import run_once
from pipeline.store.case_job import planned, sound_case
from pipeline.store.files import point_to
from pipeline.store.leases import sweep_dead
from pipeline.store.own_runs import keep_own, own_name
from pipeline.store.runs import RESULTS, run_record
from pipeline.terminal.arguments import OneLineParser
from pipeline.terminal.errors import (
    DONE,
    SeveralRunsError,
    command,
    is_told,
    lacks_machine,
    one_line,
)

OPTIONS = """
Options:
  case.KEY=VALUE      change a value of the case, at any depth
  record_every=N      record every n-th step and the last
  hydra.run.dir=DIR   put the run into DIR instead of results/runs/<key>;
                      killed, it is begun anew in another DIR
  --multirun          run every combination of comma-separated values
  --cfg job           print the configuration, run nothing
  --hydra-help        what else Hydra takes

Cases:
"""
FLAGS = (
    ("--help", "-h"), ("--hydra-help",), ("--version",), ("--resolve",),
    ("--run", "-r"), ("--multirun", "-m"), ("--shell-completion", "-sc"),
)  # fmt: skip


def arguments() -> OneLineParser:
    """Those of Hydra that choose what runs; Hydra reads them once more itself."""
    parser = OneLineParser("simulate", __doc__, add_help=False)
    parser.add_argument("overrides", nargs="*")
    for names in FLAGS:
        parser.add_argument(*names, action="store_true")
    parser.add_argument("--cfg", "-c", choices=["job", "hydra", "all"])
    parser.add_argument("--package", "-p")
    parser.add_argument("--info", "-i", const="all", nargs="?")
    return parser


def _simulate(plain: Mapping[str, Any], settings: Any) -> None:
    """Run the case of a composed configuration, with Hydra's settings beside it."""
    name = str(settings.runtime.choices["case"])
    job = planned(name, plain)
    case = sound_case(job.config)
    run_dir = str(settings.run.dir)
    if run_dir != DEFAULT_RUN_DIR:
        _show(run_in(Path(run_dir), job), "")
        return
    with contextlib.suppress(FileNotFoundError):  # another command closes it too
        sweep_dead(RESULTS, job.key)
    directory = run_once(job, lambda out: run_case(case, job, out))
    words = list(settings.overrides.task)
    own = own_name(name, words)
    if words == [f"case={own}"]:
        point_to(RESULTS / "simulate" / own, directory)
    _show(keep_own(own, directory), own)


def _show(directory: Path, name: str) -> None:
    """Say what came out, where it is and what to type next; draw it."""
    record = run_record(directory)
    print("\n".join([*told(record), *told_sheet(directory), *meant(record)]))
    print(f"run      {shown_path(directory)}")
    if _drawn(directory):
        print(f"picture  {shown_path(directory / PICTURE)}")
        print(f"page     {shown_path(directory / PAGE)}")
    print(f"next     morphtrack film {shlex.quote(name or str(directory))}")


def _drawn(directory: Path) -> bool:
    """Whether there is a picture: a run without one is a run all the same."""
    if not all((directory / name).is_file() for name in (PICTURE, PAGE)):
        from pipeline.pages.one_run import write_pictures

        if sys.stderr.isatty():
            print("drawing: picture and page take seconds", file=sys.stderr)
        try:
            write_pictures(directory)
        except Exception as error:
            if not (isinstance(error, OSError) or lacks_machine(error)):
                raise
            print(f"no picture: {one_line(error)}", file=sys.stderr)
            return False
    return True


def _check_choice(words: Sequence[str]) -> None:
    """Refuse a command line without a case, or with one that conf/case lacks."""
    named = ("case=", "hydra.sweeper.params")
    if not any(word.lstrip("+").startswith(named) for word in words):
        raise no_case(words)
    check_cases(words)


def _run_one(words: Sequence[str]) -> None:
    """As Hydra would run it, which composes twice and copies what it composed."""
    with told_words("simulate", words):
        plain, settings = composed_run("simulate", words)
    _simulate(plain, settings)


def _run_all(folder: str, words: Sequence[str]) -> dict[str, Exception]:
    """Let Hydra run what sys.argv asks for; what was raised, by overrides."""
    import hydra
    from hydra.core.hydra_config import HydraConfig

    failures: dict[str, Exception] = {}
    here = os.getpid()

    def kept_from_hydra(config: Any) -> None:
        """Hydra reports what it sees raised, at length; so it sees nothing raised."""
        try:
            with hydra_errors():
                plain = plain_config(config)
            _simulate(plain, HydraConfig.get())
        except Exception as error:
            if os.getpid() != here:  # a launcher's own process: it hands errors on
                raise
            failures[" ".join(HydraConfig.get().overrides.task)] = error

    with told_words("simulate", words):
        hydra.main(version_base="1.3", config_path=folder, config_name="simulate")(
            kept_from_hydra
        )()
    return failures


@command
def main(argv: list[str] | None = None) -> int:
    """Run the case that the command line names, or several."""
    words = sys.argv[1:] if argv is None else argv
    given = arguments().parse_intermixed_args(words)
    if given.help:
        cases = "\n".join(f"  {name}" for name in listed("case"))
        print(f"{__doc__}{OPTIONS}{cases}")
        return DONE
    options = [word for word in words if word not in given.overrides]
    sys.argv = ["morphtrack simulate", *options, *given.overrides]  # as Hydra reads it
    raise_hydra_errors()
    folder = str(conf_directory())
    if not (given.hydra_help or given.shell_completion or given.version):
        _check_choice(given.overrides)
        check_settings()
    settings = ("hydra", "+hydra", "~hydra")
    if not options and not any(w.startswith(settings) for w in given.overrides):
        _run_one(given.overrides)
        return DONE
    failures = _run_all(folder, given.overrides)
    for error in failures.values():
        if len(failures) == 1 or not is_told(error):
            raise error
    if failures:
        raise SeveralRunsError(failures)
    return DONE
