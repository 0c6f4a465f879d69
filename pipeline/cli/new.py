"""Commented files to start from, and the schemas that editors complete them with."""

import json
import re
from pathlib import Path

from pydantic import BaseModel

from pipeline.cases.equilibrium import LoadedFile
from pipeline.config.config_files import PROJECT
from pipeline.io.rod_entries import RodFile
from pipeline.io.structure_file import structure_content, structure_file
from pipeline.runs.atomic_files import write_text
from pipeline.terminal import InputError

TEMPLATES = Path(__file__).with_name("templates")
PLACES = {
    "mechanism": "NAME.yaml",
    "pattern": "NAME.svg",
    "robot": "NAME.yaml",
    "comparison": "NAME.comparison.yaml",
    "study": "conf/study/NAME.yaml",
    "project": "NAME",
}
NEXT = {
    "mechanism": "morphtrack mobility PATH\nmorphtrack simulate PATH",
    "pattern": "morphtrack simulate PATH",
    "robot": "morphtrack simulate PATH",
    "comparison": "put it into conf/workflow.yaml, then:\n"
    "snakemake --cores 2 results/compare/NAME/comparison.csv\nmorphtrack report",
    "study": "morphtrack study NAME",
    "project": "cd NAME && make",
}


def template(kind: str) -> str:
    """The file of a kind, with NAME in place of a name."""
    path = TEMPLATES / f"{kind}{Path(PLACES[kind]).suffix}"
    return path.read_text(encoding="utf-8")


def written_out(path: str) -> str:
    """A structure file of another file, its entries numbered."""
    structure_file(path)  # refused now rather than when it is run
    lines = [template("mechanism").partition("\n")[0], f"# From {Path(path).name}."]
    for key, value in structure_content(path).items():
        if isinstance(value, list):
            lines.append(f"{key}:" if value else f"{key}: []")
            lines += [f"  - {json.dumps(one)} # {i}" for i, one in enumerate(value)]
        else:
            lines.append(f"{key}: {json.dumps(value)}")
    lines.append("# target: {nodes: [[0, 0.0, 0.0, 0.0]]} # node, and its goal x, y, z")
    return "\n".join(lines) + "\n"


def write_project(folder: Path) -> None:
    """Write the folder of a paper: a conf, a mechanism, figures and an article."""
    of = TEMPLATES / "project"
    files = {p.relative_to(of): p for p in sorted(of.rglob("*")) if p.is_file()}
    files[Path("linkage.yaml")] = TEMPLATES / "mechanism.yaml"
    files[Path(".gitignore")] = files.pop(Path("gitignore"))
    for name, path in files.items():
        text = path.read_text(encoding="utf-8").replace("NAME", folder.name)
        write_text(folder / name, text)


def written(kind: str, name: str, begun: str | None = None) -> tuple[Path, str]:
    """Write a file; return its path and the next command.

    Parameters
    ----------
    begun : file that a mechanism is taken from

    Raises
    ------
    InputError
        where the name is no name, or the file is there
    """
    name = name.removesuffix(Path(PLACES[kind]).suffix)
    if not re.fullmatch(r"[A-Za-z][A-Za-z0-9_]*", name):
        raise InputError(f"{name!r} is not a name: use letters, digits and _")
    path = Path(PLACES[kind].replace("NAME", name))
    if path.exists():
        raise InputError(f"{path} exists: give another name, or move it away")
    if kind == "study" and not PROJECT.is_dir():
        raise InputError(
            f"{Path.cwd()} has no folder conf: run this in the project's top folder"
        )
    if begun is not None and kind != "mechanism":
        raise InputError(f"--from works for mechanisms, not a {kind}: leave it out")
    if kind == "project":
        write_project(path)
        return path, NEXT[kind].replace("NAME", name)
    text = template(kind).replace("NAME", name)
    write_text(path, text if begun is None else written_out(begun))
    return path, NEXT[kind].replace("NAME", name).replace("PATH", str(path))


def schema(kind: str) -> str:
    """The JSON Schema of the files of a kind."""
    models: dict[str, type[BaseModel]] = {"mechanism": LoadedFile, "robot": RodFile}
    if kind not in models:
        raise InputError(f"a {kind} has no schema: give {' or '.join(models)}")
    found = models[kind].model_json_schema()
    dialect = {"$schema": "https://json-schema.org/draft/2020-12/schema"}
    return json.dumps(dialect | found, indent=1)
