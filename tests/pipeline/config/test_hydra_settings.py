"""`simulate` is a Hydra application; files of conf choose nothing else that runs."""

from typing import Any

import pytest
import yaml

CASE = "case=pentapod"


@pytest.mark.parametrize("key", ["callbacks", "launcher", "sweeper"])
@pytest.mark.parametrize("words", [["case=other"], ["-m", f"case=other,{CASE}"]])
def test_a_case_chooses_no_launcher_sweeper_or_callback(project, key, words, refused):
    settings = {key: {"_target_": "shutil.copyfile", "src": "a", "dst": "b"}}
    whole: dict[str, Any] = {"defaults": ["pentapod@case"], "hydra": settings}
    path = project / "conf" / "case" / "other.yaml"
    path.write_text("# @package _global_\n" + yaml.safe_dump(whole))
    said = refused("simulate", *words)
    assert f"conf/case/other.yaml sets hydra.{key}: remove it" in said
    assert not (project / "results").exists()


def test_a_pickle_is_not_run_again(project, refused):
    (project / "steps.pkl").write_text("no pickle")
    words = [CASE, "--experimental-rerun", "steps.pkl"]
    assert "--experimental-rerun" in refused("simulate", *words)
