"""Shipped structures have the motions that their page states."""

import re
from itertools import islice

import pytest

from pipeline.cases.morph import MorphCase
from pipeline.io.structure_file import structure_file
from sim.mechanism.mobility import mobility, nearby_mobility
from tests.pipeline.conftest import ROOT

FOLDER = ROOT / "conf" / "structure"
PAGE = ROOT / "docs" / "reference" / "mechanism-files.md"
TEXT = PAGE.read_text(encoding="utf-8")
LINKAGES = {
    name: (int(motions), int(count))
    for name, motions, count in re.findall(
        r"^\| (\w+\.yaml) \| [^|]* \| (\d+) \| (-?\d+) \|", TEXT, re.M
    )
}
JOINTS = {
    f"joint/{name}.yaml": int(motions)
    for name, motions in re.findall(r"^\| `(\w+)` \| (\d+) \|", TEXT, re.M)
}


def test_every_shipped_structure_in_yaml_is_in_the_gallery():
    shipped = {str(p.relative_to(FOLDER)) for p in FOLDER.rglob("*.yaml")}
    elastic = {
        name for name in shipped if name.startswith("elastic/")
    }  # springs and loads
    assert shipped - elastic == {*LINKAGES, *JOINTS}
    assert len(JOINTS) == 12


@pytest.mark.parametrize("name", LINKAGES)
def test_linkages_have_the_motions_of_the_textbooks(name):
    made = structure_file(str(FOLDER / name))
    found = mobility(made)
    assert (found.mobility, found.naive) == LINKAGES[name]
    assert nearby_mobility(made) == found.mobility


@pytest.mark.parametrize("name", JOINTS)
def test_joints_leave_the_motions_of_the_paper(name):
    found = mobility(structure_file(str(FOLDER / name)))
    assert (found.mobility, len(found.redundant)) == (JOINTS[name], 0)


@pytest.mark.parametrize("name", [*LINKAGES, *JOINTS])
def test_each_moves_towards_its_target(name):
    text = (FOLDER / name).read_text(encoding="utf-8")
    assert text.startswith("# ")
    case = MorphCase(structure_file(str(FOLDER / name)), method="newton")
    first, *more = list(islice(case.steps(), 2))
    assert first.residual <= case.residual
    if JOINTS.get(name) != 0:
        assert more[0].E < first.E
