import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from analysis.comparison.assumptions import Acceptance
from analysis.comparison.error_sources import CENTRES, INPUT, PRINTING
from analysis.comparison.verdict_and_budget import (
    Verdict,
    check_covariance,
    compare_shapes,
    coverage,
    joint_limits,
)
from analysis.labels.scale_and_mirror_checks import RigidPairs
from sim.core.arrays import Floats
from sim.mechanism.shape_measures import characteristic_length

SD_MM = 0.1
NO_LENGTHS = RigidPairs(np.empty((0, 2), dtype=np.int64), *[np.empty(0)] * 3)
PAIRS = np.array([[i, i + 1] for i in range(15)])


@pytest.fixture
def nodes(rng):
    return rng.normal(size=(16, 3)) * [50.0, 40.0, 10.0]


def moved(nodes, rng, sd_mm=SD_MM):
    errors = rng.normal(0.0, sd_mm, nodes.shape)
    turned: Floats = Rotation.random(rng=rng).apply(nodes + errors)
    return turned + np.array([100.0, 0.0, -50.0])


def compared(nodes, scan, sd_mm=SD_MM, lengths=NO_LENGTHS, **margins):
    sources = {"sphere centres": sd_mm**2 * np.eye(nodes.size)}
    L = characteristic_length(nodes)
    return compare_shapes(nodes, scan, L, sources, lengths, Acceptance(**margins))


def test_a_true_simulation_under_a_good_scan_agrees(nodes, rng):
    assert compared(nodes, moved(nodes, rng)).verdict is Verdict.AGREES


def test_a_poor_scan_never_agrees(nodes, rng):
    for _ in range(20):
        found = compared(nodes, moved(nodes, rng, 2.0), 2.0)
        assert found.verdict is not Verdict.AGREES
    assert "reduce the largest uncertainty, sphere centres" in found.why


def test_one_displaced_node_differs_though_the_shape_factor_does_not_tell(nodes, rng):
    away = nodes - nodes.mean(axis=0)
    sideways = np.cross(away[0], [0.0, 0.0, 1.0])
    scan = moved(nodes, rng)
    pushed = nodes.copy()
    pushed[0] += 8 * SD_MM * sideways / np.linalg.norm(sideways)
    found = compared(pushed, scan)
    assert found.verdict is Verdict.DIFFERS
    assert not found.checks.S.differs
    assert found.checks.worst.differs


def test_a_shape_of_another_size_differs(nodes, rng):
    found = compared(1.01 * nodes, moved(nodes, rng))
    assert found.verdict is Verdict.DIFFERS
    assert found.checks.S.error > 0  # simulated minus scanned


def test_a_wrong_length_differs_however_far_link_lengths_bend_the_shape(nodes, rng):
    """Other link lengths move nodes by 1 mm here, but no body by itself stretches."""
    errors = np.zeros(15)
    errors[3] = 0.8  # 2 % of a link of 40 mm
    lengths = RigidPairs(PAIRS, np.zeros(15), errors, np.full(15, 0.051))
    sources = {
        CENTRES: 0.02**2 * np.eye(nodes.size),
        PRINTING: 0.03**2 * np.eye(nodes.size),
        INPUT: np.eye(nodes.size),
    }
    scan, L = moved(nodes, rng), characteristic_length(nodes)
    found = compare_shapes(nodes, scan, L, sources, lengths, Acceptance())
    assert found.verdict is Verdict.DIFFERS
    assert not found.checks.rms_mm.differs
    assert 3.0 < found.checks.length.limit < 4.0


def test_margins_decide_between_agreement_and_doubt(nodes, rng):
    scan = moved(nodes, rng)
    assert compared(nodes, scan, node_margin_mm=0.3).verdict is Verdict.INCONCLUSIVE
    assert compared(nodes, scan, S_margin=1e-4).verdict is Verdict.INCONCLUSIVE


@pytest.mark.long
def test_chance_alone_differs_as_often_as_k_says(nodes, rng):
    def length(x):
        return np.linalg.norm(x[1:] - x[:-1], axis=1)

    verdicts = []
    for _ in range(150):
        scan = moved(nodes, rng)
        lengths = RigidPairs(PAIRS, length(nodes), length(scan), np.full(15, 0.14))
        verdicts.append(compared(nodes, scan, lengths=lengths).verdict)
    share = np.mean([v is Verdict.DIFFERS for v in verdicts])
    assert 0.005 < share < 0.10  # 4.6 % and three standard errors


def test_joint_limits_keep_the_wanted_share_of_draws(rng):
    draws = np.abs(rng.normal(size=(4_000, 3))) * [1.0, 10.0, 0.1]
    limits = joint_limits(draws, coverage(2.0))
    assert np.mean((draws <= limits).all(axis=1)) == pytest.approx(0.9545, abs=1e-3)
    np.testing.assert_allclose(limits / [1.0, 10.0, 0.1], 2.42, atol=0.15)


def test_the_budget_adds_up(nodes, rng):
    sources = {"a": 0.01 * np.eye(48), "b": 0.04 * np.eye(48)}
    found = compare_shapes(
        nodes, moved(nodes, rng), 60.0, sources, NO_LENGTHS, Acceptance()
    )
    assert [b.source for b in found.budget] == ["a", "b"]
    assert np.hypot(*[b.S_u for b in found.budget]) == pytest.approx(found.checks.S.u)
    assert np.hypot(*[b.node_u_mm for b in found.budget]) == pytest.approx(
        found.checks.rms_mm.u
    )


def test_alignment_leaves_less_than_the_full_uncertainty(nodes, rng):
    found = compared(nodes, moved(nodes, rng))
    full = np.sqrt(3) * SD_MM
    assert found.checks.rms_mm.u == pytest.approx(full * np.sqrt(42 / 48), rel=1e-6)


@pytest.mark.parametrize(
    ("covariance", "said"),
    [
        (np.diag([1.0, -1.0]), "not positive semidefinite"),
        (np.array([[1.0, 0.5], [0.0, 1.0]]), "not symmetric"),
        (np.array([[np.nan, 0.0], [0.0, 1.0]]), "nan or inf"),
    ],
)
def test_what_cannot_be_a_covariance_is_refused_by_name(covariance, said):
    with pytest.raises(ValueError, match=f"of joint play .*{said}"):
        check_covariance(covariance, "joint play")


def test_a_node_without_uncertainty_is_refused(nodes, rng):
    sources = {"sphere centres": np.diag(np.r_[np.zeros(3), np.ones(45)])}
    with pytest.raises(ValueError, match=r"node number 0 .* variance 0"):
        compare_shapes(
            nodes, moved(nodes, rng), 60.0, sources, NO_LENGTHS, Acceptance()
        )


@pytest.mark.parametrize("name", ["k", "S_margin", "node_margin_mm", "E_margin"])
@pytest.mark.parametrize("value", [-1.0, 0.0, np.nan, np.inf])
def test_margins_must_be_positive_and_finite(name, value):
    """Any scan, however poor, would agree within an infinite margin."""
    with pytest.raises(ValueError, match=f"{name} must be positive, not"):
        Acceptance(**{name: value})
