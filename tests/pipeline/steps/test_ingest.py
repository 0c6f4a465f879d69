"""From files of points to a table of sphere centres; bad input leaves nothing."""

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import trimesh

from analysis.spheres.detections import (
    Excess,
    PickOptions,
    Picks,
    Rejected,
    RejectionReason,
    ViewMotion,
)
from analysis.spheres.find import find_spheres
from pipeline.cli.app import called
from pipeline.io.length_units import Unit
from pipeline.io.point_cloud import HINT, HintThresholds, SizeThresholds
from pipeline.scans.merge_views import settled
from pipeline.scans.no_sphere_hints import (
    near_misses,
    no_sphere_hint,
    of_noise,
    own_radius,
    radius_hint,
    shared_errors,
    with_noise,
)
from pipeline.steps.ingest import run_step
from pipeline.steps.settings import Ingest
from sim.core.arrays import Floats
from tests.helpers.isotropic_cloud import RADIUS, isotropic
from tests.helpers.tables import rows_of

CENTRES = np.array(
    [[0, 0, 0], [30, 5, 0], [10, 35, 8], [45, 40, -12], [-25, 20, 15], [5, -30, 4]],
    dtype=np.float64,
)
FAR = np.array([512e6, 5123e6, 1e5])  # mm, a place in geodetic coordinates
COLUMNS = (
    "sphere,x_mm,y_mm,z_mm,radius_mm,rms_mm,points,cov_xx_mm2,cov_xy_mm2,cov_xz_mm2,"
    "cov_yy_mm2,cov_yz_mm2,cov_zz_mm2,free_radius_mm,free_radius_sd_mm,cap,views,"
    "synthetic"
)


def balls(
    rng: np.random.Generator, centres: Floats = CENTRES, radius: float = 6.0
) -> Floats:
    """Points on the upper half of balls of `radius`, 0.03 mm of noise."""
    u = rng.standard_normal((len(centres), 2500, 3))
    u /= np.linalg.norm(u, axis=2, keepdims=True)
    u[..., 2] = np.abs(u[..., 2])
    height = radius + 0.03 * rng.standard_normal((*u.shape[:2], 1))
    return (centres[:, None] + height * u).reshape(-1, 3)


def saved(path: Path, points: Floats) -> str:
    """`points` as a text file; the path of it."""
    np.savetxt(path, points, fmt="%.6f")
    return str(path)


def centres_of(path: Path) -> Floats:
    return np.array(
        [[float(row[f"{axis}_mm"]) for axis in "xyz"] for row in rows_of(path)]
    )


def farthest(found: Floats, expected: Floats) -> float:
    """Largest distance from a place in `expected` to the nearest one found."""
    return float(np.linalg.norm(expected[:, None] - found, axis=2).min(axis=1).max())


def words(scan: str, out: Path, *more: str) -> list[str]:
    return [scan, "--sphere-radius-mm", "6", "--unit", "mm", "--out", str(out), *more]


Refuses = Callable[..., str]


@pytest.fixture
def out(tmp_path):
    return tmp_path / "found"


@pytest.fixture
def refuses(tmp_path, out, refused):
    """The one line with which points or a file, and further options, are refused."""

    def run(scan: Floats | Path, *more: str) -> str:
        file = scan if isinstance(scan, Path) else saved(tmp_path / "a.xyz", scan)
        said = refused("ingest", *words(str(file), out, *more))
        assert not list(out.glob("*"))
        return said

    return run


def test_a_scan_becomes_a_table_of_its_spheres(rng, tmp_path, capsys):
    out = tmp_path / "found"
    scan = saved(tmp_path / "a.xyz", balls(rng))
    assert called(["ingest", *words(scan, out)]) == 0
    assert (out / "spheres.csv").read_text().splitlines()[0] == COLUMNS
    header = (out / "rejected.csv").read_text().splitlines()[0]
    assert header == "x_mm,y_mm,z_mm,reason,detail,points"
    found = centres_of(out / "spheres.csv")
    assert len(found) == len(CENTRES)
    assert farthest(found, CENTRES) < 0.02
    row = rows_of(out / "spheres.csv")[0]
    assert float(row["radius_mm"]) == 6
    assert float(row["free_radius_mm"]) == pytest.approx(6, abs=0.05)
    assert row["synthetic"] == "false"
    said = capsys.readouterr().out
    shown = f"of 15000 points: {out}/scan.html shows them"
    assert f"found 6 spheres in 1 view {shown}" in said
    assert re.search(r"^their radius .* [56]\.\d+ \+- 0\.\d+ mm, noise 0", said, re.M)
    assert re.search(r"candidates rejected: \d+( \(.*\))?\nnext: ", said)
    assert f"next: morphtrack compare --spheres {out} --simulated RUN" in said
    assert (out / "picture.png").stat().st_size > 10_000
    assert np.load(out / "points.npy").shape == (15_000, 3)
    with np.load(out / "covariance.npz") as whole:
        assert whole["covariance_mm2"].shape == (18, 18)
        np.testing.assert_allclose(whole["centres_mm"], found, rtol=1e-8)
        block = whole["covariance_mm2"][:3, :3]
    assert float(row["cov_xy_mm2"]) == pytest.approx(block[0, 1], rel=1e-6)
    assert float(row["cov_zz_mm2"]) == pytest.approx(block[2, 2], rel=1e-6)


