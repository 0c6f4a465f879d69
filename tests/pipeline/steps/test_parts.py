"""From a case to files for the printer: morphtrack parts."""

import json
import locale
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import yaml

from pipeline.cli.app import called
from pipeline.config.hydra import Composer
from pipeline.config.workflow_file import FILE
from pipeline.io.mesh_writers import write_3mf
from pipeline.io.structure_file import structure_file
from pipeline.runs.atomic_files import write_json
from pipeline.runs.run_directory import Job
from pipeline.steps.parts import parts_settings, perform
from pipeline.terminal import kept_locale
from sim.mechanism.constraint_system import linearise, state, system_of

RING = [
    "case=triangles_cylinder", "case.structure.rows=1", "case.structure.columns=1",
    "case.target.radius=1.6",
]  # fmt: skip

SCISSOR = ["case=structure_file", "case.path=conf/structure/scissor.yaml"]


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    out = tmp_path_factory.mktemp("parts") / "ring"
    assert called(["parts", *RING, "--out", str(out)]) == 0
    return out


def objects(path: Path) -> tuple[Any, dict[str, Any], list[Any]]:
    """The model of a 3MF file, its mesh objects by name, its build items."""
    import lib3mf

    model = lib3mf.get_wrapper().CreateModel()
    with kept_locale():
        model.QueryReader("3mf").ReadFromFile(str(path))
    found, items = {}, []
    meshes = model.GetMeshObjects()
    while meshes.MoveNext():
        mesh = meshes.GetCurrentMeshObject()
        found[mesh.GetName()] = mesh
    build = model.GetBuildItems()
    while build.MoveNext():
        items.append(build.GetCurrent())
    return model, found, items


def test_the_3mf_reads_back_in_mm_with_an_object_a_part_apart_on_the_bed(made):
    import lib3mf

    table = pd.read_csv(made / "parts.csv").set_index("part")
    seen, copies = set(), 0
    for path in sorted(made.glob("print_*.3mf")):
        model, found, items = objects(path)
        assert model.GetUnit() == lib3mf.ModelUnit.MilliMeter
        assert model.GetBuildItems().Count() == len(items)
        copies += len(items)
        for name, mesh in found.items():
            seen.add(name)
            assert mesh.IsManifoldAndOriented()
            v = np.array([list(p.Coordinates) for p in mesh.GetVertices()])
            f = np.array([list(t.Indices) for t in mesh.GetTriangleIndices()])
            volume = np.linalg.det(v[f]).sum() / 6
            assert volume == pytest.approx(table.loc[name, "volume_mm3"], rel=1e-4)
        boxes = []
        for item in items:
            mesh = item.GetObjectResource()
            shift = np.array([list(row) for row in item.GetObjectTransform().Fields][3])
            v = np.array([list(p.Coordinates) for p in mesh.GetVertices()]) + shift
            boxes.append((v.min(axis=0), v.max(axis=0)))
        for i, (low, high) in enumerate(boxes):
            assert abs(low[2]) < 1e-4
            assert (low > -1e-3).all()
            assert (high[:2] < 220.001).all()
            for other_low, other_high in boxes[:i]:
                gap = np.maximum(low - other_high, other_low - high)[:2].max()
                assert gap > 2.99
    assert seen == set(table.index)
    assert copies == table["count"].sum()


def test_writing_3mf_leaves_the_locale_alone(tmp_path):
    before = locale.setlocale(locale.LC_ALL)
    write_3mf(tmp_path / "nothing.3mf", [], {})
    assert locale.setlocale(locale.LC_ALL) == before


def test_the_parts_list_has_every_link_with_its_length(made):
    table = pd.read_csv(made / "parts.csv")
    structure = structure_file(str(made / "structure.json"))
    assert len(structure.r0) == 18
    links = [body for body in structure.bodies if len(body) == 2]
    listed = table[table["part"].str.startswith("link")]
    assert listed["nodes"].tolist() == sorted(
        ("-".join(map(str, pair)) for pair in links),
        key=lambda text: [int(word) for word in text.split("-")],
    )
    for row in listed.itertuples():
        i, j = (int(word) for word in str(row.nodes).split("-"))
        length = 40 * np.linalg.norm(structure.r0[i] - structure.r0[j])
        assert row.length_mm == pytest.approx(length, abs=1e-6)
    assert {path.stem for path in (made / "stl").iterdir()} == set(table["part"])


