"""What MkDocs writes into the site from the code: commands, keys, schemas, Python.

A page asks for it by a line of its own, `make docs` adds: NAME ARGUMENT
"""

import csv
import dataclasses
import importlib
import inspect
import json
import re
import subprocess
import sys
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
UNBUILT = re.compile(r"^Unbuilt, .*\n\n", re.M)
MARK = re.compile(r"^`make docs` adds: (\w+) ?(\S*)$", re.M)
DEFAULT = "default"
API = "pipeline.api."  # classes of which all members are for users
SECTION = re.compile(
    r"^(Attributes|Parameters)\n-+\n(.*?)(?=\n\w+\n-+\n|\Z)", re.M | re.S
)
ENTRY = re.compile(r"^(\w[\w, ]*?) : (.*(?:\n[ \t]+.*)*)", re.M)


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Replace the marks of a page by what they ask for, without notes of their lack."""
    if str(ROOT) not in sys.path:
        sys.path.insert(0, str(ROOT))
    built = UNBUILT.sub("", markdown)
    return MARK.sub(lambda found: GENERATED[found[1]](found[2]), built)


def commands(_: str) -> str:
    """Every command with its help, arguments and options, by group."""
    import typer

    from pipeline.cli.app import app

    parts: list[str] = []
    group = ""
    for command in typer.main.get_command(app).commands.values():  # type: ignore[attr-defined]
        if command.rich_help_panel != group:
            group = command.rich_help_panel
            parts.append(f"## {group}")
        parts.append(f"### morphtrack {command.name}")
        if command.name == "simulate":
            parts.append(_simulate())
            continue
        parts.append(_paragraphs(inspect.cleandoc(command.help or "")))
        rows = [
            _option(one) for one in command.params if not getattr(one, "hidden", False)
        ]
        parts.append(_table(("option", "value", DEFAULT, "meaning"), rows))
    return "\n\n".join(parts)


def _simulate() -> str:
    """The help of simulate, whose words are Hydra's."""
    text, _, options = _printed("simulate", "--help").partition("\nOptions:\n")
    options = options.partition("\nCases:")[0]
    return f"{_paragraphs(text)}\n\n```text\n{options.rstrip()}\n```"


def _printed(*words: str) -> str:
    """What a command prints."""
    line = [sys.executable, "-m", "pipeline", *words]
    return subprocess.run(
        line, cwd=ROOT, check=True, capture_output=True, text=True
    ).stdout


def _paragraphs(text: str) -> str:
    """Help as Markdown: an example becomes a line of a console."""
    text = re.sub(r"(?m)^Example: (.*(?:\n(?!\n).*)*)", _example, text)
    return _escaped(text)


def _example(found: "re.Match[str]") -> str:
    return "```console\n$ " + " ".join(found[1].split()) + "\n```"


def _escaped(text: str) -> str:
    """Angle brackets outside of code are letters."""
    return re.sub(r"<(?=\w)", "&lt;", text)


def _option(one: Any) -> tuple[str, str, str, str]:
    argument = one.param_type_name == "argument"
    flag = getattr(one, "is_flag", False)
    names = [one.human_readable_name] if argument else [*one.opts, *one.secondary_opts]
    value = "" if flag or argument else one.metavar or _kind(one)
    default = one.default
    if one.required:
        shown = "required"
    elif isinstance(one.show_default, str):
        shown = one.show_default
    else:
        shown = "" if flag or default in (None, "", ()) else str(default)
    return (", ".join(f"`{n}`" for n in names), value, shown, one.help or "")


def _kind(one: Any) -> str:
    """Choices, or a type in a word."""
    choices = getattr(one.type, "choices", None)
    return ", ".join(map(str, choices)) if choices else str(one.type.name)


