"""Which names are offered for one that nothing has."""

import pytest

from pipeline.terminal import close_to

RUNS = ["rod_file,path=crawler.yaml", "structure_file,path=gripper.yaml", "pentapod"]


@pytest.mark.parametrize(
    ("name", "offered"),
    [
        ("pentpod", "did you mean pentapod?"),
        ("crawler", "did you mean rod_file,path=crawler.yaml?"),
        ("griper.yaml", "did you mean structure_file,path=gripper.yaml?"),
        ("nowhere", ""),
    ],
)
def test_a_name_is_offered_by_its_nearest_word_too(name, offered):
    assert close_to(name, RUNS) == offered
