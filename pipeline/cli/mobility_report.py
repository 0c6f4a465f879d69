"""How a structure can move: counts, warnings, modes, and its branches."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from pipeline.cases.branches_and_snaps import BranchCase, SaddleCase
from pipeline.cases.morph import MorphCase
from pipeline.config.build_objects import build
from pipeline.io.structure_file import drawing_of
from pipeline.runs.atomic_files import write_json
from pipeline.runs.summary import branches_in_words
from pipeline.steps.simulate import record_steps
from pipeline.terminal import (
    InputError,
    RunFailedError,
    named_nodes,
    one_line,
    refusing,
)
from sim.core.options import NotConvergedError
from sim.mechanism.constraints import ConstraintKind
from sim.mechanism.mobility import (
    LARGEST,
    Mobility,
    flat_by_distances,
    mobility,
    modes,
    nearby_mobility,
)
from sim.mechanism.structure import Structure, same_places_in_words

PLOTTED = 24  # modes in the figure
NAMED = 20  # redundant rows in the print


def count_motions(config: Mapping[str, Any], name: str, out: Path) -> None:
    """Print the mobility of a case, and draw its modes into a folder.

    Parameters
    ----------
    config : of the composed case
    name : of the files
    """
    structure = _structure(config["case"])
    found = mobility(structure)
    lines = report(found, structure, nearby_mobility(structure))
    print(named_nodes("\n".join(lines), getattr(structure, "node_names", ())))
    unknowns = 3 * found.nodes + found.multipliers
    if found.mobility == 0:
        print("modes           none")
    elif unknowns > LARGEST:
        print(f"modes           not plotted: {unknowns} unknowns, more than {LARGEST}")
    else:
        print(f"modes           {draw(name, structure, out)}")


def report(found: Mobility, structure: Structure, nearby: int | None) -> list[str]:
    """What is printed, line by line."""
    lines = [
        f"nodes n         {found.nodes}",
        f"multipliers k   {found.multipliers}",
        f"constraints m   {found.rows}",
        f"3n + k - m      {found.naive}",
        f"rank            {found.rank}",
        f"redundant       {len(found.redundant)}",
        f"mobility        {found.mobility}",
    ]
    if found.mobility == 0:
        lines.append("the structure cannot move")
    names = [structure.constraints.name_of_row(int(i)) for i in found.redundant[:NAMED]]
    if names:
        more = len(found.redundant) - len(names)
        lines.append(
            "redundant rows  " + "; ".join(names) + f" and {more} more" * bool(more)
        )
    if nearby is None:
        lines.append(
            "warning: no configuration nearby satisfies the constraints, so the "
            "first-order motions may not continue: check the lengths"
        )
    elif nearby != found.mobility:
        lines.append(
            f"warning: the mobility nearby is {nearby}: the start is singular, and "
            "some of its motions do not continue; `morphtrack mobility --branches "
            "start` follows them"
        )
    if nearby != found.mobility:
        lines += _held_flat_by_distances(structure)
    lines += [f"{key}         {note}" for key, note in drawing_of(structure).items()]
    doubled = same_places_in_words(structure)
    return [*lines, f"warning: {doubled}"] if doubled else lines


def _held_flat_by_distances(structure: Structure) -> list[str]:
    """Bodies that are why the initial configuration is a special one."""
    flat = flat_by_distances(structure)
    if not flat:
        return []
    more = f" (and further sets: {len(flat) - 1})" if len(flat) > 1 else ""
    return [
        f"warning: nodes {', '.join(map(str, flat[0]))}{more} lie in one plane and are "
        "connected by distances only, so they can leave the plane to first order: "
        "define each set as one of `bodies`"
    ]


def draw(name: str, structure: Structure, out: Path) -> Path:
    """Write the modes and their figure."""
    from analysis.figures.structures import modes_of_motion

    found = modes(structure)
    out.mkdir(parents=True, exist_ok=True)
    np.savez_compressed(out / f"{name}_modes.npz", r=structure.r0, modes=found)
    title = f"{name}: {len(found)} mode{'s' * (len(found) != 1)}" + (
        f", the first {PLOTTED}" if len(found) > PLOTTED else ""
    )
    unit = getattr(structure, "unit", "") or "unit"
    shown = structure.r0, structure.bodies, found[:PLOTTED]
    names = getattr(structure, "node_names", ())
    figure = modes_of_motion(*shown, title, unit, held_nodes(structure), names)
    for kind in ("png", "pdf"):
        figure.savefig(path := out / f"{name}.{kind}", dpi=200)
    return path


def held_nodes(structure: Structure) -> list[int]:
    """Nodes that stay along two axes or three."""
    table = structure.constraints
    nodes = table.nodes[table.kind == ConstraintKind.FIX, :2]  # and the axis
    many = np.bincount(np.unique(nodes, axis=0)[:, 0], minlength=len(structure.r0))
    return [int(node) for node in np.flatnonzero(many >= 2)]


def _structure(case: Mapping[str, Any]) -> Structure:
    """What the case moves; where it is to go does not matter here."""
    if "structure" in case:
        found = build(case["structure"], "case.structure")
        if isinstance(found, Structure):
            return found
    raise InputError("this case has no constraints to count: choose a morphing case")


def branches_of(case: Any, at: str) -> BranchCase | SaddleCase:
    """The case itself, or what becomes of a morph's start or rest."""
    if isinstance(case, BranchCase) and at == "rest":
        raise InputError(
            "--branches rest needs a morphing case: choose one, or use --branches start"
        )
    if isinstance(case, BranchCase | SaddleCase):
        return case
    if not isinstance(case, MorphCase):
        raise InputError(
            "this case has no constraints that could branch: choose a branching or "
            "morphing case"
        )
    if at == "rest":
        tolerance = 1e-9 if case.tolerance is None else case.tolerance
        return SaddleCase(
            case.solid, case.shape, tolerance, case.max_steps, case.residual
        )
    with refusing(ValueError):
        return BranchCase(structure=case.structure, residual=case.residual)


def follow_branches(name: str, config: Mapping[str, Any], at: str, out: Path) -> None:
    """Record the branches of a case in a folder, and print where they lead.

    Parameters
    ----------
    at : "start" or "rest", see `branches_of`
    """
    case = branches_of(build(config["case"], "case"), at)
    out.mkdir(parents=True, exist_ok=True)
    try:
        with refusing(ValueError):
            found = record_steps(case, name, out)
    except NotConvergedError as error:
        raise RunFailedError(one_line(error)) from error
    write_json(out / "run.json", {"case": name, "config": config, "result": found})
    for key, value in found.items():
        print(f"{key}: {value}")
    print("\n".join([f"tables: {out}", *branches_in_words(found)]))
