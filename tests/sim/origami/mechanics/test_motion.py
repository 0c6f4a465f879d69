"""Sheets that move, beside a pendulum, a spring, and what energies do at contact."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.special import ellipk

from sim.arrays import Floats
from sim.contact.crossing import crossings
from sim.convergence import NotConvergedError
from sim.origami.folding.outcome import reached_folds
from sim.origami.folding.sheet import build_problem, hinge_angles
from sim.origami.loading.phases import Fold
from sim.origami.mechanics.motion import (
    MotionSettings,
    MovingSheet,
    motion,
    node_masses,
)
from sim.origami.mechanics.moving_state import MovingState
from sim.origami.model.concentrated import concentrated_mesh
from sim.origami.model.contact import Contact
from sim.origami.model.material import SheetMaterial
from tests.sim.origami.sheets import MATERIAL, sheet, strip

OFF = Contact(rules="full", enabled=False)
STIFF = replace(MATERIAL, panel_thickness=5e-3)
SIDE, DENSITY = 0.02, 1200.0


def moving(
    panels: int, held: int, material: SheetMaterial, settings: MotionSettings,
    contact: Contact = OFF, folds: Floats | None = None,
) -> MovingSheet:  # fmt: skip
    """Square panels in a row, one of them held; folds of creases at rest, rad."""
    mesh = concentrated_mesh(strip(panels), material)
    nodes = set(mesh.triangle[mesh.triangle_panel == held].ravel().tolist())
    whole = sheet(mesh, contact)
    fixed = replace(whole, supports=[[node, 1, 1, 1] for node in sorted(nodes)])
    flat = Fold(creases=mesh.pattern.creases.tolist(), angles=[1.0] * (panels - 1))
    rest = hinge_angles(mesh, mesh.rest)
    if folds is not None:
        of_edge = np.zeros(len(mesh.pattern.edges) + 1)
        of_edge[mesh.pattern.creases] = folds
        rest = rest + mesh.hinge_share * of_edge[mesh.hinge_crease]
    mass = node_masses(mesh, material, settings)
    return MovingSheet(mesh, build_problem(fixed, flat), rest, mass, settings)


def arms(sheet: MovingSheet) -> tuple[float, float]:
    """First and second moment of the mass about the first crease."""
    arm = np.maximum(sheet.mesh.rest[:, 0] - SIDE, 0.0)
    return float(sheet.mass @ arm), float(sheet.mass @ arm**2)


def folds_of(sheet: MovingSheet, states: list[MovingState]) -> Floats:
    return np.array([reached_folds(sheet.mesh, state.x) for state in states])


def first_zero(time: Floats, value: Floats) -> float:
    i = int(np.flatnonzero(value[:-1] * value[1:] <= 0.0)[0])
    share = value[i] / (value[i] - value[i + 1])
    return float(time[i] + share * (time[i + 1] - time[i]))


def test_the_mass_is_that_of_the_panels() -> None:
    settings = MotionSettings(DENSITY, DENSITY, 1.0, 1)
    mass = moving(3, 0, STIFF, settings).mass
    assert mass.sum() == pytest.approx(3 * SIDE**2 * 5e-3 * DENSITY, rel=1e-12)


def test_a_panel_falls_as_a_pendulum_with_errors_of_second_order() -> None:
    loose = replace(STIFF, crease_thickness=1e-6)
    off, away = [], []
    for steps in (25, 50, 100):
        settings = MotionSettings(
            DENSITY, DENSITY, 1.0, steps, gravity=9.81, tolerance=1e-7, balance=0.1
        )
        first, second = arms(moving(2, 0, loose, settings))
        quarter = np.sqrt(second / (first * 9.81)) * ellipk(0.5)  # from the horizontal
        settings = replace(settings, duration=1.5 * quarter)
        falls = moving(2, 0, loose, settings)
        states = list(motion(falls, falls.at_rest(falls.mesh.rest)))
        time = np.array([state.time for state in states])
        down = folds_of(falls, states)[:, 0] + 0.5 * np.pi
        off.append(abs(first_zero(time, down) / quarter - 1.0))
        most = max(state.kinetic for state in states)
        away.append(max(abs(state.total - states[0].total) for state in states) / most)
    assert off[2] < 2e-3
    assert off[0] / off[1] > 3.5 < off[1] / off[2]
    assert away[2] < 0.02
    assert away[0] / away[2] > 9.0


@pytest.mark.parametrize("mass_damping", [0.0, 20.0])
def test_a_crease_rings_at_its_frequency_and_decays(mass_damping: float) -> None:
    hinge_damping = 0.0 if mass_damping else 3e-4
    k = STIFF.whole_crease(SIDE)
    settings = MotionSettings(
        DENSITY, DENSITY, 1.0, 200, mass_damping=mass_damping,
        hinge_damping=hinge_damping, tolerance=1e-9,
    )  # fmt: skip
    _, second = arms(moving(2, 0, STIFF, settings))
    plain = np.sqrt(k / second)
    settings = replace(settings, duration=4.0 * np.pi / plain)
    rings = moving(2, 0, STIFF, settings)
    turning = np.zeros_like(rings.mesh.rest)
    turning[:, 2] = np.maximum(rings.mesh.rest[:, 0] - SIDE, 0.0)
    start = rings.at_rest(rings.mesh.rest, 0.05 * plain * turning)
    states = list(motion(rings, start))
    decay = 0.5 * (mass_damping + hinge_damping * plain**2)
    damped = np.sqrt(plain**2 - decay**2)
    time = np.array([state.time for state in states])
    known = 0.05 * plain / damped * np.exp(-decay * time) * np.sin(damped * time)
    fold = folds_of(rings, states)[:, 0]
    assert np.abs(fold - known).max() < 0.01 * known.max()
    assert states[-1].lost > 0.1 * start.kinetic
    assert states[-1].total == pytest.approx(start.total, rel=1e-3)


def test_panels_that_swing_into_each_other_keep_apart_and_their_energy() -> None:
    contact = Contact(rules="full", ke=1e-2, d0_edge=2e-3, d0_centre=2e-3)
    settings = MotionSettings(DENSITY, DENSITY, 0.04, 100, tolerance=1e-8)
    folds = np.radians([120.0, 108.0])
    material = replace(MATERIAL, panel_thickness=2e-3)
    meets = moving(3, 1, material, settings, contact, folds)
    states = list(motion(meets, meets.at_rest(meets.mesh.rest)))
    most = max(state.kinetic for state in states)
    pressed = max(state.energies[4] for state in states)
    assert pressed > 0.1 * most
    away = max(abs(state.total - states[0].total) for state in states)
    assert away < 2e-3 * most
    surface = meets.problem.surface
    for state in states[::10]:
        found = crossings(surface.edge, surface.triangle, surface.tag, state.x)
        assert len(found) == 0


def test_what_makes_no_motion_is_refused() -> None:
    for words, said in (
        ({"panel_density": 0.0}, "panel_density must be positive"),
        ({"steps": 0}, "steps is 0"),
        ({"hinge_damping": -1.0}, "hinge_damping must be 0 or more"),
        ({"balance": 0.0}, "balance must be positive"),
    ):
        with pytest.raises(ValueError, match=said):
            MotionSettings(**{"panel_density": 1.0, "crease_density": 1.0,
                              "duration": 1.0, "steps": 1, **words})  # fmt: skip


def test_a_motion_that_cannot_keep_its_energy_ends_with_what_it_has() -> None:
    settings = MotionSettings(
        DENSITY, DENSITY, 0.2, 2, gravity=9.81, tolerance=1e-7, balance=1e-300
    )
    falls = moving(2, 0, STIFF, settings)
    with pytest.raises(NotConvergedError, match="no motion is found") as told:
        list(motion(falls, falls.at_rest(falls.mesh.rest)))
    assert isinstance(told.value.best, MovingState)
