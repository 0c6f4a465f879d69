"""A stand-in of MLflow's server: answers its client without a socket or a process.

What it holds is in a file, so that it outlives the process that asks, as a server
does. It speaks what the tracker asks for of the REST API of MLflow 2 and 3.
"""

import json
import pickle
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest import mock
from urllib.parse import parse_qs, urlsplit

import requests
from requests.adapters import HTTPAdapter

from tests.faults.simulated.calls import Calls, HttpFaultError

URI = "http://mlflow.simulated"
API = re.compile(r"/api/[\d.]+/mlflow(-artifacts)?/(.+)")
TAG = re.compile(r"tags\.`([^`]+)` = '([^']*)'")
State = dict[str, Any]


class StandIn:
    """Experiments and runs in a file.

    Parameters
    ----------
    calls : what counts and fails requests
    """

    def __init__(self, file: Path, calls: Calls) -> None:
        self._file, self._calls = file, calls
        self._opened = open

    def _load(self) -> State:
        try:
            with self._opened(self._file, "rb") as file:
                held: State = pickle.load(file)
                return held
        except FileNotFoundError:
            return {"experiments": {}, "runs": {}, "files": set()}

    def runs(self) -> list[dict[str, Any]]:
        """What the outside checker is told of the runs that are not deleted."""
        return [
            {**run, "metrics": {k: v[-1] for k, v in run["metrics"].items()}}
            for run in self._load()["runs"].values()
            if not run["deleted"]
        ]

    def send(self, request: Any, **_: Any) -> Any:
        """Answer a request, or fail."""
        url = urlsplit(request.url)
        try:
            answer = self._calls.call("http", url.path, lambda: self._answer(request))
        except HttpFaultError as fault:
            way = str(fault)
            if way == "timeout":
                raise requests.exceptions.ReadTimeout("no answer in time") from None
            if way == "answer lost":
                raise requests.exceptions.ConnectionError("connection lost") from None
            code = {"400": "INVALID_PARAMETER_VALUE", "500": "INTERNAL_ERROR"}[way]
            answer = (int(way), {"error_code": code, "message": f"simulated {way}"})
        response = requests.Response()
        response.status_code, said = answer
        response._content = json.dumps(said).encode()
        response.headers["Content-Type"] = "application/json"
        response.encoding = "utf-8"
        response.request, response.url = request, request.url
        return response

    def _answer(self, request: Any) -> tuple[int, dict[str, Any]]:
        url = urlsplit(request.url)
        found = API.fullmatch(url.path)
        if found is None:
            return 404, {"error_code": "ENDPOINT_NOT_FOUND", "message": url.path}
        state = self._load()
        if found[1]:
            state["files"].add(found[2])
            answer: tuple[int, dict[str, Any]] = (200, {})
        else:
            asked = {k: v[0] for k, v in parse_qs(url.query).items()}
            asked |= json.loads(request.body) if request.body else {}
            answer = _spoken(state, found[2].replace("/", "_").replace("-", "_"), asked)
        with self._opened(self._file, "wb") as file:
            pickle.dump(state, file)
        return answer


def _spoken(
    state: State, what: str, asked: dict[str, Any]
) -> tuple[int, dict[str, Any]]:
    act = SPOKEN.get(what)
    if act is None:
        return 404, {"error_code": "ENDPOINT_NOT_FOUND", "message": what}
    try:
        return 200, act(state, asked)
    except KeyError as error:
        return 404, {"error_code": "RESOURCE_DOES_NOT_EXIST", "message": str(error)}
    except ValueError as error:
        return 400, {"error_code": "INVALID_PARAMETER_VALUE", "message": str(error)}


def _experiment(state: State, asked: dict[str, Any]) -> dict[str, Any]:
    name = asked["experiment_name"]
    found = {"experiment_id": state["experiments"][name], "name": name}
    found |= {"artifact_location": "mlflow-artifacts:/0", "lifecycle_stage": "active"}
    return {"experiment": found}


def _new_experiment(state: State, asked: dict[str, Any]) -> dict[str, Any]:
    if asked["name"] in state["experiments"]:
        raise ValueError(f"{asked['name']} is there already")
    state["experiments"][asked["name"]] = "1"
    return {"experiment_id": "1"}


