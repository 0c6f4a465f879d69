"""Energies of hinges: derivatives, invariance, closed forms of one ligament."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.sparse import coo_array

from sim.mechanism.block_equilibrium import BlockProblem
from sim.mechanism.hinged_blocks import BlockAssembly, Grip
from tests.sim.mechanism.block_examples import lattice, two_blocks


def rubbing(polar: bool) -> BlockAssembly:
    sheet = lattice(3, 0.4, 0.3, 2.0, 0.3, touch=0.7)
    count = len(sheet.hinges)
    law = replace(
        sheet.hinges,
        polar=polar,
        compression=np.full(count, 0.8),
        turn_cubic=np.full(count, 0.2),
        friction=np.full(count, 0.05),
        stick=np.full(count, 0.9),
    )
    grips = (
        Grip(0, (0.1, 0.2), (1.0, 0.0), stiffness=3.0, turning=0.4),
        Grip(8, (4.0, 4.0), (0.0, 0.5), turning=0.2),
    )
    return BlockAssembly(sheet.corners, law, grips)


@pytest.mark.parametrize("polar", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_derivatives_are_those_of_the_energy(polar, seed):
    problem = BlockProblem(rubbing(polar))
    rng = np.random.default_rng(seed)
    anchors = problem.anchors(0.3)
    slip = 0.1 * rng.normal(size=len(problem.hinges.blocks))
    q = problem.with_anchors(0.15 * rng.normal(size=(9, 3)), anchors)
    d = problem.expanded(rng.normal(size=problem.pattern.n))
    h = 1e-6
    here = problem.point(q, anchors, slip)
    ahead = problem.point(q + h * d, anchors, slip)
    behind = problem.point(q - h * d, anchors, slip)
    slope = (ahead.energy - behind.energy) / (2 * h)
    assert float(np.sum(here.gradient * d)) == pytest.approx(slope, rel=1e-7)
    change = ((ahead.gradient - behind.gradient) * problem.levers)[problem.free]
    unknowns = (d / problem.levers)[problem.free]
    (rows, cols, _), n = problem.places, problem.pattern.n
    lower = coo_array((here.entries, (rows, cols)), shape=(n, n)).toarray()
    exact = (lower + np.tril(lower, -1).T) @ unknowns
    assert exact == pytest.approx(change / (2 * h), abs=1e-6 * np.abs(exact).max())


@pytest.mark.parametrize("polar", [False, True])
def test_a_rigid_motion_stores_nothing(polar):
    sheet = replace(rubbing(polar), grips=())
    sheet = replace(sheet, hinges=replace(sheet.hinges, friction=np.zeros(12)))
    problem = BlockProblem(sheet)
    turn, shift = 0.7, np.array([0.3, -1.2])
    R = np.array([[np.cos(turn), -np.sin(turn)], [np.sin(turn), np.cos(turn)]])
    X = sheet.references()
    q = np.column_stack([X @ R.T + shift - X, np.full(9, turn)])
    point = problem.point(q, problem.anchors(0.0), np.zeros(12))
    assert point.energy == pytest.approx(0.0, abs=1e-28)
    assert np.abs(point.gradient).max() < 1e-14


@pytest.mark.parametrize(
    ("motion", "energy"),
    [
        ((0.02, 0.0, 0.0), 0.5 * 5.0 * 0.02**2),  # stretched
        ((-0.02, 0.0, 0.0), 0.5 * 4.0 * 0.02**2),  # pressed
        ((0.0, 0.03, 0.0), 0.5 * 3.0 * 0.03**2),  # sheared
    ],
)
def test_one_ligament(motion, energy):
    pair = two_blocks(stretch=5.0, compression=4.0, shear=3.0, turn=2.0)
    q = np.array([[0.0, 0.0, 0.0], motion])
    point = BlockProblem(pair).point(q, np.zeros((0, 3)), np.zeros(1))
    assert point.energy == pytest.approx(energy, rel=1e-12)


def test_published_strains_agree_to_first_order():
    errors = []
    for size in (1e-2, 1e-3):
        q = size * np.array([[0.0, 0.0, 0.03], [0.02, 0.03, 0.05]])
        energies = [
            BlockProblem(two_blocks(stretch=5.0, shear=3.0, turn=2.0, polar=polar))
            .point(q, np.zeros((0, 3)), np.zeros(1))
            .energy
            for polar in (False, True)
        ]
        errors.append(abs(energies[1] / energies[0] - 1.0))
    assert errors[1] < 0.11 * errors[0]


@pytest.mark.parametrize("w", [0.01, -0.01, 0.3, -0.3])
def test_a_rubbing_element_sticks_and_then_slips(w):
    moment, stick = 0.02, 0.8
    q = np.array([[0.0, 0.0, 0.0], [0.0, 0.0, w]])
    with_and_without = [
        BlockProblem(two_blocks(friction=M, stick=stick))
        .point(q, np.zeros((0, 3)), np.zeros(1))
        .energy
        for M in (moment, 0.0)
    ]
    sticks = abs(w) < moment / stick
    expected = stick * w**2 / 2 if sticks else moment * (abs(w) - moment / stick / 2)
    assert np.ptp(with_and_without) == pytest.approx(expected, rel=1e-9)
