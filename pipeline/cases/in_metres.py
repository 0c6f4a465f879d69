"""Structures in m: what moves under gravity has SI units, whatever its file's are."""

from dataclasses import replace

from pipeline.formats.structure_file import OwnStructure
from sim.morph.dynamics.masses import RigidMass
from sim.morph.statics.loaded import LoadedStructure
from sim.morph.structure.constraints import DEGREE


def in_metres(body: LoadedStructure) -> LoadedStructure:
    """The same body with lengths in m; as it is where it names no unit, or m.

    A row's constant is multiplied by the power of a length that it holds, as are
    ranges, springs in force / length, hinges in force x length / rad, moduli of panels
    in force / length^2 and inertias in mass x length^2. Forces are N and masses kg; the
    shape of the file's target is left out.
    """
    structure = body.structure
    if not isinstance(structure, OwnStructure) or structure.metres == 1.0:
        return body
    m, table, elastic = structure.metres, structure.constraints, body.elastic
    made = replace(
        structure,
        r0=m * structure.r0,
        constraints=replace(table, constant=table.constant * m ** DEGREE[table.kind]),
        goals=None if structure.goals is None else m * structure.goals,
        solids=structure.solids.scaled(m),
        ranges=structure.ranges.scaled(m),
        masses=tuple(_mass_in_metres(mass, m) for mass in structure.masses),
        target=None,
        unit="m",
    )
    taken = replace(
        elastic,
        link_stiffness=elastic.link_stiffness / m,
        rest_length=m * elastic.rest_length,
        hinge_stiffness=m * elastic.hinge_stiffness,
        panels=elastic.panels.scaled(m),
    )
    return replace(body, structure=made, elastic=taken)


def _mass_in_metres(mass: RigidMass, m: float) -> RigidMass:
    return replace(
        mass,
        centre=None if mass.centre is None else m * mass.centre,
        inertia=None if mass.inertia is None else m**2 * mass.inertia,
    )