def test_centres_far_away_are_written_as_finely_as_at_the_origin(rng, tmp_path):
    points, found = np.round(balls(rng, CENTRES[:2]), 6), []
    for name, place in (("near", 0.0 * FAR), ("far", FAR)):
        np.save(tmp_path / f"{name}.npy", points + place)
        run_step(Ingest(6.0, "mm"), [tmp_path / f"{name}.npy"], tmp_path / name)
        found.append(centres_of(tmp_path / name / "spheres.csv") - place)
    assert farthest(found[0], CENTRES[:2]) < 0.01
    assert farthest(found[1], found[0]) < 1e-6


@pytest.mark.parametrize(("unit", "mm"), [("inch", 25.4), ("mm", 1.0)])
def test_several_files_are_views_of_one_scan(rng, unit, mm, tmp_path):
    """In mm points at the rim of the sphere that ties them come and go, so its centre
    moves by 1e-4 mm for ever: it is kept."""
    points = balls(rng)
    left = points[:, 0] < 12
    views = [tmp_path / "a.npy", tmp_path / "b.npy"]
    np.save(views[0], points[left] / mm)
    np.save(views[1], points[~left] / mm)
    numbers = run_step(Ingest(6.0, unit), views, tmp_path / "found")
    assert numbers["views"] == 2
    assert numbers["spheres"] == len(CENTRES)
    assert farthest(centres_of(tmp_path / "found" / "spheres.csv"), CENTRES) < 0.03


def test_a_synthetic_scan_is_called_so_in_every_row(rng, tmp_path):
    scan = tmp_path / "a.xyz"
    np.savetxt(scan, balls(rng), fmt="%.6f", header="a synthetic scan\nunit mm")
    numbers = run_step(Ingest(6.0, "mm"), [scan], tmp_path / "found")
    assert numbers["synthetic"] is True
    rows = rows_of(tmp_path / "found" / "spheres.csv")
    assert {row["synthetic"] for row in rows} == {"true"}


def test_seeds_restrict_picking_to_where_they_are(rng, tmp_path):
    seeds = tmp_path / "seeds.csv"
    top = CENTRES[[1, 4]] + [0, 0, 6]  # a click lands on the surface
    rows = "\n".join(",".join(map(str, place)) for place in top)
    seeds.write_text(f"x_mm,y_mm,z_mm\n{rows}\n")
    scan = saved(tmp_path / "a.xyz", balls(rng))
    assert (
        called(["ingest", *words(scan, tmp_path / "found", "--seeds", str(seeds))]) == 0
    )
    found = centres_of(tmp_path / "found" / "spheres.csv")
    assert len(found) == 2
    assert farthest(found, CENTRES[[1, 4]]) < 0.02


def plane(rng: np.random.Generator, lost: int = 0) -> Floats:
    points = np.column_stack([rng.uniform(0, 50, (1000, 2)), np.zeros(1000)])
    points[:lost] = np.nan
    return points


def strayed(rng: np.random.Generator) -> Floats:
    """A scan in inches, and by chance a sphere of 6 of its units."""
    return np.concatenate([balls(rng) / 25.4, balls(rng, np.array([[500.0, 0, 0]]))])


