"""Bodies and linkages on rigid ground stand, slide, tip and land by Coulomb's law."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from sim.arrays import Floats
from sim.morph.dynamics.drivers import Driver, DriverKind, MotionLaw
from sim.morph.dynamics.ground import Ground, PlaneAtRest
from sim.morph.dynamics.masses import RigidMass
from sim.morph.dynamics.mechanism import MovingMechanism
from sim.morph.dynamics.motion_state import MotionOptions, MotionStep
from sim.morph.library.draft import Draft
from sim.morph.structure.solids import Solids
from tests.sim.morph.dynamics.moving import largest, moved, moving

G = 9.81
UP = np.array([0.0, 0.0, 1.0])
CORNERS = np.array([[x, y, z] for z in (0, 1) for y in (0, 1) for x in (0, 1)], float)


def floor(mu: float, *normals: Sequence[float]) -> Ground:
    """Planes through the origin, the floor alone if no other is named."""
    planes = [PlaneAtRest(np.zeros(3), np.array(n, float)) for n in normals or (UP,)]
    return Ground(tuple(planes), mu)


def leaning(degrees: float) -> Floats:
    """Gravity as on a slope down along x."""
    a = np.radians(degrees)
    return G * np.array([np.sin(a), 0.0, -np.cos(a)])


def box(sides: Sequence[float], mu: float, gravity: Floats) -> MovingMechanism:
    """A uniform box of 2 kg on the floor, its eight corners tied by links."""
    r = CORNERS * sides
    draft = Draft(r.tolist())
    four = (0, 1, 2, 4)
    for a, b in combinations(four, 2):
        draft.link(a, b)
    for k in (3, 5, 6, 7):
        volume = {
            t: abs(np.linalg.det(r[list(t)] - r[k])) for t in combinations(four, 3)
        }
        for j in max(volume, key=lambda t: volume[t]):
            draft.link(j, k)
    x, y, z = np.square(sides)
    inertia = 2.0 / 12.0 * np.diag([y + z, x + z, x + y])
    mass = RigidMass(tuple(range(8)), 2.0, r.mean(axis=0), inertia)
    return moving(draft.structure(), [mass], gravity, ground=floor(mu))


def pushed(x: float, y: float = 0.0) -> dict[int, Floats]:
    """Velocities of a box along the floor."""
    return {node: np.array([x, y, 0.0]) for node in (0, 1, 2)}


def keep_their_laws(steps: Sequence[MotionStep]) -> None:
    """Energies with what the ground took, rows, the ground and Coulomb's law."""
    energy = max(step.kinetic for step in steps) or 1.0
    assert largest(steps, "balance") < 1e-12 * max(energy, 1.0)
    last = steps[-1].state
    assert last.contact < MotionOptions(1.0).complementarity
    assert last.below < 1e-12
    assert last.worst < 1e-10


@pytest.mark.parametrize(("mu", "h"), [(0.0, 0.02), (0.3, 0.02), (0.36, 0.01)])
def test_a_box_slides_down_a_slope_below_its_cone(mu: float, h: float) -> None:
    """By g (sin - mu cos), tan 20 degrees = 0.36397."""
    steps = moved(box((0.2, 0.3, 0.1), mu, leaning(20.0)), h, 0.4)
    a = G * (np.sin(np.radians(20.0)) - mu * np.cos(np.radians(20.0)))
    assert steps[-1].v == pytest.approx(np.tile([0.4 * a, 0, 0], (8, 1)), abs=1e-12)
    way = steps[-1].r - steps[0].r
    assert way == pytest.approx(np.tile([0.08 * a, 0, 0], (8, 1)), abs=1e-12)
    rubbed = mu * 2.0 * G * np.cos(np.radians(20.0)) * 0.08 * a
    assert steps[-1].rubbed == pytest.approx(rubbed, abs=1e-12)
    keep_their_laws(steps)


