"""A hanging, tapered silicone arm bent by two tendons: where four markers come to rest.

Places are means of a record in the frame of the model: the origin at the root of the
arm, z up, from the base marker and the stated offset. Of a record only its torques and
its rate, which gives the camera set-up, are read beforehand. Offsets of the markers and
the tilt of the frame belong to a set-up, because markers and cameras were moved between
the two. What arrives of a tension belongs to a mounting: between the levels of tendon 1
and of tendon 2 at 200 Hz the base marker moved by 0.7 mm, within them by 0.1 mm.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import ClassVar, Self

import numpy as np
from scipy.spatial.transform import Rotation

from analysis.measured.predicted_quantities import Quantities, RecordInputs, one_value
from pipeline.io.measured_motions import refuse_gaps
from pipeline.io.record_files import FoundRecord
from pipeline.measured.records import Experiment
from pipeline.terminal import InputError
from sim.core.arrays import Floats
from sim.core.options import Count, NotNegative, Positive
from sim.rods.plane.rod import GRAVITY
from sim.rods.space.assembled_system import no_loads
from sim.rods.space.frames import SpaceState
from sim.rods.space.rod import SpaceMaterial, SpaceRod, StretchLaw
from sim.rods.space.statics import SpaceOptions, rest
from sim.rods.space.tendons import TaperedArm

MM, KPA = 1e3, 1e3
ALONE = re.compile(r"m([12])_u0(\d+)")  # one tendon: m2_u018 is 0.18 N m
BOTH = re.compile(r"m12_u(?:(00\d{1,2})(00\d{1,2})|(00\d{1,2}))")  # m12_u0010005
TORQUES = ("torque_1_Nm", "torque_2_Nm")
BASE = ("base_x_m", "base_y_m", "base_z_m")
SETUPS = {  # of the cameras, by rate in Hz: where they saw the base marker, m
    200: (0.2177, 0.0552, 0.1747),
    240: (0.2482, 0.0567, 0.1798),
}
MOUNTINGS = ("200a", "200b", "240")  # at 200 Hz of tendon 1, and of tendon 2
UNKNOWN_MOUNTING = "200"  # one of the two at 200 Hz
BASE_MOVED = 0.005  # m, by less than which a base marker is where it was
NEAR = 0.02  # share by which a rate may differ
MARKERS = 4
TRACKED = tuple(f"marker_{k}_{a}_m" for k in range(1, MARKERS + 1) for a in "xyz")
FRAME = ("time_s", *BASE, *TRACKED)
FIRST_BELOW = (0.05, 0.20)  # m, of marker 1 below the root
ROOM = 20.0  # m, beyond which no camera stands
FARTHEST = 0.6  # m, of a marker from the root
LONGEST_GAP = 3.0  # in frames
LONGEST = 300.0  # s of a record
SWING = 1.2  # s of a weight on a thread as long as the arm: its own are faster
RESTING = 0.002  # m between the means of both halves; 0.0003 in the shipped records
PRECISE = SpaceOptions(tolerance=1e-9)
COARSE = 2  # significant digits of the inputs from whose rest a rest is sought
PHYSICAL = (
    "modulus_kPa", "density", "pull_1", "pull_2", "angle_1", "angle_2",
    "curvature_1", "curvature_2", "root_1", "root_2", "tie_1", "tie_2",
)  # fmt: skip


def torques_of(level: str) -> tuple[float, float]:
    """N m, as the name of a level says them; refused where it does not."""
    if alone := ALONE.fullmatch(level):
        torque = float(f"0.{alone[2]}")
        return (torque, 0.0) if alone[1] == "1" else (0.0, torque)
    if both := BOTH.fullmatch(level):
        found = [float(f"0.{word[2:]}") for word in both.groups() if word]
        return found[0], found[-1]
    raise InputError(
        f"{level}: its torques are unknown: name the file like m1_u018, or give "
        f"{' and '.join(TORQUES)} in records.csv"
    )


@dataclass(frozen=True)
class TendonTentacle(Experiment):
    """The arm.

    Parameters
    ----------
    profile : rows of arc length and radius, m
    tied : arc length at which tendons end, m
    offset : rows of arc length and distance of a tendon from the axis, m
    markers : of each its arc length and its place off the axis there, along the axis
        and the local y and z, m
    pulley : radius, m
    base : of the root from the base marker, in axes of the cameras, m
    law : of stretch: hooke or rubber
    u_pull : share by which a tension may differ from that commanded, a standard
        uncertainty
    edges : from the root to where tendons end
    """

    of: ClassVar[str] = "tentacle"
    profile: Sequence[tuple[float, float]]
    tied: Positive
    offset: Sequence[tuple[float, float]]
    markers: Sequence[tuple[float, float, float, float]]
    pulley: Positive
    base: tuple[float, float, float]
    law: str = "rubber"
    u_pull: NotNegative = 0.0
    edges: Count = 32

    def __post_init__(self) -> None:
        super().__post_init__()
        if len(self.markers) != MARKERS or any(len(m) != 4 for m in self.markers):
            raise ValueError(f"tentacle: markers must be {MARKERS} rows of 4 numbers")
        for name in ("profile", "offset", "markers"):  # keys of caches
            rows = tuple(tuple(map(float, row)) for row in getattr(self, name))
            object.__setattr__(self, name, rows)
        object.__setattr__(self, "base", tuple(self.base))

    def inputs(self, record: FoundRecord) -> RecordInputs:
        """Tensions, camera set-up and mounting."""
        torques = self._torques(record)
        for torque in torques:
            if not 0.0 <= torque <= 1.0:
                raise InputError(
                    f"{record.path}: a torque is {torque:g} N m: give 0 to 1"
                )
        numbers = {
            "tension_1_N": torques[0] / self.pulley,
            "tension_2_N": torques[1] / self.pulley,
            "pull": 1.0,
        }
        rate = _rate(record)
        words = {"setup": str(rate), "mounting": _mounting(record, torques, rate)}
        u = {"pull": self.u_pull}
        if words["mounting"] == UNKNOWN_MOUNTING:
            numbers["between"], u["between"] = 0.0, 1.0
        return RecordInputs(record.name, numbers, u, words)

    def _torques(self, record: FoundRecord) -> tuple[float, float]:
        if any(name in record.inputs for name in TORQUES):
            return record.number(TORQUES[0]), record.number(TORQUES[1])
        if record.there and set(TORQUES) <= set(record.header):
            row = record.columns(TORQUES).iloc[0]
            return float(row[TORQUES[0]]), float(row[TORQUES[1]])
        return torques_of(record.inputs.get("level", record.name))

    def predict(
        self, parameters: Mapping[str, float], record: RecordInputs
    ) -> Quantities:
        """marker_1_x to marker_4_z, mm, in the model's frame."""
        centres, frames = _markers(self, _physical(parameters, record))
        setup = record.words["setup"]
        tilt = [parameters[f"tilt_{axis}_{setup}"] for axis in "xyz"]
        more = [
            [parameters[f"offset_{k}_{axis}_{setup}"] for axis in ("axis", "y", "z")]
            for k in range(1, MARKERS + 1)
        ]
        off = MM * np.array(self.markers)[:, 1:] + more
        places = MM * centres + np.einsum("ka,kax->kx", off, frames)
        turned = Rotation.from_rotvec(tilt, degrees=True).apply(places)
        return _by_name(turned)

    def measured(self, record: FoundRecord, predicted: Quantities) -> Quantities:
        """The same of the record's markers."""
        del predicted
        frames = "time_s" in record.header
        if frames:
            places = self._of_frames(record)
        else:
            places = record.row(TRACKED).to_numpy(np.float64).reshape(-1, 3)
        far = float(np.linalg.norm(places, axis=1).max())
        below = -float(places[0, 2])
        if far > FARTHEST or not FIRST_BELOW[0] < below < FIRST_BELOW[1]:
            raise InputError(
                f"{record.path}: marker 1 is {below:g} below the root, and the "
                f"farthest marker is {far:g} away: give metres, with y downwards in "
                "frames (with time_s) or z upwards in mean positions"
            )
        if frames:
            _refuse_unrest(record)
        return _by_name(MM * places)

    def refined(self) -> Self:
        """With twice the edges."""
        return replace(self, edges=2 * self.edges)

    def route(self, root: float, tie: float) -> list[tuple[float, float]]:
        """Rows of arc length and distance of a tendon from the axis, m.

        Parameters
        ----------
        root, tie : mm by which it is farther from the axis there than stated
        """
        first, last = self.offset[0], self.offset[-1]
        return [
            (at, off + np.interp(at, (first[0], last[0]), (root, tie)) / MM)
            for at, off in self.offset
        ]

    def arm(self, values: Sequence[float]) -> TaperedArm:
        """The arm with modulus and density from the first two of PHYSICAL."""
        material = SpaceMaterial(KPA * values[0], values[1])
        return TaperedArm(
            self.profile, self.tied, material, self.edges, law=StretchLaw(self.law)
        )

    def _of_frames(self, record: FoundRecord) -> Floats:
        """(4, 3) mean places in the model's frame, m, from frames of the cameras."""
        table = record.columns(FRAME)
        time = table["time_s"].to_numpy()
        refuse_gaps(record.path, time, 0.0, LONGEST_GAP)
        if (spans := float(np.ptp(time))) > LONGEST:
            raise InputError(
                f"{record.path}: time_s spans {spans:g}, not a few seconds: give s"
            )
        mean = table[list(FRAME[1:])].to_numpy().mean(axis=0).reshape(-1, 3)
        from_base = mean[1:] - mean[0]
        x, y, z = (from_base - np.array(self.base)).T
        return np.column_stack([x, z, -y])


