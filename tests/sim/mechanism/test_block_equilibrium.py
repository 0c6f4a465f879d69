"""Blocks at rest and driven: closed forms, buckling, friction, refusals."""

import numpy as np
import pytest

from sim.core.options import NotConvergedError
from sim.mechanism.block_equilibrium import BlockOptions, driven
from sim.mechanism.hinged_blocks import BlockAssembly, Grip
from tests.sim.mechanism.block_examples import lattice, square, two_blocks


def test_a_lattice_of_turning_squares():
    """With stiff ligaments it is a mechanism of one freedom: all turn by +-phi.

    The row's ends are d = (n - 1) (2 cos phi + l) apart, each of the 2 n (n - 1) hinges
    bends by 2 (phi - phi0), and F = dE/d(closing).
    """
    n, phi0, ligament, turn = 4, 0.3, 0.2, 0.01
    closing = 0.35
    d = (n - 1) * (2.0 * np.cos(phi0) + ligament) - closing
    phi = np.arccos((d / (n - 1) - ligament) / 2.0)
    count = 2 * n * (n - 1)
    expected = 4 * count * turn * (phi - phi0) / (2.0 * (n - 1) * np.sin(phi))
    errors = []
    for stiff in (1e3, 1e4, 1e5):
        sheet = lattice(n, phi0, ligament, stiff, turn)
        *_, last = driven(sheet, np.linspace(0.0, closing, 8))
        errors.append(last.force / expected - 1.0)
    assert abs(errors[2]) < 2e-5
    assert errors[0] / errors[1] == pytest.approx(10.0, rel=0.1)
    assert errors[1] / errors[2] == pytest.approx(10.0, rel=0.1)


def test_a_clamp_that_gives_stands_in_series():
    stiff, clamp = 5.0, 2.0
    pair = two_blocks(
        Grip(0, (0.0, 0.0), (0.0, 0.0), turning=np.inf),
        Grip(1, (2.1, 0.0), (1.0, 0.0), stiffness=clamp, turning=np.inf),
        stretch=stiff,
    )
    (step,) = driven(pair, [0.3])
    assert step.force == pytest.approx(0.3 / (1 / stiff + 1 / clamp), rel=1e-9)


def strut(turn: float) -> BlockAssembly:
    """Two bars of length a = 1 in a line, a ligament between, pinned at both ends."""
    return two_blocks(
        Grip(0, (0.0, 0.0), (0.0, 0.0)), Grip(1, (2.1, 0.0), (-1.0, 0.0)),
        stretch=1e4, shear=1e5, turn=turn,
    )  # fmt: skip


def test_a_strut_buckles_at_its_load():
    """Two rigid bars of length a: P = 2 k_turn / a; the straight state is a saddle."""
    turn = 0.5
    critical = 2.0 * turn / 1.0
    below = 0.98 * critical / 1e4
    straight, bent = driven(strut(turn), [below, 5e-3])
    assert straight.force == pytest.approx(0.98 * critical, rel=1e-9)
    assert np.abs(straight.q[:, 2]).max() < 1e-12
    assert abs(bent.q[1, 2] - bent.q[0, 2]) > 0.1
    theta = 0.5 * abs(bent.q[1, 2] - bent.q[0, 2])
    # 2 k_turn (2 theta) = P 2 a sin(theta) at large turns
    assert bent.force == pytest.approx(critical * theta / np.sin(theta), rel=5e-4)


