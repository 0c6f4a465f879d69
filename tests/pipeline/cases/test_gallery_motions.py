"""Structures of the gallery fall, with a point mass at each node; none may grow."""

import pytest

from pipeline.cases.equilibrium import loaded_file
from pipeline.cases.mechanism_motion import MechanismMotionCase
from tests.pipeline.conftest import ROOT

GALLERY = sorted(
    path
    for path in (ROOT / "conf/structure").rglob("*.yaml")
    if "growth:" not in path.read_text(encoding="utf-8")
)


@pytest.mark.long
@pytest.mark.parametrize("path", GALLERY, ids=lambda path: path.stem)
def test_a_structure_of_the_gallery_falls_and_keeps_its_energy(path):
    body = loaded_file(str(path))
    points = [{"nodes": [j], "mass": 1.0} for j in range(len(body.structure.r0))]
    falling = MechanismMotionCase(
        body, duration=0.5, h=0.01, gravity=(0.3, -9.0, -2.0), masses=points,
        contact_energy=1.0,
    )  # fmt: skip
    steps = list(falling.steps())
    most = max(1.0, max(step.kinetic for step in steps))
    assert max(abs(step.balance) for step in steps) < 1e-11 * most
    assert steps[-1].worst < 1e-13
