"""Every fault, a share of them, or one: python -m tests.faults.simulated PROJECT ..."""

import argparse
import os
import random
import sys
import time

from tests.faults.simulated.calls import WAYS, Fault
from tests.faults.simulated.projects import PAIRS, PROJECTS
from tests.faults.simulated.trials import Simulation, simulation


def arguments() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("project", choices=PROJECTS)
    words = [*WAYS, *PAIRS, "all"]
    parser.add_argument("way", nargs="?", choices=words, default="all")
    parser.add_argument("at", nargs="?", type=int, help="number of the call, or seed")
    parser.add_argument("--most", type=int, default=10**9, help="faults, at random")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--part", type=_part, default=(1, 1), metavar="K/N",
                        help="the K-th of N parts of all")  # fmt: skip
    parser.add_argument("--sql", action="store_true", help="MLflow's own SQLite")
    return parser


def _part(text: str) -> tuple[int, int]:
    """(K, N) of "K/N", 1 <= K <= N."""
    part, parts = (int(word) for word in text.split("/"))
    if not 1 <= part <= parts:
        raise ValueError(text)
    return part, parts


def _each(made: Simulation, options: argparse.Namespace) -> None:
    """Try what is asked for, and say what is wrong with it."""
    if options.way in PAIRS:
        seeds = [options.at] if options.at is not None else range(options.most)
        for seed in seeds:
            _tell(
                f'{options.project} "{options.way}" {seed}',
                made.pair(options.way, seed),
            )
        return
    ways = tuple(WAYS) if options.way == "all" else (options.way,)
    faults = [Fault(options.way, options.at)] if options.at else [*made.faults(ways)]
    part, parts = options.part
    if parts > 1:
        first, end = (len(faults) * i // parts for i in (part - 1, part))
        faults = faults[first:end]
    if len(faults) > options.most:
        faults = random.Random(options.seed).sample(faults, options.most)
    if len(faults) == 1:  # from its beginning
        _tell(made.replay(faults[0]), made.trial(faults[0]))
        return
    for fault, wrong in made.trials(faults):
        _tell(made.replay(fault), wrong)


def _tell(line: str, wrong: list[str]) -> None:
    if wrong:
        print(f"{line}: {'; '.join(wrong)}", flush=True)


def _cpu() -> float:
    return sum(os.times()[:4])


def main() -> int:
    """Try faults and say what came of them."""
    options = arguments().parse_args()
    with simulation(options.project, embedded=options.sql) as made:
        began, spent_before = time.monotonic(), _cpu()
        _each(made, options)
        spent, cpu = time.monotonic() - began, _cpu() - spent_before
        part = "part {}/{}, ".format(*options.part) if options.part[1] > 1 else ""
        print(f"{made.name}: {part}{len(made.calls)} calls, {made.tried} faults, "
              f"{made.reruns} reruns, {spent:.0f} s, {cpu:.0f} s of CPU, "
              f"found {dict(made.found)}")  # fmt: skip
    return bool(made.found)


if __name__ == "__main__":
    sys.exit(main())
