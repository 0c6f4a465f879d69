import numpy as np
import pytest

from analysis.labels.assign_labels import Refusal, label_spheres
from analysis.labels.rigid_distances import Mechanism
from analysis.labels.scoring import NOT_ASSIGNED, LabelOptions
from tests.analysis.comparison.virtual_prints import swap_joints
from tests.analysis.mechanisms import nearby_state, random_mechanism, scanned

OPTIONS = LabelOptions(length_sd_mm=0.03)


def wrong_labels(labels, scan):
    return [j for j in labels.labelled if scan.truth[labels.sphere[j]] != j]


def label(mechanism, scan, options=OPTIONS):
    return label_spheres(mechanism, scan.centres_mm, scan.covariances_mm2, options)


def triangle_sheet():
    """Four equal triangles in a row, joined by equal links; flat, and rolled up."""
    one = np.array([[0.0, 0.0, 0.0], [30.0, 0.0, 0.0], [15.0, 26.0, 0.0]])
    flat = np.vstack([one + np.array([60.0 * k, 0.0, 0.0]) for k in range(4)])
    bodies = [(3 * k, 3 * k + 1, 3 * k + 2) for k in range(4)]
    bodies += [(3 * k + 1, 3 * k + 3) for k in range(3)]
    return flat, tuple(bodies)


def bent(flat, radius):
    """The sheet rolled on a cylinder that lies across it at a slant, lengths kept
    by turning each triangle as one piece."""
    out = flat.copy()
    place, angle = flat[0], 0.0
    for k in range(4):
        piece = flat[3 * k : 3 * k + 3] - flat[3 * k]
        c, s = np.cos(angle), np.sin(angle)
        turn = np.array([[c, 0.0, -s], [0.0, 1.0, 0.0], [s, 0.0, c]])
        out[3 * k : 3 * k + 3] = place + piece @ turn.T
        angle += 30.0 / radius * (1 + 0.35 * k)
        c, s = np.cos(angle), np.sin(angle)
        place = out[3 * k + 1] + 30.0 * np.array([c, 0.0, s])
    return out


@pytest.mark.parametrize(
    ("first", "count", "angle_deg", "lost", "least"),
    [(0, 20, None, 0, 20), (100, 30, None, 3, 13.5), (200, 30, 4.0, 3, 0.95 * 27)],
)
@pytest.mark.parametrize("seed", range(4))
def test_labels_are_right_in_any_pose_and_state(
    seed, first, count, angle_deg, lost, least
):
    """Among missing and false spheres too; more of them where a prediction holds."""
    rng = np.random.default_rng(first + seed)
    mechanism, printed = random_mechanism(count, rng)
    if angle_deg is not None:
        printed = nearby_state(mechanism, rng, angle_deg=angle_deg)
    scan = scanned(printed, rng, missing=lost, false=lost)
    labels = label(mechanism, scan)
    assert wrong_labels(labels, scan) == []
    assert len(labels.labelled) >= least
    assert lost or labels.group == 1


def test_a_scan_of_something_else_gets_no_labels(rng):
    mechanism, _ = random_mechanism(12, rng)
    scan = scanned(rng.uniform(0.0, 150.0, (12, 3)), rng)
    assert len(label(mechanism, scan).labelled) <= 2


@pytest.mark.parametrize(("predicted", "trust"), [(60.0, 0.8), (90.0, -1.0)])
def test_the_prediction_tells_equal_bodies_apart_in_another_state_too(
    rng, predicted, trust
):
    flat, bodies = triangle_sheet()
    scan = scanned(bent(flat, 60.0), rng)
    labels = label(Mechanism(bent(flat, predicted), bodies), scan)
    assert wrong_labels(labels, scan) == []
    assert len(labels.labelled) == 12
    assert labels.trust > trust


def test_a_symmetric_shape_reports_its_group_of_labellings(rng):
    square = 40.0 * np.array([[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0.0]])
    links = ((0, 1), (1, 2), (2, 3), (3, 0))
    scan = scanned(square, rng)
    labels = label(Mechanism(square, links), scan)
    assert labels.group > 1
    assert len(labels.confirmed) == 4
    assert all(
        labels.reason[j] in {Refusal.SYMMETRIC, Refusal.AMBIGUOUS} for j in range(4)
    )


def test_twins_on_one_joint_are_not_guessed(rng):
    mechanism, printed = random_mechanism(10, rng)
    n = mechanism.n
    nodes = np.vstack([mechanism.nodes_mm, mechanism.nodes_mm[[0, 0]]])
    nodes[n:] += 30.0 * np.array([[0.0, 0.6, 0.8], [0.0, -0.6, 0.8]])
    twins = Mechanism(nodes, (*mechanism.bodies, (0, n), (0, n + 1)))
    state = np.vstack([printed, printed[[0, 0]]])
    state[n:] += 30.0 * np.array([[0.8, 0.6, 0.0], [-0.8, 0.6, 0.0]])
    scan = scanned(state, rng)
    labels = label(twins, scan)
    assert wrong_labels(labels, scan) == []
    assert labels.sphere[n] == labels.sphere[n + 1] == NOT_ASSIGNED
    assert labels.reason[n] is Refusal.AMBIGUOUS
    assert {int(labels.rivals[n]), int(labels.rivals[n + 1])} == {n, n + 1}
    assert len(labels.confirmed) == n + 2  # they are nodes, whichever


def test_a_wrong_link_keeps_its_ends_labelled(rng):
    flat, bodies = triangle_sheet()
    shape = bent(flat, 60.0)
    printed = shape.copy()
    printed[6:] += 0.9 * (shape[6] - shape[4]) / 30.0  # the middle link is 3 % long
    scan = scanned(printed, rng)
    labels = label(Mechanism(shape, bodies), scan)
    assert wrong_labels(labels, scan) == []
    assert len(labels.labelled) == 12


def test_bodies_on_a_wrong_joint_are_found_whole():
    labelled = wrong = asked = 0
    for seed in (341, 353, 358, 392):
        rng = np.random.default_rng(seed)
        mechanism, _ = random_mechanism(20, rng)
        scan = scanned(swap_joints(mechanism, rng), rng)
        labels = label(mechanism, scan, LabelOptions(length_sd_mm=0.05))
        labelled, asked = labelled + len(labels.labelled), asked + 20
        wrong += len(wrong_labels(labels, scan))
    assert wrong == 0
    assert labelled >= 0.95 * asked


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"length_sd_mm": 0.0}, "length_sd_mm must be positive, not 0"),
        ({"beam": 0}, "beam must be a whole number from 1 up, not 0"),
        ({"fault_share": 1.5}, "fault_share must be between 0 and 1, not 1.5"),
    ],
)
def test_options_out_of_range_are_refused(change, said):
    with pytest.raises(ValueError, match=said):
        LabelOptions(**change)


@pytest.mark.parametrize(
    ("body", "said"),
    [((0, 9), "names node 9"), ((1, 1), "two or more different nodes")],
)
def test_bodies_that_cannot_be_are_refused(body, said):
    with pytest.raises(ValueError, match=said):
        Mechanism(np.zeros((3, 3)), (body,))
