"""Forces of constraints as a table, see `sim.morph.morphing.reactions`.

    row              of the constraints, counted from 0
    constraint       its kind and nodes
    y                force of the row: grad f + J^T y = 0
    tension          of a link, positive when it is pulled; empty for other rows
    dE2_dconstant    d(E^2)/d(constant), the constant of a link is its length squared
    dE2_dlength      d(E^2)/d(length) of a link; empty for other rows
    redundant        1 if the row depends on others, which then carry its share

Every leading node hangs on its goal by a spring of stiffness one: y in lengths to the
power 2 - (power of a length in the row), tensions in the case's unit of length.
"""

from collections.abc import Iterator

import numpy as np

from sim.morph.morphing.reactions import Reactions
from sim.morph.structure.constraints import ROWS, ConstraintKind
from sim.morph.structure.structure import Structure


def reaction_rows(
    structure: Structure, found: Reactions
) -> Iterator[dict[str, float | str]]:
    """The rows of the table."""
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
        yield {
            "row": row,
            "constraint": table.name(i),
            "y": float(found.y[row]),
            "tension": tension,
            "dE2_dconstant": float(found.sensitivity[row]),
            "dE2_dlength": per_length,
            "redundant": int(row in dropped),
        }


def strongest(structure: Structure, found: Reactions) -> dict[str, float | str]:
    """The links that are pulled and pressed most, for run.json."""
    if not len(found.tension):
        return {}
    table = structure.constraints
    links = np.flatnonzero(table.kind == ConstraintKind.DIST)
    most, least = int(np.argmax(found.tension)), int(np.argmin(found.tension))
    return {
        "largest_tension": float(found.tension[most]),
        "largest_tension_in": table.name(int(links[most])),
        "smallest_tension": float(found.tension[least]),
        "smallest_tension_in": table.name(int(links[least])),
    }
