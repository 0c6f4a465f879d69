"""conf/workflow.yaml, conf/parts and conf/scanner.yaml, composed and checked."""

from collections.abc import Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, model_validator

from pipeline.config.config_files import (
    CONF,
    check_folder_names,
    checked,
    folder_name,
)
from pipeline.config.hydra import composed_file, overridden
from pipeline.config.value_types import (
    Count,
    Entry,
    NotNegative,
    Positive,
    Settings,
    Words,
)
from pipeline.terminal import InputError
from sim.virtual_lab.lab_settings import Sizes

WORKFLOW = Path("conf/workflow.yaml")


class VirtualScan(Entry):
    """A synthetic scan of a simulated end state, in place of a real one."""

    seed: Count = 0
    of: Words = ()  # Hydra overrides of the run scanned; () is the one compared


def _scan(value: Any) -> tuple[str, ...] | VirtualScan:
    if isinstance(value, str):
        return (value,)
    if isinstance(value, list) and value and all(isinstance(v, str) for v in value):
        return tuple(value)
    if isinstance(value, Mapping) and list(value) == ["virtual"]:
        return VirtualScan.model_validate(value["virtual"] or {})
    raise ValueError(f"is {value!r}: give a list of files, or `virtual: {{seed: 1}}`")


class Compared(Entry):
    """A scan and the case that it is compared with.

    Attributes
    ----------
    scan : files, each one view, or a synthetic scan
    scale_mm : mm per unit of the case
    input_draws : virtual prints with errors that give the spread of the shape; 0
        leaves that to the covariance of rigid lengths
    settings : options of morphtrack compare, such as printing_sd_mm
    ingest : further options of morphtrack ingest, such as decimal_comma
    expect : verdict that a control must get, or ""
    scale_is_shared : whether its scale_mm is that of all comparisons
    name : the key of the entry, which is not repeated in it
    case : file of conf/case
    sphere_radius_mm : of the printed spheres
    unit : of the scan files
    overrides : changes of the case, such as case.path=gripper.yaml
    """

    name: str
    case: str
    scan: Annotated[tuple[str, ...] | VirtualScan, BeforeValidator(_scan)]
    sphere_radius_mm: Positive
    scale_mm: Positive
    unit: Literal["mm", "m", "cm", "inch"] = "mm"
    overrides: Words = ()
    input_draws: Count = 100
    expect: Literal["", "agrees", "differs", "inconclusive"] = ""
    scale_is_shared: bool = False
    settings: Settings = Field(default_factory=dict)
    ingest: Settings = Field(default_factory=dict)


class MeasuredSeries(Entry):
    """Measurements to compare with a case: markers in time, force by displacement.

    Attributes
    ----------
    measured : CSV file, see morphtrack compare_series
    along : column of the run's steps.csv that the measurements are given along
    synthetic : whether they were computed
    u : standard uncertainty of a measured value where its row states none
    u_simulated : that of a simulated one
    margin : largest acceptable error, root mean square; 0: not stated
    name : the key of the entry, which is not repeated in it
    case : file of conf/case
    overrides : changes of the case
    """

    name: str
    case: str
    measured: str
    along: str = "time"
    synthetic: bool = False
    u: NotNegative = 0.0
    u_simulated: NotNegative = 0.0
    margin: NotNegative = 0.0
    overrides: Words = ()


def _cases(value: Any) -> dict[str, Any]:
    """Cases by name, or by a label with the overrides that make them."""
    if isinstance(value, list) and all(isinstance(v, str) for v in value):
        return {name: [f"case={name}"] for name in value}
    if isinstance(value, Mapping):
        return {str(label): words for label, words in value.items()}
    raise ValueError(f"must be case names, or `label: overrides`, not {value!r}")


Cases = Annotated[dict[str, Words], BeforeValidator(_cases)]


class FigureEntry(Entry):
    """A figure and the runs, comparisons and sets that it shows.

    Attributes
    ----------
    cases : Hydra overrides of the run of each further row, by its label
    study : file of conf/study whose runs are rows too, in its order; or ""
    calibrations : files of conf/calibration, each a row
    parts : Hydra overrides of the case whose printed parts are a row, by its label
    sets : files of conf/measured, each a row
    name : the key of the entry, which is not repeated in it
    comparisons : those that it shows, by name
    """

    name: str
    comparisons: Words = ()
    cases: Cases = Field(default_factory=dict)
    study: str = ""
    calibrations: Words = ()
    parts: Cases = Field(default_factory=dict)
    sets: Words = ()


