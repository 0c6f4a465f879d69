"""The potential energy of a loaded structure, its slope, and the matrix of a step.

    Pi(z) = U(r) + 1/2 sum_j k_j |r_j - g_j|^2 - sum_j F_j . r_j,     c(z) = 0,

U the energy of elastic links and hinges (`sim.mechanism.statics.elastic_parts`), k_j
the springs by which nodes hang on their nearest points g_j of the target, F_j loads
that keep their direction. The matrix is

    K = Hess Pi + sum_i y_i Hess c_i + mu I + sum_i rho_i grad c_i grad c_i^T,

see `sim.mechanism.constraint_system`. An elastic link is a row with the compliance
alpha = 1/k; its tension is eliminated, which leaves k grad l grad l^T in K. So elastic
and rigid links stand in one sparse matrix, and its inertia shows whether a
configuration is a minimum. Where bodies cannot pass and ranges are not left, the
potential B of `sim.mechanism.obstacles` is added to Pi, its rows and blocks to K.

The internal energy is that of elastic parts and obstacles, without loads and targets.
No rigid motion changes it; motions in time use it (`sim.mechanism.dynamics`).
"""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from sim.core.arrays import Floats, Ints
from sim.linalg.sparse_ldl import Factor, analyse, factorise
from sim.mechanism.constrained_newton import (
    NewtonMatrix,
    links_of,
    penalty_weights,
    rotation_weights,
)
from sim.mechanism.constraint_forces import ObstacleTerms, balanced, inner
from sim.mechanism.constraint_projection import admissible
from sim.mechanism.constraint_system import (
    ConstraintSystem,
    HessianPattern,
    LinearConstraints,
    dense,
    hessian_pattern_of,
    linearise,
    system_of,
)
from sim.mechanism.object_cache import once_per_owner
from sim.mechanism.obstacles import Obstacles
from sim.mechanism.statics.elastic_parts import Deformed, deform, elastic_entries
from sim.mechanism.statics.loaded_structure import LoadedStructure
from sim.mechanism.targets.target_interface import pull_curvature, smoothed

NOTHING = 64.0 * float(np.finfo(np.float64).eps)  # of the size, no displacement


@dataclass(frozen=True, eq=False)
class LoadedConfiguration:
    """A configuration with what acts on it.

    Attributes
    ----------
    gradient : (n + k, 3) of Pi
    y, left : forces of the constraints, and what they leave of the gradient
    scale : the largest force on a node
    stiffness : the largest, of parts or of rigid links that resist a turn by tension
    contacts : what bodies and ranges do, if there are any
    """

    z: Floats
    g: Floats
    linear: LinearConstraints
    normal: Factor
    deformed: Deformed
    energy: float
    gradient: Floats
    y: Floats
    left: Floats
    scale: float
    stiffness: float
    contacts: ObstacleTerms | None = None


