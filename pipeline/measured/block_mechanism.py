"""A flat mechanism of rigid blocks on ligament hinges, opened by two clamps.

Each specimen has its own parameters, called <what>_<specimen>: the numbers of
`Ligaments`, the place of the grips and the offset of the position. Where a record was
remounted, its zero of position is uncertain by itself; records of the mounting that was
fitted have the fitted offset.

blocks.csv has a row a corner (block, corner, x_mm, y_mm; counter-clockwise), hinges.csv
a row a hinge (block_a, corner_a, block_b, corner_b, direction x or y of its ligament).
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from functools import lru_cache
from pathlib import Path
from typing import Self

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from analysis.measured.predicted_quantities import (
    Quantities,
    QuantitySeries,
    RecordInputs,
)
from analysis.measured.quantities import OVER, PLACES, loop_quantities, loops_of
from pipeline.io.record_files import FoundRecord, numbers, read_columns
from pipeline.measured.records import Experiment
from pipeline.terminal import InputError, refusing
from sim.core.arrays import Floats, Ints
from sim.core.options import Positive
from sim.mechanism.block_equilibrium import BlockOptions, driven
from sim.mechanism.hinged_blocks import (
    HELD,
    STIFFNESSES,
    BlockAssembly,
    Grip,
    LigamentHinges,
    centroid,
    void_angles,
)

AXES = {"x": (1.0, 0.0), "y": (0.0, 1.0)}


@dataclass(frozen=True, eq=False)
class BlockGeometry:
    """Blocks as designed.

    Attributes
    ----------
    corners : for each block (c, 2) mm, counter-clockwise
    blocks, hinged : (h, 2) which corner of which block is hinged to which
    along : (h, 2) unit vectors of the ligaments
    """

    corners: tuple[Floats, ...]
    blocks: Ints
    hinged: Ints
    along: Floats

    def middles(self) -> Floats:
        """(h, 2) mm, half way between the two corners of each hinge."""
        ends = [
            [self.corners[block][corner] for block, corner in zip(*pair, strict=True)]
            for pair in zip(self.blocks, self.hinged, strict=True)
        ]
        return np.asarray(np.mean(ends, axis=1))


def read_blocks(folder: Path) -> BlockGeometry:
    """Both files of a folder.

    Raises
    ------
    InputError
        for a file, column or block that is missing, or a direction that is no axis
    """
    outlines = folder / "blocks.csv"
    rows = read_columns(outlines, ["block", "corner", "x_mm", "y_mm"])
    table = numbers(rows, outlines).sort_values(["block", "corner"])
    corners = tuple(
        own[["x_mm", "y_mm"]].to_numpy() for _, own in table.groupby("block")
    )
    path = folder / "hinges.csv"
    ends = ["block_a", "block_b", "corner_a", "corner_b"]
    found = numbers(read_columns(path, ends), path).to_numpy(np.int64)
    if found[:, :2].max() >= len(corners):
        raise InputError(f"{path} has block {found[:, :2].max()}: add it to {outlines}")
    words = read_columns(path, ["direction"])["direction"]
    wrong = sorted(set(words) - set(AXES))
    if wrong:
        raise InputError(f"{path}: direction is {wrong[0]!r}: it must be x or y")
    along = np.array([AXES[word] for word in words])
    return BlockGeometry(corners, found[:, :2], found[:, 2:], along)


COLUMNS = ("time_s", "position_mm", "force_N")
TRAVEL = re.compile(r"_(-?\d+\.\d+)_(-?\d+\.\d+)")  # limits of travel in a file's name
OUTLINE = ("stretch", "compress")  # tests of the whole outline, in a file's name
BEYOND = (0.098, 0.002)  # mm below and above its named limits that the rig goes
LONGEST_GAP = 2.0  # s between two samples
FASTEST = 10.0  # mm/s; the rig goes at 1.0 to 1.5: time in minutes is sixty times that
OTHER_FORCE = 3.0  # times the predicted force, or a third: in another unit (lbf 4.4)
DEAD = 0.1  # N, range of a force that nothing resists
OTHER_TRAVEL = 1.1  # factor by which a travel may differ from the stated one
STRAY = 0.01  # of all samples, at each end of that range
ALONE = 0.3  # of that range by which one sample leaves its neighbours; a snap 0.03
TURNED = 3.0  # times nearer to what is predicted with both signs turned
REACH = (-2.0, 11.2)  # mm of closing that a model's loop goes through
OPTIONS = BlockOptions(tolerance=1e-7)
SHARP = 2e-3  # mm, between which a snap is found


@dataclass(frozen=True)
class Ligaments:
    """Every hinge of a specimen, and its clamp.

    Attributes
    ----------
    stretch, compression, shear : N/mm; turn, touch : N mm/rad
    gap : rad by which voids close before the drawing says so
    friction : N mm at which a hinge slips; stick : N mm/rad before
    give : mm/N of each clamp
    turn_cubic : N mm/rad^3, added to `turn`
    play : mm by which the way of the clamps goes on at the force `seat`, N
    """

    stretch: float
    shear: float
    turn: float
    turn_cubic: float = 0.0
    compression: float = 0.0
    touch: float = 0.0
    gap: float = 0.0
    friction: float = 0.0
    stick: float = 1.0
    give: float = 0.0
    play: float = 0.0
    seat: float = 0.0


@dataclass(frozen=True)
class BlockMechanism(Experiment):
    """Two blocks opposite each other across a void, moved together along their line.

    Parameters
    ----------
    geometry : folder with blocks.csv and hinges.csv
    grips : the two blocks and the corner of each at the void
    ligament_mm : length of the ligaments, along the grid
    published_strains : specimens whose hinges have the published strains
    fitted_mounting : pattern of records whose offset is the fitted one
    u_offset_mm : of the zero of position of any other record
    step_mm : of the clamps
    spread_mm : either way, within which snaps of one cycle and the next lie: what is
        predicted is the mean over cycles
    """

    geometry: str
    grips: tuple[tuple[int, int], tuple[int, int]]
    ligament_mm: Positive
    published_strains: tuple[str, ...] = ()
    fitted_mounting: str = ""
    u_offset_mm: Positive = 0.15
    step_mm: Positive = 0.2
    spread_mm: Positive = 0.3
    over = OVER

    def __post_init__(self) -> None:
        super().__post_init__()
        re.compile(self.fitted_mounting)
        object.__setattr__(self, "grips", tuple(tuple(g) for g in self.grips))
        object.__setattr__(self, "published_strains", tuple(self.published_strains))

    def inputs(self, record: FoundRecord) -> RecordInputs:
        """Specimen, support, clamps and travel, from names only."""
        words = words_of(record)
        low, high = travel(record)
        same = re.fullmatch(self.fitted_mounting, record.name) is not None
        u = {} if same else {"offset_mm": self.u_offset_mm}
        numbers = {"travel_min_mm": low, "travel_max_mm": high, "offset_mm": 0.0}
        return RecordInputs(record.name, numbers, u, words)

    def predict(
        self, parameters: Mapping[str, float], record: RecordInputs
    ) -> Quantities:
        """The loop of the specimen, where the record travels."""
        specimen = record.words["specimen"]
        own = {
            one.name: parameters[f"{one.name}_{specimen}"]
            for one in fields(Ligaments)
            if f"{one.name}_{specimen}" in parameters
        }
        if not own:
            raise InputError(
                f"{record.name}: the set has no inputs for specimen {specimen}: "
                "correct the name, or add its inputs to the set"
            )
        ligaments = Ligaments(**own)
        if record.words["clamps"] == "stiff":
            ligaments = replace(ligaments, give=0.0)
        driving, force = loop(
            self, ligaments, parameters[f"place_{specimen}"], specimen
        )
        offset = parameters[f"offset_{specimen}"] + record.numbers["offset_mm"]
        low, high = (record.numbers[f"travel_{end}_mm"] for end in ("min", "max"))
        loops = loops_of(driving - offset, force, over=self.spread_mm)
        there = (loops.at >= low) & (loops.at <= high)
        return loop_quantities(
            replace(
                loops,
                at=loops.at[there],
                closing=loops.closing[:, there],
                opening=loops.opening[:, there],
            )
        )

    def measured(self, record: FoundRecord, predicted: Quantities) -> Quantities:
        """The mean branch and what is read off it."""
        table = record.columns(COLUMNS)
        time, position, force = (table[name].to_numpy() for name in COLUMNS)
        low, high = travel(record)
        _check_times(record.path, time)
        _check_outliers(record.path, force)
        _check_travel(record.path, time, position, high - low)
        closing = position - position.min() + low
        resisting = -force
        _check_force(record.path, closing, resisting)
        with refusing(ValueError, place=str(record.path)):
            found = loop_quantities(loops_of(closing, resisting))
        if "force" in predicted:
            _check_unit_of_force(record.path, found["force"], predicted["force"])
        return found

    def refined(self) -> Self:
        """Half the step of the clamps."""
        return replace(self, step_mm=self.step_mm / 2)

    def assembly(
        self, ligaments: Ligaments, place: float, specimen: str
    ) -> BlockAssembly:
        """The blocks with the hinges of a specimen.

        Parameters
        ----------
        place : of the load, from a block's centroid (0) to its corner (1)
        """
        geometry, voids = _geometry(self.geometry)
        count, half = len(geometry.blocks), 0.5 * self.ligament_mm * geometry.along
        pressed = ligaments.compression or ligaments.stretch
        law = replace(ligaments, compression=pressed)
        middle = geometry.middles()
        hinges = LigamentHinges(
            geometry.blocks,
            np.stack([middle - half, middle + half], axis=1),
            voids=voids - ligaments.gap,
            polar=specimen in self.published_strains,
            **{name: np.full(count, getattr(law, name)) for name in STIFFNESSES},
        )
        points = []
        for block, corner in self.grips:
            middle = centroid(geometry.corners[block])
            points.append(middle + place * (geometry.corners[block][corner] - middle))
        line = (points[1] - points[0]) / np.linalg.norm(points[1] - points[0])
        stiffness = 1.0 / ligaments.give if ligaments.give > 0 else HELD
        held = [
            Grip(block, tuple(point), tuple(way * line / 2), stiffness)
            for (block, _), point, way in zip(self.grips, points, (1, -1), strict=True)
        ]
        return BlockAssembly(geometry.corners, hinges, held)


@lru_cache(maxsize=8)
def _geometry(folder: str) -> tuple[BlockGeometry, Floats]:
    """The blocks of a folder, and the angles of their voids."""
    made = read_blocks(Path(folder))
    return made, void_angles(made.corners, made.blocks, made.hinged)


@lru_cache(maxsize=2048)
def loop(
    of: BlockMechanism, ligaments: Ligaments, place: float, specimen: str
) -> tuple[Floats, Floats]:
    """Driving (mm) and force (N): open, closed, open again."""
    low, high = (round(end / of.step_mm) for end in REACH)
    steps = [*range(0, low, -1), *range(low, high), *range(high, low - 1, -1)]
    assembly = of.assembly(ligaments, place, specimen)
    rests = driven(assembly, [k * of.step_mm for k in steps], OPTIONS, SHARP)
    pairs = np.array([(rest.driving, rest.force) for rest in rests])
    first, far = int(np.argmin(pairs[: -low + 3, 0])), int(np.argmax(pairs[:, 0]))
    ways = [
        _with_play(pairs[rows, 0], pairs[rows, 1], way, ligaments)
        for rows, way in ((slice(first, far + 1), 1), (slice(far, None), -1))
    ]
    driving, force = np.hstack(ways)
    return driving, force


def _with_play(
    driving: Floats, force: Floats, way: int, ligaments: Ligaments
) -> tuple[Floats, Floats]:
    """One way of a loop with play in series, crossed where the force passes `seat`.

    A snap cannot move the clamps back: they stop, and the blocks rest at that force.
    """
    if not ligaments.play:
        return driving, force
    beyond = force > ligaments.seat
    at = np.flatnonzero(beyond[:-1] != beyond[1:])
    part = (ligaments.seat - force[at]) / (force[at + 1] - force[at])
    where = driving[at] + part * (driving[at + 1] - driving[at])
    ends = np.column_stack([beyond[at], beyond[at + 1]]) * ligaments.play
    x = np.insert(driving + beyond * ligaments.play, np.repeat(at + 1, 2),
                  (where[:, None] + ends).ravel())  # fmt: skip
    F = np.insert(force, np.repeat(at + 1, 2), ligaments.seat)
    advancing = way * x >= np.maximum.accumulate(way * x)
    return x[advancing], F[advancing]


def words_of(record: FoundRecord) -> dict[str, str]:
    """Specimen, clamps, support; refused where the test cannot be predicted."""
    given = {key: value.strip().lower() for key, value in record.inputs.items()}
    name = re.sub(r"[^a-z0-9]", "", record.name.lower())
    if given.get("note", "").startswith("dead"):
        raise InputError(f"{record.path}: {record.inputs['note']}")
    loading = given.get("loading") or ("centre_clamp" if "centerclamp" in name else "")
    loading = loading or next((word for word in OUTLINE if word in name), "")
    if not loading:
        raise InputError(
            f"{record.path}: unknown loading: set loading to centre_clamp in "
            "records.csv"
        )
    how = re.sub(r"[^a-z]", "", loading)
    clamps = re.sub(r"[^a-z]", "", given.get("clamps", "")) + name
    if "counterrot" in clamps + how:
        raise InputError(
            f"{record.path}: counter-rotating clamps are not supported: omit "
            "this record"
        )
    if not re.search("cent(re|er)clamp|freefloat", how):
        raise InputError(
            f"{record.path}: loading {loading!r} is not supported: give centre_clamp "
            "or free_floating"
        )
    free = given.get("free_floating", "") not in ("", "0", "no", "false")
    return {
        "specimen": _specimen(record, name),
        "clamps": "stiff" if "stiff" in clamps else "as fitted",
        "support": "free" if free or "freefloat" in name + how else "base",
    }


def _specimen(record: FoundRecord, name: str) -> str:
    starts = {"t1plastic": "T1-r", "t1rubber": "T1", "l2": "L2"}
    named = next((it for start, it in starts.items() if name.startswith(start)), "")
    listed = record.inputs.get("specimen", "").strip()
    if named and listed and named != listed:
        raise InputError(
            f"{record.path}: specimen is {named} in its name, {listed} in records.csv: "
            "correct one of them"
        )
    if not named and not listed:
        raise InputError(f"{record.path}: give its specimen in records.csv")
    return listed or named


def travel(record: FoundRecord) -> tuple[float, float]:
    """Smallest and largest closing, mm: as listed, else the limits in its name."""
    if "travel_min_mm" in record.inputs:
        return record.number("travel_min_mm"), record.number("travel_max_mm")
    found = TRAVEL.search(record.name)
    if not found:
        raise InputError(
            f"{record.path}: give travel_min_mm and travel_max_mm in records.csv"
        )
    low, high = sorted(map(float, found.groups()))
    return round(low - BEYOND[0], 3), round(high + BEYOND[1], 3)


def _check_times(path: Path, time: Floats) -> None:
    """Time must rise, without a gap in which a branch could be lost."""
    wait = np.diff(time)
    wrong = np.flatnonzero((wait < 0) | (wait > LONGEST_GAP))
    if len(wrong):
        row = int(wrong[0])
        raise InputError(
            f"{path}, row {row + 3}: time_s goes from {time[row]:g} to "
            f"{time[row + 1]:g}: give s, in order, with gaps up to {LONGEST_GAP:g} s"
        )


def _check_outliers(path: Path, force: Floats) -> None:
    """Refuse a sample that is far from the median of the five around it."""
    about = sliding_window_view(np.pad(force, 2, mode="edge"), 5)
    apart = np.abs(force - np.median(about, axis=1))
    low, high = np.quantile(force, [STRAY, 1.0 - STRAY])
    row = int(np.argmax(apart))
    if apart[row] > max(ALONE * (high - low), DEAD):
        raise InputError(
            f"{path}, row {row + 2}: force_N is {force[row]:g}, {apart[row]:.3g} N "
            "from its neighbours: correct or remove it"
        )


def _check_travel(path: Path, time: Floats, position: Floats, stated: float) -> None:
    """Refuse another travel than the stated one, and a speed that no rig has."""
    span, way = float(np.ptp(position)), float(np.abs(np.diff(position)).sum())
    if not stated / OTHER_TRAVEL < span < stated * OTHER_TRAVEL:
        raise InputError(
            f"{path}: position_mm spans {span:g}, but its travel is {stated:g} mm: "
            "give mm, or correct the travel in records.csv or in the name"
        )
    if way > FASTEST * np.ptp(time):
        raise InputError(
            f"{path}: position_mm moves {way:.4g} mm in {np.ptp(time):.4g} s, faster "
            f"than {FASTEST:g} mm/s: give time_s in s"
        )


def _check_unit_of_force(
    path: Path, found: QuantitySeries, predicted: QuantitySeries
) -> None:
    """Refuse forces in another unit, such as mN or lbf, or with reversed signs."""
    size, own = (float(np.abs(q.value).max()) for q in (found, predicted))
    if not own / OTHER_FORCE < size < own * OTHER_FORCE:
        raise InputError(
            f"{path}: force_N reaches {size:.4g}, but about {own:.3g} N is predicted: "
            "give it in N"
        )
    there = np.interp(found.at, predicted.at, predicted.value)
    turned = -found.value[::-1]
    far, near = (
        float(np.sqrt(np.mean((f - there) ** 2))) for f in (found.value, turned)
    )
    if far > TURNED * near:
        raise InputError(
            f"{path}: its mean branch differs from the prediction by {far:.3g} N rms, "
            f"by {near:.3g} N with reversed signs: reverse position_mm and force_N"
        )


def _check_force(path: Path, closing: Floats, resisting: Floats) -> None:
    """Refuse a force that does not vary, or that drives the specimen closed."""
    low, high = np.quantile(resisting[closing <= PLACES[-1]], [STRAY, 1.0 - STRAY])
    if high - low < DEAD:
        raise InputError(
            f"{path}: the specimen was not loaded: force_N varies by only "
            f"{high - low:.3f} N over the first {PLACES[-1]:g} mm of closing (outliers "
            "excluded): leave the record out"
        )
    far = np.quantile(closing, [0.1, 0.9])
    rise = resisting[closing >= far[1]].mean() - resisting[closing <= far[0]].mean()
    if rise < 0:
        raise InputError(
            f"{path}: force_N increases by {-rise:.3g} N from open to closed, but must "
            "decrease: reverse the sign of force_N or of position_mm"
        )
