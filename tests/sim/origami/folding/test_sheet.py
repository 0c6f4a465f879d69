"""Defaults of a sheet's contact."""

import numpy as np
import pytest

from sim.origami.folding.sheet import default_scale
from sim.origami.model.mesh import compliant_mesh
from tests.sim.origami.sheets import MATERIAL, strip


def test_the_potential_at_half_of_d0_is_the_energy_of_a_crease_at_90_degrees():
    at_half = 0.5 * np.log(2.0) - np.pi**2 / 32.0  # Pi / ke: phi = pi/4 in eq. (3.4)
    mesh = compliant_mesh(strip(2), MATERIAL)
    turns = 0.5 * np.pi * mesh.hinge_share  # of the one crease's hinges
    bent = 0.5 * float(mesh.hinge_stiffness @ turns**2)
    assert default_scale(mesh) * at_half == pytest.approx(bent, rel=1e-12)
