"""How rods converge in N and h: python -m tests.bench.bench_rod_convergence [PART ...].

Each line has a number at several N or h, and its errors: relative to a closed form, a
boundary value problem, or the limit of order 2 by the last two. Parts:
  star        sag at rest, and way of a cycle on the plane, in N; the way in h
  ring        height of a heavy ring of Gamma 1 and 2 at rest, in N; a damped free ring
              after two periods of its lowest mode, in N and in h
  cantilever  tip at rest under its weight, in N; tip of a damped beam that is let go, h
  wave        energy of a rod that swings without friction in a trough for 8 s, in N
              and in h
  hoop        spin that a stiff hoop keeps in 1.67 rounds, on its nodes and on its arcs,
              in N; on arcs of 100 nodes in h
  reversal    way of a block thrown up a slope, place of a rod that swings in a trough
              with friction, with reversals located and without, in h
"""

import argparse
from collections.abc import Sequence

import numpy as np

from pipeline.cases.ribbon import CantileverCase, HeavyRingCase
from pipeline.cases.rod import StarCase
from sim.rod.contact.ground import Wave
from sim.rod.contact.standing import standing
from sim.rod.gravity import GRAVITY
from sim.rod.rod.rod import RodMaterial, cantilever, moved, ring
from sim.rod.rod.star import star
from sim.rod.stepping.options import StepOptions
from sim.rod.stepping.simulate import simulate
from sim.rod.stepping.step import RodStep
from sim.rod.stepping.world import Damping, World
from tests.recorded import summary
from tests.sim.rod.known import SOFT, straight, table
from tests.sim.rod.stepping.test_arcs import rolled
from tests.sim.rod.stepping.test_reversals import in_the_trough, slid, thrown_up

STEPS = (10e-3, 5e-3, 2.5e-3, 1.25e-3, 0.625e-3)


def show(
    what: str, sizes: Sequence[float], found: Sequence[float], limit: float | None
) -> None:
    """A line of numbers, a line of their errors relative to the limit."""
    values = np.array(found)
    if limit is None:
        limit = float(values[-1] + (values[-1] - values[-2]) / 3.0)
    print(f"{what}: limit {limit:.6g}")
    for size, value in zip(sizes, values, strict=True):
        print(f"  {size:10g}   {value:12.7g}   {value / limit - 1.0:10.3%}")


def last(world: World, options: StepOptions, duration: float) -> RodStep:
    """The end of a motion."""
    *_, end = simulate(world, options, duration, every=10**9)
    return end


def of_star() -> None:
    finer, sag, way = (1, 2, 4, 8), [], []
    for k in finer:
        case = StarCase(duration=3.0, every=10**6, refinement=k)
        rod = star(case.shape.refined(k), case.material)
        sunk = rod.mass @ (rod.nodes - case.world.rod.nodes)[:, 1] / rod.mass.sum()
        sag.append(1e6 * float(sunk))
        way.append(float(summary(case)["way_over_H"]))
    nodes = [84 * k for k in finer]
    show("sag of the star at rest, um, in N", nodes, sag, None)
    show("way of a cycle over H, in N", nodes, way, None)
    sizes = (20e-3, *STEPS, 0.25e-3)
    ways = [
        float(
            summary(StarCase(duration=3.0, every=10**6, options=StepOptions(h=h)))[
                "way_over_H"
            ]
        )
        for h in sizes
    ]
    show("way of a cycle over H, in h (beside that at 2.5 ms)", sizes, ways, ways[3])


def of_ring() -> None:
    nodes = (60, 120, 240, 480)
    known = {row["gamma"]: row["height_over_R"] for row in table("heavy_ring.csv")}
    for gamma in sorted(set(known) & {0.75, 0.8, 0.9, 1.0, 1.2, 2.0}):
        found = [
            float(summary(HeavyRingCase(gamma, n))["height_over_R"]) for n in nodes
        ]
        show(f"height of a ring of Gamma {gamma:g}, in N", nodes, found, known[gamma])
    nodes, sizes = (24, 48, 96, 192), [8e-4 / 2**k for k in range(5)]
    wide = [vibrating(n, 1e-4) for n in nodes]
    show("half width of a free ring after two periods over R, in N", nodes, wide, None)
    wide = [vibrating(48, h) for h in sizes]
    show("half width of a free ring after two periods over R, in h", sizes, wide, None)


