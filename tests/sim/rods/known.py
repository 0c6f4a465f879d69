"""Tables of known answers beside this file, and rods that several tests use."""

import csv
from dataclasses import replace
from pathlib import Path

import numpy as np
from scipy.integrate import solve_ivp

from sim.core.arrays import Floats
from sim.rods.plane.block_factorisation import analyse, dense, empty
from sim.rods.plane.builders import Ribbon
from sim.rods.plane.contact_geometry import EdgeContact
from sim.rods.plane.elastic_energy import (
    Actuated,
    Rates,
    Strains,
    add_stiffness,
    elements,
    passive,
    unstrained,
)
from sim.rods.plane.ground import GroundPlane
from sim.rods.plane.options import StepOptions
from sim.rods.plane.rod import GRAVITY, Rod, RodMaterial, chain, ring
from sim.rods.plane.simulate import simulate
from sim.rods.plane.state import RodStep
from sim.rods.plane.world import Damping, World

ELASTIC = Rates(elastic=1.0, viscous=0.0)
DATA = Path(__file__).parent / "data"
SOFT = RodMaterial(modulus=4.0e6, density=1000.0, thickness=2.0e-3, width=2.0e-3)
THIN = RodMaterial(modulus=4.0e9, density=1000.0, thickness=2.0e-4, width=2.0e-3)


def table(name: str) -> list[dict[str, float]]:
    """The rows of a table, numbers by column."""
    with (DATA / name).open() as lines:
        rows = csv.DictReader(line for line in lines if not line.startswith("#"))
        return [{key: float(value) for key, value in row.items()} for row in rows]


def straight(length: float, n: int, material: RodMaterial) -> Rod:
    """A straight rod of n nodes along x, from the origin."""
    return chain(np.column_stack([np.linspace(0.0, length, n), np.zeros(n)]), material)


def turned_tip(load: float) -> Floats:
    """Where the tip of a cantilever rests, over L, under F L^2 / EI = load across it.

    EI theta'' = F cos theta from the tip on, in whose frame the force stays.
    """

    def slope(_: float, at: Floats) -> list[float]:
        return [at[1], load * np.cos(at[0]), np.cos(at[0]), np.sin(at[0])]

    theta, _, x, y = solve_ivp(slope, (0.0, 1.0), [0.0] * 4, rtol=1e-10).y[:, -1]
    c, s = np.cos(theta), np.sin(theta)
    return np.array([x * c + y * s, x * s - y * c])


def end_of(world: World, options: StepOptions, duration: float) -> RodStep:
    """The last step of a motion."""
    *_, last = simulate(world, options, duration, every=10**9)
    return last


def spinning(rod: Rod) -> Floats:
    """(n, 2) velocities that turn a hoop once forward in 2 pi s."""
    arm = rod.nodes - rod.nodes.mean(axis=0)
    return np.column_stack([arm[:, 1], -arm[:, 0]])


def rolled(
    n: int, options: StepOptions, beta: float, edge_contact: EdgeContact | None = None
) -> tuple[float, float]:
    """Turns of a stiff hoop that rolls for a second, and what it keeps of its spin."""
    hoop, speed = Ribbon(20.0, n), 0.5
    rod = hoop.rod
    world = World(
        rod,
        GroundPlane(),
        velocity=speed * (np.array([1.0, 0.0]) + spinning(rod) / hoop.radius),
        damping=Damping(beta=beta),
        edge_contact=edge_contact,
    )
    end = end_of(world, options, 1.0)
    turning = spinning(replace(rod, nodes=end.x))
    spin = np.sum(turning * end.v) / np.sum(turning**2)
    turns = (end.x - rod.nodes)[:, 0].mean() / hoop.perimeter
    return float(turns), float(spin * hoop.radius / speed)


def ribbon(gamma: float, radius: float, n: int) -> Rod:
    """A ring whose (EI / rho g A)^(1/3) / R is gamma."""
    t, rho = 1.0e-3, 1912.0
    modulus = 12.0 * (gamma * radius) ** 3 * rho * GRAVITY / t**2
    return ring(radius, n, RodMaterial(modulus, rho, t, 0.018))


def dense_stiffness(
    rod: Rod,
    x: Floats,
    actuated: Actuated | None = None,
    weight: Rates = ELASTIC,
    before: Strains | None = None,
) -> Floats:
    """(2n, 2n) stiffness of a step, that of the energy unless said otherwise."""
    pattern = analyse(len(x), rod.edges, rod.bends)
    matrix = empty(pattern)
    add_stiffness(
        x,
        elements(rod),
        actuated or passive(rod),
        weight,
        before or unstrained(rod),
        np.zeros(len(rod.edges)),
        pattern,
        1.0,
        matrix,
    )
    return dense(pattern, matrix)
