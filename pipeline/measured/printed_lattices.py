"""Printed lattices of two liquid crystal elastomers that change shape with temperature.

Struts contract as free strips of their material do, but for the length that nodes take
of each: less where a strand goes straight through its nodes than where it ends at them.
One end row is held, the other a bar that moves and turns as it likes. Nodes were found
anew in every picture: labels are carried from the coldest by continuity.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np
import pandas as pd

from analysis.labels.label_tracks import AmbiguousLabelError
from analysis.measured.predicted_quantities import Quantities, RecordInputs
from analysis.measured.quantities import (
    Placed,
    in_own_frame,
    label_frames,
    node_series,
    nodes_of,
    place_on_model,
    size_series,
)
from pipeline.io.record_files import FoundRecord, header_of, numbers, read_columns
from pipeline.measured.records import Experiment
from pipeline.terminal import InputError
from sim.core.arrays import Bools, Floats, Ints
from sim.core.options import Positive
from sim.mechanism.named_structures import triangle_lattice
from sim.mechanism.statics.equilibrium import EquilibriumOptions, at_rest
from sim.mechanism.statics.loaded_structure import BarredLattice, Strut

ROWS, COLUMNS = 9, 5
MATERIALS = ("HTNI", "LTNI")
DESIGN_ENDS = ("_all", "_teeth", "_pacman")
TEMPERATURE = "temperature_C"
COORDINATES = ("x_mm", "y_mm")
FRAME = re.compile(r"frame (\d+)")  # as labels name one that they cannot be carried to
BEYOND = 5.0  # C beyond the temperatures of the strips, whose end values hold there
COLD = 26.0  # C up to which nothing contracts
SIZE = 0.05  # largest relative error of the designed size; 0.015 in shipped records
STEP = EquilibriumOptions(tolerance=1e-8)


@dataclass(frozen=True, eq=False)
class Strips:
    """What was measured of free strips of one material, mean and deviation.

    Attributes
    ----------
    stretch, modulus : (s, 3) temperature in C; length over that at 25 C, or E in MPa;
        standard deviation between strips
    """

    stretch: Floats
    modulus: Floats

    def at(self, temperature: float, z: tuple[float, float]) -> tuple[float, float]:
        """Stretch and E, `z` standard deviations from their means."""
        found = [
            float(np.interp(temperature, t, mean + shift * sd))
            for (t, mean, sd), shift in zip(
                (self.stretch.T, self.modulus.T), z, strict=True
            )
        ]
        return found[0], found[1]


@dataclass(frozen=True)
class LatticeTracks(Experiment):
    """Lattices of the designs of one folder.

    Parameters
    ----------
    folder : holds geometry/edges.csv and the tables of strips
    temperatures : C, of records that are named but not there
    u_mm : standard uncertainty of a tracked coordinate
    spacing_mm : of the nodes as designed, by which the first frame is labelled
    """

    folder: str
    temperatures: tuple[float, ...]
    u_mm: Positive
    spacing_mm: Positive

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.temperatures or (np.diff(self.temperatures) <= 0).any():
            raise ValueError(f"temperatures must increase: {list(self.temperatures)}")

    def inputs(self, record: FoundRecord) -> RecordInputs:
        """Design and temperatures."""
        design = self._design(record)
        at = np.array(self.temperatures)
        if record.there:
            at, found = np.unique(
                record.columns([TEMPERATURE])[TEMPERATURE], return_counts=True
            )
            nodes = len(_unit_lattice().structure.r0) - 1
            if (odd := np.flatnonzero(found != nodes)).size:
                raise InputError(
                    f"{record.path}: {record.name} has {found[odd[0]]} points at "
                    f"{at[odd[0]]:g} C: give each of the {nodes} nodes once"
                )
        first, last = _measured_range(self.folder)
        if at[0] < first - BEYOND or at[-1] > last + BEYOND:
            raise InputError(
                f"{record.path}: {TEMPERATURE} goes from {at[0]:g} to {at[-1]:g}, but "
                f"strips were measured from {first:g} to {last:g} C: drop rows outside"
            )
        return RecordInputs(
            record.name, words={"design": design}, state={TEMPERATURE: at}
        )

    def predict(
        self, parameters: Mapping[str, float], record: RecordInputs
    ) -> Quantities:
        """Every node in mm about the lattice's middle, length and waist."""
        at = record.state[TEMPERATURE]
        nodes = self.shapes(record.words["design"], at, parameters)
        sizes = size_series(at, nodes, end_and_middle_rows())
        return {**node_series(at, nodes), **sizes}

    def measured(self, record: FoundRecord, predicted: Quantities) -> Quantities:
        """The same of the tracked nodes, moved rigidly onto the predicted ones."""
        at, placed = self._placed(record, predicted)
        sizes = size_series(at, placed.aligned, end_and_middle_rows(), self.u_mm)
        return {**node_series(at, placed.aligned, self.u_mm), **sizes}

    def placing(
        self, record: FoundRecord, predicted: Quantities
    ) -> dict[str, float | list[float]]:
        """Which of the lattice's symmetric placements the specimen has."""
        _, placed = self._placed(record, predicted)
        return {
            "placement": placed.placement,
            "of": len(placed.rms),
            "rms_mm": placed.rms.tolist(),
        }

    def _placed(
        self, record: FoundRecord, predicted: Quantities
    ) -> tuple[Floats, Placed]:
        """Temperatures, and labelled nodes on the predicted ones."""
        at, frames = self.frames(record)
        made = triangle_lattice(ROWS, COLUMNS, self.spacing_mm)
        try:
            points, orders = label_frames(frames, made.r[:, :2], made.links, at)
        except AmbiguousLabelError as error:
            problem = FRAME.sub(lambda m: f"{m[0]} ({at[int(m[1])]:g} C)", str(error))
            problem = problem.replace("in the same unit", "in mm")
            raise InputError(f"{record.path}: {problem}") from error
        if at[0] <= COLD:
            self._check_size(record, points[0], made.r[:, :2])
        model = nodes_of(predicted, len(made.r))
        return at, place_on_model(points, orders, model)

    def _check_size(self, record: FoundRecord, seen: Floats, design: Floats) -> None:
        """Refuse a cold lattice that is not as large as designed in both directions."""
        about = [x - x.mean(axis=0) for x in (design, seen)]
        most = np.linalg.svd(np.linalg.lstsq(*about)[0])[1]
        if np.abs(most - 1.0).max() > SIZE:
            raise InputError(
                f"{record.path}: at its lowest temperature {record.name} is "
                f"{most[1]:.3g} to {most[0]:.3g} times as large as designed (struts of "
                f"{self.spacing_mm:g} mm): give both coordinates in mm"
            )

    def frames(self, record: FoundRecord) -> tuple[Floats, list[Floats]]:
        """Temperatures from the coldest on, and the points found at each."""
        table = record.columns([TEMPERATURE, *COORDINATES])
        groups = table.groupby(TEMPERATURE, sort=True)
        points = [own[list(COORDINATES)].to_numpy(np.float64) for _, own in groups]
        return np.array([float(str(t)) for t in groups.groups]), points

    def shapes(
        self, design: str, at: Floats, parameters: Mapping[str, float]
    ) -> Floats:
        """(f, n, 2) nodes at rest at temperatures `at`, in mm."""
        values = tuple(sorted((k, float(v)) for k, v in parameters.items()))
        return _shapes(self.folder, design, tuple(at.tolist()), values)

    def _design(self, record: FoundRecord) -> str:
        """The design that the record states, else the one in its file's name."""
        stated = record.inputs.get("design", "")
        named = [d for d in self.designs if d in record.path.stem]
        if stated in self.designs:
            if len(named) == 1 and named != [stated] == [record.of.get("design")]:
                raise InputError(
                    f"{record.path}: design is {named[0]} in its name, {stated} in its "
                    "column: correct one of them"
                )
            return stated
        if len(named) == 1:
            return named[0]
        raise InputError(
            f"{record.path}: design {stated!r} is not known: give one of "
            f"{', '.join(self.designs)} in the file's name, in a column or records.csv"
        )

    @property
    def designs(self) -> list[str]:
        """Names of the designs."""
        return list(_designs(self.folder))