@pytest.mark.parametrize("mu", [0.364, 0.4, 10.0])
def test_a_box_sticks_to_a_slope_within_its_cone(mu: float) -> None:
    """It moves by what the law may leave, in 0.4 s."""
    steps = moved(box((0.2, 0.3, 0.1), mu, leaning(20.0)), 0.02, 0.4)
    creep = 0.4 * MotionOptions(1.0).complementarity
    assert np.abs(steps[-1].r - steps[0].r).max() < creep
    keep_their_laws(steps)


def test_a_pushed_box_stops_where_friction_has_taken_its_energy() -> None:
    """After v^2 / (2 mu g); the last step of sliding errs by up to mu g h^2 / 8."""
    mu, v = 0.3, np.hypot(0.8, 0.6)
    for h in (0.02, 0.01, 0.005):
        steps = moved(box((0.2, 0.2, 0.1), mu, -G * UP), h, 0.4, pushed(0.8, 0.6))
        way = (steps[-1].r - steps[0].r).mean(axis=0)
        stop = v**2 / (2.0 * mu * G)
        assert abs(np.linalg.norm(way) - stop) <= mu * G * h**2 / 8.0
        assert way[:2] / np.linalg.norm(way) == pytest.approx([0.8, 0.6], abs=1e-9)
        assert steps[-1].kinetic < 1e-25
        assert steps[-1].rubbed == pytest.approx(steps[0].kinetic, rel=1e-12)
        keep_their_laws(steps)


@pytest.mark.parametrize(("height", "degrees"), [(0.5, 21.0), (0.5, 22.5)])
def test_a_tall_box_tips_where_its_centre_is_past_its_edge(
    height: float, degrees: float
) -> None:
    """At the slope of its breadth over its height, 21.8 degrees, where friction holds.

    It begins to turn by the moment of its weight over m (b^2 + h^2) / 3.
    """
    h, time = 0.0025, 0.05
    a, b = np.radians(degrees), 0.2
    steps = moved(box((b, b, height), 1.0, leaning(degrees)), h, time)
    spin = 1.5 * G * (height * np.sin(a) - b * np.cos(a)) / (b**2 + height**2)
    raised = max(0.0, 0.5 * spin * time**2) * b
    assert steps[-1].r[0, 2] == pytest.approx(raised, rel=0.01, abs=1e-12)
    assert np.abs(steps[-1].r[1] - steps[0].r[1]).max() < 1e-6 * b  # its edge sticks
    keep_their_laws(steps)


@pytest.mark.parametrize(("height", "mu"), [(0.2, 1.2), (0.5, 0.6), (0.5, 1.2)])
def test_a_fast_box_that_friction_tips_begins_to_turn_as_it_slides(
    height: float, mu: float
) -> None:
    """About its leading edge, on which the turning itself leans: from mu = b / h on.

    I alpha = N (mu h - b) / 2 and N = m (g + alpha b / 2), I = m (b^2 + h^2) / 12.
    """
    h, time, b = 0.0005, 0.003, 0.2
    tips, size = mu * height - b, b**2 + height**2
    alpha = 6.0 * G * tips / (size - 3.0 * b * tips)
    steps = moved(box((b, b, height), mu, -G * UP), h, time, pushed(3.0))
    raised = 0.5 * alpha * time**2 * b
    assert steps[-1].r[0, 2] == pytest.approx(raised, rel=0.01)
    assert steps[-1].r[1, 2] == pytest.approx(0.0, abs=1e-12)
    keep_their_laws(steps)


def leaning_rod(mu: float) -> MovingMechanism:
    """A uniform rod of 1 kg and 1 m in a plane, 60 degrees over the floor."""
    a = np.radians(60.0)
    draft = Draft([[0.0, 0.0, 0.0], [np.cos(a), 0.0, np.sin(a)]])
    draft.held(0, "y").held(1, "y").link(0, 1)
    return moving(
        draft.structure(), [RigidMass((0, 1), 1.0)], -G * UP, ground=floor(mu)
    )


