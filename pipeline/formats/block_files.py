"""Planar blocks and their hinges in two CSV files: blocks.csv, hinges.csv.

blocks.csv has a row a corner (block, corner, x_mm, y_mm; counter-clockwise), hinges.csv
a row a hinge (block_a, corner_a, block_b, corner_b, direction x or y of its ligament).
"""

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from pipeline.formats.record_files import numbers, read_columns
from pipeline.terminal.errors import InputError
from sim.arrays import Floats, Ints

AXES = {"x": (1.0, 0.0), "y": (0.0, 1.0)}


@dataclass(frozen=True, eq=False)
class BlockGeometry:
    """Blocks as drawn.

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
    drawn = folder / "blocks.csv"
    names = ["block", "corner", "x_mm", "y_mm"]
    table = numbers(read_columns(drawn, names), drawn).sort_values(["block", "corner"])
    corners = tuple(
        own[["x_mm", "y_mm"]].to_numpy() for _, own in table.groupby("block")
    )
    path = folder / "hinges.csv"
    ends = ["block_a", "block_b", "corner_a", "corner_b"]
    found = numbers(read_columns(path, ends), path).to_numpy(np.int64)
    if found[:, :2].max() >= len(corners):
        raise InputError(f"{path} names block {found[:, :2].max()}, not in {drawn}")
    words = read_columns(path, ["direction"])["direction"]
    wrong = sorted(set(words) - set(AXES))
    if wrong:
        raise InputError(f"{path}: direction is {wrong[0]!r}: it must be x or y")
    along = np.array([AXES[word] for word in words])
    return BlockGeometry(corners, found[:, :2], found[:, 2:], along)
