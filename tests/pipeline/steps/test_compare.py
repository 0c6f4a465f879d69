import json
import re
from dataclasses import asdict, replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
import yaml
from scipy.spatial.transform import Rotation

from analysis.comparison.compare_scan import stretch_remark
from analysis.comparison.error_sources import PLAY
from analysis.labels.rigid_distances import Mechanism
from pipeline.cli.app import called
from pipeline.scans.sphere_tables import read_spheres
from pipeline.steps.compare import _worst_node, run_step
from pipeline.steps.settings import ComparisonSettings
from pipeline.terminal import InputError
from tests.analysis.mechanisms import random_mechanism, scanned
from tests.pipeline.comparison_files import SCALE_MM, write_ingest, write_run
from tests.pipeline.conftest import ROOT

CONFIG = ComparisonSettings(SCALE_MM, joint_play_sd_mm=0.05, node_margin_mm=1.0)


@pytest.fixture
def mechanism(rng):
    return random_mechanism(15, rng)


@pytest.fixture
def folders(mechanism, tmp_path, rng):
    """A run, an ingest of its end state, and a place for the outcome."""
    predicted, other = mechanism
    run = write_run(tmp_path / "run", predicted, other)
    ingest = write_ingest(tmp_path / "ingest", scanned(predicted.nodes_mm, rng))
    return ingest, run, tmp_path / "out"


@pytest.fixture
def compared(folders, tmp_path, rng):
    """The row of a scan of other nodes than those that were simulated."""

    def run(nodes_mm, config=CONFIG, **scan):
        ingest = write_ingest(tmp_path / "other", scanned(nodes_mm, rng, **scan))
        return run_step(config, ingest, *folders[1:])

    return run


def test_a_scan_of_the_simulated_shape_agrees_and_tables_hold_why(folders):
    row = run_step(CONFIG, *folders)
    assert row["verdict"] == "agrees"
    assert row["labelled"] == row["nodes"] == 15
    assert abs(row["S_error"]) < 2 * row["S_u_val"]
    assert row["rms_mm"] < row["rms_limit_mm"]
    assert row["synthetic"] is True
    assert "mirror" not in row["why"]
    steps = pd.read_csv(folders[1] / "steps.csv")  # S by the first length
    assert row["S_simulated"] == pytest.approx(steps["S"].iloc[-1], rel=1e-12)
    out = folders[2]
    written = pd.read_csv(out / "comparison.csv")
    assert written["S_scanned"][0] == row["S_scanned"]
    nodes = pd.read_csv(out / "nodes.csv")
    assert np.sqrt(np.mean(nodes["distance_mm"] ** 2)) == pytest.approx(row["rms_mm"])
    budget = pd.read_csv(out / "budget.csv").set_index("source")
    parts = budget.drop(index=["u_val", "k = 2 times u_val"])["S_u"]
    assert np.sqrt((parts**2).sum()) == pytest.approx(row["S_u_val"])
    labels = pd.read_csv(out / "labels.csv")
    assert labels["sphere"].is_unique
    assert (labels["margin"] >= 3.0).all()


def name_nodes(ingest: Path, nodes: list[str]) -> None:
    path = ingest / "spheres.csv"
    pd.read_csv(path, dtype=str).assign(node=nodes).to_csv(path, index=False)


def test_nodes_are_stated_by_number_or_name_in_a_column_of_the_spheres(folders):
    first, labels = run_step(CONFIG, *folders), folders[2] / "labels.csv"
    found = pd.read_csv(labels).set_index("sphere")["node"]
    nodes = [str(found[k]) for k in range(15)]
    name_nodes(folders[0], nodes)
    assert run_step(CONFIG, *folders)["verdict"] == first["verdict"] == "agrees"
    name_nodes(folders[0], ["", *nodes[1:]])
    assert run_step(CONFIG, *folders)["labelled"] == 14
    stated = pd.read_csv(labels)["reason"] == "stated"
    assert [*np.flatnonzero(~stated)] == [int(nodes[0])]
    name_nodes(folders[0], [nodes[1], nodes[0], *nodes[2:]])
    assert run_step(CONFIG, *folders)["rms_mm"] > 10.0 * first["rms_mm"]
    for wrong in ("15", "-1", "x", nodes[1]):
        name_nodes(folders[0], [wrong, *nodes[1:]])
        with pytest.raises(InputError, match=f"node of spheres.csv has '{wrong}': g"):
            run_step(CONFIG, *folders)
    path, names = folders[1] / "structure.json", [f"N{k}" for k in range(15)]
    path.write_text(json.dumps(json.loads(path.read_text()) | {"node_names": names}))
    name_nodes(folders[0], [names[int(node)] for node in nodes])
    named = run_step(CONFIG, *folders)
    assert named["rms_mm"] == pytest.approx(first["rms_mm"])
    for table in ("nodes.csv", "labels.csv"):
        assert list(pd.read_csv(folders[2] / table)["name"]) == names
    name_nodes(folders[0], ["N0"] * len(names))
    with pytest.raises(InputError, match=r"column node of spheres\.csv has '0'"):
        run_step(CONFIG, *folders)


