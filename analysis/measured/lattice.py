"""A measured lattice beside a modelled one: labels, symmetric placements, alignment.

Labels come from continuity alone (`analysis.labels.tracks`). A lattice that looks the
same after half a turn or in a mirror can be labelled in several ways; which of them a
specimen has is chosen once, by comparison with the model at all its frames together.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from analysis.labels.tracks import TrackOptions, Tracks, carry_labels, placements
from analysis.measured.series import Quantities, QuantitySeries, curve
from analysis.planar import fit_planar_motion
from sim.arrays import Bools, Floats, Ints


@dataclass(frozen=True, eq=False)
class Placed:
    """Labelled frames on the model.

    Attributes
    ----------
    aligned : (f, n, 2) measured nodes, moved rigidly onto the model frame by frame
    mirrored : (f,) frames whose points are a mirror image of the model
    placement, of : which symmetric placement was chosen, of how many
    rms : (of,) distance of all nodes and frames from the model in each of them
    """

    aligned: Floats
    mirrored: Bools
    placement: int
    of: int
    rms: Floats


def label_frames(
    frames: Sequence[Floats],
    made: Floats,
    links: Ints,
    along: Floats,
    options: TrackOptions | None = None,
) -> tuple[Tracks, list[Ints]]:
    """Nodes by continuity, and how a symmetric lattice may be labelled otherwise.

    Parameters
    ----------
    frames : (n, 2) points of each, the first undeformed
    made : (n, 2) nodes of the undeformed lattice

    Returns
    -------
    Tracks, and orders (n,) of nodes: its own, and those of symmetric placements
    """
    fits = placements(made, frames[0], links, options)
    first = fits[0].order
    tracks = carry_labels(frames, links, first, along, options)
    node = np.argsort(first)
    return tracks, [node[fit.order] for fit in fits]


def place_on_model(points: Floats, orders: Sequence[Ints], model: Floats) -> Placed:
    """The symmetric placement that is nearest to the model, and the nodes there.

    Parameters
    ----------
    points, model : (f, n, 2) labelled nodes, and those of the model, at the same frames
    """
    tried = [_aligned(points[:, order], model) for order in orders]
    rms = np.array([_rms(moved - model) for moved, _ in tried])
    best = int(np.argmin(rms))
    return Placed(*tried[best], best, len(orders), rms)


def _aligned(points: Floats, model: Floats) -> tuple[Floats, Bools]:
    """Every frame (n, 2) moved onto the model's, of one hand for all or the other."""
    moved, mirrored = [], []
    for x, y in zip(points, model, strict=True):
        motions = [fit_planar_motion(x, y, hand) for hand in (False, True)]
        both = [motion(x) for motion in motions]
        left = [_rms(one - y) for one in both]
        mirrored.append(left[1] < left[0])
        moved.append(both[int(mirrored[-1])])
    return np.array(moved), np.array(mirrored, dtype=np.bool_)


def in_own_frame(x: Floats, made: Floats) -> Floats:
    """Nodes (n, 2) about their middle, turned as the undeformed lattice lies."""
    motion = fit_planar_motion(x, made - made.mean(axis=0))
    return motion(x)


def node_series(at: Floats, nodes: Floats, u: float = 0.0) -> dict[str, QuantitySeries]:
    """node_00_x, node_00_y and so on, of frames (f, n, 2)."""
    return {
        f"node_{node:02d}_{axis}": curve(at, nodes[:, node, k], u)
        for node in range(nodes.shape[1])
        for k, axis in enumerate("xy")
    }


def nodes_of(series: Quantities, n: int) -> Floats:
    """(f, n, 2) the other way round."""
    columns = [
        series[f"node_{node:02d}_{axis}"].value for node in range(n) for axis in "xy"
    ]
    return np.stack(columns, axis=1).reshape(-1, n, 2)


def size_series(
    at: Floats, nodes: Floats, rows: Mapping[str, Ints], u: float = 0.0
) -> dict[str, QuantitySeries]:
    """Length between the middles of the end rows, and width of the middle row.

    Parameters
    ----------
    nodes : (f, n, 2)
    rows : nodes of the rows `first`, `middle` and `last`, from one end to the other
    u : standard uncertainty of a coordinate
    """
    first, last = (nodes[:, rows[name]].mean(axis=1) for name in ("first", "last"))
    waist = nodes[:, rows["middle"][-1]] - nodes[:, rows["middle"][0]]
    both = np.sqrt(2.0) * u
    return {
        "length": curve(
            at, np.linalg.norm(last - first, axis=1), both / np.sqrt(len(rows["first"]))
        ),
        "waist": curve(at, np.linalg.norm(waist, axis=1), both),
    }


def _rms(difference: Floats) -> float:
    """Root mean square node distance of (..., 2)."""
    return float(np.sqrt(np.mean(np.sum(difference**2, axis=-1))))
