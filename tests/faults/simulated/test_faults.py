"""A share of all faults, by the day; what was found once, each time.

FAULT_SHARE tries that many of each kind, `all` tries every one; FAULT_SEED draws others
than the date does.
"""

import os
import random
import shlex
from collections.abc import Iterator
from dataclasses import astuple
from datetime import UTC, datetime

import pytest

from tests.faults.simulated.__main__ import arguments
from tests.faults.simulated.calls import Fault
from tests.faults.simulated.disk import CUTS, Disk
from tests.faults.simulated.projects import PAIRS
from tests.faults.simulated.trials import Simulation, simulation

pytestmark = pytest.mark.slow

SHARE = os.environ.get("FAULT_SHARE", "400")
SEED = os.environ.get("FAULT_SEED", f"{datetime.now(UTC):%Y-%m-%d}")
EVERY_PAIR = 500  # seeds of each pair of commands, where all is tried

# Ways to fail and calls that once were lost, doubled, half-written or false.
SEEDS = [
    ("ENOSPC", "write steps.csv"),  # a receipt said for ever that the run had failed
    ("ENOSPC", "create g.steps.npy"),  # what came of it hid why
    ("EIO", "write steps.csv"),  # the run counted as failed by itself
    ("EIO", "create .SHA256SUMS.tmp"),  # a finished run was put among the failed
    ("EIO", "open SHA256SUMS"),  # a receipt held the digest of a run without files
    ("EIO", "open run.json"),  # a study's run in MLflow never ended
    ("EIO", "open members.json"),  # a run was called by other values
    ("EIO", "open mine.1"),  # the table's receipt was of other receipts
    ("crash before", "create .SHA256SUMS.tmp"),  # in runs without digests
    ("torn write", "write steps.csv"),  # half a row among the whole steps that are kept
    ("crash after", "write .table.csv.tmp"),  # never tabulated again
    ("cut, files empty", "rename table.csv"),  # in runs with an empty run.json
    ("cut, files zero", "rename mine.1"),
    ("cut, a name late", "rename mine"),
    ("cut, names lost", "write .run.json.tmp"),
    ("answer lost", "http create"),
    ("clock back", "rename mine.1"),
]


@pytest.fixture(scope="module", params=["study", "workflow"])
def simulated(request: pytest.FixtureRequest) -> Iterator[Simulation]:
    with simulation(request.param) as made:
        yield made


def _share(faults: list[Fault], name: str) -> list[Fault]:
    if SHARE == "all" or len(faults) <= int(SHARE):
        return faults
    return random.Random(f"{SEED} {name}").sample(faults, int(SHARE))


def _tried(made: Simulation, faults: list[Fault], name: str) -> None:
    wrong = {made.replay(fault): found for fault, found in made.trials(faults) if found}
    print(f"{name}: {len(made.calls)} calls, {len(faults)} faults, seed {SEED}")
    assert not wrong, "\n".join(f"{line}: {'; '.join(w)}" for line, w in wrong.items())


def test_one_plain_rerun_completes_what_a_fault_of_any_call_left(
    simulated: Simulation,
) -> None:
    faults = _share(list(simulated.faults()), simulated.name)
    _tried(simulated, faults, simulated.name)


def test_what_was_found_once(simulated: Simulation) -> None:
    faults = [
        Fault(way, at)
        for way, call in SEEDS
        for at in [i for i, c in enumerate(simulated.calls, 1) if c == call][:2]
    ]
    _tried(simulated, faults, f"{simulated.name}, found once")
    assert len(faults) > len(SEEDS) / 2  # the calls are still called so


def test_a_fault_on_the_way_ends_as_one_from_the_beginning(
    simulated: Simulation, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Disk, "_sync", lambda *_: None)  # so that there is what to find
    chance = random.Random(f"{SEED} on the way")
    faults = [f for f in simulated.faults() if f.way in CUTS or not chance.randrange(9)]
    faults = chance.sample(faults, 24)
    kinds = {f: {w.partition(":")[0] for w in ws} for f, ws in simulated.trials(faults)}
    found = {f: {w.partition(":")[0] for w in simulated.trial(f)} for f in faults}
    simulated.found.clear()
    assert kinds == found
    assert any(found.values())


def test_statements_of_mlflow_s_own_store() -> None:
    with simulation("study", embedded=True) as made:
        faults = [
            fault
            for fault in made.faults(("crash before", "EIO"))
            if "sql" in made.calls[fault.at - 1]
        ]
        again = arguments().parse_args(shlex.split(made.replay(faults[0]))[3:])
        assert (again.way, again.at, again.sql) == (*astuple(faults[0]), True)
        few = len(faults) if SHARE == "all" else int(SHARE) // 4
        chosen = random.Random(f"{SEED} sql").sample(faults, few)
        _tried(made, chosen, "statements of SQLite")


def test_two_commands_at_once_in_any_order() -> None:
    with simulation("study") as made:
        each = EVERY_PAIR if SHARE == "all" else max(2, int(SHARE) // 20)
        first = 0 if SHARE == "all" else random.Random(SEED).randrange(10**6)
        wrong = {
            f'python -m tests.faults.simulated study "{pair}" {seed}': found
            for pair in PAIRS
            for seed in range(first, first + each)
            if (found := made.pair(pair, seed))
        }
        print(f"two at once: {len(PAIRS)} pairs, {each} orders each from {first}")
        assert not wrong, "\n".join(f"{k}: {'; '.join(v)}" for k, v in wrong.items())
