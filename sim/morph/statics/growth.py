"""Strain or turn at rest by a field: temperature, swelling, light or time, as a table.

Between the rows of the table the strain is linear in the field, and so is its standard
uncertainty u, which is one error of the whole table; beyond them nothing is known.
What a rest has of the tables' uncertainty is what each u changes, one more rest each;
squares add up.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from sim.arrays import Floats, Ints
from sim.morph.statics.loaded import LoadedStructure
from sim.morph.structure.structure import Structure


@dataclass(frozen=True, eq=False)
class GrowthLaw:
    """Strain of a material, or turn of a hinge, at rest.

    Attributes
    ----------
    field : (q,) ascending, in a unit of its own
    strain, u : (q,) change of length over length, and its standard uncertainty; of a
        hinge its turn, rad
    """

    field: Floats
    strain: Floats
    u: Floats

    @classmethod
    def of(
        cls,
        rows: Sequence[Sequence[float]],
        name: str = "strain",
        *,
        turn: bool = False,
    ) -> "GrowthLaw":
        """From rows of field, strain and u, or of field, turn and u."""
        what = "turn" if turn else "strain"
        for i, row in enumerate(rows):
            if len(row) != 3 or not np.isfinite(row).all():
                raise ValueError(
                    f"{name}[{i}] is {list(row)}: give field, {what} and its u"
                )
            if not (turn or row[1] > -1.0) or row[2] < 0.0:
                bound = "" if turn else "the strain must be above -1, and "
                raise ValueError(f"{name}[{i}] is {list(row)}: {bound}u 0 or more")
        table = np.array(rows, dtype=np.float64).reshape(-1, 3)
        if len(table) < 2 or not (np.diff(table[:, 0]) > 0.0).all():
            raise ValueError(f"{name} needs two rows or more, with an ascending field")
        return cls(*table.T)

    def at(self, value: float) -> tuple[float, float]:
        """Strain and u at a value of the field."""
        low, high = float(self.field[0]), float(self.field[-1])
        if not low <= value <= high:
            raise ValueError(
                f"the field is {value:g}, and the table goes from {low:g} to {high:g}: "
                "give values between, or a longer table"
            )
        strain, u = (
            float(np.interp(value, self.field, c)) for c in (self.strain, self.u)
        )
        return strain, u


def _none() -> Ints:
    return np.empty(0, dtype=np.int64)


@dataclass(frozen=True, eq=False)
class Growth:
    """Parts of one material.

    Attributes
    ----------
    links, hinges, panels : which elastic ones of each
    rigid : rows of the constraints that are rigid links
    law : of the strain of links and panels, or of the turn of hinges
    """

    law: GrowthLaw
    links: Ints = field(default_factory=_none)
    hinges: Ints = field(default_factory=_none)
    panels: Ints = field(default_factory=_none)
    rigid: Ints = field(default_factory=_none)


@dataclass(frozen=True, eq=False)
class GrowingStructure(LoadedStructure):
    """A structure some of whose parts grow; as it is, none has grown.

    Attributes
    ----------
    growths : no part is in two of them
    """

    growths: tuple[Growth, ...] = ()

    def strains(self, value: float) -> tuple[Floats, Floats]:
        """(q,) strain or turn of each growth at a value of the field, and its u."""
        told = np.array([growth.law.at(value) for growth in self.growths])
        strain, u = told.reshape(-1, 2).T
        return strain, u

    def grown(self, strains: Floats) -> LoadedStructure:
        """At the strain or turn (q,) of each growth."""
        elastic = self.elastic
        links, hinges, panels = (
            np.zeros(len(parts))
            for parts in (elastic.links, elastic.hinges, elastic.panels)
        )
        for growth, strain in zip(self.growths, strains, strict=True):
            links[growth.links] = strain
            hinges[growth.hinges] = strain
            panels[growth.panels] = strain
        return LoadedStructure(
            self._with_lengths(strains),
            elastic.grown(links, hinges, panels),
            self.force,
            self.spring,
            self.target,
        )

    def _with_lengths(self, strains: Floats) -> Structure:
        """The structure with rigid links as long as they have grown."""
        table = self.structure.constraints
        square = table.constant.copy()
        for growth, strain in zip(self.growths, strains, strict=True):
            square[growth.rigid] *= (1.0 + strain) ** 2
        return replace(self.structure, constraints=replace(table, constant=square))


def spread(
    told: Callable[[Floats], Floats], here: Floats, strains: Floats, u: Floats
) -> Floats:
    """Standard uncertainty of what is told, from that u (q,) of the strains (q,).

    Parameters
    ----------
    here : what is told of `strains` themselves
    """
    parts = [
        told(strains + u * (np.arange(len(u)) == i)) - here for i in np.flatnonzero(u)
    ]
    squares = np.square(np.reshape(parts, (-1, *here.shape)))
    u_told: Floats = np.sqrt(squares.sum(axis=0))
    return u_told
