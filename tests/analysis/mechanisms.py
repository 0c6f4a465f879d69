"""Random mechanisms of links, triangles and tetrahedra, and scans of them."""

from dataclasses import dataclass
from itertools import combinations

import numpy as np
from scipy.linalg import block_diag
from scipy.spatial.transform import Rotation

from analysis.labels.rigid_distances import Mechanism
from sim.core.arrays import Floats, Ints

CLEARANCE_MM = 14.0  # balls of 12 mm must not touch
LENGTHS_MM = (18.0, 65.0)


@dataclass(frozen=True, eq=False)
class Scan:
    """Sphere centres (m, 3) with covariances, and the node (m,) each one is, or -1."""

    centres_mm: Floats
    covariances_mm2: Floats
    truth: Ints

    @property
    def covariance_mm2(self) -> Floats:
        """(3m, 3m) of all centres together."""
        return np.asarray(block_diag(*self.covariances_mm2), dtype=np.float64)


def random_bodies(n: int, rng: np.random.Generator) -> list[tuple[int, ...]]:
    """A tree of bodies with 2 to 4 nodes each, n nodes together."""
    bodies: list[tuple[int, ...]] = []
    made = 1
    while made < n:
        new = min(int(rng.choice([1, 2, 3], p=[0.4, 0.4, 0.2])), n - made)
        root = int(rng.integers(max(0, made - 12), made))
        bodies.append((root, *range(made, made + new)))
        made += new
    return bodies


def random_shape(nodes: int, rng: np.random.Generator, gap_mm: float) -> Floats:
    """A body whose edges differ by `gap_mm` or more; its first node is at 0."""
    while True:
        x = np.vstack([np.zeros(3), rng.uniform(-42.0, 42.0, (nodes - 1, 3))])
        edges = np.sort(
            [np.linalg.norm(x[i] - x[j]) for i, j in combinations(range(nodes), 2)]
        )
        if edges[0] < LENGTHS_MM[0] or edges[-1] > LENGTHS_MM[1]:
            continue
        if len(edges) == 1 or np.diff(edges).min() >= gap_mm:
            return x


def random_shapes(
    bodies: list[tuple[int, ...]], rng: np.random.Generator, gap_mm: float = 1.0
) -> list[Floats]:
    """Shapes of all bodies; those at one node differ in their edges by the gap too."""
    edges_at: dict[int, list[float]] = {}
    shapes = []
    for body in bodies:
        while True:
            x = random_shape(len(body), rng, gap_mm)
            at_root = np.linalg.norm(x[1:], axis=1)
            others = np.array(edges_at.get(body[0], [1e9]))
            if np.abs(at_root[:, None] - others).min() >= gap_mm:
                break
        edges_at.setdefault(body[0], []).extend(at_root)
        for k, node in enumerate(body[1:], start=1):
            edges_at[node] = np.linalg.norm(np.delete(x, k, 0) - x[k], axis=1).tolist()
        shapes.append(x)
    return shapes


def random_state(
    bodies: list[tuple[int, ...]], shapes: list[Floats], rng: np.random.Generator
) -> Floats:
    """One configuration (n, 3), every joint turned freely, no two balls touching."""
    n = max(max(body) for body in bodies) + 1
    while True:
        x = np.full((n, 3), np.nan)
        x[0] = 0.0
        if all(_place(x, *pair, rng) for pair in zip(bodies, shapes, strict=True)):
            return x


def _place(
    x: Floats, body: tuple[int, ...], shape: Floats, rng: np.random.Generator
) -> bool:
    placed = x[np.isfinite(x[:, 0])]
    for _ in range(200):
        new = x[body[0]] + Rotation.random(rng=rng).apply(shape[1:])
        if np.linalg.norm(placed[:, None] - new, axis=2).min() > CLEARANCE_MM:
            x[list(body[1:])] = new
            return True
    return False


def random_mechanism(n: int, rng: np.random.Generator) -> tuple[Mechanism, Floats]:
    """A mechanism as predicted, and another state of it as it may be printed."""
    bodies = random_bodies(n, rng)
    shapes = random_shapes(bodies, rng)
    predicted, printed = (random_state(bodies, shapes, rng) for _ in range(2))
    return Mechanism(predicted, tuple(bodies)), printed


def nearby_state(
    mechanism: Mechanism, rng: np.random.Generator, angle_deg: float
) -> Floats:
    """The predicted state (n, 3) with every joint turned by some `angle_deg`."""
    x = mechanism.nodes_mm.copy()
    turn = {0: Rotation.identity()}
    for body in mechanism.bodies:
        root = body[0]
        change = np.deg2rad(angle_deg) * rng.normal(0.0, 1.0, 3)
        whole = Rotation.from_rotvec(change) * turn[root]
        arms = mechanism.nodes_mm[list(body[1:])] - mechanism.nodes_mm[root]
        x[list(body[1:])] = x[root] + whole.apply(arms)
        turn |= dict.fromkeys(body[1:], whole)
    return x


def scanned(
    nodes_mm: Floats,
    rng: np.random.Generator,
    *,
    sd_mm: float = 0.03,
    missing: int = 0,
    false: int = 0,
) -> Scan:
    """Spheres in unknown pose and order, with noise, some missing, some false."""
    n = len(nodes_mm)
    kept = np.sort(rng.permutation(n)[missing:])
    wrong = rng.uniform(nodes_mm.min(axis=0), nodes_mm.max(axis=0) + 1.0, (false, 3))
    centres = np.vstack([nodes_mm[kept], wrong])
    centres = centres + rng.normal(0.0, sd_mm, centres.shape)
    order = rng.permutation(len(centres))
    centres = Rotation.random(rng=rng).apply(centres) + rng.normal(0.0, 200.0, 3)
    covariances = np.tile(sd_mm**2 * np.eye(3), (len(centres), 1, 1))
    truth = np.r_[kept, np.full(false, -1)].astype(np.int64)
    return Scan(centres[order], covariances, truth[order])
