"""An MLflow server that fails midway: jobs never notice, nothing is lost or doubled."""

import json
import threading
import time
from base64 import b64encode
from collections import Counter
from contextlib import closing
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.faults.conftest import run, server_in, start
from tests.faults.proxy import proxy_before

pytestmark = pytest.mark.slow

STUDY = {
    "case": "triangles_cylinder",
    "design": "grid",
    "vary": {"case.target.radius": [round(1.5 + 0.1 * i, 3) for i in range(24)]},
}
FAULTS = ("500", "400", "down", "lost", "slow", "killed")


def stored(uri: str) -> list[Any]:
    """Every run of the server."""
    from mlflow import MlflowClient

    client = MlflowClient(uri)
    experiment = client.get_experiment_by_name("morphtrack")
    assert experiment is not None
    return list(client.search_runs([experiment.experiment_id], max_results=1000))


def wait_for(condition: Any, seconds: float = 120.0) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it did not happen in time"
        time.sleep(0.1)


def drip(place: Path, seconds: float) -> threading.Thread:
    """Finish a run of the study every so often, while the tracker watches."""
    keys = sorted((place / "kept").iterdir())

    def go() -> None:
        for directory in keys:
            directory.rename(place / "results" / "runs" / directory.name)
            time.sleep(seconds)

    thread = threading.Thread(target=go)
    thread.start()
    return thread


@pytest.mark.parametrize(
    "backend", [pytest.param("sqlite", marks=pytest.mark.long), "postgresql"]
)
def test_nothing_is_lost_or_doubled_whatever_the_server_does(
    place: Path, backend: str
) -> None:
    (place / "conf" / "study" / "mine.yaml").write_text(yaml.safe_dump(STUDY))
    assert run(place, "study", "mine").returncode == 0
    (place / "results" / "runs").rename(place / "kept")
    (place / "results" / "runs").mkdir()
    with server_in(place, backend) as server, proxy_before(server.port) as proxy:
        told = {"MLFLOW_TRACKING_URI": proxy.uri}
        tracker = start(place, "track", "--follow", **told)
        dripping = drip(place, 1.0)
        for fault in FAULTS:
            before = proxy.refused
            if fault == "killed":
                server.kill()
                server.start()
                continue
            proxy.mode = fault
            if fault == "slow":
                time.sleep(4.0)
            else:
                wait_for(lambda before=before: proxy.refused > before)
            proxy.mode = "pass"
            wait_for(lambda before=proxy.passed: proxy.passed > before + 3)
        dripping.join()
        tracker.communicate()  # the end of its input: it concludes
        last = run(place, "track", **told)
        assert last.returncode == 0, last.stderr
        runs = stored(proxy.uri)
    children = [r for r in runs if r.data.tags["step"] != "study"]
    assert {r.info.status for r in runs} == {"FINISHED"}
    keys = [path.name for path in (place / "results" / "runs").iterdir()]
    assert Counter(r.data.tags["key"] for r in children) == Counter(keys)
    assert len(keys) == len(STUDY["vary"]["case.target.radius"])  # type: ignore[index]
    for found in children:
        record = json.loads(
            (
                place / "results" / "runs" / found.data.tags["key"] / "run.json"
            ).read_text()
        )
        assert found.data.metrics["final.E"] == pytest.approx(record["result"]["E"])


def test_a_run_whose_answer_is_lost_is_made_once(place: Path) -> None:
    few = {**STUDY, "vary": {"case.target.radius": [2.0, 2.1]}}
    (place / "conf" / "study" / "mine.yaml").write_text(yaml.safe_dump(few))
    assert run(place, "study", "mine").returncode == 0
    with server_in(place, "sqlite") as server, proxy_before(server.port) as proxy:
        proxy.mode = "lost once"
        statuses = []
        for _ in range(2):
            done = run(place, "track", MLFLOW_TRACKING_URI=proxy.uri)
            statuses.append(done.returncode)
            runs = stored(proxy.uri)
            keys = Counter(r.data.tags.get("key", "the study's") for r in runs)
            assert max(keys.values()) == 1, keys
        assert proxy.mode == "pass"  # an answer was lost
    assert statuses == [1, 0]
    assert {r.info.status for r in runs} == {"FINISHED"}
    assert len(keys) == 3


