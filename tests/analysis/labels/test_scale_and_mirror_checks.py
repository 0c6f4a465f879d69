import numpy as np
import pytest

from analysis.labels.assign_labels import label_spheres
from analysis.labels.rigid_distances import Mechanism
from analysis.labels.scale_and_mirror_checks import (
    Handedness,
    RigidPairs,
    covariance_factor,
    handedness,
    link_scale,
    scanned_pairs,
    wrong_scale,
    wrong_unit,
)
from analysis.labels.scoring import LabelOptions
from tests.analysis.mechanisms import random_mechanism, scanned

OPTIONS = LabelOptions(length_sd_mm=0.03)


@pytest.fixture
def printed(rng):
    return random_mechanism(24, rng)


def labelled(mechanism, scan):
    labels = label_spheres(mechanism, scan.centres_mm, scan.covariances_mm2, OPTIONS)
    return labels, scanned_pairs(
        mechanism,
        labels,
        scan.centres_mm,
        scan.covariance_mm2,
        np.full(len(mechanism.pairs), 1e-3),
    )


def test_links_tell_the_scale_of_a_scan(printed, rng):
    mechanism, nodes = printed
    _, pairs = labelled(mechanism, scanned(1.0005 * nodes, rng))
    scale, u = link_scale(pairs)
    assert u < 3e-4
    assert scale == pytest.approx(1.0005, abs=4 * u)


def test_one_wrong_link_does_not_shift_the_scale():
    length = np.linspace(20.0, 60.0, 30)
    seen = length.copy()
    seen[3] *= 1.02
    pairs = RigidPairs(
        np.zeros((30, 2), dtype=np.int64), length, seen, np.full(30, 0.05)
    )
    assert link_scale(pairs)[0] == pytest.approx(1.0, abs=1e-9)


def test_scatter_beyond_the_stated_is_noticed_and_one_fault_is_not(rng):
    length = np.full(200, 40.0)
    none = np.zeros((200, 2), dtype=np.int64)
    u = np.full(200, 0.05)
    honest = RigidPairs(none, length, length + rng.normal(0.0, 0.05, 200), u)
    assert covariance_factor(honest) == 1.0
    poor = RigidPairs(none, length, length + rng.normal(0.0, 0.2, 200), u)
    assert covariance_factor(poor) == pytest.approx(4.0, rel=0.15)
    faulty = honest.scanned_mm.copy()
    faulty[0] += 5.0
    assert covariance_factor(RigidPairs(none, length, faulty, u)) == 1.0


def test_a_mirrored_scan_is_found_by_bodies_with_depth(printed, rng):
    mechanism, nodes = printed
    assert any(len(body) == 4 for body in mechanism.bodies)
    scan = scanned(nodes, rng)
    labels, _ = labelled(mechanism, scan)
    assert handedness(mechanism, labels, scan.centres_mm) is Handedness.SAME
    mirrored = scanned(nodes * np.array([-1.0, 1.0, 1.0]), rng)
    labels, _ = labelled(mechanism, mirrored)
    assert handedness(mechanism, labels, mirrored.centres_mm) is Handedness.MIRRORED


def test_planar_bodies_cannot_tell_a_mirror_image(rng):
    nodes = np.array([[0, 0, 0], [30, 0, 0], [11, 25, 0], [60, 8, 5], [75, 40, 9.0]])
    mechanism = Mechanism(nodes, ((0, 1, 2), (1, 3), (3, 4)))
    scan = scanned(nodes, rng)
    labels, _ = labelled(mechanism, scan)
    assert len(labels.labelled) >= 4
    found = handedness(mechanism, labels, scan.centres_mm)
    assert found is Handedness.UNDECIDABLE
    assert (
        found.value == "unknown: each body is flat, so its mirror image looks the same"
    )


@pytest.mark.parametrize("factor", [1000.0, 25.4, 0.1])
def test_a_wrong_unit_is_named_with_its_factor(printed, rng, factor):
    mechanism, nodes = printed
    scan = scanned(nodes, rng)
    small, covariance = scan.centres_mm / factor, scan.covariances_mm2 / factor**2
    found = wrong_unit(mechanism, small, covariance, OPTIONS)
    assert found == pytest.approx(factor)


@pytest.mark.parametrize("scale", [0.953, 1.07, 0.6])
def test_another_size_of_the_print_is_told_in_numbers(printed, rng, scale):
    mechanism, nodes = printed
    scan = scanned(scale * nodes, rng)
    given = (mechanism, scan.centres_mm, scan.covariances_mm2, OPTIONS)
    assert wrong_scale(*given) == pytest.approx(scale, abs=5e-4)


@pytest.mark.parametrize(
    ("found", "size", "sd_mm"), [(wrong_scale, 200.0, 0.03), (wrong_unit, 0.2, 3e-5)]
)
def test_something_else_has_no_size_and_no_unit(printed, rng, found, size, sd_mm):
    mechanism, _ = printed
    scan = scanned(rng.uniform(0.0, size, (24, 3)), rng, sd_mm=sd_mm)
    given = (mechanism, scan.centres_mm, scan.covariances_mm2, OPTIONS)
    assert found(*given) is None


def test_an_error_that_all_centres_share_is_none_of_a_length(printed, rng):
    mechanism, nodes = printed
    scan = scanned(nodes, rng)
    labels, _ = labelled(mechanism, scan)
    m = len(scan.centres_mm)
    common = np.kron(np.ones((m, m)), 0.04 * np.eye(3))
    sd = np.full(len(mechanism.pairs), 0.01)
    pairs = scanned_pairs(mechanism, labels, scan.centres_mm, common, sd)
    np.testing.assert_allclose(pairs.u_mm, 0.01, rtol=1e-9)
