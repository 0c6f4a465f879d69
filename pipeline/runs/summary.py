"""What finished runs came to: lines for a person, verdicts, changed numbers.

After a result was made again its name stands for another run: the results of the two
are compared. A number has an uncertainty where the result holds one, called
<number>_u; the larger of the two counts.
"""

import csv
import json
import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from pipeline.runs.run_directory import RESULTS, finished, node_names, run_record
from pipeline.terminal import InputError, named_nodes, visible

PICTURE, PAGE, FILM = "picture.png", "run.html", "moving"
TO_LOOK_AT = (PICTURE, PAGE, f"{FILM}.gif", f"{FILM}.mp4")  # made after a run
FIRST = ("E", "S")  # what this project compares, where a solver has it
ABOUT = {  # about the computation; fold_missing_deg is put in words
    *("residual", "complementarity", "residual_share", "out_of_balance", "balance"),
    *("contact_gap", "edge_gap", "gap", "d0_edge", "d0_centre", "smallest_distance"),
    *("largest_displacement", "largest_speed", "thickness", "time", "ke"),
    "fold_missing_deg",
}
SENTENCES = (
    *("neutral_motion", "bears", "limits", "touching", "fold", "fold_why", "no_target"),
    *("minimum", "snaps", "warning", "doubled_nodes", "target_size", "drawing"),
)
OUTCOMES = ("fold", "fold_why", "no_target")
TITLES = {
    "neutral_motion": "motions without a change of energy",
    "bears": "links",
    "limits": "limits reached",
    "fold_why": "because",
    "no_target": "no target",
    "doubled_nodes": "warning",
    "target_size": "warning",
}
STEPS = ("steps", "iterations", "samples")
NUMBER_UNITS = {  # where a solver is in SI units
    "J": "energy strain_energy contact_energy actuation_work driven damped",
    "m": "x_c y_c z_c x_first y_first displacement",
    "kg": "mass",
}
UNITS = {name: unit for unit, names in NUMBER_UNITS.items() for name in names.split()}
OF_A_FILE = ("EquilibriumCase",)  # in the units of a structure file instead
ROUNDING = {  # below which a number is left from rounding, and differs by processor
    **dict.fromkeys(NUMBER_UNITS["J"].split(), 1e-18),
    **dict.fromkeys(("largest_strain", "panel_strain"), 1e-9),
}
IN_WORDS = {  # before the value of a number, where it is not its name
    "E": "E =",
    "S": "S =",
    "displacement": "displacement of the watched coordinate",
    "x_c": "centre of mass at x",
    "y_c": "y",
    "z_c": "z",
}
DEFINITION = (  # once, below the numbers that it is about
    "E is the rms distance of all nodes from their goals (0 for nodes without a goal), "
    "S the spread of the nodes, both divided by L, their initial size"
)
BY_STOP = {
    "change": "it has converged",
    "gradient": "no small admissible motion brings it nearer",
    "duration": "the requested time is over",
    "minimum": "a stable equilibrium is reached",
    "neutral": "a neutral equilibrium is reached",
}


def summary_lines(record: Mapping[str, Any]) -> list[str]:
    """Lines: how it ended, E and S or other numbers, stop rule, steps and time, notes.

    Parameters
    ----------
    record : run.json of a finished run
    """
    result = dict(record.get("result") or {})
    stop = result.pop("stop", "")
    steps = [f"{result.pop(k)} {k}" for k in STEPS if k in result]
    ended = [*steps[:1], f"{record.get('wall_s') or 0.0:.1f} s"]
    at_target = result.get("target_reached", "no_target" in result)
    why = f": {BY_STOP[stop]}" if stop in BY_STOP and not at_target else ""
    sentences = {
        name: _sentence(name, record) for name in SENTENCES if result.get(name)
    }
    lines = _aimed(result)
    if "moved" in result:
        lines.append(f"moved: {result['moved']}{_rest(result)}")
    lines += [sentences.pop(name) for name in OUTCOMES if name in sentences]
    lines.append(", ".join(_numbers(record)) or "no numbers")
    lines.append(f"stopped by: {stop or 'end of run'}, after {', '.join(ended)}{why}")
    if "minima" in result:
        text = "minima: {minima}; the lowest found by {lowest_found} of {starts} starts"
        lines.append(text.format(**result))
    if "start_moved" in result:
        moved = f"{short(result['start_moved'])} {result.get('unit', '')}".rstrip()
        lines.append(f"start: nodes moved by up to {moved} to fit the constraints")
    return [visible(line) for line in [*lines, *sentences.values()]]


