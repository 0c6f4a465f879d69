"""Loose panels that lie on each other on a slope, pressed by their weight."""

from dataclasses import replace

import numpy as np
from scipy.optimize import brentq

from sim.arrays import Floats
from sim.origami.folding.problem import near_at
from sim.origami.folding.sheet import build_problem, hinge_angles
from sim.origami.loading.phases import Load
from sim.origami.mechanics.motion import MotionSettings, MovingSheet, node_masses
from sim.origami.model.assembly import contact_forces
from sim.origami.model.concentrated import concentrated_mesh
from sim.origami.model.contact import Contact
from sim.origami.pattern.pattern import CreasePattern
from tests.sim.origami.sheets import MATERIAL, sheet

REACH, APART = 1e-3, 4e-3
CONTACT = Contact(rules="full", ke=1e-5, d0_edge=REACH, d0_centre=REACH)
OPENED = [(0.0, 0.0022), (0.02, 0.0022), (0.0, 0.0030), (0.02, 0.0038)]  # x and z, m
PLASTIC = replace(MATERIAL, panel_thickness=1e-3)


def leaves(count: int, slope: float, settings: MotionSettings) -> MovingSheet:
    """A square of 20 cm that is held, and squares of 2 cm one above the other, rad.

    They lie within one triangle of the large one: lines of its mesh are bumps.
    """
    square = np.array([[-1, -1, 0], [1, -1, 0], [1, 1, 0], [-1, 1, 0]], dtype=float)
    places = [(0.1, 0.0)] + [(0.01, -0.07)] * count
    drawn = [s * square + [0.0, y, APART * k] for k, (s, y) in enumerate(places)]
    c, s = np.cos(slope), np.sin(slope)
    turned = np.concatenate(drawn) @ np.array([[c, 0, -s], [0, 1, 0], [s, 0, c]])
    panels = [[4 * k, 4 * k + 1, 4 * k + 2, 4 * k + 3] for k in range(count + 1)]
    return _on(CreasePattern(turned, panels), 4, settings)


def pleats(settings: MotionSettings) -> MovingSheet:
    """Three leaves of 2 cm, drawn as they are folded, above a square that is held."""
    floor = 0.1 * np.array([[-1, -1, 0], [1, -1, 0], [1, 1, 0], [-1, 1, 0]])
    side = [[x, y, z] for x, z in OPENED for y in (-0.08, -0.06)]
    strip = [[2 * k + 4, 2 * k + 6, 2 * k + 7, 2 * k + 5] for k in range(3)]
    vertices = np.concatenate([floor, np.array(side)])
    return _on(CreasePattern(vertices, [[0, 1, 2, 3], *strip]), 4, settings)


def _on(pattern: CreasePattern, node: int, settings: MotionSettings) -> MovingSheet:
    """The first panel is held; the phase names a node, and is not looked at."""
    mesh = concentrated_mesh(pattern, PLASTIC)
    held = set(mesh.triangle[mesh.triangle_panel == 0].ravel().tolist())
    supports = [[node, 1, 1, 1] for node in sorted(held)]
    whole = replace(sheet(mesh, CONTACT), supports=supports)
    problem = build_problem(whole, Load([node], [0.0, 0.0, 1.0]))
    mass = node_masses(mesh, PLASTIC, settings)
    return MovingSheet(mesh, problem, hinge_angles(mesh, mesh.rest), mass, settings)


def lowered(moving: MovingSheet, gaps: Floats, slope: float) -> Floats:
    """(n, 3) m with these gaps between the panels in place of those drawn."""
    x, panels = moving.mesh.rest.copy(), len(moving.mesh.pattern.panels)
    normal = np.array([np.sin(slope), 0.0, np.cos(slope)])
    for panel in range(1, panels):
        own = np.unique(moving.mesh.triangle[moving.mesh.triangle_panel == panel])
        x[own] += (np.sum(gaps[:panel]) - APART * panel) * normal
    return x


def resting_gaps(moving: MovingSheet, slope: float) -> Floats:
    """(panels,) m at which contact carries the weight of all panels above a gap."""
    panels, mesh = len(moving.mesh.pattern.panels), moving.mesh
    normal = np.array([np.sin(slope), 0.0, np.cos(slope)])
    own = [np.unique(mesh.triangle[mesh.triangle_panel == k]) for k in range(panels)]
    weight = [
        moving.settings.gravity * np.cos(slope) * moving.mass[k].sum() for k in own
    ]
    gaps = np.full(panels, REACH)

    def lifted(gap: float, k: int) -> float:
        tried = np.where(np.arange(panels) == k, gap, gaps)
        x = lowered(moving, tried[1:], slope)
        pairs = near_at(moving.problem, x, 0.0).pairs
        force = contact_forces(pairs, moving.problem.ke, x)
        return float((force[own[k]] @ normal).sum() - weight[k])

    for k in range(panels - 1, 0, -1):
        gaps[k] = brentq(lifted, 0.05 * REACH, 0.999 * REACH, args=(k,), xtol=1e-15)
    return gaps[1:]
