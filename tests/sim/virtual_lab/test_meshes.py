"""Parts that can be printed: closed, of known volume, apart, and the ones scanned."""

import numpy as np
import pytest
import trimesh
from scipy.optimize import minimize
from scipy.spatial.distance import pdist

from analysis.labels.assign_labels import label_spheres
from analysis.labels.rigid_distances import Mechanism as Labelled
from analysis.labels.spacing import (
    dependent,
    spaced,
    spaced_lengths,
    spaced_triangles,
)
from pipeline.io.mesh_writers import PrintedPiece, mesh_of
from pipeline.io.structure_file import structure_file
from pipeline.steps import parts
from sim.core.arrays import Floats
from sim.mechanism.constraint_projection import closed
from sim.mechanism.constraint_system import system_of
from sim.mechanism.constraints import ConstraintTable
from sim.mechanism.named_structures import triangle_sheet
from sim.mechanism.structure import Structure
from sim.virtual_lab.assembled_part import clamped_ends, printed_part, rod_pairs
from sim.virtual_lab.lab_settings import Sizes
from sim.virtual_lab.overlapping_pieces import Overlap, overlaps, remedy
from sim.virtual_lab.printed_pieces import (
    Clamps,
    assembly,
    fragments,
    laid_out,
    pieces,
    target_piece,
)
from sim.virtual_lab.solids_of_revolution import (
    PrintedRod,
    Solid,
    bare_rod,
    clamp,
    sphere,
)

SIZES = Sizes(6.0, 2.5, 4.2, 4.0, 0.2, 1.5, 1.0)
SHEET = triangle_sheet(1, 1, variation=0.1, seed=1)
NODES = 40.0 * SHEET.r0
LINKS = parts.links_of_all(SHEET)


def polygon(sides: int) -> float:
    """Area of a polygon inscribed in the unit circle."""
    return 0.5 * sides * np.sin(2.0 * np.pi / sides)


def meshed(solid: Solid, sides: int) -> trimesh.Trimesh:
    """The mesh of one solid, which every printer takes."""
    made = mesh_of([solid], sides)
    assert made.is_watertight
    assert made.is_winding_consistent
    return made


def test_the_volume_of_a_ball_converges_in_second_order():
    sides = np.array([16, 32, 64, 128])
    volumes = [meshed(sphere(6.0, int(n)), int(n)).volume for n in sides]
    errors = 4 / 3 * np.pi * 216 - np.array(volumes)
    order = -np.diff(np.log(errors)) / np.diff(np.log(sides))
    np.testing.assert_allclose(order, 2.0, atol=0.05)


def test_a_rod_of_one_body_is_two_sleeves_and_a_cylinder():
    rod = PrintedRod(40.0, (False, False))
    made = meshed(rod.solid(np.zeros(3), np.array([0.0, 40.0, 0.0]), SIZES), 48)
    inside = np.sqrt(6.0**2 - 4.2**2)
    volume = polygon(48) * (2 * 4.2**2 * (10 - inside) + 2.5**2 * (40 - 20))
    assert made.volume == pytest.approx(volume, rel=1e-12)


def test_a_seat_leaves_the_clearance_free_all_around():
    rod = PrintedRod(40.0, (True, False))
    made = meshed(rod.solid(np.zeros(3), np.eye(3)[0] * 40.0, SIZES), 48)
    away = np.linalg.norm(made.vertices, axis=1)
    assert away.min() == pytest.approx(6.2, abs=1e-12)
    assert np.isclose(away, 6.2).sum() == 1 + 8 * 48
    # The seat's spherical cap, beyond the flat end of a sleeve that begins at its rim.
    rim = np.sqrt(6.2**2 - 4.2**2)
    height = 6.2 - rim
    cap = np.pi * height**2 * (3 * 6.2 - height) / 3
    flat = polygon(48) * (4.2**2 * (10 - rim) + 4.2**2 * (10 - np.sqrt(36 - 4.2**2)))
    flat += polygon(48) * 2.5**2 * 20
    assert flat - made.volume == pytest.approx(cap, rel=0.01)


