"""Parameters of rods, actuators and arms, fitted to measured series.

Derivatives by the parameters are central differences, of a relative step that is small
enough for motions of many swings and large enough for the tolerance of their steps.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, ClassVar

import numpy as np
import pandas as pd

from analysis.calibration.parameter_fit import (
    FitStep,
    Measurements,
    Outcome,
    errors_with_baselines,
    fit,
    outcome,
    parameter_table,
)
from analysis.comparison.compare_series import FITTED
from pipeline.cases.record import Arrays, Recorder, Row, Summary, Tables, stop_of
from pipeline.cases.robots import ActuatorCase
from pipeline.cases.rod_in_space import TendonArmCase
from pipeline.cases.user_rods import OwnRodCase, RodFileCase, UserRod
from pipeline.io.measured_motions import read_series
from sim.core.arrays import Bools, Floats, Ints
from sim.core.options import Checked, Count, Positive, counted
from sim.rods.plane.actuation import relative
from sim.rods.plane.markers import Marker, Parameter, marker, observed
from sim.rods.plane.options import StepOptions
from sim.rods.plane.rod import GRAVITY, RodMaterial, cantilever
from sim.rods.plane.simulate import simulate
from sim.rods.plane.statics import hung
from sim.rods.plane.world import Damping, NodeLoad, World
from sim.rods.space.simulate import simulate_in_space
from sim.rods.space.statics import SpaceOptions, followed
from sim.rods.space.world import SpaceParameter, scaled

CURVE = 400  # points of a curve
STEP = 1e-4  # of a parameter, for differences
LEAST = 1e-3  # of its first value: its size where it comes near 0
BLURRED = 1e-3  # see `analysis.calibration.parameter_fit.fit`


@dataclass(frozen=True, eq=False)
class SeriesFit(ABC, Checked):
    """A case that fits parameters to a series.

    Attributes
    ----------
    specimen : what was measured, with the nominal values of its parameters
    measured_path : CSV of quantity, at, value, u, part
    parameters : names of those to fit
    vague : relative u from which a parameter counts as not determined
    synthetic : whether the series was computed rather than measured
    max_steps : at most
    """

    of: ClassVar[str] = "fit"
    specimen: Any
    measured_path: str
    parameters: Sequence[str]
    vague: Positive = field(default=1.0, kw_only=True)
    max_steps: Count = field(default=50, kw_only=True)
    synthetic: bool = field(default=False, kw_only=True)
    counted = "s: times"  # from 0, as a message says
    curve_points = CURVE

    def check(self) -> None:
        """Refuse settings and measurements that do not fit, a ValueError."""
        early = self.series["at"] < 0.0
        if early.any():
            row = int(np.argmax(early.to_numpy()))
            raise ValueError(
                f"{Path(self.measured_path).name}: {self.series['quantity'][row]} is "
                f"measured at {self.series['at'][row]:g} {self.counted} must be 0 or "
                "more"
            )
        self.data.refuse_fewer_than(self.named)

    @property
    @abstractmethod
    def nominal(self) -> Floats:
        """(P,) values with which the fit begins."""

    @property
    @abstractmethod
    def positive(self) -> Bools:
        """(P,) those that make sense above 0 only."""

    @abstractmethod
    def seen(self, values: Floats, which: Ints, at: Floats) -> Floats:
        """(m,) What would be measured.

        Parameters
        ----------
        which : (m,) number of the quantity, in the order of the alphabet
        at : (m,)
        """

    def predict(self, values: Floats, which: Ints, at: Floats) -> tuple[Floats, Floats]:
        """What would be measured, (m,), and its derivatives (m, P)."""
        steps = STEP * np.diag(np.maximum(np.abs(values), LEAST * np.abs(self.nominal)))
        slopes = [
            (self.seen(values + h, which, at) - self.seen(values - h, which, at))
            / (2.0 * h.sum())
            for h in steps
        ]
        return self.seen(values, which, at), np.column_stack(slopes)

    @property
    def named(self) -> list[str]:
        """The parameters, each once."""
        names = list(self.parameters)
        if isinstance(self.parameters, str):
            raise ValueError(f"parameters is {self.parameters!r}: give a list of names")
        if not names or len(set(names)) < len(names):
            raise ValueError(f"parameters are {names}: name one or more, each once")
        return names

    @cached_property
    def series(self) -> pd.DataFrame:
        return read_series(Path(self.measured_path))

    @cached_property
    def data(self) -> Measurements:
        numbers = self.series[["value", "u"]].to_numpy(np.float64)
        used = (self.series["part"] == FITTED).to_numpy(dtype=np.bool_)
        return Measurements(numbers[:, 0], numbers[:, 1], used)

    @cached_property
    def quantities(self) -> list[str]:
        return sorted(set(self.series["quantity"]))

    @cached_property
    def which(self) -> Ints:
        """(m,) the quantity of each measurement."""
        return np.searchsorted(self.quantities, self.series["quantity"].to_numpy(str))

    def steps(self) -> Iterator[FitStep]:
        at = self.series["at"].to_numpy(np.float64)
        yield from fit(
            lambda values: self.predict(values, self.which, at),
            self.nominal,
            self.data,
            positive=self.positive,
            max_steps=self.max_steps,
            blurred=BLURRED,
        )

    def recorder(self) -> "FitRecorder":
        return FitRecorder(self)

    def curves(self, values: Floats) -> pd.DataFrame:
        """Each quantity by `at`, with the nominal and with other parameters."""
        end = float(self.series["at"].max())
        at = np.tile(np.linspace(0.0, end, self.curve_points), len(self.quantities))
        which = np.repeat(np.arange(len(self.quantities)), self.curve_points)
        nominal = self.seen(self.nominal, which, at)
        fitted = self.seen(values, which, at)
        names = np.array(self.quantities)[which]
        columns = {"quantity": names, "at": at, "nominal": nominal, "fitted": fitted}
        return pd.DataFrame(columns)


class FitRecorder(Recorder[SeriesFit, FitStep]):
    """Records the parameters as they are found, and what they are worth.

    Attributes
    ----------
    baseline : (m,) what the nominal parameters predict
    """

    baseline: Floats

    def see(self, step: FitStep) -> None:
        super().see(step)
        if step.s == 0:
            self.baseline = step.predicted

    def row(self, step: FitStep) -> Row:
        named = dict(zip(self.case.parameters, step.p.tolist(), strict=True))
        return {"step": step.s, "chi2": step.chi2, **named}

    def arrays(self, step: FitStep) -> Arrays:
        return {"predicted": step.predicted, "slope": step.slope}

    def progress(self, step: FitStep) -> str:
        return f"chi2 {step.chi2:.3g}"

    @cached_property
    def outcome(self) -> Outcome:
        """What the parameters are worth."""
        return outcome(self.last, self.case.data, vague=self.case.vague)

    @cached_property
    def measurements(self) -> pd.DataFrame:
        """Each measurement with what the two sets of parameters predict."""
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
            "errors.csv": errors_with_baselines(self.measurements),
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
            "stop": stop_of(last),
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
        for row in errors_with_baselines(self.measurements).to_dict("records"):
            what = f"{row['quantity']}_{str(row['part']).replace(' ', '_')}"
            for name in ("rms", "rms_nominal", "rms_mean"):
                numbers[f"{name}_{what}"] = float(row[name])
        return numbers


@dataclass(frozen=True, eq=False)
class ClampedBeam(Checked):
    """A straight beam along x, clamped at the origin."""

    of: ClassVar[str] = "beam"
    length: Positive = 0.1  # m
    nodes: Annotated[int, counted(4)] = 20
    material: RodMaterial = field(default_factory=RodMaterial)
    damping: Damping = field(default_factory=Damping)
    gravity: tuple[float, float] = (0.0, -GRAVITY)
    options: StepOptions = field(default_factory=StepOptions)

    @property
    def world(self) -> World:
        rod = cantilever(self.length, self.nodes, self.material)
        x, y = self.gravity
        return World(rod, gravity=(float(x), float(y)), damping=self.damping)


Specimen = ClampedBeam | OwnRodCase | ActuatorCase | RodFileCase
PARTS = {  # of a specimen in the plane, that hold a parameter; others are of its law
    Parameter.MODULUS: "material",
    Parameter.BETA: "damping",
}
LAW = "actuator"


def values_of(specimen: Any, parameters: Sequence[Parameter]) -> Floats:
    """(P,) the values that a specimen in the plane is described with."""
    for parameter in parameters:
        part = PARTS.get(parameter, LAW)
        if not hasattr(specimen, part):
            of = (
                "the beam has no actuator, so it has"
                if part == LAW
                else "an actuator alone has"
            )
            raise ValueError(f"parameters: {of} no {parameter.value}: remove it")
    return np.array(
        [getattr(getattr(specimen, PARTS.get(p, LAW)), p.value) for p in parameters],
        dtype=np.float64,
    )


def with_values(specimen: Any, parameters: Sequence[Parameter], values: Floats) -> Any:
    """The specimen with other values of the parameters."""
    own: dict[str, dict[str, float]] = {}
    for parameter, value in zip(parameters, values.tolist(), strict=True):
        own.setdefault(PARTS.get(parameter, LAW), {})[parameter.value] = value
    parts = {part: replace(getattr(specimen, part), **of) for part, of in own.items()}
    return replace(specimen, **parts)


@dataclass(frozen=True, eq=False)
class RodFitCase(SeriesFit):
    """One of conf/case, built by Hydra.

    Attributes
    ----------
    measured_path : CSV of quantity, at (time, s), value, u, part; quantities are those
        of `sim.rods.plane.markers`, and markers of a file; of an actuator curvature
        (kbar / kbar0), modulus (E / E0)
    parameters : names of those to fit, see `sim.rods.plane.markers`; in space
        those of `sim.rods.space.world` with "_times", as each is fitted as
        a multiple of what the specimen has
    released_from : a load under which a rod was at rest before it was let go at t = 0
    """

    specimen: Specimen
    released_from: NodeLoad | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if not isinstance(self.specimen, Specimen):
            raise ValueError(
                f"specimen is a {type(self.specimen).__name__}: give a ClampedBeam, an "
                "OwnRodCase, a RodFileCase or an ActuatorCase"
            )
        if isinstance(self.specimen, RodFileCase) and not self.in_space:
            raise ValueError(
                "specimen: fits of rod files work in 3D only: set dimension to 3"
            )
        for name, value in zip(self.named, self.nominal.tolist(), strict=True):
            if value == 0.0:
                raise ValueError(
                    f"parameters: {name} starts at 0, but its size scales its steps: "
                    "start from a non-zero guess"
                )
        self.check()
        self._refuse_release()
        if not isinstance(self.specimen, ActuatorCase):
            _ = self._markers
        elif odd := sorted(set(self.quantities) - {"curvature", "modulus"}):
            raise ValueError(
                f"quantity is {odd[0]!r}: an actuator has only curvature, modulus"
            )

    @property
    def in_space(self) -> bool:
        """Whether the specimen's rods may leave the plane."""
        return isinstance(self.specimen, UserRod) and self.specimen.in_space

    def _refuse_release(self) -> None:
        if self.released_from is None:
            return
        if self.in_space:
            raise ValueError("released_from: rods in 3D start at rest: leave it out")
        if isinstance(self.specimen, ActuatorCase):
            raise ValueError("released_from: an actuator alone carries no load")
        replace(self.specimen.world, load=self.released_from)  # which checks its nodes

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
                f"parameters: no {name!r} in 3D: choose from {', '.join(of)}"
            )
        return [of[name] for name in self.parameters]

    @cached_property
    def nominal(self) -> Floats:
        """(P,) the values that the specimen is described with."""
        if self.in_space:
            return np.ones(len(self._multiplied))
        return values_of(self.specimen, self.fitted)

    @cached_property
    def _markers(self) -> list[Marker]:
        rods = self.specimen
        assert not isinstance(rods, ActuatorCase)  # which has no nodes
        own = rods.markers if isinstance(rods, RodFileCase) else {}
        rod = (rods.moved_world if isinstance(rods, UserRod) else rods.world).rod
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
        specimen: Any = self.specimen
        if not self.in_space:
            specimen = with_values(specimen, self.fitted, values)
            if isinstance(specimen, ActuatorCase):
                return self._law(specimen, which, at)
        options = replace(specimen.options, reuse=0.0)
        end = max(float(at.max()), 0.5 * options.h)
        motion: Iterator[Any]
        if self.in_space:
            times = dict(zip(self._multiplied, values.tolist(), strict=True))
            motion = simulate_in_space(
                scaled(specimen.space_world, times), options, end
            )
        elif self.released_from is not None:
            motion = simulate(hung(specimen.world, self.released_from), options, end)
        else:
            motion = simulate(specimen.world, options, end)
        return observed(motion, self._markers, which, at)

    def _law(self, specimen: ActuatorCase, which: Ints, at: Floats) -> Floats:
        """Eq. (7)."""
        law = specimen.actuator.law
        levels = {"curvature": law.least_curvature, "modulus": law.most_modulus}
        n = [levels[self.quantities[k]] for k in which.tolist()]
        return np.array(
            [relative(t, n_k, law) for t, n_k in zip(at.tolist(), n, strict=True)]
        )


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
    measured_path : CSV of quantity, at (fraction of the specimen's tensions), value, u,
        part; quantities are those of `sim.rods.plane.markers`: x_tip, z_12
    parameters : of FITTED_OF: multiples of what the specimen has; of all tensions
        alike, and of the coefficient of friction along tendons
    """

    specimen: TendonArmCase
    counted = "of the tensions: fractions"
    curve_points = 20

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in self.named:
            if name not in FITTED_OF:
                raise ValueError(
                    f"parameters: an arm has no {name!r}: choose from "
                    f"{', '.join(FITTED_OF)}"
                )
            if not np.any(getattr(self.specimen, FITTED_OF[name])):
                raise ValueError(
                    f"parameters: {name} multiplies {FITTED_OF[name]}, which is 0: "
                    "give it a non-zero first guess"
                )
        self.check()
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
