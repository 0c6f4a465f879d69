"""Parameters of a rod, or of its actuator, fitted to a measured series."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

import numpy as np
import pandas as pd

from analysis.fits.fit_worth import errors_beside_baselines, parameter_table
from analysis.fits.parameter_fit import FitStep, Measurements, Outcome, fit, outcome
from analysis.validation.series import FITTED
from pipeline.cases.own_rod import OwnRodCase
from pipeline.cases.record import Arrays, Documents, Row, Summary, Tables
from pipeline.cases.rod import ActuatorCase
from pipeline.cases.rod_file import RodFileCase
from pipeline.cases.specimen import (
    Planar,
    Specimen,
    is_in_space,
    values_of,
    with_values,
)
from pipeline.formats.series_file import read_series
from sim.arrays import Floats, Ints
from sim.limits import refuse_unless_count, refuse_unless_positive
from sim.rod.actuation.actuation import relative
from sim.rod.moving.motion_sensitivity import (
    SpaceParameter,
    refuse_without_tangents,
    scaled,
    space_tangents,
)
from sim.rod.moving.space_world import SpaceWorld
from sim.rod.stepping.markers import Marker, marker, observed
from sim.rod.stepping.parameters import Parameter, law_tangents
from sim.rod.stepping.sensitivity import (
    Fitted,
    hung,
    refuse_what_has_no_tangent,
    tangents,
)
from sim.rod.stepping.world import NodeLoad, World

CURVE = 400  # points of a drawn curve


@dataclass(frozen=True, eq=False)
class RodFitCase:
    """One of conf/case, built by Hydra.

    Attributes
    ----------
    specimen : what was measured, with the nominal values of its parameters
    measured_path : CSV of quantity, at (time, s), value, u, part; quantities are those
        of `sim.rod.stepping.markers`, and markers of a file; of an actuator curvature
        (kbar / kbar0), modulus (E / E0)
    parameters : names of those to fit, see `sim.rod.stepping.parameters`; in space
        those of `sim.rod.moving.motion_sensitivity` with "_times", as each is fitted as
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
                "OwnRodCase, a RodFileCase or an ActuatorCase (a robot that settles on "
                "its ground has a start that no derivative knows)"
            )
        if isinstance(self.specimen, RodFileCase) and not self.in_space:
            raise ValueError(
                "specimen: of rod files fits are in space: set its dimension to 3"
            )
        refuse_unless_positive(self, "vague", of="fit")
        refuse_unless_count(self, "max_steps", of="fit")
        self._refuse_parameters()
        self._refuse_series()
        self.data.refuse_fewer_than(list(self.parameters))
        self._refuse_release()
        if not isinstance(self.specimen, ActuatorCase):
            world, options = self._world, self.specimen.options
            if isinstance(world, SpaceWorld):
                refuse_without_tangents(world, options)
            else:
                refuse_what_has_no_tangent(world, options)
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
        names = list(self.parameters)
        if isinstance(self.parameters, str):
            raise ValueError(f"parameters is {self.parameters!r}: give a list of names")
        if not names or len(set(names)) < len(names):
            raise ValueError(f"parameters are {names}: name one or more, each once")
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
        early = self.series["at"] < 0.0
        if early.any():
            row = int(np.argmax(early.to_numpy()))
            raise ValueError(
                f"{Path(self.measured_path).name}: {self.series['quantity'][row]} is "
                f"measured at {self.series['at'][row]:g} s: times start at 0"
            )
        if isinstance(self.specimen, ActuatorCase):
            odd = sorted(set(self.series["quantity"]) - {"curvature", "modulus"})
            if odd:
                raise ValueError(
                    f"quantity is {odd[0]!r}: an actuator has curvature and modulus"
                )

    @cached_property
    def series(self) -> pd.DataFrame:
        return read_series(Path(self.measured_path))

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
    def data(self) -> Measurements:
        numbers = self.series[["value", "u"]].to_numpy(np.float64)
        used = (self.series["part"] == FITTED).to_numpy(dtype=np.bool_)
        return Measurements(numbers[:, 0], numbers[:, 1], used)

    @cached_property
    def nominal(self) -> Floats:
        """(P,) the values that the specimen is described with."""
        if self.in_space:
            return np.ones(len(self._multiplied))
        return values_of(self._flat, self.fitted)

    @cached_property
    def _quantities(self) -> list[str]:
        return sorted(set(self.series["quantity"]))

    @cached_property
    def _which(self) -> Ints:
        """(m,) the quantity of each measurement."""
        return np.searchsorted(self._quantities, self.series["quantity"].to_numpy(str))

    @cached_property
    def _markers(self) -> list[Marker]:
        own: dict[str, Marker] = {}
        rod = self._world.rod
        if isinstance(self.specimen, RodFileCase):
            own = self.specimen.markers
        return [
            own.get(name) or marker(name, rod.nodes, rod.mass)
            for name in self._quantities
        ]

    def predict(self, values: Floats, which: Ints, at: Floats) -> tuple[Floats, Floats]:
        """What would be measured, (m,), and its derivatives (m, P).

        Parameters
        ----------
        which : (m,) number of the quantity, in the order of the alphabet
        at : (m,) s
        """
        world = None if isinstance(self.specimen, ActuatorCase) else self._world
        if isinstance(world, SpaceWorld):
            assert not isinstance(self.specimen, ActuatorCase)
            times = dict(zip(self._multiplied, values.tolist(), strict=True))
            moved = space_tangents(
                scaled(world, times), self.specimen.options, self._multiplied,
                max(float(at.max()), 0.5 * self.specimen.options.h),
            )  # fmt: skip
            seen, slopes = observed(moved, self._markers, which, at)
            return seen, slopes / values
        specimen = with_values(self._flat, self.fitted, values)
        if isinstance(specimen, ActuatorCase):
            return self._law(specimen, which, at)
        world = specimen.world
        fitted = Fitted(self.fitted, specimen.material.modulus)
        dx = None
        if self.released_from is not None:
            world, dx = hung(world, self.released_from, fitted)
        end = max(float(at.max()), 0.5 * specimen.options.h)
        motion = tangents(world, specimen.options, fitted, end, dx)
        return observed(motion, self._markers, which, at)

    def _law(
        self, specimen: ActuatorCase, which: Ints, at: Floats
    ) -> tuple[Floats, Floats]:
        """Eq. (7) and its derivatives."""
        law = specimen.actuator.law
        values, slopes = np.empty(len(at)), np.zeros((len(at), len(self.fitted)))
        for k, t in enumerate(at.tolist()):
            curved = self._quantities[which[k]] == "curvature"
            n = law.least_curvature if curved else law.most_modulus
            values[k] = relative(t, n, law)
            slope = law_tangents(t, law)[int(curved)]
            slopes[k] = [slope.get(parameter, 0.0) for parameter in self.fitted]
        return values, slopes

    def steps(self) -> Iterator[FitStep]:
        at = self.series["at"].to_numpy(np.float64)
        yield from fit(
            lambda values: self.predict(values, self._which, at),
            self.nominal,
            self.data,
            positive=np.array([p.positive for p in self.fitted or self._multiplied]),
            max_steps=self.max_steps,
        )

    def recorder(self) -> "FitRecorder":
        return FitRecorder(self)

    def curves(self, values: Floats) -> pd.DataFrame:
        """Each quantity in time, with the nominal and with other parameters."""
        end = float(self.series["at"].max())
        at = np.tile(np.linspace(0.0, end, CURVE), len(self._quantities))
        which = np.repeat(np.arange(len(self._quantities)), CURVE)
        nominal, _ = self.predict(self.nominal, which, at)
        fitted, _ = self.predict(values, which, at)
        names = np.array(self._quantities)[which]
        columns = {"quantity": names, "at": at, "nominal": nominal, "fitted": fitted}
        return pd.DataFrame(columns)