def test_another_state_of_the_mechanism_differs(mechanism, compared):
    assert compared(mechanism[1])["verdict"] == "differs"


def test_a_missing_node_is_completed_or_left_out_on_both_sides(
    mechanism, folders, compared
):
    row = compared(mechanism[0].nodes_mm, missing=1)
    assert row["verdict"] == "agrees"
    assert row["labelled"] + row["completed"] + row["missing"] == 15
    nodes = pd.read_csv(folders[2] / "nodes.csv")
    assert (nodes["basis"] != "seen").sum() == 15 - row["labelled"]
    steps = pd.read_csv(folders[1] / "steps.csv")
    whole = row["S_simulated"] == pytest.approx(steps["S"].iloc[-1], rel=1e-12)
    assert whole == (row["basis"] == "all nodes")


def test_an_understated_uncertainty_does_not_pass_for_a_good_scan(
    mechanism, folders, tmp_path, rng
):
    scan = scanned(mechanism[0].nodes_mm, rng, sd_mm=0.6)
    scan.covariances_mm2[:] *= 1e-4
    row = run_step(CONFIG, write_ingest(tmp_path / "proud", scan), *folders[1:])
    assert row["verdict"] != "agrees"
    assert row["scatter_sd_mm"] == pytest.approx(0.6, rel=0.5)


def test_a_scan_in_metres_is_named_as_such(mechanism, compared):
    said = (
        "multiplied by 1000: check the `unit` of the structure's file, --scale-mm "
        f"({SCALE_MM / 1000:g} instead of {SCALE_MM:g}) and --unit"
    )
    with pytest.raises(InputError, match=re.escape(said)):
        compared(mechanism[0].nodes_mm / 1000, sd_mm=3e-5)


def test_a_scale_that_is_not_the_unit_of_the_structure_is_named(folders):
    spheres, simulated, out = folders
    path = simulated / "structure.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"unit": "mm"}))
    said = "labelled.*in mm: did you mean --scale-mm 1 instead of 1600"
    with pytest.raises(InputError, match=said):
        run_step(replace(CONFIG, scale_mm=40 * SCALE_MM), spheres, simulated, out)


def test_a_scan_of_a_print_in_another_size_says_the_scale(mechanism, compared):
    said = r"links are 0.953 times as long as simulated: .* --scale-mm ([\d.]+)"
    with pytest.raises(InputError, match=said) as caught:
        compared(0.953 * mechanism[0].nodes_mm)
    scale = re.search(said, str(caught.value))
    assert scale is not None
    assert float(scale[1]) == pytest.approx(0.953 * SCALE_MM, rel=1e-3)


def test_a_verdict_that_hangs_on_the_printer_says_from_which_error_on(
    mechanism, folders, tmp_path, rng
):
    nodes = mechanism[0].nodes_mm.copy()
    nodes[7] += [0.0, 0.2, 0.2]
    scan = scanned(nodes, rng)
    ingest = write_ingest(tmp_path / "rough", scan)
    row = run_step(CONFIG, ingest, *folders[1:])
    assert row["verdict"] == "differs"
    found = re.search(r"with a printing error of ([\d.]+) mm ", row["why"])
    assert found is not None
    enough = float(found[1])
    assert 0.04 <= enough <= 0.2
    assert "`morphtrack input_uncertainty`, and compare with --inp" in row["why"]
    again = replace(CONFIG, printing_sd_mm=enough)
    assert run_step(again, ingest, *folders[1:])["verdict"] == "agrees"


