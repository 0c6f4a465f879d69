"""Panels, and parts whose rest follows a field, in structure files.

    panels  [[a, b, c, modulus, Poisson's ratio, thickness], ...], in plane stress
    growth  [{springs: [0, 1], panels: [0], strain: [[field, strain, u], ...]},
             {hinges: [0], turn: [[field, degrees, u], ...]}, ...]

Links, springs, hinges and panels are counted from 0 in the order of their own keys.
"""

from collections.abc import Sequence
from typing import Annotated, Any, NamedTuple

import numpy as np

from pipeline.config.models import Entry, Rows, numbers
from sim.arrays import Ints
from sim.morph.statics.growth import Growth, GrowthLaw
from sim.morph.statics.panels import Panels

Told = Annotated[tuple[float, float, float], numbers(3)]
PanelRow = Annotated[tuple[int, int, int, float, float, float], numbers(6)]


class GrowthEntry(Entry):
    """Parts of one material."""

    links: Rows[int]
    springs: Rows[int]
    panels: Rows[int]
    hinges: Rows[int]
    strain: Rows[Told]
    turn: Rows[Told]


class StructureGrowth(Entry):
    """What a structure file says of panels and of growth."""

    panels: Rows[PanelRow]
    growth: Rows[GrowthEntry]


class Counts(NamedTuple):
    """How many parts a file has."""

    links: int
    springs: int
    hinges: int
    panels: int


def panels_of(r: Any, nodes: Ints, rows: Sequence[Sequence[Any]]) -> Panels:
    """Panels at rest in the nodes `r` (n, 3) as given, their corners `nodes` (p, 3)."""
    modulus, poisson, thickness = (
        np.array([row[3:] for row in rows], dtype=np.float64).reshape(-1, 3).T
    )
    return Panels.between(r, nodes, modulus, poisson, thickness)


def growths_of(
    content: StructureGrowth, counts: Counts, rows: Sequence[Sequence[int]]
) -> tuple[Growth, ...]:
    """The growth of each entry, its parts checked.

    Parameters
    ----------
    rows : of the constraints that are each link, one unless others hold its length
    """
    seen: dict[tuple[str, int], int] = {}
    for i, entry in enumerate(content.growth):
        for kind, count in counts._asdict().items():
            for part in getattr(entry, kind):
                if not 0 <= part < count:
                    raise ValueError(
                        f"growth[{i}].{kind} names {part}: the file has {count} "
                        f"{kind}, counted from 0"
                    )
                first = seen.setdefault((kind, part), i)
                if first != i or getattr(entry, kind).count(part) > 1:
                    raise ValueError(
                        f"growth[{i}] and growth[{first}] both name {kind}[{part}]: "
                        "name it once"
                    )
            for part in entry.links:
                if len(rows[part]) != 1:
                    raise ValueError(
                        f"growth[{i}].links names {part}, whose length something else "
                        "holds, too: leave it out of the growth or the other away"
                    )
    return tuple(
        _growth(entry, f"growth[{i}]", rows) for i, entry in enumerate(content.growth)
    )


def _growth(entry: GrowthEntry, name: str, rows: Sequence[Sequence[int]]) -> Growth:
    turns, parts = bool(entry.hinges), entry.links or entry.springs or entry.panels
    if turns == bool(parts):
        raise ValueError(
            f"{name} names {'both hinges and others' if turns else 'no part'}: give "
            "links, springs and panels with `strain`, or hinges with `turn`"
        )
    key, wrong = ("turn", "strain") if turns else ("strain", "turn")
    if getattr(entry, wrong) or not getattr(entry, key):
        raise ValueError(
            f"{name} names {'hinges' if turns else 'links, springs or panels'}: give "
            f"`{key}`, rows of field, {key} and its u, and no `{wrong}`"
        )
    springs, hinges, panels = (
        np.array(part, dtype=np.int64)
        for part in (entry.springs, entry.hinges, entry.panels)
    )
    law = _law(getattr(entry, key), f"{name}.{key}", turn=turns)
    rigid = np.array([rows[link][0] for link in entry.links], dtype=np.int64)
    return Growth(law, springs, hinges, panels, rigid)


def _law(rows: Sequence[Sequence[float]], name: str, *, turn: bool) -> GrowthLaw:
    law = GrowthLaw.of(rows, name, turn=turn)
    if not turn:
        return law
    return GrowthLaw(law.field, np.radians(law.strain), np.radians(law.u))
