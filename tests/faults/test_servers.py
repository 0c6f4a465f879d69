"""An MLflow server that fails: commands never notice, nothing is lost or doubled."""

import json
import time
from base64 import b64encode
from collections import Counter
from pathlib import Path

import pytest

from pipeline.cli.app import called
from pipeline.tracking.unlogged_runs import Logger
from tests.faults.conftest import project
from tests.faults.proxy import proxy_before
from tests.faults.servers import Server, server_in
from tests.helpers.mlflow_runs import runs_at
from tests.pipeline.tracking.toys import failed_run, toy_run

pytestmark = pytest.mark.slow

RESULTS = Path("results")
FAULTS = ("500", "400", "down", "lost", "killed")


@pytest.fixture(scope="module")
def server():
    """`mlflow server` over PostgreSQL."""
    with project() as folder, server_in(folder, "postgresql") as started:
        yield started


@pytest.fixture
def proxy(server, place, monkeypatch, request):
    """A proxy before the server, in a project whose runs go into one experiment."""
    monkeypatch.chdir(place)
    monkeypatch.setenv("MLFLOW_EXPERIMENT_NAME", request.node.name)
    with proxy_before(server.port) as before:
        monkeypatch.setenv("MLFLOW_TRACKING_URI", before.uri)
        yield before


def keys(server: Server, experiment: str) -> Counter[str]:
    """How often each key is among the runs, which are all FINISHED or FAILED."""
    runs = runs_at(server.uri, experiment)
    assert {run.info.status for run in runs} <= {"FINISHED", "FAILED"}
    for run in runs:
        record = json.loads((Path(run.data.tags["directory"]) / "run.json").read_text())
        assert run.data.metrics["E"] == record["config"]["case"]["n"] + 0.4
    return Counter(run.data.tags["key"] for run in runs)


def test_a_server_over_postgresql_has_all_that_the_embedded_store_has(
    server, proxy, request
):
    directory = toy_run(1)
    (directory / "labels.png").write_bytes(b"picture")
    assert called(["track"]) == 0
    (run,) = runs_at(server.uri, request.node.name)
    assert run.data.params["case.n"] == "1"
    assert run.data.tags["stop"] == "change"
    from mlflow import MlflowClient

    client = MlflowClient(server.uri)
    steps = client.get_metric_history(run.info.run_id, "E")
    assert [point.step for point in steps] == [0, 1, 2, 3, 4]
    files = {file.path for file in client.list_artifacts(run.info.run_id)}
    assert files == {"labels.png", "run.json", "steps.csv"}
    del proxy


@pytest.mark.parametrize("fault", FAULTS)
def test_nothing_is_lost_or_doubled_whatever_the_server_does(
    server, proxy, request, fault
):
    made = {toy_run(1).name, failed_run(2).name.partition(".")[0]}
    (RESULTS / "mlflow").mkdir()
    logger = Logger(RESULTS, time.time())
    logger.follow()
    made |= {toy_run(3).name, toy_run(4).name}
    if fault == "killed":
        server.kill()
    else:
        proxy.mode = fault
    logger.follow()
    assert logger.trouble
    server.revive()
    proxy.mode = "pass"
    made.add(toy_run(5).name)
    logger.conclude()
    assert logger.trouble == ""
    assert keys(server, request.node.name) == Counter(made)


@pytest.mark.parametrize("nth", range(12))
def test_a_run_of_which_any_answer_is_lost_is_there_once(server, proxy, request, nth):
    toy_run(1)
    proxy.lose(nth)
    statuses = [
        called(["track"]) for _ in range(3)
    ]  # the first or the second loses one
    assert sorted(statuses[:2]) == [0, 1]  # one of both lost an answer
    assert statuses[2] == 0
    assert keys(server, request.node.name).total() == 1


def test_user_and_password_reach_the_server_and_nothing_else(
    proxy, server, place, monkeypatch,
    capsys
):  # fmt: skip
    secret = "a-secret-that-is-never-printed"
    toy_run(1)
    proxy.wanted = f"Basic {b64encode(f'lab:{secret}'.encode()).decode()}"
    monkeypatch.setenv("MLFLOW_TRACKING_USERNAME", "lab")
    monkeypatch.setenv("MLFLOW_TRACKING_PASSWORD", "another")
    assert called(["track"]) == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert "401" in line
    monkeypatch.setenv("MLFLOW_TRACKING_PASSWORD", secret)
    assert called(["track"]) == 0
    assert secret not in "".join(capsys.readouterr())
    runs = runs_at(server.uri)
    assert secret not in "".join(str(run.to_dictionary()) for run in runs)
    for path in (place / "results").rglob("*"):
        if path.is_file():
            assert secret.encode() not in path.read_bytes(), path
