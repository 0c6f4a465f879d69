"""Beams and ribbons of [Hu20], Fig. 2: at rest, and rolling down a slope."""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Annotated, ClassVar

import numpy as np

from pipeline.cases.record import Arrays, Row, State, Summary, along_axes
from pipeline.cases.rod_record import MovingRod, RestingRod, RodRecorder
from sim.core.arrays import Floats
from sim.core.options import Count, NotNegative, Positive, Requirement, counted
from sim.rods.plane.builders import Ribbon, lying_edges, polygon_loss
from sim.rods.plane.contact_geometry import EdgeContact, lowest_arc
from sim.rods.plane.ground import GroundPlane
from sim.rods.plane.markers import centroid, route_ratio
from sim.rods.plane.options import StepOptions
from sim.rods.plane.rod import GRAVITY, RodMaterial, cantilever, moved
from sim.rods.plane.state import RodStep
from sim.rods.plane.statics import solve_static
from sim.rods.plane.world import Damping, World

ALONE = 0.6  # gamma from which on the top of a ring stays off its bottom
ARCS = EdgeContact(rods=False, arcs=True, gap=1e-3)
BELOW_80 = Requirement("below 80 degrees", lambda angle: angle < 80.0)


@dataclass(frozen=True, eq=False)
class HeavyRingCase(RestingRod):
    """Fig. 2c: the shape of a ribbon at rest on a level plane without friction.

    A ring is in balance wherever it has rolled to. Its polygon on a node is a saddle,
    which would fall on an edge: the equilibrium has the symmetry of the ring.
    Below gamma 0.5605 its top comes down on its bottom, of zero thickness.

    Attributes
    ----------
    gamma : Gamma_g, bending stiffness over weight, dimensionless
    nodes : their number
    tolerance : on the balance of forces
    """

    of: ClassVar[str] = "ribbon"
    gamma: float = 1.0
    nodes: int = 480
    tolerance: Positive = 1e-9

    @cached_property
    def ribbon(self) -> Ribbon:
        return Ribbon(self.gamma, self.nodes)

    @cached_property
    def world(self) -> World:
        rod = self.ribbon.rod
        if self.gamma >= ALONE:
            return World(rod, GroundPlane(), friction=0.0)
        held = rod.held.copy()
        held[[0, self.nodes // 2], 0] = True  # where symmetry keeps them
        edge_contact = EdgeContact(ground=False)
        rod = replace(rod, held=held)
        return World(rod, GroundPlane(), friction=0.0, edge_contact=edge_contact)

    def steps(self) -> Iterator[RodStep]:
        yield solve_static(self.world, tolerance=self.tolerance, minimum=False)

    def ends(self, last: RodStep) -> Summary:
        R, n = self.ribbon.radius, self.nodes
        loaded, right = last.reaction[:, 1] > 0.0, last.x[: n // 2 + 1]
        in_contact = int(np.count_nonzero(np.roll(loaded, n // 4)[: n // 2]))
        on_ground = np.flatnonzero(loaded[: n // 4]).max(initial=0)
        on_itself = np.flatnonzero(loaded[n // 2 : n // 4 : -1]).max(initial=0)
        return {
            "gamma": self.gamma,
            "height_over_R": float(last.x[n // 2, 1] / R),
            "highest_over_R": float(np.ptp(last.x[:, 1]) / R),
            "width_over_R": float(np.ptp(last.x[:, 0]) / R),
            "contact_fraction": 2.0 * lying_edges(right, on_ground) / n,
            "contact_nodes": in_contact,
            "self_contact_fraction": 2.0 * lying_edges(right[::-1], on_itself) / n,
        }


@dataclass(frozen=True, eq=False)
class CantileverCase(RestingRod):
    """A clamped beam under W = rho A g L^3 / EI: the elastica, to check against.

    Attributes
    ----------
    weight : W, dimensionless
    nodes : their number
    length : m
    material : modulus, Pa, density, kg/m^3, thickness and width, m
    """

    of: ClassVar[str] = "cantilever"
    weight: NotNegative = 1.0
    nodes: Annotated[int, counted(4)] = 84
    length: Positive = 0.1
    material: RodMaterial = field(
        default_factory=lambda: RodMaterial(4.0e9, 1000.0, 2.0e-4, 2.0e-3)
    )

    @cached_property
    def world(self) -> World:
        m = self.material
        g = self.weight * m.bending / (m.line_density * self.length**3)
        return World(cantilever(self.length, self.nodes, m), gravity=(0.0, -g))

    def steps(self) -> Iterator[RodStep]:
        yield solve_static(self.world)

    def ends(self, last: RodStep) -> Summary:
        x, y = last.x[-1] / self.length
        return {"x_tip_over_L": float(x), "drop_over_L": float(-y)}


@dataclass(frozen=True, eq=False)
class RibbonCase(MovingRod):
    """Fig. 2a, b: a ribbon at rest is let go on a slope.

    A ribbon of nodes has corners, on which it loses spin as it rolls: `polygon_loss` of
    run.json is the part that a rigid polygon would have lost on the same way. On arcs
    there is none.

    Attributes
    ----------
    ribbon : the ring, of which only Gamma_g counts
    ratio : mu / tan(theta)
    angle : theta, degrees, down towards +x
    duration : s
    every : steps between two records
    arcs : roll on the arcs between nodes, not over the nodes
    damping : of bending and stretching
    options : time step and tolerances
    """

    of: ClassVar[str] = "ribbon"
    ribbon: Ribbon = field(default_factory=Ribbon)
    ratio: NotNegative = 1.0
    angle: Annotated[Positive, BELOW_80] = 10.0
    duration: Positive = 3.0
    every: Count = 10
    arcs: bool = False
    damping: Damping = field(default_factory=lambda: Damping(beta=1.0e-3))
    options: StepOptions = field(default_factory=lambda: StepOptions(h=1.0e-3))

    @cached_property
    def world(self) -> World:
        """The ribbon in the shape that the weight across the slope gives it."""
        theta = np.radians(self.angle)
        rod = self.ribbon.rod
        across = (0.0, -GRAVITY * float(np.cos(theta)))
        flat = World(rod, GroundPlane(), friction=0.0, gravity=across)
        settled = replace(rod, nodes=solve_static(flat, minimum=False).x)
        start = moved(settled, by=np.zeros(2), angle=-float(theta))
        ground = GroundPlane(-self.angle)
        edge_contact = ARCS if self.arcs else None
        if edge_contact is not None:
            depth = max(0.0, -lowest_arc(edge_contact, start, ground))
            start = moved(start, by=depth * np.array([np.sin(theta), np.cos(theta)]))
        return World(
            start,
            ground,
            friction=self.ratio * float(np.tan(theta)),
            damping=self.damping,
            edge_contact=edge_contact,
        )

    def recorder(self) -> "RibbonRecorder":
        return RibbonRecorder(self)

    def continued(self, state: State) -> tuple["RibbonRecorder", Iterator[RodStep]]:
        recorder = self.recorder()
        recorder.shapes += list(state["shapes"])
        return recorder, self.steps(state)

    def columns(self, step: RodStep) -> Row:
        return along_axes("{}_b", step.x[0])


class RibbonRecorder(RodRecorder):
    """Records a ribbon, and all its shapes, of which the end gives the route."""

    def __init__(self, case: RibbonCase) -> None:
        super().__init__(case)
        self.shapes: list[Floats] = []

    def see(self, step: RodStep) -> None:
        super().see(step)
        self.shapes.append(step.x)

    def state(self, step: RodStep) -> Arrays:
        state = super().state(step)
        return state | {"shapes": np.array(self.shapes)} if state else {}

    def summary(self) -> Summary:
        case, rod = self.case, self.case.world.rod
        way = centroid(self.last.x, rod.mass) - centroid(rod.nodes, rod.mass)
        travelled, ribbon = float(np.hypot(*way)), case.ribbon
        lost = polygon_loss(ribbon.nodes, travelled / ribbon.perimeter)
        return {
            **super().summary(),
            "gamma": ribbon.gamma,
            "ratio": case.ratio,
            "delta": route_ratio(self.shapes, rod.mass),
            "travelled": travelled,
            "polygon_loss": 0.0 if case.arcs else lost,
            "friction": case.world.friction,
        }