def _rate(record: FoundRecord) -> int:
    """Hz of the camera set-up: stated, by times, or by the place of the base marker."""
    if "rate_Hz" in record.inputs:
        rate = record.number("rate_Hz")
    elif record.there and "rate_Hz" in record.header:
        rate = float(record.columns(["rate_Hz"])["rate_Hz"].iloc[0])
    elif record.there and "time_s" in record.header:
        steps = np.diff(record.columns(["time_s"])["time_s"].to_numpy())
        rate = 1.0 / float(np.median(steps)) if len(steps) and np.all(steps > 0) else 0
    else:
        rate = 0.0
    near = [known for known in SETUPS if abs(rate - known) <= NEAR * known]
    if not near and "rate_Hz" not in record.inputs:
        near = _setups_by_base(record)
    if near:
        return near[0]
    raise InputError(
        f"{record.path}: neither its rate ({rate:.4g} Hz) nor its base marker fits a "
        f"camera set-up ({', '.join(map(str, SETUPS))} Hz): give rate_Hz in records.csv"
    )


def _mounting(record: FoundRecord, torques: tuple[float, float], rate: int) -> str:
    """The mounting of a record: stated, or by its set-up and tendon."""
    if "mounting" in record.inputs:
        if record.inputs["mounting"] not in MOUNTINGS:
            raise InputError(
                f"{record.path}: mounting is {record.inputs['mounting']}: give "
                f"{', '.join(MOUNTINGS)} in records.csv"
            )
        return record.inputs["mounting"]
    if rate == 240:
        return "240"
    if min(torques) > 0.0:
        return UNKNOWN_MOUNTING
    return "200b" if torques[1] > 0.0 else "200a"


