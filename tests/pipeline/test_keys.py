from pathlib import Path

import pytest

from pipeline import keys
from pipeline.errors import InputError
from pipeline.keys import canonical, code_closure, identity, key_of, targets

CONFIG = {"a": {"x": 0.01, "n": 3}, "b": ["one", 2.0]}


def key(config: dict, **rest: object) -> str:
    return key_of(identity("simulate", config, **rest))  # type: ignore[arg-type]


def test_a_key_ignores_the_order_of_entries_and_the_spelling_of_numbers() -> None:
    turned = {"b": ["one", 2], "a": {"n": 3.0, "x": float("1e-2")}}
    assert key(turned) == key(CONFIG)


@pytest.mark.parametrize(
    "other",
    [
        {"a": {"x": 0.011, "n": 3}, "b": ["one", 2.0]},
        {"a": {"x": 0.01, "n": 4}, "b": ["one", 2.0]},
        {"a": {"x": 0.01, "n": 3}, "b": [2.0, "one"]},
        {"a": {"x": 0.01, "n": True}, "b": ["one", 2.0]},
        {"a": {"x": 0.01}, "b": ["one", 2.0]},
    ],
)
def test_a_key_changes_with_every_leaf(other: dict) -> None:
    assert key(other) != key(CONFIG)


def test_true_and_one_are_different_values() -> None:
    assert key({"a": True}) != key({"a": 1})


def test_a_key_changes_with_upstream_runs_and_files() -> None:
    plain = key(CONFIG)
    assert key(CONFIG, upstream={"scan": "ab"}) != plain
    assert key(CONFIG, files=["cd"]) != plain


def test_a_key_follows_the_content_of_a_file_and_not_its_path(tmp_path: Path) -> None:
    one, two = tmp_path / "one.json", tmp_path / "two.json"
    one.write_text("{}")
    two.write_text("{}")
    assert canonical({"path": str(one)}) == canonical({"path": str(two)})
    two.write_text("{ }")
    assert canonical({"path": str(one)}) != canonical({"path": str(two)})


def test_a_missing_file_is_refused_by_name(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"gone\.ply cannot be read"):
        canonical({"path": str(tmp_path / "gone.ply")})


def fake_project(root: Path) -> None:
    (root / "sim").mkdir()
    (root / "pipeline").mkdir()
    (root / "sim" / "__init__.py").write_text('"""Arrays."""\n')
    (root / "pipeline" / "__init__.py").write_text("")
    (root / "sim" / "used.py").write_text("import numpy as np\nX = 1\n")
    (root / "sim" / "unused.py").write_text("X = 2\n")
    (root / "pipeline" / "step.py").write_text("from sim import used\n")


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    fake_project(tmp_path)
    monkeypatch.setattr(keys, "SOURCE_ROOT", tmp_path)
    keys._module.cache_clear()
    yield tmp_path
    keys._module.cache_clear()


def closure() -> dict[str, str]:
    keys._module.cache_clear()
    return code_closure(["pipeline.step"])[0]


@pytest.mark.usefixtures("project")
def test_code_is_what_a_step_imports_however_deep() -> None:
    assert set(closure()) == {"pipeline", "pipeline.step", "sim", "sim.used"}


@pytest.mark.usefixtures("project")
def test_imports_from_elsewhere_are_named() -> None:
    assert "numpy" in code_closure(["pipeline.step"])[1]


def test_comments_docstrings_and_layout_are_not_code(project: Path) -> None:
    before = closure()
    (project / "sim" / "used.py").write_text(
        '"""Words."""\n\nimport numpy as np  # why\n\nX   = 1\n'
    )
    assert closure() == before


def test_an_edit_of_imported_code_is_seen_and_of_other_code_is_not(
    project: Path,
) -> None:
    before = closure()
    (project / "sim" / "unused.py").write_text("X = 3\n")
    assert closure() == before
    (project / "sim" / "used.py").write_text("import numpy as np\nX = 3\n")
    assert closure() != before


def test_modules_named_by_targets_count_as_imported() -> None:
    config = {"case": {"_target_": "sim.newton.newton", "list": [{"_target_": "a.b"}]}}
    assert list(targets(config)) == ["sim.newton", "a"]
    bare = identity("simulate", {"case": {}})["code"]
    assert identity("simulate", {"case": {"_target_": "sim.sparse.x"}})["code"] != bare


def test_the_simulate_step_depends_on_no_case_it_does_not_run() -> None:
    modules = code_closure(["pipeline.simulate"])[0]
    assert not [name for name in modules if name.startswith("pipeline.cases.")]
