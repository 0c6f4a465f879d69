"""Parameters of a rod, or of its actuator, fitted to a measured series."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from pipeline.cases.own_rod import OwnRodCase
from pipeline.cases.rod import ActuatorCase
from pipeline.cases.rod_file import RodFileCase
from pipeline.cases.series_fit import SeriesFit
from pipeline.cases.specimen import (
    Planar,
    Specimen,
    is_in_space,
    values_of,
    with_values,
)
from sim.arrays import Bools, Floats, Ints
from sim.limits import refuse_unless_count, refuse_unless_positive
from sim.rod.actuation.actuation import relative
from sim.rod.moving.motion import SpaceMotionStep, moves
from sim.rod.moving.space_parameters import SpaceParameter, scaled
from sim.rod.moving.space_world import SpaceWorld
from sim.rod.stepping.equilibrium import hung
from sim.rod.stepping.markers import Marker, marker, observed
from sim.rod.stepping.parameters import Parameter
from sim.rod.stepping.simulate import simulate
from sim.rod.stepping.world import NodeLoad, World


@dataclass(frozen=True, eq=False)
class RodFitCase(SeriesFit):
    """One of conf/case, built by Hydra.

    Attributes
    ----------
    specimen : what was measured, with the nominal values of its parameters
    measured_path : CSV of quantity, at (time, s), value, u, part; quantities are those
        of `sim.rod.stepping.markers`, and markers of a file; of an actuator curvature
        (kbar / kbar0), modulus (E / E0)
    parameters : names of those to fit, see `sim.rod.stepping.parameters`; in space
        those of `sim.rod.moving.space_parameters` with "_times", as each is fitted as
        a multiple of what the specimen has
    released_from : a load under which a rod was at rest before it was let go at t = 0
    vague : relative u from which a parameter counts as not determined
    synthetic : whether the series was computed rather than measured
    """

    specimen: Specimen
    measured_path: str
    parameters: Sequence[str]
    released_from: NodeLoad | None = None
    vague: float = 1.0
    max_steps: int = 50
    synthetic: bool = False

    def __post_init__(self) -> None:
        if not isinstance(self.specimen, Specimen):
            raise ValueError(
                f"specimen is a {type(self.specimen).__name__}: give a ClampedBeam, an "
                "OwnRodCase, a RodFileCase or an ActuatorCase"
            )
        if isinstance(self.specimen, RodFileCase) and not self.in_space:
            raise ValueError(
                "specimen: of rod files fits are in space: set its dimension to 3"
            )
        refuse_unless_positive(self, "vague", of="fit")
        refuse_unless_count(self, "max_steps", of="fit")
        self._refuse_parameters()
        self._refuse_series()
        self.data.refuse_fewer_than(self.named)
        self._refuse_release()
        if not isinstance(self.specimen, ActuatorCase):
            _ = self._markers

    @property
    def in_space(self) -> bool:
        return is_in_space(self.specimen)

    @property
    def _flat(self) -> Planar:
        assert not isinstance(self.specimen, RodFileCase)  # refused before
        return self.specimen

    @property
    def _world(self) -> World | SpaceWorld:
        rods = self.specimen
        if self.in_space and isinstance(rods, OwnRodCase | RodFileCase):
            return rods.space_world
        assert not isinstance(rods, ActuatorCase)  # asked for nowhere else
        return rods.world

    def _refuse_parameters(self) -> None:
        names = self.named
        law_only = isinstance(self.specimen, ActuatorCase)
        for name, parameter in zip(names, self.fitted, strict=not self.in_space):
            if law_only and parameter in (Parameter.MODULUS, Parameter.BETA):
                raise ValueError(f"parameters: an actuator alone has no {name}")
        for name, value in zip(names, self.nominal.tolist(), strict=True):
            if value == 0.0:
                raise ValueError(
                    f"parameters: {name} starts at 0, and its size is the scale of its "
                    "steps: start from a guess"
                )

    def _refuse_release(self) -> None:
        if self.released_from is None:
            return
        if self.in_space:
            raise ValueError(
                "released_from: in space rods start as drawn: leave it out"
            )
        if isinstance(self._flat, ActuatorCase):
            raise ValueError("released_from: an actuator alone carries no load")
        replace(self._flat.world, load=self.released_from)  # which checks its nodes

    def _refuse_series(self) -> None:
        self.refuse_early("s: times")
        if isinstance(self.specimen, ActuatorCase):
            odd = sorted(set(self.series["quantity"]) - {"curvature", "modulus"})
            if odd:
                raise ValueError(
                    f"quantity is {odd[0]!r}: an actuator has curvature and modulus"
                )

    @cached_property
    def fitted(self) -> list[Parameter]:
        """In the plane."""
        return [] if self.in_space else [Parameter(name) for name in self.parameters]

    @cached_property
    def _multiplied(self) -> list[SpaceParameter]:
        """In space."""
        of = {f"{one.value}_times": one for one in SpaceParameter}
        for name in set(self.parameters) - set(of):
            raise ValueError(
                f"parameters: {name!r} is none in space: choose of {', '.join(of)}"
            )
        return [of[name] for name in self.parameters]

    @cached_property
    def nominal(self) -> Floats:
        """(P,) the values that the specimen is described with."""
        if self.in_space:
            return np.ones(len(self._multiplied))
        return values_of(self._flat, self.fitted)

    @cached_property
    def _markers(self) -> list[Marker]:
        own: dict[str, Marker] = {}
        rod = self._world.rod
        if isinstance(self.specimen, RodFileCase):
            own = self.specimen.markers
        return [
            own.get(name) or marker(name, rod.nodes, rod.mass)
            for name in self.quantities
        ]

    @property
    def positive(self) -> Bools:
        return np.array([p.positive for p in self.fitted or self._multiplied])

    def seen(self, values: Floats, which: Ints, at: Floats) -> Floats:
        """See `SeriesFit.seen`; times are in s.

        Each iteration of a step takes its own matrix: it then ends so far within its
        tolerance that differences are smooth.
        """
        end = float(at.max())
        if self.in_space:
            times = dict(zip(self._multiplied, values.tolist(), strict=True))
            return observed(self._in_space(times, end), self._markers, which, at)
        specimen = with_values(self._flat, self.fitted, values)
        if isinstance(specimen, ActuatorCase):
            return self._law(specimen, which, at)
        world, options = specimen.world, replace(specimen.options, reuse=0.0)
        if self.released_from is not None:
            world = hung(world, self.released_from)
        motion = simulate(world, options, max(end, 0.5 * options.h))
        return observed(motion, self._markers, which, at)

    def _in_space(
        self, times: dict[SpaceParameter, float], end: float
    ) -> Iterator[SpaceMotionStep]:
        world = self._world
        assert isinstance(world, SpaceWorld)
        assert not isinstance(self.specimen, ActuatorCase)
        options = replace(self.specimen.options, reuse=0.0)
        return moves(scaled(world, times), options, max(end, 0.5 * options.h))

    def _law(self, specimen: ActuatorCase, which: Ints, at: Floats) -> Floats:
        """Eq. (7)."""
        law = specimen.actuator.law
        levels = {"curvature": law.least_curvature, "modulus": law.most_modulus}
        n = [levels[self.quantities[k]] for k in which.tolist()]
        return np.array(
            [relative(t, n_k, law) for t, n_k in zip(at.tolist(), n, strict=True)]
        )