def test_friction_loses_what_a_slipping_hinge_does():
    """One cycle of +-w0 about a hinge loses 4 M (w0 - M / k), whatever the spring."""
    moment, stick, w0 = 0.03, 2.0, 0.2
    lever = 1.05  # the second block turns about the ligament's middle
    pair = two_blocks(
        Grip(0, (1.05, 0.0), (0.0, 0.0), turning=np.inf),
        Grip(1, (2.1, 0.0), (0.0, 1.0)),
        stretch=1e3, shear=1e6, turn=0.4, friction=moment, stick=stick,
    )  # fmt: skip
    quarter = np.linspace(0.0, lever * np.sin(w0), 101)
    way = np.concatenate([quarter, quarter[-2::-1], -quarter[1:], -quarter[-2::-1]])
    steps = list(driven(pair, np.concatenate([way, way[1:]])))[len(way) - 1 :]
    y, F = np.array([(s.driving, s.force) for s in steps]).T
    turns = [s.q[1, 2] for s in steps]
    lost = float(np.sum(0.5 * (F[1:] + F[:-1]) * np.diff(y)))
    amplitude = max(turns)
    assert amplitude == pytest.approx(w0, rel=0.01)
    expected = 4 * moment * (amplitude - moment / stick)
    assert lost == pytest.approx(expected, rel=2e-3)


def test_a_snap_is_found_between_two_rests():
    """A moment k w - c w^3 behind a spring K folds where the driving is largest.

    The spring holds the block's centre, x + i y = 0.1 exp(i w / 2) + exp(i w), at
    1.1 + i Y, and E = K ((x - 1.1)^2 + (y - Y)^2) / 2 + k w^2 / 2 - c w^4 / 4 rests at
    Y = y + ((x - 1.1) x' + (k w - c w^3) / K) / y'. Beyond, it falls on its stop.
    """
    k, c, spring = 1.0, 10.0, 0.5
    law = {"stretch": 1e4, "shear": 1e6, "turn": k, "touch": 100.0}
    pair = two_blocks(
        Grip(0, (0.0, 0.0), (0.0, 0.0), turning=np.inf),
        Grip(1, (2.1, 0.0), (0.0, 1.0), stiffness=spring),
        turn_cubic=-c, voids=np.array([[0.5, 0.5]]), **law,
    )  # fmt: skip
    w = np.linspace(0.0, 0.4, 40_001)
    place = 0.1 * np.exp(0.5j * w) + np.exp(1j * w)
    slope = 0.05j * np.exp(0.5j * w) + 1j * np.exp(1j * w)
    moment = (k * w - c * w**3) / spring + (place.real - 1.1) * slope.real
    fold = float(np.max(place.imag + moment / slope.imag))
    way = np.arange(0.0, 1.0, 0.1)
    steps = list(driven(pair, way, sharp=1e-4))
    assert len(steps) == len(way) + 2
    Y, turns = np.array([(s.driving, s.q[1, 2]) for s in steps]).T
    i = int(np.argmin(np.diff(Y)))
    assert Y[i] - 1e-4 < fold < Y[i + 1] + 1e-4
    assert Y[i + 1] - Y[i] <= 1e-4
    assert turns[i] < 0.3 < 0.5 < turns[i + 1]
    even = [s.driving for s in driven(pair, way)]
    np.testing.assert_array_equal(even, way)


def test_blocks_that_nothing_holds_are_refused():
    pair = two_blocks(Grip(1, (2.1, 0.0), (1.0, 0.0), stiffness=0.0))
    with pytest.raises((NotConvergedError, ValueError), match="add grips"):
        list(driven(pair, [0.1], BlockOptions(max_iterations=30)))


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: two_blocks(stretch=-1.0), "stretch of hinge 0 must be"),
        (lambda: two_blocks(Grip(2, (0, 0), (0, 0))), "block 2 does not exist"),
        (
            lambda: two_blocks(Grip(0, (0, 0), (0, 0)), Grip(0, (1, 0), (0, 0))),
            "two grips hold block 0",
        ),
        (
            lambda: BlockAssembly(
                (square((0, 0), 1.0)[::-1], square((2.1, 0), 1.0)), two_blocks().hinges
            ),
            "block 0 has no area, or its corners are listed clockwise",
        ),
    ],
)  # fmt: skip
def test_what_makes_no_sense_is_refused(make, words):
    with pytest.raises(ValueError, match=words):
        make()  # type: ignore[operator]