@pytest.mark.parametrize("mu", [1.4, 2.0, 5.0])
def test_painleves_rod_jams_where_no_force_lets_it_slide(mu: float) -> None:
    """Slid against its lean from mu = 1.37 on, its tip stops at once, as in an impact.

    What is left is the energy of the turn about the tip that keeps the moment of its
    momentum there, m v l sin / 2, with m l^2 / 3; with 1.3 it still slides.
    """
    turned = 0.5 * 3.0 * (0.5 * np.sin(np.radians(60.0))) ** 2
    left = []
    for h in (2e-4, 1e-4):
        steps = moved(leaning_rod(mu), h, h, {j: -np.eye(3)[0] for j in (0, 1)})
        assert np.abs(steps[-1].v[0]).max() < 1e-9
        left.append(steps[-1].kinetic - turned)
        keep_their_laws(steps)
    assert left[1] == pytest.approx(0.5 * left[0], rel=0.01)
    assert left[0] < 1e-3
    steps = moved(leaning_rod(1.3), 1e-4, 1e-4, {j: -np.eye(3)[0] for j in (0, 1)})
    assert steps[-1].v[0, 0] < -0.9


def test_a_box_that_slides_in_a_curve_errs_at_first_order() -> None:
    """Friction of a step is along the velocity at its end."""
    a, mu, time = np.radians(20.0), 0.3, 0.4

    def rates(_: float, y: Floats) -> Floats:
        along = y[2:] / np.hypot(*y[2:])
        return np.append(y[2:], [G * np.sin(a), 0.0] - mu * G * np.cos(a) * along)

    exact = solve_ivp(rates, (0, time), [0, 0, 0, 0.5], rtol=1e-10, atol=1e-12).y[:, -1]
    off = []
    for h in (0.02, 0.01):
        made = box((0.2, 0.2, 0.1), mu, leaning(20.0))
        steps = moved(made, h, time, pushed(0.0, 0.5))
        off.append(np.hypot(*(steps[-1].v[0, :2] - exact[2:])))
        keep_their_laws(steps)
    assert off[1] < 0.01
    assert off[0] / off[1] == pytest.approx(2.0, abs=0.1)


def test_a_tall_box_slides_where_friction_cannot_tip_it() -> None:
    steps = moved(box((0.2, 0.2, 0.5), 0.3, leaning(25.0)), 0.01, 0.2)
    a = G * (np.sin(np.radians(25.0)) - 0.3 * np.cos(np.radians(25.0)))
    assert steps[-1].v == pytest.approx(np.tile([0.2 * a, 0, 0], (8, 1)), abs=1e-11)


def test_a_box_lands_without_a_bounce_and_friction_takes_no_more_than_there_is() -> (
    None
):
    """Thrown askew it meets the ground with a corner, an edge, a face, and stops."""
    mechanism = box((0.2, 0.3, 0.1), 0.4, -G * UP)
    raised = PlaneAtRest(np.array([0.0, 0.0, -0.1]), np.array([0.1, 0.05, 1.0]))
    mechanism = moving(
        mechanism.structure, mechanism.masses, -G * UP, ground=Ground((raised,), 0.4)
    )
    given = {0: np.array([0.5, 0.2, 0.0]), 1: np.array([0.5, 0.2, 0.3])}
    steps = moved(mechanism, 0.005, 1.0, given)
    taken = np.diff([step.rubbed + step.struck for step in steps])
    assert taken.min() > -1e-5 * taken.sum()
    assert steps[-1].kinetic < 1e-20
    there = mechanism.contacts.gaps(steps[-1].state.z)
    assert np.sort(there)[:4] == pytest.approx(0.0, abs=1e-10)
    assert steps[-1].struck > steps[-1].rubbed > 0.0
    keep_their_laws(steps)


def test_a_box_in_a_corner_of_two_planes_stands_on_both() -> None:
    gravity = G * np.array([0.6, 0.0, -0.8])
    made = box((0.2, 0.2, 0.2), 0.0, gravity)
    shelf = floor(0.1, UP, (-1, 0, 0))
    shelf = Ground(
        (shelf.planes[0], PlaneAtRest(np.array([0.25, 0.0, 0.0]), -np.eye(3)[0])), 0.1
    )
    steps = moved(
        moving(made.structure, made.masses, gravity, ground=shelf), 0.005, 0.6
    )
    assert steps[-1].kinetic < 1e-20
    assert steps[-1].r[:, 0].max() == pytest.approx(0.25, abs=1e-10)
    keep_their_laws(steps)


