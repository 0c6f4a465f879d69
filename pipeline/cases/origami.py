"""An origami case: a pattern, its material, how it is held, and what is done to it."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property

import numpy as np

from pipeline.cases.actuated_folds import actuated_arrays, actuated_row
from pipeline.cases.fold_outcome import FoldOutcome, StrainWarning
from pipeline.cases.lock_share import end_of
from pipeline.cases.record import Arrays, Documents, Row, Summary, Tables
from pipeline.terminal.errors import InputError
from sim.limits import refuse_unless_positive
from sim.origami.folding.folding import OrigamiStep, run
from sim.origami.folding.imperfections import Imperfections
from sim.origami.folding.leaving import FLAT, asked_folds, crease_stiffness
from sim.origami.folding.outcome import crease_lines, reached_folds
from sim.origami.folding.problem import FoldingProblem
from sim.origami.folding.reactions import support_forces, unsupported
from sim.origami.folding.sheet import Sheet, StartError, check_phase
from sim.origami.folding.stability import smallest_eigenvalues
from sim.origami.loading.phases import Fold, Phase
from sim.origami.loading.sequences import parse_sequence
from sim.origami.mechanics.modes import Probe, eigenmodes, stiffness_along
from sim.origami.model.compliant import compliant_mesh
from sim.origami.model.concentrated import concentrated_mesh
from sim.origami.model.contact import Contact, panel_length
from sim.origami.model.material import SheetMaterial
from sim.origami.model.mesh import BarHingeMesh
from sim.origami.pattern.fold_format import pattern_document
from sim.origami.pattern.holding import largest_panel, largest_panel_held
from sim.origami.pattern.pattern import CreasePattern

HELD = "largest panel"
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
class OrigamiCase:
    """One of conf/case, built by Hydra.

    Attributes
    ----------
    supports : rows (node, x, y, z), 1 where the node is held; or "largest panel", see
        `sim.origami.pattern.holding`
    phases : what is done, in order; see `sim.origami.loading.phases`
    compliant : whether creases have a width, or are single hinges
    nodes : node positions in place of those of the mesh, m
    sequence : stages of the first phase's creases, such as "1-2-2-3"
    lock : the panels whose end state gives the verdict
    imperfections : of the sheets whose ends together give the verdict; without any it
        is that of the sheet as drawn
    eigenvalues : how many of the tangent's smallest eigenvalues, and their modes, are
        recorded
    probes : forces along which the stiffness of each increment is recorded
    max_iterations : linear solves of an increment; 0 for the solver's own limit
    accept_unconverged : with the paper's rules, go on as the paper does
    strain_limit : above it the result warns that linear elasticity ends; where none is
        given, 2 % in panels, and in creases the elastic limit of their material
    fold_tolerance : degrees within which a crease has reached what is asked
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
    eigenvalues: int = 0
    probes: Sequence[Probe] = ()
    max_iterations: int = 0
    accept_unconverged: bool = False
    strain_limit: float | None = None
    fold_tolerance: float = FOLD_TOLERANCE

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
                raise ValueError("the case has a sequence, but does not fold first")
            staged = replace(first, stages=parse_sequence(self.sequence))
            object.__setattr__(self, "phases", [staged, *self.phases[1:]])
        for name in ("strain_limit", "eigenvalues"):
            value = getattr(self, name)
            if value is not None and (isinstance(value, bool | str) or not value >= 0):
                raise ValueError(f"{name} must be zero or more, not {value!r}")
        refuse_unless_positive(self, "fold_tolerance")
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
                    f"phases[{i}].tolerance is {phase.tolerance:g} N, and creases pull "
                    f"by {force:.2g} N at most: give {force / FEWEST**2:.0e} or less"
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
            "no crease is assigned, nothing folds: write M or V at the creases of the "
            "pattern, or name creases and angles in phases"
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
        try:
            yield from run(self.sheet, self.phases)
        except StartError as error:
            raise InputError(str(error)) from None

    def recorder(self) -> "OrigamiRecorder":
        return OrigamiRecorder(self)


