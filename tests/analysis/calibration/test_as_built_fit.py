"""True lengths, offsets, scale and play come back within what is stated; synthetic.

Wrong spheres, wrong labels and scans that count twice do not.
"""

from dataclasses import replace

import numpy as np
import pytest

from analysis.calibration.as_built_fit import Calibration, Pose, calibrate
from analysis.calibration.as_built_unknowns import Free, Model, Role, Unknowns, model_of
from analysis.calibration.outlier_checks import (
    refuse_repeated,
    refuse_suspects,
    suspects,
)
from sim.core.arrays import Floats
from sim.mechanism.named_structures import square_sheet, triangle_sheet
from tests.analysis.calibration.prints import Errors, scans

SHEET = triangle_sheet(1, 1, variation=0.1, seed=1)
SCALE_MM = 40.0


def model(**unknowns: object) -> Model:
    return model_of(SHEET, SCALE_MM, Unknowns(**unknowns))  # type: ignore[arg-type]


def test_exact_centres_give_exact_lengths(rng):
    made = model(link_play=False, scatter=False)
    theta, poses = scans(made, Errors(centre=1e-7), 2, rng)
    np.testing.assert_allclose(calibrate(made, poses).theta, theta, atol=1e-6)


def test_a_length_seen_in_many_poses_is_their_mean_when_nothing_else_is_known(rng):
    """Two nodes and a link: generalised least squares has this closed form."""
    made = model(bodies=Free.NOMINAL, scatter=False)
    alone = replace(made, role=np.full_like(made.role, list(Role).index(Role.LINK)))
    _, poses = scans(made, Errors(play=0.05), 5, rng)
    poses = [replace(p, covariance_mm2=1e-12 * np.eye(3 * 18)) for p in poses]
    link = next(k for k in range(len(made.row)) if made.group[k] == 0)
    one = replace(
        alone,
        constraint=made.constraint[[link]], row=made.row[[link]],
        role=alone.role[[link]], group=np.zeros(1, dtype=np.int64),
        unit=made.unit[[link]], names=(made.names[0],),
    )  # fmt: skip
    a, b = made.structure.constraints.nodes[made.constraint[link], :2]
    lengths = [np.linalg.norm(p.nodes_mm[b] - p.nodes_mm[a]) for p in poses]
    found = calibrate(one, poses)
    assert found.theta[0] == pytest.approx(np.mean(lengths) - one.lengths[0], abs=1e-8)
    assert found.variances[0] == pytest.approx(np.var(lengths, ddof=1), rel=1e-6)
    assert found.u[0] == pytest.approx(np.std(lengths, ddof=1) / np.sqrt(5), rel=1e-5)
    assert found.dof[0] == pytest.approx(4.0, rel=1e-4)


def test_adjusted_nodes_have_the_lengths_found(rng):
    made = model(link_play=False, scatter=False)
    _, poses = scans(made, Errors(centre=0.1), 3, rng)
    found = calibrate(made, poses)
    for pose, adjusted in zip(poses, found.adjusted_mm, strict=True):
        h, A = made.evaluate(adjusted)
        lengths = made.design(adjusted, A, 0.0) @ found.theta
        np.testing.assert_allclose(h, lengths, atol=1e-8)
        assert np.abs(adjusted - pose.nodes_mm).max() > 0.01


def coverage(
    made: Model, errors: Errors, trials: int, rng: np.random.Generator
) -> tuple[float, float, list[Calibration]]:
    """Share of 95 % intervals that hold the truth, and of the links alone."""
    link = np.array([name.startswith("link") for name in made.names])
    inside, fits = [], []
    for _ in range(trials):
        theta, poses = scans(made, errors, 4, rng)
        found = calibrate(made, poses)
        inside.append(np.abs(found.theta - theta) <= found.half_width())
        fits.append(found)
    return float(np.mean(inside)), float(np.mean(np.array(inside)[:, link])), fits


def test_lengths_and_play_are_recovered_within_their_uncertainty(rng):
    every, links, fits = coverage(model(), Errors(play=0.05), 20, rng)
    assert 0.92 < every < 0.99
    assert links > 0.88
    variance = np.mean([found.variances[0] for found in fits])
    assert variance == pytest.approx(0.05**2, rel=3 * np.sqrt(2 / 18 / 20))


@pytest.mark.long
def test_95_of_100_intervals_hold_the_truth(rng):
    every, links, fits = coverage(model(), Errors(play=0.05), 200, rng)
    assert 0.93 <= every <= 0.97
    assert 0.93 <= links <= 0.97
    variance = np.mean([found.variances[0] for found in fits])
    assert variance == pytest.approx(0.05**2, rel=3 * np.sqrt(2 / 18 / 200))
    bounds = np.array([found.spread_interval(0) for found in fits])
    held = np.mean((bounds[:, 0] <= 0.05) & (bounds[:, 1] >= 0.05))
    assert 0.9 <= held <= 0.99


