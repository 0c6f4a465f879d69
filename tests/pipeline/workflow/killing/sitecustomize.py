"""Kills a process at a moment of a run, in every Python that has this on its path.

KILL names who is killed and when, such as "job middle":

    job         the process that makes the run
    logger      the process that logs to MLflow, of the process that makes the run
    snakemake   Snakemake alone; its job goes on once another waits for the same run
    command     the morphtrack command that started Snakemake, alone
    session     every process of the session
    interrupt   every process of the session, as by Ctrl-C
    nobody      the run waits until another process waits for it

    start       before the directory of the run is there
    middle      as its second checkpoint is put in place
    end         before its directory is moved to its place
    named       before the folder of the run says which run of MLflow it is

"edit end" kills nobody and appends the line EDIT to the file EDITED. KILLED is a file
that is there afterwards, so that this happens once. Python's own audit events say what
a process is about to do: https://docs.python.org/3/library/audit_events.html
"""

import math
import os
import signal
import sys
import time
from pathlib import Path

SECONDS = 600.0  # to wait for the other process
WHO, _, MOMENT = os.environ.get("KILL", "").partition(" ")
KILLED = Path(os.environ.get("KILLED", ""))
checkpoints = 0


def _keep_the_next_step() -> None:
    """The next step of the run is a checkpoint, too, however long this one took."""
    module = sys.modules["pipeline.runs.checkpoints"]
    vars(module).update(LEAST_SECONDS=0.0, SHARE=math.inf)


def _is_now(event: str, args: tuple[object, ...]) -> bool:
    """Whether an event is the moment."""
    global checkpoints
    if event == "os.mkdir":
        return MOMENT == "start" and Path(str(args[0])).suffix == ".1"
    if event == "os.rename":
        source, target = (Path(os.fsdecode(arg)) for arg in args[:2])
        if target.name == "checkpoint.npz":
            checkpoints += 1
            _keep_the_next_step()
        ends = source.parent.name == "running" and target.parent.name == "runs"
        middle = target.name == "checkpoint.npz" and checkpoints == 2
        named = target.name == "mlflow.json"
        return {"end": ends, "middle": middle, "named": named}.get(MOMENT, False)
    return False


def _ancestor(word: str) -> int:
    """The process above this one whose command line has a word."""
    process = os.getppid()
    while process > 1:
        line = Path(f"/proc/{process}/cmdline").read_bytes().decode().split("\0")
        if any(Path(part).name == word for part in line):
            return process
        status = Path(f"/proc/{process}/status").read_text()
        process = int(status.partition("PPid:")[2].split()[0])
    raise LookupError(f"no process above this one is {word}")


def _act() -> None:
    KILLED.touch()
    if WHO == "job":
        os.kill(os.getpid(), signal.SIGKILL)
    if WHO == "logger":
        os.kill(int(os.environ["MORPHTRACK_LOGGER"]), signal.SIGKILL)
        return
    if WHO in ("session", "interrupt"):
        number = signal.SIGKILL if WHO == "session" else signal.SIGINT
        os.killpg(os.getpgid(0), number)
        return
    if WHO == "edit":
        with Path(os.environ["EDITED"]).open("a", encoding="utf-8") as file:
            file.write(os.environ["EDIT"] + "\n")
        return
    if WHO != "nobody":
        os.kill(_ancestor({"command": "study"}.get(WHO, WHO)), signal.SIGKILL)
    asked = ["running"] if WHO == "snakemake" else ["running", ".snakemake"]
    end = time.monotonic() + SECONDS
    while not any(KILLED.with_name(name).exists() for name in asked):
        assert time.monotonic() < end, "no other process came"
        time.sleep(0.02)


def _heard(event: str, args: tuple[object, ...]) -> None:
    if event == "open" and str(args[0]).endswith(".lock") and KILLED.exists():
        KILLED.with_name(Path(str(args[0])).parent.name).touch()  # another one asks
    elif WHO and _is_now(event, args) and not KILLED.exists():
        _act()


if KILLED.name:
    sys.addaudithook(_heard)
