"""The table of steps, their settings and help: these check themselves.

A step is a row of `STEPS`, a class of settings here, and a module with
`perform(job, needs, out)`. The Snakefile and the command line read this module, so it
imports nothing heavy.
"""

import importlib
import math
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Annotated, Any, Self, TypeVar, cast

from analysis.comparison.assumptions import (
    Acceptance,
    SeriesTerms,
    UncertaintyOptions,
)
from pipeline.figures.figure_names import entry_of
from pipeline.io.length_units import unit_named
from pipeline.terminal import InputError
from sim.core.options import Checked, NotNegative, Positive, Requirement, counted

if TYPE_CHECKING:
    from analysis.calibration.as_built_unknowns import Unknowns
    from analysis.spheres.detections import PickOptions


Part = TypeVar("Part")


def _part_of(settings: object, part: type[Part]) -> Part:
    """The settings that `part` has; what is not stated stays at its default."""
    names = [one.name for one in fields(cast(Any, part))]
    given = {name: getattr(settings, name, None) for name in names}
    return part(**{name: value for name, value in given.items() if value is not None})


@dataclass(frozen=True)
class Ingest:
    """What is looked for in a scan, and how its files are to be read."""

    sphere_radius_mm: float
    unit: str | None = None  # mm, cm, m or inch
    largest_radius_mm: float | None = None  # if the radius is known as a range only
    registration_mm: float = 0.0  # sd of a view's misplacement in a merged cloud
    repeatability_mm: float = 0.0  # sd of a centre that repeated scans show
    decimal_comma: bool = False
    salvage: bool = False  # keep the good points of damaged files
    seeds_path: str | None = None  # places where spheres are; elsewhere none is sought
    scanner_at_mm: tuple[float, float, float] | None = None  # of a single scan
    register: bool = False  # views in frames of their own, by the spheres they share
    accept: tuple[str, ...] = ()  # names of rejected candidates that are spheres

    def __post_init__(self) -> None:
        unit_named(self.unit)
        _ = self.options
        at = self.scanner_at_mm
        if at is not None and not (len(at) == 3 and all(map(math.isfinite, at))):
            raise ValueError(f"scanner_at_mm is {self.scanner_at_mm}: give x, y, z")
        if self.register and self.seeds_path is not None:
            raise ValueError("seeds exclude --register, which moves views: omit one")

    @property
    def options(self) -> "PickOptions":
        """What picking is asked for."""
        from analysis.spheres.detections import PickOptions

        return PickOptions(
            radius_mm=self.sphere_radius_mm,
            radius_max_mm=self.largest_radius_mm,
            registration_mm=self.registration_mm,
            repeatability_mm=self.repeatability_mm,
            accept=tuple(self.accept),
        )


@dataclass(frozen=True)
class Deviation(Checked):
    """How the target of a scan is found.

    Parameters
    ----------
    scale_mm : mm of the print per unit of the case
    gate_mm : how far from the target, placed by the nodes alone, its points may be
    registration_sd_mm, scan_scale_sd, print_scale_sd, printing_sd_mm : see
        analysis.comparison.assumptions.UncertaintyOptions; spheres are labelled by
        them
    """

    scale_mm: Positive
    gate_mm: Positive = 5.0
    registration_sd_mm: NotNegative = UncertaintyOptions.registration_sd_mm
    scan_scale_sd: NotNegative = UncertaintyOptions.scan_scale_sd
    print_scale_sd: NotNegative = UncertaintyOptions.print_scale_sd
    printing_sd_mm: NotNegative = UncertaintyOptions.printing_sd_mm

    @property
    def uncertainty(self) -> UncertaintyOptions:
        """What is known of scanner and printer."""
        return _part_of(self, UncertaintyOptions)


@dataclass(frozen=True)
class InputUncertainty(Checked):
    """How printing errors are sampled.

    Parameters
    ----------
    scale_mm : mm of the print per unit of the case
    printing_sd_mm : of each end of a link; joint_play_sd_mm : of each joint in it
    """

    scale_mm: Positive
    printing_sd_mm: NotNegative = UncertaintyOptions.printing_sd_mm
    joint_play_sd_mm: NotNegative = UncertaintyOptions.joint_play_sd_mm
    draws: Annotated[int, counted(2)] = 100
    seed: int = 0

    @property
    def length_sd_mm(self) -> float:
        """Of a link: two ends, each printed and each with its play."""
        return math.sqrt(2) * math.hypot(self.printing_sd_mm, self.joint_play_sd_mm)