def vibrating(n: int, h: float) -> float:
    """How wide a ring is that was set off in its lowest mode, two periods later."""
    radius, material = 0.05, SOFT
    rod = ring(radius, n, material)
    arm = rod.nodes - rod.nodes.mean(axis=0)
    x, y = (arm / radius).T
    v = 0.2 * np.column_stack([x * x * x, -y * y * y])
    stiff = material.bending / (material.line_density * radius**4)
    period = 2.0 * np.pi / np.sqrt(7.2 * stiff)  # of an inextensible ring
    world = World(rod, gravity=(0.0, 0.0), damping=Damping(beta=1e-3), velocity=v)
    end = last(world, StepOptions(h=h, tolerance=1e-13), 2.0 * period).x
    return float(np.abs(end[:, 0] - end[:, 0].mean()).max() / radius)


def of_cantilever() -> None:
    nodes = (21, 42, 84, 168)
    drop = [
        float(summary(CantileverCase(weight=10.0, nodes=n))["drop_over_L"])
        for n in nodes
    ]
    known = {row["W"]: row["drop_over_L"] for row in table("cantilever_weight.csv")}
    show("drop of a heavy beam over L, W = 10, in N", nodes, drop, known.get(10.0))
    world = World(cantilever(0.1, 12, SOFT), damping=Damping(beta=2e-3))
    sizes = [2e-3 / 2**k for k in range(5)]
    tip = [
        -float(last(world, StepOptions(h=h, tolerance=1e-13), 0.096).x[-1, 1])
        for h in sizes
    ]
    show("drop of a beam let go, after 96 ms, in h", sizes, tip, None)


def kept_in_trough(n: int, h: float) -> float:
    """Share of its energy that a rod of n nodes keeps which swings in a trough, 8 s."""
    wave = Wave(start=0.15)
    rod = moved(straight(0.01, n, RodMaterial()), by=np.array([-0.005, 0.0]))
    rod = standing(rod, wave, 0.04)
    world = World(rod, wave, friction=0.0, damping=Damping(beta=0.0))
    options = StepOptions(h=h, tolerance=1e-12)
    first, *_, end = simulate(world, options, 8.0, every=10**9)
    depth = first.gravity + rod.mass.sum() * GRAVITY * wave.amplitude
    return float(1.0 + (end.energy - first.energy) / depth)


def of_wave() -> None:
    what, nodes = "energy of a rod that swings in a trough, share kept", (3, 5, 9, 17)
    kept = [kept_in_trough(n, 2.5e-3) for n in nodes]
    show(f"{what}, in N", nodes, kept, 1.0)
    show(f"{what}, in h", STEPS, [kept_in_trough(3, h) for h in STEPS], 1.0)


def of_hoop() -> None:
    nodes = (25, 50, 100, 200, 400)
    kept = [rolled(n, touching=None)[1] for n in nodes]
    show("spin of a hoop that rolls on its nodes, in N", nodes, kept, 1.0)
    kept = [rolled(n)[1] for n in nodes]
    show("spin of a hoop that rolls on its arcs, in N", nodes, kept, 1.0)
    kept = [rolled(100, h=h)[1] for h in STEPS[1:]]
    show("spin of a hoop on arcs, N = 100, in h", STEPS[1:], kept, 1.0)


def of_reversal() -> None:
    for located in (False, True):
        how = "reversals located" if located else "as by default"
        ways = [
            thrown_up(0.2, 0.5, 0.4, h=h, locate_reversals=located).mean()
            for h in STEPS
        ]
        show(f"block thrown up a slope, {how}, in h", STEPS, ways, slid(0.2, 0.5, 0.4))
        places = [in_the_trough(h=h, locate_reversals=located) for h in STEPS]
        limit = in_the_trough(h=0.3125e-3, locate_reversals=True)
        show(f"place in a trough after 1.7 s, {how}, in h", STEPS, places, limit)


PARTS = {
    "star": of_star,
    "ring": of_ring,
    "cantilever": of_cantilever,
    "wave": of_wave,
    "hoop": of_hoop,
    "reversal": of_reversal,
}


def main() -> None:
    """Run the parts named on the command line, or all."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("parts", nargs="*", choices=[[], *PARTS], default=[])
    for part in parser.parse_args().parts or PARTS:
        PARTS[part]()


if __name__ == "__main__":
    main()
