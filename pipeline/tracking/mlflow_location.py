"""Where MLflow is: conf/tracking.yaml, the address of the store, the pages on it."""

import contextlib
import os
import socket
import sys
from pathlib import Path
from typing import Annotated, NoReturn
from urllib.parse import quote, urlsplit

from pydantic import Field

from pipeline.config.config_files import checked
from pipeline.config.hydra import composed_file
from pipeline.config.value_types import Entry, Positive
from pipeline.terminal import InputError, one_line, shown_path
from pipeline.tracking.mlflow_database import (
    PREFIX,
    StoreError,
    prepare,
    run_counts,
    sqlite_file,
)

TRACKING = Path("conf/tracking.yaml")
SECRETS = ("MLFLOW_TRACKING_PASSWORD", "MLFLOW_TRACKING_TOKEN")


class TrackingOptions(Entry):
    """conf/tracking.yaml; the defaults serve where there is no such file."""

    uri: str = f"{PREFIX}results/mlflow/mlflow.db"
    artifacts: str = "results/mlflow/artifacts"
    largest_artifact_mb: Positive = 10.0
    most_steps: Annotated[int, Field(ge=2)] = 2000
    study_steps: bool = False


def read_options(path: Path = TRACKING) -> TrackingOptions:
    """conf/tracking.yaml, checked."""
    given = composed_file(path) if path.is_file() else {}
    return checked(TrackingOptions, given, str(path))


def without_secrets(text: str) -> str:
    """`text` without the passwords that the environment holds for MLflow's server.

    They may be in an address, user:password@host, or in MLflow's own variables.
    """
    secrets = [os.environ.get(name, "") for name in SECRETS]
    secrets += [urlsplit(os.environ.get("MLFLOW_TRACKING_URI", "")).password or ""]
    for secret in filter(None, secrets):
        text = text.replace(quote(secret, safe=""), "***").replace(secret, "***")
    return text


def tracking_uri(options: TrackingOptions) -> str:
    """The store: MLFLOW_TRACKING_URI, or the one that conf/tracking.yaml names.

    The file of an embedded store is made absolute: MLflow remembers stores by address.
    """
    uri = os.environ.get("MLFLOW_TRACKING_URI") or options.uri
    if uri.startswith(PREFIX):
        return f"{PREFIX}{Path(uri.removeprefix(PREFIX)).resolve()}"
    return uri


def shown_store(uri: str) -> str:
    """The store as a person in this folder names it: a file, or an address."""
    if not uri.startswith(PREFIX):
        return without_secrets(uri)
    return str(shown_path(Path(uri.removeprefix(PREFIX))))


LOOPBACK = "127.0.0.1"
PAGE = "{server}/#/experiments/{id}/runs?workflowType=machine_learning"


def _check_port(port: int) -> None:
    try:
        socket.create_server((LOOPBACK, port)).close()
    except OSError as error:
        raise InputError(
            f"port {port} of {LOOPBACK} cannot be used ({one_line(error)}): "
            "give another --port"
        ) from error


def open_pages(port: int) -> NoReturn:
    """Print which pages there are, and replace this process by MLflow's server."""
    options = read_options()
    uri = tracking_uri(options)
    file = sqlite_file(uri)
    if file is None:
        raise InputError(f"MLflow is a server: open {shown_store(uri)} in a browser")
    with contextlib.suppress(StoreError):  # it is for reading only, or busy
        if note := prepare(file, options.artifacts, thorough=True):
            print(f"warning: {note}", file=sys.stderr)
    if not file.is_file():
        raise InputError(
            f"{shown_store(uri)} does not exist, so no run was logged: run make demo, "
            "or morphtrack track if results exist"
        )
    _check_port(port)
    for name, number, runs in run_counts(file):
        page = PAGE.format(server=f"http://{LOOPBACK}:{port}", id=number)
        print(f"{name:12} {runs:5} runs  {page}")
    print("only this machine can open the pages; Ctrl-C stops the server", flush=True)
    words = ["-m", "mlflow", "ui", "--backend-store-uri", uri]
    words += ["--host", LOOPBACK, "--port", str(port)]
    environment = {**os.environ, "MLFLOW_SERVER_ENABLE_JOB_EXECUTION": "false"}
    os.execve(sys.executable, [sys.executable, *words], environment)
