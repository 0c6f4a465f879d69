"""Options that commands share."""

import functools
import inspect
import re
import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, Field, fields
from pathlib import Path
from typing import Annotated, Any, get_type_hints

from typer import Argument, Option

from pipeline.config.config_files import CONF
from pipeline.steps.settings import HELP
from pipeline.terminal import InputError, named_nodes

SCANNER, PARTS = CONF / "scanner.yaml", CONF / "parts/default.yaml"
SEVERAL = {"--at": 3, "--pose": 3, "--row": 4}  # words that each of these takes


def output_directory(text: str) -> Path:
    """A folder for results, which may not exist yet."""
    path = Path(text)
    for parent in (path, *path.parents):
        if parent.exists():
            if not parent.is_dir():
                raise InputError(f"{parent} is a file, not a folder: give a folder")
            break
    return path


def profile_directory(text: str) -> Path:
    """A folder of Snakemake settings: where jobs run."""
    path = Path(text)
    if not Path("Snakefile").is_file():
        raise InputError(
            f"{Path.cwd()} has no Snakefile: run this in the project's top folder"
        )
    if not (path / "config.yaml").is_file():
        there = sorted(p.parent.name for p in path.parent.glob("*/config.yaml"))
        raise InputError(
            f"--profile {path} has no config.yaml: give one of "
            f"{', '.join(there) or 'none'}"
        )
    return path


def result_folder(text: str) -> Path:
    """A folder of results, named by itself or by one of its files."""
    path = Path(text)
    return path.parent if path.is_file() else path


def folder(parser: Callable[[str], Path], text: str) -> Any:
    """An option that names a folder."""
    return Option(parser=parser, metavar="DIR", help=text)


_RUN: Any = {"metavar": "RUN", "help": "Name, folder or key of a finished run."}
Out = Annotated[Path, folder(output_directory, "Folder to write into.")]
OutIfGiven = Annotated[Path | None, folder(output_directory, "Folder to write into.")]
Simulated = Annotated[str, Option(**_RUN)]
RunName = Annotated[str, Argument(**_RUN)]
Spheres = Annotated[Path, folder(result_folder, "Folder of an ingest run.")]
ScaleMm = Annotated[float | None, Option(help=HELP["scale_mm"])]
Planned = Annotated[
    str, Option(metavar="DIGEST", help="Fail unless conf and code have this digest.")
]
Cores = Annotated[int | None, Option(help="Number of jobs that run at the same time.")]
Profile = Annotated[Path, folder(profile_directory, "Folder of a Snakemake profile.")]
Words = Annotated[
    list[str] | None,
    Argument(
        metavar="[KEY=VALUE]...", help="Changes to values of NAME's file in conf."
    ),
]


def with_settings(
    kind: type, stands_for: type | None = None
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Give a command an option for each field of a dataclass.

    The command gets their values as `settings`, a dict. A field that is a parameter of
    the command itself is left to it.

    Parameters
    ----------
    stands_for : class whose attributes are shown as defaults of fields that are None
    """

    def decorate(command: Callable[..., Any]) -> Callable[..., Any]:
        signature = inspect.signature(command)
        own = [p for p in signature.parameters.values() if p.name != "settings"]
        hints, names = get_type_hints(kind), {p.name for p in own}
        chosen = [field for field in fields(kind) if field.name not in names]

        @functools.wraps(command)
        def called(**given: Any) -> Any:
            settings = {field.name: given.pop(field.name) for field in chosen}
            return command(settings=settings, **given)

        options = [_parameter(f, hints[f.name], stands_for) for f in chosen]
        by_name = [p.replace(kind=inspect.Parameter.KEYWORD_ONLY) for p in own]
        called.__signature__ = signature.replace(  # type: ignore[attr-defined]
            parameters=[*by_name, *options]
        )
        return called

    return decorate


def _parameter(
    field: Field[Any], hint: Any, stands_for: type | None
) -> inspect.Parameter:
    """A field as a parameter that Typer makes an option of."""
    flag, default = _flag(field.name), field.default
    if hint is bool and default:
        flag += f"/--no-{flag.removeprefix('--')}"
    if default is MISSING:
        default = inspect.Parameter.empty
    shown = getattr(stands_for, field.name, None) if default is None else None
    seen = True if shown is None else str(shown)
    option = Annotated[hint, Option(flag, help=HELP[field.name], show_default=seen)]
    kind = inspect.Parameter.KEYWORD_ONLY
    return inspect.Parameter(field.name, kind, default=default, annotation=option)


def joined(words: Sequence[str]) -> list[str]:
    """A command line whose options of several words have them as one word.

    Typer has options of one word that are given several times, or of several words
    that are given once.
    """
    result: list[str] = []
    room = 0
    for word in words:
        if room and not word.startswith("--"):
            result[-1] = f"{result[-1]} {shlex.quote(word)}".lstrip()
            room -= 1
            continue
        result.append(word)
        room = SEVERAL.get(word, 0)
        if room:
            result.append("")
    return result


def several(option: str, text: str, *forms: str) -> list[str]:
    """The words of an option that takes several, as many as one of these forms has."""
    words, counts = shlex.split(text), [len(form.split()) for form in forms]
    if len(words) not in counts:
        raise InputError(
            f"{option} {text} must have {' or '.join(map(str, counts))} words, not "
            f"{len(words)}: give {', or '.join(forms)}"
        )
    return words


def given_names(settings: dict[str, Any], kind: type, **more: Any) -> list[str]:
    """The options of a dataclass, and more by name, that a person has given."""
    changed = [
        field.name
        for field in fields(kind)
        if field.name in settings and settings[field.name] != field.default
    ]
    changed += [name for name, value in more.items() if value]
    return [_flag(name) for name in changed]


def _flag(name: str) -> str:
    return "--" + name.replace("_", "-")


OPTIONS = {name: _flag(name) for name in HELP if "_" in name} | {
    "sd_mm": "--marker-sd-mm",
    "radius_mm": "--sphere-radius-mm",
    "radius_max_mm": "the end of --radius-range",
}


def typed(text: str) -> str:
    """A message in which settings are options, as a command line has them."""
    word = r"(?<![\w./-])\w+_\w+"
    return re.sub(word, lambda found: OPTIONS.get(found[0], found[0]), text)


REMARKS = ("held", "warning")  # entries of a result that are sentences


def make_and_show(
    step: str,
    config: Mapping[str, Any],
    out: Path,
    reads: Mapping[str, Any],
    in_words: Callable[[Mapping[str, Any]], str],
    **more: Any,
) -> dict[str, Any]:
    """Make a step, see pipeline.workflow.make_step, and print its numbers in words."""
    from pipeline.runs.run_directory import node_names, run_record
    from pipeline.workflow.make_step import make_step

    run = make_step(step, config, out, reads=reads, **more)
    numbers: dict[str, Any] = run_record(run)["result"]
    names = node_names(reads.get("simulated", out))
    lines = [in_words(numbers)]
    lines += [f"{name}: {numbers[name]}" for name in REMARKS if name in numbers]
    print(named_nodes(typed("\n".join(lines)), names))
    return numbers
