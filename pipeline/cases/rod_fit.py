"""Parameters of a rod, or of its actuator, fitted to a measured series."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from analysis.fit_worth import errors_beside_baselines, parameter_table
from analysis.parameter_fit import Data, FitStep, Outcome, fit, outcome
from analysis.series import FITTED
from pipeline.cases.own_rod import OwnRodCase
from pipeline.cases.rod import ActuatorCase
from pipeline.series_file import read_series
from sim.arrays import Floats, Ints
from sim.rod.actuation import relative
from sim.rod.limits import refuse_unless_count, refuse_unless_positive
from sim.rod.markers import Marker, marker, observed
from sim.rod.options import StepOptions
from sim.rod.parameters import Parameter, law_tangents, parameter_of
from sim.rod.rod import Material, cantilever
from sim.rod.sensitivity import Fitted, hung, refuse_what_has_no_tangent, tangents
from sim.rod.world import GRAVITY, Damping, Load, World

CURVE = 400  # points of a drawn curve


@dataclass(frozen=True, eq=False)
class ClampedBeam:
    """A straight beam along x, clamped at the origin."""

    length: float = 0.1  # m
    nodes: int = 20
    material: Material = field(default_factory=Material)
    damping: Damping = field(default_factory=Damping)
    gravity: tuple[float, float] = (0.0, -GRAVITY)
    options: StepOptions = field(default_factory=StepOptions)

    def __post_init__(self) -> None:
        refuse_unless_positive(self, "beam", "length")
        refuse_unless_count(self, "beam", "nodes")
        if self.nodes < 4:
            raise ValueError(f"beam: nodes is {self.nodes}: give 4 or more")

    @property
    def world(self) -> World:
        rod = cantilever(self.length, self.nodes, self.material)
        x, y = self.gravity
        return World(rod, gravity=(float(x), float(y)), damping=self.damping)


Specimen = ClampedBeam | OwnRodCase | ActuatorCase


@dataclass(frozen=True, eq=False)
class RodFitCase:
    """One of conf/case, built by Hydra.

    Attributes
    ----------
    specimen : what was measured, with the nominal values of its parameters
    measured_path : CSV of quantity, at (time, s), value, u, part; quantities are those
        of `sim.rod.markers`; of an actuator curvature (kbar / kbar0), modulus (E / E0)
    parameters : names of those to fit, see `sim.rod.parameters`
    released_from : a load under which a rod was at rest before it was let go at t = 0
    vague : relative u from which a parameter counts as not determined
    synthetic : whether the series was computed rather than measured
    """

    specimen: Specimen
    measured_path: str
    parameters: Sequence[str]
    released_from: Load | None = None
    vague: float = 1.0
    max_steps: int = 50
    synthetic: bool = False

    def __post_init__(self) -> None:
        if not isinstance(self.specimen, Specimen):
            raise ValueError(
                f"specimen is a {type(self.specimen).__name__}: give a ClampedBeam, an "
                "OwnRodCase or an ActuatorCase (a robot that settles on its ground has "
                "a start that no derivative knows)"
            )
        refuse_unless_positive(self, "fit", "vague")
        refuse_unless_count(self, "fit", "max_steps")
        self._refuse_parameters()
        self._refuse_series()
        self.data.refuse_fewer_than(list(self.parameters))
        self._refuse_release()
        if not isinstance(self.specimen, ActuatorCase):
            refuse_what_has_no_tangent(self.specimen.world, self.specimen.options)
            _ = self._markers

    def _refuse_parameters(self) -> None:
        names = list(self.parameters)
        if isinstance(self.parameters, str):
            raise ValueError(f"parameters is {self.parameters!r}: give a list of names")
        if not names or len(set(names)) < len(names):
            raise ValueError(f"parameters are {names}: name one or more, each once")
        law_only = isinstance(self.specimen, ActuatorCase)
        for name, parameter in zip(names, self.fitted, strict=True):
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
        if isinstance(self.specimen, ActuatorCase):
            raise ValueError("released_from: an actuator alone carries no load")
        replace(self.specimen.world, load=self.released_from)  # which checks its nodes

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
        return [parameter_of(name) for name in self.parameters]

    @cached_property
    def data(self) -> Data:
        numbers = self.series[["value", "u"]].to_numpy(np.float64)
        used = (self.series["part"] == FITTED).to_numpy(dtype=np.bool_)
        return Data(numbers[:, 0], numbers[:, 1], used)

    @cached_property
    def nominal(self) -> Floats:
        """(P,) the values that the specimen is described with."""
        law = None
        if not isinstance(self.specimen, ClampedBeam):
            law = self.specimen.actuator
        values = []
        for parameter in self.fitted:
            if parameter is Parameter.MODULUS:
                assert not isinstance(self.specimen, ActuatorCase)  # refused before
                values.append(self.specimen.material.modulus)
            elif parameter is Parameter.BETA:
                assert not isinstance(self.specimen, ActuatorCase)
                values.append(self.specimen.damping.beta)
            elif law is None:
                raise ValueError(
                    f"parameters: the beam has no actuator, so no {parameter.value}"
                )
            else:
                values.append(float(getattr(law, parameter.value)))
        return np.array(values, dtype=np.float64)

    def specimen_with(self, values: Floats) -> Specimen:
        """The specimen with other values of the parameters."""
        named = {p: float(v) for p, v in zip(self.fitted, values, strict=True)}
        specimen = self.specimen
        if not isinstance(specimen, ActuatorCase):
            material, damping = specimen.material, specimen.damping
            if Parameter.MODULUS in named:
                modulus = named.pop(Parameter.MODULUS)
                material = replace(material, modulus=modulus)
            if Parameter.BETA in named:
                damping = replace(damping, beta=named.pop(Parameter.BETA))
            specimen = replace(specimen, material=material, damping=damping)
        if isinstance(specimen, ClampedBeam):
            return specimen
        law = {parameter.value: value for parameter, value in named.items()}
        return replace(specimen, actuator=replace(specimen.actuator, **law))

    @cached_property
    def _quantities(self) -> list[str]:
        return sorted(set(self.series["quantity"]))

    @cached_property
    def _which(self) -> Ints:
        """(m,) the quantity of each measurement."""
        return np.searchsorted(self._quantities, self.series["quantity"].to_numpy(str))

    @cached_property
    def _markers(self) -> list[Marker]:
        assert not isinstance(self.specimen, ActuatorCase)
        rod = self.specimen.world.rod
        return [marker(name, rod) for name in self._quantities]

    def predict(self, values: Floats, which: Ints, at: Floats) -> tuple[Floats, Floats]:
        """What would be measured, (m,), and its derivatives (m, P).

        Parameters
        ----------
        which : (m,) number of the quantity, in the order of the alphabet
        at : (m,) s
        """
        specimen = self.specimen_with(values)
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
        return fit(
            lambda values: self.predict(values, self._which, at),
            self.nominal,
            self.data,
            positive=np.array([p.positive for p in self.fitted]),
            max_steps=self.max_steps,
        )

    def numbers(self, step: FitStep) -> dict[str, float]:
        named = dict(zip(self.parameters, step.p.tolist(), strict=True))
        return {"step": step.s, "chi2": step.chi2, **named}

    def arrays(self, step: FitStep) -> dict[str, NDArray[np.generic]]:
        return {"predicted": step.predicted, "slope": step.slope}

    def fixed_arrays(self) -> dict[str, NDArray[np.generic]]:
        return {}

    def documents(self) -> dict[str, object]:
        return {}

    def progress(self, step: FitStep) -> str:
        return f"chi2 {step.chi2:.3g}"

    def outcome(self, last: FitStep) -> Outcome:
        """What the parameters are worth."""
        return outcome(last, self.data, vague=self.vague)

    @cached_property
    def _baseline(self) -> Floats:
        """(m,) what the nominal parameters predict."""
        at = self.series["at"].to_numpy(np.float64)
        return self.predict(self.nominal, self._which, at)[0]

    def curves(self, last: FitStep) -> pd.DataFrame:
        """Each quantity in time, with the nominal and with the fitted parameters."""
        end = float(self.series["at"].max())
        at = np.tile(np.linspace(0.0, end, CURVE), len(self._quantities))
        which = np.repeat(np.arange(len(self._quantities)), CURVE)
        nominal, _ = self.predict(self.nominal, which, at)
        fitted, _ = self.predict(last.p, which, at)
        names = np.array(self._quantities)[which]
        columns = {"quantity": names, "at": at, "nominal": nominal, "fitted": fitted}
        return pd.DataFrame(columns)

    def measurements(self, last: FitStep) -> pd.DataFrame:
        """Each measurement beside what the two sets of parameters say."""
        return self.series.assign(
            nominal=self._baseline,
            fitted=last.predicted,
            fitted_u=self.outcome(last).predicted_u,
        )

    def tables(self, last: FitStep) -> dict[str, Iterable[Mapping[str, float | str]]]:
        measurements = self.measurements(last)
        tables = {
            "parameters.csv": parameter_table(
                self.parameters, self.nominal, last, self.outcome(last)
            ),
            "errors.csv": errors_beside_baselines(measurements),
            "measurements.csv": measurements,
            "curves.csv": self.curves(last),
        }
        return {
            file: [
                {str(name): value for name, value in row.items()}
                for row in table.assign(synthetic=self.synthetic).to_dict("records")
            ]
            for file, table in tables.items()
        }

    def result(self, last: FitStep) -> dict[str, float | str | int | bool]:
        found = self.outcome(last)
        numbers: dict[str, float | str | int | bool] = {
            "stop": last.stop.value if last.stop is not None else "none",
            "steps": last.s,
            "chi2": last.chi2,
            "dof": found.dof,
            "u_enlarged": found.enlarged,
            "synthetic": self.synthetic,
        }
        unknown = []
        for k, name in enumerate(self.parameters):
            numbers[name] = float(last.p[k])
            if found.determined[k]:
                numbers[f"u_{name}"] = float(found.u[k])
            else:
                unknown.append(name)
        numbers["not_determined"] = ", ".join(unknown) or "none"
        for row in errors_beside_baselines(self.measurements(last)).to_dict("records"):
            what = f"{row['quantity']}_{str(row['part']).replace(' ', '_')}"
            for name in ("rms", "rms_nominal", "rms_mean"):
                numbers[f"{name}_{what}"] = float(row[name])
        return numbers
