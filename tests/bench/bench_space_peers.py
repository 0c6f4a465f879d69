"""Rods in space beside PyElastica and MuJoCo: python -m tests.bench.bench_space_peers.

Parts, each of them errors against CPU time:
  beam      a wire clamped and let go under a small weight across it: its tip, against a
            sum over modes
  helix     a helical wire clamped at its top and let go: its tip, against a fine run

Needs `make bench`.
Set OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1.
"""

import argparse
import time
from typing import Any

import numpy as np

from pipeline.cases.rod_in_space import Wire
from sim.core.arrays import Floats
from sim.rods.plane.options import Integrator, StepOptions
from sim.rods.space.frames import edge_tangents
from sim.rods.space.rod import SpaceRod, clamped, disc, through
from sim.rods.space.simulate import simulate_in_space
from sim.rods.space.world import SpaceWorld

LENGTH, RADIUS, MODULUS, DENSITY, G = 0.1, 1e-3, 4.0e6, 1000.0, 0.1  # of the beam
EVERY = 2.5e-3  # s, between two tips that are compared
Way = tuple[float, float, float]  # gravity, m/s^2
Run = tuple[Floats, float]  # tips (k, 3) m at multiples of EVERY, CPU s


def tip_by_modes(t: Floats) -> Floats:
    """Drop of the tip of a beam under sudden gravity: a sum over eight modes."""
    area, inertia = np.pi * RADIUS**2, 0.25 * np.pi * RADIUS**4
    unit = np.sqrt(MODULUS * inertia / (DENSITY * area * LENGTH**4))
    x = np.linspace(0.0, 1.0, 20_001)
    drop = np.zeros_like(t)
    roots = [1.875104069, 4.694091133, 7.854757438, 10.99554073, 14.13716839]
    roots += [(k - 0.5) * np.pi for k in range(6, 9)]
    for b in roots:
        s = (np.cosh(b) + np.cos(b)) / (np.sinh(b) + np.sin(b))
        phi = np.cosh(b * x) - np.cos(b * x) - s * (np.sinh(b * x) - np.sin(b * x))
        share = np.trapezoid(phi, x) / np.trapezoid(phi**2, x)
        omega = b**2 * unit
        drop += G * share * phi[-1] / omega**2 * (1.0 - np.cos(omega * t))
    return drop


def told(name: str, edges: int, h: float, error: float, cost: float) -> None:
    """A row."""
    print(
        f"{name:11s} {edges:4d} edges  h {h:8.2e} s  error {error:9.2e}  "
        f"{cost:9.3f} CPU s",
        flush=True,
    )


def ours(rod: SpaceRod, gravity: Way, h: float, end: float) -> Run:
    """A motion by this package."""
    world, rule = SpaceWorld(rod, gravity), Integrator.ENERGY_MOMENTUM
    start = time.process_time()
    every = max(1, round(EVERY / h))
    tips = [
        step.x[-1]
        for step in simulate_in_space(world, StepOptions(h, rule), end, every=every)
    ]
    return np.array(tips), time.process_time() - start


def _warm(rod: SpaceRod, wire: Wire, gravity: Way) -> None:
    """Compile, out of the times."""
    ours(rod, gravity, EVERY, 2.0 * EVERY)
    elastica(rod, wire, gravity, 2.0 * EVERY)


def _peer(rod: SpaceRod, wire: Wire, *mixed: Any) -> tuple[Any, Any]:
    """PyElastica's system with a rod through the same nodes, and that rod."""
    import elastica as ea

    t = edge_tangents(rod.nodes, rod.edges)
    frames = np.stack([rod.directors, np.cross(t, rod.directors), t])
    system = type("System", (ea.BaseSystemCollection, *mixed), {})()
    peer = ea.CosseratRod.straight_rod(
        len(rod.edges), rod.nodes[0], t[0], rod.directors[0], rod.length, wire.radius,
        wire.density, youngs_modulus=wire.modulus, shear_modulus=wire.material.shear,
        position=np.ascontiguousarray(rod.nodes.T),
        directors=np.ascontiguousarray(frames.transpose(0, 2, 1)),
    )  # fmt: skip
    peer.rest_kappa[:] = peer.kappa
    system.append(peer)
    return system, peer


