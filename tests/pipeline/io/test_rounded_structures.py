"""Structure files with rounded coordinates: mobility, what is said, and motion."""

import json
import re
from pathlib import Path

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from pipeline.cases.equilibrium import loaded_file
from pipeline.cases.mechanism_motion import MechanismMotionCase
from pipeline.io.structure_file import OwnStructure, structure_file
from sim.mechanism.mobility import mobility, nearby_mobility
from tests.sim.mechanism.overconstrained_linkages import (
    Z,
    bennett_axes,
    hinge_loop,
)

RNG = np.random.default_rng(0)
TURN = Rotation.from_euler("xyz", [40, 25, -70], degrees=True)


def ring(axes):
    """Nodes, and bodies that share the two nodes of each hinge."""
    pairs = np.arange(2 * len(axes)).reshape(-1, 2)
    bodies = np.hstack([pairs, np.roll(pairs, -1, axis=0)]).tolist()
    return {"nodes": hinge_loop("", axes, RNG).nodes, "bodies": bodies}


def hinges(*joints):
    """Joints of rows: two bodies, and two nodes that both have."""
    rows = [{"hinge": {"bodies": [a, b], "axis": [i, j]}} for a, b, i, j in joints]
    return {"joints": rows, "fixed": [0, 1, 2, 3]}


def around(n):
    return hinges(*((i - 1 if i else n - 1, i, 2 * i, 2 * i + 1) for i in range(n)))


def trihedral():
    """Bricard's third, threefold: neighbours at right angles, as a kaleidocycle has."""
    axes = []
    for k, tilt in enumerate([np.arctan(0.8), -np.arctan(0.5 / 0.8)] * 3):
        out = np.array([np.cos(k * np.pi / 3), np.sin(k * np.pi / 3), 0.0])
        axes.append(((1 + 0.3 * (k % 2)) * out, np.cos(tilt) * out + np.sin(tilt) * Z))
    return axes


def box():
    """Sarrus' linkage of six flat plates: two squares and two pairs of sides."""
    low = np.array([[0, 0, 0], [60, 0, 0], [60, 80, 0], [0, 80, 0]])
    sides = [[-20, 0, 25], [-20, 80, 25], [0, -30, 25], [60, -30, 25]]
    nodes = np.vstack([low, low + np.array([0, 0, 50]), sides])
    bodies = [[0, 1, 2, 3], [4, 5, 6, 7], [0, 3, 9, 8], [8, 9, 7, 4],
              [0, 1, 11, 10], [10, 11, 5, 4]]  # fmt: skip
    return {"nodes": TURN.apply(nodes), "bodies": bodies} | hinges(
        (0, 2, 0, 3), (2, 3, 8, 9), (3, 1, 7, 4), (0, 4, 0, 1), (4, 5, 10, 11),
        (5, 1, 4, 5),
    )  # fmt: skip


def door():
    """Two hinges in a line."""
    line = np.outer([0, 10, 90, 100], Z)
    nodes = np.vstack([line, [[50, 0, 0], [50, 0, 100], [-50, 0, 0], [-50, 0, 100]]])
    bodies = [[0, 1, 2, 3, 6, 7], [0, 1, 2, 3, 4, 5]]
    held = hinges((0, 1, 0, 1), (0, 1, 2, 3)) | {"fixed": [0, 1, 2, 3, 6, 7]}
    return {"nodes": TURN.apply(nodes), "bodies": bodies} | held


def miura():
    """Three by three flat panels, half folded."""
    i, j = np.divmod(np.arange(16), 4)
    nodes = np.column_stack([30 * i, 35 * j + 12 * (i % 2), 20 * (j % 2)])
    bodies = [[k, k + 1, k + 5, k + 4] for k in range(11) if k % 4 < 3]
    return {"nodes": TURN.apply(nodes), "bodies": bodies, "fixed": [0, 1, 4, 5]}


def carriage():
    """A slider on two parallel rods."""
    nodes = [[0, 0, 0], [10, 0, 0], [0, 4, 0], [10, 4, 0], [3, 0, 0], [5, 0, 0],
             [3, 4, 0], [5, 4, 0], [4, 2, 1]]  # fmt: skip
    rows = [{"cylindrical": {"bodies": [0, 1], "axis": [k, k + 1],
                             "other": [k + 4, k + 5]}} for k in (0, 2)]  # fmt: skip
    bodies = [[0, 1, 2, 3], [4, 5, 6, 7, 8]]
    held = {"joints": rows, "fixed": [*range(4)]}
    return {"nodes": TURN.apply(nodes), "bodies": bodies} | held


BENNETT = ring(bennett_axes(1.0, 0.7, 1.2, 1.1)) | around(4)
FILES = {
    "bennett": (BENNETT, 3, 1),
    "trihedral": (ring(trihedral()) | around(6), 3, 1),
    "free ring": (ring(trihedral()), 3, 7),
    "sarrus": (box(), 6, 1),
    "door": (door(), 3, 1),
    "miura": (miura(), 3, 1),
    "carriage": (carriage(), 4, 1),
}


def written(folder: Path, content, decimals) -> str:
    nodes = np.asarray(content["nodes"])
    nodes = nodes if decimals is None else np.round(nodes, decimals)
    path = folder / f"{decimals}.json"
    path.write_text(json.dumps(content | {"nodes": nodes.tolist(), "unit": "mm"}))
    return str(path)


@pytest.mark.parametrize("name", FILES)
def test_a_rounded_file_moves_as_the_exact_one_and_says_how_it_was_closed(
    name, tmp_path
):
    content, decimals, right = FILES[name]
    exact, rounded = (
        structure_file(written(tmp_path, content, d)) for d in (None, decimals)
    )
    assert isinstance(rounded, OwnStructure)
    for made in (exact, rounded):
        assert (mobility(made).mobility, nearby_mobility(made)) == (right, right)
    begin, _, rest = rounded.drawing.partition(": ")
    assert begin == f"coordinates are rounded to {10.0**-decimals:g} mm"
    closed = r"nodes were moved by (\S+) mm or less to close all loops"
    omitted = r"constraints with misfits of up to (\S+) mm were omitted"
    said = re.search(omitted if name == "door" else closed, rest)
    assert said is not None
    assert 0.0 < float(said[1]) < 10.0 ** (1 - decimals)
    assert getattr(exact, "drawing", "") == ""


def test_a_rounded_linkage_falls_as_the_exact_one(tmp_path):
    masses = [{"nodes": [k], "mass": 0.01} for k in range(4, 8)]
    ends = []
    for decimals in (None, 3):
        path = written(tmp_path, BENNETT | {"masses": masses}, decimals)
        *_, last = MechanismMotionCase(loaded_file(path), duration=0.2, h=0.01).steps()
        ends.append(1e3 * last.r)
    assert np.abs(ends[0] - BENNETT["nodes"]).max() > 20.0
    assert ends[1] == pytest.approx(ends[0], abs=0.02)
