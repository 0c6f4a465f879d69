"""What conf/workflow.yaml asks for: by rule and name, configuration and inputs.

The Snakefile asks this for the parameters and the inputs of its jobs. Nothing is
composed before it is asked for; no process starts and no file is written.

Of the simulations, a case as it is has the case's name; a case with overrides has the
name of the entry that changes it, of a figure <figure>.<label>.
"""

import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import MISSING, asdict, dataclass, fields
from functools import cached_property
from pathlib import Path
from typing import Any

from pipeline.config.hydra import Composer
from pipeline.config.workflow_file import (
    WORKFLOW,
    Compared,
    FigureEntry,
    MeasuredSeries,
    VirtualScan,
    Workflow,
    read_workflow,
)
from pipeline.io.length_units import unit_named
from pipeline.measured.set_file import MeasuredSet, read_set
from pipeline.runs.run_directory import RESULTS
from pipeline.runs.run_keys import files_named, identity, rebuilds_cases, targets
from pipeline.runs.step_jobs import planned_digest
from pipeline.steps.settings import STEPS, Step
from pipeline.terminal import InputError, nearest, no_such, refusing
from pipeline.workflow.study_batches import StudyPlan

OF_EACH = {"virtual_scan": ("scale_mm", "ball_radius_mm", "seed")}


def option_line(step: str, settings: Any) -> str:
    """The options that give `settings`, a dataclass, to the command of a step.

    What has its default value is left out. A virtual scan reads conf/scanner.yaml, and
    is given only what differs from scan to scan.
    """
    words: list[str] = []
    for field in fields(settings):
        value = getattr(settings, field.name)
        if step in OF_EACH and field.name not in OF_EACH[step]:
            continue
        if value is None or (field.default is not MISSING and value == field.default):
            continue
        words.append("--" + field.name.replace("_", "-"))
        if value is not True:
            words += map(str, value if isinstance(value, list | tuple) else [value])
    return shlex.join(words)


Upstream = tuple[str, str]  # step and name


def label_in_name(text: str) -> str:
    """A label of a figure's row as part of a name."""
    return re.sub(r"[^\w.+=-]+", "_", text)


def scanned_run(entry: Compared | MeasuredSeries, of: str | Sequence[str]) -> str:
    """The name of the simulation of an entry, or of the one that is scanned for it."""
    if of:
        return f"{entry.name}-scanned"
    return entry.name if entry.overrides else entry.case


def figure_run(figure: str, words: Sequence[str], label: str) -> tuple[str, list[str]]:
    """The name and the overrides of the run in a row of a figure."""
    as_it_is = re.fullmatch(r"case=([\w-]+)", words[0]) if len(words) == 1 else None
    return as_it_is[1] if as_it_is else f"{figure}.{label_in_name(label)}", list(words)


def _all(workflow: Workflow) -> Iterator[tuple[str, list[str]]]:
    entries: list[Compared | MeasuredSeries] = [*workflow.comparisons.values()]
    for entry in [*entries, *workflow.series.values()]:
        yield scanned_run(entry, ""), [f"case={entry.case}", *entry.overrides]
        scan = getattr(entry, "scan", None)
        if isinstance(scan, VirtualScan) and scan.of:
            yield scanned_run(entry, scan.of), list(scan.of)
    for figure in workflow.figures.values():
        for label, words in {**figure.cases, **figure.parts}.items():
            yield figure_run(figure.name, words, label)


def named_simulations(workflow: Workflow) -> dict[str, list[str]]:
    """The overrides of every simulation of a workflow by name."""
    found: dict[str, list[str]] = {}
    for name, words in _all(workflow):
        if found.setdefault(name, words) != words:
            raise InputError(
                f"{WORKFLOW}: two simulations are called {name}: {' '.join(words)} and "
                f"{' '.join(found[name])}; rename one entry"
            )
    return found


def unit_of_structure(config: Mapping[str, Any]) -> str:
    """The unit that the structure file of a case is written in, or ""."""
    structure = config["case"].get("structure")
    if not isinstance(structure, Mapping) or "path" not in structure:
        return ""
    from pipeline.config.build_objects import build

    return str(getattr(build(structure, "case.structure"), "unit", ""))


