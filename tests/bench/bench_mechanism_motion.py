"""A double pendulum of two rods beside exudyn, by error and time of a core.

    python -m tests.bench.bench_mechanism_motion

Both rods weigh 1, are 1 long, and are let go in line at the height of the pivot. The
error is the distance of the free end from that of minimal coordinates (DOP853,
tolerance 1e-13) after 2 s, the energy what its balance leaves over. exudyn (of the
bench extra) has its rigid bodies and revolute joints in the plane, stepped by its
generalised alpha method and its trapezoidal rule of index 2. Set-up is not timed.
"""

import importlib.util
import time
from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy.integrate import solve_ivp

from sim.core.arrays import Floats
from sim.mechanism.dynamics.motion import MotionOptions, motion, start_state
from sim.mechanism.dynamics.rigid_masses import RigidMass
from tests.sim.mechanism.dynamics.moving import moving
from tests.sim.mechanism.dynamics.test_motion import double_pendulum, pendulum

DURATION = 2.0
STEPS = (100, 200, 400, 800, 1600)


def exact_end() -> Floats:
    """(2,) the free end."""
    start = [0.5 * np.pi, 0.5 * np.pi, 0.0, 0.0]
    found = solve_ivp(
        double_pendulum, (0.0, DURATION), start, method="DOP853", rtol=1e-13, atol=1e-13
    )
    a, b = found.y[:2, -1]
    return np.array([np.sin(a) + np.sin(b), -np.cos(a) - np.cos(b)])


def ours(steps: int) -> tuple[Floats, float, float]:
    """The free end, seconds of a core, and the largest error of the energy."""
    rods = [RigidMass((0, 1), 1.0), RigidMass((1, 2), 1.0)]
    mechanism = moving(pendulum(2), rods)
    options = MotionOptions(DURATION / steps)
    start = start_state(mechanism, options)
    begin = time.process_time()
    made = list(motion(mechanism, options, start, DURATION, every=steps))
    seconds = time.process_time() - begin
    return made[-1].r[2, :2], seconds, abs(made[-1].balance)


def of_exudyn(steps: int, rule: str) -> tuple[Floats, float, float]:
    """The same by exudyn."""
    import exudyn as exu
    import exudyn.itemInterface

    items = exu.itemInterface

    container = exu.SystemContainer()
    system = container.AddSystem()
    ground = system.AddObject(items.ObjectGround())
    last: Any = system.AddMarker(
        items.MarkerBodyPosition(bodyNumber=ground, localPosition=[0, 0, 0])
    )
    bodies = []
    for i in range(2):
        node = system.AddNode(
            items.NodeRigidBody2D(referenceCoordinates=[i + 0.5, 0, 0])
        )
        body = system.AddObject(
            items.ObjectRigidBody2D(
                physicsMass=1.0, physicsInertia=1.0 / 12.0, nodeNumber=node
            )
        )
        near, far = (
            system.AddMarker(
                items.MarkerBodyRigid(bodyNumber=body, localPosition=[x, 0, 0])
            )
            for x in (-0.5, 0.5)
        )
        mass = system.AddMarker(items.MarkerBodyMass(bodyNumber=body))
        system.AddLoad(
            items.LoadMassProportional(markerNumber=mass, loadVector=[0, -9.81, 0])
        )
        system.AddObject(items.ObjectJointRevolute2D(markerNumbers=[last, near]))
        last, bodies = far, [*bodies, body]
    system.Assemble()
    settings = exu.SimulationSettings()
    stepping = settings.timeIntegration
    stepping.numberOfSteps, stepping.endTime = steps, DURATION
    stepping.newton.relativeTolerance = stepping.newton.absoluteTolerance = 1e-10
    stepping.verboseMode = 0
    settings.solutionSettings.writeSolutionToFile = False
    kind = {
        "generalised alpha": exu.DynamicSolverType.GeneralizedAlpha,
        "trapezoidal, index 2": exu.DynamicSolverType.TrapezoidalIndex2,
    }[rule]
    begin = time.process_time()
    system.SolveDynamic(settings, solverType=kind)
    seconds = time.process_time() - begin
    place = exu.OutputVariableType
    r = system.GetObjectOutputBody(bodies[1], place.Position, [0.5, 0, 0])
    energy = 0.0
    for body in bodies:
        v = np.array(system.GetObjectOutputBody(body, place.Velocity, [0, 0, 0]))
        turn = system.GetObjectOutputBody(body, place.AngularVelocity, [0, 0, 0])
        height = system.GetObjectOutputBody(body, place.Position, [0, 0, 0])[1]
        energy += 0.5 * v @ v + np.square(turn).sum() / 24.0 + 9.81 * height
    return np.array(r[:2]), seconds, abs(float(energy))


def rows() -> Iterator[str]:
    """A line a run."""
    exact = exact_end()
    solvers = {"this": ours}
    if importlib.util.find_spec("exudyn"):
        for rule in ("generalised alpha", "trapezoidal, index 2"):
            solvers[f"exudyn, {rule}"] = lambda n, rule=rule: of_exudyn(n, rule)
    for name, solve in solvers.items():
        solve(STEPS[0])  # whatever is made once
        for steps in STEPS:
            end, seconds, energy = solve(steps)
            error = np.linalg.norm(end - exact)
            yield (
                f"| {name} | {steps} | {error:.1e} | {energy:.1e} | {seconds:.3f} | "
                f"{1e3 * seconds / steps:.3f} |"
            )


def main() -> int:
    print("| solver | steps | error | energy | CPU s | ms a step |")
    print("|---|---|---|---|---|---|")
    for row in rows():
        print(row, flush=True)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
