"""A PostgreSQL of our own, for MLflow: made, started and stopped beside the results.

It listens on the loopback address only. PostgreSQL does not run as root: where we are
root, its programs run as the user that its package made.
"""

import contextlib
import os
import secrets
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from pipeline.store.files import write_text
from pipeline.terminal.errors import InputError
from pipeline.tracking.ports import LOOPBACK, free_port

USER = "postgres"  # of the operating system; Debian's package makes it
ROLE = "morphtrack"


def _programs() -> Path:
    """The folder of initdb and pg_ctl, the newest where there are several."""
    found = shutil.which("initdb")
    if found is not None:
        return Path(found).resolve().parent
    versions = Path("/usr/lib/postgresql").glob("*/bin/initdb")
    by_age = sorted(versions, key=lambda path: float(path.parts[-3]))
    if not by_age:
        raise InputError(
            "PostgreSQL's programs are not on this machine: install them "
            "(on Debian: apt-get install postgresql), or give --sqlite"
        )
    return by_age[-1].parent


@dataclass(frozen=True)
class Postgres:
    """A database cluster in a folder.

    Parameters
    ----------
    place : holds the data, the password and the log; made where it is missing
    """

    place: Path

    def _run(self, program: str, words: Sequence[str]) -> None:
        line = [str(_programs() / program), *words]
        if os.geteuid() == 0:
            line = ["setpriv", f"--reuid={USER}", f"--regid={USER}", "--clear-groups"]
            line += [str(_programs() / program), *words]
        done = subprocess.run(
            line, cwd="/", stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
        )
        if done.returncode:
            last = (done.stderr.strip().splitlines() or ["it says nothing"])[-1]
            raise InputError(
                f"PostgreSQL's {program} failed in {self.place}: {last} "
                f"(its log: {self.place}/log)"
            )

    @property
    def _password_file(self) -> Path:
        return self.place / "password"

    def _make(self) -> None:
        """A new cluster, with a password that only this user may read."""
        self.place.mkdir(parents=True, exist_ok=True, mode=0o700)
        write_text(self._password_file, secrets.token_hex(16))
        self._password_file.chmod(0o600)
        if os.geteuid() == 0:
            for path in (self.place, self._password_file):
                shutil.chown(path, USER, USER)
        words = ["--pgdata", str(self.place / "data"), "--username", ROLE]
        words += ["--pwfile", str(self._password_file), "--auth", "scram-sha-256"]
        self._run("initdb", [*words, "--encoding", "UTF8", "--no-locale"])

    def _stop_remains(self) -> None:
        """Stop it if it still runs since whoever started it was killed."""
        with contextlib.suppress(InputError):
            self._run("pg_ctl", ["--pgdata", str(self.place / "data"), "status"])
            self._stop()

    def _stop(self) -> None:
        data = ["--pgdata", str(self.place / "data")]
        self._run("pg_ctl", [*data, "--wait", "--mode", "fast", "stop"])

    @contextlib.contextmanager
    def running(self) -> Iterator[str]:
        """Run the server while the block works.

        Yields
        ------
        its address, password included: for an environment, not for a command line
        """
        place = self.place.resolve()
        cluster = Postgres(place)
        if not (place / "data" / "PG_VERSION").is_file():
            cluster._make()
        cluster._stop_remains()
        port = free_port()
        options = f"-c listen_addresses={LOOPBACK} -p {port} -k {place}"
        control = ["--pgdata", str(place / "data"), "--wait"]
        cluster._run(
            "pg_ctl", [*control, "--log", str(place / "log"), "-o", options, "start"]
        )
        try:
            password = cluster._password_file.read_text()
            yield f"postgresql://{ROLE}:{password}@{LOOPBACK}:{port}/postgres"
        finally:
            cluster._stop()