def whole(h: float) -> float:
    """The longest step of which `EVERY` is a multiple, and at most 0.9 h."""
    return EVERY / np.ceil(EVERY / (0.9 * h))


def elastica_step(rod: SpaceRod, wire: Wire) -> float:
    """Its longest, s: sections rock against shear and bending."""
    shear = 4.0 * wire.material.shear / wire.radius**2
    bent = 4.0 * wire.modulus / rod.rest_length.min() ** 2
    return whole(2.0 / np.sqrt((shear + bent) / wire.density))


def elastica(rod: SpaceRod, wire: Wire, gravity: Way, end: float) -> Run:
    """The same motion by PyElastica's position Verlet; its first edge is held."""
    import elastica as ea

    h = elastica_step(rod, wire)
    system, peer = _peer(rod, wire, ea.Constraints, ea.Forcing)
    system.constrain(peer).using(
        ea.FixedConstraint,
        constrained_position_idx=(0, 1),
        constrained_director_idx=(0,),
    )
    system.add_forcing_to(peer).using(ea.GravityForces, acc_gravity=np.array(gravity))
    system.finalize()
    return _stepped(system, peer, h, end)


def _stepped(system: Any, peer: Any, h: float, end: float) -> Run:
    import elastica as ea

    stepper, now = ea.PositionVerlet(), np.float64(0.0)
    every, tips = max(1, round(EVERY / h)), [peer.position_collection[:, -1].copy()]
    start = time.process_time()
    for k in range(round(end / h)):
        now = stepper.step(system, now, np.float64(h))
        if (k + 1) % every == 0:
            tips.append(peer.position_collection[:, -1].copy())
    return np.array(tips), time.process_time() - start


CABLE = """
<mujoco>
  <extension><plugin plugin="mujoco.elasticity.cable"/></extension>
  <option timestep="{h}" gravity="{gravity}" integrator="Euler">
    <flag contact="disable"/>
  </option>
  <worldbody>
    <composite type="cable" vertex="{vertex}" initial="none">
      <plugin plugin="mujoco.elasticity.cable">
        <config key="bend" value="{bend}"/><config key="twist" value="{twist}"/>
      </plugin>
      <joint kind="main" damping="0"/>
      <geom type="cylinder" size="{radius}" density="{density}"/>
    </composite>
  </worldbody>
</mujoco>"""


def mujoco_step(rod: SpaceRod, wire: Wire) -> float:
    """Its longest, s: edges swing about each other, and turn."""
    size, speed = rod.rest_length.min(), np.sqrt(wire.modulus / wire.density)
    swing = 0.5 * wire.radius * speed * 4.0 / size**2
    turn = 2.0 * np.sqrt(wire.material.shear / wire.density) / size
    return whole(2.0 / max(swing, turn))


def mujoco(rod: SpaceRod, wire: Wire, gravity: Way, end: float) -> Run:
    """The same motion as MuJoCo's cable: rigid cylinders on ball joints."""
    import mujoco as mj

    h = mujoco_step(rod, wire)

    filled = CABLE.format(
        h=h, gravity=" ".join(map(str, gravity)), bend=wire.modulus,
        twist=wire.material.shear, radius=wire.radius, density=wire.density,
        vertex=" ".join(f"{v:.17g}" for v in rod.nodes.ravel()),
    )  # fmt: skip
    model = mj.MjModel.from_xml_string(filled)
    data = mj.MjData(model)
    along = np.array([float(rod.rest_length[-1]), 0.0, 0.0])

    def tip() -> Floats:
        return np.asarray(data.xpos[-1] + data.xmat[-1].reshape(3, 3) @ along)

    mj.mj_forward(model, data)
    every, tips = max(1, round(EVERY / h)), [tip()]
    start = time.process_time()
    for k in range(round(end / h)):
        mj.mj_step(model, data)
        if (k + 1) % every == 0:
            mj.mj_kinematics(model, data)
            tips.append(tip())
    return np.array(tips), time.process_time() - start


