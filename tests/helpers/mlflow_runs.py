"""What MLflow holds of a project."""

from pathlib import Path
from typing import Any


def runs_in(project: Path) -> list[Any]:
    """Every run of the project's own store, parents of studies among them."""
    from mlflow import MlflowClient

    client = MlflowClient(f"sqlite:///{project}/results/mlflow/mlflow.db")
    experiment = client.get_experiment_by_name("morphtrack")
    assert experiment is not None
    return list(client.search_runs([experiment.experiment_id], max_results=1000))
