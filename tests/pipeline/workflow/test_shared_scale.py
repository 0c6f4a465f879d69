"""A scale that all comparisons share, and a structure that is written in a unit."""

import pytest

from pipeline.config.workflow_file import Compared
from pipeline.terminal.errors import InputError
from pipeline.workflow.wanted import _refuse_other_unit


def wanted(scale_mm: float, shared: bool = True) -> Compared:
    return Compared(
        name="mine", case="structure_file", scan=["a.ply"], sphere_radius_mm=6.0,
        scale_mm=scale_mm, scale_is_shared=shared,
    )  # fmt: skip


def test_a_shared_scale_is_refused_where_the_structure_has_another_unit() -> None:
    said = r"mine: its structure is written in mm, and scale_mm 40 is that of `shared`"
    with pytest.raises(InputError, match=rf"{said}: write scale_mm: 1 into the entry"):
        _refuse_other_unit(wanted(40.0), "mm")


@pytest.mark.parametrize(
    ("scale_mm", "shared", "unit"),
    [(40.0, False, "mm"), (25.4, True, "inch"), (40.0, True, "")],
)
def test_a_scale_of_its_own_or_of_the_unit_stands(
    scale_mm: float, shared: bool, unit: str
) -> None:
    _refuse_other_unit(wanted(scale_mm, shared), unit)
