"""What recorders share: their answers, the node that moved most, rests as a table.

In actuation.csv barrier_onward is from a stable rest over the top to the next one,
barrier_back to the one before; each is empty where there is no such rest.
"""

import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from sim.core.arrays import Floats

if TYPE_CHECKING:  # which rods do not import
    from sim.mechanism.structure import Structure
    from sim.mechanism.targets.target_interface import Target

Row = dict[str, float]
State = Mapping[str, NDArray[Any]]  # from which a run goes on
Arrays = dict[str, NDArray[np.generic]]
Documents = dict[str, dict[str, Any]]
Summary = dict[str, float | str | int | bool]
TableRow = Mapping[str, float | str]
Tables = dict[str, Iterable[TableRow]]
C = TypeVar("C")
S = TypeVar("S")


class Recorder(ABC, Generic[C, S]):
    """What one run of a case records; it may add up what it sees.

    A kind of case says what is its own; what it leaves out is not recorded.

    Attributes
    ----------
    last : the step that was seen last
    """

    last: S

    def __init__(self, case: C) -> None:
        self.case = case

    def see(self, step: S) -> None:
        """Take in the next step; all of them are passed, in order."""
        self.last = step

    @abstractmethod
    def row(self, step: S) -> Row:
        """A row of steps.csv, of the step that was seen last."""

    def arrays(self, step: S) -> Arrays:
        """Its entry of each array in steps.npz."""
        del step
        return {}

    @abstractmethod
    def progress(self, step: S) -> str:
        """What the progress bar says."""

    def state(self, step: S) -> Arrays:
        """What every later step depends on; nothing where none can be continued."""
        del step
        return {}

    def documents(self) -> Documents:
        """JSON files that are there before the first step."""
        return {}

    def fixed_arrays(self) -> Arrays:
        """Arrays of the run rather than of a step; asked for with the first step."""
        return {}

    def late(self) -> Mapping[str, list[float]]:
        """Columns of steps.csv that are known at the end, a value for each step."""
        return {}

    @abstractmethod
    def summary(self) -> Summary:
        """How the run ended: the stop rule that fired, and what it ended with."""

    def tables(self) -> Tables:
        """CSV files of the whole run, with their rows."""
        return {}


NODE_NUMBERS = re.compile(r"(?<=\()\d[\w, ]*(?=\))|(?<=link |node )\d+(?:-\d+)?\b")


def named_rows(rows: Iterable[TableRow], of: Mapping[str, Any]) -> Iterator[TableRow]:
    """Rows with nodes by their names, where a structure has names.

    "link 0-1: dist(0, 1)" becomes "link A-B: dist(A, B)", and so does what is below
    "node".
    """
    names = of.get("node_names", ())

    def named(found: re.Match[str]) -> str:
        return re.sub(r"\b\d+\b", lambda node: names[int(node[0])], found[0])

    for row in rows:
        texts = {k: v for k, v in row.items() if names and isinstance(v, str)}
        own = {"node": names[row["node"]]} if names and "node" in row else {}
        yield {
            **row,
            **{k: NODE_NUMBERS.sub(named, v) for k, v in texts.items()},
            **own,
        }


class WholeRecorder(Recorder[C, S]):
    """A recorder that needs all steps at the end.

    Attributes
    ----------
    seen : all steps so far
    """

    def __init__(self, case: C) -> None:
        super().__init__(case)
        self.seen: list[S] = []

    def see(self, step: S) -> None:
        super().see(step)
        self.seen.append(step)


def attributes(of: object, *names: str) -> dict[str, Any]:
    """Attributes by their names, in this order."""
    return {name: getattr(of, name) for name in names}


def along_axes(form: str, place: Iterable[float]) -> Row:
    """Numbers along x, y and perhaps z, by names such as "{}_tip"."""
    return {form.format(axis): float(v) for axis, v in zip("xyz", place, strict=False)}


def stop_of(step: Any) -> str:
    """The rule that ended a solver, as its last step names it."""
    return step.stop.value if step.stop is not None else "none"


def wires(target: "Target", r0: Floats, name: str = "target") -> Arrays:
    """The wireframe of a target, as figures read it."""
    vertices, edges = target.wireframe(r0)
    return {f"{name}_vertices": vertices, f"{name}_edges": edges}


def with_spheres(structure: "Structure", radius: float) -> "Structure":
    """The structure with spheres of a radius at the nodes that have none."""
    if radius == 0.0:
        return structure
    solids = structure.solids.with_spheres(len(structure.r0), radius)
    return replace(structure, solids=solids)


ROUNDING = 1e-14  # of the size
SEEN = 1e-6  # of the size, below which a coordinate reads 0


class LengthUnit(NamedTuple):
    """How places are given: a unit, in m, and whether nodes have no numbers in a file.

    Attributes
    ----------
    metres : how long the unit is
    by_place : messages name nodes by their place, since the file does not number them
    """

    unit: str = "m"
    metres: float = 1.0
    by_place: bool = False

    def text(self, length: float) -> str:
        """A length that is given in m."""
        return f"{length / self.metres:.4g} {self.unit}".rstrip()


def moved_most(start: Floats, end: Floats, lengths: LengthUnit) -> str:
    """Which node is farthest from its start, by how much, and where it is.

    Parameters
    ----------
    start, end : (n, 2 or 3) m
    """
    way = np.linalg.norm(end - start, axis=1)
    k, size = int(np.argmax(way)), float(np.ptp(start, axis=0).max())
    if not way[k] > ROUNDING * size:
        return "no node"
    who = f"node {k}"
    if lengths.by_place:
        who = f"the point at {_place(start[k], size, lengths)}"
    far = lengths.text(float(way[k]))
    return f"{who} farthest, by {far} to {_place(end[k], size, lengths)}"


def _place(at: Floats, size: float, lengths: LengthUnit) -> str:
    seen = np.where(np.abs(at) < SEEN * size, 0.0, at) / lengths.metres
    return f"({', '.join(f'{x:.4g}' for x in seen)}) {lengths.unit}".rstrip()


class Resting(Protocol):
    """A rest with its energy, and how far along a path it is."""

    @property
    def moved(self) -> float: ...

    @property
    def energy(self) -> float: ...

    @property
    def stable(self) -> bool: ...


def climb_rows(
    rests: Sequence[Resting], tops: Sequence[float], *more: str
) -> Iterator[TableRow]:
    """A row of each rest, with its two barriers.

    Parameters
    ----------
    tops : energy of the highest point between each two stable rests
    more : further attributes of a rest
    """
    passed = 0
    for rest in rests:
        onward: float | str = ""
        back: float | str = ""
        if rest.stable:
            onward = tops[passed] - rest.energy if passed < len(tops) else ""
            back = tops[passed - 1] - rest.energy if passed else ""
            passed += 1
        yield {
            "moved": rest.moved,
            "energy": rest.energy,
            "stable": int(rest.stable),
            **attributes(rest, *more),
            "barrier_onward": onward,
            "barrier_back": back,
        }


def first_climb(rests: Sequence[Resting], tops: Sequence[float]) -> Summary:
    """How many rests are stable, and the barrier between the first two of them."""
    stable = [rest for rest in rests if rest.stable]
    found: Summary = {"stable_states": len(stable)}
    if tops:
        found["barrier"] = tops[0] - stable[0].energy
        found["barrier_back"] = tops[0] - stable[1].energy
    return found