def _setups_by_base(record: FoundRecord) -> list[int]:
    """Rates of the set-ups that saw the base marker where it is."""
    if not record.there or not set(BASE) <= set(record.header):
        return []
    base = record.columns(BASE).to_numpy().mean(axis=0)
    if (away := float(np.linalg.norm(base))) > ROOM:
        raise InputError(
            f"{record.path}: its base marker is {away:.3g} from the origin: give metres"
        )
    return [k for k, at in SETUPS.items() if np.linalg.norm(base - at) <= BASE_MOVED]


def _refuse_unrest(record: FoundRecord) -> None:
    """Refuse frames too few to tell rest from a swing, and frames that move."""
    table = record.columns(FRAME)
    lasts, half = float(np.ptp(table["time_s"])), len(table) // 2
    apart = lasts / max(len(table) - 1, 1)
    if lasts < SWING or apart > SWING / 2.0:
        raise InputError(
            f"{record.path}: {len(table)} frames in {lasts:.3g} s do not show rest: "
            f"give {SWING:g} s or more, with frames at most {SWING / 2.0:g} s apart"
        )
    moved = (table[half:].mean() - table[:half].mean()).drop("time_s").abs()
    if moved.max() > RESTING:
        column = table[moved.idxmax()]
        away = (column - column.median()).abs()
        raise InputError(
            f"{record.path}: {column.name} moves by {moved.max():.3g} m from the first "
            f"half of the record to the second, more than {RESTING:g}: give frames at "
            f"rest, without outliers (row {away.argmax() + 2}: {away.max():.3g} m)"
        )


