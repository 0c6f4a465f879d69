"""The potential energy of a loaded structure, its slope, and the matrix of a step.

    Pi(z) = U(r) + 1/2 sum_j k_j |r_j - g_j|^2 - sum_j F_j . r_j,     c(z) = 0,

U the energy of elastic links and hinges (`sim.morph.statics.elastic`), k_j the springs
by which nodes hang on their nearest points g_j of the target, F_j loads that keep their
direction. The matrix is

    K = Hess Pi + sum_i y_i Hess c_i + mu I + sum_i rho_i grad c_i grad c_i^T,

see `sim.morph.equations.curvature`. An elastic link is a row with the compliance alpha
= 1/k; its tension is eliminated, which leaves k grad l grad l^T in K. So elastic and
rigid links stand in one sparse matrix, and its inertia tells whether a configuration is
a minimum. Where bodies cannot pass and ranges are not left, the potential B of
`sim.morph.obstacles.volume` is added to Pi, its rows and blocks to K.
"""

from dataclasses import dataclass, replace

import numpy as np

from sim.arrays import Floats, Ints
from sim.linear.sparse import Factor, SparsityPattern, analyse, factorise
from sim.morph.equations.constraint_forces import ObstacleTerms, inner
from sim.morph.equations.curvature import (
    NO_BLOCKS,
    HessianTerms,
    assemble,
    dense,
)
from sim.morph.equations.descent import penalty_weights
from sim.morph.equations.hessian import HessianPattern, entries_of, hessian_pattern_of
from sim.morph.equations.inertia_correction import links_of, positive_part
from sim.morph.equations.projection import admissible
from sim.morph.equations.system import (
    ConstraintSystem,
    LinearConstraints,
    linearise,
    system_of,
)
from sim.morph.obstacles.volume import Obstacles
from sim.morph.statics.elastic import Deformed, deform, elastic_entries
from sim.morph.statics.loaded import LoadedStructure
from sim.morph.targets.protocol import smoothed
from sim.morph.targets.pull import pull_curvature
from sim.once import once_per_owner

NOTHING = 64.0 * float(np.finfo(np.float64).eps)  # of the size, no displacement


@dataclass(frozen=True, eq=False)
class LoadedConfiguration:
    """A configuration with what acts on it.

    Attributes
    ----------
    gradient : (n + k, 3) of Pi
    y, left : forces of the constraints, and what they leave of the gradient
    scale : the largest force on a node
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
        pulled = 0.5 * inner(self.loaded.spring[:, None] * (r - g), r - g)
        return deformed.energy + pulled - inner(self.loaded.force, moved)

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
        normal, y, left = linear.factorise(), np.zeros(self.system.m), gradient.copy()
        for _ in range(2):  # the second removes what rounding left of the first
            dy = normal.solve(linear.times(left))
            left -= linear.transpose_times(dy)
            y -= dy
        if self.system.k:  # multipliers are eliminated: they count as no length
            left = admissible(self.system, z, gradient[:n])
        own = np.abs(deformed.moment) * np.abs(deformed.hinge_slope).max(axis=1)
        strained = deformed.panels.on_corners
        parts = (load, pull, deformed.tension, own, strained, gradient)
        scale = max(float(np.abs(part).max(initial=0.0)) for part in parts)
        return LoadedConfiguration(
            z, g, linear, normal, deformed, energy, gradient, y, left, scale, contacts,
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

    def weights(self, linear: LinearConstraints) -> Floats:
        """(m,) rho: as of a stiffness a hundredth of `descent`'s, which is enough."""
        return 1e-2 * self.stiffness * penalty_weights(linear)

    def factorise(
        self, point: LoadedConfiguration, rho: Floats, shift: float, *, convex: bool
    ) -> Factor:
        """K at a point; `convex` without what can be negative."""
        pattern = self._pattern(point)
        own = self.loaded.elastic
        parts = (own.links, own.hinges, own.panels.nodes)
        places = _pattern_with(pattern, *(nodes.tobytes() for nodes in parts))
        rigid = self._rigid(point, rho, shift, convex=convex)
        elastic = point.deformed.convex if convex else point.deformed.curvature
        return factorise(places, np.concatenate([rigid, elastic]), drop=0.0)

    def dense_curvature(self, point: LoadedConfiguration) -> Floats:
        """(3n + 3k, 3n + 3k) of Pi and y.c, without the weights of the constraints."""
        own = self.loaded.elastic
        rigid = self._rigid(point, 0.0 * point.linear.c, 0.0, convex=False)
        K = dense(self._pattern(point), rigid)
        row, col = elastic_entries(own.links, own.hinges, own.panels.nodes)
        np.add.at(K, (row, col), point.deformed.curvature)
        beside = row != col
        np.add.at(K, (col[beside], row[beside]), point.deformed.curvature[beside])
        return K

    def _pattern(self, point: LoadedConfiguration) -> HessianPattern:
        return self.pattern if point.contacts is None else point.contacts.pattern

    def _rigid(
        self, point: LoadedConfiguration, rho: Floats, shift: float, *, convex: bool
    ) -> Floats:
        """Entries of K but for those of elastic parts."""
        n, lead = self.system.n, self.lead
        W, y = np.zeros((n, 3, 3)), point.y
        if self.loaded.target is not None and len(lead):
            h = 1e-6 * self.loaded.size
            r = point.z[:n]
            W[lead] = pull_curvature(self.loaded.target, r[lead], point.g[lead], h)
            W *= self.loaded.spring[:, None, None]
        linear, blocks, contacts = point.linear, NO_BLOCKS, point.contacts
        if contacts is not None:
            linear, blocks = contacts.linear, contacts.blocks
            y = np.concatenate([y, contacts.y])
            rho = np.concatenate([rho, contacts.rho])
        if convex:
            W, y = positive_part(W), np.maximum(y, 0.0) * links_of(linear.system)
            blocks = NO_BLOCKS if contacts is None else contacts.convex
        terms = HessianTerms(W, y, rho, shift * self.stiffness, blocks)
        places = self._pattern(point).blocks
        return assemble(linear.system.layout, places, linear.B, point.z, terms)

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
        np.add.at(out, elastic.links, pull.reshape(-1, 2, 3))
        np.add.at(out, elastic.hinges, turn.reshape(-1, 4, 3))
        sheet = elastic.panels
        stress = np.einsum("pkl,pl->pk", sheet.material, panels)
        force = np.einsum("pk,pki->pi", stress, point.deformed.panels.slope)
        np.add.at(out, sheet.nodes, force.reshape(-1, 3, 3))
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
) -> SparsityPattern:
    """Of K with elastic parts, by the nodes of these; found once for a pattern."""
    parts = [
        np.frombuffer(nodes, dtype=np.int64).reshape(-1, count)
        for nodes, count in ((links, 2), (hinges, 4), (panels, 3))
    ]
    rows, cols = entries_of(rigid.blocks)
    more_rows, more_cols = elastic_entries(*parts)
    return analyse(
        3 * len(rigid.blocks.diagonal),
        np.concatenate([rows, more_rows]),
        np.concatenate([cols, more_cols]),
    )
