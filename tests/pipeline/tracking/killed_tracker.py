"""The tracker in the current folder, killed at the n-th of all that it does.

python -m tests.pipeline.tracking.killed_tracker KILLS: kill it at so many points,
spread evenly over its SQL statements, and where a new file takes its place; run it
once more after each. Says one JSON line a kill: where it was, the exit status of the
second run and the MLflow runs as (status, directory).
"""

import json
import os
import shutil
import sqlite3
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

PLACE = Path("results/mlflow")
STEPS = ("os.rename", "os.remove", "sqlite3.connect", "open")
KILLED = 9


def events(at: Callable[[str], None]) -> None:
    """Call `at` before every SQL statement and every step on files of the database."""
    from sqlalchemy import event
    from sqlalchemy.engine import Engine

    def statement(*given: Any) -> None:
        at(f"SQL {' '.join(given[2].split())[:60]}")

    def audited(name: str, given: tuple[Any, ...]) -> None:
        if name in STEPS and "mlflow.db" in str(given[0]):
            at(f"{name} {Path(str(given[0])).name}")

    event.listen(Engine, "before_cursor_execute", statement)
    sys.addaudithook(audited)


def in_a_child(work: Callable[[], int]) -> int:
    """The exit status of `work` in a copy of this process."""
    sys.stdout.flush()
    child = os.fork()
    if not child:
        os._exit(work())
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def counted() -> list[str]:
    """All that an undisturbed tracker does, in its order."""
    from pipeline.commands.track import main

    def work() -> int:
        with Path("done.txt").open("w") as file:
            events(lambda what: print(what, file=file))
            return main([])

    assert in_a_child(work) == 0
    return Path("done.txt").read_text().splitlines()


def killed_at(n: int) -> int:
    """Kill the tracker at the `n`-th thing that it does."""
    from pipeline.commands.track import main

    left = n

    def at(_: str) -> None:
        nonlocal left
        left -= 1
        if left < 0:
            os._exit(KILLED)

    def work() -> int:
        events(at)
        return main([])

    return in_a_child(work)


def held() -> list[tuple[str, str]]:
    """Status and directory of the MLflow runs that are not deleted."""
    asked = (
        "SELECT status, value FROM runs JOIN tags USING (run_uuid) "
        "WHERE key = 'morphtrack.directory' AND lifecycle_stage = 'active'"
    )
    with closing(sqlite3.connect(PLACE / "mlflow.db")) as database:
        return list(database.execute(asked))


def run(kills: int) -> None:
    """Kill and run again, at `kills` points and at every renaming."""
    from pipeline.commands.track import main
    from pipeline.tracking.database import quiet

    quiet()
    done = counted()
    renamed = [n for n, what in enumerate(done) if what.startswith("os.rename")]
    spread = [len(done) * k // kills for k in range(kills)]
    for n in sorted({*renamed, *spread}):
        shutil.rmtree(PLACE)
        killed = killed_at(n)
        again = in_a_child(lambda: main([]))
        said = {"at": done[n], "killed": killed, "again": again, "held": held()}
        print(json.dumps(said), file=sys.stderr)


if __name__ == "__main__":
    run(int(sys.argv[1]))