@dataclass(eq=False)
class FitRecorder:
    """Records the parameters as they are found, and what they are worth.

    Attributes
    ----------
    baseline : (m,) what the nominal parameters predict
    """

    case: RodFitCase
    baseline: Floats = field(init=False)
    last: FitStep = field(init=False)

    def see(self, step: FitStep) -> None:
        if step.s == 0:
            self.baseline = step.predicted
        self.last = step

    def row(self, step: FitStep) -> Row:
        named = dict(zip(self.case.parameters, step.p.tolist(), strict=True))
        return {"step": step.s, "chi2": step.chi2, **named}

    def arrays(self, step: FitStep) -> Arrays:
        return {"predicted": step.predicted, "slope": step.slope}

    def progress(self, step: FitStep) -> str:
        return f"chi2 {step.chi2:.3g}"

    def documents(self) -> Documents:
        return {}

    def fixed_arrays(self) -> Arrays:
        return {}

    @cached_property
    def outcome(self) -> Outcome:
        """What the parameters are worth."""
        return outcome(self.last, self.case.data, vague=self.case.vague)

    @cached_property
    def measurements(self) -> pd.DataFrame:
        """Each measurement beside what the two sets of parameters say."""
        return self.case.series.assign(
            nominal=self.baseline,
            fitted=self.last.predicted,
            fitted_u=self.outcome.predicted_u,
        )

    def tables(self) -> Tables:
        case, last = self.case, self.last
        tables = {
            "parameters.csv": parameter_table(
                case.parameters, case.nominal, last, self.outcome
            ),
            "errors.csv": errors_beside_baselines(self.measurements),
            "measurements.csv": self.measurements,
            "curves.csv": case.curves(last.p),
        }
        return {
            file: [
                {str(name): value for name, value in row.items()}
                for row in table.assign(synthetic=case.synthetic).to_dict("records")
            ]
            for file, table in tables.items()
        }

    def summary(self) -> Summary:
        found, last, case = self.outcome, self.last, self.case
        numbers: Summary = {
            "stop": last.stop.value if last.stop is not None else "none",
            "steps": last.s,
            "chi2": last.chi2,
            "dof": found.dof,
            "u_enlarged": found.enlarged,
            "synthetic": case.synthetic,
        }
        unknown = []
        for k, name in enumerate(case.parameters):
            numbers[name] = float(last.p[k])
            if found.determined[k]:
                numbers[f"u_{name}"] = float(found.u[k])
            else:
                unknown.append(name)
        numbers["not_determined"] = ", ".join(unknown) or "none"
        for row in errors_beside_baselines(self.measurements).to_dict("records"):
            what = f"{row['quantity']}_{str(row['part']).replace(' ', '_')}"
            for name in ("rms", "rms_nominal", "rms_mean"):
                numbers[f"{name}_{what}"] = float(row[name])
        return numbers
