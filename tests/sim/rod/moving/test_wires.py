"""Wires that touch themselves and each other, against the laws that they follow."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from sim.arrays import Floats
from sim.rod.moving.motion import SpaceMotionStep
from sim.rod.space.space_rod import edge_tangents
from sim.rod.stepping.world import Damping
from tests.sim.rod.moving.wires import (
    Run,
    bends,
    capstan,
    gripper,
    knot,
    lasso,
    michell_ring,
    overlap,
    plectoneme,
    tensions,
    touch,
)
from tests.sim.rod.space.linking import linking_number, writhe
from tests.sim.rod.space.made import B

R = 1.0e-3


@pytest.mark.parametrize(
    ("edges", "duration", "apart"),
    [(12, 0.012, 2.5e-2), pytest.param(24, 0.02, 1e-2, marks=pytest.mark.long)],
)
def test_a_rope_that_slides_over_a_drum_is_pulled_as_euler_says(
    edges: int, duration: float, apart: float
) -> None:
    """T2 / T1 = exp(mu beta) (Euler, Eytelwein)."""
    run = capstan(edges, duration)
    last = run.steps()[-1]
    rope = slice(0, edges + 8)
    t = edge_tangents(last.x, run.world.rod.edges)[rope]
    beta = float(np.arctan2(np.cross(t[0], t[-1])[1], t[0] @ t[-1]) % (2 * np.pi))
    assert beta == pytest.approx(np.pi, rel=2e-3)
    pull = tensions(run.world, last.x)[rope]
    assert pull[-1] / pull[0] == pytest.approx(np.exp(0.3 * beta), rel=apart)
    over = last.x[1 : edges + 8]
    assert np.hypot(over[:, 0], over[:, 2]).min() > 0.05
    assert last.moving.ledger.gap < 1e-4 * run.world.rod.rest_length.min()


def test_a_ring_leaves_its_plane_from_michells_twist_on() -> None:
    """2 pi sqrt(3) B / C (1889); below it swings about its plane, above it goes on."""
    far = {}
    for twist in (0.97, 1.05):
        steps = michell_ring(40, twist, 1.5, Damping(beta=0.0)).steps()
        far[twist] = max(np.abs(step.x[:, 2]).max() for step in steps) / 0.1
    assert far[0.97] < 0.03
    assert far[1.05] > 0.1


def test_a_ring_that_coils_keeps_its_linking_number() -> None:
    run = michell_ring(30, 1.3, 1.2, Damping(4.0, 1.0e-3))
    last = run.steps()[-1]
    assert writhe(last.x) > 1.0
    assert abs(linking_number(last.moving.state)) < 1e-9
    assert touch(run.world, last.x) >= 1


@pytest.mark.long
def test_a_slack_wire_winds_about_itself() -> None:
    run = plectoneme()
    last = run.steps()[-1]
    assert touch(run.world, last.x) >= 4
    assert np.hypot(*last.x[:, 1:].T).max() > 0.04
    full = 2.0 * np.pi * 5.0
    assert (last.moving.state.twist.sum() + full) / full < 0.5
    assert last.moving.ledger.gap < 1e-4 * 0.2 / 49


@np.errstate(divide="ignore", invalid="ignore")  # parallel ones cross nowhere
def _crossings(x: Floats) -> list[tuple[float, float]]:
    """Where (edge + share) a curve seen from above goes over, and under, itself."""
    found = []
    for i in range(len(x) - 1):
        for j in range(i + 2, len(x) - 1):
            d, e = x[i + 1] - x[i], x[j + 1] - x[j]
            by = x[j] - x[i]
            area = d[0] * e[1] - d[1] * e[0]
            s = (by[0] * e[1] - by[1] * e[0]) / area
            u = (by[0] * d[1] - by[1] * d[0]) / area
            if 0.0 <= s < 1.0 and 0.0 <= u < 1.0:
                above = (x[i] + s * d)[2] > (x[j] + u * e)[2]
                found.append((i + s, j + u) if above else (j + u, i + s))
    return found


def _determinant(x: Floats) -> int:
    """Of the knot of a curve whose ends are far away: 1 if loose, 3 of a trefoil.

    Arcs run from one crossing under to the next; at each, twice the arc above less both
    arcs below vanishes in a colouring (Fox). Any minor tells.
    """
    crossings = _crossings(x)
    under = np.sort([low for _, low in crossings])
    rows = np.zeros((len(crossings), len(crossings) + 1))
    for row, (high, low) in zip(rows, crossings, strict=True):
        k = int(np.searchsorted(under, low))
        row[int(np.searchsorted(under, high))] += 2.0
        row[k] -= 1.0
        row[k + 1] -= 1.0
    return round(abs(float(np.linalg.det(rows[:, 1:])))) if len(rows) else 1


def test_the_determinant_tells_a_trefoil_from_a_loop() -> None:
    t = np.linspace(-2.2, 2.2, 60)
    trefoil = np.column_stack([t**3 - 3 * t, t**4 - 4 * t**2, t**5 - 10 * t])
    assert _determinant(trefoil) == 3
    assert _determinant(trefoil * [1.0, 1.0, 0.0] + t[:, None] * [0.0, 0.0, 1.0]) == 1


def _pull(run: Run, step: SpaceMotionStep) -> float:
    """Mean tension of both tails, N."""
    tension = tensions(run.world, step.x)
    return float(np.concatenate([tension[1:3], tension[-3:-1]]).mean())


def _across(run: Run, step: SpaceMotionStep) -> float:
    """Curvature of the loop where it runs across the pull, on both sides, 1/m."""
    k, twice = bends(run.world, step.x, len(run.world.rod.edges))
    along = twice[:, 0]
    j = np.flatnonzero(along[:-1] * along[1:] < 0.0)
    share = along[j] / (along[j] - along[j + 1])
    found = (1.0 - share) * k[j] + share * k[j + 1]
    return float(np.sqrt(np.mean(found**2)))


def test_a_knot_stays_a_knot_and_nothing_passes_through() -> None:
    run = knot(rests=0.01, duration=0.03)
    steps = run.steps()
    assert {_determinant(step.x) for step in steps} == {3}
    assert overlap(run.world, steps) <= 1.001e-6 * R
    ledger = steps[-1].moving.ledger
    assert ledger.complementarity <= 1e-11
    assert ledger.friction > 0.0


@pytest.mark.long
def test_a_knot_pulls_by_its_bending_and_by_its_friction() -> None:
    """F - B k^2 / 2 is what friction takes over the way on which strands slide.

    Of a wire without friction t.n + B k^2 / 2 + C tau^2 / 2 is the same everywhere, so
    F = B / 2 R^2 where the loop of radius R runs across the pull (Audoly, Clauvelin and
    Neukirch, PRL 99, 2007). Means over the swinging of the knot.
    """
    run = knot()
    steps = run.steps()
    k = _across(run, steps[-1])
    assert 1.0 / (R * k) < 25.0
    assert 0.65 < _pull(run, steps[-1]) / (B * k**2) < 1.1
    assert {_determinant(step.x) for step in steps} == {3}
    assert overlap(run.world, steps) <= 1.001e-6 * R
    slides = [step for step in steps if step.time > 0.199]
    first, last = slides[0], slides[-1]
    taken = last.moving.ledger.friction - first.moving.ledger.friction
    bent = [0.5 * B * _across(run, step) ** 2 for step in slides]
    more = np.mean([_pull(run, step) for step in slides]) - np.mean(bent)
    slid = 2.0 * 0.02 * (last.time - first.time)  # both ends go at 0.02 m/s
    assert more == pytest.approx(taken / slid, rel=0.06)
    run = knot(friction=0.0)
    late = [step for step in run.steps() if step.time > 0.25]
    told = [_pull(run, step) / (B * _across(run, step) ** 2) for step in late]
    assert np.mean(told) == pytest.approx(0.5, rel=0.07)


def test_contacts_that_follow_slowly_are_drawn_on() -> None:
    """By 8 steps of a knot, in which they contract by 0.35; 580 iterations if not."""
    run = replace(knot(), h=8e-3, every=1)
    steps = run.steps()
    assert sum(step.iterations for step in steps) <= 560
    assert overlap(run.world, steps) <= 1.001e-6 * R
    assert steps[-1].moving.ledger.complementarity <= 1e-11


def _squared_curvature(run: Run, x: Floats, edges: int, force: float) -> float:
    """Of the loop of the first hairpin, over that of an elastica."""
    k, twice = bends(run.world, x, edges)
    along = np.abs(twice[:, 2]) / np.linalg.norm(twice, axis=1)
    bent = along < 0.8
    law = 2.0 * force * (1.0 - along) / B
    return float(np.mean(k[bent] ** 2 / law[bent]))


def test_two_looped_wires_are_elastica_of_two_legs() -> None:
    """B k^2 / 2 = F (1 - cos theta); legs are 2 sqrt(2 B / F) apart."""
    run, force = replace(lasso(), duration=0.15), 0.08
    steps = run.steps()
    last = steps[-1].x
    wide = 2.0 * np.sqrt(2.0 * B / force)
    assert np.linalg.norm(last[0] - last[41]) == pytest.approx(wide, rel=0.05)
    assert _squared_curvature(run, last, 41, force) == pytest.approx(1.0, rel=0.1)
    assert touch(run.world, last) == 1
    assert overlap(run.world, steps) <= 1.001e-6 * R


@pytest.mark.long
def test_the_error_of_looped_wires_falls_with_their_edges() -> None:
    left = []
    for edges in (21, 41):
        run = lasso(edges)
        found = _squared_curvature(run, run.steps()[-1].x, edges, 0.08)
        left.append(abs(found - 1.0))
    assert left[1] < 0.45 * left[0]


def test_wires_that_press_rest_in_long_steps_that_are_not_cut() -> None:
    """Their contact force would throw each by two radii in a step of 1 ms."""
    steps = replace(lasso(), h=1e-3, duration=0.02, every=1).steps()
    assert sum(step.substeps for step in steps) == 20
    assert sum(step.iterations for step in steps) <= 140


def test_a_move_that_turns_edges_far_does_not_throw_the_next() -> None:
    """It lengthens them; 574 iterations where Newton's matrix takes that as a pull.

    245 where the matrix of the first guess is taken again after a far move.
    """
    steps = replace(lasso(), h=8e-3, every=1).steps()
    assert sum(step.iterations for step in steps) <= 220


@pytest.mark.parametrize("share", [0.7, 1.35])
def test_limbs_lift_a_body_from_the_friction_of_a_beam_on(share: float) -> None:
    """Three of them push as straight beams of their curvature would."""
    run, v = gripper(share)
    steps = run.steps()
    rod, last = run.world.rod, steps[-1]
    mass, moved = rod.mass[-3:], last.x - rod.nodes
    lifted = mass @ moved[-3:] / mass.sum()
    palm = moved[0, 2]
    assert palm == pytest.approx(7.5e-3)
    if share < 1.0:
        assert lifted[2] < 1e-4
        return
    assert lifted[2] > 0.9 * palm
    assert np.hypot(*lifted[:2]) < 1e-9
    assert last.moving.ledger.complementarity < 1e-11
    free = rod.mass[~rod.held.all(axis=1)].sum()
    for one, other in pairwise(steps[-3:]):  # of a steady lift
        given = other.moving.ledger.given - one.moving.ledger.given
        assert given / (v * (other.time - one.time)) == pytest.approx(
            free * (9.81 + run.world.damping.alpha * v), rel=0.05
        )
