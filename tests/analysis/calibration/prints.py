"""Mechanisms printed with known errors, and centres measured on them; all synthetic."""

from dataclasses import dataclass, replace

import numpy as np
from scipy.spatial.transform import Rotation

from analysis.calibration.as_built_fit import Pose
from analysis.calibration.as_built_unknowns import Model, Role
from sim.core.arrays import Floats
from sim.mechanism.constraint_projection import admissible, satisfy_constraints
from sim.mechanism.constraint_system import state, system_of
from sim.mechanism.structure import Structure


@dataclass(frozen=True)
class Errors:
    """Standard deviations, mm, and the relative error of the scanner's scale."""

    deviation: float = 0.2
    play: float = 0.0
    centre: float = 0.02
    scale: float = 0.0
    motion: float = 8.0


def deviations(model: Model, errors: Errors, rng: np.random.Generator) -> Floats:
    """The true deviation of every unknown."""
    theta = errors.deviation * rng.standard_normal(model.unknowns)
    if model.scale:
        theta[-1] = errors.scale
    return theta


def printed(model: Model, theta: Floats, play: Floats) -> Structure:
    """The structure in mm with deviations theta, and play (r,) of each row."""
    constant = model.constants(theta)
    for k in np.flatnonzero(play):
        c = model.constraint[k]
        if model.unit[k] == 0.0:
            constant[c] = (np.sqrt(constant[c]) + play[k]) ** 2
        else:
            constant[c] += play[k] * model.unit[k]
    table = replace(model.structure.constraints, constant=constant)
    return replace(model.structure, constraints=table)


def centre_covariance(n: int, sd: float, rng: np.random.Generator) -> Floats:
    """(3n, 3n) correlated and anisotropic, as views from few sides leave it."""
    root = rng.standard_normal((3 * n, 3 * n)) / np.sqrt(3 * n)
    return sd**2 * (0.3 * np.eye(3 * n) + 0.7 * root @ root.T)


def scanned(
    model: Model,
    theta: Floats,
    errors: Errors,
    rng: np.random.Generator,
    name: str = "pose",
) -> Pose:
    """Another pose of the printed mechanism, measured in an unknown frame."""
    play = np.zeros(len(model.row))
    roles = list(Role)
    for role in model.play:
        loose = model.role == roles.index(role)
        play[loose] = errors.play * rng.standard_normal(loose.sum())
    made = printed(model, theta, play)
    system, z = system_of(made), state(model.structure)
    dz = admissible(system, z, rng.standard_normal((system.n, 3)))
    dz *= errors.motion / np.sqrt((dz[: system.n] ** 2).sum(axis=1).mean())
    z = satisfy_constraints(system, z + dz, tolerance=1e-12)
    nodes = z[: system.n] * (1.0 + (theta[-1] if model.scale else 0.0))
    nodes = Rotation.from_quat(rng.standard_normal(4)).apply(nodes)
    nodes = nodes + rng.uniform(-100.0, 100.0, 3)
    C = centre_covariance(system.n, errors.centre, rng)
    noise = np.linalg.cholesky(C) @ rng.standard_normal(3 * system.n)
    return Pose(name, nodes + noise.reshape(-1, 3), C)


def scans(
    model: Model, errors: Errors, many: int, rng: np.random.Generator
) -> tuple[Floats, list[Pose]]:
    """True deviations, and `many` poses."""
    theta = deviations(model, errors, rng)
    poses = [scanned(model, theta, errors, rng, f"pose {i}") for i in range(many)]
    return theta, poses