def test_spacing_makes_links_differ_and_says_what_it_costs(tmp_path, capsys):
    words = [*RING, "case.structure.variation=0", "--spacing-mm", "1"]
    assert called(["parts", *words, "--out", str(tmp_path / "p")]) == 0
    found = json.loads((tmp_path / "p" / "run.json").read_text())["result"]
    assert found["largest_change_mm"] <= 2.5 + 1e-9
    assert found["lengths_changed"] > 12
    said = capsys.readouterr().out
    assert f"lengths changed: {found['lengths_changed']}, by up to" in said
    assert f"E {found['E_as_drawn']:.3g} as drawn, {found['E_spaced']:.3g} sp" in said
    assert "held: bodies of different shapes share lengths (" in said
    assert "dist(" not in said
    assert "print_1.3mf to print_" not in said or found["beds"] > 1
    table = pd.read_csv(tmp_path / "p" / "parts.csv")
    lengths = np.sort(table["length_mm"].dropna())
    assert np.diff(lengths).min() >= 1.0 - 1e-6


@pytest.mark.slow
def test_a_spaced_structure_begins_with_its_new_lengths(tmp_path):
    """Simulate and mobility take its file, whose nodes are as far apart as printed."""
    out, words = tmp_path / "p", [*RING, "case.structure.variation=0"]
    assert called(["parts", *words, "--spacing-mm", "5", "--out", str(out)]) == 0
    file = str(out / "structure.json")
    made = structure_file(file)
    length = pd.read_csv(out / "parts.csv").set_index("nodes")["length_mm"]
    for i, j in (body for body in made.bodies if len(body) == 2):
        apart = 40.0 * np.linalg.norm(made.r0[i] - made.r0[j])
        assert apart == pytest.approx(length[f"{i}-{j}"], abs=1e-6)
    assert np.abs(linearise(system_of(made), state(made)).c).max() < 1e-9
    assert called(["mobility", file, "--out", str(tmp_path / "m")]) == 0
    assert called(["simulate", file, "--out", str(tmp_path / "s")]) == 0


@pytest.mark.parametrize(
    ("words", "settings", "said"),
    [
        ([*RING, "--scale-mm", "11"], {}, "its spheres and seats"),
        ([*RING, "--scale-mm", "-1"], {}, "--scale-mm must be positive"),
        ([*RING, "--scale-mm", "inf"], {}, "--scale-mm must be positive"),
        ([*RING, "--spacing-mm", "30"], {}, "or lower --spacing-mm"),
        (RING, {"bed_mm": "[50, 50]"}, "body-0 needs 54 x 49 mm"),
        (RING, {"bed_mm": "50"}, "bed_mm must be [width, depth]"),
        (RING, {"clamps": "glued"}, "choose one of joined, separate"),
        (RING, {"clamp_radius_mm": "9.0"}, "must be between rod_radius_mm"),
        (RING, {"wall_mm": "1.0"}, "has no key 'wall_mm'"),
        (RING, {"sides": "3"}, "sides must be from 8"),
        (["case=miura"], {}, "has no links to print"),
        (["nowhere"], {}, "unknown run 'nowhere'"),
        (["case=pentapod"], {}, "the clamps of link-7-8 and link-7-9 overlap"),
        (["case=pentapod"], {}, "mechanism is assembled (5 times): the clamps of"),
        (
            ["case=pentapod"],
            {},
            "54 degrees apart, 85 needed: lower clamp_radius_mm to 2.79 (--parts FILE)",
        ),
        (["case=pentapod"], {"clamp_radius_mm": "2.80"}, "to 2.79 (--parts FILE)"),
        (
            [*SCISSOR, "--scale-mm", "40"],
            {},
            "body-3 (rod 1-4) passes through the sphere of node 8;",
        ),
    ],
)
def test_what_cannot_be_printed_is_refused_in_one_line(
    words, settings, said, tmp_path, refused
):
    lines = FILE.read_text().splitlines()
    kept = [line for line in lines if line.split(":")[0] not in settings]
    file = tmp_path / "parts.yaml"
    given = [f"{key}: {value}" for key, value in settings.items()]
    file.write_text("\n".join([*kept, *given]))
    out = tmp_path / "out"
    assert said in refused("parts", *words, "--parts", str(file), "--out", str(out))
    assert not out.exists()