class FigureStyle(Entry):
    """Style and file formats of all figures.

    Attributes
    ----------
    width : mm
    identity : whether a line below the art names the runs
    svg : whether to write SVG as well as PDF and PNG
    """

    width: Literal[89, 120, 183, "slide"] = 183
    identity: bool = True
    svg: bool = False


class Workflow(Entry):
    """Everything that `make figures` makes, in its order."""

    comparisons: dict[str, Compared] = Field(default_factory=dict)
    figures: dict[str, FigureEntry] = Field(default_factory=dict)
    series: dict[str, MeasuredSeries] = Field(default_factory=dict)
    style: FigureStyle = FigureStyle()

    @model_validator(mode="after")
    def _figures_show_what_there_is(self) -> "Workflow":
        for figure in self.figures.values():
            for name in set(figure.comparisons) - self.comparisons.keys():
                raise InputError(
                    f"{WORKFLOW}: figures.{figure.name} shows {name!r}, which does not "
                    f"exist: choose from {', '.join(self.comparisons)}"
                )
        return self


def _check_names(workflow: Workflow) -> None:
    """Refuse names that would lead out of the folders they become, or to one."""
    for kind in ("comparisons", "series", "figures"):
        check_folder_names(getattr(workflow, kind), f"{WORKFLOW}: {kind}")
    for name, entry in workflow.comparisons.items():
        folder_name(entry.case, f"{WORKFLOW}: comparisons.{name}.case")
    for name, figure in workflow.figures.items():
        labels = [*figure.cases, *figure.parts]
        check_folder_names(labels, f"{WORKFLOW}: figures.{name}")


def _mapping(key: str, value: Any) -> Mapping[Any, Any]:
    """A part of the file; empty where nothing is written."""
    if not isinstance(value, Mapping | None):
        raise InputError(f"{WORKFLOW}: {key} must be a mapping, not {value!r}")
    return value or {}


def _section(whole: Mapping[str, Any], key: str) -> dict[str, dict[str, Any]]:
    """A section of the file, each entry with its name."""
    return {
        str(name): {"name": str(name), **_mapping(f"{key}.{name}", entry)}
        for name, entry in _mapping(key, whole.get(key) or None).items()
    }


def with_shared(whole: Mapping[str, Any]) -> dict[str, Any]:
    """The workflow with what comparisons share written into each of them."""
    shared = _mapping("shared", whole.get("shared") or None)
    comparisons = {
        name: {**shared, "scale_is_shared": "scale_mm" not in entry, **entry}
        for name, entry in _section(whole, "comparisons").items()
    }
    others = {key: _section(whole, key) for key in ("series", "figures")}
    rest = {k: v for k, v in whole.items() if k != "shared"}
    return rest | {"comparisons": comparisons} | others


def read_workflow(path: Path = WORKFLOW, words: Sequence[str] = ()) -> Workflow:
    """Compose and check conf/workflow.yaml.

    Parameters
    ----------
    words : overrides such as comparisons.circle.scale_mm=50 or shared.scale_mm=50
    """
    shared = [word for word in words if word.lstrip("+~").startswith("shared.")]
    whole = with_shared(overridden(composed_file(path), shared))
    others = [word for word in words if word not in shared]
    workflow = checked(Workflow, overridden(whole, others), str(WORKFLOW))
    _check_names(workflow)
    return workflow


FILE = CONF / "parts/default.yaml"
SETTINGS = CONF / "scanner.yaml"


def shared_settings(path: Path = FILE) -> dict[str, Any]:
    """Scale and sizes that printer and virtual scanner share, from a parts file."""
    given = composed_file(path)
    names = ["scale_mm", *(f.name for f in fields(Sizes))]
    missing = [name for name in names if name not in given]
    if missing:
        raise InputError(f"{path} has no {missing[0]}: give it a value")
    return {name: given[name] for name in names}


def scanner_settings(path: Path = SETTINGS, parts: Path = FILE) -> dict[str, Any]:
    """The virtual lab: the part's sizes, and what conf/scanner.yaml adds or changes."""
    return {**shared_settings(parts), **composed_file(path)}
