"""The commands in groups, and what each says of itself."""

from collections.abc import Mapping
from pathlib import Path

GROUPS = {
    "make all that conf/workflow.yaml wants": "make plan status run accept figure",
    "run a case, or many": "simulate study study_table",
    "begin with something of your own": "new schema",
    "see what there is, and what came of it": "cases studies figures see film report "
    "paper trace ui",
    "from a scan to a verdict": "ingest markers pick compare deviation "
    "input_uncertainty compare_series virtual_scan",
    "predict an experiment, then look": "predict measured",
    "to the printer and back": "parts calibrate",
    "mechanisms": "mobility branches envelope",
    "origami and rods": "closure fold_file fit_rod",
    "share and serve": "archive track server",
    "this command": "completion",
}
COMMANDS = tuple(name for names in GROUPS.values() for name in names.split())


def first_line(name: str) -> str:
    """What a command says of itself, without its usage; nothing is imported."""
    with Path(__file__).with_name(f"{name}.py").open(encoding="utf-8") as file:
        line = file.readline()
    return line.strip('" \n').partition(": morphtrack")[0].rstrip(".")


def in_columns(said: Mapping[str, str], width: int = 0) -> list[str]:
    """A line a name, with what is said of it."""
    width = max(width, *map(len, said)) if said else width
    return [f"  {name:{width}}  {text}".rstrip() for name, text in said.items()]


def overview() -> str:
    """Every command in its group, one line each."""
    width = max(map(len, COMMANDS))
    lines = ["morphtrack COMMAND ...; morphtrack COMMAND --help says what it takes"]
    for group, names in GROUPS.items():
        said = {name: first_line(name) for name in names.split()}
        lines += ["", f"{group}:", *in_columns(said, width)]
    return "\n".join(lines)