@pytest.mark.long
def test_user_and_password_reach_the_server_and_nothing_else(place: Path) -> None:
    secret = "a-secret-nobody-prints"
    one = {**STUDY, "vary": {"case.target.radius": [2.0]}}
    (place / "conf" / "study" / "mine.yaml").write_text(yaml.safe_dump(one))
    with server_in(place, "sqlite") as server, proxy_before(server.port) as proxy:
        proxy.wanted = f"Basic {b64encode(f'lab:{secret}'.encode()).decode()}"
        told = {"MLFLOW_TRACKING_URI": proxy.uri, "MLFLOW_TRACKING_USERNAME": "lab"}
        done = run(place, "study", "mine", MLFLOW_TRACKING_PASSWORD=secret, **told)
        assert done.returncode == 0, done.stdout + done.stderr
        refused = run(place, "track", MLFLOW_TRACKING_PASSWORD="not-it", **told)
        assert proxy.refused
        runs = stored(server.uri)
    assert len(runs) == 2  # the study and its run
    assert refused.returncode == 1
    (line,) = refused.stderr.splitlines()
    assert "401" in line
    assert secret not in done.stdout + done.stderr
    assert secret not in "".join(str(r.to_dictionary()) for r in runs)
    for path in (place / "results").rglob("*"):
        if path.is_file():
            assert secret.encode() not in path.read_bytes(), path


@pytest.mark.long
def test_a_page_of_the_proxy_is_answered_and_one_of_others_is_not(
    place: Path,
) -> None:
    page = "https://lab.example"

    def asked(uri: str, **headers: str) -> int:
        path = "/ajax-api/2.0/mlflow/runs/search"
        body = json.dumps({"experiment_ids": ["0"]})
        headers["Content-Type"] = "application/json"
        with closing(HTTPConnection(uri.removeprefix("http://"))) as line:
            line.request("POST", path, body, headers)
            return line.getresponse().status

    told = {"MLFLOW_SERVER_CORS_ALLOWED_ORIGINS": page}
    with server_in(place, "sqlite", **told) as server:
        assert asked(server.uri, Origin=page) == 200
        assert asked(server.uri, Origin="https://evil.example") == 403
        assert asked(server.uri, Host="evil.example") == 403


@pytest.mark.long
@pytest.mark.parametrize("backend", ["sqlite", "postgresql", "ui"])
def test_an_experiment_keeps_its_files_in_the_servers_own_folder(
    place: Path, backend: str
) -> None:
    def answer(path: str, **body: str) -> tuple[int, dict[str, Any]]:
        with closing(HTTPConnection("127.0.0.1", server.port)) as line:
            line.request(
                "POST",
                f"/{path}/experiments/create",
                json.dumps(body),
                {"Content-Type": "application/json"},
            )
            given = line.getresponse()
            return given.status, json.loads(given.read())

    with server_in(place, backend) as server:
        for api in ("api/2.0/mlflow", "ajax-api/2.0/mlflow"):
            for elsewhere in (
                f"file://{place}/x",
                f"{place}/x",
                "x",
                "FILE:/x",
                "mlflow-artifacts:/../../x",
                "mlflow-artifacts:/%2e%2e/x",
            ):
                status, said = answer(api, name="e", artifact_location=elsewhere)
                assert status == 400, (elsewhere, said)
                assert "leave it out" in said["message"]
        status, said = answer("api/2.0/mlflow", name="e")
        assert status == 200, said
        status, said = answer(
            "api/2.0/mlflow", name="f", artifact_location="mlflow-artifacts:/f"
        )
        assert status == 200, said
    assert not (place / "x").exists()