@dataclass(frozen=True)
class ComparisonSettings(Checked):
    """What a comparison assumes and asks for.

    Parameters
    ----------
    scale_mm : mm of the print per unit of the case
    k, S_margin, node_margin_mm, E_margin : see
        analysis.comparison.assumptions.Acceptance
    registration_sd_mm, scan_scale_sd, scan_form_sd_mm, print_scale_sd, printing_sd_mm,
    joint_play_sd_mm : see analysis.comparison.assumptions.UncertaintyOptions,
        whose defaults stand for what is not stated
    """

    scale_mm: Positive
    k: Positive = Acceptance.k
    S_margin: Positive = Acceptance.S_margin
    node_margin_mm: Positive = Acceptance.node_margin_mm
    E_margin: Positive = Acceptance.E_margin
    registration_sd_mm: NotNegative | None = None
    scan_scale_sd: NotNegative | None = None
    scan_form_sd_mm: NotNegative | None = None
    print_scale_sd: NotNegative | None = None
    printing_sd_mm: NotNegative | None = None
    joint_play_sd_mm: NotNegative | None = None

    @property
    def acceptance(self) -> Acceptance:
        """What is asked of the simulation."""
        return _part_of(self, Acceptance)

    @property
    def uncertainty(self) -> UncertaintyOptions:
        """What is known of scanner, printer and joints."""
        return _part_of(self, UncertaintyOptions)


@dataclass(frozen=True)
class SeriesComparison(SeriesTerms):
    """What the measurements are given along, and whether they were computed.

    Parameters
    ----------
    along : column of steps.csv that `at` refers to, such as time or displacement
    """

    along: str = "time"
    synthetic: bool = False


@dataclass(frozen=True)
class FigureConfig:
    """Which figure, and what its rows are called.

    Parameters
    ----------
    figure : its name, such as dejong-3
    labels : one for each row
    width : mm of the page, or "slide": see analysis.figures.style.page_of
    identity, svg : see pipeline.steps.figure.save
    caption : digest of the template of its caption
    """

    figure: str
    labels: tuple[str, ...]
    width: int | str = 183
    identity: bool = True
    svg: bool = False
    caption: str = ""

    def __post_init__(self) -> None:
        entry_of(self.figure)
        if len(set(self.labels)) != len(self.labels):
            twice = next(x for x in self.labels if self.labels.count(x) > 1)
            raise InputError(
                f"two rows of {self.figure} are called {twice!r}: rename one"
            )


HELP = {
    # ingest
    "unit": "Unit of the coordinates if the files state none: mm, cm, m or inch.",
    "largest_radius_mm": "Upper limit of the sphere radius; see --sphere-radius-mm.",
    "registration_mm": "Standard deviation of a view's place in a merged cloud.",
    "repeatability_mm": "Standard deviation of centres among repeated scans.",
    "decimal_comma": "The file uses decimal commas, as in 1,25.",
    "accept": "Take rejected candidates as spheres, by their names in rejected.csv.",
    "register": "Register views in separate frames by the spheres they share.",
    "salvage": "Keep the good points of damaged files.",
    "seeds_path": "Search only at the positions in this file of `morphtrack pick`.",
    "scanner_at_mm": "Position X Y Z of the scanner; E57 and PTX files state it.",
    # compare, deviation, input_uncertainty
    "scale_mm": "mm of the print per unit of the case; default: the structure's unit.",
    "gate_mm": "Largest distance of scanned target points from the expected target.",
    "k": "Coverage factor of the verdict.",
    "S_margin": "Largest acceptable error of S.",
    "node_margin_mm": "Largest acceptable root mean square of the node distances.",
    "E_margin": "Largest acceptable error of E.",
    "registration_sd_mm": (
        "Standard deviation of a centre due to merging views, added to that of ingest."
    ),
    "scan_scale_sd": "Relative standard deviation of the scanner's scale.",
    "scan_form_sd_mm": "Standard deviation of centres, per axis, due to form error.",
    "print_scale_sd": "Relative standard deviation of the printer's scale.",
    "printing_sd_mm": "Standard deviation of a node's printed place, per axis.",
    "joint_play_sd_mm": "Standard deviation of a node due to joint play, per axis.",
    "draws": "Number of simulated prints.",
    "seed": "Seed of the random numbers.",
    "spacing_mm": "Make links, the sides of a triangle, and triangles (in one side) "
    "differ by this, mm, but where closed loops fix lengths.",  # of parts
    # compare_series
    "along": "Column of the run's steps.csv that `at` refers to.",
    "synthetic": "Mark the measurements as computed.",
    "u": "Standard uncertainty of a measured value whose row states none.",
    "u_simulated": "Standard uncertainty of a simulated value (modulus, mesh, ...).",
    "margin": "Largest acceptable error, root mean square.",
    # calibrate
    "links": (
        "Link lengths: own (estimate each), equal (one per nominal length), nominal."
    ),
    "bodies": (
        "Edge lengths of bodies: own (estimate each), equal (one per nominal length), "
        "nominal."
    ),
    "joints": "Offsets of joints: own (estimate each), equal (shared), nominal.",
    "link_play": "Estimate the play of links, which differs between poses.",
    "joint_play": "Estimate the play of joints too.",
    "scatter": "Estimate an extra scatter of the sphere centres.",
    "scale": "Estimate the scanner's scale from a --reference.",
    "again": "Simulate and compare every pose again.",
}


