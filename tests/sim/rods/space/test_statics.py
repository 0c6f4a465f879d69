"""Rests of rods in space against formulas that know nothing of them."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import bisect
from scipy.spatial.transform import Rotation

from sim.core.arrays import Floats
from sim.core.options import NotConvergedError
from sim.rods.space.assembled_system import SpaceSystem, no_loads
from sim.rods.space.frames import edge_tangents, moved_on, second_directors, start
from sim.rods.space.rod import (
    SpaceRod,
    carried_directors,
    clamped,
    through,
)
from sim.rods.space.statics import SpaceOptions, rest
from tests.sim.rods.space.made import (
    ROUND,
    WIRE,
    B,
    C,
    along_x,
    negative,
    on_curve,
    with_force,
)


def _order(error: Callable[[int], float], counts: tuple[int, ...]) -> float:
    """In the number of edges."""
    errors = [abs(error(n)) for n in counts]
    return -float(np.polyfit(np.log(counts), np.log(errors), 1)[0])


def _arc_error(edges: int) -> float:
    """Of the deflection of a quarter circle loaded across its plane, relative.

    Timoshenko: P R^3 (pi/4 / EI + (3 pi/4 - 2) / GJ). The clamp of the continuous rod
    is in the middle of the first edge.
    """
    R, P = 0.1, 1e-6
    s = (np.arange(edges + 1) - 0.5) / (edges - 0.5) * np.pi / 2
    x = R * np.column_stack([np.sin(s), 1.0 - np.cos(s), 0.0 * s])
    rod = on_curve(x, np.array([0.0, 1.0, 0.0]))
    found = rest(rod, with_force(rod, edges, np.array([0.0, 0.0, P])))
    expected = P * R**3 * (np.pi / 4 / B + (3 * np.pi / 4 - 2) / C)
    return float(found.state.x[-1, 2] / expected - 1.0)


def test_a_quarter_circle_bends_and_twists_as_timoshenko_says():
    assert abs(_arc_error(40)) < 1e-3
    assert _order(_arc_error, (20, 40, 80)) == pytest.approx(2.0, abs=0.1)


def _twisted_shaft(edges: int) -> Callable[[float], int]:
    """Directions in which a clamped shaft of length 1 gives way, by M L / B."""
    rod = clamped(along_x(1.0, edges), 0, edges - 1)
    system = SpaceSystem(rod, no_loads(rod))

    def unstable(moment: float) -> int:
        turn = moment * B / C * np.arange(edges) / (edges - 1)
        still = np.zeros_like(rod.nodes)
        state = rod.state
        for _ in range(4):
            state = moved_on(state, rod.edges, rod.bends, still, turn / 4)
        return negative(system, state)

    return unstable


def test_a_clamped_shaft_buckles_where_greenhill_says():
    """M = 8.987 B / L, where tan x = x with x = M L / 2 B; two ways at once."""
    root = 2.0 * bisect(lambda x: np.sin(x) - x * np.cos(x), 4.0, 4.7)
    assert root == pytest.approx(8.987, abs=1e-3)

    def error(edges: int) -> float:
        unstable = _twisted_shaft(edges)
        found = bisect(lambda m: unstable(m) - 1.0, 7.5, 9.5, xtol=1e-6)
        assert unstable(found + 1e-3) == 2
        return found - root

    assert _order(error, (20, 40, 80)) == pytest.approx(2.0, abs=0.15)
    assert abs(error(80)) < 0.005 * root


def _ring(edges: int) -> SpaceRod:
    """Naturally straight, closed to a ring of radius 0.1; held so that it stays there.

    As many coordinates are held as there are rigid motions: supports carry nothing.
    """
    angle = 2.0 * np.pi * np.arange(edges) / edges
    x = 0.1 * np.column_stack([np.cos(angle), np.sin(angle), 0.0 * angle])
    rod = through(x, WIRE, ROUND, first=(0.0, 0.0, 1.0), closed=True)
    half, quarter = edges // 2, edges // 4
    rod.held[0] = rod.held_frames[0] = True
    rod.held[half, 1:] = rod.held[quarter, 2] = True
    return rod


def test_a_twisted_ring_buckles_where_michell_says():
    """Of a naturally straight rod, at a twist of 2 pi sqrt(3) B / C."""
    expected = 2.0 * np.pi * np.sqrt(3.0) * B / C

    def error(edges: int) -> float:
        rod = _ring(edges)
        length = rod.length

        def unstable(twist: float) -> int:
            natural = np.zeros_like(rod.curvature)
            natural[:, 2] = -twist / length
            stiff = replace(rod, curvature=natural, stretching=100.0 * rod.stretching)
            system = SpaceSystem(stiff, no_loads(stiff))
            return negative(system, rest(stiff, no_loads(stiff), options=FLAT).state)

        return (
            float(bisect(lambda twist: unstable(twist) - 0.5, 10.0, 20.0, xtol=1e-4))
            - expected
        )

    assert _order(error, (16, 32, 64)) == pytest.approx(2.0, abs=0.2)
    assert abs(error(64)) < 0.01 * expected


FLAT = SpaceOptions(stable=False)


def test_a_helical_spring_gives_as_love_says():
    """The axis moves along itself and turns, by a force on it at the end of an arm.

    With the wire's length L, radius r and pitch angle a, the wire carries the moments
    F r cos a about its tangent and -F r sin a about its binormal, so the end moves by
    F r^2 L (cos^2 a / C + sin^2 a / B), and turns by F r L sin a cos a (1/C - 1/B).
    """
    r, a, turns, F = 0.05, 0.3, 3.0, 1e-7
    length = 2.0 * np.pi * turns * r / np.cos(a)

    def errors(edges: int) -> Floats:
        s = length * (np.arange(edges + 1) - 0.5) / (edges - 1)
        angle = s * np.cos(a) / r
        x = np.column_stack([r * np.cos(angle), r * np.sin(angle), s * np.sin(a)])
        axis = x[-2:].mean(axis=0) * [0, 0, 1]
        rod = on_curve(np.vstack([x, axis]), x[0] * [1, 1, 0])
        rod.bending[-1] *= 1e4  # a stiff arm from the last edge to the axis
        rod.twisting[-1] *= 1e4
        loads = with_force(rod, edges + 1, np.array([0.0, 0.0, F]))
        state = rest(rod, loads, options=SpaceOptions(tolerance=1e-7)).state
        frames = [
            np.stack([s.d[-1], second_directors(s, rod.edges)[-1],
                      edge_tangents(s.x, rod.edges)[-1]])
            for s in (rod.state, state)
        ]  # fmt: skip
        turned = Rotation.from_matrix(frames[1].T @ frames[0]).as_rotvec()
        moved = state.x[-1] - axis
        along = F * r**2 * length * (np.cos(a) ** 2 / C + np.sin(a) ** 2 / B)
        about = F * r * length * np.sin(a) * np.cos(a) * (1.0 / C - 1.0 / B)
        return np.array([moved[2] / along, turned[2] / about]) - 1.0

    assert np.abs(errors(120)).max() < 0.02
    for k in range(2):
        slope = _order(lambda n, k=k: float(errors(n)[k]), (60, 120, 240))
        assert slope == pytest.approx(2.0, abs=0.2)


def test_a_column_leaves_the_saddle_on_which_it_stands():
    """Above Euler's load the straight column is balanced; the rest is the bent one."""
    rod = clamped(along_x(1.0, 20), 0)
    load = 1.5 * np.pi**2 / 4 * B
    loads = with_force(rod, 20, np.array([-load, 0.0, 0.0]))
    upright = rest(rod, loads, options=FLAT)
    found = rest(rod, loads)
    assert upright.negative == 2
    assert found.negative == 0
    assert np.hypot(*found.state.x[-1, 1:]) > 0.5


