"""Printed lattices: their model, and the tracks that are shipped.

The labels of a real specimen are unknown; what is asserted of them is what continuity
says: links that change steadily, no triangle turned over, the same on the way back.
"""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

from analysis.labels.label_tracks import AmbiguousLabelError, carry_labels
from analysis.measured.predicted_quantities import RecordInputs
from analysis.measured.quantities import label_frames, nodes_of, place_on_model
from pipeline.io.record_files import FoundRecord, RecordSource, find_records
from pipeline.measured.printed_lattices import COLUMNS, ROWS, LatticeTracks, through
from pipeline.terminal import InputError
from sim.core.arrays import Floats, Ints
from sim.mechanism.named_structures import triangle_lattice
from tests.analysis.labels.track_checks import check_tracks, orders_of

FOLDER = "data/lce_lattices"
Labelled = dict[str, tuple[Floats, list[Floats], Floats, list[Ints]]]
FORM = RecordSource(files=r"tracks_(?P<design>.+)\.csv", columns=("design", "specimen"))
MODEL = LatticeTracks(FOLDER, (22.0, 60.0, 130.0), 0.02, 3.0)
MADE = triangle_lattice(ROWS, COLUMNS, 3.0)
INPUTS = {
    "node_diameter_mm": 0.75,
    "through_mm": 0.75,
    "lag_C": 2.0,
    "spacing_mm": 3.0,
    "bar_share": 0.0,
    "stretch_HTNI": 0.0,
    "stretch_LTNI": 0.0,
    "modulus_HTNI": 0.0,
    "modulus_LTNI": 0.0,
}
HOT = np.array([27.0, 62.0, 130.0])


def shapes(design: str, **changed: float) -> Floats:
    return MODEL.shapes(design, HOT, {**INPUTS, **changed})


def row_width(nodes: Floats, row: int) -> Floats:
    ends = MADE.nodes_of(row)[[0, -1]]
    apart: Floats = np.linalg.norm(nodes[:, ends[1]] - nodes[:, ends[0]], axis=1)
    return apart


def records(folder: Path = Path(FOLDER)) -> list[FoundRecord]:
    return find_records(folder, [FORM])[0]


def test_bars_that_shrink_as_struts_do_leave_a_lattice_in_its_own_shape():
    # of a lattice that reads 62 C, strips at 60 C: the tables' own values
    for design, stretch in (("LTNI_all", 0.586885943), ("HTNI_all", 0.920055118)):
        nodes = shapes(design, bar_share=1.0)
        length = 0.75 + 2.25 * stretch
        even = (MADE.r[:, :2] - MADE.r[:, :2].mean(axis=0)) * length / 3.0
        assert_allclose(nodes[1], even, atol=1e-6)
        assert_allclose(nodes[0] * 0.0, 0.0)


def test_below_the_first_temperature_of_strips_nothing_moves():
    nodes = shapes("HTNI_teeth")
    made = MADE.r[:, :2] - MADE.r[:, :2].mean(axis=0)
    assert_allclose(nodes[0], made, atol=1e-6)


def test_each_design_contracts_by_its_own_material():
    waist = {d: row_width(shapes(d), 4)[1] for d in ("LTNI_all", "HTNI_all")}
    assert waist["LTNI_all"] < 0.8 * 12.0 < 0.9 * 12.0 < waist["HTNI_all"]
    # LTNI along the rows: the waist narrows; along both others: the lattice shortens
    assert row_width(shapes("HTNI_teeth"), 4)[1] < row_width(shapes("LTNI_teeth"), 4)[1]


def test_a_factor_on_both_strains_is_a_length_that_nodes_take():
    by_length = shapes("HTNI_pacman")
    by_factor = shapes(
        "HTNI_pacman",
        node_diameter_mm=0.0,
        through_mm=0.0,
        factor_HTNI=0.75,
        factor_LTNI=0.75,
    )
    # not the same stiffness: E A / ((L - d) lambda) against E A / (L lambda')
    assert_allclose(by_length, by_factor, atol=0.12)
    assert np.abs(by_length - by_factor).max() > 1e-4


