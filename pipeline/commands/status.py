"""How far things are: morphtrack status [STUDY].

Without a name, what `make figures` planned last; with one, that study.
"""

from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from statistics import median

from pipeline.store.leases import is_alive, owner, running_directories
from pipeline.store.runs import RESULTS, Ledger, run_record
from pipeline.store.standing import planned_jobs_now
from pipeline.studies.members import read_members
from pipeline.terminal.arguments import OneLineParser
from pipeline.terminal.errors import InputError, command
from pipeline.terminal.words import duration

SAMPLE = 200  # finished runs whose time is looked at
COLUMNS = ("wanted", "done", "running", "failed", "missing")


def alive_keys(results: Path = RESULTS) -> set[str]:
    """Keys that some live process works on."""
    return {
        str((owner(directory) or {}).get("key"))
        for directory in running_directories(results)
        if is_alive(directory)
    }


def states_of(keys: list[str], ledger: Ledger, alive: set[str]) -> list[str]:
    """Each one of done, running, failed, missing."""
    states = {"finished": "done", "pruned": "done"}
    running = {key for key in alive if key not in ledger.finished}
    return [
        "running" if k in running else states.get(s := ledger.state(k), s) for k in keys
    ]


def seconds_left(
    keys: list[str], states: list[str], results: Path = RESULTS
) -> float | None:
    """Estimate from the median of what finished runs took; None where none has."""
    done = [k for k, state in zip(keys, states, strict=True) if state == "done"]
    walls = [_wall(results / "runs" / key) for key in done[:: len(done) // SAMPLE + 1]]
    known = [wall for wall in walls if wall is not None]
    left = sum(state in ("running", "missing") for state in states)
    workers = max(1, states.count("running"))
    return median(known) * left / workers if known else None


def _wall(directory: Path) -> float | None:
    try:
        return float(run_record(directory)["wall_s"])
    except (InputError, KeyError):
        return None


def _print_table(rows: Iterable[tuple[str, list[str], float | None]]) -> None:
    print(f"{'':14}" + "".join(f"{c:>9}" for c in COLUMNS) + "   time left")
    for name, states, left in rows:
        counts = Counter(states) | Counter(wanted=len(states))
        cells = "".join(f"{counts[c]:>9}" for c in COLUMNS)
        open_runs = len(states) - counts["done"] - counts["failed"]
        print(f"{name:14}{cells}   {duration(left) if open_runs else '-'}")


def _study(name: str) -> list[tuple[str, list[str], float | None]]:
    keys = [member["key"] for member in read_members(name)["members"]]
    states = states_of(keys, Ledger(), alive_keys())
    return [(name, states, seconds_left(keys, states))]


def _planned() -> list[tuple[str, list[str], float | None]]:
    alive, ledger = alive_keys(), Ledger()
    by_step: dict[str, list[str]] = {}
    for job in planned_jobs_now():
        by_step.setdefault(job.step, []).append(job.key)
    rows = []
    for step, keys in by_step.items():
        states = states_of(keys, ledger, alive)
        rows.append((step, states, seconds_left(keys, states)))
    return rows


def arguments() -> OneLineParser:
    parser = OneLineParser("status", __doc__)
    parser.add_argument("study", nargs="?", default="", help="a file in conf/study")
    return parser


@command
def main(argv: list[str] | None = None) -> int:
    """Print a line for each step of the plan, or for a study."""
    name = arguments().parse_args(argv).study
    _print_table(_study(name) if name else _planned())
    return 0
