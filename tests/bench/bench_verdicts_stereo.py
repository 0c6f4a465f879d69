"""Verdicts of whole scans of the stereo pair.

Run by hand: python -m tests.bench.bench_verdicts_stereo [SCANS] [SEED]

Each print of a random mechanism is scanned by rays, picked with views told apart and
merged, and judged; every fourth once more with a link 2 % too long. "exact" judges the
true centres by a covariance of next to nothing: no covariance of a scan finds more.
"""

import sys
import time

import numpy as np
from scipy.stats import binomtest

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
EXACT = 1e-6 * np.eye(3 * NODES)  # mm^2
Verdicts = dict[str, Verdict | None]  # None where not all balls are found


def apart(nodes_mm: Floats) -> float:
    """The least distance of two nodes."""
    gaps = np.linalg.norm(nodes_mm[:, None] - nodes_mm, axis=2)
    return float((gaps + 1e9 * np.eye(len(gaps))).min())


def verdicts(seed: int, fault: bool) -> Verdicts:
    """Of a print whose balls stand apart, by how it was picked."""
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
    found: Verdicts = {}
    for name, view in (("views", scan.view), ("merged", None)):
        picks = find_spheres(scan.points, PickOptions(radius_mm=RADIUS), view)
        found[name] = None
        if len(picks.spheres) == NODES:
            judged = judge(
                mechanism, initial, picks.centres, covariance=picks.covariance
            )
            found[name] = judged.comparison.verdict
    judged = judge(mechanism, initial, scan.centres, covariance=EXACT)
    return {**found, "exact": judged.comparison.verdict}


def share(found: list[Verdict | None]) -> str:
    """Share called different of the prints all of whose balls were found, and 95 %."""
    judged = [verdict for verdict in found if verdict is not None]
    differ = judged.count(Verdict.DIFFERS)
    low, high = binomtest(differ, len(judged)).proportion_ci() if judged else (0, 1)
    return (
        f"{100 * differ / max(len(judged), 1):.1f} % ({100 * low:.1f} to "
        f"{100 * high:.1f}), {differ} of {len(judged)}; {found.count(None)} not all "
        f"balls found, {found.count(Verdict.CANNOT_TELL)} cannot tell"
    )


def main(scans: int, seed: int) -> None:
    """Print the shares called different of true simulations and of longer links."""
    rows: dict[tuple[str, str], list[Verdict | None]] = {}
    for number in range(seed, seed + scans):
        for fault in (False, True)[: 1 + (number % 4 == 0)]:
            kind = "2 % longer link" if fault else "true simulation"
            for name, found in verdicts(number, fault).items():
                rows.setdefault((kind, name), []).append(found)
        if (number - seed) % 10 == 9 or number == seed + scans - 1:
            for (kind, name), every in sorted(rows.items()):
                print(f"{kind}, {name}: {share(every)}")
            print(f"CPU {time.process_time():.0f} s", flush=True)


if __name__ == "__main__":
    given = [int(text) for text in sys.argv[1:]]
    main(*[*given, *(3, 0)[len(given) :]])