@pytest.mark.parametrize(
    ("scan", "said"),
    [
        (
            lambda rng: balls(rng) / 1000,
            ["in m 6 spheres are found: rerun with --unit m", "-mm 0.006 if that is"],
        ),
        (strayed, ["E-UNIT", "in inch 6 spheres are found"]),
        (plane, ["E-NO-SPHERES", "a.xyz: no sphere", "check radius and unit"]),
        (
            lambda rng: (balls(rng) + FAR).astype(np.float32),
            ["E-NO-SPHERES", "mm): coordinates are rounded to 32 mm: export more dig"],
        ),
        (
            lambda rng: plane(rng, lost=101),
            ["E-NO-SPHERES", "a.xyz: 101 of 1000 points are not finite and were dropp"],
        ),
        (
            lambda rng: balls(rng, radius=5.1),
            ["E-NO-SPHERES", "the scan has 6 spheres of radius 5.1"],
        ),
        (
            lambda rng: balls(rng, radius=8.5),
            ["E-NO-SPHERES", "the scan has 6 spheres of radius 8.5"],
        ),
    ],
)
def test_a_scan_in_which_nothing_fits_is_refused_with_what_would(
    scan, said, rng, refuses
):
    line = refuses(scan(rng))
    assert [one for one in said if one not in line] == []


def test_of_several_files_without_spheres_the_message_counts_all(
    rng, tmp_path, out, refused
):
    files = [str(saved(tmp_path / f"{name}.xyz", plane(rng))) for name in "abc"]
    said = refused("ingest", *files, *words("", out)[1:])
    assert "E-NO-SPHERES" in said
    assert f"{files[0]} and 2 more: no sphere of radius" in said


def cloudy(rng: np.random.Generator) -> Floats:
    """Balls with points inside, which no other criterion refuses."""
    inside = CENTRES[:, None] + rng.uniform(-2, 2, (len(CENTRES), 300, 3))
    return np.concatenate([balls(rng), inside.reshape(-1, 3)])


def kept_in(said: str) -> Path:
    """Where the work of a refused ingest is kept."""
    return Path(re.findall(r"\(see (.*)\)", said)[0])


def test_rejected_candidates_are_kept_and_can_be_accepted_by_name(
    rng, tmp_path, out, refuses, capsys
):
    said = refuses(cloudy(rng))
    assert "6 rejected candidates of that radius fail one criterion only" in said
    rows = rows_of(kept_in(said) / "rejected.csv")
    assert {row["reason"] for row in rows[:6]} == {"inside"}
    names = [row["detail"].split("--accept ")[1] for row in rows[:6]]
    assert said.split("--accept ")[1].startswith(names[0])
    asked = [word for name in names[:2] for word in ("--accept", name)]
    assert called(["ingest", *words(str(tmp_path / "a.xyz"), out, *asked)]) == 0
    found = centres_of(out / "spheres.csv")
    assert len(found) == 2
    assert farthest(CENTRES, found) < 0.02
    note = "if a sphere is missing: 4 rejected candidates of that radius"
    assert note in capsys.readouterr().out


@pytest.mark.parametrize(("radii", "offered"), [(0.1, 0), (1.9, 0), (2.1, 1)])
def test_what_overlaps_a_sphere_is_not_offered_as_a_missing_one(rng, radii, offered):
    """It stays in rejected.csv; pictures have no cross there."""
    points = balls(rng, CENTRES[:3])
    picks = find_spheres(points, PickOptions(radius_mm=6.0))
    assert len(picks.spheres) == 3
    first = picks.centres[picks.centres[:, 0].argmin()]
    one = Rejected(first - [radii * 6.0, 0, 0], RejectionReason.CAP, "small", 2500)
    picks = replace(picks, rejected=(one,))
    assert len(picks.apart) == offered
    assert bool(near_misses(picks)) == bool(offered)


def test_a_place_to_accept_where_a_sphere_is_found_anyway_is_named(
    rng, tmp_path, out, capsys
):
    scan = saved(tmp_path / "a.xyz", balls(rng))
    x, y, z = CENTRES[0]
    name = f"{x + 0.5:.2f}/{y:.2f}/{z:.2f}"
    assert called(["ingest", *words(str(scan), out, "--accept", name)]) == 0
    said = capsys.readouterr().out
    assert f"--accept {name} overlaps a sphere found without it" in said


def test_rejected_spheres_of_the_stated_radius_are_not_called_another_size(rng):
    cap, points = RejectionReason.CAP, balls(rng, radius=6.02)
    rejected = tuple(Rejected(c, cap, "small", 2500) for c in CENTRES)
    picks = Picks((), rejected, np.zeros((0, 0)), np.nan)
    said = no_sphere_hint(picks, points, Unit.MM, PickOptions(radius_mm=6.0))
    assert "the scan has" not in said
    assert "cap: small; all other criteria are met" in said
    assert "if it is a sphere, add --accept 0.00/" in said


