"""From scanned poses, synthetic here, to a mechanism as built: morphtrack calibrate."""

import json
import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import yaml

from pipeline.cli.app import called
from pipeline.io.structure_file import structure_file
from pipeline.steps.calibrate import printing
from pipeline.steps.synthetic_poses import composed
from pipeline.terminal import InputError

SHIPPED = Path("conf/calibration/ring_of_triangles.yaml")
POSES = ("wide", "narrow", "tilted")


def three_poses(folder: Path, **changed: object) -> Path:
    """The shipped calibration with three of its poses and coarser scans."""
    content = yaml.safe_load(SHIPPED.read_text())
    content["poses"] = {name: content["poses"][name] for name in POSES}
    content["lab"] |= {"views": 6, "pitch_mm": 1.0}
    content |= changed
    file = folder / "poses.yaml"
    file.write_text(yaml.safe_dump(content))
    return file


@pytest.fixture
def refuses(tmp_path, refused):
    """The one line with which `calibrate` refuses its words; it writes nothing."""
    out = tmp_path / "o"

    def run(*words: str) -> str:
        said = refused("calibrate", *words, "--out", str(out))
        assert not out.exists()
        return said

    return run


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """The folder of a calibration from three poses."""
    folder = tmp_path_factory.mktemp("calibration")
    out = folder / "out"
    assert called(["calibrate", str(three_poses(folder)), "--out", str(out)]) == 0
    return out


CERTIFIED = ["--scan-scale-sd", "0.0002"]  # as conf/calibration states it


def pose_words(built: Path, names: tuple[str, ...] = POSES) -> list[str]:
    return [word for name in names for word in folders_of(built / "poses" / name)]


def folders_of(pose: Path) -> list[str]:
    return ["--pose", *(str(pose / n) for n in ("comparison", "spheres", "simulated"))]


def test_the_error_of_a_printer_is_learnt_from_lengths_as_built():
    """Both ends of 400 lengths err by 0.05 mm; scans add 0.04 mm, which is known."""
    rng = np.random.default_rng(3)
    lengths = 0.05 * rng.standard_normal((400, 2)).sum(axis=1)
    scanned = lengths + 0.04 * rng.standard_normal(400)
    found = pd.DataFrame({"role": "link", "deviation_mm": scanned, "u_mm": 0.04})
    assert printing(found)["printing_sd_mm"] == pytest.approx(0.05, rel=0.1)
    assert printing(found[:5]) == {}
    assert printing(found.assign(role="scanner")) == {}


def test_true_errors_are_recovered_from_scans_the_better_the_more_poses(built):
    found = pd.read_csv(built / "deviations.csv")
    truth = pd.read_csv(built / "truth.csv")["true_deviation_mm"]
    assert np.abs(truth).max() > 0.4
    z = (found["deviation_mm"] - truth) / found["u_mm"]
    inside = (found["low_mm"] <= truth) & (truth <= found["high_mm"])
    assert np.abs(z).max() < 5.0
    assert inside.mean() > 0.85
    assert found["u_mm"].max() < 0.08
    spread = pd.read_csv(built / "spread.csv").set_index("what")
    assert spread.loc["link play", "low_mm"] < 0.05 < spread.loc["link play", "high_mm"]
    growth = pd.read_csv(built / "growth.csv")
    assert growth["poses"].tolist() == [2, 3]
    assert growth["link_u_mm"].is_monotonic_decreasing


def test_poses_agree_better_as_built_also_without_their_own_scan(built):
    again = pd.read_csv(built / "again.csv")
    assert (again["rms_mm_after"] < 0.3 * again["rms_mm_before"]).all()
    assert (again["verdict_after"] == "agrees").all()
    assert not (again["verdict_before"] == "agrees").any()
    held_out, after = again["rms_mm_held_out"], again["rms_mm_after"]
    assert (held_out < 0.3 * again["rms_mm_before"]).all()
    assert np.square(held_out).sum() > np.square(after).sum()
    for pose in POSES:
        alone = structure_file(str(built / "again" / pose / "held_out/as_built.json"))
        apart = (
            alone.constraints.constant
            - structure_file(str(built / "as_built.json")).constraints.constant
        )
        assert np.abs(apart).max() > 1e-5


