"""What a fit is about: a rod or an actuator, described by values of parameters."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from pipeline.cases.own_rod import OwnRodCase
from pipeline.cases.rod import ActuatorCase
from pipeline.cases.rod_file import RodFileCase
from sim.arrays import Floats
from sim.limits import refuse_unless_count, refuse_unless_positive
from sim.rod.gravity import GRAVITY
from sim.rod.rod.rod import RodMaterial, cantilever
from sim.rod.stepping.options import StepOptions
from sim.rod.stepping.parameters import Parameter
from sim.rod.stepping.world import Damping, World


@dataclass(frozen=True, eq=False)
class ClampedBeam:
    """A straight beam along x, clamped at the origin."""

    length: float = 0.1  # m
    nodes: int = 20
    material: RodMaterial = field(default_factory=RodMaterial)
    damping: Damping = field(default_factory=Damping)
    gravity: tuple[float, float] = (0.0, -GRAVITY)
    options: StepOptions = field(default_factory=StepOptions)

    def __post_init__(self) -> None:
        refuse_unless_positive(self, "length", of="beam")
        refuse_unless_count(self, "nodes", of="beam")
        if self.nodes < 4:
            raise ValueError(f"beam: nodes is {self.nodes}: give 4 or more")

    @property
    def world(self) -> World:
        rod = cantilever(self.length, self.nodes, self.material)
        x, y = self.gravity
        return World(rod, gravity=(float(x), float(y)), damping=self.damping)


Planar = ClampedBeam | OwnRodCase | ActuatorCase
Specimen = Planar | RodFileCase


def is_in_space(specimen: Specimen) -> bool:
    """Whether its rods may leave the plane."""
    if isinstance(specimen, RodFileCase):
        return specimen.goes_into_space
    return isinstance(specimen, OwnRodCase) and specimen.dimension == 3


def values_of(specimen: Planar, parameters: Sequence[Parameter]) -> Floats:
    """(P,) the values that the specimen is described with."""
    law = None if isinstance(specimen, ClampedBeam) else specimen.actuator
    values = []
    for parameter in parameters:
        if parameter is Parameter.MODULUS:
            assert not isinstance(specimen, ActuatorCase)  # refused before
            values.append(specimen.material.modulus)
        elif parameter is Parameter.BETA:
            assert not isinstance(specimen, ActuatorCase)
            values.append(specimen.damping.beta)
        elif law is None:
            raise ValueError(
                f"parameters: the beam has no actuator, so no {parameter.value}"
            )
        else:
            values.append(float(getattr(law, parameter.value)))
    return np.array(values, dtype=np.float64)


def with_values(
    specimen: Planar, parameters: Sequence[Parameter], values: Floats
) -> Planar:
    """The specimen with other values of the parameters."""
    named = {p: float(v) for p, v in zip(parameters, values, strict=True)}
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
