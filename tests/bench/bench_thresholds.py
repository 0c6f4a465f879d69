"""What each threshold of picking and labelling decides: halved, doubled, counted.

`python -m tests.bench.bench_thresholds spheres|labels` prints a row a field:
for half and for twice its value, missed balls (caps of 12 % or more), false picks and
error over the Cramer-Rao bound on synthetic scenes, or wrong and missing labels of
synthetic mechanisms. The thresholds of the biweight are compiled in and not varied.
"""

import argparse
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import fields
from typing import Any

import numpy as np

from analysis.labels import thresholds as labelling
from analysis.labels.assign_labels import label_spheres
from analysis.labels.scoring import LabelOptions
from analysis.spheres import thresholds as picking
from analysis.spheres.detections import PickOptions
from analysis.spheres.find import find_spheres
from tests.analysis.mechanisms import nearby_state, random_mechanism, scanned
from tests.analysis.spheres.scenes import Scanner, VirtualScan, scan, tree
from tests.bench.bench_spheres import Score

SCENES = (
    (20, "plane", Scanner(sigma=0.05)),
    (20, "cylinder", Scanner(sigma=0.20)),
    (20, "bowl", Scanner(views=3, mixed=0.8, outliers=0.02, ripple=0.05)),
)
PICKING = ("ATTACHED", "FIT", "NORMALS", "SEARCH", "JUDGE", "VIEWS", "VIEWPOINTS")
LABELLING = ("START", "GROW", "WEIGH")


@contextmanager
def changed(thresholds: Any, name: str, factor: float) -> Iterator[float]:
    """One field times a factor, for all that hold the same object."""
    before = getattr(thresholds, name)
    value = type(before)(
        round(before * factor) if type(before) is int else before * factor
    )
    object.__setattr__(thresholds, name, value)
    try:
        yield value
    finally:
        object.__setattr__(thresholds, name, before)


def picked(scenes: list[VirtualScan], *, views: bool) -> str:
    """Missed, false, error over the bound and NEES, with view numbers or merged."""
    score = Score()
    for seen in scenes:
        view = seen.view if views else None
        picks = find_spheres(seen.points, PickOptions(radius_mm=6.0), view)
        if not picks.spheres:
            return "a scene without any sphere"
        score.add(seen, picks, 0.0)
    large = np.array(score.caps) >= 0.12
    missed = int((~np.array(score.hits))[large].sum())
    return (
        f"{missed} of {large.sum()} missed, {score.false} false, "
        f"{score.ratio():.2f}, {score.nees():.2f}"
    )


def labelled(trials: int, seed: int) -> str:
    """Wrong labels and spheres without one; every other state is nearly predicted."""
    wrong = without = present = 0
    for k in range(trials):
        rng = np.random.default_rng([seed, k])
        mechanism, printed = random_mechanism(20, rng)
        if k % 2:
            printed = nearby_state(mechanism, rng, 4.0)
        seen = scanned(printed, rng, missing=2, false=2)
        labels = label_spheres(
            mechanism,
            seen.centres_mm,
            seen.covariances_mm2,
            LabelOptions(length_sd_mm=0.03),
        )
        same = seen.truth[labels.sphere[labels.labelled]] == labels.labelled
        wrong += int((~same).sum())
        present += mechanism.n - 2
        without += mechanism.n - 2 - len(labels.labelled)
    return f"{wrong} wrong, {without} of {present} without"


def vary(module: Any, groups: Sequence[str], measure: Callable[[], str]) -> None:
    """A row of a Markdown table for each field."""
    print("| field | value | half | double |\n|---|---|---|---|")
    print(f"| as it is | | {measure()} | |", flush=True)
    for group in groups:
        thresholds = getattr(module, group)
        for field in fields(thresholds):
            cells = []
            for factor in (0.5, 2.0):
                with changed(thresholds, field.name, factor):
                    try:
                        cells.append(measure())
                    except (ValueError, np.linalg.LinAlgError) as error:
                        cells.append(f"fails: {error}")
            value = getattr(thresholds, field.name)
            row = [f"{group}.{field.name}", f"{value:g}", *cells]
            print(f"| {' | '.join(row)} |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("part", choices=["spheres", "labels"])
    parser.add_argument("--seed", type=int, default=47_110_031)
    parser.add_argument("--groups", nargs="+", help="of thresholds, e.g. JUDGE")
    parser.add_argument("--views", action="store_true", help="with view numbers")
    parser.add_argument("--trials", type=int, default=20)
    args = parser.parse_args()
    if args.part == "spheres":
        rng = np.random.default_rng(args.seed)
        scenes = [scan(rng, tree(rng, n, kind), by) for n, kind, by in SCENES]
        vary(picking, args.groups or PICKING, lambda: picked(scenes, views=args.views))
    else:
        vary(
            labelling,
            args.groups or LABELLING,
            lambda: labelled(args.trials, args.seed),
        )


if __name__ == "__main__":
    main()
