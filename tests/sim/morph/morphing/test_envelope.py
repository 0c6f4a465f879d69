"""Samples of reachable shapes, against ranges in closed form."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose

from sim.arrays import Floats
from sim.convergence import NotConvergedError
from sim.morph.equations.system import linearise, state, system_of
from sim.morph.library.pentapod import pentapod
from sim.morph.library.sheets import triangle_sheet
from sim.morph.mobility.freedom import singular_values
from sim.morph.morphing.envelope import (
    EnvelopeOptions,
    EnvelopeSearch,
    EnvelopeStop,
    Reached,
)
from sim.morph.structure import joints
from sim.morph.structure.constraints import dist, fix
from sim.morph.structure.measures import characteristic_length
from sim.morph.structure.structure import Structure
from tests.sim.morph.mechanisms import of_loops, structure


def reached(made: Structure, **options: float) -> list[Reached]:
    return list(EnvelopeSearch(made, EnvelopeOptions(**options)).steps())  # type: ignore[arg-type]


def two_links(first: float, second: float) -> Structure:
    r = np.array([[0.0, 0, 0], [first, 0, 0], [first, second, 0]])
    return structure(r, [dist(r, 0, 1), dist(r, 1, 2)])


def test_an_arm_of_two_links_reaches_what_triangles_allow() -> None:
    """Its ends come as near as the difference, as far as the sum of the lengths."""
    a, b = 1.0, 0.7
    made = two_links(a, b)
    L = characteristic_length(made.r0)
    ends = np.array([a - b, a + b])
    S = np.sqrt((a**2 + b**2 + ends**2) / 9.0) / L
    size = np.maximum(ends, a) / L
    found = np.array([(s.S, s.size) for s in reached(made, samples=400)])
    for k, limits in enumerate((S, size)):
        assert limits[0] - 1e-10 <= found[:, k].min() < limits[0] * 1.005
        assert limits[1] * 0.998 < found[:, k].max() <= limits[1] + 1e-10


def test_a_planar_four_bar_stays_within_its_diagonals() -> None:
    """No bar of a triple-rocker turns round: every assembly is reached."""
    a, b, c, d = 2.4, 1.7, 1.2, 1.6
    p = np.linspace(max(abs(a - b), abs(c - d)), min(a + b, c + d), 20001)

    def apart(e: float, f: float) -> tuple[Floats, Floats]:
        x = (p**2 + e**2 - f**2) / (2.0 * p)
        return x, np.sqrt(np.maximum(e**2 - x**2, 0.0))

    (x1, y1), (x2, y2) = apart(a, b), apart(d, c)
    both = np.array([(x1 - x2) ** 2 + (y1 + sign * y2) ** 2 for sign in (1, -1)])
    squares = (a**2 + b**2 + c**2 + d**2 + p**2 + both) / 16.0
    start = 12000
    r = np.array(
        [
            [0.0, 0, 0],
            [x1[start], y1[start], 0],
            [p[start], 0, 0],
            [x2[start], -y2[start], 0],
        ]
    )
    ring = [(0, 1), (1, 2), (2, 3), (3, 0)]
    rows = [dist(r, i, j) for i, j in ring] + joints.plane_point(r, (0, 1, 2), 3)
    made = structure(r, rows)
    L = characteristic_length(r)
    S = np.array([s.S for s in reached(made, samples=600)])
    least, most = np.sqrt(squares.min()) / L, np.sqrt(squares.max()) / L
    assert least - 1e-9 <= S.min() < 1.01 * least
    assert 0.99 * most < S.max() <= most + 1e-9


def test_a_pentapod_opens_until_its_links_lie_flat() -> None:
    """Outer radius R and height h of the slider: R^2 + h^2 is the links' length^2."""
    made = pentapod()
    L = characteristic_length(made.r0)
    R = np.linspace(0.0, np.hypot(1.2, 1.0), 4001)
    S = []
    for radius in R:
        r = made.r0.copy()
        r[8:] *= radius / 1.2
        r[7, 2] = np.sqrt(R[-1] ** 2 - radius**2)
        S.append(np.sqrt(np.square(r - r.mean(axis=0)).sum() / 13.0) / L)
    steps = reached(made, samples=250)
    assert max(s.S for s in steps) <= max(S) + 1e-9
    assert max(s.S for s in steps) > 0.999 * max(S)


@pytest.mark.parametrize("made", [triangle_sheet(1, 1), pentapod()])
def test_every_sample_satisfies_the_constraints(made: Structure) -> None:
    made = replace(made, bodies=())
    L = characteristic_length(made.r0)
    table = made.constraints
    links = table.nodes[table.kind == 0, :2]
    lengths = np.sqrt(table.constant[table.kind == 0])
    for step in reached(made, samples=120):
        assert step.residual <= 1e-10
        ends = step.r[links]
        apart = np.linalg.norm(ends[:, 1] - ends[:, 0], axis=1)
        assert np.abs(apart - lengths).max() <= 1e-10 * L


