"""A short silicone beam, clamped, lifted by its tip and let go; markers in time.

Heights are those of the middle of the tip's section, the mean of two markers on its
sides, above the mean of the markers on the clamp. Of a record only its mass, its times
and what came before the release are read beforehand. A mass hangs from the tip on a
spring that gives: rigid on it, the tip would not fall as fast as it does at first, nor
stop for a moment while it falls.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from pathlib import Path
from typing import ClassVar, Self

import numpy as np

from analysis.measured.predicted_quantities import (
    Quantities,
    RecordInputs,
    curve,
    one_value,
)
from analysis.measured.quantities import release_frame, resting, ringing
from pipeline.io.measured_motions import refuse_gaps, refuse_stray
from pipeline.io.record_files import FoundRecord
from pipeline.measured.records import Experiment
from pipeline.terminal import InputError, refusing
from sim.core.arrays import Floats
from sim.core.options import Count, NotNegative, Positive
from sim.rods.stress_relaxation import Relaxation, prony
from sim.rods.thick_rod import Clamp, Prism, ThickRod, TipMass
from sim.rods.thick_rod_motion import Hold, crept_height, rest_height, ringing_heights

TIP, BASE = ("tip_2", "tip_3"), ("base_1", "base_2", "base_3")
REACH = (0.05, 0.2)  # m, between tip and clamp
STEEP = 0.7  # of that, by which the held tip may be higher or lower
EVEN = 1e-3  # of a frame, by which times may differ
HALVES = 13  # half periods that are simulated: ten are looked at
LOADS = ("own weight", "added mass")
TYPICAL = 2.9e5  # Pa, by which it is decided how long to simulate
MM = 1e3


@dataclass(frozen=True)
class Heights:
    """Height of a record's tip above its clamp, m, and the frame of its release."""

    time: Floats
    height: Floats
    release: int

    @property
    def rest(self) -> float:
        """At the end."""
        return float(self.height[resting(self.time)].mean())

    @property
    def rested(self) -> float:
        """s, from the release to the middle of the rest."""
        middle = float(self.time[resting(self.time)].mean())
        return middle - float(self.time[self.release])


def heights_of(record: FoundRecord) -> Heights:
    """The heights of a record of a released beam; others are refused."""
    names = [f"{m}_{axis}_m" for m in (*TIP, *BASE) for axis in "xyz"]
    table = record.columns(["time_s", *names])
    time = table["time_s"].to_numpy()
    if len(time) < 100:
        raise InputError(f"{record.path} has {len(time)} frames: give 100 or more")
    refuse_gaps(record.path, time, 1.0 - EVEN, 1.0 + EVEN)
    places = {m: table[[f"{m}_{a}_m" for a in "xyz"]].to_numpy() for m in (*TIP, *BASE)}
    tip, base = (np.mean([places[m] for m in own], axis=0) for own in (TIP, BASE))
    apart = float(np.linalg.norm(np.median(tip - base, axis=0)))
    if not REACH[0] < apart < REACH[1]:
        raise InputError(
            f"{record.path}: tip and base markers are {apart:g} m apart, not about 0.1 "
            "m: give coordinates in metres"
        )
    refuse_stray(record.path, time, places)
    height = tip[:, 0] - base[:, 0]
    if abs(height[0]) > STEEP * apart:
        raise InputError(
            f"{record.path}: the tip is held {height[0]:.3g} m above the clamp, "
            f"{apart:.3g} m from it: give x upwards, z along the beam"
        )
    moves = np.ptp(tip - base, axis=0)
    if (most := int(np.argmax(moves))) > 0:
        raise InputError(
            f"{record.path}: the tip moves most along {'xyz'[most]} ({moves[most]:.3g} "
            f"m, {moves[0]:.3g} along x): give x upwards, y sideways, z along the beam"
        )
    with refusing(ValueError, place=str(record.path)):
        return Heights(time, height, release_frame(time, tip[:, 0]))


