from types import SimpleNamespace

import pytest

from tests import compiling, conftest


@pytest.mark.parametrize(
    ("config", "compiles"),
    [
        ({"workerinput": {"workerid": "gw0"}}, True),
        ({"workerinput": {"workerid": "gw1"}}, False),
        ({}, False),
    ],
)
def test_the_first_of_several_workers_compiles(config, compiles, monkeypatch):
    called: list[bool] = []
    monkeypatch.setattr(compiling, "compile_once", lambda: called.append(True))
    conftest.pytest_runtestloop(SimpleNamespace(config=SimpleNamespace(**config)))
    assert bool(called) is compiles


@pytest.mark.parametrize("package", compiling.FIRST_STEPS)
def test_the_cases_that_are_compiled_for_are_there(package):
    for words in compiling.FIRST_STEPS[package]:
        assert len(compiling.first_steps(words)) > 1
