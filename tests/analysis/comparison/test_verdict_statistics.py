"""How often verdicts and intervals are right, over many virtual prints and scans."""

import numpy as np
import pytest

from analysis.comparison.verdict_and_budget import Verdict
from sim.mechanism.shape_measures import characteristic_length, shape_factor
from tests.analysis.comparison.virtual_prints import (
    bent_states,
    judge,
    lengthen_link,
    print_and_scan,
    swap_joints,
    target_of,
    turn_joint,
)
from tests.analysis.mechanisms import random_mechanism

NODES = 20


def judged(seed, fault=None, gap_mm=None):
    """One verdict with print and initial nodes; the target `gap_mm` below the nodes."""
    rng = np.random.default_rng(seed)
    while True:
        mechanism, initial = random_mechanism(NODES, rng)
        try:
            nodes = mechanism.nodes_mm if fault is None else fault(mechanism, rng)
        except LookupError:
            continue  # this one cannot have the fault
        found = print_and_scan(mechanism, nodes, rng)
        target = None if gap_mm is None else target_of(mechanism, found, gap_mm, rng)
        verdict = judge(mechanism, initial, found.centres_mm, target)
        return verdict, found.true_mm, initial


def verdicts(trials, fault=None, first_seed=0, gap_mm=None):
    seeds = range(first_seed, first_seed + trials)
    return [judged(s, fault, gap_mm)[0].comparison.verdict for s in seeds]


def share_that_differs(trials, fault=None, first_seed=0, gap_mm=None):
    found = verdicts(trials, fault, first_seed, gap_mm)
    return np.mean([v is Verdict.DIFFERS for v in found])


def longer_link(mechanism, rng):
    return lengthen_link(mechanism, 0.02, rng)


def swapped_body(mechanism, rng):
    return swap_joints(mechanism, rng)


def swapped_part(mechanism, rng):
    return swap_joints(mechanism, rng, least=1)


def other_end_state(mechanism, rng):
    return turn_joint(mechanism, 8.0, rng)


def judged_when_bent(seed, fault=None):
    """One verdict on a print whose joints turn by 1 degree, as its budget says."""
    rng = np.random.default_rng(seed)
    while True:
        mechanism, initial = random_mechanism(NODES, rng)
        bent, covariance = bent_states(mechanism, rng, 1.0)
        try:
            nodes = bent.nodes_mm if fault is None else fault(bent, rng)
        except LookupError:
            continue  # this one cannot have the fault
        centres = print_and_scan(bent, nodes, rng).centres_mm
        return judge(mechanism, initial, centres, input_covariance=covariance)


def share_of_bent_ones_that_differs(trials, fault=None, first_seed=0):
    seeds = range(first_seed, first_seed + trials)
    found = [judged_when_bent(s, fault).comparison.verdict for s in seeds]
    return np.mean([v is Verdict.DIFFERS for v in found])


@pytest.mark.parametrize("fault", [longer_link, other_end_state, swapped_body])
def test_a_fault_is_noticed(fault):
    assert share_that_differs(8, fault) >= 0.75


@pytest.mark.long
def test_a_longer_link_is_noticed_however_far_joints_turn():
    assert share_of_bent_ones_that_differs(8, longer_link) >= 0.75


def test_small_parts_on_the_wrong_joint_never_agree():
    """One sphere where none should be may also be false: no verdict then."""
    assert Verdict.AGREES not in verdicts(6, swapped_part)


@pytest.mark.long
def test_a_poor_scan_on_its_target_never_agrees():
    """Centres known to 0.5 mm; node distances may be 1.5 mm at most."""
    for seed in range(4):
        rng = np.random.default_rng(seed)
        mechanism, initial = random_mechanism(NODES, rng)
        found = print_and_scan(mechanism, mechanism.nodes_mm, rng)
        target = target_of(mechanism, found, 0.0, rng)
        centres = found.centres_mm + rng.normal(0.0, 0.5, found.centres_mm.shape)
        verdict = judge(mechanism, initial, centres, target, centre_sd_mm=0.5)
        assert verdict.comparison.verdict is not Verdict.AGREES


@pytest.mark.long
@pytest.mark.parametrize("gap_mm", [None, 0.0, 0.3])
def test_a_true_simulation_is_called_different_in_3_to_7_percent(gap_mm):
    """Without a target; on it, where errors only add to E; and 0.3 mm away from it."""
    assert 0.03 <= share_that_differs(1_000, gap_mm=gap_mm) <= 0.07


@pytest.mark.long
@pytest.mark.parametrize("gap_mm", [None, 0.0])
@pytest.mark.parametrize("fault", [longer_link, other_end_state, swapped_body])
def test_a_fault_is_noticed_in_95_percent(fault, gap_mm):
    assert share_that_differs(200, fault, 50_000, gap_mm) >= 0.95


@pytest.mark.long
def test_chance_and_a_longer_link_are_told_apart_however_far_joints_turn():
    assert 0.03 <= share_of_bent_ones_that_differs(400) <= 0.07
    assert share_of_bent_ones_that_differs(200, longer_link, 50_000) >= 0.95


@pytest.mark.long
def test_any_part_on_the_wrong_joint_never_agrees_and_bodies_of_it_mostly_differ():
    """A single link leaves one sphere that may be false: "inconclusive"."""
    found = verdicts(200, swapped_part, 50_000)
    assert Verdict.AGREES not in found
    assert np.mean([v is Verdict.DIFFERS for v in found]) >= 0.6


@pytest.mark.long
def test_the_95_percent_interval_of_S_holds_the_truth_in_93_to_97_percent():
    inside = []
    for seed in range(1_000):
        found, true, initial = judged(seed)
        if not found.all_nodes:
            continue
        S = shape_factor(true, characteristic_length(initial))
        inside.append(abs(found.scanned.S - S) <= 1.96 * found.scanned.u)
    assert len(inside) > 900
    assert 0.93 <= np.mean(inside) <= 0.97
