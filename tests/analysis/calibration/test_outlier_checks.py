"""Wrong spheres, wrong labels, and scans that count twice; synthetic."""

from dataclasses import replace

import numpy as np
import pytest

from analysis.calibration.as_built_fit import Pose, calibrate
from analysis.calibration.as_built_model import Unknowns, model_of
from analysis.calibration.outlier_checks import (
    refuse_repeated,
    refuse_suspects,
    suspects,
)
from sim.core.arrays import Floats
from sim.mechanism.named_structures import triangle_sheet
from tests.analysis.calibration.prints import Errors, scans

SHEET = triangle_sheet(1, 1, variation=0.1, seed=1)
ERRORS = Errors(play=0.05)


@pytest.fixture(scope="module")
def made():
    return model_of(SHEET, 40.0, Unknowns())


def changed(poses: list[Pose], nodes: Floats) -> list[Pose]:
    return [poses[0], replace(poses[1], nodes_mm=nodes), *poses[2:]]


@pytest.mark.parametrize("many", [2, 3, 4])
def test_right_spheres_are_not_suspected(many, made, rng):
    chances = []
    for _ in range(12):
        _, poses = scans(made, ERRORS, many, rng)
        chances.append(suspects(calibrate(made, poses), poses)[0].chance)
    assert min(chances) > 1e-3


def test_a_moved_sphere_is_named_with_how_far_it_is(made, rng):
    _, poses = scans(made, ERRORS, 4, rng)
    nodes = poses[1].nodes_mm.copy()
    nodes[5] += [2.0, 0.0, 0.0]
    bad = changed(poses, nodes)
    found = calibrate(made, bad)
    first = suspects(found, bad)[0]
    assert (first.pose, first.node) == ("pose 1", 5)
    assert first.shift_mm == pytest.approx(2.0, abs=0.3)
    with pytest.raises(ValueError, match="node 5 of pose 1 is about"):
        refuse_suspects(found, bad)


def test_of_two_poses_either_may_be_wrong(made, rng):
    _, poses = scans(made, ERRORS, 2, rng)
    nodes = poses[1].nodes_mm.copy()
    nodes[5] += [2.0, 0.0, 0.0]
    bad = changed(poses, nodes)
    with pytest.raises(ValueError, match="node 5 of pose") as error:
        refuse_suspects(calibrate(made, bad), bad)
    assert "node 5 of pose 0" in str(error.value)
    assert "node 5 of pose 1" in str(error.value)


@pytest.mark.parametrize("many", [2, 4])
def test_exchanged_labels_are_refused(many, made, rng):
    _, poses = scans(made, ERRORS, many, rng)
    nodes = poses[1].nodes_mm.copy()
    nodes[[3, 8]] = nodes[[8, 3]]
    bad = changed(poses, nodes)
    with pytest.raises(ValueError, match=r"(3|8) of pose . .*is about far"):
        refuse_suspects(calibrate(made, bad), bad)


def test_without_variances_shifts_are_those_of_chi_squared(rng):
    """The chance that some right node seems as far is spread evenly, or higher."""
    plain = model_of(SHEET, 40.0, Unknowns(link_play=False, scatter=False))
    chances = []
    for _ in range(40):
        _, poses = scans(plain, Errors(), 3, rng)
        chances.append(suspects(calibrate(plain, poses), poses)[0].chance)
    assert np.mean(np.array(chances) < 0.2) < 0.4
    assert np.mean(np.array(chances) < 0.5) > 0.15


def test_the_same_scan_in_another_frame_is_refused(made, rng):
    _, poses = scans(made, ERRORS, 2, rng)
    refuse_repeated(made, poses)
    turned = poses[0].nodes_mm[:, [1, 2, 0]] + 5.0
    copied = replace(poses[0], name="copy", nodes_mm=turned)
    with pytest.raises(ValueError, match="pose 0 and copy are the same scan"):
        refuse_repeated(made, [*poses, copied])
