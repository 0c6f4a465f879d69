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


def test_what_is_tested_meanwhile_is_there_and_comes_first():
    names = ["tests/sim/test_a.py::b", *conftest.WITHOUT_KERNELS, "tests/docs/x.py::y"]
    items = [SimpleNamespace(nodeid=name) for name in names]
    conftest.pytest_collection_modifyitems(SimpleNamespace(), items)
    assert [item.nodeid for item in items] == [*names[1:-1], names[0], names[-1]]
    assert all((compiling.ROOT / path).exists() for path in conftest.WITHOUT_KERNELS)