@pytest.mark.parametrize(
    ("design", "direction"),
    [
        ("HTNI_all", 0),
        ("LTNI_all", 0),
        ("HTNI_teeth", 0),
        ("LTNI_teeth", 0),
        ("HTNI_pacman", 2),
        ("LTNI_pacman", 2),
    ],
)
def test_the_direction_of_its_own_material_goes_straight_through(design, direction):
    assert (through(design, FOLDER) == (MADE.direction == direction)).all()


def test_strands_straight_through_lose_the_length_that_is_theirs():
    # far from the bars struts are free; 130 C read is 128 C of strips, LTNI and HTNI
    nodes = shapes("HTNI_pacman", through_mm=0.4)[2]
    r = np.linalg.norm(np.diff(nodes[MADE.links], axis=1)[:, 0], axis=1)
    inner = np.isin(MADE.row[MADE.links], (3, 4, 5)).all(axis=1)
    strips = pd.read_csv(f"{FOLDER}/strips/stretch_vs_temperature.csv")
    at = strips["temperature_C"]
    LTNI, HTNI = (
        np.interp(128.0, at, strips[f"{m}_stretch_mean"]) for m in ("LTNI", "HTNI")
    )
    for direction, d, stretch in ((2, 0.4, LTNI), (0, 0.75, HTNI), (1, 0.75, HTNI)):
        own = r[inner & (MADE.direction == direction)].mean()
        assert own == pytest.approx(d + (3.0 - d) * stretch, rel=0.02)


@pytest.fixture(scope="module")
def labelled():
    """Of every shipped specimen temperatures, frames, labels and placements."""
    found = {}
    for record in records():
        at, frames = MODEL.frames(record)
        told = label_frames(frames, MADE.r[:, :2], MADE.links, at)
        found[record.name] = (at, frames, *told)
    return found


@pytest.mark.long
def test_measured_strands_straight_through_contract_more(labelled):
    """Share of free contraction in the middle rows, of tracks alone, at 130 C.

    The model only says which of the symmetric placements a specimen has.
    """
    inner = np.isin(MADE.row[MADE.links], (3, 4, 5)).all(axis=1)
    strips = {"HTNI": 0.467101076, "LTNI": 0.611145373}  # table, 130 C
    edges = pd.read_csv(f"{FOLDER}/geometry/edges.csv")
    ways = ("horizontal", "right", "left")
    for design in ("HTNI_all", "LTNI_all", "LTNI_teeth", "HTNI_pacman"):
        shares = []
        for name in (f"{design}_{k}" for k in (1, 2, 3)):
            at, _, tracks, orders = labelled[name]
            model = MODEL.shapes(design, at, INPUTS)
            nodes = place_on_model(tracks, orders, model).aligned[-1]
            r = np.linalg.norm(np.diff(nodes[MADE.links], axis=1)[:, 0], axis=1)
            of = [edges[edges["direction"] == way][design].iloc[0] for way in ways]
            shares.append([
                (1.0 - r[inner & (MADE.direction == k)].mean() / 3.0)
                / (1.0 - strips[of[k]])
                for k in range(3)
            ])  # fmt: skip
        mean = np.mean(shares, axis=0)
        straight = int(MADE.direction[np.argmax(through(design, FOLDER))])
        assert 0.82 < mean[straight] < 0.95, (design, mean)
        assert (np.delete(mean, straight) < mean[straight] - 0.02).all(), (design, mean)
        assert np.delete(mean, straight).mean() < mean[straight] - 0.05, (design, mean)


@pytest.mark.long
def test_every_shipped_specimen_is_labelled_at_every_temperature(labelled):
    assert len(labelled) == 12
    for at, _, tracks, orders in labelled.values():
        assert len(at) == 23
        assert len(orders) == 4  # the symmetric placements of nine rows of 5 and 4
        checks = check_tracks(tracks, MADE.links, at)
        assert (checks.overturned, checks.backwards) == (0, 0)
        assert checks.link_step < 0.21


