"""Forces of constraints as a table, see `sim.morph.morphing.reactions`.

    row              of the constraints, counted from 0
    constraint       its kind and nodes
    y                force of the row: grad f + J^T y = 0
    tension          of a link, positive when it is pulled; empty for other rows
    dE2_dconstant    d(E^2)/d(constant), the constant of a link is its length squared
    dE2_dlength      d(E^2)/d(length) of a link; empty for other rows
    redundant        1 if the row depends on others, which then carry its share

Forces that hang on the residual (`sim.morph.mobility.near_dependence`) are left empty.
Every leading node hangs on its goal by a spring of stiffness one: y in lengths to the
power 2 - (power of a length in the row), tensions in the case's unit of length.
"""

from collections.abc import Iterator

import numpy as np

from sim.arrays import Bools
from sim.morph.morphing.reactions import Reactions
from sim.morph.structure.constraints import ROWS, ConstraintKind
from sim.morph.structure.structure import Structure


def reaction_rows(
    structure: Structure, found: Reactions, unsure: Bools
) -> Iterator[dict[str, float | str]]:
    """The rows of the table.

    Parameters
    ----------
    unsure : (m,) rows whose force hangs on the residual
    """
    table = structure.constraints
    of_row = np.repeat(np.arange(len(table)), ROWS[table.kind])
    dropped, links = set(found.redundant.tolist()), 0
    for row, i in enumerate(of_row.tolist()):
        tension: float | str = ""
        per_length: float | str = ""
        if table.kind[i] == ConstraintKind.DIST:
            length = float(np.sqrt(table.constant[i]))
            tension = float(found.tension[links])
            per_length = 2.0 * length * float(found.sensitivity[row])
            links += 1
        forces = {
            "y": float(found.y[row]),
            "tension": tension,
            "dE2_dconstant": float(found.sensitivity[row]),
            "dE2_dlength": per_length,
        }
        yield {
            "row": row,
            "constraint": table.name(i),
            **(dict.fromkeys(forces, "") if unsure[row] else forces),
            "redundant": int(row in dropped),
        }


def strongest(
    structure: Structure, found: Reactions, unsure: Bools
) -> dict[str, float | str]:
    """The links that are pulled and pressed most, for run.json."""
    table = structure.constraints
    links = np.flatnonzero(table.kind == ConstraintKind.DIST)
    sure = ~unsure[table.first_row[links]]
    links, tension = links[sure], found.tension[sure]
    if not len(links):
        return {}
    most, least = int(np.argmax(tension)), int(np.argmin(tension))
    return {
        "largest_tension": float(tension[most]),
        "largest_tension_in": table.name(int(links[most])),
        "smallest_tension": float(tension[least]),
        "smallest_tension_in": table.name(int(links[least])),
    }
