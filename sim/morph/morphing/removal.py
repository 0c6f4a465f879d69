"""Which links a structure can do without, with the same leading nodes.

Where a link goes, E^2 cannot rise if the morphs go on from their ends, but there may be
a freedom more. A link goes in one of two ways,

    cut     nothing is left between its nodes: a freedom more, none if it is redundant
    joined  its nodes are at one place from then on: two freedoms less

so that the mobility, eqs. (7) to (10) of [dJ23], is at the end of no morph larger than
it was for the structure given: what may be cut is cut, else a link is joined. No cut
leaves a bridge, on whose one constraint a part of the structure hangs; it would count
as free and serve nothing.

The forces at the ends give the order. With w_i = l_i dF/dl_i of
`sim.morph.morphing.design`, the largest |w| are tried for a cut; for a join, which
takes l^2 to zero, the smallest -w / 2, by which F then changes to first order. Of the
first few that close, the one with the smallest F goes. Last, the lengths of the links
that are left are designed. All of it is greedy: no set of links is claimed to be best.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import NamedTuple

import numpy as np

from sim.arrays import Bools, Floats, Ints
from sim.choice import Choice
from sim.convergence import NotConvergedError
from sim.limits import refuse_unless_count
from sim.morph.mobility.mobility import mobility
from sim.morph.morphing.design import (
    DesignOptions,
    design,
    links_of,
    objective,
)
from sim.morph.morphing.morph import MorphStep
from sim.morph.morphing.search import DesignStop, Objective
from sim.morph.structure.constraints import ConstraintKind, ConstraintTable, coin
from sim.morph.structure.structure import Structure
from sim.morph.targets.protocol import Target


class Manner(Choice):
    """What a link leaves behind."""

    CUT = "cut"
    JOINED = "joined"


class Gone(NamedTuple):
    """A link that went."""

    nodes: tuple[int, int]
    manner: Manner


class RemovalStep(NamedTuple):
    """A structure with some links less, or other lengths of those left.

    Attributes
    ----------
    gone : the link that went last; None at first, and while lengths are designed
    F : power mean of E^2
    E : (T,) at the end of the morph to each target
    mobility : (T,) there
    ends : the last step of each morph
    stop : why the design of lengths ended; None before
    """

    s: int
    structure: Structure
    gone: Gone | None
    F: float
    E: Floats
    mobility: Ints
    ends: tuple[MorphStep, ...]
    stop: DesignStop | None


@dataclass(frozen=True)
class RemovalOptions:
    """How many links go, and how many are tried for each.

    Attributes
    ----------
    count : links that go
    trials : links that are tried before one goes
    """

    count: int
    trials: int = 6
    design: DesignOptions = field(default_factory=DesignOptions)

    def __post_init__(self) -> None:
        refuse_unless_count(self, "count", "trials")


class _Candidate(NamedTuple):
    gone: Gone | None
    structure: Structure
    worth: Objective[MorphStep]
    mobility: Ints


def refuse_removal(structure: Structure, count: int) -> None:
    """Structures of which `count` links cannot go."""
    if structure.is_limited:
        raise ValueError(
            "links go from structures without volumes and ranges: leave these out"
        )
    links, spare = len(links_of(structure).group), len(mobility(structure).redundant)
    if count >= links:
        raise ValueError(f"{count} of {links} links cannot go: leave one at least")
    if spare > count:
        raise ValueError(
            f"{spare} rows are redundant: let as many links go, or leave rows out "
            "(morphtrack mobility names them)"
        )


def remove_links(
    structure: Structure, targets: Sequence[Target], options: RemovalOptions
) -> Iterator[RemovalStep]:
    """Yield the structure, the same as its links go, and as lengths are designed."""
    refuse_removal(structure, options.count)
    here = _candidate(None, structure, targets, options, None)
    allowed = here.mobility
    yield _record(0, here)
    for s in range(1, options.count + 1):
        found = None
        for candidates in (_cuts(here, allowed), _joins(here)):
            found = found or _least(candidates, here, allowed, targets, options)
        if found is None:
            raise NotConvergedError(
                f"no link can go after {s - 1}: each would leave a freedom more or a "
                "part on one constraint, or does not close: ask for fewer",
                best=here.worth.ends[0].state,
            )
        here = found
        yield _record(s, here)
    links, ends = links_of(here.structure), here.worth.ends
    for step in design(here.structure, targets, links, options.design, ends):
        made = links.changed(here.structure, step.change)
        worth = Objective(step.F, step.change, step.E, step.ends)
        last = _Candidate(None, made, worth, _mobility(made, step.ends))
        yield _record(options.count + 1 + step.s, last, step.stop)


def _record(s: int, at: _Candidate, stop: DesignStop | None = None) -> RemovalStep:
    return RemovalStep(
        s,
        at.structure,
        at.gone,
        at.worth.F,
        at.worth.E,
        at.mobility,
        at.worth.ends,
        stop,
    )


def _candidate(
    gone: Gone | None,
    made: Structure,
    targets: Sequence[Target],
    options: RemovalOptions,
    before: tuple[MorphStep, ...] | None,
) -> _Candidate:
    links = links_of(made)
    same = np.zeros(len(links.group))
    worth = objective(made, targets, links, options.design, same, before)
    return _Candidate(gone, made, worth, _mobility(made, worth.ends))


def _mobility(structure: Structure, ends: Sequence[MorphStep]) -> Ints:
    return np.array([mobility(structure, end.state).mobility for end in ends])


def _least(
    candidates: Iterable[tuple[Gone, Structure]],
    here: _Candidate,
    allowed: Ints,
    targets: Sequence[Target],
    options: RemovalOptions,
) -> _Candidate | None:
    """The one with the smallest F of the first few that close."""

    def closing() -> Iterator[_Candidate]:
        for gone, made in candidates:
            try:
                tried = _candidate(gone, made, targets, options, here.worth.ends)
            except NotConvergedError:
                continue
            if (tried.mobility <= allowed).all():
                yield tried

    return min(
        islice(closing(), options.trials), key=lambda made: made.worth.F, default=None
    )


def _cuts(here: _Candidate, allowed: Ints) -> Iterator[tuple[Gone, Structure]]:
    """Links that can be cut, those that carry most first."""
    links, bridge = links_of(here.structure), _bridges(here.structure)
    for i in np.argsort(-np.abs(here.worth.slope), kind="stable").tolist():
        if bridge[links.constraint[i]]:
            continue
        gone, made = without(here.structure, int(links.constraint[i]), Manner.CUT)
        free = (_mobility(made, here.worth.ends) <= allowed).all()
        if free and np.count_nonzero(_bridges(made)) <= np.count_nonzero(bridge):
            yield gone, made


def _joins(here: _Candidate) -> Iterator[tuple[Gone, Structure]]:
    """Links as joints, those first that lower F most."""
    links = links_of(here.structure)
    for i in np.argsort(-here.worth.slope, kind="stable").tolist():
        yield without(here.structure, int(links.constraint[i]), Manner.JOINED)


def without(
    structure: Structure, constraint: int, manner: Manner
) -> tuple[Gone, Structure]:
    """The structure without a link, its nodes where they were.

    Parameters
    ----------
    constraint : the link's place in the table of constraints
    """
    table = structure.constraints
    a, b = table.nodes[constraint, :2].tolist()
    left = table.only(np.arange(len(table)) != constraint)
    if manner is Manner.JOINED:
        left = left.followed_by(ConstraintTable.of([coin(a, b)]))
    bodies = tuple(body for body in structure.bodies if set(body) != {a, b})
    return Gone((a, b), manner), replace(structure, constraints=left, bodies=bodies)


def _bridges(structure: Structure) -> Bools:
    """(q,) constraints on which alone a part of the structure is held to the rest.

    An edge is in no loop where the resistance between its ends, all edges being one
    ohm, is its own. Nodes that are held are held to one ground.
    """
    table, n = structure.constraints, len(structure.r0)
    nodes = table.nodes.copy()
    nodes[table.kind == ConstraintKind.FIX, 1] = n
    for column in range(2, 6):
        missing = nodes[:, column] < 0
        nodes[missing, column] = nodes[missing, column - 1]
    edges = np.stack([nodes[:, :-1], nodes[:, 1:]], axis=-1).reshape(-1, 2)
    number, incidence = np.arange(len(edges)), np.zeros((len(edges), n + 1))
    np.add.at(incidence, (number, edges[:, 0]), 1.0)
    np.add.at(incidence, (number, edges[:, 1]), -1.0)
    inverse = np.linalg.pinv(incidence.T @ incidence, hermitian=True)
    across = np.einsum("ei,ij,ej->e", incidence, inverse, incidence, optimize=True)
    alone: Bools = (across > 1.0 - 1e-9).reshape(len(table), -1).any(axis=1)
    return alone
