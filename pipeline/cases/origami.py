"""Origami cases: a pattern folded, snapped to another stable state, or a plate.

actuation.csv has a row for each rest on the path without the driver: how far the node
has moved, the energy of the sheet, whether it is stable along the path, its barriers.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from analysis.energy_profile import Rest, barriers, rests
from pipeline.cases import record
from pipeline.cases.fold_outcome import (
    FoldOutcome,
    StrainWarning,
    actuated,
    end_of,
)
from pipeline.terminal import refusing
from sim.core.options import Checked, NotNegative, Positive, Whole
from sim.origami.fold_and_load_phases import Displace, Fold, Phase, parse_sequence
from sim.origami.folding.equilibrium import FoldingProblem
from sim.origami.folding.flat_state_branching import FLAT, asked_folds, crease_stiffness
from sim.origami.folding.fold_simulation import (
    OrigamiStep,
    run,
    support_forces,
    unsupported,
)
from sim.origami.folding.imperfections import Imperfections
from sim.origami.folding.outcome import crease_lines, reached_folds
from sim.origami.folding.sheet import (
    Contact,
    Sheet,
    StartError,
    check_phase,
    panel_length,
)
from sim.origami.mechanics import (
    FoldedCell,
    PlateStiffness,
    Probe,
    eigenmodes,
    folded_cells,
    plate_of,
    stiffness_along,
)
from sim.origami.model.mesh import (
    BarHingeMesh,
    compliant_mesh,
    concentrated_mesh,
)
from sim.origami.model.sheet_material import SheetMaterial
from sim.origami.pattern.fold_format import pattern_document
from sim.origami.pattern.pattern import CreasePattern, largest_panel, largest_panel_held

HELD = "largest panel"
ENERGIES = (
    *("crease_bending", "panel_bending", "panel_stretch", "crease_stretch"),
    *("contact_energy", "support_energy"),
)
FOLD_TOLERANCE = 5.0  # degrees
FEWEST = 100.0  # tolerances that a crease pulls by: it folds to a hundredth


@dataclass(frozen=True)
class Lock:
    """A wall that two other panels hold between them.

    Attributes
    ----------
    wall, first, second : numbers of panels
    reach : how far from the wall's plane the other two may end, m
    """

    wall: int
    first: int
    second: int
    reach: float


@dataclass(frozen=True, eq=False)
class OrigamiCase(Checked):
    """One of conf/case, built by Hydra.

    Attributes
    ----------
    supports : rows (node, x, y, z), 1 where the node is held; or "largest panel", see
        `sim.origami.pattern.pattern`
    phases : what is done, in order; see `sim.origami.fold_and_load_phases`
    compliant : whether creases have a width, or are single hinges
    nodes : node positions in place of those of the mesh, m
    sequence : stages of the first phase's creases, such as "1-2-2-3"
    lock : the panels whose end state gives the verdict
    imperfections : of the sheets whose ends together give the verdict; without any it
        is that of the ideal sheet
    eigenvalues : how many of the tangent's smallest eigenvalues, and their modes, are
        recorded
    probes : forces along which the stiffness of each increment is recorded
    max_iterations : linear solves of an increment; 0 for the solver's own limit
    accept_unconverged : with the paper's rules, go on as the paper does
    strain_limit : above it the result warns that linear elasticity ends; where none is
        given, 2 % in panels, and in creases the elastic limit of their material
    fold_tolerance : degrees within which a crease has reached what is asked
    pattern : the creases and panels
    material : of panels and creases
    contact : of panels; none without it
    """

    pattern: CreasePattern
    material: SheetMaterial
    supports: Sequence[Sequence[float]] | str
    phases: Sequence[Phase]
    contact: Contact = field(default_factory=Contact)
    compliant: bool = True
    nodes: Sequence[Sequence[float]] | None = None
    sequence: str | None = None
    lock: Lock | None = None
    imperfections: Imperfections | None = None
    eigenvalues: Whole = 0
    probes: Sequence[Probe] = ()
    max_iterations: int = 0
    accept_unconverged: bool = False
    strain_limit: NotNegative | None = None
    fold_tolerance: Positive = FOLD_TOLERANCE

    def __post_init__(self) -> None:
        if not self.phases:
            raise ValueError("the case has no phases: fold or load the sheet")
        if isinstance(self.supports, str) and self.supports != HELD:
            raise ValueError(
                f"supports is {self.supports!r}: give rows of node, x, y, z, or "
                f"{HELD!r}"
            )
        if self.sequence is not None:
            first = self.phases[0]
            if not isinstance(first, Fold):
                raise ValueError("sequence needs a Fold as the first phase: add it")
            staged = replace(first, stages=parse_sequence(self.sequence))
            object.__setattr__(self, "phases", [staged, *self.phases[1:]])
        super().__post_init__()
        for phase in self.phases:
            check_phase(self.sheet, phase)
        self._refuse_nothing_to_fold()
        self._refuse_sizes()
        for probe in self.probes:
            probe.check(len(self.mesh.rest))

    def _refuse_sizes(self) -> None:
        """Refuse panels thicker than long, and folds that a tolerance would hide."""
        thick, panel = self.material.panel_thickness, panel_length(self.mesh)
        if np.max(thick) >= panel:
            raise ValueError(
                f"panels are {np.max(thick):g} m thick and {panel:.3g} m long: give "
                "material.panel_thickness in m, or pattern.scale in m per unit"
            )
        stiffness = crease_stiffness(self.mesh)
        for i, phase in enumerate(self.phases):
            if not isinstance(phase, Fold):
                continue
            moments = stiffness * np.nan_to_num(np.abs(asked_folds(self.mesh, phase)))
            force = float(moments.max(initial=0.0)) / panel
            if 0.0 < force < phase.tolerance * FEWEST:
                raise ValueError(
                    f"phases[{i}].tolerance is {phase.tolerance:g} N, but creases "
                    f"exert {force:.2g} N at most: give {force / FEWEST**2:.0e} or less"
                )

    def _refuse_nothing_to_fold(self) -> None:
        """Refuse a flat sheet that is only folded, by an assignment of nothing."""
        mesh, assigned = self.mesh, self.pattern.assignment
        named = any(not isinstance(p, Fold) or p.creases for p in self.phases)
        if named or np.any(assigned):
            return
        if np.abs(reached_folds(mesh, mesh.rest)).max(initial=0.0) > FLAT:
            return
        raise ValueError(
            "no crease is assigned: write M or V at the creases of the pattern, or "
            "name creases and angles in phases"
        )

    @cached_property
    def mesh(self) -> BarHingeMesh:
        build = compliant_mesh if self.compliant else concentrated_mesh
        mesh = build(self.pattern, self.material)
        return mesh if self.nodes is None else mesh.adjusted(self.nodes)

    @cached_property
    def sheet(self) -> Sheet:
        """The mesh with its supports, and contact with every default filled in."""
        held = self.supports
        return Sheet(
            self.mesh,
            self._largest_held() if isinstance(held, str) else held,
            self.contact.filled(self.mesh),
            self.max_iterations,
            self.accept_unconverged,
        )

    def _largest_held(self) -> list[tuple[int, ...]]:
        """Rows (node, x, y, z); panels between creases with a width have own nodes."""
        held, mesh = largest_panel(self.pattern), self.mesh
        rows = largest_panel_held(self.pattern)
        return [(mesh.corner_node(held, vertex), *axes) for vertex, *axes in rows]

    def steps(self) -> Iterator[OrigamiStep]:
        with refusing(StartError):
            yield from run(self.sheet, self.phases)

    def recorder(self) -> "OrigamiRecorder":
        return OrigamiRecorder(self)


class OrigamiRecorder(record.Recorder[OrigamiCase, OrigamiStep]):
    """Records the increments of a sheet, and what it has come to."""

    def __init__(self, case: OrigamiCase) -> None:
        super().__init__(case)
        phases, sheet = list(case.phases), case.sheet
        self._fold = FoldOutcome(sheet, phases, case.fold_tolerance)
        self._strain = StrainWarning(sheet, case.material, case.strain_limit)

    def see(self, step: OrigamiStep) -> None:
        super().see(step)
        self._fold.see(step)

    def row(self, step: OrigamiStep) -> record.Row:
        energies = dict(zip(ENERGIES, step.energies.tolist(), strict=True))
        found = {
            "step": step.s,
            **record.attributes(step, "phase", "stage", "increment"),
            "load_factor": step.factor,
            **record.attributes(step, "load", "displacement"),
            "strain_energy": sum([*energies.values()][:4]),
            **energies,
            "smallest_distance": step.smallest_distance,
            "largest_strain": self._strain.largest(step),
            "panel_strain": self._strain.of_panels(step),
            **record.attributes(step, "residual", "iterations", "parts"),
            "converged": int(step.converged),
            **self._fold.row(step),
        }
        return found | self._largest_fold(step) | self._tangent(step)

    def _largest_fold(self, step: OrigamiStep) -> record.Row:
        folds = actuated(self.case.mesh, self.case.phases, step.x)
        if not folds:
            return {}
        return {"largest_fold_deg": float(np.degrees(np.abs(folds["folds"]).max()))}

    def _tangent(self, step: OrigamiStep) -> record.Row:
        """The smallest eigenvalues, and the stiffness along probes, where asked for."""
        case, phase, found = self.case, self.case.phases[step.phase], record.Row()
        if case.eigenvalues:
            soft = eigenmodes(case.sheet, phase, step, case.eigenvalues)
            found |= {f"eigenvalue_{i}": value for i, value in enumerate(soft.values)}
        for i, probe in enumerate(case.probes):
            found[f"stiffness_{i}"] = stiffness_along(case.sheet, phase, step, probe)
        return found

    def arrays(self, step: OrigamiStep) -> record.Arrays:
        case, phase = self.case, self.case.phases[step.phase]
        found: record.Arrays = {}
        if case.eigenvalues:
            soft = eigenmodes(case.sheet, phase, step, case.eigenvalues)
            found = {"modes": soft.shapes}
        found |= actuated(case.mesh, case.phases, step.x)
        free = self._unsupported[step.phase]
        return {
            **found,
            **record.attributes(step, "x", "contact_force"),
            "support_force": support_forces(free, case.sheet, phase, step),
        }

    @cached_property
    def _unsupported(self) -> list[FoldingProblem]:
        """Each phase without the supports, whose forces are recorded."""
        return [unsupported(self.case.sheet, phase) for phase in self.case.phases]

    def progress(self, step: OrigamiStep) -> str:
        return f"E {step.energies.sum():.3g} J"

    def documents(self) -> record.Documents:
        return {"pattern.fold": pattern_document(self.case.pattern)}

    def fixed_arrays(self) -> record.Arrays:
        mesh = self.case.mesh
        return {
            "rest": mesh.rest,
            "bars": mesh.bar,
            "triangles": mesh.triangle,
            "triangle_panel": mesh.triangle_panel,
            "tags": mesh.tag,
            "crease_lines": crease_lines(mesh),
        }

    def tables(self) -> record.Tables:
        return {"folds.csv": self._fold.creases()}

    def summary(self) -> record.Summary:
        step, contact = self.last, self.case.sheet.contact
        done: record.Summary = {
            "stop": "all increments done",
            "steps": step.s,
            "strain_energy": float(step.energies[:4].sum()),
            "contact_energy": float(step.energies[4]),
            **record.attributes(step, "unconverged", "residual", "displacement"),
        }
        if contact.enabled:
            done |= {"rules": getattr(contact.rules, "value", "")}
            done |= record.attributes(
                contact, "ke", "d0_edge", "d0_centre", "thickness"
            )
        if np.isfinite(step.smallest_distance):
            done["smallest_distance"] = step.smallest_distance
        if self.case.lock is not None:
            done |= end_of(self.case.sheet, self.case.phases, step.x,
                           asdict(self.case.lock), self.case.imperfections)  # fmt: skip
        more = self._largest_fold(step) | self._tangent(step)
        return {**done, **more, **self._fold.summary(), **self._strain.summary(step)}


@dataclass(frozen=True, eq=False)
class FoldSnapCase:
    """One of conf/case, built by Hydra.

    Attributes
    ----------
    of : its only phase displaces a node along an axis by a force on that node alone
    """

    of: OrigamiCase

    def __post_init__(self) -> None:
        _ = self._phase

    @cached_property
    def _phase(self) -> Displace:
        phase = self.of.phases[0]
        if len(self.of.phases) != 1 or not isinstance(phase, Displace):
            raise ValueError(
                "a sheet that snaps needs one phase, "
                "sim.origami.fold_and_load_phases.Displace"
            )
        along = np.zeros(3)
        along[phase.axis] = phase.force[phase.axis]
        alone = list(phase.nodes) == [phase.watch]
        if not alone or not np.array_equal(along, np.array(phase.force)):
            raise ValueError(
                f"the force of the driver acts on nodes {list(phase.nodes)} along "
                f"{list(phase.force)}: let it act on node {phase.watch} alone, along "
                f"{'xyz'[phase.axis]}"
            )
        return phase

    def steps(self) -> Iterator[OrigamiStep]:
        return self.of.steps()

    def recorder(self) -> "FoldSnapRecorder":
        return FoldSnapRecorder(self.of, self.force)

    def force(self, step: OrigamiStep) -> float:
        """Of the driver, the slope of the energy, N."""
        return float(step.factor * self._phase.force[self._phase.axis])


class FoldSnapRecorder(OrigamiRecorder):
    """Records a sheet, the energy that it has stored, and the force of the driver."""

    def __init__(
        self, sheet: OrigamiCase, force: Callable[[OrigamiStep], float]
    ) -> None:
        super().__init__(sheet)
        self.force = force
        self.path: list[tuple[float, float, float]] = []

    def see(self, step: OrigamiStep) -> None:
        super().see(step)
        energy = float(step.energies.sum())
        self.path.append((step.displacement, energy, self.force(step)))

    def row(self, step: OrigamiStep) -> record.Row:
        moved, energy, force = self.path[-1]
        return super().row(step) | {"moved": moved, "force": force, "energy": energy}

    def progress(self, step: OrigamiStep) -> str:
        return f"moved {step.displacement:.3g} m"

    @cached_property
    def rests(self) -> list[Rest]:
        """Where the driver carries nothing."""
        moved, energy, force = np.array(self.path).T
        return rests(moved, energy, force)

    def tables(self) -> record.Tables:
        return {"actuation.csv": record.climb_rows(self.rests, barriers(self.rests))}

    def summary(self) -> record.Summary:
        return super().summary() | record.first_climb(self.rests, barriers(self.rests))


class PlateStep(NamedTuple):
    """The sheet at one part of its fold."""

    s: int
    cell: FoldedCell
    plate: PlateStiffness


@dataclass(frozen=True, eq=False)
class PlateCase:
    """One of conf/case, built by Hydra.

    Attributes
    ----------
    pattern : a flat sheet, one cell and a panel around it at least
    material : of panels and creases, which are single hinges
    periods : two pairs of vertices with the same places in neighbouring cells
    fold : how far, in how many increments; the flat sheet is none of them
    """

    pattern: CreasePattern
    material: SheetMaterial
    periods: Sequence[Sequence[int]]
    fold: Fold

    def __post_init__(self) -> None:
        self.fold.targets(self.mesh)
        vertices = len(self.pattern.vertices)
        if len(self.periods) != 2:
            raise ValueError(f"two periods are needed, not {len(self.periods)}")
        for pair in self.periods:
            if len(pair) != 2 or not all(0 <= v < vertices for v in pair):
                raise ValueError(
                    f"a period is {list(pair)}: give two vertices, numbered 0 to "
                    f"{vertices - 1}"
                )
        a, b = (self.pattern.vertices[j] - self.pattern.vertices[i]
                for i, j in self.periods)  # fmt: skip
        area = float(np.linalg.norm(np.cross(a, b)))
        if area <= 1e-9 * float(np.linalg.norm(a)) * float(np.linalg.norm(b)):
            raise ValueError(
                f"periods {list(map(list, self.periods))} are parallel: change one"
            )

    @property
    def mesh(self) -> BarHingeMesh:
        return concentrated_mesh(self.pattern, self.material)

    def steps(self) -> Iterator[PlateStep]:
        cells = folded_cells(self.pattern, self.material, self.fold, self.periods)
        with refusing(ValueError):
            for s, cell in enumerate(cells):
                yield PlateStep(s, cell, plate_of(cell, self.material))

    def recorder(self) -> "PlateRecorder":
        return PlateRecorder(self)


class PlateRecorder(record.Recorder[PlateCase, PlateStep]):
    """Records ratios and moduli of the plate."""

    def row(self, step: PlateStep) -> record.Row:
        folds = np.degrees(np.abs(step.cell.folds))
        in_plane, bending = step.plate.poisson()
        names = ("stretch_x", "stretch_y", "bending_x", "bending_y")
        return {
            "step": step.s,
            "part": (step.s + 1) / self.case.fold.increments,
            "smallest_fold_deg": float(folds.min()),
            "largest_fold_deg": float(folds.max()),
            "period_0": float(step.plate.periods[0]),
            "period_1": float(step.plate.periods[1]),
            "poisson": in_plane,
            "bending_poisson": bending,
            **dict(zip(names, step.plate.moduli().tolist(), strict=True)),
        }

    def arrays(self, step: PlateStep) -> record.Arrays:
        mesh = concentrated_mesh(step.cell.pattern, self.case.material)
        return {"x": mesh.rest, "plate": step.plate.C}

    def progress(self, step: PlateStep) -> str:
        return "Poisson's ratio {:.2g}, bending {:.2g}".format(*step.plate.poisson())

    def documents(self) -> record.Documents:
        return {"pattern.fold": pattern_document(self.case.pattern)}

    def fixed_arrays(self) -> record.Arrays:
        mesh = self.case.mesh
        return {"rest": mesh.rest, "triangles": mesh.triangle}

    def summary(self) -> record.Summary:
        in_plane, bending = self.last.plate.poisson()
        return {
            "stop": "all increments done",
            "steps": self.last.s,
            "poisson": in_plane,
            "bending_poisson": bending,
        }
