"""What a finished run came to, as a person is told it."""

import json
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pipeline.terminal.words import visible

PICTURE, PAGE = "picture.png", "run.html"  # made after a run, to look at
FIRST = ("E", "S")  # what this project compares, where a solver has it
ABOUT = (  # say how, not what
    "residual",
    "complementarity",
    "residual_share",
    "contact_gap",
    "edge_gap",
    "gap",
    "out_of_balance",
    "balance",
    "time",
    "ke",
    "largest_displacement",
    "largest_speed",
    "d0_edge",
    "d0_centre",
    "thickness",
    "smallest_distance",
    "fold_missing_deg",  # told in words
)
SENTENCES = (
    *("bears", "limits", "touching", "fold", "fold_why"),
    *("minimum", "warning", "doubled_nodes"),
)
SAID = {
    "bears": "links",
    "limits": "limits reached",
    "fold_why": "because",
    "doubled_nodes": "warning",
}
STEPS = ("steps", "iterations", "samples")
PATTERN = "pattern.fold"  # the sheet of a run that has one
NUMBER_UNITS = {  # where a solver is in SI units
    "J": "energy strain_energy contact_energy actuation_work driven damped",
    "m": "x_c y_c z_c x_first y_first displacement",
    "kg": "mass",
}
UNITS = {name: unit for unit, names in NUMBER_UNITS.items() for name in names.split()}
OF_A_FILE = ("EquilibriumCase",)  # in the units of a structure file instead
MEANT = {  # once, below the numbers that it is about
    "E": "E is how far all nodes are from their goals (rms; nodes without a goal count "
    "as there), S how spread out they are, both over L, their size at rest",
    "strain_energy": "strain_energy is in panels and creases, contact_energy in what "
    "touches",
    "largest_strain": "largest_strain is that of panels and creases, in their "
    "planes or by bending, panel_strain that of panels alone",
    "displacement": "displacement is of the watched coordinate, since the last phase "
    "began",
    "x_c": "x_c and the like are the centre of mass at the end",
}
BY_STOP = {
    "change": "a step changes it no more",
    "gradient": "no small move that is allowed brings it nearer",
    "duration": "the time that was asked for is over",
    "minimum": "everything is in balance, and stable",
}
KINDS = {"M": "mountain", "V": "valley", "F": "flat", "J": "join", "B": "border"}


def told(record: Mapping[str, Any]) -> list[str]:
    """Lines: E and S or the first numbers of another solver, steps, stop rule, time.

    Parameters
    ----------
    record : run.json of a finished run
    """
    result = dict(record.get("result") or {})
    stop = result.pop("stop", "")
    steps = [f"{result.pop(k)} {k}" for k in STEPS if k in result]
    ended = [*steps[:1], f"{record.get('wall_s') or 0.0:.1f} s"]
    lines = [", ".join(_numbers(record)) or "no numbers"]
    at_target = result.get("target_reached", False)
    why = f": {BY_STOP[stop]}" if stop in BY_STOP and not at_target else ""
    lines.append(f"stopped by: {stop or 'its end'}, after {', '.join(ended)}{why}")
    lines += _aimed(result)
    if "start_moved" in result:
        moved = f"{short(result['start_moved'])} {result.get('unit', '')}".rstrip()
        lines.append(f"start: a node moved by {moved} to fit the constraints")
    if "moved" in result:
        lines.append(f"moved: {result['moved']}{_rest(result)}")
    for name in SENTENCES:
        if result.get(name):
            off = f", {result['fold_off']}" if name + "_off" in result else ""
            share = _asked(record) if name == "fold" else ""
            lines.append(f"{SAID.get(name, name)}: {result[name]}{share}{off}")
    return [visible(line) for line in lines]