def end_and_middle_rows() -> dict[str, Ints]:
    """Nodes of the two end rows and of the middle one."""
    made = triangle_lattice(ROWS, COLUMNS, 1.0)
    named = {"first": 0, "middle": ROWS // 2, "last": ROWS - 1}
    return {name: made.nodes_of(row) for name, row in named.items()}


@lru_cache(maxsize=4096)
def _shapes(
    folder: str,
    design: str,
    at: tuple[float, ...],
    values: tuple[tuple[str, float], ...],
) -> Floats:
    p, materials, lattice = dict(values), _designs(folder)[design], _unit_lattice()
    made, found, start = lattice.structure.r0[:-1, :2], [], None
    # of each strut, in units of the spacing
    lost = np.where(through(design, folder), p["through_mm"], p["node_diameter_mm"])
    nodes = lost / p["spacing_mm"]
    for temperature in at:
        free = _free_strips(_strips(folder), temperature, p)
        stretch, modulus = np.array([free[name] for name in materials]).T
        struts = Strut(stretch, modulus, node_diameter=nodes)
        shrunk = p["bar_share"] * float((1.0 - nodes[0]) * (1.0 - stretch[0]))
        start = at_rest(lattice.with_struts(struts, shrunk), STEP, start)
        size = p["spacing_mm"] * (1.0 - shrunk)
        found.append(size * in_own_frame(start.r()[:-1, :2], made))
    return np.array(found)


@lru_cache(maxsize=64)
def through(design: str, folder: str) -> Bools:
    """(l,) which struts are of strands that go straight through their nodes.

    Those of the one direction that is printed of its own material; the rows in a
    lattice of one material.
    """
    way = triangle_lattice(ROWS, COLUMNS, 1.0).direction
    materials = np.array(_designs(folder)[design])
    made_of = [set(materials[way == k]) for k in range(3)]
    lone = [k for k in range(3) if made_of.count(made_of[k]) == 1]
    return np.asarray(way == (lone[0] if len(lone) == 1 else 0))


@lru_cache(maxsize=1)
def _unit_lattice() -> BarredLattice:
    """All lattices, but for their struts: nodes 1 apart."""
    made, rows = triangle_lattice(ROWS, COLUMNS, 1.0), end_and_middle_rows()
    return BarredLattice.of(made.r, made.links, rows["first"], rows["last"])


def _free_strips(
    strips: Mapping[str, Strips], temperature: float, p: Mapping[str, float]
) -> dict[str, tuple[float, float]]:
    """Stretch and E of each material; its strain times a factor where one is given."""
    found = {}
    for name, strip in strips.items():
        z = (p[f"stretch_{name}"], p[f"modulus_{name}"])
        stretch, modulus = strip.at(temperature - p["lag_C"], z)
        factor = p.get(f"factor_{name}", 1.0)
        found[name] = (1.0 - factor * (1.0 - stretch), modulus)
    return found


@lru_cache(maxsize=8)
def _designs(folder: str) -> dict[str, tuple[str, ...]]:
    """Material of every link of every design, in the order of `triangle_lattice`."""
    path = Path(folder) / "geometry" / "edges.csv"
    table = pd.read_csv(path)
    ends = table[["node_a", "node_b"]].to_numpy()
    row = {frozenset(pair): k for k, pair in enumerate(ends.tolist())}
    made = triangle_lattice(ROWS, COLUMNS, 1.0)
    order = [row[frozenset(pair)] for pair in made.links.tolist()]
    names = [name for name in table.columns if name.endswith(DESIGN_ENDS)]
    return {name: tuple(table[name].to_numpy()[order]) for name in names}


def _measured_range(folder: str) -> tuple[float, float]:
    """C, over which stretch and modulus of all strips were measured."""
    tables = [t for s in _strips(folder).values() for t in (s.stretch, s.modulus)]
    return max(t[0, 0] for t in tables), min(t[-1, 0] for t in tables)


@lru_cache(maxsize=8)
def _strips(folder: str) -> dict[str, Strips]:
    """Of both materials."""
    tables = {}
    for name in ("stretch", "modulus"):
        path = Path(folder) / "strips" / f"{name}_vs_temperature.csv"
        tables[name] = numbers(read_columns(path, header_of(path)), path)
    found = {}
    for material in MATERIALS:
        both = []
        for name, unit in (("stretch", ""), ("modulus", "_MPa")):
            columns = [f"{material}_{name}_{kind}{unit}" for kind in ("mean", "sd")]
            both.append(tables[name][[TEMPERATURE, *columns]].to_numpy(np.float64))
        found[material] = Strips(*both)
    return found
