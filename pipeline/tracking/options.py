"""Where MLflow is and what goes into it: conf/tracking.yaml and the environment."""

import os
from pathlib import Path
from typing import Annotated
from urllib.parse import quote, urlsplit

from pydantic import Field

from pipeline.config.checking import checked
from pipeline.config.hydra import composed_file
from pipeline.config.models import Entry, Positive
from pipeline.tracking.database import PREFIX

TRACKING = Path("conf/tracking.yaml")
SECRETS = ("MLFLOW_TRACKING_PASSWORD", "MLFLOW_TRACKING_TOKEN")


class TrackingOptions(Entry):
    """conf/tracking.yaml."""

    uri: str
    artifacts: str
    experiment: str
    largest_artifact_mb: Positive = 10.0
    most_steps: Annotated[int, Field(ge=2)] = 2000
    study_steps: bool = False


def read_options(path: Path = TRACKING) -> TrackingOptions:
    """conf/tracking.yaml, checked."""
    return checked(TrackingOptions, composed_file(path), str(path))


def without_secrets(text: str) -> str:
    """`text` without the passwords that the environment holds for MLflow's server.

    They may stand in an address, user:password@host, or in variables of MLflow's own.
    """
    held = [os.environ.get(name, "") for name in SECRETS]
    held += [urlsplit(os.environ.get("MLFLOW_TRACKING_URI", "")).password or ""]
    for secret in filter(None, held):
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