def test_the_clamp_that_a_refusal_names_will_do(tmp_path):
    text = FILE.read_text().replace("clamp_radius_mm: 4.2", "clamp_radius_mm: 2.79")
    (tmp_path / "parts.yaml").write_text(text)
    words = ["--parts", str(tmp_path / "parts.yaml"), "--out", str(tmp_path / "out")]
    assert called(["parts", "case=pentapod", *words]) == 0


def test_a_scissor_in_two_layers_is_printed(tmp_path):
    """Each second bar passes 10 mm above the pivot of the bar that it crosses."""
    content = yaml.safe_load(Path("conf/structure/scissor.yaml").read_text())
    for node in (1, 3, 4, 6, 9):
        content["nodes"][node][2] = 0.25
    (tmp_path / "scissor.yaml").write_text(yaml.safe_dump(content))
    path = tmp_path / "parts.yaml"
    path.write_text(FILE.read_text().replace("_radius_mm: 4.2", "_radius_mm: 3.2"))
    words = [str(tmp_path / "scissor.yaml"), "--scale-mm", "40", "--parts", str(path)]
    assert called(["parts", *words, "--out", str(tmp_path / "out")]) == 0
    found = json.loads((tmp_path / "out" / "run.json").read_text())["result"]
    assert (found["parts"], found["overlaps_at_the_end"]) == (6, 0)


def test_files_of_parts_that_are_no_more_are_gone(tmp_path):
    """Nobody should print the clamps of an earlier setting."""
    out = tmp_path / "out"
    plain = FILE.read_text()
    for text in (
        plain.replace("clamps: joined", "clamps: separate"),
        plain.replace("target: true", "target: false").replace("220.0", "900.0"),
    ):
        (tmp_path / "parts.yaml").write_text(text)
        words = ["--parts", str(tmp_path / "parts.yaml"), "--out", str(out)]
        assert called(["parts", *RING, *words]) == 0
    listed = {f"{name}.stl" for name in pd.read_csv(out / "parts.csv")["part"]}
    assert {path.name for path in out.glob("stl/*")} == listed
    assert "target.stl" not in listed
    assert [path.name for path in out.glob("*.3mf")] == ["print_1.3mf"]


@pytest.mark.parametrize(("unit", "scale"), [("inch", 25.4), ("", 40.0)])
def test_the_step_of_a_plan_prints_as_large_as_the_command(unit, scale, tmp_path):
    """By the unit of the structure; `scale_mm` of conf/parts is for one without."""
    own = Path("conf/structure/four_bar.yaml").read_text()
    path = tmp_path / "mine.yaml"
    path.write_text(f"unit: {unit}\n{own}" if unit else own)
    words = ["case=structure_file", f"case.path={path}"]
    assert called(["parts", *words, "--out", str(tmp_path / "command")]) == 0
    composer = Composer()
    config = {"case": composer.compose("simulate", words)["case"]}
    write_json(tmp_path / "run" / "run.json", {"key": "0", "config": config})
    job = Job("parts", "mine", {}, parts_settings())
    told = perform(job, {"simulated": tmp_path / "run"}, tmp_path / "step")
    assert told["scale_mm"] == scale
    table = pd.read_csv(tmp_path / "command" / "parts.csv")
    lengths = scale * np.sqrt([1.0, 5.0, 10.0])
    np.testing.assert_allclose(np.sort(table["length_mm"].dropna()), lengths, rtol=1e-3)
    by_command, by_step = (
        (tmp_path / where / "parts.csv").read_text() for where in ("command", "step")
    )
    assert by_command == by_step
