"""Verdicts where neighbouring points share errors, and their covariance is learnt.

Run by hand:
python -m tests.bench.bench_verdicts_shared_errors [MECHANISMS] [PRINTS_OF_EACH] [SEED]

No rays are cast: heights of patches on balls in six views are drawn from components of
variance whose sizes every mechanism draws anew, a covariance is learnt from them as
picking does, and centres of many prints are drawn from the true one.
"""

import sys
import time

import numpy as np
from scipy.linalg import block_diag

from analysis.labels.mechanism import Mechanism
from analysis.spheres.cells import even_directions
from analysis.spheres.components import Components, learnt
from analysis.spheres.patches import Patches
from analysis.validation.comparison import Verdict
from sim.arrays import Floats
from tests.analysis.mechanisms import random_mechanism
from tests.analysis.validation.virtual_prints import (
    judge,
    lengthen_link,
    print_and_scan,
)

NODES, RADIUS, VIEWS = 12, 6.0, 6
NOISE_MM, POINTS = 0.05, 10.0  # of a point, and points a patch
LARGEST_MM = 0.04  # sd of a component
SHARED = 9  # components that are drawn, after the noise: of patches, views and balls
STEEPEST = 0.35  # cosine


def patches_on(nodes_mm: Floats, rng: np.random.Generator) -> Patches:
    """What six views from above see of balls at the nodes (n, 3); each hides some."""
    angle = 2 * np.pi * (np.arange(VIEWS) + rng.uniform(-0.2, 0.2, VIEWS)) / VIEWS
    up = np.radians(rng.uniform(15.0, 65.0, VIEWS))
    ways = np.stack(
        [np.cos(angle) * np.cos(up), np.sin(angle) * np.cos(up), np.sin(up)], axis=1
    )
    u = even_directions(100)
    seen = (u @ ways.T > STEEPEST)[None] & (rng.random((len(nodes_mm), 100, 1)) > 0.1)
    shown = rng.random((len(nodes_mm), 1, VIEWS)) > 0.2
    shown[~shown.any(axis=2)[:, 0]] = True  # each is seen by some
    seen &= shown
    ball, patch, view = np.nonzero(seen)
    n, normal = len(ball), u[patch]
    return Patches(
        ball, nodes_mm[ball] + RADIUS * normal, normal, np.full(n, POINTS),
        np.zeros(n), np.full(n, NOISE_MM**2 / POINTS), np.eye(VIEWS)[view],
        normal @ ways.T, RADIUS, merged=False,
    )  # fmt: skip


def centres_of(p: Patches) -> Floats:
    """(patches, 3 n) what makes centres of heights."""
    own = [p.u[p.ball == i] for i in range(NODES)]
    return block_diag(*[u @ np.linalg.inv(u.T @ u) for u in own])


def covariances(
    mechanism: Mechanism, rng: np.random.Generator
) -> tuple[Floats, Floats] | None:
    """The true covariance of the centres and the one learnt; None where none is."""
    p = patches_on(mechanism.nodes_mm, rng)
    sizes = np.zeros(11)
    sizes[0] = 1.0
    drawn = 1 + rng.choice(SHARED - 1, 3, replace=False)
    sizes[drawn] = rng.uniform(0.0, LARGEST_MM, 3) ** 2
    true = Components(p, sizes)
    values, vectors = np.linalg.eigh(true.covariance(np.eye(len(p.ball))))
    root = vectors * np.sqrt(np.maximum(values, 0.0))
    p.height[:] = root @ rng.normal(size=len(values))
    found = learnt(p, np.empty((len(p.ball), 0)))
    J = centres_of(p)
    return None if found is None else (true.covariance(J), found.covariance(J))


def verdict(
    mechanism: Mechanism,
    initial: Floats,
    true: Floats,
    stated: Floats,
    fault: bool,
    rng: np.random.Generator,
) -> Verdict:
    """Of a print whose centres err as `true` says while `stated` is believed."""
    nodes = lengthen_link(mechanism, 0.02, rng) if fault else mechanism.nodes_mm
    errors = rng.multivariate_normal(np.zeros(len(true)), true, method="eigh")
    found = print_and_scan(mechanism, nodes, rng, errors.reshape(-1, 3))
    turn = np.kron(np.eye(NODES), found.motion.rotation)
    covariance = turn @ stated @ turn.T
    judged = judge(mechanism, initial, found.centres_mm, covariance=covariance)
    return judged.comparison.verdict


def share(found: list[list[bool]]) -> str:
    """Share of prints; 95 % by drawing mechanisms again, which their prints share.

    Parameters
    ----------
    found : (mechanisms) of each, whether its prints are called different
    """
    differ = np.array([[sum(one), len(one)] for one in found])
    drawn = np.random.default_rng(0).integers(len(found), size=(2000, len(found)))
    again = differ[drawn].sum(axis=1)
    low, high = 100 * np.quantile(again[:, 0] / again[:, 1], [0.025, 0.975])
    count, of = differ.sum(axis=0)
    return f"{100 * count / of:.1f} % ({low:.1f} to {high:.1f}), {count} of {of}"


def main(mechanisms: int, prints: int, seed: int) -> None:
    """Print the shares of verdicts, by the covariance learnt and by the true one."""
    start, refused = time.process_time(), 0
    counts: dict[tuple[str, bool], dict[int, list[bool]]] = {}
    for number in range(seed, seed + mechanisms):
        rng = np.random.default_rng([26, number])
        mechanism, initial = random_mechanism(NODES, rng)
        both = covariances(mechanism, rng)
        if both is None:
            refused += 1
            continue
        has_link = any(len(body) == 2 for body in mechanism.bodies)
        for fault, many in ((False, prints), (True, prints // 5 if has_link else 0)):
            for one in range(many):
                for name, stated in zip(("true", "learnt"), both, strict=True):
                    if name == "true" and not fault and one >= prints // 5:
                        continue
                    own = np.random.default_rng([27, number, one, fault])
                    found = verdict(mechanism, initial, both[0], stated, fault, own)
                    of_this = counts.setdefault((name, fault), {})
                    of_this.setdefault(number, []).append(found is Verdict.DIFFERS)
        if (number - seed) % 20 == 19 or number == seed + mechanisms - 1:
            for (name, fault), found_so in counts.items():
                kind = "2 % longer link" if fault else "true simulation"
                print(f"{kind}, covariance {name}: {share(list(found_so.values()))}")
            seconds = time.process_time() - start
            print(f"{refused} without a covariance, CPU {seconds:.0f} s", flush=True)


if __name__ == "__main__":
    given = [int(text) for text in sys.argv[1:]]
    main(*[*given, *(3, 10, 0)[len(given) :]])
