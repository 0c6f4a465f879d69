"""Structures in m: what moves under gravity has SI units, whatever its file's are."""

from dataclasses import replace

from pipeline.formats.structure_file import OwnStructure
from sim.morph.statics.loaded import LoadedStructure
from sim.morph.structure.constraints import DEGREE


def in_metres(body: LoadedStructure) -> LoadedStructure:
    """The same body with lengths in m; as it is where it names no unit, or m.

    A row's constant is multiplied by the power of a length that it holds, as are
    ranges; forces in N and masses in kg stay, the shape of the file's target does not.

    Raises
    ------
    ValueError
        where springs, hinges or an inertia hold lengths in a unit that nobody names
    """
    structure = body.structure
    if not isinstance(structure, OwnStructure) or structure.metres == 1.0:
        return body
    _refuse_mixed(body, structure)
    m, table = structure.metres, structure.constraints
    made = replace(
        structure,
        r0=m * structure.r0,
        constraints=replace(table, constant=table.constant * m ** DEGREE[table.kind]),
        goals=None if structure.goals is None else m * structure.goals,
        solids=structure.solids.scaled(m),
        ranges=structure.ranges.scaled(m),
        target=None,
        unit="m",
    )
    return replace(body, structure=made)


def _refuse_mixed(body: LoadedStructure, structure: OwnStructure) -> None:
    named = {
        "springs": len(body.elastic.links),
        "hinges": len(body.elastic.hinges),
        "panels": len(body.elastic.panels),
        "masses with an inertia": any(m.inertia is not None for m in structure.masses),
    }
    for what, found in named.items():
        if found:
            raise ValueError(
                f"the structure is in {structure.unit} and has {what}, whose numbers "
                "hold lengths too: give the file in m, with N/m, N m/rad and kg m^2"
            )
