"""morphtrack simulate: run one case, by its name or its file.

FILE is a structure, a robot of rods or a crease pattern (.yaml, .json, .fold, .svg,
.cp, .dxf, .urdf), and the case that reads it is found by its content.
The steps that the case's solver yields go to steps.csv (numbers) and steps.npz
(arrays); run.json says what ran and how it ended.
"""

import argparse
import os
import re
import shlex
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pipeline.config.config_files import CONF, check_cases, listed, no_case
from pipeline.config.hydra import (
    Composer,
    check_settings,
    explain_override_error,
    hydra_errors,
    plain_config,
    raise_hydra_errors,
)
from pipeline.io.yaml_and_json import case_of, is_file_name
from pipeline.report.drawing_process import Draw, drawing
from pipeline.runs.case_job import planned
from pipeline.runs.run_attempts import run_once
from pipeline.runs.run_directory import finished, keep_own, own_name, run_record
from pipeline.runs.step_jobs import link_files
from pipeline.runs.summary import (
    PAGE,
    PICTURE,
    definitions,
    run_lines,
)
from pipeline.steps.simulate import DEFAULT_RUN_DIR, body_of, check_free
from pipeline.terminal import (
    DONE,
    InputError,
    SeveralRunsError,
    is_expected,
    lacks_machine,
    no_option,
    one_line,
    shown_path,
)
from pipeline.workflow.make_step import check_planned


def with_case(words: Sequence[str]) -> list[str]:
    """The words of a command line, a file among them as the case that reads it."""
    files = [
        w for w in words if is_file_name(w) and ("=" not in w or Path(w).is_file())
    ]
    if not files:
        return [_with_file_quoted(word) for word in words]
    if len(files) > 1:
        raise InputError(f"{' and '.join(files)} are several files: give one")
    (file,) = files
    others = [word for word in words if word != file]
    for word in others:
        if word.startswith(("case=", "case.path=")):
            raise InputError(f"{file} and {word} both choose a case: leave one out")
    others = [_with_file_quoted(word) for word in others]
    return [f"case={case_of(file)}", f"case.path={_quoted(file)}", *others]


def _with_file_quoted(word: str) -> str:
    """KEY=VALUE; of a key that names a file that is there, as Hydra reads any name."""
    key, _, value = word.partition("=")
    there = key.endswith(".path") and Path(value).is_file()
    return f"{key}={_quoted(value)}" if there else word


def _quoted(path: str) -> str:
    """A path as a value in Hydra's words."""
    if re.fullmatch(r"[\w./+-]+", path):
        return path
    return "'" + path.replace("\\", "\\\\").replace("'", "\\'") + "'"


def composed_case(words: Sequence[str]) -> tuple[str, dict[str, Any]]:
    """The name of a case, and the configuration that it is simulated with."""
    words = with_case(words)
    config = Composer().compose("simulate", words)
    names = [word.removeprefix("case=") for word in words if word.startswith("case=")]
    if not names:
        raise no_case(words)
    return names[0], config


def finished_case(words: Sequence[str], name: str = "", planned_as: str = "") -> Path:
    """The finished run of a case, made now if it is not there.

    Parameters
    ----------
    name : of the run; "" for that of its case
    planned_as : digest of configuration and code that the caller counts on, or ""
    """
    case_name, config = composed_case(words)
    job = planned(name or case_name, config)
    check_planned(job, planned_as)
    return run_once(job, body_of(job))


OPTIONS = """
Options:
  case.KEY=VALUE      change a value of the case, at any depth
  record_every=N      record every n-th step and the last
  --out DIR           put the files of the run into DIR, in place of what is there
  hydra.run.dir=DIR   the same, but refuse a DIR that holds anything else
  --multirun          run every combination of comma-separated values, as a study
  hydra.sweep.dir=results/study/NAME
                      call this study NAME
  --cfg job           print the configuration, run nothing
  --hydra-help        list all options of Hydra

Cases:
"""
PROGRAM = "morphtrack simulate"
ARGUMENTS: dict[tuple[str, ...], dict[str, Any]] = {  # Hydra's own, but for two
    ("--help", "-h"): {"action": "store_true"},
    ("--hydra-help",): {"action": "store_true"},
    ("--version",): {"action": "store_true"},
    ("--resolve",): {"action": "store_true"},
    ("--run", "-r"): {"action": "store_true"},
    ("--multirun", "-m"): {"action": "store_true"},
    ("--shell-completion", "-sc"): {"action": "store_true"},
    ("--cfg", "-c"): {"choices": ("job", "hydra", "all")},
    ("--package", "-p"): {},
    ("--info", "-i"): {"const": "all", "nargs": "?"},
    ("--out",): {"type": Path},
    ("--planned",): {"default": ""},
}


