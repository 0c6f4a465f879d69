import threading

import pytest

from tests import compiling


def test_what_another_worker_compiles_is_left_to_it_and_waited_for(
    tmp_path, monkeypatch
):
    import sim.origami
    import sim.rods  # noqa: F401

    taken: list[str] = []
    all_else = threading.Event()
    monkeypatch.setattr(
        compiling, "FIRST_STEPS", {"sim.rods": ("rod",), "sim.origami": ("origami",)}
    )

    def take(cases: tuple[str, ...]) -> None:
        taken.extend(cases)
        all_else.set()

    monkeypatch.setattr(compiling, "take_first_steps", take)
    here = threading.Thread(target=compiling.compile_once, args=[tmp_path])
    with compiling.locked(tmp_path / "sim.rods"):
        here.start()
        assert all_else.wait(60.0)
        here.join(0.2)
        assert here.is_alive()
    here.join(60.0)
    assert not here.is_alive()
    assert taken == ["origami"]


@pytest.mark.parametrize("package", compiling.FIRST_STEPS)
def test_the_cases_that_are_compiled_for_are_there(package):
    for words in compiling.FIRST_STEPS[package]:
        assert len(compiling.first_steps(words)) > 1
