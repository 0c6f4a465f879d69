"""Limbs of a rod in space that are actuated as in the plane: eq. (7) of [Hu20]."""

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from sim.arrays import Floats, Ints
from sim.rod.actuation.actuation import Actuator, actuate
from sim.rod.energy.elastic import Actuated, Elements, elements, join
from sim.rod.rod.rod import Rod
from sim.rod.space.elements import SpaceElements


@dataclass(frozen=True, eq=False)
class SpaceLimbs:
    """What drives a rod that was lifted from the plane.

    Attributes
    ----------
    rod : the planar one, whose edges and bends have limbs
    """

    rod: Rod
    actuator: Actuator = field(default_factory=Actuator)

    @property
    def count(self) -> int:
        """Limbs."""
        return self.rod.last_limb + 1

    @property
    def edge_limb(self) -> Ints:
        """(m,) of each edge, -1 for none."""
        return self.rod.edge_limb

    @cached_property
    def _element(self) -> Elements:
        return elements(self.rod)

    def part(self, passive: SpaceElements, time: float, pulse: Floats) -> SpaceElements:
        """Elements as actuated at a time: moduli, and natural curvature in the plane.

        Parameters
        ----------
        passive : the rod lifted, no limb actuated
        pulse : (limbs,) s, when each was last switched on; inf if never
        """
        own = self._element
        ones = np.ones(self.count + 1 + len(own.joint_half))
        actuated = Actuated(ones, ones.copy())
        actuate(time, pulse, self.actuator.law, actuated)
        join(own, actuated)
        stiffer = actuated.modulus[own.bend_limb]
        natural = passive.curvature.copy()
        natural[:, 1] = own.curvature * actuated.curvature[own.bend_limb]
        return passive._replace(
            stretching=passive.stretching * actuated.modulus[own.edge_limb],
            bending=passive.bending * stiffer[:, None],
            twisting=passive.twisting * stiffer,
            curvature=natural,
        )


@dataclass(frozen=True, eq=False)
class DrawnLimbs:
    """What drives a rod that is drawn in space.

    Attributes
    ----------
    edge_limb, bend_limb : (m,), (b,) of each, -1 for none; a limb that is on unbends
        about both axes of its section, and keeps the twist that it is built with
    """

    edge_limb: Ints
    bend_limb: Ints
    actuator: Actuator = field(default_factory=Actuator)

    @property
    def count(self) -> int:
        """Limbs."""
        return int(self.edge_limb.max()) + 1

    def part(self, passive: SpaceElements, time: float, pulse: Floats) -> SpaceElements:
        """As `SpaceLimbs.part`."""
        ones = np.ones(self.count + 1)
        actuated = Actuated(ones, ones.copy())
        actuate(time, pulse, self.actuator.law, actuated)
        stiffer = actuated.modulus[self.bend_limb]
        natural = passive.curvature.copy()
        natural[:, :2] *= actuated.curvature[self.bend_limb][:, None]
        return passive._replace(
            stretching=passive.stretching * actuated.modulus[self.edge_limb],
            bending=passive.bending * stiffer[:, None],
            twisting=passive.twisting * stiffer,
            curvature=natural,
        )
