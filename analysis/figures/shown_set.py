"""A measured set as its figure shows it: families of quantities, records, names."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain

import numpy as np
import pandas as pd

from analysis.figures.measured_panels import Held, Series, Unfitted

HELD_IN_ONE = 12  # lines of what held that one panel has


@dataclass(frozen=True, eq=False)
class ShownFamily:
    """One family of quantities.

    Parameters
    ----------
    measured : rows of measured.csv that belong to it
    prediction : rows of prediction.csv that belong to it
    along : what `at` is, with its unit
    aim : largest acceptable error
    verdicts : rows of verdict.csv, one a part: fitted, predicted, left out
    about : the quantity about which this is half the difference of two branches
    left_out : rows of left_out.csv that belong to it
    """

    name: str
    unit: str
    along: str
    measured: pd.DataFrame
    prediction: pd.DataFrame
    aim: float
    verdicts: pd.DataFrame = field(default_factory=pd.DataFrame)
    about: str = ""
    left_out: pd.DataFrame = field(default_factory=pd.DataFrame)

    @property
    def lone(self) -> bool:
        """Whether it has one value a record and quantity."""
        rows = self.prediction
        places = rows.groupby(["record", "quantity"], sort=False)["at"].nunique()
        return rows.empty or int(places.max()) == 1

    @property
    def several(self) -> bool:
        """Whether it has more than one quantity."""
        return len(set(self.prediction["quantity"])) > 1

    @property
    def quantity(self) -> str:
        """The name of its one quantity, or its own."""
        if self.several or self.prediction.empty:
            return self.name
        return str(self.prediction["quantity"].iloc[0])

    def of(self, records: Sequence[str]) -> "ShownFamily":
        """Its rows of some records."""
        parts = ("measured", "prediction", "left_out")
        tables = {name: getattr(self, name) for name in parts}
        own = {
            k: t[t["record"].isin(records)] if len(t) else t for k, t in tables.items()
        }
        return replace(self, **own)

    def series(
        self, fitted: frozenset[str], halves: Sequence["ShownFamily"] = ()
    ) -> Series:
        """What panels show of it, every error with the margin of its part."""
        aims = {row["part"]: row["aim"] for row in self.verdicts.to_dict("records")}
        of_fit = self.measured["record"].isin(list(fitted))
        by = [aims.get(part, self.aim) for part in ("fitted", "predicted")]
        nothing = [self.prediction[:0]]
        return Series(
            self.quantity, self.unit, self.along,
            self.measured.assign(margin=np.where(of_fit, *by)),
            self.prediction, self.aim,
            pd.concat([f.measured for f in halves] or nothing),
            pd.concat([f.prediction for f in halves] or nothing),
            self.left_out.assign(margin=aims.get("left out", self.aim)),
        )  # fmt: skip


@dataclass(frozen=True, eq=False)
class ShownSet:
    """A measured set.

    Parameters
    ----------
    fitted : records that the fit used
    groups : what each record is a repeat of: those of one group share a panel
    k : coverage factor of the verdicts
    runs : (what, key) of the runs shown
    inputs : names of those that were fitted
    unfitted : models of which nothing is fitted
    """

    name: str
    title: str
    families: Sequence[ShownFamily]
    fitted: frozenset[str]
    groups: Mapping[str, str]
    k: float
    runs: Sequence[tuple[str, str]]
    caption: str
    inputs: Sequence[str] = ()
    unfitted: Sequence[Unfitted] = ()

    @property
    def along(self) -> bool:
        """Whether anything measured has an error along something, drawn below it."""
        known = (f for f in self.families if len(f.measured) and not f.about)
        return any(not f.lone for f in known)

    @property
    def records(self) -> list[str]:
        """Those that have a prediction here."""
        every = chain.from_iterable(f.prediction["record"] for f in self.families)
        return list(dict.fromkeys(every))

    @property
    def held(self) -> list[Held]:
        """How every family ended, in one panel or two."""
        rows = [
            f.verdicts.assign(quantity=f.name) for f in self.families if len(f.verdicts)
        ]
        awaited = [
            f.name for f in self.families if f.verdicts.empty and len(f.prediction)
        ]
        if not rows:
            return []
        whole = pd.concat(rows, ignore_index=True)
        half = -(-len(whole) // 2) if len(whole) > HELD_IN_ONE else len(whole)
        parts = [whole[:half], whole[half:]]
        return [Held(o, awaited * (k == 0)) for k, o in enumerate(parts) if len(o)]

    @property
    def ended(self) -> int:
        """How many panels, the last, say how everything ended."""
        return len(self.held)

    @property
    def own_names(self) -> dict[str, str]:
        """Of them, without the words that all of them have."""
        return short_names(self.records)

    @property
    def names(self) -> dict[str, str]:
        """Of their groups, without the words that all of them have."""
        groups = {name: self.groups.get(name, name) for name in self.records}
        short = short_names(list(dict.fromkeys(groups.values())))
        return {name: short[group] for name, group in groups.items()}


def short_names(names: Sequence[str]) -> dict[str, str]:
    """Names without the words that all of them have."""
    words = [name.replace("|", "_").split("_") for name in names]
    shared = set(words[0]).intersection(*words) if len(words) > 1 else set()
    kept = [" ".join(w for w in own if w not in shared) for own in words]
    return {n: short or n for n, short in zip(names, kept, strict=True)}