def options_of(command, capsys):
    """What the help of a command says of each option, by its flag."""
    assert called([command, "--help"]) == 0
    words = re.sub(r"[│╭╮╰╯─]", " ", capsys.readouterr().out).split()
    parts = re.split(r" (?=--[a-zA-Z])", " ".join(words))[1:]
    return dict(part.split(" ", 1) for part in parts)


def test_what_a_verdict_hangs_on_has_one_default_which_the_guides_name(capsys):
    """The command line, conf/workflow.yaml and docs/how-to/scan.md say the same."""
    settings, told = ComparisonSettings(40.0), options_of("compare", capsys)
    shared = yaml.safe_load((ROOT / "conf/workflow.yaml").read_text())["shared"]
    known = asdict(settings.uncertainty) | asdict(settings.acceptance)
    for name in (
        *("printing_sd_mm", "joint_play_sd_mm", "print_scale_sd"),
        *("S_margin", "node_margin_mm"),
    ):
        default, flag = known[name], "--" + name.replace("_", "-")
        assert re.search(rf"\[default: \(?{default}\)?\]", told[flag])
        assert shared["settings"].get(name, default) == default
        page = (ROOT / "docs/how-to/scan.md").read_text()
        assert f"| `{flag}` | {default:g} |" in page
    for said in (told, options_of("deviation", capsys)):
        assert "mm of the print per unit of the case" in said["--scale-mm"]
        assert "of the printer's scale. [default: " in said["--print-scale-sd"]


def test_the_budget_calls_a_default_a_default(folders, tmp_path):
    for config, learnt in (
        (
            replace(CONFIG, joint_play_sd_mm=None),
            "default 0.1; joint_play_sd_mm was not stated",
        ),
        (replace(CONFIG, joint_play_sd_mm=0.1), "stated: joint_play_sd_mm"),
    ):
        out = tmp_path / "budget"
        run_step(config, folders[0], folders[1], out, pictured=False)
        (said,) = pd.read_csv(out / "budget.csv").set_index("source")["basis"][[PLAY]]
        assert said.startswith(learnt)


def test_a_difference_names_the_worst_node_and_errors_that_were_not_stated(
    mechanism, compared
):
    true, at = mechanism[0].nodes_mm.copy(), 3
    true[at] += (0.0, 0.0, 2.0)
    row = compared(true)
    assert row["verdict"] == "differs"
    assert row["worst_node"] == at
    told = f"at node {at}: {row['worst_mm']:.2f} mm, u {row['worst_u_mm']:.2f} mm"
    assert told in row["why"]
    unstated = "printing_sd_mm was not stated: 0.03 is assumed"
    assert unstated in row["why"]
    stated = compared(true, replace(CONFIG, printing_sd_mm=0.03))
    assert unstated not in stated["why"]


def test_the_worst_node_is_one_with_a_sphere_and_those_without_are_named(tmp_path, rng):
    """Two bodies on a hinge; the far end of one, which its body gives, is not seen."""
    at = [[0, 0, 0], [0, 60, 0], [50, 0, 0], [50, 60, 0], [50, 30, 20], [250, 30, 0]]
    at += [[-50, 0, 0], [-50, 60, 0], [-50, 30, 30.0]]
    nodes, bodies = np.array(at), ((0, 1, 2, 3, 4, 5), (0, 1, 6, 7, 8))
    turn = Rotation.from_euler("y", 2.0, degrees=True).as_matrix()
    print_mm = np.vstack([nodes[:6] @ turn.T, nodes[6:]])
    lost = 5
    ingest = write_ingest(tmp_path / "in", scanned(np.delete(print_mm, lost, 0), rng))
    run = write_run(tmp_path / "run", Mechanism(nodes, bodies), nodes * [1.0, 1.1, 0.9])
    row = run_step(CONFIG, ingest, run, tmp_path / "out", pictured=False)
    table = pd.read_csv(tmp_path / "out" / "nodes.csv")
    assert table["distance_mm"].argmax() == lost
    assert (row["verdict"], row["without_sphere"]) == ("differs", str(lost))
    assert row["worst_node"] != lost
    assert f"largest at node {row['worst_node']}:" in row["why"]
    judged = SimpleNamespace(
        used=np.array([True, False, True, True]),  # node 3 is farthest, but computed
        nodes=SimpleNamespace(completed=np.array([False, False, False, True])),
        comparison=SimpleNamespace(
            alignment=SimpleNamespace(difference=np.diag([1.0, 2.0, 9.0])),
            node_u_mm=np.ones(3),
        ),
    )
    assert _worst_node(judged) == (2, 2.0, 1.0)


