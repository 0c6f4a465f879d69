"""Commands that run a case of one kind and say more of it than morphtrack simulate."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from pipeline.config.building import build
from pipeline.config.hydra import Composer
from pipeline.config.listed import no_case
from pipeline.steps.recording import Case, record_steps
from pipeline.steps.simulate import perform
from pipeline.store.attempts import run_once
from pipeline.store.case_job import planned
from pipeline.store.files import point_to, write_json
from pipeline.store.runs import RESULTS, Job, Numbers
from pipeline.terminal.arguments import OneLineParser
from pipeline.terminal.errors import InputError, RunFailedError, one_line
from sim.convergence import NotConvergedError

OVERRIDES: dict[str, Any] = {
    "nargs": "+",
    "metavar": "case=... or case.key=value",
    "help": "a file of conf/case without .yaml, and values for keys of that file",
}
Body = Callable[[Job, Path], Numbers]


def run_plainly(job: Job, out: Path) -> Numbers:
    """Run a planned job as morphtrack simulate does."""
    return perform(job, {}, out)


def record_aside(
    case: Case, name: str, config: Mapping[str, Any], out: Path
) -> Numbers:
    """Run a case into a folder of its own, and print how it ended."""
    out.mkdir(parents=True, exist_ok=True)
    try:
        found = record_steps(case, name, out)
    except NotConvergedError as error:
        raise RunFailedError(one_line(error)) from error
    except ValueError as error:
        raise InputError(one_line(error)) from error
    write_json(out / "run.json", {"case": name, "config": config, "result": found})
    width = max(len(key) for key in found)
    print("\n".join(f"{key:<{width}}  {value}" for key, value in found.items()))
    print(f"{'tables':<{width}}  {out}")
    return found


def case_arguments(name: str, text: str | None) -> OneLineParser:
    """The arguments of a command that takes a case and nothing else."""
    parser = OneLineParser(name, text)
    parser.add_argument("overrides", **OVERRIDES)
    return parser


def named_case(words: Sequence[str]) -> str:
    """The one case that the words of a command line name."""
    named = [word.partition("=")[2] for word in words if word.startswith("case=")]
    if not named:
        raise no_case(words)
    if len(named) != 1:
        raise InputError(f"name one case, not {len(named)}: add case=<case>")
    return named[0]


def run_case(
    parser: OneLineParser,
    kind: type,
    argv: list[str] | None,
    body: Body = run_plainly,
) -> Path:
    """Run the case that `argv` names, unless it has run; the folder of its run.

    Parameters
    ----------
    parser : see case_arguments
    kind : what the case must be
    body : what runs it in a folder
    """
    words = parser.parse_args(argv).overrides
    name_of_case = named_case(words)
    with Composer() as composer:
        config = composer.compose("simulate", words)
    if not isinstance(build(config["case"], "case"), kind):
        raise InputError(
            f"case={name_of_case} is no {kind.__name__}: choose one such as --help "
            "names"
        )
    job = planned(name_of_case, config)
    directory = run_once(job, lambda out: body(job, out))
    if words == [f"case={name_of_case}"]:
        point_to(RESULTS / "simulate" / name_of_case, directory)
    return directory
