"""What a measured motion in space may tell, and worlds with other values of it."""

from collections.abc import Mapping
from dataclasses import replace

from sim.choice import Choice
from sim.rod.moving.space_world import SpaceWorld


class SpaceParameter(Choice):
    """What may be fitted, each as a multiple of what a world has."""

    MODULUS = "modulus"  # of stretching, bending and twisting together
    BETA = "beta"
    ALPHA = "alpha"
    DENSITY = "density"
    GRAVITY = "gravity"
    TENSION = "tension"  # of all tendons
    FRICTION = "friction"  # of contact with a plane

    @property
    def positive(self) -> bool:
        """Whether it makes sense above zero only."""
        return True


def scaled(world: SpaceWorld, times: Mapping[SpaceParameter, float]) -> SpaceWorld:
    """The world with some parameters so many times what they are."""
    by = {one: times.get(one, 1.0) for one in SpaceParameter}
    stiff, dense, pull, tight, rough = (
        by[SpaceParameter(name)]
        for name in ("modulus", "density", "gravity", "tension", "friction")
    )
    rod, damping, touching = world.rod, world.damping, world.touching
    rod = replace(
        rod, stretching=stiff * rod.stretching, bending=stiff * rod.bending,
        twisting=stiff * rod.twisting, mass=dense * rod.mass,
        inertia=dense * rod.inertia,
    )  # fmt: skip
    alpha = by[SpaceParameter.ALPHA] * damping.alpha
    damping = replace(damping, alpha=alpha, beta=by[SpaceParameter.BETA] * damping.beta)
    if touching is not None:
        touching = replace(touching, friction=rough * touching.friction)
    x, y, z = world.gravity
    return replace(
        world, rod=rod, gravity=(pull * x, pull * y, pull * z), damping=damping,
        touching=touching,
        tendons=tuple(replace(t, tension=tight * t.tension) for t in world.tendons),
    )  # fmt: skip
