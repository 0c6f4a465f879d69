"""Labels carried through frames; all tracks here are synthetic, so labels are known."""

from typing import NamedTuple

import numpy as np
import pytest

from analysis.alignment import fit_planar_motion
from analysis.labels.label_tracks import AmbiguousLabelError, carry_labels, placements
from sim.core.arrays import Floats, Ints
from sim.mechanism.named_structures import triangle_lattice
from tests.analysis.labels.track_checks import check_tracks, orders_of, triangles

NOISE = 0.02  # mm, of finding a node
LATTICE = triangle_lattice(9, 5, 3.0)
LINKS, MADE = LATTICE.links, LATTICE.r[:, :2]
FRAMES = 15


class Series(NamedTuple):
    """Synthetic frames, and the node of each of their points."""

    frames: list[Floats]
    node: list[Ints]

    @property
    def first(self) -> Ints:
        return np.argsort(self.node[0])


def shapes(rng: np.random.Generator, uneven: float, most: float = 0.4) -> list[Floats]:
    """A lattice that shrinks between rows that stay wide, and bends."""
    made = MADE + rng.normal(scale=uneven, size=MADE.shape)
    half = made[:, 1].max() / 2
    out = []
    for part in np.linspace(0.0, 1.0, FRAMES):
        waist = 1.0 - part * most * (1.0 - ((made[:, 1] - half) / half) ** 2)
        x = (made[:, 0] - 6.0) * waist + 0.02 * part * (made[:, 1] - half) ** 2
        out.append(np.stack([x, made[:, 1] * (1.0 - 0.6 * part * most)], axis=1))
    return out


def found_anew(
    rng: np.random.Generator, bodies: list[Floats], *, turned: bool = False
) -> Series:
    """Each shape with noise, its points in another order, shifted, perhaps turned."""
    frames, node = [], []
    for x in bodies:
        order = rng.permutation(len(x))
        angle = rng.uniform(0.0, 2.0 * np.pi) if turned else rng.normal(scale=0.05)
        hand = rng.choice([-1.0, 1.0]) if turned else 1.0
        c, s = np.cos(angle), np.sin(angle)
        seen = (x + rng.normal(scale=NOISE, size=x.shape)) * [hand, 1.0]
        frames.append((seen @ np.array([[c, s], [-s, c]]) + rng.normal(size=2))[order])
        node.append(order)
    return Series(frames, node)


def right(series: Series, x: Floats) -> bool:
    """Whether node j has its own point in every frame."""
    return all(
        (node[points] == np.arange(len(points))).all()
        for node, points in zip(series.node, orders_of(series.frames, x), strict=True)
    )


@pytest.mark.parametrize("turned", [False, True])
def test_nodes_keep_their_labels_in_frames_of_any_order_and_placement(rng, turned):
    series = found_anew(rng, shapes(rng, 0.1), turned=turned)
    along = np.arange(FRAMES, dtype=float)
    tracks = carry_labels(series.frames, LINKS, series.first, along)
    assert right(series, tracks)
    checks = check_tracks(tracks, LINKS, along)
    assert (checks.overturned, checks.backwards) == (0, 0)
    assert checks.link_step < 0.12


def test_nodes_that_move_each_by_itself_keep_their_labels(rng):
    speed = rng.normal(scale=0.15, size=MADE.shape)  # of each its own, and it stays
    along = np.arange(9.0)
    series = found_anew(rng, [MADE + k * speed for k in along])
    assert right(series, carry_labels(series.frames, LINKS, series.first, along))


def test_a_still_camera_tells_a_body_without_a_mark_of_its_own(rng):
    series = found_anew(rng, [MADE * (1 - 0.01 * k) for k in range(FRAMES)])
    tracks = carry_labels(series.frames, LINKS, series.first, np.arange(15.0))
    assert right(series, tracks)


def test_a_turned_body_without_a_mark_of_its_own_is_not_told(rng):
    bodies = [MADE * (1 - 0.01 * k) for k in range(FRAMES)]
    series = found_anew(rng, bodies, turned=True)
    with pytest.raises(
        AmbiguousLabelError, match="can be matched to the one before in 4 ways"
    ):
        carry_labels(series.frames, LINKS, series.first, np.arange(15.0))


def test_frames_too_far_apart_are_refused(rng):
    bodies = shapes(rng, 0.1)
    scattered = bodies[1] + rng.normal(scale=1.0, size=MADE.shape)
    series = found_anew(rng, [bodies[0], scattered])
    with pytest.raises(AmbiguousLabelError, match="frame 1"):
        carry_labels(series.frames, LINKS, series.first, np.arange(2.0))


def test_a_false_point_in_place_of_a_node_is_refused(rng):
    series = found_anew(rng, shapes(rng, 0.1))
    series.frames[7][3] += [4.0, -2.5]
    with pytest.raises(AmbiguousLabelError, match="frame 7: a node is"):
        carry_labels(series.frames, LINKS, series.first, np.arange(15.0))


def test_missing_points_and_numbers_are_refused(rng):
    series = found_anew(rng, shapes(rng, 0.1))
    gone = [*series.frames[:4], series.frames[4][:-1]]
    with pytest.raises(AmbiguousLabelError, match="frame 4 has 40 points for 41 nodes"):
        carry_labels(gone, LINKS, series.first, np.arange(15.0))
    series.frames[2][0, 1] = np.nan
    with pytest.raises(
        AmbiguousLabelError, match="frame 2 has coordinates that are not finite"
    ):
        carry_labels(series.frames, LINKS, series.first, np.arange(15.0))


def test_a_swap_of_two_nodes_shows_in_links_and_triangles(rng):
    series = found_anew(rng, shapes(rng, 0.1))
    along = np.arange(15.0)
    tracks = carry_labels(series.frames, LINKS, series.first, along)
    tracks[9, [10, 11]] = tracks[9, [11, 10]]
    found = check_tracks(tracks, LINKS, along)
    assert found.overturned > 0
    assert found.link_step > 0.3


def test_the_shape_is_found_in_its_four_placements_and_no_other(rng):
    order = rng.permutation(len(MADE))
    seen = (MADE @ [[0.0, 1.0], [1.0, 0.0]] + [5.0, -2.0])[order]
    fits = placements(MADE, seen, LINKS)
    assert len(fits) == 4
    assert sum(fit.motion.mirrored for fit in fits) == 2
    for fit in fits:
        moved = fit_planar_motion(MADE, seen[fit.order], fit.motion.mirrored)(MADE)
        np.testing.assert_allclose(moved, seen[fit.order], atol=1e-9)


def test_another_unit_is_refused():
    with pytest.raises(AmbiguousLabelError, match="same unit"):
        placements(MADE, MADE / 10.0, LINKS)


def test_a_lattice_has_its_triangles():
    # Euler: a flat net of one outline has links - nodes + 1 faces, here all triangles
    assert len(triangles(LINKS, len(MADE))) == len(LINKS) - len(MADE) + 1