def test_a_clamp_by_itself_is_a_closed_ring_that_goes_round_its_rod():
    made = meshed(clamp(SIZES), 48)
    from_axis = np.linalg.norm(made.vertices[:, :2], axis=1)
    assert made.volume > 0
    assert from_axis.min() == pytest.approx(2.5 + 0.2)
    plain = meshed(bare_rod(PrintedRod(40.0, (True, True)), SIZES), 48)
    assert plain.volume == pytest.approx(np.pi * 2.5**2 * (40 - 12.4), rel=0.02)


def test_corners_of_a_solid_are_on_its_circles_and_on_nothing_else():
    """x at rotation x + shift, each corner of the outline at each of the angles."""
    turned = Solid(np.array([[0.0, 0], [1, 2], [3, 1], [4, 0]]), np.eye(3)[[1, 2, 0]].T)
    made = meshed(turned.at(np.array([5.0, 0.0, -2.0])), 12)
    angle = 2.0 * np.pi * np.arange(12) / 12
    ring = np.column_stack([np.cos(angle), np.sin(angle)])
    circles = [[*(r * xy), z] for z, r in ((1, 2), (3, 1)) for xy in ring]
    local = np.array([[0, 0, 0], *circles, [0, 0, 4]])
    wanted = local @ turned.rotation.T + [5.0, 0.0, -2.0]
    apart = np.linalg.norm(made.vertices[:, None] - wanted, axis=2)
    assert len(made.vertices) == len(wanted) == 26
    assert apart.min(axis=0).max() < 1e-12
    assert apart.min(axis=1).max() < 1e-12


@pytest.mark.parametrize("clamps", list(Clamps))
def test_every_part_of_a_sheet_is_closed_and_lies_on_the_bed(clamps):
    whole = assembly(NODES, SHEET.bodies, LINKS, SIZES)
    found = [PrintedPiece(p, 24) for p in pieces(whole, SIZES, clamps, 24)]
    names = [printed.piece.name for printed in found]
    assert sum(name.startswith("body") for name in names) == 6
    assert sum(name.startswith("link") for name in names) == 6
    assert ("clamp" in names) is (clamps is Clamps.SEPARATE)
    for printed in found:
        mesh = printed.to_print
        assert mesh.is_watertight
        assert mesh.is_winding_consistent
        assert mesh.volume > 0
        assert np.abs(mesh.vertices.min(axis=0)).max() < 1e-9
        whole_volume = printed.piece.count * mesh.volume
        assert printed.assembled.volume == pytest.approx(whole_volume, rel=1e-9)
    links = [p.piece for p in found if p.piece.name.startswith("link")]
    lengths = {piece.nodes: piece.length_mm for piece in links}
    for (i, j), length in lengths.items():
        assert length == pytest.approx(np.linalg.norm(NODES[i] - NODES[j]), abs=1e-9)


def test_the_scanner_meets_exactly_the_parts_that_are_printed():
    target = (np.array([[-90.0, -90, 9], [90, -90, 9], [90, 90, 9]]),
              np.array([[0, 1], [1, 2]]))  # fmt: skip
    whole = assembly(NODES, SHEET.bodies, LINKS, SIZES)
    printed = pieces(whole, SIZES, Clamps.JOINED, 20)
    open_target = target_piece(target, NODES, SIZES)
    assert open_target is not None
    rods = rod_pairs(NODES, SHEET.bodies, LINKS)
    clamped = clamped_ends(NODES, SHEET.bodies, rods)
    part = printed_part(NODES, rods, target, SIZES, clamped)
    one = sphere(SIZES.ball_radius_mm, 20)
    scanned = [*part.solids, *(one.at(c) for c in part.spheres)]

    def corners(solids: list[Solid]) -> Floats:
        flat = np.round(mesh_of(solids, 20).triangles.reshape(-1, 9), 6)
        return flat[np.lexsort(flat.T)]

    both = [solid for p in [*printed, open_target] for solid in p.assembled]
    np.testing.assert_allclose(corners(both), corners(scanned), atol=1e-5)


def test_a_ball_shared_by_two_bodies_is_fused_to_one_and_clamped_to_the_other():
    nodes = 40.0 * np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0], [-1, 0, 0], [0, -1, 0]])
    bodies = [(0, 1, 2), (0, 3, 4)]
    whole = assembly(nodes, bodies, np.empty((0, 2), dtype=np.int64), SIZES)
    assert whole.owner == {0: "body-0", 1: "body-0", 2: "body-0", 3: "body-1",
                           4: "body-1"}  # fmt: skip
    clamped = {p.nodes: p.rod.clamped for p in whole.rods}
    assert clamped[0, 1] == (False, False)
    assert clamped[0, 3] == (True, False)


