"""Repeated scans tell what the stated errors leave out."""

import numpy as np
import pytest

from analysis.spheres.repeatability import Repeat, pooled_excess, repeatability

PLACES = np.array([[0.0, 0, 0], [40, 0, 0], [0, 50, 10], [30, 30, -20]])


def scans(
    rng: np.random.Generator, many: int, stated: float, real: float, radius: float
) -> list[Repeat]:
    """Scans whose centres and radii scatter by `real` and `radius` beyond `stated`."""
    m = len(PLACES)
    return [
        Repeat(
            PLACES + np.hypot(stated, real) * rng.standard_normal((m, 3)),
            np.full((m, 3), stated**2),
            6.0 + np.hypot(stated, radius) * rng.standard_normal(m),
            np.full(m, stated),
        )
        for _ in range(many)
    ]


def test_scatter_beyond_the_stated_errors_is_found(rng: np.random.Generator) -> None:
    repeated = scans(rng, 40, 0.01, 0.05, 0.12)
    found = repeatability(repeated, reach_mm=3.0)
    assert found.groups == 4
    assert found.centre_mm == pytest.approx(0.05, rel=0.08)
    drawn = np.concatenate([scan.radii for scan in repeated]).var(ddof=1)
    assert found.radius_mm == pytest.approx(np.sqrt(drawn - 0.01**2), rel=1e-6)
    assert found.advised_mm == found.radius_mm


def test_cautious_errors_leave_nothing(rng: np.random.Generator) -> None:
    honest = scans(rng, 40, 0.05, 0.0, 0.0)
    cautious = [
        Repeat(s.centres, 1.5 * s.variances, s.radii, 1.3 * s.radius_sds)
        for s in honest
    ]
    found = repeatability(cautious, reach_mm=3.0)
    assert found.centre_mm == 0.0
    assert found.radius_mm == 0.0


def test_spheres_that_moved_speak_by_their_radii_only(
    rng: np.random.Generator,
) -> None:
    one, other = scans(rng, 2, 0.01, 0.0, 0.1)
    moved = Repeat(
        other.centres + 100.0, other.variances, other.radii, other.radius_sds
    )
    found = repeatability([one, moved], reach_mm=3.0)
    assert found.groups == 0
    assert found.centre_mm is None
    assert found.advised_mm == found.radius_mm > 0


def test_pooling_weighs_every_quantity_about_its_own_mean(
    rng: np.random.Generator,
) -> None:
    means = 100.0 * rng.standard_normal(300)
    values = [m + 0.3 * rng.standard_normal(4) for m in means]
    found = pooled_excess(values, [np.full(4, 0.1**2)] * 300)
    assert found == pytest.approx(np.sqrt(0.3**2 - 0.1**2), rel=0.08)