def test_candidates_of_a_range_of_radii_are_kept(rng, tmp_path, out, refused):
    scan = saved(tmp_path / "a.xyz", cloudy(rng))
    words = ["--radius-range", "5.5", "6.5", "--unit", "mm", "--out", str(out)]
    kept = kept_in(refused("ingest", scan, *words))
    assert len(rows_of(kept / "rejected.csv")) >= 6


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ("--accept 4", "accept is 4: give a name as in rejected.csv"),
        ("--radius-range 5 7", "either --sphere-radius-mm R or --radius-range"),
        ("--sphere-radius-mm -6", "-radius-mm must be positive, not -6"),
        ("--registration-mm -1", "--registration-mm"),
        ("--seeds nowhere.csv", "nowhere.csv cannot be read (No such file"),
        ("--seeds nowhere.csv --register", "seeds exclude --register"),
        ("--seeds {folder}/far.csv", "give seeds in mm"),
        (f"--out {__file__}", "test_ingest.py is a file, not a folder"),
        ("--sphere-color 6", "no option --sphere-color: did you mean --sphere-radius-"),
        ("--salvage {folder}/a.xyz", "given twice"),
    ],
)
def test_bad_options_are_refused(tmp_path, more, said, rng, refuses):
    (tmp_path / "far.csv").write_text("x_mm,y_mm,z_mm\n9e3,0,0\n")
    given = more.format(folder=tmp_path).split()
    assert said in refuses(balls(rng, CENTRES[:1]), *given)


def test_a_truncated_scan_is_refused_and_its_good_points_kept_when_asked(
    rng, tmp_path, out, refuses
):
    points = balls(rng).astype("<f4")
    scan = tmp_path / "a.ply"
    header = (
        "ply\nformat binary_little_endian 1.0\nelement vertex 99999999999\n"
        "property float x\nproperty float y\nproperty float z\nend_header\n"
    )
    scan.write_bytes(header.encode() + points.tobytes())
    assert "E-TRUNCATED" in refuses(scan)
    assert called(["ingest", *words(str(scan), out, "--salvage")]) == 0
    assert len(centres_of(out / "spheres.csv")) == len(CENTRES)


def test_a_scan_beyond_the_memory_is_refused_before_it_is_read(refuses, monkeypatch):
    monkeypatch.setattr("pipeline.io.reader_interface.available_bytes", lambda: 300.0)
    said = refuses(CENTRES)
    assert "E-MEMORY" in said
    assert "thin the scan" in said


def test_a_scan_with_too_many_points_is_thinned_and_still_picked(
    rng, tmp_path, monkeypatch
):
    monkeypatch.setattr("pipeline.scans.merge_views.SIZE", SizeThresholds(12_000))
    scan = tmp_path / "a.npy"
    np.save(scan, balls(rng))
    numbers = run_step(Ingest(6.0, "mm"), [scan], tmp_path / "found")
    assert numbers["points"] <= 12_000
    assert "15000 points were thinned" in numbers["notes"]
    assert farthest(centres_of(tmp_path / "found" / "spheres.csv"), CENTRES) < 0.03


@pytest.mark.usefixtures("project")
def test_rough_lumps_are_no_spheres(rng, refuses, monkeypatch):
    monkeypatch.setattr(
        "pipeline.scans.no_sphere_hints.HINT", HintThresholds(rough=0.001)
    )
    assert "too rough for spheres" in refuses(balls(rng))


def test_views_are_settled_before_their_points_are_kept(rng):
    points = rng.uniform(-50, 50, (40, 3))
    view = np.repeat([0, 1], 20)
    pivot = np.array([3.0, -2, 8])
    turn, shift = np.array([2e-4, -1e-4, 3e-4]), np.array([0.05, -0.02, 0.01])
    displaced = points.copy()
    displaced[20:] -= shift + np.cross(turn, points[20:] - pivot)
    motions = [ViewMotion(1, shift, turn, pivot)]
    found = settled(displaced, view, motions)
    assert np.abs(displaced - points).max() > 0.03
    np.testing.assert_allclose(found, points, atol=3e-5)  # 50 mm x (4e-4)^2


def test_spheres_of_another_size_are_left_out_and_mentioned(rng, tmp_path):
    above = CENTRES + np.array([0, 0, 80])
    points = np.concatenate([balls(rng), balls(rng, above, 8.5)])
    scan = Path(saved(tmp_path / "a.xyz", points))
    numbers = run_step(Ingest(6.0, "mm"), [scan], tmp_path / "found")
    assert numbers["spheres"] == len(CENTRES)
    assert "6 spheres of radius 8.5" in numbers["notes"]
    assert farthest(centres_of(tmp_path / "found" / "spheres.csv"), CENTRES) < 0.02


