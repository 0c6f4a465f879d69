"""The bench: what it may state, what a comparison takes of it, what tags hold."""

import re
from pathlib import Path

import pytest
import yaml

from pipeline.commands.compare import arguments, stated
from pipeline.store.bench import LAB, Lab, read_lab
from pipeline.store.bench_tags import bench_in, bench_tags
from pipeline.terminal.errors import InputError

WHOLE = {
    "operator": {"name": "Ada Example", "orcid": "0000-0002-1825-0097"},
    "printer": {"maker": "M", "model": "P1", "serial_number": "A-17"},
    "print_job": {"name": "ring-3", "date": "2026-10-02"},
    "material": {"name": "PA 12", "batch": "B-0815"},
    "scanner": {"maker": "M", "model": "S1", "serial_number": "4711"},
    "certificate": {
        "number": "C-1",
        "date": "2026-01-15",
        "laboratory": "L",
        "kind": "ISO 10360-13",
        "probing_form_mpe_mm": 0.02,
        "sphere_spacing": {"mpe_mm": 0.03, "length_mm": 300},
        "length": {"mpe_mm": 0.05, "length_mm": 250.0},
    },
    "ball_bar": {"name": "bar-1", "length_mm": 150.012, "U_mm": 0.004},
    "conditions": {"temperature_c": 20.4},
}


def written(folder: Path, stated: object) -> Path:
    path = folder / "lab.yaml"
    path.write_text(yaml.safe_dump(stated))
    return path


@pytest.mark.usefixtures("project")
def test_the_shipped_bench_states_nothing():
    assert read_lab() == Lab()
    assert read_lab().settings == {}
    LAB.unlink()
    assert read_lab() == Lab()


def test_a_comparison_takes_the_error_that_permits_more(tmp_path):
    assert read_lab(written(tmp_path, WHOLE)).settings == {
        "scan_mpe_mm": 0.05,
        "scan_mpe_length_mm": 250.0,
        "scan_form_mpe_mm": 0.02,
        "scan_certificate": "certificate C-1 of 2026-01-15",
        "ball_bar_mm": 150.012,
        "ball_bar_u_mm": 0.002,
        "ball_bar": "bar-1",
    }


def test_a_printing_error_that_was_learnt_is_what_comparisons_assume(tmp_path):
    printing = {"sd_mm": 0.05, "joint_play_sd_mm": 0.2, "learnt": "results/as_built"}
    lab = written(tmp_path, {"printing": printing})
    assumed = {"printing_sd_mm": 0.05, "joint_play_sd_mm": 0.2}
    assert read_lab(lab).settings == assumed
    words = ["--spheres", "s", "--simulated", str(tmp_path), "--out", "o"]
    for more, sd in ([], 0.05), (["--printing-sd-mm", "0.03"], 0.03):
        given = arguments().parse_args([*words, *more, "--lab", str(lab)])
        assert stated(given) == assumed | {"printing_sd_mm": sd}
    assert bench_in(bench_tags(read_lab(lab))) == read_lab(lab)


def test_one_comparison_may_state_another_print_job(tmp_path):
    lab = read_lab(written(tmp_path, WHOLE), {"print_job": {"name": "ring-4"}})
    assert lab.print_job is not None
    assert lab.print_job.name == "ring-4"
    assert lab.print_job.date == "2026-10-02"


def test_tags_hold_the_bench(tmp_path):
    lab = read_lab(written(tmp_path, WHOLE))
    tags = bench_tags(lab)
    assert tags["lab.scanner.serial_number"] == "4711"
    assert bench_in({"case": "ring", **tags}) == lab
    assert bench_in({"case": "ring"}) == Lab()


@pytest.mark.parametrize(
    ("place", "value", "said"),
    [
        ("operator.orcid", "0000-0002-1825-0098", "no ORCID ends so"),
        ("operator.orcid", "orcid", "no ORCID ends so"),
        ("scanner.serial_number", 4711, "must be a word, not 4711"),
        ("scanner.serial", "4711", "has no key 'serial'"),
        ("certificate.date", "15.1.2026", "give a day as '2026-01-15'"),
        ("certificate.kind", "ISO 9001", "is 'ISO 9001': choose one of"),
        ("certificate.probing_form_mpe_mm", -0.1, "must be a positive number"),
        ("certificate.length.length_mm", 0.0, "must be a positive number, not 0.0"),
        ("ball_bar.U_mm", float("inf"), "must be a finite number"),
        ("conditions.temperature_c", "warm", "must be a number, not 'warm'"),
        ("conditions.temperature_c", 293.15, "is 293.15: give degrees Celsius"),
        ("certificate.probing_form_mpe_mm", 20.0, "is 20: give it in mm, 5 at most"),
        ("certificate.length.mpe_mm", 50.0, "says 50 mm over 250 mm, 20 %: give both"),
        ("certificate.sphere_spacing.length_mm", 0.3, "says 0.03 mm over 0.3 mm"),
        ("ball_bar.length_mm", 0.150012, "ball_bar says 0.004 mm over 0.150012 mm"),
        ("ball_bar.U_mm", 4.0, "ball_bar says 4 mm over 150.012 mm, 2.7 %"),
    ],
)
def test_what_no_bench_states_is_refused_at_its_place(tmp_path, place, value, said):
    stated = yaml.safe_load(yaml.safe_dump(WHOLE))
    *places, last = place.split(".")
    inner = stated
    for name in places:
        inner = inner[name]
    inner[last] = value
    path = written(tmp_path, stated)
    with pytest.raises(InputError, match=re.escape(said)) as caught:
        read_lab(path)
    assert str(caught.value).startswith(str(path))
