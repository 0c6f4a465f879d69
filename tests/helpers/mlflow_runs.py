"""What MLflow has of a project."""

from pathlib import Path
from typing import Any

from mlflow import MlflowClient


def store_of(project: Path) -> str:
    """The address of a project's embedded store."""
    return f"sqlite:///{project}/results/mlflow/mlflow.db"


def client_of(project: Path) -> MlflowClient:
    """A client of a project's embedded store."""
    return MlflowClient(store_of(project))


def runs_at(uri: str, *experiments: str) -> list[Any]:
    """Every run of a store, or of some experiments, parents among them."""
    client = MlflowClient(uri)
    found = {e.name: e.experiment_id for e in client.search_experiments()}
    ids = [found[name] for name in experiments or found]
    return list(client.search_runs(ids, max_results=1000))


def runs_in(project: Path, *experiments: str) -> list[Any]:
    """Every run of a project's embedded store, parents among them."""
    return runs_at(store_of(project), *experiments)
