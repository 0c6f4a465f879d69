"""The table of stiff pendulums, a part of it for a fifth of a second."""

import re
from dataclasses import replace

import pytest
import yaml

from pipeline.cases.user_rods import RodFileCase
from sim.core.options import NotConvergedError
from sim.rods.plane.options import CONSERVING
from sim.rods.plane.world import Damping
from tests.bench.bench_stiff_rods import cell, chain


@pytest.mark.parametrize("dimension", [2, 3])
@pytest.mark.parametrize("links", [1, 4])
@pytest.mark.parametrize("modulus", [1e5, 2e11])
def test_stiff_and_soft_pendulums_keep_their_energy(
    dimension, links, modulus, tmp_path
):
    path = tmp_path / "chain.yaml"
    path.write_text(yaml.safe_dump(chain(links, modulus, 0.2)))
    for h in (1e-3, 5e-3):
        assert float(cell(path, h, dimension)) < 0.01  # percent


@pytest.mark.parametrize("links", [1, 2, 4])
def test_a_refused_pendulum_keeps_its_energy_with_the_step_that_is_named(
    links, tmp_path
):
    path = tmp_path / "chain.yaml"
    path.write_text(yaml.safe_dump(chain(links, 2e11, 0.2)))
    options = replace(CONSERVING, h=0.02)
    case = RodFileCase(str(path), damping=Damping(beta=0.0), options=options)
    with pytest.raises(NotConvergedError) as refused:
        list(case.steps())
    named = re.search(r"reduce the time step h to (\S+) s or less", str(refused.value))
    assert named is not None
    assert float(cell(path, float(named[1]), 2)) < 0.01  # percent
