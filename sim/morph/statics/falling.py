"""The motion that lowers the energy of a rest most: which nodes, and where to."""

import numpy as np

from sim.arrays import Floats
from sim.morph.statics.potential import LoadedConfiguration, PotentialEnergy

FIRST_SHIFT, HARDER = 1e-11, 4.0  # of the stiffness
ITERATIONS = 30
MOVING = 0.3  # of the largest motion of a node, from which one is named
ALONG = 0.99  # of the size of a motion that is told to be along an axis
NAMED = 4  # nodes
SEED = 1


def falling_motion(problem: PotentialEnergy, point: LoadedConfiguration) -> Floats:
    """(n, 3) motion of the lowest curvature of the energy on the constraints, size 1.

    Inverse iteration with K, shifted until nothing of it is negative.
    """
    rho, shift = problem.weights(point.linear), FIRST_SHIFT
    factor = problem.factorise(point, rho, shift, convex=False)
    while factor.negative:
        shift *= HARDER
        factor = problem.factorise(point, rho, shift, convex=False)
    v = np.random.default_rng(SEED).normal(size=point.z.size)
    for _ in range(ITERATIONS):
        v = factor.solve(v)
        v /= np.linalg.norm(v)
    return np.asarray(v.reshape(-1, 3)[: problem.system.n])


def told_motion(v: Floats) -> str:
    """The nodes that move most, and the axis where there is one, as "nodes 1, 2 along
    z"."""
    size = np.linalg.norm(v, axis=1)
    moving = np.flatnonzero(size >= MOVING * size.max())
    named = moving[np.argsort(-size[moving], kind="stable")][:NAMED]
    more = " and others" if len(moving) > NAMED else ""
    nodes = ", ".join(str(node) for node in sorted(named.tolist()))
    axis = int(np.argmax(np.linalg.norm(v, axis=0)))
    along = np.linalg.norm(v[:, axis]) >= ALONG * np.linalg.norm(v)
    way = f" along {'xyz'[axis]}" if along else ""
    return f"node{'s' if len(named) > 1 else ''} {nodes}{more}{way}"
