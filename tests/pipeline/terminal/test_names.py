"""Names in messages: those offered for one that nothing has, and those of nodes."""

import pytest

from pipeline.terminal import close_to, named_nodes, nearest

FILES = ["chain.yaml", "thin.yaml", "scan.py"]
RUNS = ["crawler,duration=2", "gripper", "pentapod"]


@pytest.mark.parametrize(
    ("name", "offered"),
    [
        ("pentpod", "did you mean pentapod?"),
        ("crawler", "did you mean crawler,duration=2?"),
        ("griper", "did you mean gripper?"),
        ("nowhere", ""),
    ],
)
def test_a_name_is_offered_by_its_nearest_word_too(name, offered):
    assert close_to(name, RUNS) == offered


@pytest.mark.parametrize(
    ("name", "offered"),
    [
        ("chan.yaml", "did you mean chain.yaml?"),
        ("thn.yml", "did you mean thin.yaml?"),
        ("can.yaml", "did you mean chain.yaml?"),
    ],
)
def test_names_that_are_less_close_are_not_offered_beside_one_that_is(name, offered):
    assert close_to(name, FILES) == offered


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("node 2 is off", "node 2 (F) is off"),
        ("nodes 0, 1 and 2, 3 mm", "nodes 0, 1 and 2, 3 (A, B and F, 3) mm"),
        ("link 0-2: dist(0, 2)", "link 0-2 (A-F): dist(0, 2)"),
        ("nodes 0, 1 and 3 more", "nodes 0, 1 (A, B) and 3 more"),
        ("node 2 (F), node 9", "node 2 (F), node 9 (9)"),
        ("link 2, nodes 0 to 2, node 1.5", "link 2, nodes 0 to 2, node 1.5"),
    ],
)
def test_nodes_are_named_beside_their_numbers(text, named):
    assert named_nodes(text, ["A", "B", "F"]) == named
    assert named_nodes(text, []) == text


def test_a_path_that_is_not_there_is_offered_what_its_folder_has(tmp_path):
    for name in ("scan.ply", "scan.yaml", "scan.yaml.bak", "spheres"):
        (tmp_path / name).touch()
    offered = {
        "scna.ply": "did you mean scan.ply?",
        "scam.yaml": "did you mean scan.yaml?",
        "scan.yml": "did you mean scan.yaml",
        "speres": "did you mean spheres?",
        "spheres": "looked in",
        "xy.ply": "looked in",
        "no/scan.ply": "looked in",
    }
    for name, words in offered.items():
        assert nearest(tmp_path / name).startswith(words)
    assert nearest(tmp_path / "x", "give a scan") == "give a scan"
