"""Points so far from the rest that no cell of a grid can hold both."""

from dataclasses import replace

import numpy as np

from analysis.spheres.grid import bounds
from pipeline.scans.reading.cloud import Cloud
from pipeline.scans.reading.source import Choices, Fault, ScanFileError
from pipeline.scans.thresholds import SIZE


def without_far(cloud: Cloud, radius_mm: float, choices: Choices) -> Cloud:
    """The cloud, if all its points can be told apart; salvaged, the part that can.

    Raises
    ------
    ScanFileError
        E-RANGE, with the farthest of the points that are too far from the median.
    """
    points = cloud.points
    every = len(points) // SIZE.sampled_points + 1
    middle, reach = np.median(points[::every], axis=0), SIZE.widest * radius_mm
    lowest, highest = bounds(points)
    if max(float((middle - lowest).max()), float((highest - middle).max())) <= reach:
        return cloud
    distance = np.abs(points - middle).max(axis=1)
    far = distance > reach
    many = int(far.sum())
    if not choices.salvage:
        x, y, z = points[int(np.argmax(distance))]
        raise ScanFileError(
            Fault.RANGE,
            cloud.path,
            f"{many} of {len(points)} points are more than {reach:.2g} mm from the "
            f"others, the farthest at ({x:.6g}, {y:.6g}, {z:.6g}) mm",
            "remove them, check the unit, or leave them out with --salvage",
        )
    note = f"{many} of {len(points)} points lay far from the others and were dropped"
    return replace(
        cloud.only(~far),
        dropped=cloud.dropped + many,
        notes=(*cloud.notes, note),
    )
