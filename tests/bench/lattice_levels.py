"""Levels of a model of printed lattices: strips only, up to a length and a lag.

    python -m tests.bench.lattice_levels

Level A takes strips alone; N nodes as large as the drawing says; B two factors on
their strain; C one length that nodes take of every strut; D that length and a lag of
temperature; E the same, but strands that go straight through nodes lose what the
drawing says; F the same without a lag. Each of B to F is fitted by least squares on
mean shapes of the four open designs at the temperatures shown, then on three of them
for the fourth. Printed: rms node distance in mm of single specimens, and how far these
are from their mean.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.optimize import least_squares

from analysis.alignment import fit_planar_motion
from analysis.measured.quantities import label_frames, place_on_model
from pipeline.measured.printed_lattices import COLUMNS, ROWS, LatticeTracks
from pipeline.measured.records import at_hand, records_in
from pipeline.measured.set_file import read_set
from sim.core.arrays import Floats, Ints
from sim.mechanism.named_structures import triangle_lattice
from tests.analysis.labels.track_checks import check_tracks

SHOWN = (25.0, 40.0, 50.0, 60.0, 80.0, 100.0, 110.0, 130.0)
DRAWN = 0.25 / np.tan(np.pi / 6)  # mm: struts 0.25 mm wide at 60 degrees overlap
DESIGNS = ("HTNI_all", "LTNI_all", "LTNI_teeth", "HTNI_pacman")


class Level(NamedTuple):
    """What is free in a model, from where a fit begins, and what it means."""

    name: str
    start: tuple[float, ...]
    inputs: Callable[[Floats], dict[str, float]]


def _nodes(
    d: float, lag: float = 0.0, through: float | None = None
) -> dict[str, float]:
    """Inputs: what nodes take of struts that end at them, of those straight through."""
    straight = d if through is None else through
    return {"node_diameter_mm": d, "through_mm": straight, "lag_C": lag}


LEVELS = (
    Level("A strips only", (), lambda _: _nodes(0.0)),
    Level("N nodes as drawn", (), lambda _: _nodes(DRAWN)),
    Level(
        "B two factors",
        (0.75, 0.75),
        lambda p: {**_nodes(0.0), "factor_HTNI": p[0], "factor_LTNI": p[1]},
    ),
    Level("C one length", (0.75,), lambda p: _nodes(p[0])),
    Level("D length and lag", (0.75, 2.0), lambda p: _nodes(p[0], p[1])),
    Level("E through, lag", (0.75, 2.0), lambda p: _nodes(p[0], p[1], DRAWN)),
    Level("F through, no lag", (0.75,), lambda p: _nodes(p[0], 0.0, DRAWN)),
)


@dataclass(frozen=True, eq=False)
class Bench:
    """The open designs as measured, and the model of them.

    Attributes
    ----------
    at : (f,) temperatures
    labelled : by record, labelled frames and the orders of symmetric placements
    """

    model: LatticeTracks
    fixed: Mapping[str, float]
    at: Floats
    labelled: Mapping[str, tuple[Floats, list[Ints]]]

    def shapes(
        self, design: str, inputs: Mapping[str, float], at: Floats | None = None
    ) -> Floats:
        """(f, n, 2) of a design, at all temperatures unless told."""
        at = self.at if at is None else at
        return self.model.shapes(design, at, {**self.fixed, **inputs})


def opened() -> Bench:
    """Label every specimen, check the labels, and say what was found."""
    at = at_hand(read_set("lce_lattices").model_dump(mode="json"))
    model, found, labelled = at.experiment, records_in(at, at.folder), {}
    assert isinstance(model, LatticeTracks)
    made = triangle_lattice(ROWS, COLUMNS, model.spacing_mm)
    for name, record in found.found.items():
        along, frames = model.frames(record)
        tracks, orders = label_frames(frames, made.r[:, :2], made.links, along)
        checks = check_tracks(tracks, made.links, along)
        print(f"{name}: {len(along)} temperatures, {len(orders)} placements; {checks}")
        labelled[name] = (tracks, orders)
    fixed = {i.name: i.value for i in at.inputs}
    return Bench(model, fixed, along, labelled)


def on_model(bench: Bench, record: str, model: Floats) -> tuple[Floats, int]:
    """Frames of a specimen on a model, in the placement that fits best; and which."""
    points, orders = bench.labelled[record]
    placed = place_on_model(points, orders, model)
    return placed.aligned, placed.placement


def mean_shapes(bench: Bench, design: str) -> Floats:
    """(f, n, 2) of three specimens, placed on the model of one length of 0.75 mm."""
    model = bench.shapes(design, _nodes(0.75, 2.0))
    of = [name for name in bench.labelled if name.startswith(design)]
    mean: Floats = np.mean([on_model(bench, name, model)[0] for name in of], axis=0)
    return mean


def fitted(bench: Bench, level: Level, means: Mapping[str, Floats]) -> Floats:
    """Free values of a level by least squares on mean shapes of some designs."""

    at = np.array(SHOWN)
    shown = np.isin(bench.at, at)

    def left(p: Floats) -> Floats:
        parts = []
        for design, mean in means.items():
            modelled = bench.shapes(design, level.inputs(p), at)
            for x, y in zip(modelled, mean[shown], strict=True):
                parts.append((fit_planar_motion(x, y)(x) - y).ravel())
        return np.concatenate(parts)

    if not level.start:
        return np.zeros(0)
    tight = {"xtol": 1e-3, "ftol": 1e-3, "diff_step": 2e-3}
    found: Floats = least_squares(left, level.start, **tight).x
    return found


def errors(bench: Bench, design: str, inputs: Mapping[str, float]) -> Floats:
    """(3, f) rms node distance of every specimen at every temperature."""
    model = bench.shapes(design, inputs)
    rows = []
    for name in (n for n in bench.labelled if n.startswith(design)):
        aligned, _ = on_model(bench, name, model)
        rows.append(np.sqrt(np.mean(np.sum((aligned - model) ** 2, axis=-1), axis=1)))
    return np.array(rows)


def _told(name: str, p: Floats, rms: Floats, at: Floats) -> str:
    """A row: values fitted, rms over all, at some temperatures, and the largest."""
    shown = [f"{np.sqrt(np.mean(rms[:, at == t] ** 2)):.2f}" for t in SHOWN]
    whole = np.sqrt(np.mean(rms**2))
    values = ", ".join(f"{v:.3g}" for v in p)
    return f"{name} | {values} | {whole:.3f} | {' | '.join(shown)} | {rms.max():.2f}"


def main() -> None:
    """Print labels, then levels, fitted on all and with one design left out."""
    bench = opened()
    means = {design: mean_shapes(bench, design) for design in DESIGNS}
    for design, mean in means.items():
        apart = [
            on_model(bench, name, mean)[0] - mean
            for name in bench.labelled
            if name.startswith(design)
        ]
        rms = np.sqrt(1.5 * np.mean(np.sum(np.square(apart), axis=-1), axis=(0, 2)))
        print(_told(f"scatter, {design}", np.zeros(0), rms[None], bench.at))
    print("level, design | fitted | rms | " + " | ".join(f"{t:g} C" for t in SHOWN))
    for level in LEVELS:
        p = fitted(bench, level, means)
        for design in DESIGNS:
            rms = errors(bench, design, level.inputs(p))
            print(_told(f"{level.name}, {design}", p, rms, bench.at), flush=True)
        if level.start:
            for design in DESIGNS:
                others = {k: v for k, v in means.items() if k != design}
                p = fitted(bench, level, others)
                rms = errors(bench, design, level.inputs(p))
                name = f"{level.name}, {design} left out"
                print(_told(name, p, rms, bench.at), flush=True)


if __name__ == "__main__":
    main()
