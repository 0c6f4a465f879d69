"""One seeded generator for every test that draws numbers; kernels compiled once."""

import numpy as np
import pytest


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(0)


def pytest_collection_finish(session: pytest.Session) -> None:
    """Let the workers of pytest-xdist share the compiling before the first test."""
    if hasattr(session.config, "workerinput"):
        from tests.compiling import compile_once

        compile_once(session.config.cache.mkdir("compiling"))