@dataclass(eq=False)
class OrigamiRecorder:
    """Records the increments of a sheet, and what it has come to."""

    case: OrigamiCase
    last: OrigamiStep = field(init=False)

    @cached_property
    def _fold(self) -> FoldOutcome:
        case = self.case
        return FoldOutcome(case.sheet, list(case.phases), case.fold_tolerance)

    @cached_property
    def _strain(self) -> StrainWarning:
        case = self.case
        return StrainWarning(case.sheet, case.material, case.strain_limit)

    def see(self, step: OrigamiStep) -> None:
        self.last = step
        self._fold.see(step)

    def row(self, step: OrigamiStep) -> Row:
        bending, panels, stretch, creases, contact, support = step.energies.tolist()
        found = {
            "step": step.s,
            "phase": step.phase,
            "stage": step.stage,
            "increment": step.increment,
            "load_factor": step.factor,
            "load": step.load,
            "displacement": step.displacement,
            "strain_energy": bending + panels + stretch + creases,
            "crease_bending": bending,
            "panel_bending": panels,
            "panel_stretch": stretch,
            "crease_stretch": creases,
            "contact_energy": contact,
            "support_energy": support,
            "smallest_distance": step.smallest_distance,
            "largest_strain": self._strain.largest(step),
            "panel_strain": self._strain.of_panels(step),
            "residual": step.residual,
            "iterations": step.iterations,
            "parts": step.parts,
            "converged": int(step.converged),
            **self._fold.row(step),
        }
        driven = actuated_row(self.case.mesh, self.case.phases, step)
        return found | driven | self._tangent(step)

    def _tangent(self, step: OrigamiStep) -> Row:
        """The smallest eigenvalues, and the stiffness along probes, where asked for."""
        case, phase, found = self.case, self.case.phases[step.phase], Row()
        if case.eigenvalues:
            values = smallest_eigenvalues(case.sheet, phase, step, case.eigenvalues)
            found |= {f"eigenvalue_{i}": value for i, value in enumerate(values)}
        for i, probe in enumerate(case.probes):
            found[f"stiffness_{i}"] = stiffness_along(case.sheet, phase, step, probe)
        return found

    def arrays(self, step: OrigamiStep) -> Arrays:
        case, phase = self.case, self.case.phases[step.phase]
        modes: Arrays = {}
        if case.eigenvalues:
            soft = eigenmodes(case.sheet, phase, step, case.eigenvalues)
            modes = {"modes": soft.shapes}
        driven = actuated_arrays(case.mesh, case.phases, step)
        return (
            modes
            | driven
            | {
                "x": step.x,
                "contact_force": step.contact_force,
                "support_force": support_forces(
                    self._unsupported[step.phase],
                    self.case.sheet,
                    self.case.phases[step.phase],
                    step,
                ),
            }
        )

    @cached_property
    def _unsupported(self) -> list[FoldingProblem]:
        """Each phase without the supports, whose forces are recorded."""
        return [unsupported(self.case.sheet, phase) for phase in self.case.phases]

    def progress(self, step: OrigamiStep) -> str:
        return f"E {step.energies.sum():.1e} J"

    def documents(self) -> Documents:
        return {"pattern.fold": pattern_document(self.case.pattern)}

    def fixed_arrays(self) -> Arrays:
        mesh = self.case.mesh
        return {
            "rest": mesh.rest,
            "bars": mesh.bar,
            "triangles": mesh.triangle,
            "triangle_panel": mesh.triangle_panel,
            "tags": mesh.tag,
            "crease_lines": crease_lines(mesh),
        }

    def tables(self) -> Tables:
        return {"folds.csv": self._fold.creases()}

    def summary(self) -> Summary:
        step, contact = self.last, self.case.sheet.contact
        done: Summary = {
            "stop": "all increments done",
            "steps": step.s,
            "strain_energy": float(step.energies[:4].sum()),
            "contact_energy": float(step.energies[4]),
            "unconverged": step.unconverged,
            "residual": step.residual,
            "displacement": step.displacement,
        }
        if contact.enabled:
            done |= {"rules": getattr(contact.rules, "value", "")}
            for name in ("ke", "d0_edge", "d0_centre", "thickness"):
                done[name] = getattr(contact, name)
        if np.isfinite(step.smallest_distance):
            done["smallest_distance"] = step.smallest_distance
        if self.case.lock is not None:
            done |= end_of(self.case.sheet, self.case.phases, step.x,
                           asdict(self.case.lock), self.case.imperfections)  # fmt: skip
        driven = actuated_row(self.case.mesh, self.case.phases, step)
        return {**done, **driven, **self._tangent(step), **self._fold.summary(),
                **self._strain.summary(step)}  # fmt: skip
