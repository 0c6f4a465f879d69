"""kill -9 of any process of a study at any moment; then one plain rerun."""

import contextlib
import json
import os
import random
import signal
import subprocess
import time
from pathlib import Path

import pytest
import yaml

from tests.faults.conftest import TRIALS, run, start
from tests.faults.ended import nothing_is_wrong

pytestmark = pytest.mark.slow

RUNS = 6  # new ones a trial


def write_study(folder: Path, trial: int) -> None:
    """Runs that no trial before had."""
    radii = [round(1.5 + 0.01 * (RUNS * trial + i), 6) for i in range(RUNS)]
    study = {
        "case": "triangles_cylinder",
        "design": "grid",
        "vary": {"case.target.radius": radii},
    }
    (folder / "conf" / "study" / "mine.yaml").write_text(yaml.safe_dump(study))


def family(process: int) -> list[int]:
    """The process and all that descend from it, those it left behind included."""
    listed = subprocess.run(
        ["ps", "-e", "-o", "pid=,sess="], capture_output=True, text=True, check=True
    ).stdout
    rows = [line.split() for line in listed.splitlines()]
    return [int(pid) for pid, session in rows if int(session) == process]


def killed_at(folder: Path, moment: float, chance: random.Random) -> str:
    """Start the study, kill one of its processes, wait; what was killed."""
    study = start(folder, "pipeline.study", "mine")
    time.sleep(moment)
    processes = family(study.pid)
    victim = chance.choice(processes) if processes else 0
    name = ""
    with contextlib.suppress(FileNotFoundError, ProcessLookupError):
        name = (
            Path(f"/proc/{victim}/cmdline").read_bytes().replace(b"\0", b" ").decode()
        )
        os.kill(victim, signal.SIGKILL)
    with contextlib.suppress(subprocess.TimeoutExpired):
        study.communicate(timeout=120)
    return name


def test_one_plain_rerun_completes_a_study_whatever_was_killed(place: Path) -> None:
    chance = random.Random(os.environ.get("FAULT_SEED", "0"))
    write_study(place, 0)
    began = time.monotonic()
    assert run(place, "pipeline.study", "mine").returncode == 0
    whole = time.monotonic() - began  # how long one takes here
    victims = []
    for trial in range(1, TRIALS + 1):
        write_study(place, trial)
        victims.append(killed_at(place, chance.uniform(0.0, whole), chance))
        done = run(place, "pipeline.study", "mine")
        said = f"trial {trial}, killed {victims[-1]}: {done.stdout}{done.stderr}"
        assert done.returncode == 0, said
        nothing_is_wrong(place, "mine")
        print(f"trial {trial}: {victims[-1]}", flush=True)
    assert any(victims)


def test_two_studies_at_once_wait_or_are_refused(place: Path) -> None:
    write_study(place, 0)
    first = start(place, "pipeline.study", "mine")
    lock = place / "results" / "lock"
    end = time.monotonic() + 60
    while not (lock.is_file() and lock.read_text()):
        assert time.monotonic() < end
        time.sleep(0.05)
    second = run(place, "pipeline.study", "mine")
    assert second.returncode == 2
    assert f"in use by process {first.pid}" in second.stderr
    first.communicate(timeout=300)
    assert first.returncode == 0
    nothing_is_wrong(place, "mine")


def test_thirty_two_jobs_at_once_on_few_cores(place: Path) -> None:
    radii = [round(1.5 + 0.05 * i, 6) for i in range(32)]
    cases = {
        f"r{r}": ["case=triangles_circle", f"case.target.radius={r}"] for r in radii
    }
    workflow = {"figures": {"dejong-3": {"cases": cases}}}
    (place / "conf" / "workflow.yaml").write_text(yaml.safe_dump(workflow))
    done = run(place, "pipeline.workflow", "--cores", "32")
    runs = [
        json.loads(p.read_text()) for p in (place / "results").glob("runs/*/run.json")
    ]
    simulated = [r for r in runs if r["step"] == "simulate"]
    assert len(simulated) == len({r["key"] for r in simulated}) == 32, done.stderr
    assert {r["status"] for r in simulated} == {"finished"}
    assert not list((place / "results" / "running").iterdir())