def test_two_poses_predict_no_third_and_a_third_replaces_what_they_left(
    built, tmp_path
):
    """One pose tells no play; later one more was scanned."""
    words = pose_words(built, POSES[:2])
    assert called(["calibrate", *words, "--out", str(tmp_path / "out")]) == 0
    again = pd.read_csv(tmp_path / "out" / "again.csv")
    assert again["rms_mm_held_out"].isna().all()
    assert again["rms_mm_after"].notna().all()
    words = pose_words(built)
    assert called(["calibrate", *words, "--out", str(tmp_path / "out")]) == 0
    assert len(pd.read_csv(tmp_path / "out" / "again.csv")) == 3


def moved_sphere(built: Path, folder: Path, by_mm: float) -> tuple[list[str], str]:
    """The pose `wide` with the sphere of node 5 elsewhere; what it is called."""
    here = shutil.copytree(built / "poses" / "wide", folder / "wide")
    labels = pd.read_csv(here / "comparison" / "labels.csv", dtype=str)
    path = here / "spheres" / "spheres.csv"
    spheres = pd.read_csv(path, dtype={"sphere": str})
    spheres.loc[spheres["sphere"] == labels["sphere"][5], "x_mm"] += by_mm
    spheres.to_csv(path, index=False)
    (here / "spheres" / "covariance.npz").unlink(missing_ok=True)
    return folders_of(here), "wide-comparison"


def test_a_sphere_that_is_elsewhere_is_named_and_can_be_left_out(
    built, tmp_path, refuses
):
    words, name = moved_sphere(built, tmp_path, 2.0)
    words += [*pose_words(built, POSES[1:]), "--no-again"]
    said = refuses(*words)
    assert f"node 5 of {name} is about" in said
    assert f"--leave-out {name}:5" in said
    words += ["--leave-out", f"{name}:5", "--out", str(tmp_path / "o")]
    assert called(["calibrate", *words]) == 0
    found = pd.read_csv(tmp_path / "o" / "deviations.csv")
    truth = pd.read_csv(built / "truth.csv")["true_deviation_mm"]
    assert ((found["low_mm"] <= truth) & (truth <= found["high_mm"])).mean() > 0.85


def test_one_scan_twice_is_refused(built, tmp_path, refuses):
    said = refuses(*pose_words(built, ("wide", "wide")))
    assert "2 poses have the name wide-comparison" in said
    copied = shutil.copytree(built / "poses" / "wide", tmp_path / "again")
    words = [*pose_words(built, ("wide",)), *folders_of(copied)]
    assert "are the same scan" in refuses(*words)


def test_options_beside_a_file_are_refused(refuses):
    said = refuses(str(SHIPPED), "--links", "equal")
    assert "--links has no effect with a file" in said


def test_the_structure_as_built_has_the_lengths_found_and_can_be_simulated(
    built, tmp_path
):
    made = structure_file(str(built / "as_built.json"))
    found = pd.read_csv(built / "deviations.csv")
    lengths = 40 * np.sqrt(made.constraints.constant)
    np.testing.assert_allclose(lengths, found["as_built_mm"], rtol=1e-12)
    words = [
        "case=structure_file", f"case.structure.path={built / 'as_built.json'}",
        "+case.target._target_=sim.mechanism.targets.analytic_surfaces.Cylinder",
        "+case.target.radius=2.0", "+case.target.centre=[0.0,0.0,-2.0]",
        "+case.target.axis=[1.0,0.0,0.0]", f"hydra.run.dir={tmp_path / 'run'}",
    ]  # fmt: skip
    assert called(["simulate", *words]) == 0
    assert (tmp_path / "run" / "run.json").is_file()