@pytest.mark.long
def test_without_variances_to_estimate_chi2_is_that_of_its_degrees_of_freedom(rng):
    made = model(link_play=False, scatter=False)
    _, _, fits = coverage(made, Errors(), 200, rng)
    assert fits[0].chi2_dof == 72
    mean = np.mean([found.chi2 for found in fits])
    assert mean == pytest.approx(72, abs=3 * np.sqrt(2 * 72 / 200))
    assert np.var([found.chi2 for found in fits]) == pytest.approx(144, rel=0.35)


def test_scatter_beyond_the_stated_covariance_is_found(rng):
    made, variances = model(link_play=False), []
    for _ in range(8):
        _, poses = scans(made, Errors(centre=0.04), 4, rng)
        quarter = [replace(p, covariance_mm2=p.covariance_mm2 / 4) for p in poses]
        variances.append(calibrate(made, quarter).variances[0])
    assert np.mean(variances) == pytest.approx(0.75 * 0.04**2 * 0.95, rel=0.25)


def test_the_scale_of_the_scanner_is_told_by_a_known_length(rng):
    made = model(scale=True, references=((0, 1),), scatter=False)
    errors = Errors(play=0.02, scale=0.003, centre=0.005)
    theta, poses = scans(made, errors, 4, rng)
    found = calibrate(made, poses)
    assert abs(found.theta[-1] - 0.003) < 4 * found.u[-1] < 0.001
    assert (np.abs(found.theta - theta) < 4.5 * found.u).all()


def test_offsets_of_joints_are_recovered(rng):
    pair = square_sheet(1, 2)
    made = model_of(pair, SCALE_MM, Unknowns(joints=Free.OWN, link_play=False))
    assert sum(name.startswith("joint triple") for name in made.names) == 3
    theta, poses = scans(made, Errors(), 4, rng)
    found = calibrate(made, poses)
    assert (np.abs(found.theta - theta) < 4.5 * found.u).all()
    assert np.abs(theta).max() > 10 * found.u.max()


def test_an_unseen_node_leaves_out_its_own_rows_only(rng):
    made = model(scatter=False)
    theta, poses = scans(made, Errors(play=0.02), 4, rng)
    nodes = poses[0].nodes_mm.copy()
    nodes[3] = np.nan
    found = calibrate(made, [Pose("less", nodes, poses[0].covariance_mm2), *poses[1:]])
    whole = calibrate(made, poses)
    assert (np.abs(found.theta - theta) < 4.5 * found.u).all()
    apart = np.flatnonzero(~np.isclose(found.u, whole.u, rtol=0.12))
    assert {made.names[i] for i in apart} >= {"body dist(3, 4)"}
    assert all("3" in made.names[i].replace("13", "") for i in apart)


def test_the_scanners_own_scale_error_is_common_to_all_lengths(rng):
    made = model()
    _, poses = scans(made, Errors(), 2, rng)
    without, together = calibrate(made, poses), calibrate(made, poses, 1e-3)
    more = together.covariance - without.covariance
    lengths = made.lengths + without.theta
    np.testing.assert_allclose(more, 1e-6 * np.outer(lengths, lengths), rtol=1e-6)


@pytest.mark.parametrize(
    ("unknowns", "many", "said"),
    [
        ({}, 1, "link play and scatter of the centres cannot be est"),
        ({"scatter": False}, 1, "link play cannot be estimated"),
    ],
)
def test_what_the_poses_cannot_tell_is_refused_by_name(unknowns, many, said, rng):
    made = model(**unknowns)
    _, poses = scans(made, Errors(), many, rng)
    with pytest.raises(ValueError, match=said):
        calibrate(made, poses)


def test_a_link_that_no_scan_shows_is_refused_by_name(rng):
    made = model()
    _, poses = scans(made, Errors(), 2, rng)
    for pose in poses:
        pose.nodes_mm[5] = np.nan
    with pytest.raises(ValueError, match=r"no scan shows .*link dist\(1, 5\)"):
        calibrate(made, poses)


@pytest.mark.parametrize(
    ("unknowns", "said"),
    [
        (Unknowns(joint_play=True), "the structure has no joint whose play"),
        (Unknowns(Free.NOMINAL, Free.NOMINAL), "nothing is estimated"),
        (Unknowns(scale=True), "an independently measured length"),
        (Unknowns(references=((0, 17),)), "no link or edge has the nodes 0-17"),
    ],
)
def test_unknowns_that_a_structure_lacks_are_refused(unknowns, said):
    with pytest.raises(ValueError, match=said):
        model_of(SHEET, SCALE_MM, unknowns)


def test_the_rows_of_a_model_have_the_slopes_of_their_values(rng):
    made = model_of(square_sheet(2, 2), SCALE_MM, Unknowns(joints=Free.OWN))
    n = len(made.structure.r0)
    x = made.structure.r0 + rng.standard_normal((n, 3))
    d = rng.standard_normal((n, 3))
    h, A = made.evaluate(x, 0.01)
    steps = 10.0 ** -np.arange(1.0, 4.0)
    left = [
        np.linalg.norm(made.evaluate(x + t * d, 0.01)[0] - h - t * A @ d.ravel())
        for t in steps
    ]
    order = np.diff(np.log(left)) / np.diff(np.log(steps))
    np.testing.assert_allclose(order, 2.0, atol=0.1)


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
