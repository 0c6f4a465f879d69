"""A Slurm of one node, started for the tests and stopped after them.

It needs Debian's packages slurm-wlm and munge, and root: Snakemake's jobs on the nodes
read /etc/slurm/slurm.conf and nothing else.
"""

import os
import shutil
import signal
import socket
import subprocess
import time
from pathlib import Path

import pytest

from tests.helpers.ports import free_port

CONF = Path("/etc/slurm/slurm.conf")
MARK = "# written by the tests of morphtrack\n"
PROGRAMS = ("slurmctld", "slurmd", "munged", "sbatch", "squeue")

SLURM = """\
ClusterName=morphtrack
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={controller_port}
SlurmdPort={node_port}
SlurmUser=root
AuthType=auth/munge
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
MinJobAge=3600
ReturnToService=2
StateSaveLocation={place}/state
SlurmdSpoolDir={place}/spool
SlurmctldPidFile={place}/slurmctld.pid
SlurmdPidFile={place}/slurmd.pid
SlurmctldLogFile={place}/slurmctld.log
SlurmdLogFile={place}/slurmd.log
NodeName={host} NodeAddr=127.0.0.1 CPUs={cpus} RealMemory=8000 State=UNKNOWN
PartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE State=UP
"""


def _start_munge() -> "subprocess.Popen[bytes]":
    place = Path("/run/munge")
    place.mkdir(exist_ok=True)
    shutil.chown(place, "munge", "munge")
    as_munge = ["setpriv", "--reuid=munge", "--regid=munge", "--clear-groups"]
    return subprocess.Popen([*as_munge, "munged", "--foreground", "--force"])


def _wait_until_idle() -> None:
    end = time.monotonic() + 60
    while True:
        asked = subprocess.run(
            ["sinfo", "--noheader", "--format=%T"], capture_output=True, text=True
        )
        if asked.stdout.strip() == "idle":
            return
        assert time.monotonic() < end, asked.stdout + asked.stderr
        time.sleep(0.5)


@pytest.fixture(scope="session")
def slurm(tmp_path_factory):
    """Slurm, answering."""
    missing = [program for program in PROGRAMS if shutil.which(program) is None]
    assert not missing, f"{missing} not here: apt-get install slurm-wlm munge"
    assert os.geteuid() == 0, (
        "these tests write /etc/slurm/slurm.conf: run them as root"
    )
    mine = not CONF.exists() or CONF.read_text().startswith(MARK)
    assert mine, f"{CONF} is somebody's: these tests would replace it"
    place = tmp_path_factory.mktemp("slurm")
    for folder in ("state", "spool"):
        (place / folder).mkdir()
    CONF.parent.mkdir(exist_ok=True)
    text = SLURM.format(
        host=socket.gethostname().partition(".")[0],
        controller_port=free_port(),
        node_port=free_port(),
        cpus=os.cpu_count(),
        place=place,
    )
    CONF.write_text(MARK + text)
    daemons = [_start_munge()]
    time.sleep(1.0)
    daemons += [subprocess.Popen([name, "-D"]) for name in ("slurmctld", "slurmd")]
    try:
        _wait_until_idle()
        yield
    finally:
        for daemon in reversed(daemons):
            daemon.send_signal(signal.SIGTERM)
            daemon.wait(30)
        CONF.unlink()