@dataclass(frozen=True)
class ReleasedBeam(Experiment):
    """A cantilever with a mass at its tip.

    Parameters
    ----------
    reference : files of the same beam under its own weight, which heights count from
    length, width, height : m
    elements, step : along the beam; s
    u_release : s, standard uncertainty of when the hand let go: it was not instantly
    u_mass : kg, standard uncertainty of an added mass
    """

    of: ClassVar[str] = "beam"
    reference: Sequence[str]
    length: Positive
    width: Positive
    height: Positive
    elements: Count = 16
    step: Positive = 1.0e-3
    u_release: NotNegative = 3.0e-3
    u_mass: NotNegative = 3.0e-4

    @cached_property
    def own_weight(self) -> Heights:
        """Of the reference: mean height at rest; times of the first of them."""
        all_ = [
            heights_of(FoundRecord(Path(name).stem, Path(name), {}))
            for name in self.reference
        ]
        rest = float(np.mean([one.rest for one in all_]))
        first = all_[0]
        before = first.height + (rest - first.rest)
        return Heights(first.time, before, first.release)

    def inputs(self, record: FoundRecord) -> RecordInputs:
        """Its mass, its times, and the height at which its tip was held."""
        mass = record.number("mass_g")
        if mass < 0.0:
            raise InputError(f"{record.path}: mass_g is {mass:g}: give 0 or more")
        numbers = {"mass_kg": mass / MM, "released_s": 0.0}
        u = {"released_s": self.u_release}
        if mass > 0.0:
            u["mass_kg"] = self.u_mass
        if record.there:
            seen = heights_of(record)
            held = float(seen.height[seen.release - 1]) - self.own_weight.rest
            frame = float(np.median(np.diff(seen.time)))
            numbers |= {"held_m": held, "frame_s": frame, "rested_s": seen.rested}
        else:
            held, rested = record.number("held_mm") / MM, record.number("rested_s")
            numbers |= {"held_m": held, "frame_s": 0.01, "rested_s": rested}
            u["held_m"] = record.number("u_held_mm") / MM
        words = {"load": LOADS[int(mass > 0.0)]}
        return RecordInputs(record.name, numbers, u, words)

    def rod(self, parameters: Mapping[str, float], mass: float) -> ThickRod:
        """The beam with a mass, kg."""
        block = Prism(
            self.length, self.width, self.height, parameters["density"],
            parameters["poisson"],
        )  # fmt: skip
        law = Relaxation(
            parameters["modulus"], parameters["share"], parameters["exponent"]
        )
        tip = TipMass()
        if mass > 0.0:
            tip = TipMass(
                mass, parameters["beyond"], spring=parameters["spring"],
                retardation=parameters["retardation"],
            )  # fmt: skip
        return ThickRod(
            block,
            law,
            Clamp(parameters["tilt"], parameters["turning"]),
            tip,
            elements=self.elements,
            gravity=parameters["gravity"],
        )

    def _own_rest(self, parameters: Mapping[str, float]) -> float:
        """Height of the tip at rest under its own weight, m, in the model's frame."""
        own = self.own_weight
        above = float(own.height[own.release - 1]) - own.rest
        hold = Hold(0.0, parameters["held_for"], parameters["lever"])
        return _rest(self.rod(parameters, 0.0), above, hold, own.rested)

    def predict(
        self, parameters: Mapping[str, float], record: RecordInputs
    ) -> Quantities:
        """Lowering, period, damping ratio, and the height of the tip in time."""
        given = record.numbers
        rod = self.rod(parameters, given["mass_kg"])
        series = prony(rod.law)
        own = self._own_rest(parameters)
        hold = Hold(own + given["held_m"], parameters["held_for"], parameters["lever"])
        seconds = min(HALVES * self._half_period(rod), given["rested_s"] / 1.5)
        height, last = ringing_heights(rod, series, hold, seconds, self.step)
        left = given["rested_s"] - last.time
        rest = crept_height(rod, series, last, left, 0.1 * left)
        frame = given["frame_s"]
        frames = np.arange(-frame, seconds - 0.02, frame)
        since = np.maximum(frames - given["released_s"], 0.0)
        base = self.own_weight.rest - own
        found = _of_series(frames, base + height(since), base + rest)
        if given["mass_kg"] > 0.0:
            found = {"lowering": one_value(MM * (own - rest)), **found}
        return found

    def _half_period(self, rod: ThickRod) -> float:
        """s, about; by a modulus that is not fitted, so that all see the same times."""
        block = rod.block
        mass = rod.tip.mass + 0.25 * block.density * block.area * block.length
        bends = block.length**3 / (3.0 * block.second_moment)
        softness = bends + block.length / block.shear_area
        return max(np.pi * float(np.sqrt(softness * mass / TYPICAL)), 1.05 / HALVES)

    def measured(self, record: FoundRecord, predicted: Quantities) -> Quantities:
        """The same of the record's markers."""
        del predicted
        seen = heights_of(record)
        first = seen.release - 1
        since = seen.time[first:] - seen.time[seen.release]
        found = _of_series(since, seen.height[first:], seen.rest)
        if record.number("mass_g") > 0.0:
            lowering = MM * (self.own_weight.rest - seen.rest)
            found = {"lowering": one_value(lowering), **found}
        return found

    def refined(self) -> Self:
        """With half the step and twice the elements."""
        return replace(self, elements=2 * self.elements, step=0.5 * self.step)


@lru_cache(maxsize=64)
def _rest(rod: ThickRod, above: float, hold: Hold, seconds: float) -> float:
    return rest_height(rod, prony(rod.law), above, hold, seconds)


def _of_series(time: Floats, height: Floats, rest: float) -> Quantities:
    """Period, damping ratio and height, mm, of a tip; the first frame is still held."""
    period, damping_ratio = ringing(time, height, rest)
    return {
        "period": one_value(period),
        "damping_ratio": one_value(damping_ratio),
        "tip_height": curve(time[1:], MM * height[1:]),
    }