def _aimed(result: Mapping[str, Any]) -> list[str]:
    """Whether the target is reached, and by which node it is missed most."""
    if "target_reached" not in result:
        return []
    unit, node = result.get("unit", ""), result["target_node"]
    miss, allowed = (
        f"{result[name]:.3g} {unit}".rstrip()
        for name in ("target_miss", "target_allowed")
    )
    many = result["target_nodes"]
    of = f", the farthest of {many}" if many > 1 else ""
    if result["target_reached"]:
        return [f"target reached: node {node} within {miss}{of}"]
    return [
        f"target missed: node {node} by {miss}{of} (reached is within {allowed}, a "
        "thousandth of L)"
    ]


def _asked(record: Mapping[str, Any]) -> str:
    """The part of the folds drawn that the last folding asked for; "" of angles."""
    phases = _case(record).get("phases") or []
    folding = [p for p in phases if str(p.get("_target_", "")).endswith(".Fold")]
    if not folding or folding[-1].get("angles"):
        return ""
    return f" at {folding[-1].get('fraction', 1.0):g} of the folds assigned"


def _rest(result: Mapping[str, Any]) -> str:
    """Whether a robot is at rest, and what to say where it is not."""
    if "at_rest" not in result:
        return ""
    fastest = f"the fastest node at {short(result['largest_speed'])} m/s"
    if result["at_rest"]:
        return f"; at rest: {fastest}"
    return f"; still moving: {fastest}; {result['runs_on']} runs twice as long"


def meant(record: Mapping[str, Any]) -> list[str]:
    """Lines of what the first two numbers are that have no plain name."""
    said = [number.partition(" = ")[0] for number in _numbers(record)]
    return [MEANT[name] for name in said if name in MEANT][:2]


def told_sheet(directory: Path) -> list[str]:
    """A line of how many panels and edges of each kind, and how large, or none."""
    path = directory / PATTERN
    if not path.is_file():
        return []
    sheet = json.loads(path.read_text(encoding="utf-8"))
    many = Counter(sheet["edges_assignment"])
    kinds = [f"{many[letter]} {kind}" for letter, kind in KINDS.items() if many[letter]]
    panels = len(sheet["faces_vertices"])
    places = [
        [1e3 * x for x in axis] for axis in zip(*sheet["vertices_coords"], strict=True)
    ]
    sides = [f"{max(axis) - min(axis):.4g}" for axis in places[:2]]
    large = f"{' x '.join(sides)} mm as drawn"
    return [f"sheet: {', '.join([f'{panels} panels', *kinds, large])}"]


def short(value: Any) -> str:
    """Five digits of a number; anything else as it is."""
    return f"{value:.5g}" if isinstance(value, float) else str(value)


def _numbers(record: Mapping[str, Any]) -> list[str]:
    """E and S, or the first numbers of a solver that has neither, with their units."""
    result = dict(record.get("result") or {})
    first = [k for k in FIRST if k in result]
    if not result.get("displacement"):
        result.pop("displacement", None)  # of a phase that watches no coordinate
    found = [k for k, v in result.items() if isinstance(v, float) and k not in ABOUT]
    units = {} if _in_units_of_a_file(record) else UNITS
    return [
        f"{k} = {short(result[k])} {units.get(k, '')}".rstrip()
        for k in first or found[:4]
    ]


def length_unit(record: Mapping[str, Any]) -> str:
    """Of a run's coordinates: its file's, else m where its numbers are in SI units."""
    result = dict(record.get("result") or {})
    if "unit" in result:
        return str(result["unit"])
    known = not _in_units_of_a_file(record) and any(name in UNITS for name in result)
    return "m" if known else ""


def _in_units_of_a_file(record: Mapping[str, Any]) -> bool:
    """Whether lengths and forces are those of a structure file, whatever they are."""
    return str(_case(record).get("_target_", "")).endswith(OF_A_FILE)


def _case(record: Mapping[str, Any]) -> Mapping[str, Any]:
    """The case of a run as it decided its key; empty where there is none."""
    case = ((record.get("identity") or {}).get("config") or {}).get("case")
    return case if isinstance(case, Mapping) else {}


def shown_path(directory: Path) -> Path:
    """A path as it is typed from here."""
    here = Path.cwd()
    path = directory if directory.is_absolute() else here / directory
    return path.relative_to(here) if path.is_relative_to(here) else path
