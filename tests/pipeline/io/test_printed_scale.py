"""What a unit of the case is as printed, where the structure says its unit."""

import pytest

from pipeline.cli.app import called
from pipeline.io.structure_file import scale_mm
from pipeline.runs.atomic_files import write_json
from pipeline.terminal import InputError


@pytest.mark.parametrize(("unit", "mm"), [("mm", 1.0), ("cm", 10.0), ("inch", 25.4)])
def test_a_structure_that_names_its_unit_needs_no_scale(unit, mm, tmp_path):
    write_json(tmp_path / "structure.json", {"unit": unit})
    assert scale_mm(None, tmp_path) == mm
    assert scale_mm(40.0, tmp_path) == 40.0
    write_json(tmp_path / "structure.json", {"nodes": []})
    with pytest.raises(InputError, match="names no unit: give --scale-mm"):
        scale_mm(None, tmp_path)


def test_compare_asks_in_one_line(tmp_path, capsys):
    words = ["--spheres", tmp_path, "--simulated", tmp_path, "--out", tmp_path / "out"]
    assert called(["compare", *[str(word) for word in words]]) == 2
    said = capsys.readouterr().err
    assert "--scale-mm" in said
    assert len(said.splitlines()) == 1
    assert not (tmp_path / "out").exists()