def test_more_samples_are_the_same_ones_and_others() -> None:
    few, many = (reached(triangle_sheet(1, 1), samples=n) for n in (25, 60))
    assert [s.stop for s in few[-2:]] == [None, EnvelopeStop.SAMPLES]
    for a, b in zip(few, many, strict=False):
        assert np.array_equal(a.r, b.r)
    assert many[-1].cells > few[-1].cells
    other = reached(triangle_sheet(1, 1), samples=25, seed=1)
    assert not np.array_equal(other[-1].r, few[-1].r)


@pytest.mark.parametrize("made_before", [1, 2, 9, 10, 23])
def test_a_search_goes_on_from_a_checkpoint_to_the_same_bits(made_before: int) -> None:
    made, options = triangle_sheet(1, 1), EnvelopeOptions(samples=40)
    whole = list(EnvelopeSearch(made, options).steps())
    first, second = EnvelopeSearch(made, options), EnvelopeSearch(made, options)
    steps = first.steps()
    before = [next(steps) for _ in range(made_before)]
    second.resume(before[-1].checkpoint())
    for a, b in zip([*before, *second.steps()], whole, strict=True):
        assert np.array_equal(a.r, b.r)
        assert (a.sample, a.cells, a.new, a.stop) == (b.sample, b.cells, b.new, b.stop)
        assert_allclose([a.least, a.most], [b.least, b.most], rtol=0.0)


def test_cells_grow_and_their_growth_slows_down() -> None:
    steps = reached(two_links(1.0, 0.7), samples=500)
    cells = np.array([s.cells for s in steps])
    assert (np.diff(cells) >= 0).all()
    assert [s.new for s in steps[100::50]] == [
        b - a for a, b in zip(cells[:-100:50], cells[100::50], strict=True)
    ]
    assert steps[-1].new < 0.5 * steps[100].new


def test_a_rigid_structure_has_one_shape() -> None:
    r = np.array([[0.0, 0, 0], [1, 0, 0], [0.3, 0.8, 0], [0.4, 0.3, 0.7]])
    rows = [dist(r, i, j) for i in range(4) for j in range(i)]
    for extra in ([], fix(r, 0)):
        (only,) = reached(structure(r, rows + extra))
        assert only.stop is EnvelopeStop.RIGID
        assert pytest.approx(1.0, abs=1e-12) == only.S


def test_a_held_mechanism_moves_though_the_whole_does_not() -> None:
    made = of_loops()["4-bar planar grounded (1 redundant)"]
    steps = reached(made, samples=300)
    assert len(steps) == 300
    S = [s.S for s in steps]
    assert max(S) - min(S) > 0.08
    assert min(s.sigma for s in steps) > 1e-6  # of the rows that count


def test_singular_value_vanishes_where_a_row_says_nothing_new() -> None:
    """Two bars in line between fixed ends, the middle node on a rail: a dead centre."""
    for height, least in ((0.5, 0.1), (1e-4, 0.0)):
        r = np.array([[0.0, 0, 0], [1, height, 0], [2, 0, 0]])
        rows = [dist(r, 0, 1), dist(r, 1, 2), *fix(r, 0), *fix(r, 2)]
        made = structure(r, rows)
        sizes = singular_values(linearise(system_of(made), state(made)))
        assert least <= sizes[-1] < least + 1.0
        assert (sizes[-1] < 1e-3) == (height < 1e-3)


def test_obstacles_are_not_passed() -> None:
    made = triangle_sheet(1, 1)
    balls = replace(made, solids=made.solids.with_balls(len(made.r0), 0.3))
    links = {frozenset(p) for p in made.constraints.nodes[:, :2].tolist()}
    free, solid = reached(made, samples=300), reached(balls, samples=300)
    i, j = np.triu_indices(len(made.r0), 1)
    pairs = np.column_stack([i, j]).tolist()
    apart = np.array([frozenset(pair) not in links for pair in pairs])
    nearest = [
        min(np.linalg.norm(s.r[i] - s.r[j], axis=1)[apart].min() for s in steps)
        for steps in (free, solid)
    ]
    assert nearest[0] < 0.5
    assert nearest[1] > 0.6


def test_what_moves_to_first_order_alone_is_said() -> None:
    """Nodes in line between held ends: the middle one moves nowhere."""
    r = np.array([[0.0, 0, 0], [1, 0, 0], [2, 0, 0]])
    rows = [dist(r, 0, 1), dist(r, 1, 2), *fix(r, 0), *fix(r, 2)]
    steps = EnvelopeSearch(structure(r, rows), EnvelopeOptions(samples=50)).steps()
    with pytest.raises(NotConvergedError, match="to first order may lead nowhere"):
        list(steps)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"samples": 0}, "samples must be"),
        ({"stride": 0.0}, "stride must be positive"),
        ({"walk": 0}, "walk must be"),
        ({"cell": -1.0}, "cell must be positive"),
        ({"seed": -1}, "seed must be a whole number from 0"),
    ],
)
def test_impossible_options_are_refused(options: dict[str, float], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        EnvelopeOptions(**options)  # type: ignore[arg-type]


def test_large_structures_and_points_are_refused() -> None:
    with pytest.raises(ValueError, match="singular values are taken of 1200 at most"):
        EnvelopeSearch(triangle_sheet(12, 12), EnvelopeOptions())
    with pytest.raises(ValueError, match="all nodes are at one place"):
        EnvelopeSearch(structure(np.zeros((1, 3)), []), EnvelopeOptions())