def _new_run(state: State, asked: dict[str, Any]) -> dict[str, Any]:
    number = f"{len(state['runs']) + 1:032x}"
    tags = {tag["key"]: tag["value"] for tag in asked.get("tags", [])}
    state["runs"][number] = {
        "id": number, "name": asked.get("run_name") or tags.get("mlflow.runName", ""),
        "status": "RUNNING", "start": asked.get("start_time"), "end": None,
        "tags": tags, "params": {}, "metrics": {}, "deleted": False,
    }  # fmt: skip
    return {"run": _told(state["runs"][number])}


def _told(run: dict[str, Any]) -> dict[str, Any]:
    pairs = {
        kind: [{"key": key, "value": value} for key, value in run[kind].items()]
        for kind in ("tags", "params")
    }
    metrics = [
        {"key": key, "value": values[-1], "timestamp": 0, "step": 0}
        for key, values in run["metrics"].items()
    ]
    info = {
        "run_id": run["id"], "run_uuid": run["id"], "experiment_id": "1",
        "run_name": run["name"], "status": run["status"], "start_time": run["start"],
        "artifact_uri": f"mlflow-artifacts:/0/{run['id']}/artifacts",
        "lifecycle_stage": "deleted" if run["deleted"] else "active",
    }  # fmt: skip
    return {"info": info, "data": {**pairs, "metrics": metrics}}


def _searched(state: State, asked: dict[str, Any]) -> dict[str, Any]:
    wanted = TAG.findall(asked.get("filter", ""))
    if len(wanted) != asked.get("filter", "").count("="):
        raise ValueError(f"the stand-in does not know {asked['filter']!r}")
    found = [
        _told(run)
        for run in state["runs"].values()
        if not run["deleted"] and all(run["tags"].get(k) == v for k, v in wanted)
    ]
    return {"runs": found}


def _logged(state: State, asked: dict[str, Any]) -> dict[str, Any]:
    run = state["runs"][asked["run_id"]]
    for pair in asked.get("params", []):
        if run["params"].setdefault(pair["key"], pair["value"]) != pair["value"]:
            raise ValueError(f"parameter {pair['key']} has another value already")
    for one in asked.get("metrics", []):
        run["metrics"].setdefault(one["key"], []).append(one["value"])
    run["tags"] |= {tag["key"]: tag["value"] for tag in asked.get("tags", [])}
    return {}


def _metric(state: State, asked: dict[str, Any]) -> dict[str, Any]:
    return _logged(state, {"run_id": asked["run_id"], "metrics": [asked]})


def _tagged(state: State, asked: dict[str, Any]) -> dict[str, Any]:
    state["runs"][asked["run_id"]]["tags"][asked["key"]] = asked["value"]
    return {}


def _updated(state: State, asked: dict[str, Any]) -> dict[str, Any]:
    run = state["runs"][asked["run_id"]]
    run["status"], run["end"] = (
        asked.get("status", run["status"]),
        asked.get("end_time"),
    )
    return {"run_info": _told(run)["info"]}


def _deleted(state: State, asked: dict[str, Any]) -> dict[str, Any]:
    state["runs"][asked["run_id"]]["deleted"] = True
    return {}


SPOKEN: dict[str, Callable[[State, dict[str, Any]], dict[str, Any]]] = {
    "experiments_get_by_name": _experiment,
    "experiments_create": _new_experiment,
    "runs_create": _new_run,
    "runs_get": lambda state, asked: {"run": _told(state["runs"][asked["run_id"]])},
    "runs_search": _searched,
    "runs_log_batch": _logged,
    "runs_log_metric": _metric,
    "runs_log_inputs": lambda *_: {},
    "runs_set_tag": _tagged,
    "runs_update": _updated,
    "runs_delete": _deleted,
}


@contextmanager
def answered(server: StandIn) -> Iterator[None]:
    """Let requests of the block go to the stand-in."""

    def send(_: Any, request: Any, **how: Any) -> Any:
        return server.send(request, **how)

    with mock.patch.object(HTTPAdapter, "send", send):
        yield