@dataclass(frozen=True)
class FigureRow:
    """What a row of a figure shows.

    Parameters
    ----------
    shown : step and name of the result; of a study, whose runs are rows each
    comparison : whose scan and verdict the row shows as well, or ""
    """

    label: str
    shown: Upstream
    comparison: str = ""

    @property
    def reads(self) -> list[Upstream]:
        """Step and name of all that the row reads."""
        scan = [("ingest", self.comparison), ("compare", self.comparison)]
        return [self.shown, *(scan if self.comparison else [])]


def figure_rows(figure: FigureEntry, workflow: Workflow) -> Iterator[FigureRow]:
    """The rows of a figure: comparisons first; a study is one entry here."""
    for name in figure.comparisons:
        run = scanned_run(workflow.comparisons[name], "")
        yield FigureRow(name, ("simulate", run), name)
    for label, words in figure.cases.items():
        name, _ = figure_run(figure.name, words, label)
        yield FigureRow(label, ("simulate", name))
    if figure.study:
        yield FigureRow(figure.study, ("study", figure.study))
    for name in figure.calibrations:
        yield FigureRow(name, ("calibrate", name))
    for name in figure.sets:
        yield FigureRow(name, ("measured", name))
    for label in figure.parts:
        yield FigureRow(label, ("parts", label_in_name(label)))


Config = dict[str, Any]
DATA = {step: row.data for step, row in STEPS.items()} | {"study": "table.csv"}
# Of results, those that are known.
FOLDERS = (*(step for step in DATA if step != "search"), "runs")


def no_step(folder: str) -> list[str]:
    """Refuse a target whose folder no step writes."""
    raise no_such(f"{RESULTS} has no folder", folder, FOLDERS)


def plan_of(config: Mapping[str, Any]) -> "Plan":
    """The plan of what `snakemake --config` was given."""
    for key in config:
        if key not in ("set", "study"):
            raise no_such("snakemake --config has no key", key, ("set", "study"))
    return Plan(config.get("set", ""), study=config.get("study", ""))


