"""Rods in space beside PyElastica and MuJoCo: python -m tests.bench.bench_space_peers.

Parts, each of them errors against CPU time:
  beam      a wire clamped and let go under a small weight across it: its tip, against a
            sum over modes
  helix     a helical wire clamped at its top and let go: its tip, against a fine run
  catenary  PyElastica's, its ends pinned, at a tenth of its weight: the depth at rest,
            against a limp wire with the law of stretch of each
  buckling  PyElastica's helical buckling: the envelope at rest, against that of a long
            rod (minutes: PyElastica takes the 10,500 s of its example)

MuJoCo's cable does not stretch, and is left out of the last two. Needs `make bench`.
Set OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1.
"""

import argparse
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from scipy.integrate import quad
from scipy.optimize import brentq, fsolve

from pipeline.cases.rod_in_space import Wire
from sim.core.arrays import Floats
from sim.rods.plane.options import Integrator, StepOptions
from sim.rods.space.frames import edge_tangents
from sim.rods.space.rod import SpaceRod, clamped, disc, through
from sim.rods.space.simulate import simulate_in_space
from sim.rods.space.statics import SpaceOptions, SpaceSetting, followed, settled
from sim.rods.space.system import no_loads
from sim.rods.space.world import SpaceWorld
from tests.bench.bench_rods import DENSITY, LENGTH, MODULUS, RADIUS, G, tip_by_modes

EVERY = 2.5e-3  # s, between two tips that are compared
Way = tuple[float, float, float]  # gravity, m/s^2
Run = tuple[Floats, float]  # tips (k, 3) m at multiples of EVERY, CPU s


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


# PyElastica's catenary: m, Pa, kg; it begins straight, as long as its ends are apart.
SPAN, THICK, SOFT, MASS, GRAVITY = 1.0, 0.01, 1e4, 0.2, 0.980665


def limp_depth(stretched: Callable[[float], float]) -> float:
    """How deep a limp wire hangs; `stretched` is its length over that at rest by N."""

    def over(pull: float, slope: Callable[[float, float], float]) -> float:
        def rate(s: float) -> float:
            up = MASS * GRAVITY * (0.5 - s)
            size = float(np.hypot(pull, up))
            return stretched(size) * slope(pull, up) / size

        return float(quad(rate, 0.0, 0.5)[0])

    pull = brentq(lambda f: 2.0 * over(f, lambda a, _: a) - SPAN, 1e-3, 2.0)
    return SPAN * over(pull, lambda _, up: up)


def _hung(edges: int) -> tuple[SpaceRod, Wire]:
    x = SPAN * np.arange(edges + 1) / edges
    wire = Wire(THICK, SOFT, MASS / (np.pi * THICK**2 * SPAN), 0.5)
    rod = wire.through(np.column_stack([x, 0 * x, 0 * x]))
    rod.held[[0, -1]] = True
    rod.held_frames[0] = True
    return rod, wire


def catenary() -> None:
    area = np.pi * THICK**2
    hooke = limp_depth(lambda n: 1.0 + n / (SOFT * area))
    other = limp_depth(lambda n: 1.0 / (1.0 - n / (SOFT * area)))
    print(f"depth of a limp wire {hooke:.6f} m, by PyElastica's law {other:.6f} m")
    for edges in (10, 20, 40, 80, 160):
        rod, _ = _hung(edges)

        def loaded(share: float, rod: SpaceRod = rod) -> SpaceSetting:
            pull = np.array([0.0, 0.0, -GRAVITY * share])
            return settled(rod, replace(no_loads(rod), gravity=pull))

        start = time.process_time()
        *_, last = followed(loaded, 1)
        cost = time.process_time() - start
        depth = -float(last.rest.state.x[:, 2].min())
        told("this", edges, 0.0, abs(depth / hooke - 1.0), cost)
    for edges in (20, 40, 80):
        depth, h, cost = _hung_by_elastica(edges)
        told("PyElastica", edges, h, abs(depth / other - 1.0), cost)


def _hung_by_elastica(edges: int) -> tuple[float, float, float]:
    """Depth after 10 s, step, CPU s; damped so that swings die out in 1 s."""
    import elastica as ea

    rod, wire = _hung(edges)
    h = elastica_step(rod, wire) / 4.0  # sections become thin
    system, peer = _peer(rod, wire, ea.Constraints, ea.Forcing, ea.Damping)
    system.dampen(peer).using(
        ea.AnalyticalLinearDamper, uniform_damping_constant=3.0, time_step=h
    )
    system.constrain(peer).using(ea.FixedConstraint, constrained_position_idx=(0, -1))
    pull = np.array([0.0, 0.0, -GRAVITY])
    system.add_forcing_to(peer).using(ea.GravityForces, acc_gravity=pull)
    system.finalize()
    _, cost = _stepped(system, peer, h, 10.0)
    return -float(peer.position_collection[2].min()), h, cost


# PyElastica's helical buckling, in its units.
LONG, ROUND, BEND, TWIST, TURNS, SLACK = 100.0, 0.35, 1.345, 0.789, 27.0, 3.0


