"""What shapes a mechanism can take: samples of its configurations, ever more.

A walk starts at a configuration found before and steps along the constraints: a
direction projected as in eq. (11) of [dJ23], the way back by eq. (12). Every place it
comes to is a sample, described by numbers that no rigid motion changes:

    S       shape factor, eq. (6)
    size    largest distance between two nodes / L
    sigma   smallest singular value of the constraint Jacobian with rows of unit length:
            how far the configuration is from one where a constraint says nothing new

Directions are by turns noise (hit and run), and seeded targets: the structure at its
start, stretched by a random factor along each of three random axes, to which the walk
goes as a morph does. Walks start in cells of (S, size) from which few have started and
around which few are known, so that the samples spread over what can be reached.

Samples are an inner approximation: all of them can be reached, from the start by small
steps and within ranges and volumes, and there may be more. Sample k depends on the
seed and on the samples before it alone: more samples are the same ones, and others.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sim.core.arrays import Floats
from sim.core.options import (
    Checked,
    Choice,
    Count,
    NotConvergedError,
    Positive,
    Whole,
    within,
)
from sim.mechanism.constraint_projection import (
    admissible,
    closed,
    satisfy_constraints,
    with_multipliers,
)
from sim.mechanism.constraint_system import ConstraintSystem, linearise, system_of
from sim.mechanism.mobility import (
    counted,
    in_own_unit,
    motions_of_the_whole,
    own_unit,
    singular_values,
)
from sim.mechanism.obstacles import Obstacles
from sim.mechanism.shape_measures import (
    characteristic_length,
    diameter,
    principal_extents,
    shape_factor,
)
from sim.mechanism.structure import Structure


class ShapeCells:
    """The cells of (S, size), each with the first configuration found in it."""

    def __init__(self, cell: float) -> None:
        self.cell = cell
        self.place: dict[tuple[int, int], int] = {}
        self.states: list[Floats] = []
        self.left: list[int] = []  # walks that started there

    def add(self, S: float, size: float, z: Floats) -> None:
        place = int(np.floor(S / self.cell)), int(np.floor(size / self.cell))
        if place not in self.place:
            self.place[place] = len(self.states)
            self.states.append(z)
            self.left.append(0)

    def choose(self, rng: np.random.Generator) -> Floats:
        """A configuration of a cell with few departures and few neighbours."""
        around = [(a, b) for a in (-1, 0, 1) for b in (-1, 0, 1)]
        alone = [
            sum((i + a, j + b) not in self.place for a, b in around)
            for i, j in self.place
        ]
        weight = (0.25 + np.array(alone)) / (1.0 + np.array(self.left)) ** 2
        k = int(rng.choice(len(weight), p=weight / weight.sum()))
        self.left[k] += 1
        return self.states[k]


class Begun(NamedTuple):
    """The beginning of a walk, from which a continued search goes on.

    Cells and history only grow: those that were known then are the first of them.

    Attributes
    ----------
    sample, walks : how many there were
    left : walks that had started in each cell
    """

    sample: int
    walks: int
    left: list[int]
    found: ShapeCells
    history: list[tuple[float, ...]]

    def arrays(self, made: int) -> dict[str, NDArray[Any]]:
        """What `EnvelopeSearch.resume` goes on from, with `made` samples since then."""
        known = len(self.left)
        places = np.array(list(self.found.place)[:known], dtype=np.int64)
        return {
            "place": places.reshape(-1, 2),
            "states": np.array(self.found.states[:known]),
            "left": np.array(self.left, dtype=np.int64),
            "history": np.array(self.history[: self.sample]).reshape(-1, 4),
            "counts": np.array([self.sample, self.walks, made]),
        }


TOLERANCE = 1e-12  # residual at the end of a step, dimensionless
STILL = 1e-9  # admissible part of a direction that is none
NEAR = 0.1  # share of a step below which a target counts as reached
HALVINGS = 5  # of a step that the constraints or obstacles refuse


@dataclass(frozen=True, eq=False)
class Walker:
    """What a step along the constraints has to keep."""

    system: ConstraintSystem
    obstacles: Obstacles | None

    def direction(self, z: Floats, direction: Floats) -> Floats | None:
        """The admissible part of a direction, without motions of the whole, or None."""
        n = self.system.n
        rigid = motions_of_the_whole(linearise(self.system, z), z[:n])
        flat = direction.ravel() - rigid @ (rigid.T @ direction.ravel())
        dz = admissible(self.system, z, flat.reshape(n, 3))
        if float(np.abs(dz[:n]).max()) <= STILL * max(
            float(np.abs(direction).max()), 1e-300
        ):
            return None
        return with_multipliers(self.system, z, dz)

    def step(
        self, z: Floats, direction: Floats, farthest_move: float, *, beyond: bool = True
    ) -> Floats | None:
        """The configuration a step along `direction` comes to; None if there is none.

        Parameters
        ----------
        farthest_move : of a node
        beyond : whether a step may be longer than `direction`; if not, and its end is
            near, there is no step
        """
        n = self.system.n
        dz = self.direction(z, direction)
        if dz is None:
            return None
        share = farthest_move / float(np.abs(dz[:n]).max())
        if not beyond and share * NEAR > 1.0:
            return None
        dz *= share if beyond else min(1.0, share)
        for _ in range(HALVINGS):
            try:
                moved = satisfy_constraints(
                    self.system, z + dz, tolerance=TOLERANCE, max_iterations=12
                )
            except NotConvergedError:
                moved = None
            if moved is not None and self._allows(z, moved, 2.0 * farthest_move):
                return moved
            dz = 0.5 * dz
        return None

    def _allows(self, before: Floats, after: Floats, farthest: float) -> bool:
        """Whether a step is short, passes nothing and keeps to its ranges."""
        n = self.system.n
        if float(np.abs(after[:n] - before[:n]).max()) > farthest:
            return False
        if self.obstacles is None:
            return True
        free = self.obstacles.smallest_clearance(after) > 0.0
        return free and self.obstacles.allows(before[:n], after[:n])


LARGEST = 1200  # rows of a Jacobian whose singular values are taken
HELD = 1e-10  # residual that no sample may have
WIDEST, NARROWEST = 1.6, 0.3  # stretch of a target
NARROWEST_CELL = 1e-6  # a cell for each sample, and for rounding
RECENT = 100  # samples in which new cells are counted
FRUITLESS = 200  # walks without a step before the search is given up


class EnvelopeStop(Choice):
    """Why the search ended."""

    SAMPLES = "samples"  # as many as asked for
    RIGID = "rigid"  # the structure only moves as a whole


@dataclass(frozen=True)
class EnvelopeOptions(Checked):
    """How to search.

    Attributes
    ----------
    samples : configurations to find, the start among them
    seed : of all draws
    stride : largest move of a node in a step, in L
    walk : steps of a walk
    cell : width of a cell in S and in size
    """

    samples: Count = 2000
    seed: Whole = 0
    stride: Positive = 0.1
    walk: Count = 8
    cell: Annotated[
        Positive, within(NARROWEST_CELL, np.inf, f"{NARROWEST_CELL:g} or more")
    ] = 0.02


class Reached(NamedTuple):
    """A configuration that can be reached.

    Attributes
    ----------
    r : (n, 3) in the structure's unit
    z : (n + k, 3) state in its own unit
    box : (3,) extents along the principal axes / L, the largest first
    cells : cells of (S, size) known so far
    new : of these, those found in the last 100 samples
    least, most : (3,) of S, size and sigma, so far
    begun : the walk that came here
    """

    sample: int
    r: Floats
    z: Floats
    S: float
    size: float
    sigma: float
    box: Floats
    cells: int
    new: int
    least: Floats
    most: Floats
    residual: float
    stop: EnvelopeStop | None
    begun: Begun

    def checkpoint(self) -> dict[str, NDArray[Any]]:
        """What later samples depend on: where the walk began, and how far it is."""
        return self.begun.arrays(self.sample + 1 - self.begun.sample)


class EnvelopeSearch:
    """The search through one structure; it goes on where it was."""

    def __init__(self, structure: Structure, options: EnvelopeOptions) -> None:
        self.options, self.unit = options, own_unit(structure)
        self.structure = in_own_unit(structure)
        self.system: ConstraintSystem = system_of(self.structure)
        if self.system.m > LARGEST:
            raise ValueError(
                f"the structure has {self.system.m} constraints, but at most {LARGEST} "
                "are supported: use fewer nodes"
            )
        self.L = characteristic_length(self.structure.r0)
        if self.L == 0.0:
            raise ValueError("all nodes coincide: move one of them")
        self.z0 = closed(self.system, self.structure, TOLERANCE)
        self.obstacles = None
        if len(self.structure.solids) or len(self.structure.ranges):
            self.obstacles = Obstacles.of(self.structure)
            self.obstacles.check(self.z0)
        self.walker = Walker(self.system, self.obstacles)
        self.rank = self._rank()
        self.found = ShapeCells(options.cell)
        self.sample = self.walks = 0
        self.history: list[tuple[float, ...]] = []
        self.least, self.most = np.full(3, np.inf), np.full(3, -np.inf)
        self.repeated = 0  # samples of a walk that a continued search makes again
        self._mark()

    def _rank(self) -> int:
        """Rows that count, at a generic configuration near the start."""
        rng = np.random.default_rng(self.options.seed)
        near = self.z0
        noise = rng.normal(size=(self.system.n, 3))
        moved = self.walker.step(near, noise, 0.02 * self.L)
        states = [near] if moved is None else [near, moved]
        return max(counted(singular_values(linearise(self.system, z))) for z in states)

    def steps(self) -> Iterator[Reached]:
        """Yield the start, then configurations as walks come to them."""
        if self.sample == 0:
            stop = EnvelopeStop.RIGID if self.is_rigid else self._stop()
            yield self._reached(self.z0, stop)
            if stop is not None:
                return
        fruitless = 0
        while self.sample < self.options.samples:
            self._mark()
            fruitless += 1
            for z in self._walk():
                fruitless = 0
                reached = self._reached(z, self._stop())
                if self.repeated > 0:
                    self.repeated -= 1
                else:
                    yield reached
                if self.sample == self.options.samples:
                    break
            if fruitless == FRUITLESS:
                raise NotConvergedError(
                    f"{FRUITLESS} random directions in a row allow no step: motions "
                    "may exist to first order only (see `morphtrack mobility`), or "
                    "obstacles block them; choose a smaller stride",
                    best=self.z0,
                )

    def _stop(self) -> EnvelopeStop | None:
        """Whether the next sample is the last."""
        last = self.sample == self.options.samples - 1
        return EnvelopeStop.SAMPLES if last else None

    @property
    def is_rigid(self) -> bool:
        """Whether nothing but motions of the whole is admissible at the start."""
        rng = np.random.default_rng(self.options.seed)
        return all(
            self.walker.direction(self.z0, rng.normal(size=(self.system.n, 3))) is None
            for _ in range(3)
        )

    def _reached(self, z: Floats, stop: EnvelopeStop | None) -> Reached:
        linear = linearise(self.system, z)
        if not linear.residual <= HELD:
            raise NotConvergedError(
                f"sample {self.sample} violates a constraint by {linear.residual:.1e}: "
                "choose a smaller stride",
                best=z,
            )
        r = z[: self.system.n]
        S, size = shape_factor(r, self.L), diameter(r) / self.L
        sizes = singular_values(linear)
        sigma = float(sizes[self.rank - 1]) if self.rank else 1.0
        self.found.add(S, size, z)
        cells = len(self.found.place)
        self._remember(np.array([S, size, sigma]), cells)
        before = self.history[-RECENT - 1][3] if len(self.history) > RECENT else 0.0
        sample, self.sample = self.sample, self.sample + 1
        return Reached(
            sample, self.unit * r, z, S, size, sigma, principal_extents(r) / self.L,
            cells, cells - int(before), self.least, self.most, linear.residual, stop,
            self._begun,
        )  # fmt: skip

    def _remember(self, shape: Floats, cells: int) -> None:
        """S, size and sigma of a sample, and the cells known with it."""
        self.history.append((*shape.tolist(), float(cells)))
        self.least, self.most = (
            np.minimum(self.least, shape),
            np.maximum(self.most, shape),
        )

    def _walk(self) -> Iterator[Floats]:
        """A walk of its own draws, so that a continued search makes the same ones."""
        self.walks += 1
        rng = np.random.default_rng([self.options.seed, self.walks])
        z = self.found.choose(rng)
        kind = self.walks % 3
        noise = rng.normal(size=(self.system.n, 3))
        target = _stretched(self.z0[: self.system.n], rng, alike=kind == 1)
        farthest_move = self.options.stride * self.L
        for _ in range(self.options.walk):
            far = float(rng.uniform(0.2, 1.0)) * farthest_move
            direction = noise if kind == 0 else target - z[: self.system.n]
            moved = self.walker.step(z, direction, far, beyond=kind == 0)
            if moved is None:
                return
            z = moved
            yield z

    def _mark(self) -> None:
        """A walk begins."""
        self._begun = Begun(
            self.sample, self.walks, list(self.found.left), self.found, self.history
        )

    def resume(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Go on from a checkpoint."""
        for k, (i, j) in enumerate(arrays["place"].tolist()):
            self.found.place[(i, j)] = k
        self.found.states = list(arrays["states"])
        self.found.left = arrays["left"].tolist()
        for row in arrays["history"]:
            self._remember(row[:3], int(row[3]))
        self.sample, self.walks, self.repeated = arrays["counts"].tolist()
        if self.sample == 0:  # the start is no walk: it was yielded
            self._reached(self.z0, None)
            self.repeated = 0


def _stretched(r: Floats, rng: np.random.Generator, *, alike: bool) -> Floats:
    """The nodes stretched along three random axes, by one factor if `alike`."""
    axes, _ = np.linalg.qr(rng.normal(size=(3, 3)))
    low, high = np.log(NARROWEST), np.log(WIDEST)
    factor = np.exp(rng.uniform(low, high, size=3))
    if alike:
        factor[:] = factor[0]
    d = r - r.mean(axis=0)
    return np.asarray(r.mean(axis=0) + d @ axes @ np.diag(factor) @ axes.T)