@dataclass(frozen=True, eq=False)
class PotentialEnergy:
    """Pi of a structure, with the places of the entries of K.

    Attributes
    ----------
    kappa : of the potential of the obstacles, force x length
    """

    loaded: LoadedStructure
    system: ConstraintSystem
    pattern: HessianPattern
    stiffness: float
    obstacles: Obstacles | None = None
    kappa: float = 0.0

    @classmethod
    def of(cls, loaded: LoadedStructure) -> "PotentialEnergy":
        if loaded.target is not None:
            loaded = replace(loaded, target=smoothed(loaded.target))
        structure = loaded.structure
        system = system_of(structure)
        return cls(
            loaded,
            system,
            hessian_pattern_of(system.topology),
            loaded.stiffness,
            Obstacles.of(structure) if structure.is_limited else None,
        )

    @property
    def lead(self) -> Ints:
        return np.flatnonzero(self.loaded.spring > 0.0)

    def goals(self, r: Floats) -> Floats:
        g, lead = r.copy(), self.lead
        if self.loaded.target is not None and len(lead):
            g[lead] = self.loaded.target.closest(r[lead])
        return g

    def energy(self, r: Floats, g: Floats, deformed: Deformed) -> float:
        moved = r - self.loaded.structure.r0
        springs = 0.5 * inner(self.loaded.spring[:, None] * (r - g), r - g)
        return deformed.energy + springs - inner(self.loaded.force, moved)

    def point(
        self, z: Floats, before: Floats, linear: LinearConstraints | None = None
    ) -> LoadedConfiguration:
        n = self.system.n
        r, load = z[:n], self.loaded.force
        g = self.goals(r)
        deformed = deform(self.loaded.elastic, r, before)
        energy, contacts = self.energy(r, g, deformed), None
        linear = linearise(self.system, z) if linear is None else linear
        pull = self.loaded.spring[:, None] * (r - g)
        gradient = np.zeros_like(z)
        gradient[:n] = deformed.gradient + pull - load
        if self.obstacles is not None and self.kappa > 0.0:
            energy += self.obstacles.energy(z, self.kappa)
            contacts = self.obstacles.contacts(z, self.kappa)
            gradient += contacts.push()
        normal, y, left = balanced(linear, gradient, links_of(self.system))
        if self.system.k:  # multipliers are eliminated: they count as no length
            left = admissible(self.system, z, gradient[:n])
        own = np.abs(deformed.moment) * np.abs(deformed.hinge_slope).max(axis=1)
        strained = deformed.panels.on_corners
        parts = (load, pull, deformed.tension, own, strained, gradient)
        scale = max(float(np.abs(part).max(initial=0.0)) for part in parts)
        links = 2.0 * np.abs(y[links_of(self.system)])  # of a link, tension / length
        return LoadedConfiguration(
            z, g, linear, normal, deformed, energy, gradient, y, left, scale,
            max(self.stiffness, float(links.max(initial=0.0))), contacts,
        )  # fmt: skip

    def unbalanced(self, point: LoadedConfiguration) -> float:
        """Forces left over the largest; if all are rounding, over stiffness x size."""
        rms = float(np.sqrt(inner(point.left, point.left) / self.system.n))
        whole = self.stiffness * self.loaded.size
        return rms / (whole if self._relaxed(point) else point.scale)

    def _relaxed(self, point: LoadedConfiguration) -> bool:
        """Whether every part is as close to its own rest as rounded nodes can be."""
        if point.scale == 0.0:
            return True
        loaded, elastic = self.loaded, self.loaded.elastic
        least, r = NOTHING * loaded.size, point.z[: self.system.n]
        slope = np.abs(point.deformed.hinge_slope).max(axis=1, initial=0.0)
        away = np.abs(r - point.g)[loaded.spring > 0.0]
        strained = np.abs(point.deformed.panels.on_corners).max(axis=1, initial=0.0)
        tension, moment = np.abs(point.deformed.tension), np.abs(point.deformed.moment)
        return bool(
            not loaded.force.any()
            and (away <= least).all()
            and (tension <= least * elastic.link_stiffness).all()
            and (moment <= least * elastic.hinge_stiffness * slope).all()
            and (strained <= least * elastic.panels.stiffness).all()
        )

    def newton_matrix(self, point: LoadedConfiguration) -> NewtonMatrix:
        """K at a point, but for elastic parts; weights of a hundredth of the usual."""
        n, lead = self.system.n, self.lead
        W = np.zeros((n, 3, 3))
        if self.loaded.target is not None and len(lead):
            h = 1e-6 * self.loaded.size
            r = point.z[:n]
            W[lead] = pull_curvature(self.loaded.target, r[lead], point.g[lead], h)
            W *= self.loaded.spring[:, None, None]
        weights = penalty_weights(self.system.layout, point.linear.B)
        rho = 1e-2 * point.stiffness * weights
        return NewtonMatrix(
            self.pattern, point.z, point.linear, W, point.y, rho, point.contacts
        )

    def factorise(
        self, K: NewtonMatrix, point: LoadedConfiguration, shift: float, convex: bool,
        damping: float = 0.0,
    ) -> Factor:  # fmt: skip
        """K with elastic parts; `convex` without what can be negative.

        Parameters
        ----------
        shift, damping : relative to the largest stiffness, of motions and of turns of
            rigid links
        """
        turns = damping * rotation_weights(K.rows.system, self.loaded.size)
        by = shift * self.stiffness, turns * self.stiffness
        values = self._entries(K, point, *by, convex=convex)
        return factorise(self._places(K).factor, values, drop=0.0)

    def dense_curvature(self, point: LoadedConfiguration) -> Floats:
        """(3n + 3k, 3n + 3k) of Pi and y.c, without the weights of the constraints."""
        K = self.newton_matrix(point)
        K = replace(K, rho=0.0 * K.rho)
        return dense(self._places(K), self._entries(K, point, 0.0))

    def _places(self, K: NewtonMatrix) -> HessianPattern:
        own = self.loaded.elastic
        parts = (own.links, own.hinges, own.panels.nodes)
        return _pattern_with(K.places, *(nodes.tobytes() for nodes in parts))

    def _entries(
        self,
        K: NewtonMatrix,
        point: LoadedConfiguration,
        shift: float,
        turns: Floats | float = 0.0,
        *,
        convex: bool = False,
    ) -> Floats:
        """Of K with elastic parts."""
        elastic = point.deformed.convex if convex else point.deformed.curvature
        rigid = K.entries(shift, convex=convex, stiffening=turns)
        return np.concatenate([rigid, elastic])

    def longest_free_step(self, z: Floats, dz: Floats) -> float:
        """The largest share of dz, at most 1, on which no bodies touch."""
        if self.obstacles is None:
            return 1.0
        n = self.system.n
        return self.obstacles.largest_step_length(z[:n], dz[:n])

    def strain_forces(
        self,
        point: LoadedConfiguration,
        links: Floats,
        hinges: Floats,
        panels: Floats,
    ) -> Floats:
        """(n + k, 3) forces by which elongations, turns, strains oppose themselves."""
        elastic, out = self.loaded.elastic, np.zeros_like(point.z)
        pull = (elastic.link_stiffness * links)[:, None] * point.deformed.link_slope
        turn = (elastic.hinge_stiffness * hinges)[:, None] * point.deformed.hinge_slope
        stress = np.einsum("pkl,pl->pk", elastic.panels.material, panels)
        force = np.einsum("pk,pki->pi", stress, point.deformed.panels.slope)
        elastic.add_forces(out, pull, turn, force)
        return out

    def strains(
        self, point: LoadedConfiguration, dz: Floats
    ) -> tuple[Floats, Floats, Floats]:
        """Elongations (l,), turns (h,), strains (p, 3) in dz, to first order."""
        elastic, deformed = self.loaded.elastic, point.deformed
        links = dz[elastic.links].reshape(-1, 6) * deformed.link_slope
        hinges = dz[elastic.hinges].reshape(-1, 12) * deformed.hinge_slope
        corners = dz[elastic.panels.nodes].reshape(-1, 9)
        panels = np.einsum("pki,pi->pk", deformed.panels.slope, corners)
        return links.sum(axis=1), hinges.sum(axis=1), panels