def test_what_has_no_rest_is_said():
    rod = along_x(1.0, 6)
    rod.held[0] = True
    loads = with_force(rod, 6, np.array([0.0, 0.0, 100.0]))
    with pytest.raises(NotConvergedError, match="unbalanced force"):
        rest(rod, loads, options=SpaceOptions(max_steps=3))


def _localised(edges: int, m: float, width: float) -> tuple[float, float, float]:
    """Errors of tension and moment, relative, and of the cosine of the tangent.

    A long shaft of thrust -T that is turned until it coils in one place, with
    m = M / sqrt(B T) < 2, has there (Coyne, IEEE J. Oceanic Eng. 15, 1990; van der
    Heijden and Thompson, Nonlinear Dynamics 21, 2000)

        1 - cos theta = (2 - m^2 / 2) / cosh^2(s sqrt(1 - m^2 / 4) sqrt(T / B))

    and its tangent turns by M / (B (1 + cos theta)) about its line. The start is that
    curve; its clamps stay.
    """
    T = B / width**2
    M, fade = m * np.sqrt(B * T), np.sqrt(1.0 - 0.25 * m * m) / width
    rod = clamped(along_x(1.0, edges), 0, edges - 1)
    h = float(rod.rest_length[0])
    s, step = np.linspace(-0.5, 0.5, 20_001, retstep=True)

    def cosine(s: Floats, m: float, fade: float) -> Floats:
        return 1.0 - (2.0 - 0.5 * m * m) / np.cosh(fade * s) ** 2

    def summed(rate: Floats) -> Floats:
        mean = 0.5 * (rate[1:] + rate[:-1])
        return np.concatenate([0.0 * mean[:1], np.cumsum(mean, axis=0)]) * step

    along = cosine(s, m, fade)
    psi, away = summed(M / B / (1.0 + along)), np.sqrt(1.0 - along**2)
    t = np.column_stack([along, away * np.cos(psi), away * np.sin(psi)])
    line, at = summed(t), h * (np.arange(edges + 1) - 0.5) - 0.5
    x = np.column_stack([np.interp(at, s, line[:, a]) for a in range(3)])
    for end, node in ((0, 0), (-1, edges - 1)):
        x[[node, node + 1]] = line[end] + [[-0.5 * h, 0.0, 0.0], [0.5 * h, 0.0, 0.0]]
    d = carried_directors(x, rod.edges, np.array([0.0, 1.0, 0.0]))
    turned = Rotation.from_rotvec(
        (M / C * h * np.arange(edges))[:, None] * edge_tangents(x, rod.edges)
    ).apply(d)
    state = start(x, turned, rod.edges, rod.bends)
    found = rest(rod, no_loads(rod), state, SpaceOptions(tolerance=1e-7))
    pull = -found.reaction[: x.size].reshape(-1, 3)[:2, 0].sum()
    moment = C * float(np.mean(found.state.twist / rod.voronoi))
    m_found = moment / np.sqrt(B * pull)
    law = cosine(
        h * np.arange(edges) - 0.5, m_found,
        np.sqrt(1.0 - 0.25 * m_found**2) * np.sqrt(pull / B),
    )  # fmt: skip
    off = edge_tangents(found.state.x, rod.edges)[:, 0] - law
    return pull / T - 1.0, moment / M - 1.0, float(np.abs(off).max())


