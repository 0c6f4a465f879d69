import pytest

from pipeline.runs.run_keys import canonical, identity, key_of, targets
from pipeline.terminal import InputError
from sim.core.imported_code import code_closure

CONFIG = {"a": {"x": 0.01, "n": 3}, "b": ["one", 2.0]}


def key(config: dict, **rest: object) -> str:
    return key_of(identity("simulate", config, **rest))  # type: ignore[arg-type]


def test_a_key_ignores_the_order_of_entries_and_the_spelling_of_numbers():
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
def test_a_key_changes_with_every_leaf(other):
    assert key(other) != key(CONFIG)


def test_true_and_one_are_different_values():
    assert key({"a": True}) != key({"a": 1})


def test_a_key_changes_with_upstream_runs_and_files():
    plain = key(CONFIG)
    assert key(CONFIG, upstream={"scan": "ab"}) != plain
    assert key(CONFIG, files=["cd"]) != plain


def test_a_key_follows_the_content_of_a_file_and_not_its_path(tmp_path):
    one, two = tmp_path / "one.json", tmp_path / "two.json"
    one.write_text("{}")
    two.write_text("{}")
    assert canonical({"path": str(one)}) == canonical({"path": str(two)})
    two.write_text("{ }")
    assert canonical({"path": str(one)}) != canonical({"path": str(two)})


def test_a_missing_file_is_refused_by_name(tmp_path):
    with pytest.raises(InputError, match=r"gone\.ply cannot be read"):
        canonical({"path": str(tmp_path / "gone.ply")})


def test_modules_named_by_targets_count_as_imported():
    config = {
        "case": {
            "_target_": "sim.core.options.NotConvergedError",
            "list": [{"_target_": "a.b"}],
        }
    }
    assert list(targets(config)) == ["sim.core.options", "a"]
    bare = identity("simulate", {"case": {}})["code"]
    assert (
        identity("simulate", {"case": {"_target_": "sim.linalg.sparse_ldl.x"}})["code"]
        != bare
    )


def test_the_simulate_step_depends_on_no_case_it_does_not_run():
    modules = code_closure(["pipeline.steps.simulate"])[0]
    cases = {name for name in modules if name.startswith("pipeline.cases.")}
    assert "pipeline.runs.case_job" in modules  # which builds it, whatever it is
    assert cases == {"pipeline.cases.record"}  # what every recorder is, and no case