def chain(links: int, mu: float) -> MovingMechanism:
    """Rods in a bent row over the floor, in the plane y = 0."""
    turn = 0.9 * np.arange(links)
    ways = 0.1 * np.column_stack([np.cos(turn / 3), np.zeros(links), np.sin(turn)])
    r = np.vstack([np.zeros(3), np.cumsum(ways, axis=0)])
    r[:, 2] += 0.3 - r[:, 2].min()
    draft = Draft(r.tolist())
    for i in range(links):
        draft.link(i, i + 1)
    for i in range(links + 1):
        draft.held(i, "y")
    rods = [RigidMass((i, i + 1), 0.1) for i in range(links)]
    return moving(draft.structure(), rods, -G * UP, ground=floor(mu))


def test_a_chain_that_falls_comes_to_rest_on_the_ground() -> None:
    steps = moved(chain(4, 0.3), 0.01, 1.5)
    assert np.abs(steps[-1].r[:, 2]).max() < 1e-11
    assert steps[-1].kinetic < 1e-25
    taken = steps[-1].rubbed + steps[-1].struck
    assert taken == pytest.approx(steps[0].potential - steps[-1].potential, rel=1e-12)
    keep_their_laws(steps)


def test_rods_and_balls_stand_on_the_ground_by_their_radius() -> None:
    """The larger one where a node has both; a held node may be anywhere."""
    r = [[0.0, 0.0, 0.05], [0.2, 0.0, 0.05], [0.0, 0.0, -0.1]]
    rod = Draft(r).held(2).link(0, 1).structure()
    solids = Solids(
        ball=np.array([[1]]), ball_radius=np.array([0.03]),
        capsule=np.array([[0, 1]]), capsule_radius=np.array([0.02]),
    )  # fmt: skip
    made = moving(
        replace(rod, solids=solids), [RigidMass((0, 1), 0.1)], -G * UP,
        contact_energy=1e-3, ground=floor(0.3),
    )  # fmt: skip
    steps = moved(made, 0.01, 0.3)
    assert steps[-1].r[:2, 2] == pytest.approx([0.02, 0.03], abs=1e-10)
    assert steps[-1].kinetic < 1e-20
    keep_their_laws(steps)


def crank(mu: float, h: float) -> list[MotionStep]:
    """A slider on the floor; a crank turns once in two seconds, from rest to rest."""
    r = [[0.0, 0.0, 0.1], [0.06, 0.0, 0.18], [0.4, 0.0, 0.0], [0.1, 0.0, 0.1]]
    draft = Draft(r).held(0).held(3).held(1, "y").held(2, "y").link(0, 1).link(1, 2)
    masses = [RigidMass((0, 1), 0.2), RigidMass((1, 2), 0.3), RigidMass((2,), 1.0)]
    law = MotionLaw(table=[(0.0, 0.0), (2.0, 2.0 * np.pi)])
    turn = Driver(DriverKind.ANGLE, (3, 0, 1), law, (0.0, -1.0, 0.0))
    made = moving(draft.structure(), masses, -G * UP, drivers=[turn], ground=floor(mu))
    return moved(made, h, 2.0)


def test_what_drives_a_slider_that_rubs_is_what_friction_takes() -> None:
    """In a whole turn from rest to rest; of order 2 in h."""
    found = []
    for h in (0.02, 0.01, 0.005):
        steps = crank(0.3, h)
        keep_their_laws(steps)
        assert np.abs([step.r[2, 2] for step in steps]).max() < 1e-11
        last = steps[-1]
        assert last.driven == pytest.approx(last.rubbed, rel=1e-9)
        assert last.r[2, 0] == pytest.approx(0.4, abs=1e-11)
        found.append(last.rubbed)
    assert found[-1] > 0.5
    ratio = (found[0] - found[1]) / (found[1] - found[2])
    assert ratio == pytest.approx(4.0, abs=1.0)