Flag = Annotated[
    bool, Requirement("true or false", lambda value: isinstance(value, bool))
]
PAIR = "two nodes such as 3-7"
PLACE = "a pose and a node such as wide:5"


@dataclass(frozen=True)
class CalibrationSettings(Checked):
    """What is estimated.

    Parameters
    ----------
    links, bodies, joints : own (each deviates by itself), equal (those of one nominal
        value together) or nominal (not at all)
    link_play, joint_play : estimate play
    scatter : estimate how much more centres scatter than stated
    scale : estimate the scanner's scale
    scan_scale_sd : relative, of the scanner's calibration, unless `scale`
    references : pairs of nodes, such as 3-7, whose distance is as nominal
    leave_out : pose and node, such as wide:5, that are taken as not seen
    again : simulate and compare every pose again
    """

    links: str = "own"
    bodies: str = "own"
    joints: str = "nominal"
    link_play: Flag = True
    joint_play: Flag = False
    scatter: Flag = True
    scale: Flag = False
    scan_scale_sd: NotNegative = UncertaintyOptions.scan_scale_sd
    references: tuple[str, ...] = ()
    leave_out: tuple[str, ...] = ()
    again: Flag = True

    def __post_init__(self) -> None:
        _ = self.unknowns, self.places
        super().__post_init__()

    @classmethod
    def from_plain(cls, given: Mapping[str, Any]) -> Self:
        """The settings of plain data, whose lists become tuples."""
        own: dict[str, Any] = {
            k: tuple(v) if isinstance(v, list) else v for k, v in given.items()
        }
        return cls(**own)

    @property
    def unknowns(self) -> "Unknowns":
        """What is estimated."""
        from analysis.calibration.as_built_unknowns import Free, Unknowns

        free: dict[str, Any] = {
            n: Free(getattr(self, n)) for n in ("links", "bodies", "joints")
        }
        pairs = tuple(map(_pair, self.references))
        return replace(_part_of(self, Unknowns), references=pairs, **free)

    @property
    def places(self) -> tuple[tuple[str, int], ...]:
        """Poses and nodes that are left out."""
        return tuple(_place(text) for text in self.leave_out)


def _pair(text: str) -> tuple[int, int]:
    a, _, b = str(text).partition("-")
    if not (a.isdigit() and b.isdigit()):
        raise ValueError(f"the reference {text!r} is not a pair of nodes: give {PAIR}")
    return int(a), int(b)


def _place(text: str) -> tuple[str, int]:
    pose, _, node = str(text).rpartition(":")
    if not (pose and node.isdigit()):
        raise ValueError(f"cannot leave out {text!r}: give {PLACE}")
    return pose, int(node)


@dataclass(frozen=True)
class Step:
    """A row of the table of steps.

    Parameters
    ----------
    data : the main file of a result, which the results made from it depend on
    settings : the class that checks its configuration, by its name; "" where the
        module of the step does
    section : of conf/workflow.yaml, whose entries name its results; "" for others
    reads : steps whose results it reads
    """

    data: str
    settings: str = ""
    section: str = ""
    reads: tuple[str, ...] = ()

    @property
    def kind(self) -> Any:
        """The class of its settings."""
        module, _, name = self.settings.rpartition(".")
        return getattr(importlib.import_module(module or __name__), name)


LAB = "sim.virtual_lab.lab_settings.VirtualLab"
OF_SCAN, SIMULATED = "comparisons", ("simulate",)
STEPS = {
    "simulate": Step("steps.npz"),
    "virtual_scan": Step("", LAB, OF_SCAN, SIMULATED),
    "ingest": Step("spheres.csv", "Ingest", OF_SCAN, ("virtual_scan",)),
    "input_uncertainty": Step(
        "input_covariance.npz", "InputUncertainty", OF_SCAN, SIMULATED
    ),
    "deviation": Step("target.json", "Deviation", OF_SCAN, ("simulate", "ingest")),
    "compare": Step(
        "comparison.csv",
        "ComparisonSettings",
        OF_SCAN,
        ("simulate", "ingest", "deviation", "input_uncertainty"),
    ),
    "compare_series": Step("series.csv", "SeriesComparison", "series", SIMULATED),
    "calibrate": Step("deviations.csv"),
    "parts": Step("parts.csv", reads=SIMULATED),
    "search": Step(""),
    "fit_measured": Step("posterior.json"),
    "predict": Step("prediction.csv", reads=("fit_measured",)),
    "measured": Step("measured.csv", reads=("fit_measured", "predict")),
    "figure": Step("", "FigureConfig", "figures"),
}
