"""What a rod file describes in space, and how its overlaps are told in its names."""

from collections.abc import Callable
from dataclasses import dataclass

from pipeline.formats.rod_pieces import shown
from pipeline.formats.rod_places import RodMarkers
from sim.arrays import Floats, Ints
from sim.rod.actuation.actuation import Pulses
from sim.rod.moving.beside import body_of
from sim.rod.moving.bodies import Body, HeightField
from sim.rod.moving.touching import LevelGround, OverlapError, Touching
from sim.rod.moving.turning_clamps import TurningClamps
from sim.rod.space.space_rod import SpaceRod
from sim.rod.space.tendons import Tendon
from sim.rod.stepping.surroundings import DistributedLoad, Fluid, FollowerForce
from sim.rod.stepping.world import NodeLoad


@dataclass(frozen=True, eq=False)
class SpaceRobot:
    """What a rod file describes in space, in m.

    Attributes
    ----------
    radii : (m,) half the thickness of each edge
    rods : (m,) of the file, of each edge
    force : (n, 3) N, all the time
    markers : points that are recorded
    tendons, pulling : cables, and shares of their tensions by time
    unit, metres : of the file, and how long it is
    bodies : besides a ground
    fluid : that resists
    drive : clamps that turn and move
    limbs : (m,), (b,) of edges and bends, -1 for none
    pulses : when limbs are switched on
    natural : (b, 3) natural curvature and twist by time, 1/m
    load : for a time
    distributed_loads, follower_forces : along rods, and on ends
    """

    rod: SpaceRod
    radii: Floats
    rods: Ints
    force: Floats
    ground: LevelGround | HeightField | None
    gravity: tuple[float, float, float]
    duration: float
    markers: RodMarkers
    unit: str
    metres: float
    tendons: tuple[Tendon, ...] = ()
    pulling: Callable[[float], Floats] | None = None
    bodies: tuple[Body, ...] = ()
    fluid: Fluid | None = None
    drive: TurningClamps | None = None
    limbs: tuple[Ints, Ints] | None = None
    pulses: Pulses | None = None
    natural: Callable[[float], Floats] | None = None
    load: NodeLoad | None = None
    distributed_loads: tuple[DistributedLoad, ...] = ()
    follower_forces: tuple[FollowerForce, ...] = ()

    def touching(self, friction: float) -> Touching | None:
        """What rods touch; nothing where there is neither a ground nor a body."""
        field = (self.ground,) if isinstance(self.ground, HeightField) else ()
        bodies: tuple[Body, ...] = (*self.bodies, *field)
        level = self.ground if isinstance(self.ground, LevelGround) else None
        if level is None and not bodies:
            return None
        return Touching(self.radii, friction, level, bodies=bodies)

    def told(self, error: OverlapError) -> str:
        """What starts within what, as a file names it."""
        own, at = self.rods[error.edge], self.rod.nodes[self.rod.edges[error.edge, 0]]
        where = f"rods[{own}] starts {error.depth:.3g} m"
        body = body_of(error.other)
        if 0 <= body < len(self.bodies):
            return f"{where} within bodies[{body}], near {shown(at)} m: move them apart"
        if error.other < 0:
            return f"{where} below the ground, near {shown(at)} m: lift it"
        return (
            f"{where} within rods[{self.rods[error.other]}], near {shown(at)} m: move "
            "them apart, make them thinner, let joined ones part at 60 degrees or "
            "more, or leave the ground out, without which nothing touches"
        )
