"""Irregular surfaces from Fourier expansions: [dJ23], Methods, Simulations."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.spatial import cKDTree

from sim.arrays import Floats
from sim.morph.targets.lattice import cells, lattice
from sim.morph.targets.level_set import closest_on_level_set, level_set_slopes
from sim.morph.targets.protocol import Wireframe
from sim.morph.targets.surfaces import Vector, on_sphere, positive, vector

SHORT = 1e-5  # of a radius, displacement of differences


def _amplitudes(name: str, values: Sequence[float]) -> Floats:
    array = np.asarray(values, dtype=np.float64)
    if array.ndim != 1 or not np.isfinite(array).all():
        raise ValueError(f"{name} of the target is {values}: give finite numbers")
    return array


@dataclass(frozen=True)
class FourierCylinder:
    """A cylinder about the z axis through `centre` whose radius varies with the angle.

    r(phi) = radius + sum_k cosines_k cos k phi + sines_k sin k phi,  k = 1, 2, ...
    """

    radius: float
    cosines: Sequence[float]
    sines: Sequence[float]
    centre: Vector = (0.0, 0.0, 0.0)

    def __post_init__(self) -> None:
        positive("radius", self.radius)
        vector("centre", self.centre)
        a, b = _amplitudes("cosines", self.cosines), _amplitudes("sines", self.sines)
        if len(a) != len(b):
            raise ValueError(
                f"the target has {len(a)} cosines and {len(b)} sines: give as many"
            )
        if self.profile(np.linspace(0.0, 2.0 * np.pi, 720))[0].min() <= 0.0:
            raise ValueError(
                "the radius of the target is negative at some angle: "
                "give smaller cosines and sines"
            )

    def profile(self, phi: Floats) -> tuple[Floats, Floats]:
        """r and dr/dphi at the angles phi (p,)."""
        k = np.arange(1, len(self.cosines) + 1)
        a, b = np.asarray(self.cosines), np.asarray(self.sines)
        c, s = np.cos(np.outer(phi, k)), np.sin(np.outer(phi, k))
        return self.radius + c @ a + s @ b, -s @ (k * a) + c @ (k * b)

    def _level(self, x: Floats) -> tuple[Floats, Floats]:
        """F = rho - r(phi); grad F = e_rho - r'(phi)/rho e_phi."""
        d = x - self.centre
        rho = np.maximum(np.hypot(d[:, 0], d[:, 1]), 1e-12)
        cos, sin = d[:, 0] / rho, d[:, 1] / rho
        r, slope = self.profile(np.arctan2(sin, cos))
        turn = slope / rho
        grad = np.stack([cos + turn * sin, sin - turn * cos, np.zeros(len(x))], -1)
        return rho - r, grad

    def _ring(self, phi: Floats) -> Floats:
        r = self.profile(phi)[0]
        ring: Floats = np.column_stack([r * np.cos(phi), r * np.sin(phi), 0.0 * phi])
        return ring + self.centre

    @cached_property
    def _samples(self) -> Floats:
        angles = np.linspace(0.0, 2.0 * np.pi, 721)[:-1]
        return self._ring(angles)

    def closest(self, points: Floats) -> Floats:
        _, near = cKDTree(self._samples[:, :2]).query(points[:, :2])
        starts = self._samples[near]
        starts[:, 2] = points[:, 2]
        return closest_on_level_set(points, starts, self._level)

    def slopes(self, points: Floats, goals: Floats) -> Floats:
        return level_set_slopes(points, goals, self._level, SHORT * self.radius)

    def wireframe(self, around: Floats) -> Wireframe:
        z = around[:, 2]
        middle, half = 0.5 * (z.min() + z.max()), 0.5 * np.ptp(z) + 0.2 * self.radius
        up = np.array([0.0, 0.0, 1.0])
        level = middle - self.centre[2]
        return lattice(
            lambda s, t: self._ring(s) + (level + t)[:, None] * up,
            (0.0, 2.0 * np.pi),
            (-float(half), float(half)),
            (24, cells(2.0 * float(half), 0.5 * self.radius)),
        )


@dataclass(frozen=True)
class FourierBlob:
    """A closed surface about `centre`, an "organic" shape.

    In the direction u (|u| = 1) its distance from the centre is

        r(u) = radius + sum_j amplitudes_j cos(waves_j . u + phases_j),

    a Fourier expansion over the coordinates of u, which has no poles.
    """

    radius: float
    amplitudes: Sequence[float]
    waves: Sequence[Vector]
    phases: Sequence[float]
    centre: Vector = (0.0, 0.0, 0.0)

    def __post_init__(self) -> None:
        positive("radius", self.radius)
        vector("centre", self.centre)
        a = _amplitudes("amplitudes", self.amplitudes)
        p = _amplitudes("phases", self.phases)
        if not len(a) == len(p) == len(self.waves):
            raise ValueError(
                f"the target has {len(a)} amplitudes, {len(self.waves)} waves and "
                f"{len(p)} phases: give as many of each"
            )
        for wave in self.waves:
            vector("waves", wave)
        if self.radius <= np.abs(a).sum():
            raise ValueError(
                f"amplitudes of the target add up to {np.abs(a).sum():g}, more than "
                f"its radius {self.radius:g}: give smaller ones"
            )

    def _level(self, x: Floats) -> tuple[Floats, Floats]:
        """F = |d| - r(d / |d|)."""
        d = x - self.centre
        size = np.maximum(np.linalg.norm(d, axis=1, keepdims=True), 1e-12)
        u = d / size
        a, K = np.asarray(self.amplitudes), np.asarray(self.waves, dtype=float)
        angle = u @ K.T + np.asarray(self.phases)
        r = self.radius + np.cos(angle) @ a
        slope = -(np.sin(angle) * a) @ K
        slope -= np.einsum("pi,pi->p", slope, u)[:, None] * u
        return size[:, 0] - r, u - slope / size

    def _shell(self, u: Floats) -> Floats:
        """Points of the surface in the directions u."""
        F = self._level(np.asarray(self.centre) + u)[0]
        shell: Floats = self.centre + (1.0 - F)[:, None] * u
        return shell

    @cached_property
    def _samples(self) -> Floats:
        i = np.arange(5000) + 0.5
        polar, around = np.arccos(1.0 - i / 2500.0), np.pi * (1.0 + 5.0**0.5) * i
        return self._shell(on_sphere(polar, around))

    @cached_property
    def _tree(self) -> cKDTree:
        return cKDTree(self._samples)

    def closest(self, points: Floats) -> Floats:
        _, near = self._tree.query(points)
        return closest_on_level_set(points, self._samples[near], self._level)

    def slopes(self, points: Floats, goals: Floats) -> Floats:
        return level_set_slopes(points, goals, self._level, SHORT * self.radius)

    def wireframe(self, around: Floats) -> Wireframe:
        del around
        return lattice(
            lambda s, t: self._shell(on_sphere(s, t)),
            (0.1 * np.pi, 0.9 * np.pi),
            (0.0, 2.0 * np.pi),
            (8, 16),
        )