@once_per_owner
def _pattern_with(
    rigid: HessianPattern, links: bytes, hinges: bytes, panels: bytes
) -> HessianPattern:
    """Of K with elastic parts, by the nodes of these; found once for a pattern."""
    parts = [
        np.frombuffer(nodes, dtype=np.int64).reshape(-1, count)
        for nodes, count in ((links, 2), (hinges, 4), (panels, 3))
    ]
    rows, cols = elastic_entries(*parts)
    rows, cols = np.append(rigid.rows, rows), np.append(rigid.cols, cols)
    factor = analyse(rigid.factor.n, rows, cols)
    return replace(rigid, rows=rows, cols=cols, factor=factor)


def is_elastic(potential: PotentialEnergy) -> bool:
    """Whether there are elastic parts."""
    elastic = potential.loaded.elastic
    return len(elastic.links) + len(elastic.hinges) + len(elastic.panels) > 0


@dataclass(frozen=True, eq=False)
class InnerForces:
    """Of elastic parts and obstacles at z (n + k, 3)."""

    potential: PotentialEnergy
    z: Floats

    @cached_property
    def energy(self) -> float:
        """Infinite where bodies overlap."""
        V = self.potential
        total = self._deformed.energy if is_elastic(V) else 0.0
        if V.obstacles is not None:
            total += V.obstacles.energy(self.z, V.kappa)
        return total

    @cached_property
    def slope(self) -> Floats:
        """(n, 3) of the energy."""
        V, n = self.potential, self.potential.system.n
        slope = self._deformed.gradient if is_elastic(V) else np.zeros((n, 3))
        return slope if V.obstacles is None else slope + self._contacts.push()[:n]

    def curvature(self) -> Floats:
        """(3n, 3n) of the energy."""
        V, n = self.potential, self.potential.system.n
        K = np.zeros((3 * n, 3 * n))
        if is_elastic(V):
            np.add.at(K, V.loaded.elastic.places, self._deformed.curvature)
            K += K.T
            K.flat[:: len(K) + 1] *= 0.5
        if V.obstacles is not None:
            contacts, rows = self._contacts, np.zeros(V.system.m)
            matrix = NewtonMatrix(
                V.pattern, self.z, contacts.linear, np.zeros((n, 3, 3)), rows, rows,
                contacts,
            )  # fmt: skip
            K += matrix.dense()[: 3 * n, : 3 * n]
        return K

    @cached_property
    def _deformed(self) -> Deformed:
        elastic = self.potential.loaded.elastic
        return deform(elastic, self.z[: self.potential.system.n], elastic.rest_angle)

    @cached_property
    def _contacts(self) -> ObstacleTerms:
        obstacles = self.potential.obstacles
        assert obstacles is not None
        return obstacles.contacts(self.z, self.potential.kappa)
