"""Which coordinates drive a mechanism: the four-bar, struts, links as drivers."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from analysis.designs.drivers import choose, condition, efforts
from sim.arrays import Floats
from sim.morph.equations.system import state
from sim.morph.library.linkages import CORNERS, FourBar
from sim.morph.library.pentapod import pentapod
from sim.morph.library.sheets import triangle_sheet
from sim.morph.mobility.mobility import internal_motions, mobility
from sim.morph.morphing.newton_morph import morph_newton
from sim.morph.morphing.problem import NewtonOptions
from sim.morph.morphing.reactions import reactions
from sim.morph.statics.driving import Coordinates, driven_map, released
from sim.morph.structure.measures import characteristic_length
from sim.morph.targets.goals import Goals
from tests.sim.morph.linkages import dead_centres

BAR = FourBar()
JOINTS = Coordinates.of(corners=CORNERS)


def map_at(angle: float) -> Floats:
    structure = BAR.structure(angle)
    U = internal_motions(structure, state(structure))
    return driven_map(JOINTS, structure.r0, U, 1.0)


def test_slopes_of_coordinates_are_their_derivatives(rng: np.random.Generator) -> None:
    r, v = rng.normal(size=(5, 3)), rng.normal(size=(5, 3))
    made = Coordinates.of(
        [[0, 1]], [[0, 1, 2], [4, 2, 3]], [[0, 1, 2, 3]], [0.3, 0.1, 1.0]
    )
    h, before = 1e-6, made.values(r)
    change = made.values(r + h * v, before) - made.values(r - h * v, before)
    slope = np.einsum("inj,nj->i", made.slopes(r), v)
    assert_allclose(slope, change / (2.0 * h), rtol=1e-7, atol=1e-8)


def test_any_joint_drives_a_four_bar() -> None:
    A = map_at(0.9)
    assert A.shape == (4, 1)
    for joint in range(4):
        assert condition(A, np.array([joint])) < 10.0
    found = choose(A)
    assert (found.rank, found.motions, found.optimal) == (1, 1, True)
    assert found.chosen[0] == np.argmax(np.abs(A))


def test_angles_of_a_four_bar_change_as_along_its_path() -> None:
    h = 1e-5
    ahead, behind = (JOINTS.values(BAR.nodes(0.9 + s * h)) for s in (1, -1))
    change = (ahead - behind) / (2.0 * h)
    A = map_at(0.9)[:, 0]
    assert_allclose(A / A[0], change / change[0], rtol=1e-8)


@pytest.mark.parametrize("which", [0, 1])
def test_rocker_cannot_drive_a_four_bar_at_its_dead_centres(which: int) -> None:
    dead = dead_centres(BAR)[which]
    rocker, crank = np.array([3]), np.array([0])
    worse = [condition(map_at(dead + d), rocker) for d in (1e-1, 1e-2, 1e-3, 1e-4)]
    slope = np.polyfit(np.log([1e-1, 1e-2, 1e-3, 1e-4]), np.log(worse), 1)[0]
    assert abs(slope + 1.0) < 0.1  # the angle turns around: without bound as 1/d
    assert condition(map_at(dead), rocker) > 1e8
    assert condition(map_at(dead), crank) < 10.0
    assert choose(map_at(dead)).chosen[0] != 3


def test_effort_of_a_driver_does_the_work_of_the_load() -> None:
    structure = BAR.structure(0.9)
    U = internal_motions(structure, state(structure))
    load = np.array([0.0, -1.0, 0.0])
    work = np.einsum("fnj,j->f", U, load)
    crank = efforts(map_at(0.9), np.array([0]), work)[0]
    h = 1e-6
    height = [BAR.nodes(0.9 + s * h)[:, 1].sum() for s in (1, -1)]
    angle = [JOINTS.values(BAR.nodes(0.9 + s * h))[0] for s in (1, -1)]
    assert_allclose(crank, (height[0] - height[1]) / (angle[0] - angle[1]), rtol=1e-7)


def test_pentapod_is_driven_by_any_of_its_struts() -> None:
    structure = pentapod()
    z = state(structure)
    U = internal_motions(structure, z)
    assert len(U) == 1
    n = len(structure.r0)
    struts = Coordinates.of([[0, n - 1], [0, n - 2]])
    A = driven_map(struts, structure.r0, U, characteristic_length(structure.r0))
    assert choose(A).rank == 1


def test_driven_links_carry_what_the_multipliers_say() -> None:
    sheet = triangle_sheet(1, 1, variation=0.1)
    goals = 1.1 * sheet.r0 + 0.2 * np.sin(sheet.r0[:, [1, 2, 0]])
    *_, step = morph_newton(sheet, Goals(goals), NewtonOptions(tolerance=1e-11))
    forces = reactions(sheet, step.state, step.g)
    links = [body for body in sheet.bodies if len(body) == 2]
    drivers = Coordinates.of(links)
    open_sheet = released(sheet, drivers)
    U = internal_motions(open_sheet, step.r)
    assert len(U) == mobility(sheet).mobility + len(links) - 6
    A = driven_map(drivers, step.r, U, 1.0)
    found = choose(A)
    assert (found.rank, len(found.chosen)) == (len(links), len(links))
    assert found.motions > found.rank  # the joints in between stay free
    work = np.einsum("fnj,nj->f", U, step.g - step.r)
    tension = -efforts(A, found.chosen, work)
    kind = sheet.constraints.nodes[:, :2].tolist()
    rows = [kind.index(list(link)) for link in links]
    assert_allclose(tension, forces.tension[rows], atol=1e-8)


def test_pivots_drive_many_motions_almost_as_well_as_the_best_set(
    rng: np.random.Generator,
) -> None:
    A = rng.normal(size=(12, 4))
    best = choose(A)
    assert best.optimal
    many = np.concatenate([A, 1e-3 * rng.normal(size=(60, 4))])
    found = choose(many)
    assert not found.optimal
    assert found.chosen.max() < 12  # the weak ones are left out
    assert condition(A, found.chosen) < 4.0 * best.condition
    assert choose(np.zeros((3, 2))).condition == np.inf


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"lengths": [[0, 1.5]]}, r"lengths has \[0, 1.5\]: give 2 nodes by number"),
        ({"lengths": [[0, 1], [2]]}, r"lengths has \[2\]"),
        ({"corners": [[0, 1]]}, r"corners has \[0, 1\]: give 3 nodes"),
        ({"normal": [0.0, 0.0, 0.0]}, "normal is .*give the axis of corners"),
        ({"normal": [0.0, float("nan"), 0.0]}, "normal is "),
        ({"normal": [0.0, 1.0]}, "normal is "),
    ],
)
def test_coordinates_that_are_none_are_refused(
    wrong: dict[str, list[float]], said: str
) -> None:
    with pytest.raises(ValueError, match=said):
        Coordinates.of(**wrong)  # type: ignore[arg-type]
