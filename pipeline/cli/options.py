"""Options that commands share, and completion of names, keys and values."""

import functools
import inspect
import re
import shlex
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import MISSING, Field, fields
from pathlib import Path
from typing import Annotated, Any, get_type_hints

import typer
from typer import Argument, Option

from pipeline.config.config_files import CONF, case_names, study_names
from pipeline.figures.figure_names import figure_names
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


def studies() -> list[str]:
    """The studies of conf/study."""
    return _plain(study_names())


def figures() -> list[str]:
    """The names of all figures."""
    return _plain(figure_names())


def overrides(context: typer.Context, incomplete: str) -> list[str]:
    """case=NAME, then each key of that case with its value."""
    whole, before = _before(context.params.get("words") or (), incomplete)
    begun = before + incomplete
    found = _plain(word for word in _overrides(whole) if word.startswith(begun))
    return [word.removeprefix(before) for word in found]


def _plain(words: Iterable[str]) -> list[str]:
    """Those that a shell, which writes them as they are, does not run or expand."""
    return [word for word in words if shlex.quote(word) == word]


def _before(given: Sequence[str], incomplete: str) -> tuple[list[str], str]:
    """Whole overrides, and what stands before `incomplete` in its own.

    For bash, a word ends before = and after it.
    """
    whole: list[str] = []
    for word in given:
        if whole and (word == "=" or whole[-1].endswith("=")):
            whole[-1] += word
        else:
            whole.append(word)
    if whole and whole[-1].endswith("="):
        return whole[:-1], whole[-1]
    if whole and "=" not in whole[-1] and not incomplete:  # Typer drops a last =
        return whole[:-1], whole[-1] + "="
    return whole, ""


def _overrides(whole: Sequence[str]) -> list[str]:
    if not any(word.startswith("case=") for word in whole):
        return [f"case={name}" for name in case_names()]
    from pipeline.config.hydra import Composer, flat

    try:
        case = Composer().outline("simulate", whole)["case"]
    except InputError:
        return []
    leaves = {key: value for key, value in flat(case, "case") if key[-1] != "_"}
    # with a second word that begins as the first, a shell adds no blank after =
    return [
        f"{key}={text}" for key, value in leaves.items() for text in ("", _yaml(value))
    ]


def _yaml(value: object) -> str:
    return str(value).lower() if value in (None, True, False) else str(value)
