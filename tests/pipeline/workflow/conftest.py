"""Small workflows, and Snakemake as a person calls it."""

import os
import re
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from pipeline.tracking.logging_process import LOGGER
from pipeline.workflow.snakemake import PROFILE
from tests.pipeline.conftest import ROOT

SERIES = {"case": "actuator_law", "measured": "way.csv", "synthetic": True}
MEASURED = "quantity,at,value,u,part\nmodulus,0.5,1,0,held out\n"


@pytest.fixture(autouse=True)
def without_mlflow(monkeypatch):
    """Start no process that logs; a test of logging takes it away again."""
    monkeypatch.setenv(LOGGER, "a test's")


def write_workflow(folder: Path, workflow: Mapping[str, Any]) -> None:
    """Write conf/workflow.yaml, and the file of SERIES."""
    text = yaml.safe_dump(workflow, sort_keys=False)
    (folder / "conf" / "workflow.yaml").write_text(text)
    (folder / "way.csv").write_text(MEASURED)


def edit(path: Path, old: str, new: str) -> None:
    """Replace what a file has once."""
    text = path.read_text()
    assert text.count(old) == 1, f"{old!r} is not once in {path}"
    path.write_text(text.replace(old, new))


def environment(**more: str) -> dict[str, str]:
    """Of bare `snakemake` in a shell that names the profile; it logs nothing."""
    own = {k: v for k, v in os.environ.items() if not k.startswith("MLFLOW_")}
    own |= {"PATH": "/usr/bin:/bin", "PYTHONPATH": str(ROOT), LOGGER: "a test's"}
    return own | {"SNAKEMAKE_PROFILE": str(PROFILE)} | more


def snakemake_line(*words: str) -> list[str]:
    """The command line; the folder of the interpreter is not on the PATH."""
    return [str(Path(sys.executable).parent / "snakemake"), *words]


def snakemake(folder: Path, *words: str, status: int = 0, **more: str) -> str:
    """What `snakemake words` says."""
    done = subprocess.run(
        snakemake_line(*words),
        cwd=folder,
        env=environment(**more),
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    said = done.stdout + done.stderr
    assert done.returncode == status, said
    return said


def started(folder: Path) -> dict[str, str]:
    """When each finished run was started, by its key."""
    runs = (folder / "results" / "runs").glob("*/run.json")
    found = re.compile(r'"started": "([^"]+)"')
    return {path.parent.name: "".join(found.findall(path.read_text())) for path in runs}