def _sentence(name: str, record: Mapping[str, Any]) -> str:
    result = record["result"]
    but = ", but" if result[name] == "folded" else ","
    off = f"{but} {result['fold_off']}" if name + "_off" in result else ""
    share = _asked(record) if name == "fold" else ""
    return f"{TITLES.get(name, name)}: {result[name]}{share}{off}"


def run_title(record: Mapping[str, Any]) -> str:
    """The user's file, or the case, and the first two numbers."""
    case = (record.get("config") or {}).get("case") or {}
    parts = [case, *(v for v in case.values() if isinstance(v, Mapping))]
    paths = [str(part["path"]) for part in parts if part.get("path")]
    name = Path(paths[0]).name if paths else record["name"]
    return f"{name}: {', '.join(_numbers(record)[:2]) or 'no numbers'}"


def _aimed(result: Mapping[str, Any]) -> list[str]:
    """Whether the target is reached, and which nodes miss it most."""
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
    others = result.get("target_others", "")
    also, it = (f"; also {others}", f"node {node}") if others else ("", "it")
    ends = f"; {it} ends at {result['target_at']}" if "target_at" in result else ""
    return [
        f"target missed: node {node} by {miss}{of}{also} (tolerance {allowed}, a "
        f"thousandth of L){ends}"
    ]


def _asked(record: Mapping[str, Any]) -> str:
    """The part of the assigned folds that the last folding asked for; "" of angles."""
    phases = _case(record).get("phases") or []
    folding = [p for p in phases if str(p.get("_target_", "")).endswith(".Fold")]
    if not folding or folding[-1].get("angles"):
        return ""
    return f" at {folding[-1].get('fraction', 1.0):g} of the assigned angles"


def _rest(result: Mapping[str, Any]) -> str:
    """Whether a robot is at rest, and what to say where it is not."""
    if "at_rest" not in result:
        return ""
    if "largest_speed" not in result:
        return "; at rest"
    fastest = f"the fastest node at {short(result['largest_speed'])} m/s"
    if result["at_rest"]:
        return f"; at rest: {fastest}"
    return f"; still moving: {fastest}; to run twice as long: {result['runs_on']}"


def definitions(record: Mapping[str, Any]) -> list[str]:
    """A line of what E and S are, where a run has them."""
    return [DEFINITION] if "E" in main_numbers(record) else []


def short(value: Any) -> str:
    """Five digits of a number, which is never -0; anything else as it is."""
    return f"{value + 0.0:.5g}" if isinstance(value, float) else str(value)


def main_numbers(record: Mapping[str, Any]) -> dict[str, Any]:
    """E and S, or the first numbers of a solver that has neither."""
    result = dict(record.get("result") or {})
    first = [k for k in FIRST if k in result]
    if not result.get("displacement"):
        result.pop("displacement", None)  # of a phase that watches no coordinate
    found = [k for k, v in result.items() if isinstance(v, float) and k not in ABOUT]
    return {k: result[k] for k in first or found[:4]}


def _numbers(record: Mapping[str, Any]) -> list[str]:
    """The main numbers in words, with their units."""
    units = {} if _in_units_of_a_file(record) else UNITS
    numbers = main_numbers(record)
    words = {k: IN_WORDS.get(k, k.replace("_", " ")) for k in numbers}
    for name, most in ROUNDING.items():
        if abs(numbers.get(name, most)) < most:
            numbers[name] = 0.0
    return [
        f"{words[k]} {_with_unit(value, units.get(k, ''))}".rstrip()
        for k, value in numbers.items()
    ]


def _with_unit(value: Any, unit: str) -> str:
    """A length below 1 m in mm, as in pictures."""
    if unit == "m" and abs(value) < 1.0:
        return f"{short(1000.0 * value)} mm"
    return f"{short(value)} {unit}"


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