def test_a_link_of_another_length_is_named_and_no_printer_in_its_place(
    mechanism, compared
):
    """A node is 0.7 mm off, which prints that err by 0.4 mm would explain."""
    true = mechanism[0].nodes_mm.copy()
    true[3] += (0.3, 0.3, 0.55)
    row = compared(true)
    assert row["verdict"] == "differs"
    assert f"largest for link {row['worst_length']}; largest at node 3:" in row["why"]
    i, j, at, drawn = re.match(
        r"(\d+)-(\d+): ([\d.]+) mm scanned, ([\d.]+) mm", row["worst_length"]
    ).groups()
    assert "3" in (i, j)
    for said, nodes in ((at, true), (drawn, mechanism[0].nodes_mm)):
        apart = np.linalg.norm(nodes[int(i)] - nodes[int(j)])
        assert float(said) == pytest.approx(apart, abs=0.15)
    assert "printing error" not in row["why"]


def test_a_verdict_that_hangs_on_an_unstated_scale_names_it(
    mechanism, folders, tmp_path, rng
):
    ingest = write_ingest(tmp_path, scanned(1.0012 * mechanism[0].nodes_mm, rng))
    config = replace(CONFIG, print_scale_sd=1e-5)
    row = run_step(config, ingest, *folders[1:])
    assert row["verdict"] == "agrees"
    assert (
        "unknown: 0.1 % is assumed, at 0 % the verdict is differs: give" in row["why"]
    )
    good = replace(config, scan_scale_sd=0.02 / 300.0 / 3**0.5)
    row = run_step(good, ingest, *folders[1:])
    assert row["verdict"] == "differs"
    assert "is unknown" not in row["why"]


def test_a_radius_that_the_balls_contradict_is_told_with_the_verdict(folders):
    table = read_spheres(folders[0])
    np.savez(
        folders[0] / "covariance.npz",
        centres_mm=table.centres_mm,
        covariance_mm2=table.covariance_mm2,
        radius_remark="the spheres are 1.006 times as large as stated",
    )
    row = run_step(CONFIG, *folders)
    assert row["verdict"] == "agrees"
    assert row["why"].endswith("; the spheres are 1.006 times as large as stated")


def test_the_scale_of_a_scanner_is_stated_or_assumed():
    stated = ComparisonSettings(SCALE_MM, scan_scale_sd=1e-4)
    assert stated.uncertainty.scan_scale_sd == 1e-4
    assert ComparisonSettings(SCALE_MM).uncertainty.scan_scale_sd == 1e-3


def test_the_form_error_of_a_scanner_enters_every_centre(folders):
    sd = 0.06 / 12**0.5
    row = run_step(replace(CONFIG, scan_form_sd_mm=sd), *folders)
    budget = pd.read_csv(folders[2] / "budget.csv").set_index("source")
    line = budget.loc["form error of the scanner"]
    assert line.node_u_mm == pytest.approx(3**0.5 * sd, rel=0.1)
    assert line.basis == "stated: scan_form_sd_mm"
    parts = budget.drop(index=["u_val", "k = 2 times u_val"])["S_u"]
    assert np.sqrt((parts**2).sum()) == pytest.approx(row["S_u_val"])


WATT = [
    *([0, 0], [80, 0], [45, -35], [13.25, 61.74], [95.35, 73.08], [60.66, 111.36]),
    *([135.22, 41.93], [120.79, 119.99], [93.87, 161.53], [-36.87, 46.14]),
]
SIX_BAR = Mechanism(
    np.pad(np.array(WATT), ((0, 0), (0, 1))),
    ((0, 3, 9), (3, 4, 5), (1, 4, 6), (5, 7, 8), (6, 7)),
)
CHAIN = np.array([[0, 0, 0], [60, 0, 0], [80, 50, 10], [20, 60, 40.0]])
STRIP = np.vstack([CHAIN[:3], [[90, 60, -10], [130, 10, 30], [10, 90, -30.0]]])
FLAT = ((0, 1, 2), (1, 2, 3), (1, 3, 4), (2, 3, 5))  # no body tells left from right


