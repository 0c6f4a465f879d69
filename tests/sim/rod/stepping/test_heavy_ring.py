"""Heavy rings that lie on themselves, against elastica of their own."""

import numpy as np
import pytest

from pipeline.cases.ribbon import HeavyRingCase
from sim.rod.contact.coulomb import OPEN, coulomb, scratch
from tests.recorded import summary
from tests.sim.rod.heavy_elastica import heavy_ring
from tests.sim.rod.known import table


@pytest.mark.parametrize("row", table("heavy_ring.csv")[:2], ids=lambda r: r["gamma"])
def test_the_elastica_are_those_of_the_boundary_value_problem(
    row: dict[str, float],
) -> None:
    ring = heavy_ring(row["gamma"])
    assert ring.height == pytest.approx(row["height_over_R"], abs=1e-7)
    assert ring.on_ground == pytest.approx(row["contact_fraction"], abs=1e-7)


def _held_against_the_elastica(gamma: float, nodes: int = 480) -> None:
    """The top is above the bottom, if only by a skin: not beside it on the ground."""
    found, known = summary(HeavyRingCase(gamma, nodes)), heavy_ring(gamma)
    assert found["height_over_R"] > 0.0
    assert found["height_over_R"] == pytest.approx(known.height, abs=1e-3)
    assert found["highest_over_R"] == pytest.approx(known.highest, abs=1e-3)
    assert found["contact_fraction"] == pytest.approx(known.on_ground, abs=1e-3)
    assert found["self_contact_fraction"] == pytest.approx(known.on_itself, abs=1e-3)


@pytest.mark.parametrize("gamma", [0.75, 0.6])
def test_a_ring_whose_top_is_free_rests_as_the_elastica(gamma: float) -> None:
    _held_against_the_elastica(gamma)


def test_the_top_of_a_ring_rests_on_its_bottom() -> None:
    _held_against_the_elastica(0.5, 240)


def test_a_ring_of_few_nodes_comes_to_rest_on_itself() -> None:
    """Its nodes lie on nodes, and its contacts come by turns: once without an end."""
    found, known = summary(HeavyRingCase(0.35, 120)), heavy_ring(0.35)
    assert found["height_over_R"] == pytest.approx(known.height, abs=1e-3)
    assert found["contact_fraction"] == pytest.approx(known.on_ground, abs=2e-3)
    assert found["self_contact_fraction"] == pytest.approx(known.on_itself, abs=0.01)


@pytest.mark.long
@pytest.mark.parametrize("gamma", [0.57, 0.55, 0.5, 0.45, 0.4, 0.35, 0.3])
def test_a_ring_on_itself_rests_as_the_elastica(gamma: float) -> None:
    _held_against_the_elastica(gamma)


def test_contacts_without_friction_that_say_the_same_are_solved() -> None:
    """30 pairs of equal rows: any share between the two of a pair is right."""
    rng = np.random.default_rng(3)
    for _ in range(20):
        one = rng.standard_normal((30, 30))
        two = np.repeat(one @ one.T, 2, axis=0).repeat(2, axis=1)
        W = np.zeros((120, 120))
        W[::2, ::2] = two + 1e-9 * np.diag(np.diag(two))
        W[1::2, 1::2] = np.eye(60)
        b = np.zeros(120)
        b[::2] = np.repeat(rng.standard_normal(30), 2)
        p, state = np.zeros(120), np.full(60, OPEN, dtype=np.int64)
        left = coulomb(W, b, 0.0, state, p, scratch(60))
        assert left < 1e-9
        assert p[::2].min() >= 0.0
        assert (b + W @ p)[::2].min() > -1e-9
