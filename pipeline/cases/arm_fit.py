"""Modulus, tensions and friction along tendons of an arm, from where it rests."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from pipeline.cases.series_fit import SeriesFit
from pipeline.cases.space_rod import TendonArmCase
from sim.arrays import Bools, Floats, Ints
from sim.limits import refuse_unless_count, refuse_unless_positive
from sim.rod.space.balance import SpaceOptions
from sim.rod.space.path import followed
from sim.rod.stepping.markers import Marker, marker

PRECISE = SpaceOptions(tolerance=1e-11)
FITTED_OF = {
    "modulus_times": "modulus", "density_times": "density",
    "tension_times": "tensions", "friction_times": "friction",
}  # fmt: skip


@dataclass(frozen=True, eq=False)
class ArmFitCase(SeriesFit):
    """One of conf/case, built by Hydra.

    Attributes
    ----------
    specimen : the arm with the nominal values of its parameters
    measured_path : CSV of quantity, at (share of the specimen's tensions), value, u,
        part; quantities are those of `sim.rod.stepping.markers`: x_tip, z_12
    parameters : of FITTED_OF: multiples of what the specimen has; of all tensions
        alike, and of the coefficient of friction along tendons
    """

    specimen: TendonArmCase
    measured_path: str
    parameters: Sequence[str]
    vague: float = 1.0
    max_steps: int = 50
    synthetic: bool = False
    curve_points = 20

    def __post_init__(self) -> None:
        refuse_unless_positive(self, "vague", of="fit")
        refuse_unless_count(self, "max_steps", of="fit")
        for name in self.named:
            if name not in FITTED_OF:
                raise ValueError(
                    f"parameters: {name!r} is none of an arm: choose of "
                    f"{', '.join(FITTED_OF)}"
                )
            if not np.any(getattr(self.specimen, FITTED_OF[name])):
                raise ValueError(
                    f"parameters: {name} multiplies {FITTED_OF[name]}, which is 0: "
                    "start from a guess"
                )
        self.refuse_early("of the tensions: shares")
        self.data.refuse_fewer_than(self.named)
        _ = self._markers

    @cached_property
    def nominal(self) -> Floats:
        return np.ones(len(self.parameters))

    @property
    def positive(self) -> Bools:
        return np.ones(len(self.parameters), dtype=np.bool_)

    @cached_property
    def _markers(self) -> list[Marker]:
        rod = self.specimen.arm.rod
        return [marker(name, rod.nodes, rod.mass) for name in self.quantities]

    def arm(self, values: Floats) -> TendonArmCase:
        """The specimen with multiples of its parameters."""
        more: dict[str, Any] = {}
        for name, times in zip(self.parameters, values.tolist(), strict=True):
            own = getattr(self.specimen, FITTED_OF[name])
            several = isinstance(own, Sequence)
            more[FITTED_OF[name]] = [times * t for t in own] if several else times * own
        return replace(self.specimen, **more)

    def seen(self, values: Floats, which: Ints, at: Floats) -> Floats:
        arm, levels = self.arm(values), np.unique(at)
        way, count = np.append(0.0, levels), len(levels)
        rests = followed(
            lambda share: arm.setting(
                float(np.interp(share * count, np.arange(count + 1), way))
            ),
            count,
            PRECISE,
        )
        x = np.array([step.rest.state.x for step in rests])[1:]
        places = np.stack([x[:, :, m.axis] @ m.weight for m in self._markers])
        return np.asarray(places[which, np.searchsorted(levels, at)])