def test_tracks_renamed_mirrored_turned_and_shifted_are_measured_alike(tmp_path, rng):
    table = pd.read_csv(Path(FOLDER) / "tracks_HTNI_pacman.csv")
    table = table[table["specimen"] == 2].assign(specimen=8)
    xy = table[["x_mm", "y_mm"]].to_numpy() * [-1.0, 1.0]
    turned = xy @ [[0.6, 0.8], [-0.8, 0.6]] + [40.0, -17.0]
    table = table.assign(x_mm=turned[:, 0], y_mm=turned[:, 1])
    table = table.sample(frac=1.0, random_state=int(rng.integers(1000)))
    table.to_csv(tmp_path / "tracks_new.csv", index=False)
    (new,) = records(tmp_path)
    old = next(r for r in records() if r.name == "HTNI_pacman_2")
    inputs = MODEL.inputs(new)
    assert inputs.words["design"] == "HTNI_pacman"
    assert_allclose(inputs.state["temperature_C"], MODEL.frames(old)[0])
    predicted = MODEL.predict(INPUTS, inputs)
    seen, before = (nodes_of(MODEL.measured(r, predicted), 41) for r in (new, old))
    # half a turn fits alike: the same nodes, or each one's opposite
    opposite = np.abs(seen + before[:, ::-1]).max()
    assert min(np.abs(seen - before).max(), opposite) < 1e-6
    told = MODEL.placing(new, predicted)
    assert told["of"] == 4
    assert isinstance(told["rms_mm"], list)
    assert told["placement"] == int(np.argmin(told["rms_mm"]))


@pytest.fixture
def one():
    table = pd.read_csv(Path(FOLDER) / "tracks_HTNI_all.csv")
    return table[(table["specimen"] == 1) & (table["temperature_C"] <= 40)]


@pytest.mark.long
def test_labels_cross_gaps_of_temperature_rightly_or_refuse(labelled):
    told, steps = 0, ([0, 22], [0, 6, 10, 16, 22], list(range(0, 23, 3)))
    for name, (at, frames, tracks, _) in labelled.items():
        first = orders_of(frames, tracks)[0]
        for some in steps:
            few = [frames[k] for k in some]
            try:
                found = carry_labels(few, MADE.links, first, at[some])
            except AmbiguousLabelError:
                continue
            told += 1
            assert (found == tracks[some]).all(), (name, some)
    assert 12 < told < 36  # every third frame is enough for all, the ends for few


def test_a_design_that_nobody_tells_is_refused(tmp_path, one):
    one.assign(design="own").to_csv(tmp_path / "tracks_new.csv", index=False)
    (record,) = records(tmp_path)
    with pytest.raises(InputError, match="design 'own' is not known: give one of"):
        MODEL.inputs(record)
    one.assign(design="own").to_csv(tmp_path / "tracks_LTNI_teeth_2.csv", index=False)
    found = {record.path.name: record for record in records(tmp_path)}
    inputs = MODEL.inputs(found["tracks_LTNI_teeth_2.csv"])
    assert inputs.words["design"] == "LTNI_teeth"


def test_a_design_that_name_and_column_tell_in_two_ways_is_refused(tmp_path, one):
    one.to_csv(tmp_path / "tracks_LTNI_teeth_2.csv", index=False)
    words = "design is LTNI_teeth in its name, HTNI_all in its column: correct one"
    (record,) = records(tmp_path)
    with pytest.raises(InputError, match=words):
        MODEL.inputs(record)
    (tmp_path / "records.csv").write_text(
        "file,design\ntracks_LTNI_teeth_2.csv,HTNI_pacman\n"
    )
    (record,) = records(tmp_path)
    assert MODEL.inputs(record).words["design"] == "HTNI_pacman"


def test_a_kept_record_has_the_temperatures_of_the_set():
    record = FoundRecord("HTNI_teeth_1", Path("nowhere.csv"), {"design": "HTNI_teeth"})
    inputs = MODEL.inputs(record)
    assert isinstance(inputs, RecordInputs)
    assert inputs.state["temperature_C"].tolist() == [22.0, 60.0, 130.0]
