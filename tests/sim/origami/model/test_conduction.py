"""Heat in strips, beside fins and slabs of which the answer is known."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

from sim.arrays import Floats
from sim.origami.model.compliant import compliant_mesh
from sim.origami.model.concentrated import concentrated_mesh
from sim.origami.model.conduction import HeatModel, HeatTransfer, heat_model
from sim.origami.model.laminate import Laminate, Ply
from sim.origami.model.mesh import BarHingeMesh
from tests.sim.origami.sheets import MATERIAL, strip

L, T = 0.02, 5e-4  # of a square panel: side and thickness, m
K, AIR, DEPTH, HEAT = 5.0, 0.026, 3e-3, 2e6
POWER = 0.1
LAMINATE = Laminate([Ply(2e9, 5e-5, 1e-4), Ply(2e9, 5e-5, 0.0)])
TRANSFER = HeatTransfer(
    LAMINATE, K, K, DEPTH, panel_capacity=HEAT, air_conductivity=AIR, air_slices=1
)
M = np.sqrt(2.0 * AIR / DEPTH / (K * T))  # of a fin that loses heat on both faces


def on_a_line(panels: int, **values: Any) -> tuple[HeatModel, BarHingeMesh, Floats]:
    """Model and mesh of panels in a row, and x of the nodes from the middle crease."""
    mesh = concentrated_mesh(strip(panels), MATERIAL)
    heat = heat_model(mesh, MATERIAL, replace(TRANSFER, **values))
    return heat, mesh, np.abs(mesh.rest[:, 0] - 0.5 * panels * L)


def heated(mesh: BarHingeMesh, heat: HeatModel) -> Floats:
    """Power in the middle crease."""
    middle = 0.5 * mesh.rest[:, 0].max()
    edges = np.zeros(len(mesh.pattern.edges))
    ends = mesh.rest[mesh.pattern.edges][:, :, 0]
    edges[np.flatnonzero((ends == middle).all(axis=1))] = POWER
    assert edges.sum() == POWER
    return heat.power(edges)


@pytest.mark.parametrize("held", [False, True])
def test_a_strip_heated_across_its_middle_is_a_fin_the_more_it_is_divided(
    held: bool,
) -> None:
    off = []
    for divided in (1, 2, 3):
        outer = {"held": (0, 3)} if held else {}
        heat, mesh, x = on_a_line(4 if held else 2, divided=divided, **outer)
        found = heat.steady(heated(mesh, heat), 0.0)[: len(x)]
        shape = np.sinh if held else np.cosh
        scale = POWER / (2.0 * K * T * L * M * (np.cosh if held else np.sinh)(M * L))
        exact = scale * np.where(x <= L, shape(M * (L - x)), 0.0)
        off.append(np.abs(found - exact).max() / exact.max())
    assert off[2] < 6e-3
    assert off[0] / off[1] > 3.0 < off[1] / off[2]


def test_a_strip_warms_in_time_as_the_series_says() -> None:
    heat, mesh, x = on_a_line(2, divided=4)
    power, rise, time = heated(mesh, heat), np.zeros(len(heat.C)), 0.0
    k = np.arange(400)
    rate = K / HEAT * (k * np.pi / L) ** 2 + 2.0 * AIR / (DEPTH * T * HEAT)
    share = POWER / (2.0 * T * L * L * HEAT) * np.where(k > 0, 2.0, 1.0) / rate
    for span in (10.0, 20.0, 60.0):
        rise, time = heat.after(rise, power, 0.0, span), time + span
        shapes = np.cos(np.pi / L * np.outer(x, k))
        exact = shapes @ (share * (1.0 - np.exp(-rate * time)))
        assert_allclose(rise[: len(x)], exact, atol=4e-3 * exact.max())


def test_air_that_stores_heat_warms_as_a_slab() -> None:
    store = 1200.0
    values = {"panel_capacity": 1e-3, "air_capacity": store, "air_slices": 40}
    heat, mesh, _ = on_a_line(2, panel_conductivity=1e4, crease_conductivity=1e4,
                              **values)  # fmt: skip
    k = 2 * np.arange(60) + 1
    for span in (0.02, 0.1, 0.5):
        rise = heat.after(np.zeros(len(heat.C)), heated(mesh, heat), 0.0, span)
        decay = np.exp(-((0.5 * np.pi * k) ** 2) * AIR * span / (store * DEPTH**2))
        part = 1.0 - (8.0 / (np.pi * k) ** 2 * decay).sum()
        exact = POWER * DEPTH / (AIR * 4.0 * L * L) * part
        assert rise[: len(mesh.rest)].mean() == pytest.approx(exact, rel=3e-3)


def test_columns_that_widen_are_what_their_areas_conduct_in_line() -> None:
    heat, mesh, _ = on_a_line(2, panel_conductivity=1e6, crease_conductivity=1e6,
                              air_slices=200, air_spread=30.0)  # fmt: skip
    rise = heat.steady(heated(mesh, heat), 0.0)
    face, rim = 4.0 * L * L, 2.0 * 6.0 * L * np.tan(np.radians(30.0))
    resistance = np.log1p(rim * DEPTH / face) / (AIR * rim)
    assert rise[0] == pytest.approx(POWER * resistance, rel=2e-2)
    finer = heat_model(mesh, MATERIAL, replace(TRANSFER, air_spread=30.0, divided=1,
                       air_slices=200, panel_conductivity=1e6))  # fmt: skip
    again = finer.steady(heated(mesh, finer), 0.0)
    assert again[0] == pytest.approx(rise[0], rel=1e-2)  # the rim is no longer


def test_the_published_rim_adds_that_of_each_triangle() -> None:
    flat = on_a_line(2)[0]
    own = on_a_line(2, air_spread=20.0, air_rim="triangle")[0]
    around = L * (1.0 + np.sqrt(2.0))  # of one of eight triangles
    more = AIR / DEPTH * 8 * 2.0 * around * 0.5 * DEPTH * np.tan(np.radians(20.0))
    assert own.air.sum() - flat.air.sum() == pytest.approx(more, rel=1e-12)


def test_as_much_heat_leaves_as_comes_in_and_warm_air_warms_all() -> None:
    mesh = compliant_mesh(strip(3), MATERIAL)
    heat = heat_model(mesh, MATERIAL, replace(TRANSFER, air_slices=5, air_spread=20.0))
    powers = np.zeros(len(mesh.pattern.edges))
    powers[mesh.pattern.creases] = [0.02, 0.05]
    rise = heat.steady(heat.power(powers), 0.0)
    assert heat.air @ rise == pytest.approx(0.07, rel=1e-12)
    warm = heat.steady(np.zeros(len(rise)), 30.0)
    assert_allclose(warm, 30.0, rtol=1e-12)
    curl = LAMINATE.curl() * MATERIAL.crease_width * 30.0
    turned = heat.rest_turns(warm)
    assert_allclose(turned, mesh.hinge_share * curl, rtol=1e-12)
    first, last = (int(crease) for crease in mesh.pattern.creases)
    chosen = replace(TRANSFER, creases=(first, last), turned=(last,))
    way = np.select([mesh.hinge_crease == first, mesh.hinge_crease == last], [1, -1])
    model = heat_model(mesh, MATERIAL, chosen)
    there = model.rest_turns(np.full(len(model.C), 30.0))
    assert_allclose(there, mesh.hinge_share * way * curl, rtol=1e-12)
    alone = heat_model(mesh, MATERIAL, replace(chosen, creases=(first,)))
    there = alone.rest_turns(np.full(len(alone.C), 30.0))
    assert_allclose(there, mesh.hinge_share * np.maximum(way, 0) * curl, rtol=1e-12)


def test_what_makes_no_sense_is_refused() -> None:
    for values, said in (
        ({"air_depth": 0.0}, "air_depth must be positive"),
        ({"panel_capacity": -1.0}, "panel_capacity must be 0 or more"),
        ({"air_slices": 0}, "air_slices is 0"),
        ({"air_spread": 90.0}, "air_spread is 90"),
        ({"air_rim": "none"}, "choose one of free, triangle"),
        ({"divided": 9}, "divided is 9"),
        ({"held": (7,)}, "held names 7"),
        ({"turned": (0,)}, "turned names 0"),
        ({"creases": (1,)}, "creases names 1"),
    ):
        with pytest.raises(ValueError, match=said):
            on_a_line(2, **values)
