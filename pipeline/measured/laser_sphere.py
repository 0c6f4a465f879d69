"""A sphere seen by a laser scanner: its centre, with the radius held, and its radius.

The scan is the input; the centre that others found in the same scan, by a segmentation
of their own, is what is compared.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import numpy as np

from analysis.measured.predicted_quantities import Quantities, RecordInputs, one_value
from analysis.spheres.find import CONE, facing_fits
from pipeline.io.record_files import FoundRecord
from pipeline.io.scanned_targets import points_mm
from pipeline.measured.records import Experiment
from pipeline.terminal import InputError, no_such
from sim.core.options import Positive, within

MM = 1e3
CENTRES = ("x_m", "y_m", "z_m")
FREE_RADIUS = "free_radius_mm"
AXES = ("centre_x", "centre_y", "centre_z")


@dataclass(frozen=True)
class SphereScans(Experiment):
    """Scans of one sphere, the scanner at the origin.

    Parameters
    ----------
    scans : folder that holds NAME.xyz for a record NAME, in metres
    radius_mm : nominal
    cone_degrees : from the line of sight, within which points count
    """

    scans: str
    radius_mm: Positive
    cone_degrees: Annotated[Positive, within(0.0, 90.0, "between 0 and 90")] = CONE

    def inputs(self, record: FoundRecord) -> RecordInputs:
        """The points of the scan."""
        there = {path.stem: path for path in sorted(Path(self.scans).glob("*.xyz"))}
        path = there.get(record.name.removesuffix(".xyz"))
        if path is None:
            raise no_such(f"{self.scans} has no scan", record.name, there)
        return RecordInputs(record.name, state={"points": points_mm(path, "m")})

    def predict(
        self, parameters: Mapping[str, float], record: RecordInputs
    ) -> Quantities:
        """Centre with the radius held, radius by a fit of its own."""
        del parameters
        held, free = facing_fits(
            record.state["points"], self.radius_mm, np.zeros(3), self.cone_degrees
        )
        u = np.sqrt(np.diag(held.covariance))
        found = {
            name: one_value(float(held.centre[i]), float(u[i]))
            for i, name in enumerate(AXES)
        }
        u_radius = float(np.sqrt(free.covariance[3, 3]))
        return {**found, "radius": one_value(free.radius, u_radius)}

    def measured(self, record: FoundRecord, predicted: Quantities) -> Quantities:
        """The centre and the free radius that others found, or the nominal radius."""
        whole = [*CENTRES] if {*CENTRES} & {*record.header} else []
        radius = [FREE_RADIUS] if FREE_RADIUS in record.header or not whole else []
        row = record.row([*whole, *radius])
        found = {
            axis: one_value(MM * float(row[name]))
            for axis, name in zip(AXES, whole, strict=False)
        }
        if radius:
            found["radius"] = one_value(float(row[FREE_RADIUS]))
        for name, one in found.items():
            apart = abs(float(one.value[0] - predicted[name].value[0]))
            if apart > self.radius_mm / 2:
                raise InputError(
                    f"{record.path}: {name} of {record.name} is {apart:.4g} mm off its "
                    "scan: give centres in m from the scanner and radii in mm"
                )
        return found
