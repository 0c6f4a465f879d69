"""How a structure can move: morphtrack mobility case=<case> [case.key=value].

Prints the counts of [dJ23], Methods, Mobility, names the redundant rows, warns where
the initial configuration is a special one, and draws the modes to
results/mobility/<structure>.pdf; the modes themselves are in <structure>_modes.npz
beside it. A case needs no target for that.
"""

from pathlib import Path
from typing import Any

import numpy as np

from pipeline.commands.case_command import OVERRIDES, named_case
from pipeline.config.building import build
from pipeline.config.hydra import Composer
from pipeline.store.own_runs import own_name
from pipeline.terminal.arguments import OneLineParser
from pipeline.terminal.errors import DONE, InputError, command
from sim.morph.mobility.flat import flat_by_distances
from sim.morph.mobility.mobility import (
    LARGEST,
    Mobility,
    mobility,
    modes,
    nearby_mobility,
)
from sim.morph.structure.constraints import ConstraintKind
from sim.morph.structure.same_places import told_same_places
from sim.morph.structure.structure import Structure

DRAWN = 24  # modes in the figure
NAMED = 20  # redundant rows in the print


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
        lines.append("nothing of it can move: a structure, not a mechanism")
    names = [structure.constraints.name_of_row(int(i)) for i in found.redundant[:NAMED]]
    if names:
        more = len(found.redundant) - len(names)
        lines.append(
            "redundant rows  " + "; ".join(names) + f" and {more} more" * bool(more)
        )
    if nearby is None:
        lines.append(
            "warning: no configuration close by satisfies the constraints; "
            "the first-order motions may lead nowhere"
        )
    elif nearby != found.mobility:
        lines.append(
            f"warning: the mobility close by is {nearby}: the initial configuration is "
            "a special one, and some of its motions lead nowhere: "
            "morphtrack branches tells which ones lead somewhere"
        )
    if nearby != found.mobility:
        lines += _held_flat_by_distances(structure)
    doubled = told_same_places(structure)
    return [*lines, f"warning: {doubled}"] if doubled else lines


def _held_flat_by_distances(structure: Structure) -> list[str]:
    """Bodies that are why the initial configuration is a special one."""
    flat = flat_by_distances(structure)
    if not flat:
        return []
    more = f" and {len(flat) - 1} more sets" if len(flat) > 1 else ""
    return [
        f"warning: nodes {', '.join(map(str, flat[0]))}{more} lie in one plane and "
        "distances alone hold them, which to first order lets them leave it: write "
        "each as one of `bodies`, which hold themselves flat"
    ]


def draw(name: str, structure: Structure, out: Path) -> Path:
    """Write the modes and their figure."""
    from analysis.figures.modes import modes_of_motion

    found = modes(structure)
    out.mkdir(parents=True, exist_ok=True)
    np.savez_compressed(out / f"{name}_modes.npz", r=structure.r0, modes=found)
    title = f"{name}: {len(found)} mode{'s' * (len(found) != 1)}" + (
        f", the first {DRAWN}" if len(found) > DRAWN else ""
    )
    unit = getattr(structure, "unit", "") or "unit"
    figure = modes_of_motion(
        structure.r0,
        structure.bodies,
        found[:DRAWN],
        title,
        unit,
        held_nodes(structure),
    )
    path = out / f"{name}.pdf"
    figure.savefig(path)
    return path


def held_nodes(structure: Structure) -> list[int]:
    """Nodes that stay along two axes or three."""
    table = structure.constraints
    nodes = table.nodes[table.kind == ConstraintKind.FIX, :2]  # and the axis
    many = np.bincount(np.unique(nodes, axis=0)[:, 0], minlength=len(structure.r0))
    return [int(node) for node in np.flatnonzero(many >= 2)]


def _structure(case: dict[str, Any]) -> Structure:
    """What the case moves; where it is to go does not matter here."""
    if "structure" in case:
        found = build(case["structure"], "case.structure")
        if isinstance(found, Structure):
            return found
    raise InputError("this case has no constraints to count: choose one of morphing")


def _name(words: list[str], config: dict[str, Any]) -> str:
    """Of the structure's file, else of the case and what differs from it."""
    path = config["case"]["structure"].get("path")
    return Path(path).stem if path else own_name(named_case(words), words)


def arguments() -> OneLineParser:
    parser = OneLineParser("mobility", __doc__)
    parser.add_argument("overrides", **OVERRIDES)
    parser.add_argument("--out", type=Path, default=Path("results/mobility"))
    parser.add_argument(
        "--name",
        help="of what is written; the file's or case's unless told",
    )
    return parser


@command
def main(argv: list[str] | None = None) -> int:
    asked = arguments().parse_args(argv)
    with Composer() as composer:
        config = composer.compose("simulate", asked.overrides)
    structure = _structure(config["case"])
    found = mobility(structure)
    print("\n".join(report(found, structure, nearby_mobility(structure))))
    unknowns = 3 * found.nodes + found.multipliers
    if found.mobility == 0:
        print("modes           none")
    elif unknowns > LARGEST:
        print(f"modes           not drawn: {unknowns} unknowns, more than {LARGEST}")
    else:
        path = draw(asked.name or _name(asked.overrides, config), structure, asked.out)
        print(f"modes           {path}")
    return DONE