PATTERN = "pattern.fold"  # the sheet of a run that has one
ASSUMED = "frame_description"  # what it says of a unit that its file does not name
PARAMETERS, ERRORS = "parameters.csv", "errors.csv"  # of a fit
KINDS = {"M": "mountain", "V": "valley", "F": "flat", "J": "join", "B": "border"}
CONFIGURATIONS = {  # sim.mechanism.bifurcations.CrossingKind
    "rigid": "nothing moves: the only first-order motions are rigid ones",
    "regular": "regular: one smooth set of configurations, dimension {dimension}",
    "isolated": "isolated: first-order motions ({null_space}), none of them finite",
    "branches": "{branches} branches of dimension {dimension} meet",
    "cone": "no simple bifurcation: null space of dimension {null_space}, branches "
    "leave in a cone of dimension {dimension}; only some of them are followed",
}


def details(record: Mapping[str, Any], directory: Path) -> list[str]:
    """Lines on a sheet, on a fit, on reachable shapes or on branches; else none.

    Parameters
    ----------
    record : run.json of a finished run
    directory : folder of the run
    """
    result = dict(record.get("result") or {})
    of_files = [*_sheet(directory), *_fit(result, directory)]
    return [*of_files, *_reached(result), *branches_in_words(result)]


def run_lines(record: Mapping[str, Any], directory: Path) -> list[str]:
    """All lines on a run, its nodes with their names where its structure has names."""
    names = node_names(directory)
    lines = [*summary_lines(record), *details(record, directory)]
    return [named_nodes(line, names) for line in lines]


def _sheet(directory: Path) -> list[str]:
    """A line of how many panels and edges of each kind, and how large, or none."""
    path = directory / PATTERN
    if not path.is_file():
        return []
    sheet = json.loads(path.read_text(encoding="utf-8"))
    many = Counter(sheet["edges_assignment"])
    kinds = [f"{many[letter]} {kind}" for letter, kind in KINDS.items() if many[letter]]
    panels = len(sheet["faces_vertices"])
    axes = list(zip(*sheet["vertices_coords"], strict=True))[:2]
    sides = [f"{1e3 * max(axis) - 1e3 * min(axis):.4g}" for axis in axes]
    how = f"; {sheet[ASSUMED]}" if ASSUMED in sheet else " as drawn"
    large = f"{' x '.join(sides)} mm{how}"
    return [f"sheet: {', '.join([f'{panels} panels', *kinds, large])}"]


def _fit(result: Mapping[str, Any], directory: Path) -> list[str]:
    """Each parameter of a fit with its uncertainty; errors and two baselines."""
    if "chi2" not in result or not (directory / PARAMETERS).is_file():
        return []
    lines = []
    for row in _rows(directory / PARAMETERS):
        value, nominal = float(row["value"]), float(row["nominal"])
        determined = row["determined"] == "yes"
        u = f"+- {float(row['u']):.2g}" if determined else "not determined"
        lines.append(f"{row['parameter']}: {value:.6g} {u} (nominal {nominal:.6g})")
    lines.append(f"chi2: {result['chi2']:.4g}, degrees of freedom {result['dof']}")
    if result["u_enlarged"] > 1.0:
        lines.append(
            f"u was multiplied by {result['u_enlarged']:.3g}, because the residuals "
            "are larger than the stated u"
        )
    errors = _rows(directory / ERRORS)
    for row in errors:
        names = ("rms", "rms_nominal", "rms_mean", "u")
        rms, nominally, mean, u = (f"{float(row[name]):.3g}" for name in names)
        lines.append(
            f"{row['quantity']}, {row['part']} ({row['count']}): rms {rms}, with "
            f"nominal parameters {nominally}, of the mean {mean}, u {u}"
        )
    if all(row["part"] != "held out" for row in errors):
        lines.append("warning: no held-out data: the fit was not validated")
    return lines


