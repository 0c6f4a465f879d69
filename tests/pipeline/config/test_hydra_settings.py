"""A configuration of others runs nothing, whatever it says to Hydra."""

import pickle
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.pipeline.conftest import Capture, Command, refusal, refused

GOOD = "triangles_cylinder"
CASE = f"case={GOOD}"


class Bomb:
    """Whoever unpickles it makes a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def __reduce__(self) -> Any:
        return Path.mkdir, (self.folder,)


@pytest.fixture
def exploded(project: Path) -> Path:
    """Where a folder is once the pickle beside it was opened."""
    (project / "steps.pkl").write_bytes(pickle.dumps(Bomb(project / "exploded")))
    return project / "exploded"


def write_case(project: Path, hydra: dict[str, Any]) -> None:
    """A case that is sound but for what it says to Hydra."""
    whole = {"defaults": ["triangles_cylinder@case"], "hydra": hydra}
    path = project / "conf" / "case" / "evil.yaml"
    path.write_text("# @package _global_\n" + yaml.safe_dump(whole))


PICKLE = {"_target_": "pandas.read_pickle", "filepath_or_buffer": "steps.pkl"}
COPY = {"_target_": "shutil.copyfile", "src": "steps.pkl", "dst": "exploded"}
SETTINGS: dict[str, dict[str, Any]] = {
    "callbacks.x._target_": {"callbacks": {"x": PICKLE}},
    "callbacks.y._target_": {"callbacks": {"y": COPY}},
    "launcher._target_": {"launcher": {"_target_": "pandas.read_pickle"}},
    "sweeper._target_": {"sweeper": {"_target_": "shutil.copyfile"}},
    "job_logging": {
        "job_logging": {
            "version": 1,
            "handlers": {"x": {"class": "logging.FileHandler", "filename": "exploded"}},
            "root": {"handlers": ["x"]},
        }
    },
    "hydra_logging": {
        "hydra_logging": {
            "version": 1,
            "formatters": {"x": {"()": "shutil.copyfile", **COPY}},
            "root": {"level": "ext://sys.exit"},
        }
    },
    "job.env_set.LD_PRELOAD": {"job": {"env_set": {"LD_PRELOAD": "evil.so"}}},
    "sweeper.params.hydra.run.dir": {
        "sweeper": {"params": {"hydra.run.dir": "exploded"}}
    },
    "run.dir": {"run": {"dir": "exploded"}},
    "output_subdir": {"output_subdir": "../exploded"},
    "job.name": {"job": {"name": "../exploded"}},
}


@pytest.mark.parametrize("words", [["case=evil"], ["-m", f"case=evil,{GOOD}"]])
def test_a_case_of_others_runs_no_code(
    command: Command, project: Path, exploded: Path, words: list[str]
) -> None:
    write_case(project, {"callbacks": {"x": PICKLE}})
    said = refusal(command("simulate", *words))
    assert "hydra.callbacks.x._target_ is 'pandas.read_pickle' in simulate.yaml" in said
    assert not exploded.exists()
    assert not (project / "results" / "runs").exists()


@pytest.mark.parametrize("key", SETTINGS)
@pytest.mark.parametrize("words", [["case=evil"], ["-m", f"case=evil,{GOOD}"]])
def test_a_case_of_others_changes_nothing_below_hydra(
    project: Path, exploded: Path, key: str, words: list[str], capsys: Capture
) -> None:
    write_case(project, SETTINGS[key])
    said = refused(words, capsys)
    assert f"hydra.{key} is " in said
    assert "case=evil" in said
    assert said.endswith(": remove it")
    assert not exploded.exists()
    assert not (project / "results" / "runs").exists()


def test_configurations_are_sought_in_conf_alone(
    project: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    (project / "elsewhere").mkdir()
    (project / "elsewhere" / "__init__.py").write_text("open('exploded', 'w')\n")
    monkeypatch.syspath_prepend(project)
    path = project / "conf" / "simulate.yaml"
    more = "\nhydra:\n  searchpath: [pkg://elsewhere]\n"
    path.write_text(path.read_text().replace("\nhydra:\n", more))
    said = refused([CASE], capsys)
    assert "hydra.searchpath is ['pkg://elsewhere'] in simulate.yaml" in said
    assert not (project / "exploded").exists()


@pytest.mark.parametrize(
    "word",
    [
        "+hydra.callbacks.x={_target_:pandas.read_pickle,filepath_or_buffer:steps.pkl}",
        "hydra.searchpath=[pkg://elsewhere]",
        "hydra.launcher._target_=pandas.read_pickle",
    ],
)
@pytest.mark.parametrize(
    "also", [(CASE,), (CASE, "-m"), ("--hydra-help",), (CASE, "--cfg", "all")]
)
def test_a_copied_command_line_makes_nothing_either(
    exploded: Path, word: str, also: tuple[str, ...], capsys: Capture
) -> None:
    assert "hydra." in refused([word, *also], capsys)
    assert not exploded.exists()


@pytest.mark.parametrize(
    "words",
    [
        [CASE, "hydra.output_subdir=../mine"],
        ["-m", CASE, "hydra.sweep.dir=mine"],
        ["-m", CASE, "hydra.sweep.subdir=../mine"],
    ],
)
def test_a_copied_command_line_writes_over_nothing(
    project: Path, words: list[str], capsys: Capture
) -> None:
    (project / "mine").mkdir()
    for name in ("config.yaml", "multirun.yaml"):
        (project / "mine" / name).write_text("kept")
    assert "differ from what is shipped" in refused(words, capsys)
    assert {path.read_text() for path in (project / "mine").iterdir()} == {"kept"}


def test_a_pickle_is_not_run_again(exploded: Path, capsys: Capture) -> None:
    words = [CASE, "--experimental-rerun", "steps.pkl"]
    assert "--experimental-rerun steps.pkl" in refused(words, capsys)
    assert not exploded.exists()


@pytest.mark.parametrize(
    "word", ["case.target.radius=${oc.env:HOME}", "+case.a=[1,{b: '${oc.env:HOME}'}]"]
)
def test_a_word_that_names_the_environment_is_told(word: str, capsys: Capture) -> None:
    for words in ([CASE, word], ["-m", f"{CASE},box", word]):
        assert refused(words, capsys) == (
            f"error: {word}: run.json, MLflow and archives would show a variable of "
            "yours: write the value itself"
        )