def envelope_of(x: Floats) -> tuple[Floats, Floats]:
    """Of nodes (n, 3): places of edges from the steepest, and the envelope there.

    (cos - least cos) / (1 - least cos) of the angle to the line of the ends.
    """
    line = (x[-1] - x[0]) / np.linalg.norm(x[-1] - x[0])
    size = np.linalg.norm(np.diff(x, axis=0), axis=1)
    cosine = np.diff(x, axis=0) @ line / size
    s = np.cumsum(size) - 0.5 * size
    k = int(np.clip(np.argmin(cosine), 1, len(s) - 2))
    a, b, c = cosine[k - 1 : k + 2]
    best = s[k] + 0.5 * size[k] * (a - c) / (a - 2.0 * b + c)
    least = b - 0.125 * (a - c) ** 2 / (a - 2.0 * b + c)
    return s - best, (cosine - least) / (1.0 - least)


def decay() -> float:
    """1/m, of the envelope tanh(decay s)^2 of a long rod of these turns and slack.

    Thompson and van der Heijden: with M = m B / L and T = t B / L^2,
    slack / L = sqrt(16 (1 - m^2 / 4 t) / t), turns = m B / C + 4 acos(m / 2 sqrt t).
    """

    def off(v: Floats) -> list[float]:
        m, t = v
        short = np.sqrt(16.0 / t * (1.0 - m * m / (4.0 * t))) - SLACK / LONG
        turned = m * BEND / TWIST + 4.0 * np.arccos(m / (2.0 * np.sqrt(t)))
        return [short, (turned - 2.0 * np.pi * TURNS) / 100.0]

    m, t = fsolve(off, [95.0, 2800.0], xtol=1e-13)
    return float(np.sqrt(t - 0.25 * m * m) / LONG)


def _envelope_error(x: Floats) -> float:
    """Rms over edges."""
    s, found = envelope_of(x)
    return float(np.sqrt(np.mean((found - np.tanh(decay() * s) ** 2) ** 2)))


def _shaft(edges: int) -> SpaceRod:
    """Straight; what it would untwist by is natural, so that its clamps do not turn."""
    z = LONG / (edges - 1) * (np.arange(edges + 1) - 0.5)
    density = 1.0 / (np.pi * ROUND**2)
    rod = Wire(ROUND, 1e6, density).through(np.column_stack([0 * z, 0 * z, z]))
    natural = np.zeros_like(rod.curvature)
    natural[:, 2] = -2.0 * np.pi * TURNS / LONG
    return clamped(
        replace(
            rod, curvature=natural, bending=np.full_like(rod.bending, BEND),
            twisting=np.full_like(rod.twisting, TWIST),
        ), 0, edges - 1,
    )  # fmt: skip


def buckling() -> None:
    for edges in (50, 100, 200):
        rod = _shaft(edges)

        def slack(share: float, rod: SpaceRod = rod) -> SpaceSetting:
            moved = np.zeros_like(rod.nodes)
            moved[-2:, 2] = -SLACK * share
            return settled(rod, no_loads(rod))._replace(moved=moved)

        start = time.process_time()
        *_, last = followed(slack, 12, SpaceOptions(tolerance=1e-7))
        cost = time.process_time() - start
        told("this", edges, 0.0, _envelope_error(last.rest.state.x), cost)
    for edges in (100,):  # of 50 each twists by more than pi, and it fails
        x, cost = _buckled_by_elastica(edges)
        told("PyElastica", edges, 1e-3 * LONG / edges, _envelope_error(x), cost)


def _buckled_by_elastica(edges: int) -> tuple[Floats, float]:
    """Its example as it stands, but for the number of elements."""
    import elastica as ea

    z = LONG / edges * np.arange(edges + 1)
    wire = Wire(ROUND, 1e6, 1.0 / (np.pi * ROUND**2))
    rod = wire.through(np.column_stack([0 * z, 0 * z, z]))
    system, peer = _peer(rod, wire, ea.Constraints, ea.Damping)
    peer.shear_matrix[:] = 1e5 * np.identity(3)[:, :, None]
    peer.bend_matrix[:] = np.diag([BEND, BEND, TWIST])[:, :, None]
    h = 1e-3 * LONG / edges
    system.dampen(peer).using(
        ea.AnalyticalLinearDamper, damping_constant=0.01, time_step=h
    )
    system.constrain(peer).using(
        ea.HelicalBucklingBC, constrained_position_idx=(0, -1),
        constrained_director_idx=(0, -1), twisting_time=500, slack=SLACK,
        number_of_rotations=TURNS,
    )  # fmt: skip
    system.finalize()
    peer.velocity_collection[1, edges // 2] += 1e-6
    _, cost = _stepped(system, peer, h, 10_500.0)
    return peer.position_collection.T.copy(), cost


PARTS = {"beam": beam, "helix": helix, "catenary": catenary, "buckling": buckling}


def main() -> None:
    """Run the parts named on the command line, or all."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("parts", nargs="*", choices=[[], *PARTS], default=[])
    for part in parser.parse_args().parts or PARTS:
        print(f"\n{part}")
        PARTS[part]()


if __name__ == "__main__":
    main()
