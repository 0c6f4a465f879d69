"""One seeded generator for every test that draws numbers; kernels compiled once."""

import gc
import os
import signal

import numpy as np
import pytest

from tests.shares import in_share

# Files and folders that the other workers test while the first one compiles.
WITHOUT_KERNELS = (
    "tests/analysis/figures",
    "tests/docs/test_site.py",
    "tests/pipeline/runs/test_carriers.py",
    "tests/pipeline/test_export.py",
    "tests/pipeline/tracking",
    "tests/pipeline/workflow/test_plan.py",
)


@pytest.fixture
def rng():
    return np.random.default_rng(0)


def pytest_configure() -> None:
    """Take Ctrl-C and SIGHUP, and let what tests start take them, under nohup too.

    A process inherits what is ignored: one that outlives its SIGHUP is waited for.
    """
    signal.signal(signal.SIGINT, signal.default_int_handler)
    if signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:
        signal.signal(signal.SIGHUP, _hung_up)
    gc.disable()  # what is collected stays to the end: to look through it takes seconds


def _hung_up(*_: object) -> None:
    """Goes on, as nohup asked for; what tests start has SIGHUP's own meaning."""


def pytest_collection_modifyitems(
    config: pytest.Config, items: list[pytest.Item]
) -> None:
    """First what calls no kernel; of all, the share K/N that LONG_SHARE asks for."""
    items.sort(key=lambda item: not item.nodeid.startswith(WITHOUT_KERNELS))
    if share := os.environ.get("LONG_SHARE"):
        others = [item for item in items if not in_share(drawn_by(item), share)]
        config.hook.pytest_deselected(items=others)
        items[:] = [item for item in items if in_share(drawn_by(item), share)]


def pytest_collection_finish() -> None:
    gc.freeze()
    gc.enable()


def drawn_by(item: pytest.Item) -> str:
    """The name that draws a test's share: its file's where all need one costly run."""
    whole = item.get_closest_marker("together")
    return item.nodeid.partition("::")[0] if whole else item.nodeid


@pytest.hookimpl(tryfirst=True)
def pytest_runtestloop(session: pytest.Session) -> None:
    """Let the first worker of pytest-xdist compile for all."""
    worker = getattr(session.config, "workerinput", {})
    if worker.get("workerid") == "gw0":
        from tests.compiling import compile_once

        compile_once()
