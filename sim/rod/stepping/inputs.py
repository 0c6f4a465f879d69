"""What the compiled loop reads of a world and of the options of its steps."""

import numpy as np

from sim.rod.contact.coulomb import ContactRule
from sim.rod.contact.ground import GroundPlane
from sim.rod.contact.touching import touch_of
from sim.rod.energy.blocks import analyse
from sim.rod.energy.elastic import elements
from sim.rod.rod.rod import Rod
from sim.rod.stepping.options import Integrator, StepOptions
from sim.rod.stepping.setting import Scheme, Setting
from sim.rod.stepping.surroundings import edge_forces
from sim.rod.stepping.world import World

LEAVING = 0.03  # of the time of a fall by the size of the rod
SHORTEST = 2.0**-14  # part of a step, on a ground, or where edges feel touch


def setting_of(world: World) -> Setting:
    """What the compiled loop reads of a world."""
    rod = world.rod
    load, window = np.zeros((len(rod.nodes), 2)), np.zeros(2)
    if world.load is not None:
        load[world.load.nodes] = world.load.force
        window[:] = world.load.start, world.load.start + world.load.duration
    return Setting(
        element=elements(rod),
        pattern=analyse(len(rod.nodes), rod.edges, rod.bends),
        held=rod.held,
        relief=(world.ground or GroundPlane()).relief,
        touch=touch_of(world.touching, world.rod, world.ground),
        law=world.actuator.law,
        gravity=np.array(world.gravity, dtype=np.float64),
        load=load,
        load_window=window,
        along=edge_forces(
            rod, world.fluid, world.distributed_loads, world.follower_forces
        ),
        alpha=float(world.damping.alpha),
        beta=float(world.damping.beta),
        mu=float(world.friction),
        rayleigh=bool(world.damping.rayleigh),
        grounded=world.ground is not None,
    )


def scheme_of(options: StepOptions, world: World, *, gamma: float = 0.5) -> Scheme:
    """What the compiled loop reads of the options.

    On a ground steps are cut as short as contacts within their gaps ask for. Where
    edges feel touch, these are those that `PlaneTouching` allows.
    """
    rod, touching = world.rod, world.touching
    shortest = float(options.shortest)
    contact_gap, slow = options.contact_gap, leaving_time(world)
    landing = min(options.landing, contact_gap)
    if touching is not None:
        slow = 0.0
        if options.contact is not ContactRule.EXACT:
            raise ValueError("touching: contacts of edges are those of contact exact")
        landing = contact_gap = touching.gap
        shortest = min(shortest, SHORTEST)
    lands = world.ground is not None and gamma < 1.0
    conserving = options.integrator is Integrator.ENERGY_MOMENTUM and gamma < 1.0
    return Scheme(
        conserving=conserving,
        gamma=gamma,
        tolerance=float(options.tolerance),
        complementarity=float(options.complementarity),
        landing=float(landing * rod.rest_length.min()),
        contact_gap=float(contact_gap * rod.rest_length.min()),
        closing=float(options.closing) if gamma < 1.0 else 1.0,
        shortest=shortest,
        least=min(shortest, SHORTEST) if lands else shortest,
        exact=options.contact is ContactRule.EXACT,
        max_newton=int(options.max_newton),
        reuse=float(options.reuse),
        residual=float(options.residual),
        stiffness=stiffness_bound(rod),
        heaviest=float(rod.mass.max()),
        strain=float(options.strain),
        balance=float(options.balance),
        length=max(float(options.h), slow),
        reversals=bool(options.locate_reversals) and gamma < 1.0,
    )


def leaving_time(world: World) -> float:
    """Part of the time of a fall by its size, or of a flight as far, s.

    A node in the ground leaves it slowly, however short the steps: what an impact
    pushes on it while it leaves would give energy.
    """
    size = float(np.ptp(world.rod.nodes, axis=0).max())
    square = size * float(np.linalg.norm(world.gravity))
    if world.velocity is not None:
        square += float(np.square(world.velocity).sum(axis=1).max())
    return LEAVING * size / float(np.sqrt(square)) if square > 0.0 else 0.0


def pairs_of(world: World) -> int:
    """How many contacts of edges there is space for."""
    return 0 if world.touching is None else 2 * len(world.rod.nodes)


def stiffness_bound(rod: Rod) -> float:
    """No eigenvalue of a rod's stiffness at rest is larger, N/m.

    (1, -1) of an edge has 2 EA / l0, (1, -2, 1) of a bend 6 EI / dl^3; a node is part
    of as many of them as its edges and bends.
    """
    edges = np.bincount(rod.edges.ravel()).max() * 2.0
    stretching = float((rod.stretching / rod.rest_length).max())
    if len(rod.bends) == 0:
        return float(edges * stretching)
    bends = np.bincount(rod.bends.ravel()).max() * 6.0
    shortest = float(rod.rest_length.min())
    slope = (1.0 + (0.5 * rod.curvature * rod.voronoi) ** 2) ** 2  # of tan, squared
    bending = float((rod.bending / rod.voronoi * slope).max()) / shortest**2
    return float(edges * stretching + bends * bending)