@pytest.mark.parametrize(
    ("nodes", "bodies", "seen", "said"),
    [
        (
            CHAIN,
            ((0, 1), (1, 2), (2, 3)),
            CHAIN * [1, 1, -1],
            "the mirror image of the scan fits",
        ),
        (STRIP, FLAT, STRIP * [1, 1, -1], "its mirror image fits far better"),
        (CHAIN, ((0, 1), (1, 2), (2, 3)), None, "a scan of another structure"),
        (
            SIX_BAR.nodes_mm,
            SIX_BAR.bodies,
            SIX_BAR.nodes_mm * [1.008, 1.0, 1.0],
            "check the scanner's scale along its axes",
        ),
    ],
)
def test_mirrored_and_stretched_scans_and_one_of_something_else_are_told(
    nodes, bodies, seen, said, tmp_path, rng
):
    run = write_run(tmp_path / "run", Mechanism(nodes, bodies), nodes * [1.0, 1.1, 0.9])
    other = np.random.default_rng(1).uniform(-60.0, 60.0, (12, 3))
    ingest = write_ingest(
        tmp_path / "in", scanned(other if seen is None else seen, rng)
    )
    try:
        told = run_step(CONFIG, ingest, run, tmp_path / "out", pictured=False)["why"]
    except InputError as error:
        told = str(error)
    assert said in told


ALONG = np.array([[1.0, 1.0, 0.0]]) / np.sqrt(2.0)


@pytest.mark.parametrize("flat", [1.0, 0.0])
@pytest.mark.parametrize(
    ("seen", "said"),
    [
        (lambda x: x + 0.005 * (x @ ALONG.T) * ALONG, 0.5),
        (lambda x: x - 0.003 * (x @ ALONG.T) * ALONG, -0.3),
        (lambda x: 1.005 * x, None),
        (lambda x: x * [1.0, 1.0, -1.0], None),
        (lambda x: x * [1.17, 0.9, 1.0], None),
        (lambda x: x + np.eye(len(x))[3][:, None] * [1.0, 0.0, 0.5], None),
    ],
)
def test_a_scale_that_differs_by_direction_is_told_from_other_errors(
    seen, said, flat, rng
):
    nodes = rng.uniform(-60.0, 60.0, (10, 3)) * [1.0, 1.0, flat]
    scan = seen(nodes) + rng.normal([5.0, -3.0, 2.0], 0.01, nodes.shape)
    told = stretch_remark(nodes, scan)
    if said is None:
        assert told == ""
    else:
        percent, along = told.removeprefix("stretched by ").split(" % along ")
        way = np.fromstring(along[1:].partition(")")[0], sep=",")
        assert float(percent) == pytest.approx(said, abs=0.04)
        np.testing.assert_allclose(way, ALONG[0], atol=0.11)


def pantograph(angle):
    """Nodes (11, 3) of three crossed pairs of bars, opened by `angle`."""
    corners = [[2 * k, side] for k in range(4) for side in (1, -1)]
    pivots = [[2 * k + 1, 0] for k in range(3)]
    flat = np.array(corners + pivots) * 28.0 * [np.cos(angle), np.sin(angle)]
    return np.pad(flat, ((0, 0), (0, 1)))


def test_another_state_that_stretches_the_shape_is_no_fault_of_the_scanner(
    tmp_path, rng
):
    crossed = [(2 * k + i, 8 + k, 2 * k + 3 - i) for k in range(3) for i in (0, 1)]
    mechanism = Mechanism(pantograph(0.62), tuple(crossed))
    run = write_run(tmp_path / "run", mechanism, pantograph(0.5))
    ingest = write_ingest(tmp_path / "in", scanned(pantograph(0.64), rng))
    row = run_step(CONFIG, ingest, run, tmp_path / "out", pictured=False)
    assert row["verdict"] == "differs"
    assert "scanner's scale along" not in row["why"]


GROUND = [[node, axis, 0.0] for node in (0, 1, 2) for axis in (0, 1, 2)]


@pytest.fixture
def six_bar(tmp_path):
    """A run whose node 2 is held by `fixed` only; 7 is on the link 6-7."""
    run = write_run(tmp_path / "six_bar", SIX_BAR, SIX_BAR.nodes_mm * [1.0, 1.1, 1.0])
    path = run / "structure.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"fix": GROUND}))
    return run