def _rows(path: Path) -> list[dict[str, str]]:
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def _reached(result: Mapping[str, Any]) -> list[str]:
    """Ranges of the shapes that a mechanism was found to reach."""
    if "new_in_last_100" not in result:
        return []
    lines = [
        f"{name}: {result[f'{name}_least']:.4f} to {result[f'{name}_most']:.4f}"
        for name in ("S", "size", "sigma")
    ]
    if result["stop"] == "rigid":
        lines.append(
            "rigid: the mechanism has only rigid-body motions; its shape cannot change"
        )
    lines.append(
        f"different shapes (cells): {result['cells']}, {result['new_in_last_100']} "
        "of them new in the last 100 samples (near 0: more samples add little)"
    )
    return lines


def branches_in_words(result: Mapping[str, Any]) -> list[str]:
    """What kind of configuration branches were followed from."""
    if result.get("configuration") in CONFIGURATIONS:
        return [CONFIGURATIONS[result["configuration"]].format(**result)]
    if "negative_motions" not in result:
        return []
    many = result["negative_motions"]
    if not many:
        return ["a minimum: no motion lowers E from where the morph rests"]
    return [f"a saddle: E falls along {many} motion{'s' * (many > 1)}, both ways"]


VERDICTS = "compare"  # the step that comes to them
TABLE = "comparison.csv"


def read_verdicts(names: Iterable[str], results: Path) -> dict[str, dict[str, str]]:
    """The rows of those comparisons among `names` that are there, in their order."""
    paths = {name: results / VERDICTS / name / TABLE for name in names}
    return {name: _rows(path)[0] for name, path in paths.items() if path.is_file()}


def comparison_summary(directory: Path) -> str:
    """Lines on a finished comparison: verdict, reason and numbers.

    Nodes without a sphere are named: S and the other numbers are of the others.
    """
    (row,) = _rows(directory / TABLE)
    numbers = {k: float(row[k]) for k in ("S_simulated", "S_scanned", "S_scanned_u")}
    return (
        f"{row['verdict']}: {row['why']}\n"
        f"S simulated {numbers['S_simulated']:.5f}, scanned {numbers['S_scanned']:.5f} "
        f"+- {numbers['S_scanned_u']:.5f}; node rms {float(row['rms_mm']):.3f} mm; "
        f"{row['labelled']} of {row['nodes']} nodes labelled{_left_out(row)}; "
        f"{'synthetic scan; ' if is_synthetic(row) else ''}tables in {directory}"
    )


def _left_out(row: Mapping[str, str]) -> str:
    """Nodes without a sphere, and how many nodes are compared."""
    if not (lost := row.get("without_sphere", "")):
        return ""
    return (
        f" (no sphere at node{'s' * (',' in lost)} {lost}: S, E and distances of scan "
        f"and simulation use {int(row['nodes']) - int(row['missing'])} nodes)"
    )


def is_synthetic(row: Mapping[str, str]) -> bool:
    """Whether a comparison is one of a scan that was computed."""
    return row["synthetic"].lower() == "true"


Keys = Mapping[str, str]  # of the run that each name stands for
HEAD = ["moved", "number", "was", "is", "u"]


def moved(before: Keys, after: Keys, results: Path = RESULTS) -> list[list[str]]:
    """A row a number that moved or a verdict that turned, of names made again."""
    rows = []
    for name, key in after.items():
        if name in before and before[name] != key:
            then, now = _result(before[name], results), _result(key, results)
            rows += [[name, *row] for row in _changes(then, now)]
    return rows


def _result(key: str, results: Path) -> Mapping[str, Any]:
    directory = finished(key, results)
    try:
        return dict(run_record(directory)["result"]) if directory else {}
    except (InputError, KeyError, TypeError, ValueError):
        return {}  # the report names an edited record


def _changes(then: Mapping[str, Any], now: Mapping[str, Any]) -> Iterator[list[str]]:
    old, new = then.get("verdict"), now.get("verdict")
    if old and new and old != new:
        yield ["verdict", str(old), str(new), ""]
    for name in now:
        values = [r.get(n) for r in (then, now) for n in (name, f"{name}_u")]
        numbers = [float(v) for v in values if isinstance(v, int | float)]
        if len(numbers) < len(values):
            continue
        was, was_u, value, value_u = numbers
        u = max(was_u, value_u)
        both_absent = math.isnan(was) and math.isnan(value)
        if not both_absent and not abs(value - was) <= u:
            yield [name, f"{was:.6g}", f"{value:.6g}", f"{u:.2g}"]
