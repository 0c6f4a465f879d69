"""Creases that are heated or turned, beside what one crease does by itself."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose

from sim.origami.folding.folding import OrigamiStep, run
from sim.origami.folding.outcome import reached_folds
from sim.origami.folding.sheet import Sheet
from sim.origami.loading.actuation import Heat, Moments
from sim.origami.loading.phases import Phase
from sim.origami.model.conduction import HeatTransfer, heat_model
from sim.origami.model.contact import Contact
from sim.origami.model.laminate import Laminate, Ply
from sim.origami.model.mesh import BarHingeMesh
from tests.sim.origami.sheets import (
    MATERIAL,
    compliant_strip,
    concentrated_strip,
    sheet,
)

PLIES = Laminate([Ply(2e9, 5e-5, 2e-4), Ply(2e9, 5e-5, 0.0)])
TRANSFER = HeatTransfer(PLIES, 1.0, 1.0, 2e-3, panel_capacity=2e6, crease_capacity=2e6)
NO_CONTACT = Contact(rules="full", enabled=False)


def warmed(mesh: BarHingeMesh, **values: object) -> Sheet:
    heat = heat_model(mesh, MATERIAL, replace(TRANSFER, **values))  # type: ignore[arg-type]
    return replace(sheet(mesh, NO_CONTACT), heat=heat)


def ended(given: Sheet, *phases: Phase) -> OrigamiStep:
    return list(run(given, phases))[-1]


@pytest.mark.parametrize("build", [concentrated_strip, compliant_strip])
def test_a_free_crease_curls_as_its_plies_do(build: object) -> None:
    mesh = build(2)  # type: ignore[operator]
    oven = Heat(surroundings=80.0, increments=4, tolerance=1e-8)
    step = ended(warmed(mesh), oven)
    curl = PLIES.curl() * 80.0 * MATERIAL.crease_width
    assert reached_folds(mesh, step.x)[0] == pytest.approx(curl, rel=1e-4)
    assert curl > 0.1
    turned = ended(warmed(mesh, turned=(int(mesh.pattern.creases[0]),)), oven)
    assert reached_folds(mesh, turned.x)[0] == pytest.approx(-curl, rel=1e-4)


def test_in_time_a_crease_warms_to_what_lasts_and_cools_again() -> None:
    mesh = concentrated_strip(2)
    crease, given = int(mesh.pattern.creases[0]), warmed(mesh)
    lasting = ended(given, Heat([crease], [0.05], increments=3))
    on = Heat([crease], [0.05], duration=900.0, increments=3)
    off = Heat(duration=900.0, increments=3)
    steps = list(run(given, (on, off)))
    assert lasting.rise is not None
    assert steps[3].rise is not None
    assert_allclose(steps[3].rise, lasting.rise, rtol=2e-3)
    assert steps[1].rise is not None
    assert steps[1].rise.max() < steps[3].rise.max()
    assert steps[-1].rise is not None
    assert steps[-1].rise.max() < 2e-3 * lasting.rise.max()
    folds = [reached_folds(mesh, step.x)[0] for step in (lasting, steps[-1])]
    assert abs(folds[1]) < 3e-3 * folds[0]


@pytest.mark.parametrize("build", [concentrated_strip, compliant_strip])
def test_a_moment_folds_a_crease_by_moment_over_stiffness(build: object) -> None:
    mesh = build(3)  # type: ignore[operator]
    k = MATERIAL.whole_crease(0.02)
    first, last = (int(c) for c in mesh.pattern.creases)
    asked = Moments([first, last], [0.4 * k, -0.2 * k], increments=3, tolerance=1e-9)
    step = ended(sheet(mesh, NO_CONTACT), asked)
    folds = reached_folds(mesh, step.x)
    assert_allclose(folds, [0.4, -0.2], rtol=1e-6)
    work = 0.5 * k * (0.4 * folds[0] - 0.2 * folds[1])
    assert step.energies[:4].sum() == pytest.approx(work, rel=1e-2)


def test_a_moment_presses_a_warm_crease_flat_and_leaves_with_its_phase() -> None:
    mesh = concentrated_strip(2)
    crease, given = int(mesh.pattern.creases[0]), warmed(mesh)
    curl = PLIES.curl() * 80.0 * MATERIAL.crease_width
    warm = Heat(surroundings=80.0, increments=2)
    k = MATERIAL.whole_crease(0.02)
    press = Moments([crease], [-k * curl], increments=2, tolerance=1e-9)
    pressed = ended(given, warm, press)
    assert reached_folds(mesh, pressed.x)[0] == pytest.approx(0.0, abs=1e-6)
    assert pressed.energies[0] == pytest.approx(0.5 * k * curl**2, rel=1e-4)
    again = ended(given, warm, press, warm)
    assert reached_folds(mesh, again.x)[0] == pytest.approx(curl, rel=1e-4)


def test_what_cannot_be_driven_is_refused() -> None:
    bare = sheet(concentrated_strip(2), NO_CONTACT)
    with pytest.raises(ValueError, match="give `heating`"):
        next(run(bare, [Heat(surroundings=1.0)]))
    with pytest.raises(ValueError, match="edge 0 is not a crease"):
        next(run(bare, [Moments([0], [1.0])]))
    for words, said in (
        ({"creases": [2], "powers": []}, "0 powers are given for 1 creases"),
        ({"creases": [2, 2], "powers": [1.0, 1.0]}, "named twice"),
        ({"creases": [2], "powers": [np.nan]}, "nan among powers is not finite"),
        ({"duration": 0.0}, "duration must be positive"),
        ({"surroundings": np.inf}, "surroundings must be finite"),
        ({"increments": 0}, "increments must be 1 or more"),
    ):
        with pytest.raises(ValueError, match=said):
            Heat(**words)
    with pytest.raises(ValueError, match="name no creases"):
        Moments([], [])