def test_spheres_of_unknown_radius_are_found_in_a_range_which_messages_name(
    rng, tmp_path, out, capsys, refused
):
    scan = saved(tmp_path / "a.xyz", balls(rng, radius=4.5))
    line = ["ingest", scan, "--unit", "mm", "--out", str(out), "--radius-range"]
    assert "no sphere of radius 1 to 1.5 mm" in refused(*line, "1", "1.5")
    assert called([*line, "3", "9"]) == 0
    said = re.search(r"scan is (.*) \+-", capsys.readouterr().out, re.M)
    assert said is not None
    assert float(said[1]) == pytest.approx(4.5, abs=0.03)
    found = centres_of(out / "spheres.csv")
    assert len(found) == len(CENTRES)
    assert farthest(found, CENTRES) < 0.05
    radii = [float(row["radius_mm"]) for row in rows_of(out / "spheres.csv")]
    np.testing.assert_allclose(radii, 4.5, atol=0.03)


def test_spheres_a_little_smaller_than_said_are_refused(rng, tmp_path, out, refuses):
    """Half of each is seen, so a radius 0.2 mm too large moves centres by 0.3 mm."""
    said = refuses(balls(rng, radius=5.8))
    assert "E-RADIUS" in said
    assert "the spheres found (6) have the radius 5.8" in said
    scan = str(tmp_path / "a.xyz")
    assert called(["ingest", *words(scan, out), "--sphere-radius-mm", "5.8"]) == 0
    assert farthest(centres_of(out / "spheres.csv"), CENTRES) < 0.01


def test_of_a_radius_that_is_off_the_one_that_would_do_is_said_once(
    rng, tmp_path, out, capsys
):
    scan = saved(tmp_path / "a.xyz", balls(rng, radius=5.97))
    assert called(["ingest", *words(scan, out)]) == 0
    said = capsys.readouterr().out
    assert "warning: the spheres are 0.99" in said
    assert said.count("5.97") == 2  # what it is, and what to type
    assert "correlated" not in said


def test_noise_that_is_not_along_lines_of_sight_is_not_taken_for_another_radius(rng):
    """Views are placed as if it were, and balls come out 13 noise^2 / R too large."""
    _, points, number = isotropic(rng, 0.1, 2, "scanner", balls=6, each=1000)
    options = PickOptions(radius_mm=RADIUS)
    picks = find_spheres(points, options, number)
    own, sd = own_radius(picks)
    assert own > RADIUS + max(HINT.odd * RADIUS, HINT.sure * sd)
    assert own - RADIUS < 2.0 * with_noise(sd, of_noise(picks, RADIUS))
    assert radius_hint(picks, options) == ""
    assert no_sphere_hint(picks, points, Unit.MM, options) == ""


def test_a_radius_is_doubted_no_more_than_shared_errors_let_it_be_told(rng):
    """What is too large by 1.2 % is E-RADIUS at 0.05 %, and a note at 0.8 %."""
    points, options = balls(rng), PickOptions(radius_mm=6.0)
    picks = replace(find_spheres(points, options), joint_radius=(6.071, 0.0032))
    assert "1.0118 times as large" in radius_hint(picks, options)
    assert "E-RADIUS" in no_sphere_hint(picks, points, Unit.MM, options)
    assert shared_errors(picks, options) == []
    excess = Excess("what is left on balls", 237.0, 0.0)
    assert "give each view as a file" in excess.summary
    shared = replace(picks, excess=excess, joint_radius=(6.071, 0.049))
    assert radius_hint(shared, options) == ""
    assert no_sphere_hint(shared, points, Unit.MM, options) == ""
    assert shared_errors(replace(picks, excess=excess), options) == []  # a radius
    first, said = shared_errors(shared, options)
    assert first == excess.summary
    assert "has a standard deviation of 0.82 %" in said
    assert "below 2.5 % give no warning" in said
    assert "below 4.1 % no error" in said
    merged = replace(shared, joint_radius=None)
    one = own_radius(replace(merged, excess=None))[1]
    assert own_radius(merged)[1] == pytest.approx(one * np.sqrt(237.0))


def test_balls_of_a_fused_mesh_may_all_be_too_large(tmp_path, capsys):
    ball = trimesh.creation.icosphere(3, 6.0 * 1.017)
    places = [ball.copy().apply_translation(c) for c in CENTRES]
    path, out = tmp_path / "a.stl", tmp_path / "found"
    trimesh.util.concatenate(places).export(path)
    assert called(["ingest", *words(str(path), out)]) == 0
    said = capsys.readouterr().out
    assert "% too large in this fused mesh" in said
    assert "spread over the faces of a mesh of 7680" in said
    assert farthest(centres_of(out / "spheres.csv"), CENTRES) < 0.02
