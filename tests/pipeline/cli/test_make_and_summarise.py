"""What morphtrack make writes after Snakemake has ended."""

import os
from pathlib import Path

import yaml

from pipeline.cli import make_and_summarise
from pipeline.cli.app import called

PAGE = Path("results/report/index.html")
LOG = Path("results/log/simulate/actuator_law.log")


def test_the_page_says_why_a_job_was_refused(project, monkeypatch):
    workflow = {"figures": {"huang-3": {"cases": ["actuator_law"]}}}
    (project / "conf" / "workflow.yaml").write_text(yaml.safe_dump(workflow))
    monkeypatch.setattr(make_and_summarise, "run_snakemake", lambda *_, **__: 1)
    assert called(["make"]) == 1
    assert "it has not run" in PAGE.read_text()
    os.utime(PAGE, (1e9, 1e9))
    os.utime("conf/workflow.yaml", (9e8, 9e8))
    LOG.parent.mkdir(parents=True)
    LOG.write_text("error: young must be positive, not -1\n")
    assert called(["make"]) == 1
    assert "young must be positive, not -1" in PAGE.read_text()