def _table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    """A table of Markdown without columns that are empty."""
    rows = [tuple(_cell(cell) for cell in row) for row in rows]
    used = [i for i in range(len(head)) if any(row[i] for row in rows)]
    if not used:
        return ""
    lines = [[head[i] for i in used], ["---"] * len(used)]
    lines += [[row[i] for i in used] for row in rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def _cell(text: str) -> str:
    return " ".join(_escaped(text).replace("|", "\\|").split())


def schema(kind: str) -> str:
    """The keys of a kind of file with the form of their values, from its schema."""
    from pipeline.cli.new import schema as written
    from pipeline.config.value_types import Entry

    whole = json.loads(written(kind))
    models = {made.__name__: made for made in _below(Entry)}
    parts = [_keys(whole, _about(models[whole["title"]]))]
    for name, part in sorted(whole["$defs"].items()):
        if "properties" in part:
            title = part.get("description", "").partition("\n\n")[0]
            keys = _keys(part, _about(models[name]))
            parts.append(f"### {_spaced(name)}\n\n{_escaped(title)}\n\n{keys}")
    return "\n\n".join(parts)


def _below(kind: type) -> set[type]:
    """All classes that are of a kind."""
    return {kind}.union(*map(_below, kind.__subclasses__()))


def _about(kind: type) -> dict[str, str]:
    """Meanings of keys, also of the kinds that a class has them from."""
    found: dict[str, str] = {}
    for base in reversed(kind.__mro__):
        found |= _meanings(base.__doc__ or "")
    return found


def _keys(part: Mapping[str, Any], about: Mapping[str, str]) -> str:
    needed = part.get("required", [])
    rows = [
        (
            f"`{key}`",
            _form(of),
            "required" if key in needed else _default(of.get("default")),
            of.get("description", about.get(key, "")),
        )
        for key, of in part["properties"].items()
    ]
    return _table(("key", "value", DEFAULT, "meaning"), rows)


def _spaced(name: str) -> str:
    """SphereEntry as a heading: sphere."""
    words = re.findall(r"[A-Z]?[a-z]+", re.sub(r"(Entry|File|Case)$", "", name))
    return " ".join(words).lower()


def _default(value: Any) -> str:
    return "" if value in (None, {}, []) else f"`{json.dumps(value)}`"


def _form(of: Mapping[str, Any]) -> str:
    """What a value looks like, in a word or a row of words."""
    if "$ref" in of:
        name = _spaced(of["$ref"].rpartition("/")[2])
        return f"[{name}](#{name.replace(' ', '-')})"
    for several in ("anyOf", "oneOf"):
        if several in of:
            forms = [_form(one) for one in of[several] if one.get("type") != "null"]
            return " or ".join(dict.fromkeys(forms))
    if "enum" in of:
        return ", ".join(f"`{one}`" if one != "" else '`""`' for one in of["enum"])
    if "const" in of:
        return f"`{of['const']}`"
    if "prefixItems" in of:
        row = ", ".join(_form(one) for one in of["prefixItems"])
        return f"\\[{row}\\]"
    if of.get("type") == "array":
        items = _form(of["items"]) if "items" in of else "values"
        return f"list of {items}"
    if isinstance(of.get("additionalProperties"), Mapping):
        return f"name: {_form(of['additionalProperties'])}"
    kind = of.get("type", "any")
    return f"{kind} > 0" if of.get("exclusiveMinimum") == 0 else str(kind)


def _meanings(text: str) -> dict[str, str]:
    """Meanings of names from the sections of a numpy docstring."""
    found: dict[str, str] = {}
    for section in SECTION.finditer(inspect.cleandoc(text or "")):
        for entry in ENTRY.finditer(section[2]):
            for name in entry[1].split(", "):
                found[name] = " ".join(entry[2].split())
    return found


def model(path: str) -> str:
    """The keys of a pydantic model or a dataclass, named module:class."""
    module, _, name = path.partition(":")
    return _fields(getattr(importlib.import_module(module), name))


def _fields(kind: type) -> str:
    about = _about(kind)
    if hasattr(kind, "model_json_schema"):
        keys = _keys(kind.model_json_schema(), about)
        return re.sub(r"\[([a-z ]+)\]\(#[a-z-]+\)", r"\1", keys)
    rows = []
    for field in dataclasses.fields(kind):
        default: Any = field.default
        if default is dataclasses.MISSING:
            made = field.default_factory
            default = "required" if made is dataclasses.MISSING else made()
        text = str(getattr(default, "value", default))
        if dataclasses.is_dataclass(default) or len(text) > 40 or default is None:
            text = ""
        rows.append((f"`{field.name}`", text, about.get(field.name, "")))
    return _table(("key", DEFAULT, "meaning"), rows)


def values(path: str) -> str:
    """The keys of a file with their values, and the remarks behind them."""
    line = re.compile(r"^(\w+): *(.*?) *(?:# (.*))?$", re.M)
    rows = line.findall((ROOT / path).read_text(encoding="utf-8"))
    return _table(("key", DEFAULT, "meaning"), [(f"`{k}`", v, m) for k, v, m in rows])


def cases(_: str) -> str:
    """The cases of conf/case by what makes them, and the keys of each."""
    from hydra import compose, initialize_config_dir

    files = sorted((ROOT / "conf/case").glob("*.yaml"))
    about = {path.stem: _first_remark(path) for path in files}
    of: dict[str, list[str]] = {}
    with initialize_config_dir(str(ROOT / "conf"), version_base="1.3"):
        for name in about:
            case = compose("simulate", [f"case={name}"]).case
            of.setdefault(case["_target_"], []).append(name)
    parts = []
    for target, names in sorted(of.items(), key=lambda entry: -len(entry[1])):
        module, _, last = target.rpartition(".")
        made = getattr(importlib.import_module(module), last)
        parts.append(f"### {_spaced(last)}")
        rows = [(f"`case={one}`", about[one]) for one in names]
        parts.append(_table(("case", "what it shows"), rows))
        parts.append(_fields(made) if inspect.isclass(made) else _taken(made))
    return "\n\n".join(parts)


def _first_remark(path: Path) -> str:
    line = path.read_text(encoding="utf-8").partition("\n")[0]
    return line.removeprefix("#").strip() if line.startswith("#") else ""


def _taken(function: Callable[..., Any]) -> str:
    """The keys of a case that a function makes."""
    about = _meanings(function.__doc__ or "")
    rows = []
    for one in inspect.signature(function).parameters.values():
        default = "required" if one.default is one.empty else str(one.default)
        if one.kind is one.VAR_KEYWORD:
            continue
        rows.append((f"`{one.name}`", default, about.get(one.name, "")))
    return _table(("key", DEFAULT, "meaning"), rows)


def table(name: str) -> str:
    """What `python -m tests.bench.validation_tables` wrote."""
    path = ROOT / f"docs/explanation/tables/{name}.csv"
    with path.open(encoding="utf-8", newline="") as file:
        head, *rows = map(tuple, csv.reader(file))
    return _table(head, rows)


def python(_: str) -> str:
    """What morphtrack offers, each name where mkdocstrings finds it."""
    import morphtrack

    groups: dict[str, list[str]] = {"Classes": [], "Functions": []}
    for name in morphtrack.__all__:
        made = getattr(morphtrack, name)
        if inspect.ismodule(made):
            parts = [
                _directive(getattr(made, one), f"mt.{name}.{one}")
                for one in made.__all__
            ]
            groups[f"mt.{name}"] = [_escaped(inspect.getdoc(made) or ""), *parts]
        else:
            kind = "Classes" if inspect.isclass(made) else "Functions"
            groups[kind].append(_directive(made, f"mt.{name}"))
    return "\n\n".join(
        f"## {kind}\n\n" + "\n\n".join(all_) for kind, all_ in groups.items()
    )


def _directive(made: Any, heading: str) -> str:
    """What mkdocstrings reads: where an object is, under the name that users type."""
    lines = [f"::: {made.__module__}.{made.__qualname__}", "    options:"]
    lines += [f"      heading: {heading}", f"      toc_label: {heading}"]
    if not made.__module__.startswith(API):
        lines += ["      members: false"]
    return "\n".join(lines)


GENERATED: dict[str, Callable[[str], str]] = {
    "commands": commands,
    "schema": schema,
    "model": model,
    "values": values,
    "cases": cases,
    "python": python,
    "table": table,
}