def test_parts_at_one_place_are_named():
    whole = assembly(NODES, SHEET.bodies, LINKS, SIZES)
    assert list(overlaps(whole, NODES, SIZES)) == []
    near = NODES.copy()
    near[7] = NODES[0] + [7.0, 0.0, 0.0]
    said = list(overlaps(whole, near, SIZES))
    assert any("spheres of nodes 0 and 7 overlap by 5.00 mm" in o.text for o in said)


def test_links_that_meet_at_a_sharp_angle_overlap():
    room = 2 * np.rad2deg(np.arcsin(4.2 / 6.2))
    for degrees, count in ((room - 1, 1), (room + 1, 0)):
        angle = np.deg2rad(degrees)
        nodes = 60.0 * np.array(
            [[0.0, 0, 0], [1, 0, 0], [np.cos(angle), np.sin(angle), 0]]
        )
        links = np.array([[0, 1], [0, 2]])
        whole = assembly(nodes, [(0, 1), (0, 2)], links, SIZES)
        said = list(overlaps(whole, nodes, SIZES))
        assert len(said) == count
        for one in said:
            assert "link-0-1 and link-0-2 overlap on the sphere" in one.text
            assert one.size == "clamp_radius_mm"
            assert one.most_mm == pytest.approx(6.2 * np.sin(0.5 * angle))


def test_crossing_links_overlap():
    nodes = 50.0 * np.array([[-1.0, 0, 0], [1, 0, 0], [0, -1, 0.05], [0, 1, 0.05]])
    whole = assembly(nodes, [(0, 1), (2, 3)], np.array([[0, 1], [2, 3]]), SIZES)
    (said,) = overlaps(whole, nodes, SIZES)
    text = "link-0-1 and link-2-3 overlap by 2.50 mm"
    assert said == (text, "rod_radius_mm", pytest.approx(1.25))
    assert remedy([said], SIZES) == (
        "lower rod_radius_mm to 1.25 (--parts FILE), or enlarge scale_mm"
    )


def test_the_sharpest_of_all_angles_decides():
    sharp = Overlap("", "clamp_radius_mm", 2.739)
    blunt = Overlap("", "clamp_radius_mm", 3.0)
    assert remedy([blunt], SIZES) == "lower clamp_radius_mm to 3 (--parts FILE)"
    both = [blunt, sharp, blunt]
    assert remedy(both, SIZES) == "lower clamp_radius_mm to 2.73 (--parts FILE)"
    thin = Overlap("", "clamp_radius_mm", 0.218)  # less than the rod
    assert remedy([blunt, thin], SIZES) == (
        "lower clamp_radius_mm to 0.21, rod_radius_mm to 0.21 (--parts FILE)"
    )


@pytest.mark.parametrize("height", [0.0, 12.0])
def test_bars_that_cross_at_a_pivot_need_two_layers(height):
    """A bar ends at its own pivot's sphere; the other one can only pass beside it."""
    nodes = np.array([[-40.0, 0, 0], [40, 0, 0], [0, -40, height], [0, 40, height],
                      [0, 0, 0]])  # fmt: skip
    bodies = [(0, 4, 1), (2, 4, 3)]
    links = np.array([[0, 1], [2, 3]])
    whole = assembly(nodes, bodies, links, SIZES)
    own = [placed.nodes for placed in whole.rods if placed.piece == "body-0"]
    assert own == [(0, 4), (1, 4)]
    found = list(overlaps(whole, nodes, SIZES))
    if height:
        assert found == []
        return
    text = "body-1 (rod 2-3) passes through the sphere of node 4"
    assert found[0] == (text, "rod_radius_mm", -6.0)
    said = remedy(found, SIZES)
    assert "not printable in one layer: move nodes, as in z, until" in said
    assert "8.5 mm from the sphere, 5 mm from a rod" in said