def _off(tips: Floats, exact: Floats) -> float:
    """Rms of the distance over the rms of the exact way."""
    way = np.sum((exact - exact[0]) ** 2, axis=1).mean()
    off = np.sum((tips - exact) ** 2, axis=1).mean()
    return float(np.sqrt(off / way))


# --- parts --------------------------------------------------------------------------


def _straight(edges: int) -> tuple[SpaceRod, Wire]:
    """Its clamp is in the middle of its first edge."""
    wire = Wire(RADIUS, MODULUS, DENSITY)
    x = LENGTH / (edges - 0.5) * (np.arange(edges + 1) - 0.5)
    return clamped(wire.through(np.column_stack([x, 0 * x, 0 * x])), 0), wire


def beam() -> None:
    end, gravity = 1.0, (0.0, 0.6 * G, -0.8 * G)
    t = EVERY * np.arange(round(end / EVERY) + 1)
    _warm(*_straight(20), gravity)
    exact = tip_by_modes(t)[:, None] * np.array(gravity[1:]) / G
    for edges, hs in ((20, (5e-3, 2.5e-3)), (40, (2.5e-3, 1.25e-3)), (83, (1.25e-3,))):
        rod, _ = _straight(edges)
        for h in hs:
            tips, cost = ours(rod, gravity, h, end)
            told(
                "this",
                edges,
                h,
                _off(tips[:, 1:], exact[:: max(1, round(h / EVERY))]),
                cost,
            )
    for edges in (20, 40, 83):
        tips, cost = elastica(*_straight(edges), gravity, end)
        h = elastica_step(*_straight(edges))
        told("PyElastica", edges, h, _off(tips[:, 1:], exact), cost)
    for edges in (20, 40):
        tips, cost = mujoco(*_straight(edges), gravity, end)
        h = mujoco_step(*_straight(edges))
        told("MuJoCo", edges, h, _off(tips[:, 1:], exact), cost)


def _helical(edges: int) -> tuple[SpaceRod, Wire]:
    """Two turns of 50 mm radius, 0.6 m of wire; its tip is free, its axis along x."""
    wire, radius, turns, length = Wire(1e-3, 1e8), 0.04, 2.0, 0.6
    rise = np.sqrt(length**2 - (2.0 * np.pi * turns * radius) ** 2)
    s = (np.arange(edges + 1) - 0.5) / (edges - 0.5)
    angle = 2.0 * np.pi * turns * s
    x = np.column_stack([rise * s, radius * np.cos(angle), radius * np.sin(angle)])
    rod = through(x, wire.material, disc(wire.radius), first=(1.0, 0.0, 0.0))
    return clamped(rod, 0), wire


def helix() -> None:
    end, gravity = 0.5, (0.0, 0.0, -9.81)
    _warm(*_helical(20), gravity)
    exact, cost = ours(_helical(320)[0], gravity, 6.25e-4, end)
    told("this", 320, 6.25e-4, 0.0, cost)
    for edges, h in ((20, 2.5e-3), (40, 2.5e-3), (80, 2.5e-3), (160, 1.25e-3)):
        tips, cost = ours(_helical(edges)[0], gravity, h, end)
        told("this", edges, h, _off(tips, exact), cost)
    for edges in (20, 40, 80, 160):
        tips, cost = elastica(*_helical(edges), gravity, end)
        h = elastica_step(*_helical(edges))
        told("PyElastica", edges, h, _off(tips, exact), cost)
    for edges in (20, 40, 80):
        tips, cost = mujoco(*_helical(edges), gravity, end)
        told("MuJoCo", edges, mujoco_step(*_helical(edges)), _off(tips, exact), cost)


PARTS = {"beam": beam, "helix": helix}


def main() -> None:
    """Run the parts named on the command line, or all."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("parts", nargs="*", choices=[[], *PARTS], default=[])
    for part in parser.parse_args().parts or PARTS:
        print(f"\n{part}")
        PARTS[part]()


if __name__ == "__main__":
    main()