def test_a_twisted_shaft_coils_in_one_place_within_its_envelope():
    counts = (80, 120, 180)
    errors = np.abs([_localised(n, 1.6, 0.05) for n in counts])
    assert errors[-1] == pytest.approx(0.0, abs=0.02)
    for k in range(3):
        slope = -np.polyfit(np.log(counts), np.log(errors[:, k]), 1)[0]
        assert slope == pytest.approx(2.0, abs=0.3)


def _hung(turns: int, heaviest: float, each: int) -> float:
    """Error of the height of a hanging helix, relative.

    A wire of natural curvature k is a helix that changes slowly (Miller, Lazarus,
    Audoly and Reis, PRL 112, 2014, 068103): with F the weight below and no moment about
    its line, slope a and turning p = B k cos a / (B cos^2 a + C sin^2 a) make

        B (p cos a - k)^2 / 2 + C p^2 sin^2 a / 2 - F sin a

    least at each height; from F = B^2 k^2 / C on it is straight. The start is that
    curve, of one hand.

    Parameters
    ----------
    heaviest : the whole weight over that force
    each : edges of a turn
    """
    edges, k = each * turns, 2.0 * np.pi * turns
    share = 1.0 - (np.arange(edges) + 0.5) / edges
    weight = heaviest * B**2 * k**2 / C
    a = np.linspace(0.0, 0.5 * np.pi, 10_001)
    p = B * k * np.cos(a) / (B * np.cos(a) ** 2 + C * np.sin(a) ** 2)
    bent = 0.5 * B * (p * np.cos(a) - k) ** 2 + 0.5 * C * (p * np.sin(a)) ** 2
    j = np.array([np.argmin(bent - weight * f * np.sin(a)) for f in share])
    rise, about = np.sin(a[j]), np.cumsum(p[j]) / edges
    flat = np.cos(a[j])[:, None] * np.column_stack([np.cos(about), np.sin(about)])
    t = np.column_stack([flat, -rise])
    x = np.concatenate([np.zeros((1, 3)), np.cumsum(t, axis=0) / edges])
    axis = np.cross(t, np.gradient(t, axis=0))
    axis -= np.sum(axis * t, axis=1, keepdims=True) * t
    axis /= np.linalg.norm(axis, axis=1, keepdims=True)
    rod = clamped(along_x(1.0, edges, first=0.0), 0)
    rod.curvature[:, 0] = k
    loads = replace(
        no_loads(rod), gravity=np.array([0.0, 0.0, -weight / rod.mass.sum()])
    )
    hung = replace(rod, nodes=x, directors=axis, stretching=100.0 * rod.stretching)
    found = rest(hung, loads, options=SpaceOptions(tolerance=1e-7))
    return float(-found.state.x[-1, 2] / rise.mean()) - 1.0


@pytest.mark.parametrize("heaviest", [0.5, 0.9, 1.5])
def test_a_curved_wire_hangs_as_a_helix_that_changes_slowly(heaviest):
    """To the error of edges where it is loose, which is of order 2."""
    assert abs(_hung(10, heaviest, 32)) < 0.003
    if heaviest < 0.9:
        errors = [_hung(40, heaviest, each) for each in (8, 16)]
        assert errors[0] / errors[1] == pytest.approx(4.0, abs=0.5)