def test_parts_on_the_bed_do_not_touch():
    whole = assembly(NODES, SHEET.bodies, LINKS, SIZES)
    printed = pieces(whole, SIZES, Clamps.SEPARATE, 12)
    boxes = {piece.name: PrintedPiece(piece, 12).box for piece in printed}
    places = laid_out(list(boxes.values()), (120.0, 90.0), 3.0)
    assert len(places) == sum(piece.count for piece in printed)
    assert max(place.bed for place in places) > 0
    for i, a in enumerate(places):
        own = boxes[a.name]
        assert a.x + own.width <= 120.0
        assert a.y + own.depth <= 90.0
        for b in places[:i]:
            other = boxes[b.name]
            beside = max(
                b.x - a.x - own.width, a.x - b.x - other.width,
                b.y - a.y - own.depth, a.y - b.y - other.depth,
            )  # fmt: skip
            assert a.bed != b.bed or beside >= 3.0 - 1e-9


def test_spaced_lengths_are_the_closest_ones(rng):
    lengths = np.array([40.0, 40.3, 40.1, 44.0, 47.0, 47.4])
    made = spaced_lengths(lengths, 1.0, np.zeros(6, dtype=np.bool_))
    gaps = np.diff(np.sort(made))
    assert gaps.min() >= 1.0 - 1e-9
    order = np.argsort(lengths)
    found = minimize(
        lambda x: np.square(x - lengths).sum(), lengths + rng.normal(0, 1, 6),
        constraints={"type": "ineq", "fun": lambda x: np.diff(x[order]) - 1.0},
        tol=1e-12,
    )  # fmt: skip
    np.testing.assert_allclose(made, found.x, atol=1e-5)


def test_a_held_length_stays_and_the_others_make_room():
    held = np.array([False, True, False])
    made = spaced_lengths(np.full(3, 40.0), 1.0, held)
    np.testing.assert_allclose(made, [39.0, 40.0, 41.0], atol=1e-6)


def are_distinct(sides: Floats, spacing: float) -> bool:
    """Whether sides differ within each triangle, and sorted sides between any two."""
    ordered, enough = np.sort(sides, axis=1), spacing * (1.0 - 1e-9)
    within = np.diff(ordered, axis=1).min() >= enough
    return bool(within and pdist(ordered, "chebyshev").min(initial=np.inf) >= enough)


def test_triangles_get_sides_that_tell_them_apart():
    same = np.full((6, 3), 40.0)
    made = spaced_triangles(same, 1.0)
    assert not are_distinct(same, 1.0)
    assert are_distinct(made, 1.0)
    assert np.abs(made - 40.0).max() <= 2.5
    apart = np.array([[38.0, 40, 42], [38, 40, 44]])
    np.testing.assert_array_equal(spaced_triangles(apart, 1.0), apart)


def test_a_triangle_unlike_all_others_gives_way_within_itself():
    """Sides 67.3 and 68.0 part by 1.0 about their middle; no other side changes."""
    sides = np.array([[67.268, 85.147, 68.007], [68.007, 80.156, 65.955]])
    made = spaced_triangles(sides, 1.0)
    half = 0.5 * (1.0 - 0.739)
    change = [[-half, 0.0, half], [0.0, 0.0, 0.0]]
    np.testing.assert_allclose(made - sides, change, atol=1e-9)


@pytest.mark.parametrize("place", [[40.0, 50.0, 60.0], [67.0, 80.0, 105.0]])
def test_two_equal_triangles_part_by_half_a_spacing_each(place):
    made = spaced_triangles(np.array([place, place]), 1.0)
    assert are_distinct(made, 1.0)
    assert np.abs(made - place).max() == pytest.approx(0.5)
    assert np.count_nonzero(np.abs(made - place) > 1e-9) == 2


@pytest.mark.parametrize("spread", [0.3, 1.0, 8.0])
def test_a_triangle_moves_no_farther_than_its_crowd_needs(spread, rng):
    """Equal ones need 7 spacings, the most of all sets of 300."""
    sides = 40.0 + rng.normal(0.0, spread, (300, 3))
    made = spaced_triangles(sides, 1.0)
    assert are_distinct(made, 1.0)
    assert np.abs(made - sides).max() <= 7.0


@pytest.mark.parametrize("spacing", [1e-9, 1e-3])
def test_a_spacing_near_rounding_ends(spacing):
    sides = np.tile([67.0, 80.0, 105.0], (3, 1))
    assert np.abs(spaced_triangles(sides, spacing) - sides).max() <= 2.0 * spacing


