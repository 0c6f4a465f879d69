"""MLflow's server, whose experiments keep their files where the server keeps its own.

MLflow takes any place for an experiment's files, and would write there as its own user
whatever is sent. `mlflow server --app-name morphtrack` serves this in its place.
"""

from typing import Any

from mlflow.exceptions import MlflowException
from mlflow.server.fastapi_app import app
from mlflow.store.tracking.sqlalchemy_store import SqlAlchemyStore

__all__ = ["app"]
OWN = "mlflow-artifacts:/"  # where --artifacts-destination says

_create: Any = SqlAlchemyStore.create_experiment


def _create_here(
    store: SqlAlchemyStore, name: str, artifact_location: Any = None, tags: Any = None
) -> Any:
    """An experiment; refused where its files would be elsewhere."""
    here = str(artifact_location or OWN)
    if not here.startswith(OWN) or ".." in here or "%" in here:
        raise MlflowException.invalid_parameter_value(
            f"artifact_location is {artifact_location!r}: leave it out, files are kept "
            f"below the server's own folder, {OWN}"
        )
    return _create(store, name, artifact_location, tags)


SqlAlchemyStore.create_experiment = _create_here  # type: ignore[method-assign]