def test_comparisons_of_the_chain_tell_what_they_compared(built, tmp_path, capsys):
    """As make figures leaves them: runs by key, and names that point to them."""
    runs, named = tmp_path / "results" / "runs", []
    for name in POSES:
        here, keys = built / "poses" / name, {}
        for role in ("spheres", "simulated", "comparison"):
            keys[role] = f"{role}-{name}"
            shutil.copytree(here / role, runs / keys[role])
        ingested = {"key": keys["spheres"], "step": "ingest"}
        (runs / keys["spheres"] / "run.json").write_text(json.dumps(ingested))
        settings = composed(SHIPPED)["comparison"] | {"scale_mm": 40.0}
        record = {"key": keys["comparison"], "step": "compare", "name": name}
        record |= {"needs": keys, "config": settings}
        path = runs / keys["comparison"] / "run.json"
        path.write_text(json.dumps(record))
        named.append(tmp_path / "results" / "compare" / name)
        named[-1].parent.mkdir(exist_ok=True)
        named[-1].symlink_to(runs / keys["comparison"])
    words = [*map(str, named), "--no-again", *CERTIFIED]
    assert called(["calibrate", *words, "--out", str(tmp_path / "out")]) == 0
    assert capsys.readouterr().out.startswith("synthetic: ")
    pd.testing.assert_frame_equal(
        pd.read_csv(tmp_path / "out" / "deviations.csv"),
        pd.read_csv(built / "deviations.csv"),
    )


def test_a_folder_that_is_no_comparison_is_refused(built, tmp_path, refuses):
    simulated, without = built / "poses" / "wide" / "simulated", tmp_path / "empty"
    without.mkdir()
    said = "is a run of simulate: give finished comparisons"
    assert said in refuses(str(simulated))
    assert "has no run.json" in refuses(str(without))


@pytest.mark.parametrize(
    ("names", "more", "said"),
    [
        (POSES[:1], [], "cannot be estimated: every length is measured once"),
        ((), [], "no pose is given"),
        (POSES, ["--joint-play"], "no joint whose play can be estimated"),
        (POSES, ["--reference", "zero"], "'zero' is not a pair of nodes"),
        (POSES, ["--links", "free"], "choose one of own, equal, nominal"),
        (POSES, ["--leave-out", "5"], "give a pose and a node such as wide:5"),
        (POSES, ["--leave-out", "far:5"], "pose far does not exist"),
        (
            POSES,
            ["--leave-out", "wide-comparison:99"],
            "wide-comparison has no node 99",
        ),
    ],
)
def test_what_cannot_be_calibrated_is_refused_on_one_line(
    names, more, said, built, refuses
):
    assert said in refuses(*pose_words(built, names), *more)


def longer_link(pose: Path) -> None:
    path = pose / "simulated" / "structure.json"
    content = json.loads(path.read_text())
    content["dist"][0][2] *= 1.1
    path.write_text(json.dumps(content))


def unknown_sphere(pose: Path) -> None:
    path = pose / "comparison" / "labels.csv"
    labels = pd.read_csv(path, dtype=str)
    labels.loc[0, "sphere"] = "77"
    labels.to_csv(path, index=False)


@pytest.mark.parametrize(
    ("change", "beside", "said"),
    [
        (longer_link, ("narrow",), "give poses of one mechanism"),
        (unknown_sphere, (), "names the sphere 77"),
    ],
)
def test_a_pose_of_something_else_is_refused(
    change, beside, said, built, tmp_path, refuses
):
    here = shutil.copytree(built / "poses" / "wide", tmp_path / "wide")
    change(here)
    words = [*pose_words(built, beside), *folders_of(here)]
    assert said in refuses(*words)


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"poses": {}}, "poses must be a list with one or more entries"),
        ({"length_sd_mm": -1.0}, "length_sd_mm must be 0 or more"),
        ({"seed": "x"}, "seed must be a whole number"),
        ({"lab": {"colour": 1}}, "the virtual lab has no 'colour'"),
        ({"settings": {"links": "free"}}, "choose one of own, equal, nominal"),
        ({"noise": 1}, "has no key 'noise'"),
        ({"mechanism": "case=box"}, "must be a list of words"),
    ],
)
def test_a_wrong_file_is_refused(changed, said, tmp_path):
    with pytest.raises(InputError, match=said):
        composed(three_poses(tmp_path, **changed))
