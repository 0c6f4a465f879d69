"""Lines on runs of sheets, fits, reachable shapes and branches."""

import json

import numpy as np
import pytest

from pipeline.runs.summary import CONFIGURATIONS, branches_in_words, details
from sim.mechanism.bifurcations import CrossingKind
from sim.origami.pattern.fold_format import Unassigned, pattern_document, read_pattern
from sim.origami.pattern.generators import miura


def test_a_sheet_is_told_by_its_panels_and_the_kinds_of_its_lines(tmp_path):
    """Four panels around one vertex: three creases alike, one that is not."""
    assert details({}, tmp_path) == []
    sheet = pattern_document(miura(2, 2, width=0.02, height=0.02, angle=60.0))
    (tmp_path / "pattern.fold").write_text(json.dumps(sheet))
    (said,) = details({}, tmp_path)
    assert said.startswith("sheet: 4 panels, 3 mountain, 1 valley, 8 border, ")
    sides = np.ptp(np.array(sheet["vertices_coords"]), axis=0)
    assert said.endswith(f", {1e3 * sides[0]:.4g} x {1e3 * sides[1]:.4g} mm as drawn")


PARAMETERS = "parameter,value,u,determined,nominal\nE,2.0,0.1,yes,1.0\nb,3,,no,4\n"
ERRORS = "quantity,part,count,rms,rms_nominal,rms_mean,u\ntip,{},7,1,2,3,0.5\n"


@pytest.mark.parametrize(("part", "warned"), [("held out", False), ("fit", True)])
def test_a_fit_is_told_by_its_parameters_and_errors(part, warned, tmp_path):
    (tmp_path / "parameters.csv").write_text(PARAMETERS)
    (tmp_path / "errors.csv").write_text(ERRORS.format(part))
    result = {"chi2": 5.0, "dof": 6, "u_enlarged": 1.5}
    lines = details({"result": result}, tmp_path)
    assert lines[:3] == [
        "E: 2 +- 0.1 (nominal 1)",
        "b: 3 not determined (nominal 4)",
        "chi2: 5, degrees of freedom 6",
    ]
    assert lines[3].startswith("u was multiplied by 1.5")
    compared = "rms 1, with nominal parameters 2, of the mean 3, u 0.5"
    assert lines[4] == f"tip, {part} (7): {compared}"
    assert ("warning: no held-out data: the fit was not validated" in lines) == warned


def test_every_kind_of_configuration_has_words():
    assert set(CONFIGURATIONS) == {kind.value for kind in CrossingKind}
    numbers = {"dimension": 1, "null_space": 2, "branches": 2}
    for kind in CrossingKind:
        (line,) = branches_in_words({"configuration": kind.value, **numbers})
        assert "{" not in line
    assert branches_in_words({"negative_motions": 0})[0].startswith("a minimum")
    assert branches_in_words({"negative_motions": 2})[0].startswith("a saddle: E falls")


@pytest.mark.parametrize(
    ("unit", "said"),
    [
        ("mm", " mm as drawn"),
        ("unit", "is taken as 100 mm: give pattern.scale in m per unit"),
    ],
)
def test_a_sheet_without_a_unit_says_so(unit, said, tmp_path):
    document = pattern_document(miura(1, 2, width=0.02, height=0.02, angle=80.0))
    document |= {"frame_unit": unit}
    pattern = read_pattern(document, scale=None, unassigned=Unassigned.FLAT)
    (tmp_path / "pattern.fold").write_text(json.dumps(pattern_document(pattern)))
    (line,) = details({}, tmp_path)
    assert line.endswith(said)
