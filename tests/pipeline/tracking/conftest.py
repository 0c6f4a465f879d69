"""A project whose store is there already: making it takes a second."""

import shutil

import pytest

from pipeline.tracking.logging_process import LOGGER
from pipeline.tracking.mlflow_database import make, set_up_mlflow


@pytest.fixture(autouse=True)
def logging(monkeypatch):
    """Let commands start the process that logs, as they do by default."""
    monkeypatch.delenv(LOGGER)


@pytest.fixture(scope="session")
def empty_store(tmp_path_factory):
    """MLflow's database without experiments."""
    set_up_mlflow()
    file = tmp_path_factory.mktemp("store") / "mlflow.db"
    make(file)
    return file


@pytest.fixture
def tracked(project, empty_store):
    """A project with an empty store."""
    (project / "results" / "mlflow").mkdir(parents=True)
    shutil.copy(empty_store, project / "results" / "mlflow")
    return project
