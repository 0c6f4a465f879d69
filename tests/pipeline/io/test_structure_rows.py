"""Elementary rows in structure files: every kind of constraint has them by its name."""

import importlib.util
from enum import IntEnum

import numpy as np
import pytest

from pipeline.io import structure_file
from pipeline.terminal import InputError
from sim.mechanism import constraints, structure

KINDS = [kind.name for kind in constraints.ConstraintKind]
Kinds = IntEnum("Kinds", [*KINDS, "WIDTH"], start=0)  # type: ignore[misc]
NODES = np.append(constraints.NODES, 3)
TRIANGLE = [[0.0, 0, 0], [1, 0, 0], [0.3, 1.2, 0]]


@pytest.fixture
def with_one_more(monkeypatch):
    """The module as it is where there is one more kind, of three nodes."""
    monkeypatch.setattr(constraints, "ConstraintKind", Kinds)
    monkeypatch.setattr(constraints, "NODES", NODES)
    monkeypatch.setattr(structure, "NODES", NODES)
    spec = importlib.util.find_spec(structure_file.__name__)
    assert spec is not None
    assert spec.loader is not None
    found = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(found)
    monkeypatch.setattr(found, "check_start", lambda _: None)  # no row to evaluate
    return found


def test_rows_of_a_new_kind_are_read_and_written_with_all_their_nodes(with_one_more):
    """And files without it are read as before."""
    made = with_one_more.structure_entries(nodes=TRIANGLE, dist=[[0, 1, 1.0]])
    assert made.constraints.kind.tolist() == [0]
    given = {"nodes": TRIANGLE, "bodies": [[0, 1, 2]], "width": [[0, 1, 2, 0.25]]}
    made = with_one_more.structure_entries(**given)
    assert made.constraints.kind.tolist() == [int(Kinds.WIDTH)]
    assert made.constraints.nodes[0, :3].tolist() == [0, 1, 2]
    assert made.constraints.constant.tolist() == [0.25]
    written = with_one_more.document(made)
    assert {key: written[key] for key in given} == given
    with pytest.raises(InputError, match=r"width\[0\].* it needs 4 numbers"):
        with_one_more.structure_entries(nodes=TRIANGLE, width=[[0, 1, 0.25]])