def test_fixed_nodes_keep_their_distances_and_so_get_a_label(six_bar, tmp_path, rng):
    ingest = write_ingest(tmp_path / "in", scanned(SIX_BAR.nodes_mm, rng))
    row = run_step(CONFIG, ingest, six_bar, tmp_path)
    assert (row["verdict"], row["labelled"]) == ("agrees", 10)


@pytest.mark.parametrize(("off", "verdict"), [(4.0, "differs"), (20.0, "inconclusive")])
def test_a_node_too_far_off_for_a_label_is_named_with_its_distance(
    off, verdict, six_bar, tmp_path, rng
):
    """Within 12 mm of a sphere of that diameter no other one can be at the place.

    It has its predicted place alone, as far from its sphere as that is off.
    """
    true = SIX_BAR.nodes_mm.copy()
    true[7] += [off, 0.0, 0.0]
    ingest = write_ingest(tmp_path / "in", scanned(true, rng))
    row = run_step(CONFIG, ingest, six_bar, tmp_path)
    found = re.search(r"the nearest ([\d.]+) mm from the place of node 7", row["why"])
    assert found is not None
    assert row["verdict"] == verdict
    assert "largest at node" not in row["why"]
    assert float(found[1]) == pytest.approx(off, abs=1.0)
    assert "no sphere at node 7; 1 sphere has no node" in row["why"]
    nodes = pd.read_csv(tmp_path / "nodes.csv").set_index("node")
    at = nodes[[f"simulated_{a}_mm" for a in "xyz"]].loc[7]
    spheres = pd.read_csv(ingest / "spheres.csv")[["x_mm", "y_mm", "z_mm"]]
    apart = np.linalg.norm(spheres.to_numpy() - at.to_numpy(), axis=1)
    assert apart.min() == pytest.approx(off, abs=1.0)
    assert nodes.filter(regex="scanned|distance|^u_").loc[7].isna().all()
    assert nodes["basis"][7] == "missing"


def test_a_sphere_that_was_found_twice_makes_no_difference(six_bar, tmp_path, rng):
    """Both are nearer to the place of the node than a part elsewhere would be."""
    twice = np.vstack([SIX_BAR.nodes_mm, SIX_BAR.nodes_mm[7]])
    twice[[7, -1], 2] += (0.6, -0.6)
    ingest = write_ingest(tmp_path / "in", scanned(twice, rng))
    row = run_step(CONFIG, ingest, six_bar, tmp_path, pictured=False)
    assert "2 spheres have no node" in row["why"]
    assert row["verdict"] == "inconclusive"


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (lambda t: t.drop(columns="cov_yy_mm2"), "has no column cov_yy_mm2"),
        (
            lambda t: t.assign(x_mm=["abc"] + [1.0] * (len(t) - 1)),
            "row 2: x_mm must be a finite number, not 'abc'",
        ),
        (
            lambda t: t.assign(cov_xx_mm2=-1.0),
            "covariance of sphere 0 is not positive definite",
        ),
    ],
)
def test_a_spoilt_sphere_table_is_refused_with_its_place(folders, spoil, said):
    path = folders[0] / "spheres.csv"
    spoil(pd.read_csv(path)).to_csv(path, index=False)
    with pytest.raises(InputError, match=re.escape(said)):
        run_step(CONFIG, *folders)


@pytest.mark.parametrize(
    ("column", "factor", "said"),
    [("cov_xx_mm2", 100.0, "has other covariances"), ("x_mm", 1.01, "does not belong")],
)
def test_an_edited_sphere_table_is_not_read_with_the_covariance_of_another(
    folders, column, factor, said
):
    """All centres together are in a file of their own: it must be of this table."""
    spheres, path = read_spheres(folders[0]), folders[0] / "spheres.csv"
    np.savez(
        folders[0] / "covariance.npz",
        covariance_mm2=spheres.covariance_mm2,
        centres_mm=spheres.centres_mm,
    )
    assert run_step(CONFIG, *folders)["verdict"] == "agrees"
    table = pd.read_csv(path)
    table.assign(**{column: factor * table[column]}).to_csv(path, index=False)
    with pytest.raises(InputError, match=said):
        run_step(CONFIG, *folders)


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("run.json", '{"key": "x", "status": "failed"}', "choose a finished run"),
        ("steps.npz", None, "steps.npz"),
        ("structure.json", None, "structure.json"),
    ],
)
def test_a_run_that_is_not_whole_is_not_compared(folders, name, content, said):
    path = folders[1] / name
    path.unlink() if content is None else path.write_text(content)
    with pytest.raises(InputError, match=said):
        run_step(CONFIG, *folders)


