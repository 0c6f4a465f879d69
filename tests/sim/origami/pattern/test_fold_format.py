"""FOLD files: what goes out comes back, and what is missing is said."""

from functools import partial

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from sim.origami.fold_and_load_phases import Fold
from sim.origami.folding.fold_simulation import run
from sim.origami.pattern.fold_format import (
    Unassigned,
    folded_document,
    pattern_document,
    read_pattern,
)
from sim.origami.pattern.generators import miura, waterbomb
from tests.sim.origami.sheets import compliant_strip, sheet, strip

PATTERN = miura(2, 3, width=0.02, height=0.02, angle=60.0)
read = partial(read_pattern, scale=1.0, unassigned=Unassigned.REFUSE)


def test_a_pattern_survives_the_round_trip():
    for pattern in (PATTERN, waterbomb(2, 2, side=0.1)):
        back = read(pattern_document(pattern))
        assert (back.vertices == pattern.vertices).all()
        assert back.panels == pattern.panels
        assert back.assignment == pytest.approx(np.asarray(pattern.assignment))


def test_letters_alone_fold_in_full_and_units_are_scaled():
    document = pattern_document(PATTERN)
    del document["edges_foldAngle"]
    document["vertices_coords"] = [p[:2] for p in document["vertices_coords"]]
    back = read(document, scale=10.0)
    assert back.assignment == pytest.approx(np.asarray(PATTERN.assignment))
    assert back.vertices == pytest.approx(10.0 * PATTERN.vertices)


def test_faces_listed_clockwise_are_turned_round():
    document = pattern_document(PATTERN)
    document["faces_vertices"][1] = document["faces_vertices"][1][::-1]
    back = read(document)
    assert len(back.creases) == len(PATTERN.creases)


@pytest.mark.parametrize("faces", [True, False])
@pytest.mark.parametrize("turn", [(90, 0, 0), (0, -90, 0), (40, 25, -70)])
def test_a_pattern_in_any_plane_is_turned_into_that_of_the_paper(turn, faces):
    document = pattern_document(PATTERN)
    tilted = Rotation.from_euler("xyz", turn, degrees=True).apply(PATTERN.vertices)
    document["vertices_coords"] = (tilted + 0.1).tolist()
    if not faces:
        del document["faces_vertices"]
    back = read(document)
    assert np.ptp(back.vertices[:, 2]) == 0.0
    lengths = [
        np.sort(
            np.linalg.norm(np.diff(one.vertices[one.edges], axis=1), axis=2), axis=0
        )
        for one in (back, PATTERN)
    ]
    assert lengths[0] == pytest.approx(lengths[1])
    valleys = [np.count_nonzero(np.asarray(p.assignment) > 0) for p in (back, PATTERN)]
    assert valleys[0] == valleys[1]


def test_a_frame_that_is_folded_flat_is_refused_with_the_remedy():
    document = pattern_document(strip(2))
    for number, (x, y, _) in enumerate(document["vertices_coords"]):
        document["vertices_coords"][number] = [x if x < 0.03 else 0.006, y]
    for corners in (document["faces_vertices"][1], document["faces_vertices"][1][::-1]):
        document["faces_vertices"][1] = corners
        with pytest.raises(ValueError, match="folded flat: give the crease pattern"):
            read(document)


def test_missing_faces_and_assignments_are_said():
    document = pattern_document(strip(2))
    document["edges_assignment"][2] = "U"
    document["edges_foldAngle"][2] = None
    with pytest.raises(ValueError, match=r"edge 1-4 of the FOLD .* has neither"):
        read(document)
    flat = read(document, unassigned=Unassigned.FLAT)
    assert not np.any(flat.assignment)
    document["edges_assignment"][2] = "Q"
    with pytest.raises(ValueError, match="assignment 'Q'"):
        read(document, unassigned=Unassigned.FLAT)
    del document["faces_vertices"]
    del document["edges_vertices"]
    with pytest.raises(ValueError, match="has neither faces_vertices nor edges"):
        read(document, unassigned=Unassigned.FLAT)


@pytest.mark.parametrize(
    ("letter", "again", "said"),
    [
        ("M", (1, 0), "is listed twice, as [VF] and as M"),
        ("V", (0, 0), "joins a vertex to itself"),
    ],
)
def test_an_edge_that_says_two_things_or_nothing_is_refused(letter, again, said):
    document = pattern_document(strip(2))
    a, b = document["edges_vertices"][2]
    document["edges_assignment"][2] = "V"
    document["edges_foldAngle"] = []
    document["edges_vertices"].append([(a, b)[i] for i in again])
    document["edges_assignment"].append("V")
    if again == (1, 0):
        assert read(document, unassigned=Unassigned.FLAT).panels
    document["edges_assignment"][-1] = letter
    with pytest.raises(ValueError, match=said):
        read(document, unassigned=Unassigned.FLAT)


def test_a_fold_that_joins_no_two_panels_is_refused():
    document = pattern_document(strip(2))
    outside = document["edges_assignment"].index("B")
    a, b = document["edges_vertices"][outside]
    document["edges_assignment"][outside] = "M"
    with pytest.raises(ValueError, match=rf"edge {a}-{b} of the FOLD .* folds \(M\)"):
        read(document)
    document["edges_assignment"][outside] = "B"
    document["edges_vertices"].append([0, len(document["vertices_coords"]) - 1])
    document["edges_assignment"].append("V")
    with pytest.raises(ValueError, match="does not join two panels"):
        read(document)


def test_frames_tell_how_far_each_edge_is_folded():
    """A compliant crease folded to 60 degrees: its three lines sum up to that."""
    mesh = compliant_strip(2)
    fold = Fold(creases=[2], angles=[1 + 1 / 3], increments=4)
    x = np.array([step.x for step in run(sheet(mesh), [fold])])
    document = folded_document(mesh.rest, mesh.triangle.tolist(), x)
    assert len(document["file_frames"]) == 4
    assert document["faces_vertices"] == mesh.triangle.tolist()
    last = document["file_frames"][-1]
    edges = document["edges_vertices"]
    assert len(last["edges_foldAngle"]) == len(edges)
    lines = [[1, 2], [4, 7], [8, 10]]
    folds = [last["edges_foldAngle"][edges.index(line)] for line in lines]
    assert sum(folds) == pytest.approx(60.0, abs=1e-3)
    assert last["edges_assignment"][edges.index([1, 2])] == "V"
    assert last["vertices_coords"] == x[-1].tolist()


@pytest.mark.filterwarnings("error")
def test_a_sheet_too_small_for_numbers_is_refused():
    """Its inverse is none: 0 times infinity was a warning of numpy."""
    tiny = {"vertices_coords": [[0, 0], [0, 0], [0, 1e-320]]}
    with pytest.raises(ValueError, match="e-320 long: enlarge its coordinates"):
        read({**tiny, "faces_vertices": [[0, 1, 2]]}, scale=None)
