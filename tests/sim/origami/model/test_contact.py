"""Defaults of a sheet's contact."""

import numpy as np
import pytest

from sim.origami.model.compliant import compliant_mesh
from sim.origami.model.contact import Contact, build_surface, default_scale
from tests.sim.origami.sheets import MATERIAL, strip


def test_the_potential_at_half_of_d0_is_the_energy_of_a_crease_at_90_degrees() -> None:
    at_half = 0.5 * np.log(2.0) - np.pi**2 / 32.0  # Pi / ke: phi = pi/4 in eq. (3.4)
    mesh = compliant_mesh(strip(2), MATERIAL)
    turns = 0.5 * np.pi * mesh.hinge_share  # of the one crease's hinges
    bent = 0.5 * float(mesh.hinge_stiffness @ turns**2)
    assert default_scale(mesh) * at_half == pytest.approx(bent, rel=1e-12)
    ipc = 0.75**2 * np.log(4.0)  # - (1 - s)^2 ln s, s = 1/4
    assert default_scale(mesh, squared=True) * ipc == pytest.approx(bent, rel=1e-12)


def test_the_barrier_of_ipc_is_chosen_by_its_name() -> None:
    mesh = compliant_mesh(strip(2), MATERIAL)
    chosen = Contact(barrier="ipc").filled(mesh)
    assert build_surface(mesh, chosen).squared
    assert not build_surface(mesh, Contact().filled(mesh)).squared
    with pytest.raises(ValueError, match="barrier is 'log': choose one of paper, ipc"):
        Contact(barrier="log")
    with pytest.raises(ValueError, match="know no barrier but their own"):
        Contact(rules="paper", barrier="ipc")