def arguments(folders, *more):
    ingest, run, out = map(str, folders)
    return ["--spheres", ingest, "--simulated", run, "--out", out, *more]


def test_the_command_prints_the_verdict(folders, capsys):
    assert called(["compare", *arguments(folders, "--scale-mm", "40")]) == 0
    said = capsys.readouterr().out
    assert said.startswith("agrees: ")
    assert "synthetic scan" in said


def test_the_command_refuses_in_one_line_with_status_2(folders, refused):
    (folders[0] / "spheres.csv").unlink()
    assert "spheres.csv does not exist: run morphtrack ingest first" in refused(
        "compare", *arguments(folders, "--scale-mm", "40")
    )


@pytest.mark.parametrize(("read", "role"), [(0, "spheres"), (1, "simulated")])
def test_a_folder_that_is_read_is_not_written(folders, refused, read, role):
    before = sorted(folders[read].iterdir())
    words = arguments((*folders[:2], folders[read]), "--scale-mm", "40")
    assert f"is what compare reads as {role}: give" in refused("compare", *words)
    assert sorted(folders[read].iterdir()) == before


def four_bar(degrees, *, crank=40.0, ground=100.0):
    """A planar linkage: 0 and 3 on the ground, a point on crank, coupler, rocker."""
    turn = np.radians(degrees)
    a, b = np.zeros(2), crank * np.array([np.cos(turn), np.sin(turn)])
    d, coupler, rocker = np.array([ground, 0.0]), 90.0, 70.0
    apart = np.linalg.norm(d - b)
    along, across = (d - b) / apart, np.array([b[1] - d[1], d[0] - b[0]]) / apart
    way = (coupler**2 - rocker**2 + apart**2) / (2 * apart)
    c = b + way * along + np.sqrt(coupler**2 - way**2) * across
    nodes = [a, b, c, d]
    for p, q in ((a, b), (b, c), (c, d)):
        normal = np.array([p[1] - q[1], q[0] - p[0]]) / np.linalg.norm(q - p)
        nodes.append(0.5 * (p + q) + 25.0 * normal)
    return np.pad(np.array(nodes), ((0, 0), (0, 1)))


DOME = np.array([0.0, 3.0, 3.0, 0.0, 1.5, 4.0, 1.5])  # mm above the plane


@pytest.mark.parametrize(
    ("print_mm", "verdict", "told"),
    [
        (four_bar(60.0), "agrees", False),
        (four_bar(75.0), "differs", True),
        (four_bar(61.0), "differs", False),  # a link that is 0.2 mm off does as much
        (four_bar(60.0, crank=40.2), "agrees", False),
        (four_bar(62.0, crank=41.5), "differs", False),
        (four_bar(75.0, crank=41.5), "differs", False),
        (four_bar(75.0, ground=101.5), "differs", False),
        (four_bar(60.0) + DOME[:, None] * [0, 0, 1], "differs", False),
    ],
)
def test_another_pose_of_the_same_links_is_named_and_no_misprint_for_one(
    print_mm, verdict, told, tmp_path, rng
):
    bodies = ((0, 1, 4), (1, 2, 5), (2, 3, 6))
    mechanism = Mechanism(four_bar(60.0), bodies)
    run = write_run(tmp_path / "run", mechanism, four_bar(50.0))
    fixed = [[node, *axis] for node in (0, 3) for axis in np.eye(3).tolist()]
    path = run / "structure.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"fix": fixed}))
    scan = scanned(print_mm, rng)
    ingest = write_ingest(tmp_path / "in", scan)
    name_nodes(ingest, [str(node) for node in scan.truth])
    row = run_step(CONFIG, ingest, run, tmp_path / "out", pictured=False)
    assert row["verdict"] == verdict
    assert ("another pose (or branch)" in row["why"]) == told, row["why"]
