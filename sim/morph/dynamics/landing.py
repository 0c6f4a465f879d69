"""Which contacts with the ground are closed in a step: sought until none is wrong.

At first those that touch and do not leave. Once the step is solved those that went
below the ground are closed, and those that leave it without a push are opened: once,
then they stay closed, with a gap and a push of zero.
"""

from dataclasses import replace

import numpy as np

from sim.arrays import Bools, Floats
from sim.morph.dynamics.ground import GroundContacts
from sim.morph.dynamics.rubbing import ClosedContacts
from sim.morph.dynamics.step import Span, StepEnd, StepEquations, StepFailedError

ROUNDS = 8  # and one more for each contact that was closed


def no_contacts(contacts: GroundContacts, allowed: float) -> ClosedContacts:
    """None of them is closed."""
    return closed_contacts(
        contacts, np.zeros(len(contacts), np.bool_), np.zeros((len(contacts), 3)),
        allowed,
    )  # fmt: skip


def closed_contacts(
    contacts: GroundContacts, closed: Bools, push: Floats, allowed: float
) -> ClosedContacts:
    """Those of k that are closed (k,), with a first guess of all pushes (k, 3)."""
    some = contacts.chosen(closed)
    return ClosedContacts(some, push[closed], np.zeros(len(some)), allowed)


def solved_on_ground(
    equations: StepEquations, contacts: GroundContacts, span: Span, push: Floats,
    gap: float,
) -> tuple[StepEnd, Floats]:  # fmt: skip
    """The step that begins as `span`, and the pushes (k, 3) in it.

    Parameters
    ----------
    push : (k, 3) a first guess
    gap : that counts as none, length

    Raises
    ------
    StepFailedError
        where the step is not solved, or no contacts are those that are closed.
    """
    touching = contacts.gaps(span.z0) <= gap
    closed = touching & (contacts.gaps(span.z0 + span.h * span.v0) <= gap)
    opened, allowed = np.zeros(len(contacts), np.bool_), span.closed.allowed
    for _ in range(ROUNDS + len(contacts)):
        tried = closed_contacts(contacts, closed, push, allowed)
        with np.errstate(over="ignore", invalid="ignore"):  # refused by its size
            end = equations.solve(replace(span, closed=tried))
        if end.span.closed.residual(end.span.v1) > allowed:
            raise StepFailedError("Coulomb's law is not met")
        push = np.zeros_like(push)
        push[closed] = end.span.closed.push
        below = ~closed & (contacts.gaps(end.span.z1) < -gap)
        faster = contacts.along(end.span.v1)[:, 0] > allowed
        leaves = closed & ~opened & (push[:, 0] <= 0.0) & faster
        if not (below.any() or leaves.any()):
            return end, push
        closed, opened = (closed | below) & ~leaves, opened | leaves
        span = replace(end.span, closed=span.closed)
    raise StepFailedError("contacts with the ground close and open")