def _parsed(words: Sequence[str]) -> argparse.Namespace:
    """The arguments that choose what runs; Hydra reads its own once more itself."""
    parser = argparse.ArgumentParser(
        add_help=False, allow_abbrev=False, exit_on_error=False
    )
    parser.add_argument("overrides", nargs="*")
    for names, how in ARGUMENTS.items():
        parser.add_argument(*names, **how)
    try:
        given, strange = parser.parse_known_intermixed_args(words)
    except argparse.ArgumentError as error:
        raise InputError(f"{error}: {PROGRAM} --help lists them") from error
    if strange:
        raise no_option(strange[0], [names[0] for names in ARGUMENTS], PROGRAM)
    return given


def _simulate(plain: Mapping[str, Any], settings: Any) -> None:
    """Run the case of a composed configuration, with Hydra's settings."""
    from hydra.types import RunMode

    name = str(settings.runtime.choices["case"])
    words = list(settings.overrides.task)
    study = Path(settings.sweep.dir).name if settings.mode is RunMode.MULTIRUN else ""
    job = planned(name, plain, {"study": study} if study else {})
    with drawing(ahead=not (study or finished(job.key))) as draw:
        body = body_of(job)
        if study:
            from pipeline.steps.study_table import add_member  # imports pandas

            add_member(study, words, job)
        run_dir = str(settings.run.dir)
        if run_dir != DEFAULT_RUN_DIR:
            check_free(Path(run_dir), job)
        directory = run_once(job, body)
        if run_dir != DEFAULT_RUN_DIR:
            link_files(directory, Path(run_dir))
            _show(Path(run_dir), "", draw)
            return
        own = own_name(name, words)
        _show(keep_own(own, directory), own, draw)


def _show(directory: Path, name: str, draw: Draw) -> None:
    """Say what came out, where it is and what to type next; draw it."""
    record = run_record(directory)
    print("\n".join([*run_lines(record, directory), *definitions(record)]))
    print(f"run      {shown_path(directory)}")
    if (nodes := directory / "nodes.csv").is_file():
        print(f"nodes    {shown_path(nodes)}: where each ends")
    forces = directory / "reactions.csv"
    if forces.is_file() and not record["result"].get("target_reached"):
        print(f"forces   {shown_path(forces)}")
    if _has_picture(directory, draw):
        print(f"picture  {shown_path(directory / PICTURE)}")
        print(f"page     {shown_path(directory / PAGE)}")
    print(f"next     morphtrack show {shlex.quote(name or str(directory))} --film")


def _has_picture(directory: Path, draw: Draw) -> bool:
    """Whether there is a picture: a run without one is a run all the same."""
    if not all((directory / name).is_file() for name in (PICTURE, PAGE)):
        if sys.stderr.isatty():
            print("drawing: picture and page take seconds", file=sys.stderr)
        try:
            draw(directory)
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


def _run_all(folder: str, words: Sequence[str]) -> dict[str, Exception]:
    """Let Hydra run what sys.argv asks for; what was raised, by overrides."""
    import hydra
    from hydra.core.hydra_config import HydraConfig

    failures: dict[str, Exception] = {}
    here = os.getpid()

    def run_one(config: Any) -> None:
        """Hydra reports what it sees raised, at length; so it sees nothing raised."""
        try:
            with hydra_errors():
                plain = plain_config(config)
            _simulate(plain, HydraConfig.get())
        except Exception as error:
            if os.getpid() != here:  # a launcher's own process: it hands errors on
                raise
            failures[" ".join(HydraConfig.get().overrides.task)] = error

    with explain_override_error("simulate", words):
        hydra.main(version_base="1.3", config_path=folder, config_name="simulate")(
            run_one
        )()
    return failures


def _run_study(folder: str, words: Sequence[str]) -> dict[str, Exception]:
    """As `_run_all`; the runs are a study, with a table and a plot at its end."""
    from pipeline.steps.study_table import begin, finish

    name, more = begin(words)
    sys.argv += more
    failures = _run_all(folder, words)
    if counts := finish(name):
        print(f"study    {counts}")
    return failures


def simulate(words: Sequence[str]) -> int:
    """Run the case that a command line names, or several; the exit status."""
    given = _parsed(words)
    if given.help:
        cases = "\n".join(f"  {name}" for name in listed("case"))
        print(f"{__doc__}{OPTIONS}{cases}")
        return DONE
    options = [word for word in words if word not in given.overrides]
    given.overrides = with_case(given.overrides)
    if given.out is not None:
        _check_choice(given.overrides)
        name, planned_as = given.out.name, given.planned
        with drawing(ahead=not planned_as) as draw:
            link_files(finished_case(given.overrides, name, planned_as), given.out)
            if not planned_as:
                _show(given.out, "", draw)
        return DONE
    sys.argv = [PROGRAM, *options, *given.overrides]  # as Hydra reads it
    raise_hydra_errors()
    folder = str(CONF.resolve())
    if not (given.hydra_help or given.shell_completion or given.version):
        _check_choice(given.overrides)
        check_settings()
    run_all = _run_study if given.multirun and not given.cfg else _run_all
    failures = run_all(folder, given.overrides)
    for error in failures.values():
        if len(failures) == 1 or not is_expected(error):
            raise error
    if failures:
        raise SeveralRunsError(failures)
    return DONE