def _by_name(places: Floats) -> Quantities:
    """Quantities of (4, 3) places in mm."""
    return {
        f"marker_{k}_{axis}": one_value(float(places[k - 1, a]))
        for k in range(1, MARKERS + 1)
        for a, axis in enumerate("xyz")
    }


def _physical(
    parameters: Mapping[str, float], record: RecordInputs
) -> tuple[float, ...]:
    """Values of PHYSICAL, the tensions that arrive in place of pulls.

    Of a tension commanded `lost` does not arrive, of what is left a share: both are of
    a mounting, whose motors and pulleys were put up anew. What tendons have in common
    and by how much each departs from it are inputs of their own.
    """
    mine, lost = (_of_mounting(parameters, record, of) for of in ("pull", "lost"))
    values = {name: float(parameters[name]) for name in PHYSICAL}
    share = parameters["pull"] * record.numbers["pull"] * mine
    for k in (1, 2):
        commanded = record.numbers[f"tension_{k}_N"]
        arrives = max(commanded - lost, 0.0) if commanded else 0
        values[f"pull_{k}"] *= share * arrives
        values[f"root_{k}"] += parameters["root"]
        values[f"tie_{k}"] += parameters["tie"]
    return tuple(values.values())


def _of_mounting(
    parameters: Mapping[str, float], record: RecordInputs, of: str
) -> float:
    """An input of the record's mounting; of one of two, from the first, -1, to 1."""
    mounting = record.words["mounting"]
    if mounting != UNKNOWN_MOUNTING:
        return parameters[f"{of}_{mounting}"]
    first, last = (parameters[f"{of}_{m}"] for m in MOUNTINGS[:2])
    return (first + last + record.numbers["between"] * (last - first)) / 2.0


@lru_cache(maxsize=4096)
def _markers(of: TendonTentacle, values: tuple[float, ...]) -> tuple[Floats, Floats]:
    """(4, 3) centres of the markers' sections, m, and (4, 3, 3) their frames."""
    state, rod = _rest(of, values)
    arm, zero = of.arm(values), np.zeros(3)
    centres = np.array([arm.place(state, rod, m[0], zero) for m in of.markers])
    ends = [
        [arm.place(state, rod, m[0], unit) for unit in np.eye(3)] for m in of.markers
    ]
    return centres, np.array(ends) - centres[:, None]


@lru_cache(maxsize=512)
def _rest(of: TendonTentacle, values: tuple[float, ...]) -> tuple[SpaceState, SpaceRod]:
    """The arm at rest, sought from the rest of inputs rounded: the same each time."""
    rounded = [float(f"{v:.{COARSE}g}") for v in values[:6]]
    near = (*rounded, *(0.0,) * (len(values) - len(rounded)))
    start = None if near == values else _rest(of, near)[0]
    arm = of.arm(values)
    rod = arm.rod
    natural = np.zeros_like(rod.curvature)
    natural[:, :2] = values[6:8]
    rod = replace(rod, curvature=natural)
    tendons = tuple(
        arm.tendon(rod, of.route(root, tie), np.radians(angle), tension)
        for tension, angle, root, tie in zip(
            values[2:4], values[4:6], values[8:10], values[10:12], strict=True
        )
        if tension > 0.0
    )
    loads = replace(
        no_loads(rod), gravity=np.array([0.0, 0.0, -GRAVITY]), tendons=tendons
    )
    return rest(rod, loads, start, PRECISE).state, rod