STRIP = """
unit: mm
nodes: {base_left: [0, 0, 0], base_right: [70, 0, 0], a: [30, 55, 0], b: [-10, 110, 0],
  c: [75, 105, 0], d: [35, 160, 10], e: [0, 215, 0], tip: [80, 210, 0]}
bodies: [[base_left, base_right, a], [a, b, c], [d, e, tip]]
links: [[b, d], [c, d], [base_right, c]]
fixed: [base_left, base_right, a]
"""


@pytest.mark.parametrize(("spacing", "changed", "most"), [(0.5, 0, 0.0), (1, 4, 0.134)])
def test_a_strip_of_unlike_triangles_changes_little(spacing, changed, most, tmp_path):
    """Two links of 68.007 and 68.739 mm part; three equal lengths differ by shape."""
    (tmp_path / "strip.yaml").write_text(STRIP)
    made = spaced(structure_file(str(tmp_path / "strip.yaml")), 1.0, spacing)
    assert made.changed == changed
    assert made.largest_mm == pytest.approx(most, abs=5e-4)
    assert "link 3-5: dist(3, 5)" in " ".join(made.shared)
    z = closed(system_of(made.structure), made.structure, 1e-10)
    nodes = z[: len(made.structure.r0)]
    C = np.tile(1e-4 * np.eye(3), (len(nodes), 1, 1))
    found = label_spheres(Labelled(nodes, made.structure.bodies), nodes[::-1], C)
    assert found.group == 1
    assert found.sphere.tolist() == list(range(len(nodes)))[::-1]


def test_a_symmetric_sheet_becomes_one_whose_labels_are_unique():
    sheet = triangle_sheet(1, 1, variation=0.0)
    made = spaced(sheet, 40.0, 1.0)
    assert made.changed > 0
    groups = []
    for structure in (sheet, made.structure):
        z = closed(system_of(structure), structure, 1e-10)
        nodes = 40.0 * z[: len(structure.r0)]
        mechanism = Labelled(nodes, structure.bodies)
        centres = nodes[::-1] @ np.diag([-1.0, -1.0, 1.0])
        C = np.tile(1e-4 * np.eye(3), (len(nodes), 1, 1))
        found = label_spheres(mechanism, centres, C)
        groups.append(found.group)
        if structure is made.structure:
            assert found.sphere.tolist() == list(range(len(nodes)))[::-1]
    assert groups[0] > 1
    assert groups[1] == 1


def test_lengths_that_closed_loops_fix_stay_as_drawn():
    """A square with both diagonals in its plane has one self-stress, in six links."""
    r = np.array([[0.0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0], [2, 1, 0], [3, 1, 0]])
    ends = np.array([[0, 1], [1, 2], [2, 3], [3, 0], [0, 2], [1, 3], [2, 4], [4, 5]])
    links = tuple(map(tuple, ends.tolist()))
    flat = Structure(r, ConstraintTable.links(r, ends), np.arange(6), links)
    assert dependent(flat).tolist() == [True] * 6 + [False] * 2
    made = spaced(flat, 40.0, 1.0)
    lengths = 40.0 * np.sqrt(made.structure.constraints.constant)
    np.testing.assert_allclose(lengths[:6], 40 * np.sqrt([1, 1, 1, 1, 2, 2]))
    assert abs(lengths[6] - lengths[7]) >= 1.0 - 1e-9
    assert min(abs(lengths[6:] - 40.0)) >= 1.0 - 1e-4
    assert len(made.held) == 6
    closed(system_of(made.structure), made.structure, 1e-10)
    assert not dependent(triangle_sheet(1, 1)).any()


def test_bars_apart_are_fragments():
    cross = [(np.array([-9.0, 0, 0]), np.array([9.0, 0, 0])),
             (np.array([0.0, -9, 2.9]), np.array([0.0, 9, 2.9]))]  # fmt: skip
    away = (np.array([0.0, -9, 6.0]), np.array([0.0, 9, 6.0]))
    assert fragments(cross, 1.5) == 1
    assert fragments(cross, 1.4) == 2
    assert fragments([*cross, away], 1.5) == 2
