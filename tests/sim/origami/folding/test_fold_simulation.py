"""Folding and loading: limits with a known answer, and honest ends."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose

from sim.contact.collisions import crossings
from sim.core.options import NotConvergedError
from sim.origami.fold_and_load_phases import Displace, Fold, Load, Moments, Path, Phase
from sim.origami.folding.fold_simulation import OrigamiStep, run
from sim.origami.folding.outcome import reached_folds
from sim.origami.folding.sheet import (
    Contact,
    Rules,
    Sheet,
    default_scale,
    hinge_angles,
    panel_length,
)
from sim.origami.mechanics import bending_strain, eigenmodes
from sim.origami.model.mesh import BarHingeMesh, concentrated_mesh
from sim.origami.pattern.generators import pyramid
from sim.origami.pattern.pattern import CreasePattern
from tests.sim.origami.sheets import (
    MATERIAL,
    compliant_strip,
    concentrated_strip,
    held_at,
    sheet,
)

FREE = Contact(enabled=False)
PRESS = Load(nodes=[6, 7], force=[0.0, 0.0, -2e-3], increments=20, watch=6, axis=2)


def last_of(chosen: Sheet, *phases: Phase) -> OrigamiStep:
    return list(run(chosen, phases))[-1]


def crossed(mesh: BarHingeMesh, step: OrigamiStep) -> int:
    return len(crossings(mesh.bar, mesh.triangle, mesh.tag, step.x))


@pytest.mark.parametrize("rules", [rule.value for rule in Rules])
@pytest.mark.parametrize("angle", [0.4, 1.5])
def test_a_free_fold_reaches_its_angle_without_strain(rules, angle):
    mesh = concentrated_strip(2)
    step = last_of(sheet(mesh, Contact(rules)), Fold([2], [angle], increments=10))
    assert step.energies.sum() < 1e-15
    assert hinge_angles(mesh, step.x)[0] == pytest.approx(np.pi * angle, abs=1e-7)


def test_a_folded_strip_rises_bends_and_stays_where_it_is_held():
    """Valleys rise along normals; strain is half the thickness times curvature."""
    mesh = compliant_strip(2)
    step = last_of(sheet(mesh), Fold([2], [1.5], increments=10))
    assert step.x[5:7, 2].min() > 0.01
    expected = 0.5 * 1e-4 * (np.pi / 2) / 2e-3
    assert bending_strain(mesh, MATERIAL, step.x) == pytest.approx(expected, rel=1e-5)
    assert bending_strain(mesh, MATERIAL, mesh.rest) == pytest.approx(0.0, abs=1e-12)
    for node, *axes in held_at(mesh):
        held = np.array(axes, dtype=bool)
        assert (step.x[node][held] == mesh.rest[node][held]).all()


def test_stages_fold_one_after_the_other():
    mesh = concentrated_strip(3)
    fold = Fold([2, 5], [1.4, 0.7], stages=[2, 1], increments=4, tolerance=1e-9)
    steps = list(run(sheet(mesh, FREE), [fold]))
    crease = mesh.hinge_crease.tolist()
    first, second = crease.index(2), crease.index(5)
    halfway = hinge_angles(mesh, steps[4].x)
    assert halfway[first] == pytest.approx(np.pi, abs=1e-7)
    assert halfway[second] == pytest.approx(0.7 * np.pi, abs=1e-7)
    assert [s.stage for s in steps[1:]] == [1] * 4 + [2] * 4


def test_a_cantilever_bends_as_its_hinge_says():
    """A small force on the far edge of a panel turns its hinge by P L / k."""
    mesh = concentrated_strip(2)
    P, L = 1e-5, 0.02
    load = Load([2, 5], [0.0, 0.0, P], increments=1, tolerance=1e-10)
    held = [[node, 1, 1, 1] for node in (0, 1, 3, 4, 6)]
    chosen = replace(sheet(mesh, FREE), supports=held)
    step = last_of(chosen, load)
    k = MATERIAL.whole_crease(L)
    turn = hinge_angles(mesh, step.x)[0] - np.pi
    assert turn == pytest.approx(2 * P * L / k, rel=2e-2)


def shallow_truss() -> Sheet:
    """Two triangles over a span that snap through: their ridge is pressed down."""
    high = 2e-3
    vertices = np.array(
        [
            [0, 0, 0],
            [0.02, 0, high],
            [0.02, 0.02, high],
            [0, 0.02, 0],
            [0.04, 0, 0],
            [0.04, 0.02, 0],
        ]
    )
    pattern = CreasePattern(vertices, [[0, 1, 2, 3], [1, 4, 5, 2]])
    mesh = concentrated_mesh(pattern, MATERIAL)
    held = [[n, 1, 1, 1] for n in (0, 3, 4, 5)]
    return Sheet(mesh, held, FREE.filled(mesh))


def test_the_path_goes_past_a_limit_point():
    """Load rises, falls below zero and rises again while the ridge snaps through.

    Where it falls first the smallest eigenvalue falls to zero.
    """
    truss = shallow_truss()
    path = Path(
        [1, 2],
        [0.0, 0.0, -1.0],
        increments=60,
        watch=1,
        first_factor=1.0,
        tolerance=1e-8,
    )
    steps = list(run(truss, [path]))
    factors = np.array([s.factor for s in steps])
    sunk = -np.array([s.displacement for s in steps])
    assert (np.diff(sunk) > 0).all()
    assert sunk[-1] > 4.0e-3
    peak = factors[: np.argmax(sunk > 2e-3)].max()
    assert peak > 0
    assert factors.min() < -0.5 * peak
    assert factors[-1] > peak
    lowest = [eigenmodes(truss, path, s, 2).values[0] for s in steps]
    assert lowest[0] > 0
    falls = (np.diff(factors) > 0).tolist().index(False)
    assert min(lowest[falls : falls + 2]) < 0.2 * lowest[0]
    assert min(lowest) < 0


def test_a_pressed_fold_is_stopped_by_contact_and_passes_without_it():
    mesh = compliant_strip(2)
    fold = Fold([2], [1.9], increments=10)
    contact = Contact("full", 0.02, 1e-3, 1e-3)
    held = [[n, 1, 1, 1] for n in range(4)]
    stopped = replace(sheet(mesh, contact), supports=held)
    steps = list(run(stopped, [fold, PRESS]))
    assert all(crossed(mesh, s) == 0 for s in steps)
    assert 0 < steps[-1].smallest_distance < 1e-3
    free = replace(sheet(mesh, FREE), supports=held)
    passed = list(run(free, [fold, PRESS]))
    assert passed[-1].x[6, 2] < 0 < stopped_height(steps)


def stopped_height(steps: list[OrigamiStep]) -> float:
    return float(steps[-1].x[6, 2])


def test_a_thickness_always_remains_between_panels():
    mesh = compliant_strip(2)
    held = [[n, 1, 1, 1] for n in range(4)]
    gaps = []
    for thickness in (0.0, 5e-4):
        contact = Contact("full", 1e-3, 5e-4, 5e-4, thickness=thickness)
        chosen = replace(sheet(mesh, contact), supports=held)
        press = replace(PRESS, force=[0.0, 0.0, -2e-2])
        steps = list(run(chosen, [Fold([2], [1.9], increments=10), press]))
        gaps.append(min(s.smallest_distance for s in steps))
    assert gaps[1] > 5e-4 > gaps[0] > 0


def test_an_increment_without_equilibrium_is_the_last_or_let_through_by_name():
    chosen = replace(sheet(compliant_strip(2), Contact("paper")), max_iterations=2)
    fold = Fold([2], [1.9], increments=3)
    with pytest.raises(NotConvergedError, match="unbalanced force") as stopped:
        list(run(chosen, [fold]))
    assert isinstance(stopped.value.best, OrigamiStep)
    steps = list(run(replace(chosen, accept_unconverged=True), [fold]))
    assert [s.converged for s in steps] == [True, False, False, False]
    with pytest.raises(ValueError, match="works with contact rules 'paper' only"):
        replace(sheet(compliant_strip(2)), accept_unconverged=True)


def test_a_hard_increment_is_made_in_parts():
    """Few iterations are allowed, so that the whole fold at once is too much."""
    chosen = replace(sheet(compliant_strip(2)), max_iterations=8)
    step = last_of(chosen, Fold([2], [1.95], increments=1))
    assert step.parts > 1
    assert step.converged


def test_a_sheet_that_meets_itself_is_refused():
    vertices = np.array(
        [
            [0, 0, 0],
            [1, 0, 0],
            [1, 1, 0],
            [0, 1, 0],
            [0.5, 0.2, -0.5],
            [0.5, 0.8, -0.5],
            [0.5, 0.8, 0.5],
            [0.5, 0.2, 0.5],
        ]
    )
    pattern = CreasePattern(0.1 * vertices, [[0, 1, 2, 3], [4, 5, 6, 7]])
    mesh = concentrated_mesh(pattern, MATERIAL)
    held = [[n, 1, 1, 1] for n in (0, 1, 2, 4, 5, 6)]
    contact = Contact("full", 1e-3).filled(mesh)
    load = Load([3], [0.0, 0.0, 1e-3])
    with pytest.raises(ValueError, match="panel 1 meets panel 0 before"):
        list(run(Sheet(mesh, held, contact), [load]))


@pytest.mark.parametrize(
    ("build", "said"),
    [
        (lambda: Fold([2], [2.1]), "rest angle 2.1 of crease 2"),
        (lambda: Fold([2]), "creases without angles"),
        (lambda: Fold([2], [1.5], stages=[1, 2]), "one value per crease: 1, not 2"),
        (lambda: Fold([2], [1.5], stages=[2]), "lacks stage 1"),
        (lambda: Fold([2], [1.5], speeds=[0.0]), "speeds must be positive"),
        (lambda: Fold([2], [1.5], increments=0), "increments must be a whole number"),
        (lambda: Fold([2], [1.5], tolerance=0.0), "tolerance must be positive"),
        (lambda: Load([], [0, 0, 1]), "load has no nodes"),
        (lambda: Load([1], [0, 1]), "give x, y and z"),
        (lambda: Load([1], [0, 0, 1], axis=3), "axis 3"),
        (lambda: Displace([1], [0, 0, 1]), "displace watches no node"),
        (lambda: Displace([1], [0, 0, 1], watch=1, distance=0.0), "distance 0"),
        (lambda: Path([1], [0, 0, 1], first_factor=0.0), "first_factor"),
        (lambda: Moments([2], []), "one value per crease: 1, not 0"),
        (lambda: Moments([2, 2], [1.0, 1.0]), "listed twice"),
        (lambda: Moments([2], [np.nan]), "the moment of crease 2 must be finite, not"),
        (lambda: Moments([2], [1.0], increments=0), "increments must be a whole"),
        (lambda: Moments([], []), "moments without creases"),
        (lambda: Contact("papre"), "rules is 'papre': choose one of paper, full"),
        (lambda: Contact(ke=-1.0), "contact: ke must be positive"),
        (lambda: Contact(thickness=-1.0), "thickness must be 0 or more"),
        (lambda: Contact("paper", thickness=1.0), "have no thickness"),
    ],
)
def test_impossible_instructions_are_refused(build, said):
    with pytest.raises(ValueError, match=said):
        build()


@pytest.mark.parametrize(
    ("phase", "said"),
    [
        (Fold([0], [1.5]), r"edge 0 is not a crease: creases are \[2\]"),
        (Fold(), "the fold names no creases and the pattern assigns none"),
        (Moments([0], [1.0]), "edge 0 is not a crease"),
        (Load([99], [0, 0, 1]), "load names node 99"),
        (Load([0], [0, 0, 1]), "acts on supports only"),
        (Displace([6], [0, 0, 1.0], watch=0), "which is held"),
        (Load([6], [0, 0, 1], supports=[[99, 1, 1, 1]]), "support names node 99"),
        (Load([6], [0, 0, 1], elastic=[[6, 0, 0, -1.0]]), "node 6 is negative"),
    ],
)
def test_instructions_that_do_not_fit_the_sheet_are_refused(phase, said):
    with pytest.raises(ValueError, match=said):
        list(run(sheet(compliant_strip(2)), [phase]))


def test_defaults_of_contact_follow_from_size_and_stiffness():
    mesh = compliant_strip(2)
    filled = Contact().filled(mesh)
    assert panel_length(mesh) == pytest.approx(0.02)
    assert filled.d0_edge == filled.d0_centre == pytest.approx(6e-4)
    stiff = replace(mesh, hinge_stiffness=3.0 * mesh.hinge_stiffness)
    ke = filled.ke
    assert ke is not None
    assert Contact().filled(stiff).ke == pytest.approx(3.0 * ke)


def test_a_push_that_is_divided_goes_on_by_its_way_not_by_its_load():
    mesh = concentrated_mesh(pyramid(6, radius=0.02, height=0.004), MATERIAL)
    ring = [[k, 1, 1, 1] for k in range(1, 7)]
    exact = {"increments": 3, "tolerance": 1e-8}
    push = Displace([0], [0, 0, -1.0], watch=0, distance=-3e-3, **exact)
    steps = list(run(Sheet(mesh, ring, FREE, max_iterations=6), [push]))
    assert [step.parts for step in steps] == [1, 2, 2, 2]
    moved = [step.displacement for step in steps]
    assert moved == pytest.approx([0, -3e-3, -6e-3, -9e-3], rel=1e-8)


def test_the_potential_at_half_of_d0_is_the_energy_of_a_crease_at_90_degrees():
    at_half = 0.5 * np.log(2.0) - np.pi**2 / 32.0  # Pi / ke: phi = pi/4 in eq. (3.4)
    mesh = compliant_strip(2)
    turns = 0.5 * np.pi * mesh.hinge_share  # of the one crease's hinges
    bent = 0.5 * float(mesh.hinge_stiffness @ turns**2)
    assert default_scale(mesh) * at_half == pytest.approx(bent, rel=1e-12)


@pytest.mark.parametrize("build", [concentrated_strip, compliant_strip])
def test_a_moment_folds_a_crease_by_moment_over_stiffness(build):
    mesh = build(3)  # type: ignore[operator]
    k = MATERIAL.whole_crease(0.02)
    first, last = (int(c) for c in mesh.pattern.creases)
    asked = Moments([first, last], [0.4 * k, -0.2 * k], increments=3, tolerance=1e-9)
    step = last_of(sheet(mesh, FREE), asked)
    folds = reached_folds(mesh, step.x)
    assert_allclose(folds, [0.4, -0.2], rtol=1e-6)
    work = 0.5 * k * (0.4 * folds[0] - 0.2 * folds[1])
    assert step.energies[:4].sum() == pytest.approx(work, rel=1e-2)


def test_a_moment_presses_a_folded_crease_flat_and_leaves_with_its_phase():
    mesh = concentrated_strip(2)
    crease, given = int(mesh.pattern.creases[0]), sheet(mesh, FREE)
    fold = 0.3
    bent = Fold([crease], [1.0 + fold / np.pi], increments=2)
    k = MATERIAL.whole_crease(0.02)
    press = Moments([crease], [-k * fold], increments=2, tolerance=1e-9)
    pressed = last_of(given, bent, press)
    assert reached_folds(mesh, pressed.x)[0] == pytest.approx(0.0, abs=1e-6)
    assert pressed.energies[0] == pytest.approx(0.5 * k * fold**2, rel=1e-4)
    again = last_of(given, bent, press, bent)
    assert reached_folds(mesh, again.x)[0] == pytest.approx(fold, rel=1e-4)
