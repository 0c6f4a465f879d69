"""kill -9 of any process of a study at any moment; then one plain rerun.

FAULT_SEED draws other moments; FAULT_TRIAL repeats one trial alone.
"""

import json
import os
import random
import subprocess
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest
import yaml

from tests.faults.conftest import TRIALS, Server, project, run, server_in, start
from tests.faults.ended import DOOMED, nothing_is_wrong
from tests.faults.victims import KINDS, kill_one, lives

pytestmark = pytest.mark.slow

RUNS = 10  # new ones a trial; one more fails by itself
TRIES = 5  # a trial whose victim ended before its moment is taken again
SEED = os.environ.get("FAULT_SEED", "0")
ONLY = os.environ.get("FAULT_TRIAL")


def backend_of(trial: int) -> str:
    """Servers are killed where there is one; the others in both places by turns."""
    turn, kind = divmod(trial, len(KINDS))
    of_server = list(KINDS)[kind] == "server" or turn % 2
    return "postgresql" if of_server else "embedded"


CHOSEN = range(TRIALS) if ONLY is None else [int(ONLY)]


def write_study(folder: Path, number: int) -> None:
    """Runs that no study of another number has."""
    radii = [round(1.5 + 0.001 * ((RUNS + 1) * number + i), 6) for i in range(RUNS + 1)]
    points = [{"case.target.radius": radius} for radius in radii]
    points[RUNS // 2] |= DOOMED
    study = {"case": "triangles_cylinder", "design": "list", "runs": points}
    study["response"] = []  # no plots: they would only take time
    (folder / "conf" / "study" / "mine.yaml").write_text(yaml.safe_dump(study))


@dataclass
class Trials:
    """A project whose studies are killed.

    Parameters
    ----------
    server : MLflow's, if the project does not keep its own store
    """

    folder: Path
    server: Server | None = None
    number: int = 0  # of studies begun
    life: dict[str, float] = field(default_factory=dict)

    @property
    def _told(self) -> dict[str, str]:
        return {"MLFLOW_TRACKING_URI": self.server.uri} if self.server else {}

    def _start(self) -> "subprocess.Popen[bytes]":
        self.number += 1
        write_study(self.folder, self.number)
        return start(self.folder, "study", "mine", **self._told)

    def measure(self) -> None:
        """See who lives how long in a study that nobody kills."""
        study = self._start()
        self.life = lives(self.folder, lambda: study.poll() is None)
        study.communicate()
        assert study.returncode == 0

    def kill(self, kind: str, chance: random.Random) -> float | None:
        """Kill a process of a study and wait for what is left of it to end.

        Returns
        -------
        how old the process was, s; None where it had ended before its moment
        """
        study = self._start()
        done = kill_one(
            self.folder, kind, self.life[kind], chance, lambda: study.poll() is None
        )
        study.communicate(timeout=300)
        if self.server:
            self.server.revive()
        if done.late:  # the machine is faster than before
            self.life[kind] = done.moment
            return None
        return done.moment

    def rerun(self) -> "subprocess.CompletedProcess[str]":
        """The plain command once more."""
        return run(self.folder, "study", "mine", **self._told)

    def check(self) -> None:
        """Nothing may be lost, doubled, half-written or untrue."""
        nothing_is_wrong(self.folder, "mine", self.server.uri if self.server else "")


@contextmanager
def trials_over(backend: str) -> Iterator[Trials]:
    """A project with the embedded store, or with a server over one."""
    with ExitStack() as stack:
        folder = stack.enter_context(project())
        server = None
        if backend != "embedded":
            server = stack.enter_context(server_in(folder, backend))
        trials = Trials(folder, server)
        trials.measure()
        yield trials


def one_trial(trials: Trials, trial: int) -> None:
    """Kill, run again, check; the moment depends on seed and trial alone."""
    kind = list(KINDS)[trial % len(KINDS)]
    chance = random.Random(f"{SEED} {trial}")
    moments = (trials.kill(kind, chance) for _ in range(TRIES))
    moment = next((m for m in moments if m is not None), None)
    assert moment is not None, f"no {kind} lived long enough to be killed"
    name = f"trial {trial}, seed {SEED}: {kind} killed after {moment:.2f} s"
    print(name, flush=True)
    done = trials.rerun()
    said = f"{name}: {done.stdout}{done.stderr}"
    assert done.returncode == 0, said
    try:
        trials.check()
    except AssertionError as error:
        raise AssertionError(said) from error


@pytest.mark.parametrize("backend", sorted({backend_of(trial) for trial in CHOSEN}))
def test_one_plain_rerun_completes_a_study_whatever_was_killed(backend: str) -> None:
    with trials_over(backend) as trials:
        for trial in CHOSEN:
            if backend_of(trial) == backend:
                one_trial(trials, trial)


def test_two_studies_at_once_wait_or_are_refused(place: Path) -> None:
    write_study(place, 0)
    first = start(place, "study", "mine")
    lock = place / "results" / "lock"
    end = time.monotonic() + 60
    while not (lock.is_file() and lock.read_text()):
        assert time.monotonic() < end
        time.sleep(0.05)
    second = run(place, "study", "mine")
    assert second.returncode == 2
    assert f"in use by process {first.pid}" in second.stderr
    first.communicate(timeout=300)
    assert first.returncode == 0
    nothing_is_wrong(place, "mine")


@pytest.mark.long
def test_thirty_two_jobs_at_once_on_few_cores(place: Path) -> None:
    radii = [round(1.5 + 0.05 * i, 6) for i in range(32)]
    cases = {
        f"r{r}": ["case=triangles_circle", f"case.target.radius={r}"] for r in radii
    }
    workflow = {"figures": {"dejong-3": {"cases": cases}}}
    (place / "conf" / "workflow.yaml").write_text(yaml.safe_dump(workflow))
    done = run(place, "make", "--cores", "32")
    runs = [
        json.loads(p.read_text()) for p in (place / "results").glob("runs/*/run.json")
    ]
    simulated = [r for r in runs if r["step"] == "simulate"]
    assert len(simulated) == len({r["key"] for r in simulated}) == 32, done.stderr
    assert {r["status"] for r in simulated} == {"finished"}
    assert not list((place / "results" / "running").iterdir())