class Plan:
    """Configuration, code and inputs of every result that the workflow names.

    Parameters
    ----------
    words : overrides of conf/workflow.yaml, as `snakemake --config set='...'` has them
    study : overrides of a study, likewise
    """

    def __init__(
        self, words: str | Sequence[str] = "", study: str | Sequence[str] = ""
    ) -> None:
        self.words, self.study_words = map(_joined, (words, study))
        self.workflow: Workflow = read_workflow(words=shlex.split(self.words))
        self.simulations = named_simulations(self.workflow)
        self._configs: dict[Upstream, Config] = {}
        self._studies: dict[str, StudyPlan] = {}
        self._sets: dict[str, MeasuredSet] = {}

    # What is there, by name.

    def entry(self, step: str, name: str) -> Any:
        """The entry of conf/workflow.yaml that a result of a step belongs to."""
        section = STEPS[step].section
        entries: Mapping[str, Any] = getattr(self.workflow, section)
        if name not in entries:
            raise no_such(f"{WORKFLOW}: {section} has no", name, entries)
        return entries[name]

    @cached_property
    def parts(self) -> dict[str, str]:
        """The simulation of each set of printed parts that a figure shows."""
        return {
            label_in_name(label): figure_run(figure.name, words, label)[0]
            for figure in self.workflow.figures.values()
            for label, words in figure.parts.items()
        }

    def study(self, name: str) -> StudyPlan:
        """A study, its case composed once."""
        if name not in self._studies:
            words = shlex.split(self.study_words)
            self._studies[name] = StudyPlan.read(name, self.composer, words)
        return self._studies[name]

    def measured_set(self, name: str) -> MeasuredSet:
        """A measured set, read once."""
        if name not in self._sets:
            self._sets[name] = read_set(name)
        return self._sets[name]

    @cached_property
    def composer(self) -> Composer:
        """Composes cases; Hydra starts once."""
        return Composer()

    # Configuration, code and what both are known by.

    def config(self, step: str, name: str) -> Config:
        """The resolved configuration of a result."""
        if (step, name) not in self._configs:
            self._configs[step, name] = self._composed(step, name)
        return self._configs[step, name]

    def _composed(self, step: str, name: str) -> Config:
        if step == "simulate":
            if name not in self.simulations:
                raise no_such(f"{WORKFLOW} has no simulation", name, self.simulations)
            return self.composer.compose("simulate", self.simulations[name])
        if step == "calibrate":
            from pipeline.steps.synthetic_poses import FOLDER, composed

            return composed(FOLDER / f"{name}.yaml", self.composer)
        if step == "parts":
            from pipeline.steps.parts import parts_settings

            return parts_settings()
        if step in ("fit_measured", "predict", "measured"):
            return {"set": self.measured_set(name).model_dump(mode="json")}
        return asdict(self.settings(step, name))

    def settings(self, step: str, name: str) -> Any:
        """The settings of a step, as the object that checks them."""
        entry = self.entry(step, name)
        place = f"{WORKFLOW}: {STEPS[step].section}.{name} ({step})"
        with refusing(TypeError, ValueError, place=place):
            return STEPS[step].kind(**self._stated(step, entry))

    def _stated(self, step: str, entry: Any) -> Config:
        if step == "figure":
            from pipeline.figures.figure_names import figure_config

            style = self.workflow.style.model_dump()
            return figure_config(entry.name, [*self.labels(entry.name)], style)
        taken = {field.name for field in fields(STEPS[step].kind)}
        if step == "compare_series":
            return {name: getattr(entry, name) for name in taken}
        if step == "ingest":
            own = {"sphere_radius_mm": entry.sphere_radius_mm, "unit": entry.unit}
            return {**entry.ingest, **own}
        if step == "virtual_scan":
            return {
                **self.lab,
                "scale_mm": entry.scale_mm,
                "ball_radius_mm": entry.sphere_radius_mm,
                "seed": entry.scan.seed,
            }
        stated = {"scale_mm": entry.scale_mm, **entry.settings}
        if isinstance(entry.scan, VirtualScan):
            stated.setdefault("scan_scale_sd", self.lab["certified_scale_sd"])
        if step == "compare":  # which refuses what it does not know
            self._refuse_other_unit(entry)
            return stated
        stated["draws"] = entry.input_draws
        return {name: value for name, value in stated.items() if name in taken}

    @cached_property
    def lab(self) -> Config:
        """The virtual lab, as conf/scanner.yaml and conf/parts describe it."""
        from pipeline.config.workflow_file import scanner_settings

        return scanner_settings()

    def _refuse_other_unit(self, entry: Compared) -> None:
        """Refuse a shared scale where the structure is written in another unit."""
        if not entry.scale_is_shared:
            return
        unit = unit_of_structure(self.config("simulate", scanned_run(entry, "")))
        if not unit or unit_named(unit).mm == entry.scale_mm:
            return
        raise InputError(
            f"{WORKFLOW}: comparisons.{entry.name}: its structure is in {unit}, but "
            f"scale_mm {entry.scale_mm:g} comes from `shared`: write `scale_mm: "
            f"{unit_named(unit).mm:g}`, or the print's scale, into the entry"
        )

    def modules(self, step: str, name: str) -> tuple[str, ...]:
        """Modules that decide a result in addition to those that its step imports."""
        own: set[str] = set()
        if step == "figure":
            from pipeline.figures.figure_names import module_of

            own = {module_of(name)}
        if not rebuilds_cases(step, frozenset(own)):
            return tuple(sorted(own))
        for upstream in self.upstream(step, name):
            if upstream[0] == "study":
                own |= set(targets(self.study(upstream[1]).base))
            else:
                own |= {*targets(self.config(*upstream)), *self.modules(*upstream)}
        return tuple(sorted(own))

    def identity(self, step: str, name: str) -> dict[str, Any]:
        """What decides a result, but for its inputs."""
        modules = self.modules(step, name)
        return identity(step, self.config(step, name), modules=modules)

    def planned(self, step: str, name: str) -> str:
        """The planned digest of a result."""
        return planned_digest(self.identity(step, name))

    def options(self, step: str, name: str) -> str:
        """The settings of a result as options of its command."""
        return option_line(step, self.settings(step, name))

    # What results are made from.

    def upstream(self, step: str, name: str) -> list[Upstream]:
        """Step and name of each result that a result is made from."""
        if step == "figure":
            return list(
                dict.fromkeys(up for row in self.rows(name) for up in row.reads)
            )
        row = STEPS.get(step, Step(""))
        entry = self.entry(step, name) if row.section else None
        reads = dict.fromkeys(row.reads, name)
        if "simulate" in reads:
            reads["simulate"] = self._simulated(step, name, entry)
        if not isinstance(getattr(entry, "scan", None), VirtualScan):
            reads.pop("virtual_scan", "")
        if not getattr(entry, "input_draws", 0):
            reads.pop("input_uncertainty", "")
        return list(reads.items())

    def _simulated(self, step: str, name: str, entry: Any) -> str:
        """The simulation that a result is made from."""
        if step == "parts":
            if name not in self.parts:
                raise no_such(f"{WORKFLOW} has no parts", name, self.parts)
            return self.parts[name]
        return scanned_run(entry, entry.scan.of if step == "virtual_scan" else "")

    def rows(self, figure: str) -> list[FigureRow]:
        """What a figure shows; a study is one entry here."""
        return list(figure_rows(self.entry("figure", figure), self.workflow))

    def labels(self, figure: str) -> Iterator[str]:
        """What each row of a figure is called."""
        for row in self.rows(figure):
            if row.shown[0] == "study":
                yield from (one.label for one in self.study(row.shown[1]).members)
            else:
                yield row.label

    def scans(self, comparison: str) -> list[str]:
        """The files of the scan of a comparison.

        Snakemake would keep results of earlier files where the present ones are not
        there, and say that nothing is to be done.
        """
        scan = self.entry("ingest", comparison).scan
        if not isinstance(scan, VirtualScan):
            for file in map(Path, scan):
                if not file.is_file():
                    raise InputError(
                        f"{WORKFLOW}: comparisons.{comparison}: scan: there is no file "
                        f"{file}: {nearest(file)}"
                    )
            return list(scan)
        return [f"{RESULTS}/virtual_scan/{comparison}/{view}" for view in self.views]

    @cached_property
    def views(self) -> list[str]:
        """The files that a virtual scan writes."""
        return [f"view_{number:02d}.ply" for number in range(self.lab["views"])]

    def inputs(self, step: str, name: str, upstream: str) -> list[str]:
        """The data files of the results of step `upstream` that a result reads."""
        found = [n for s, n in self.upstream(step, name) if s == upstream]
        return [data_file(upstream, one) for one in found]

    def shown(self, figure: str) -> list[str]:
        """The data files of all that a figure shows."""
        return [data_file(*upstream) for upstream in self.upstream("figure", figure)]

    def overrides(self, case: str) -> str:
        """The words that a simulation is composed of."""
        return shlex.join(self.simulations[case])

    def records(self, name: str) -> list[str]:
        """The files of a measured set."""
        from pipeline.measured.prediction_file import committed_files, shipped_files

        of = self.measured_set(name)
        return [*shipped_files(of), *committed_files(of)]

    def files(self, step: str, name: str) -> list[str]:
        """Files from outside that the configuration of a result names."""
        return list(files_named(self.config(step, name)))

    def targets(self, only: str = "") -> list[str]:
        """Files of all results, or of the comparisons and their figures."""
        figures = self.workflow.figures
        shown = {name for name, figure in figures.items() if figure.comparisons}
        return [
            data_file(step, name)
            for step, name in self._requested()
            if not only or step == "compare" or (step == "figure" and name in shown)
        ]

    def _requested(self) -> Iterator[Upstream]:
        """Step and name of every result that nothing else here is made from."""
        for step in ("compare", "compare_series", "figure"):
            names: Mapping[str, Any] = getattr(self.workflow, STEPS[step].section)
            yield from ((step, name) for name in names)

    def names(self) -> Iterator[Upstream]:
        """Step and name of every result, each once, what is read before its reader."""
        seen: dict[Upstream, None] = {}
        for result in self._requested():
            self._collect(result, seen)
        yield from seen

    def _collect(self, result: Upstream, seen: dict[Upstream, None]) -> None:
        if result not in seen:
            for upstream in self.upstream(*result):
                self._collect(upstream, seen)
            seen[result] = None


def data_file(step: str, name: str) -> str:
    """The file of a result that what is made from it depends on."""
    file = f"{name}.pdf" if step == "figure" else DATA[step]
    return f"{RESULTS}/{step}/{name}/{file}"


def _joined(words: str | Sequence[str]) -> str:
    """Words on one line, as a shell reads them."""
    return shlex.join(shlex.split(words) if isinstance(words, str) else map(str, words))


def option_of(files: Sequence[str], option: str) -> str:
    """An option with the first of some files, or nothing where there is none."""
    return f"--{option} {shlex.quote(files[0])}" if files else ""
