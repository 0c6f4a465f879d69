"""How well the block mechanism describes the fitted record of each specimen.

    python -m tests.bench.block_levels

Printed by specimen: rms errors of the mean branch and of half the difference of both
branches over the peak, with the values of the shipped fit; then those of L2 with
the stiffnesses that the authors state, nothing fitted and with an offset alone.
"""

from dataclasses import replace

import numpy as np

from analysis.measured.predicted_quantities import Quantities
from pipeline.measured.block_mechanism import BlockMechanism
from pipeline.measured.prediction_file import FOLDER, POSTERIOR, read_posterior
from pipeline.measured.records import at_hand, records_in
from pipeline.measured.set_file import read_set
from sim.core.arrays import Floats

AUTHORS = {  # L2, times the 0.63 that they chose
    "stretch_L2": 0.882, "shear_L2": 0.2205, "turn_L2": 0.378, "friction_L2": 0.0,
    "offset_L2": 0.0, "play_L2": 0.0, "place_L2": 0.6,
}  # fmt: skip
OFFSETS = np.arange(-0.3, 0.31, 0.1)  # mm, within which it is known


def errors(found: Quantities, measured: Quantities) -> Floats:
    """(2,) rms of mean branch and half difference over the peak, in percent."""
    peak = measured["force"].value + measured["half_difference"].value
    parts = []
    for quantity in ("force", "half_difference"):
        series = found[quantity].on(measured[quantity].at)
        at = measured[quantity].on(series.at)
        parts.append(np.sqrt(np.mean((series.value - at.value) ** 2)))
    return 100.0 * np.array(parts) / float(np.abs(peak).max())


def main() -> None:
    """Print the levels."""
    at = at_hand(read_set("circle_square_morpher").model_dump(mode="json"))
    model, records = at.experiment, records_in(at, at.folder)
    assert isinstance(model, BlockMechanism)
    held = dict(read_posterior(at.folder / FOLDER / POSTERIOR).inputs)
    for name, record in records.inputs.items():
        if not at.is_fitted(name):
            continue
        measured = model.measured(records.found[name], {})
        mean, half = errors(model.predict(held, record), measured)
        specimen = record.words["specimen"]
        print(f"{specimen}: mean {mean:.1f} %, half difference {half:.1f} %")
        if specimen != "L2":
            continue
        for strains in ((), ("L2",)):
            by = replace(model, published_strains=strains)
            told = "published" if strains else "regular"
            tried = [{**held, **AUTHORS, "offset_L2": float(o)} for o in OFFSETS]
            each = [errors(by.predict(p, record), measured)[0] for p in tried]
            zero, best = each[len(each) // 2], int(np.argmin(each))
            print(
                f"L2, authors' stiffnesses, {told} strains: {zero:.1f} %, with an "
                f"offset of {OFFSETS[best]:.1f} mm {each[best]:.1f} %"
            )


if __name__ == "__main__":
    main()
