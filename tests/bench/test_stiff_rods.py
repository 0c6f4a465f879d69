"""The table of stiff pendulums, a part of it for a fifth of a second."""

import pytest
import yaml

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
