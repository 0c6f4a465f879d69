"""Panels in plane stress that grow, beside closed forms of plates and strips."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.spatial import Delaunay

from sim.core.arrays import Floats, Ints
from sim.mechanism.constraints import (
    Constraint,
    ConstraintKind,
    ConstraintTable,
    dist,
    fix,
)
from sim.mechanism.statics.elastic_parts import (
    Elastic,
    Panels,
    angles_of,
    deform,
    elastic_entries,
)
from sim.mechanism.statics.equilibrium import EquilibriumOptions, at_rest
from sim.mechanism.statics.loaded_structure import LoadedStructure
from sim.mechanism.structure import Structure

E1, E2, NU1 = 3.0, 1.0, 0.1  # of the layer below and of that above
H, MISMATCH = 0.1, 1e-3  # thickness of both layers together, strain of that above
EXACT = EquilibriumOptions(tolerance=1e-8)


def mesh(nx: int, ny: int, size: tuple[float, float]) -> tuple[Floats, Ints]:
    """(n, 2) nodes of a rectangle of nx x ny cells, each of four triangles."""
    x, y = (np.linspace(0.0, s, k + 1) for s, k in zip(size, (nx, ny), strict=True))
    corners = np.array([[a, b] for b in y for a in x])
    middles = np.array([[a.mean(), b.mean()] for b in _cells(y) for a in _cells(x)])
    triangles = []
    for cell in range(nx * ny):
        a = cell // nx * (nx + 1) + cell % nx
        ring = [a, a + 1, a + nx + 2, a + nx + 1]
        around = pairwise([*ring, a])
        triangles += [(*side, len(corners) + cell) for side in around]
    return np.vstack([corners, middles]), np.array(triangles)


def _cells(x: Floats) -> Floats:
    return np.column_stack([x[:-1], x[1:]])


def rest(r: Floats, held: list[tuple[int, int]], panels: Panels) -> Floats:
    """Every node in the plane z = 0, and no motion of the whole."""
    fixed = [(j, 2) for j in range(len(r))] + held
    rows = [Constraint(ConstraintKind.FIX, at, float(r[at])) for at in fixed]
    made = Structure(r, ConstraintTable.of(rows), np.arange(len(r)))
    elastic = replace(Elastic.none(), panels=panels)
    body = LoadedStructure(made, elastic, np.zeros_like(r), np.zeros(len(r)))
    return at_rest(body, EXACT).r()


def timoshenko(m: float, n: float, h: float) -> float:
    """Curvature over the mismatch of strain [J. Opt. Soc. Am. 11, 233 (1925), eq. 4].

    Parameters
    ----------
    m, n : thickness and modulus of one layer over those of the other
    """
    bent = 3.0 * (1.0 + m) ** 2 + (1.0 + m * n) * (m**2 + 1.0 / (m * n))
    return 6.0 * (1.0 + m) ** 2 / (h * bent)


def test_energy_slope_and_curvature_agree(rng):
    r, triangles = mesh(2, 1, (1.0, 0.7))
    r = np.column_stack([r, 0.1 * rng.normal(size=len(r))])
    strain = 0.2 * rng.normal(size=len(triangles))
    hinges = np.array([[0, 1, 4, 2], [3, 4, 1, 5]])
    elastic = Elastic.between(r, np.array([[0, 4], [1, 5]]), 30.0, hinges, 2.0)
    elastic = replace(
        elastic,
        rest_length=0.7 * elastic.rest_length,
        rest_angle=np.ones(2),
        panels=Panels.between(r, triangles, E1, NU1, 0.2).grown(strain),
    )
    before = angles_of(hinges, r)
    rows, cols = elastic_entries(elastic.links, elastic.hinges, triangles)
    K = np.zeros((r.size, r.size))
    found = deform(elastic, r, before)
    np.add.at(K, (rows, cols), found.curvature)
    K += np.tril(K, -1).T
    v = rng.normal(size=r.shape)

    def energy(h: float) -> float:
        return deform(elastic, r + h * v, before).energy

    def gradient(h: float) -> Floats:
        return deform(elastic, r + h * v, before).gradient.ravel()

    slope = float((found.gradient * v).sum())
    steps = [1e-2, 1e-3]
    off = [abs(energy(h) - energy(0.0) - h * slope) for h in steps]
    assert abs(np.log10(off[0] / off[1]) - 2.0) < 0.1
    apart = [
        np.abs(gradient(h) - gradient(0.0) - h * K @ v.ravel()).max() for h in steps
    ]
    assert abs(np.log10(apart[0] / apart[1]) - 2.0) < 0.1
    convex = found.panels.convex
    assert np.linalg.eigvalsh(convex).min() > -1e-12 * np.abs(convex).max()


def strip(rows_through: int, below: float, above: float) -> float:
    """Curvature of a strip of two layers, seen from its side, over the mismatch.

    Parameters
    ----------
    below, above : thickness of the layers
    """
    long, height = 6.0 * H, below + above
    r, triangles = mesh(6 * rows_through, rows_through, (long, height))
    r = np.column_stack([r, np.zeros(len(r))])
    upper = r[triangles][:, :, 1].mean(axis=1) > below
    panels = Panels.between(r, triangles, 1.0, 0.3, 1.0)
    modulus = np.where(upper, E2, E1)
    panels = replace(panels, modulus=modulus).grown(MISMATCH * upper)
    middle = int(np.argmin(np.abs(r[:, 0] - 0.5 * long) + np.abs(r[:, 1])))
    aside = int(np.argmin(np.abs(r[:, 0] - 0.5 * long) + np.abs(r[:, 1] - height)))
    found = rest(r, [(middle, 0), (middle, 1), (aside, 0)], panels)
    inner = (r[:, 1] == 0.0) & (np.abs(r[:, 0] - 0.5 * long) < 0.25 * long)
    bent = np.polyfit(found[inner, 0], found[inner, 1], 2)[0]
    return -2.0 * bent / MISMATCH  # the layer that grew is outside


@pytest.mark.parametrize("below", [0.5 * H, 0.25 * H])
def test_a_strip_of_two_layers_curls_as_timoshenko_says(below):
    found = [strip(k, below, H - below) for k in (4, 8)]
    exact = timoshenko(below / (H - below), E1 / E2, H)
    off = [abs(curvature / exact - 1.0) for curvature in found]
    assert off[1] < 0.03
    assert abs(found[1] + (found[1] - found[0]) / 3.0 - exact) < 0.005 * exact


def test_a_heated_rod_between_walls_is_pressed_and_a_hinge_turns():
    r = np.array(
        [[0.0, 0, 0], [2.0, 0, 0], [0, -1, 5], [0, 0, 5], [1, 0, 5], [0, 1, 5]]
    )
    rows = [row for node in (0, 1, 3, 4, 5) for row in fix(r, node)]
    elastic = Elastic.between(
        r, np.array([[0, 1]]), 7.0, np.array([[2, 3, 4, 5]]), 2.0
    ).grown(links=1e-3, hinges=-0.3)
    rows += [dist(r, 2, 3), dist(r, 2, 4)]
    made = Structure(r, ConstraintTable.of(rows), np.arange(6))
    found = at_rest(LoadedStructure(made, elastic, 0.0 * r, np.zeros(6)), EXACT)
    assert_allclose(found.deformed.tension, -7.0 * 2.0 * 1e-3, rtol=1e-9)
    assert_allclose(found.deformed.angle, np.pi - 0.3, atol=1e-6)


@pytest.mark.parametrize("rings", [4, 8])
def test_a_disc_that_grows_towards_its_rim_widens_as_the_closed_form(rings):
    """u = (1 + nu) / r int_0^r e r dr + (1 - nu) r / R^2 int_0^R e r dr, e = c r^2.

    Timoshenko and Goodier, Theory of Elasticity (1970), art. 150, for R = 1.
    """
    c, nu = 1e-3, 0.3
    points = [np.zeros((1, 2))]
    for ring in range(1, rings + 1):
        turn = 2.0 * np.pi * np.arange(6 * ring) / (6 * ring)
        points.append(ring / rings * np.column_stack([np.cos(turn), np.sin(turn)]))
    flat = np.concatenate(points)
    r = np.column_stack([flat, np.zeros(len(flat))])
    triangles = Delaunay(flat).simplices.astype(np.int64)
    strain = c * np.square(flat[triangles].mean(axis=1)).sum(axis=1)
    panels = Panels.between(r, triangles, E1, nu, H).grown(strain)
    found = rest(r, [(0, 0), (0, 1), (1, 1)], panels)
    radius = np.linalg.norm(flat, axis=1)
    exact = 0.25 * c * ((1.0 + nu) * radius**3 + (1.0 - nu) * radius)
    off = np.linalg.norm(found[:, :2], axis=1) - radius - exact
    assert np.abs(off).max() < 0.7 * c / rings**2


@pytest.mark.parametrize("away", [0.0, 30.0])
def test_a_free_sheet_that_grows_alike_comes_to_rest_without_strain(away):
    """Fine, and far from the origin: what is left of strains is rounding of places."""
    r, triangles = mesh(24, 4, (1.2, 0.1))
    r = np.column_stack([r[:, 0] + away, r[:, 1], np.zeros(len(r))])
    panels = Panels.between(r, triangles, 1.0, 0.3, 1.0).grown(
        np.full(len(triangles), 1e-3)
    )
    found = rest(r, [(0, 0), (0, 1), (24, 1)], panels)
    assert_allclose(found - found[0], 1.001 * (r - r[0]), atol=1e-12 * (1.0 + away))
