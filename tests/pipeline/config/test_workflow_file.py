from pathlib import Path

import pytest

from pipeline.config.workflow_file import VirtualScan, Workflow, read_workflow
from pipeline.terminal import InputError

GOOD = """
shared: {sphere_radius_mm: 6.0, scale_mm: 40.0}
comparisons:
  one: {case: triangles_circle, scan: [a.ply, b.ply], unit: m}
  two: {case: triangles_circle, scan: {virtual: {seed: 3}}, scale_mm: 1e1}
figures:
  dejong-3: {comparisons: [one, two]}
"""


def workflow(tmp_path: Path, text: str) -> Workflow:
    path = tmp_path / "workflow.yaml"
    path.write_text(text)
    return read_workflow(path)


def test_files_and_synthetic_scans_are_told_apart(tmp_path):
    read = workflow(tmp_path, GOOD)
    assert read.comparisons["one"].scan == ("a.ply", "b.ply")
    assert read.comparisons["two"].scan == VirtualScan(seed=3)
    assert read.comparisons["two"].scale_mm == 10.0
    shared = [entry.scale_is_shared for entry in read.comparisons.values()]
    assert shared == [name != "two" for name in read.comparisons]
    assert read.figures["dejong-3"].comparisons == ("one", "two")


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("case: triangles_circle, scan: [a", "cas: t, scan: [a", "no key 'cas'"),
        ("unit: m}", "unit: ft}", "unit is 'ft': choose one of mm, m, cm, inch"),
        ("scale_mm: 1e1", "scale_mm: -1", "two.scale_mm must be a positive number"),
        ("seed: 3", "sed: 3", "no key 'sed'"),
        ("seed: 3", "seed: -3", "not -3"),
        ("seed: 3", "seed: one", "not 'one'"),
        ("unit: m}", "expect: agre}", "expect is 'agre'"),
        ("unit: m}", "settings: [k]}", "settings must be a mapping"),
        ("{sphere_radius_mm: 6.0, scale_mm: 40.0}", "0.5", "shared must be a mapping"),
        ("unit: m}", "overrides: case.a=1}", "overrides must be a list of words"),
        ("scan: [a.ply, b.ply]", "scan: 3", "give a list of files"),
        ("scan: [a.ply, b.ply], ", "", "comparisons.one has no scan"),
        ("[one, two]", "[one, three]", "'three', which does not exist"),
        ("  two:", "  one:", "line 5: 'one' appears twice: rename or"),
        ("scale_mm: 1e1", "scale_m: 1e1", "did you mean scale_mm"),
        ("shared:", "defaults:", "rename `defaults:` to `shared:`"),
        ("figures:", "figurs:", "no key 'figurs'"),
        ("comparisons:\n", "comparisons: [\n", "is not YAML"),
    ],
)
def test_a_wrong_entry_is_named(tmp_path, old, new, said):
    assert old in GOOD
    with pytest.raises(InputError, match=r".") as caught:
        workflow(tmp_path, GOOD.replace(old, new))
    assert said in str(caught.value)


def test_the_shipped_workflow_has_a_negative_control():
    shipped = read_workflow()
    assert [c.name for c in shipped.comparisons.values() if c.expect == "differs"]


def test_an_override_reaches_what_comparisons_share(tmp_path):
    path = tmp_path / "workflow.yaml"
    path.write_text(GOOD)
    words = ["comparisons.one.scale_mm=50", "+comparisons.one.settings.S_margin=0.1"]
    read = read_workflow(path, words).comparisons
    assert (read["one"].scale_mm, read["two"].scale_mm) == (50.0, 10.0)
    assert read["one"].settings == {"S_margin": 0.1}
    read = read_workflow(path, ["shared.sphere_radius_mm=5"]).comparisons
    assert read["two"].sphere_radius_mm == 5.0


@pytest.mark.parametrize(
    ("word", "said"),
    [
        ("comparisons.one.scale=50", "has no key 'scale'"),
        ("comparisons.three.scale_mm=50", "comparisons has no key 'three'"),
        ("comparisons.onne.scale_mm=50", "did you mean one? it has one, two"),
        ("comparison.one.scale_mm=50", "did you mean comparisons?"),
        ("figures.width=89", "no key 'width': did you mean style.width?"),
        ("comparisons.one.scale_mm.x=50", "to add it, write +comparisons.one.scale_mm"),
        ("comparisons.one.scale_mm=-1", "must be a positive number, not -1"),
        ("comparisons.one.scale_mm=1,2", "give one value"),
        ("comparisons.one.scale_mm=", "must be a number, not ''"),
    ],
)
def test_a_wrong_override_is_named(tmp_path, word, said):
    path = tmp_path / "workflow.yaml"
    path.write_text(GOOD + "style: {width: 183}\n")
    with pytest.raises(InputError) as caught:
        read_workflow(path, [word])
    assert said in str(caught.value)


@pytest.mark.parametrize("label", ["../../notes.txt", "a/b", ".hidden", "", "é" * 51])
@pytest.mark.parametrize("kind", ["cases", "parts"])
def test_a_label_that_leads_out_of_its_folder_is_refused(tmp_path, kind, label):
    row = f"  dejong-2: {{{kind}: {{'{label}': [case=pentapod]}}}}\n"
    with pytest.raises(InputError, match="becomes the name of a folder"):
        workflow(tmp_path, GOOD + row)


@pytest.mark.parametrize(
    ("old", "new"),
    [("two: {case", "ONE: {case"), ("dejong-3: {", "a: {cases: {b: [], B: []}, ")],
)
def test_names_that_are_one_folder_on_some_disks_are_refused(tmp_path, old, new):
    with pytest.raises(InputError, match="differ only in upper and lower case, which"):
        workflow(tmp_path, GOOD.replace(old, new).replace("one, two", "one"))
