"""Verdicts of whole scans of the stereo pair.

Run by hand: python -m tests.bench.bench_verdicts_stereo [SCANS] [SEED]

Each print of a random mechanism is scanned by rays and picked, with views told apart.
"""

import sys
import time

import numpy as np

from analysis.spheres.find import find_spheres
from analysis.spheres.picks import PickOptions
from analysis.validation.comparison import Verdict
from sim.arrays import Floats
from tests.analysis.mechanisms import random_mechanism
from tests.analysis.validation.virtual_prints import (
    UNCERTAINTY,
    judge,
    lengthen_link,
    print_and_scan,
)
from tests.helpers.stereo_scanner import Rod, Scene, StereoScanner, scanned

NODES, RADIUS = 12, 6.0
SCANNER = StereoScanner(scale_sd=UNCERTAINTY.scan_scale_sd)


def apart(nodes_mm: Floats) -> float:
    """The least distance of two nodes."""
    gaps = np.linalg.norm(nodes_mm[:, None] - nodes_mm, axis=2)
    return float((gaps + 1e9 * np.eye(len(gaps))).min())


def verdict(seed: int, fault: bool) -> Verdict | None:
    """Of a print whose balls stand apart; None where one is not found."""
    rng = np.random.default_rng([28, seed])
    mechanism, initial = random_mechanism(NODES, rng)
    while apart(mechanism.nodes_mm) < 2.5 * RADIUS or not any(
        len(body) == 2 for body in mechanism.bodies
    ):
        mechanism, initial = random_mechanism(NODES, rng)
    nodes = lengthen_link(mechanism, 0.02, rng) if fault else mechanism.nodes_mm
    true = print_and_scan(mechanism, nodes, rng, np.zeros((NODES, 3))).true_mm
    rods = [Rod(true[i], true[j], 0.4 * RADIUS) for i, j in mechanism.pairs]
    scan = scanned(Scene(true, RADIUS, rods), SCANNER, rng)
    picks = find_spheres(scan.points, PickOptions(radius_mm=RADIUS), scan.view)
    if len(picks.spheres) != NODES:
        return None
    return judge(
        mechanism, initial, picks.centres, covariance=picks.covariance
    ).comparison.verdict


def main(scans: int, seed: int) -> None:
    """Print the counts of verdicts of true simulations and of links 2 % too long."""
    for fault in (False, True):
        counts: dict[str, int] = {}
        for number in range(seed, seed + (scans // 5 if fault else scans)):
            found = verdict(number, fault)
            name = "not all balls found" if found is None else found.value
            counts[name] = counts.get(name, 0) + 1
            print("2 % longer link" if fault else "true simulation", counts, flush=True)
    print(f"CPU {time.process_time():.0f} s")


if __name__ == "__main__":
    given = [int(text) for text in sys.argv[1:]]
    main(*[*given, *(3, 0)[len(given) :]])
