"""How every figure looks: fonts that stay text, colours that survive grey.

The colours are of Okabe and Ito's set, told apart with every common colour
blindness; where two series meet they also differ in lightness and in shape.
"""

from collections.abc import Sequence
from typing import Any

SIMULATED = "#0072B2"  # blue
SCANNED = "#E69F00"  # orange, as the paper's printed spheres
SCANNED_EDGE = "#7A4B00"
TARGET = "#8C8C8C"
ERROR = "#000000"
SHAPE = "#0072B2"
FAINT = "#5A5A5A"

FULL_WIDTH = 7.2  # inches: two columns of a journal page

RC: dict[str, Any] = {
    "font.family": "DejaVu Sans",
    "font.size": 7.0,
    "axes.labelsize": 7.5,
    "axes.titlesize": 7.5,
    "axes.linewidth": 0.6,
    "xtick.labelsize": 6.5,
    "ytick.labelsize": 6.5,
    "xtick.major.width": 0.6,
    "ytick.major.width": 0.6,
    "legend.fontsize": 6.5,
    "legend.frameon": False,
    "lines.linewidth": 1.0,
    "lines.markersize": 3.0,
    "mathtext.fontset": "dejavusans",
    "pdf.fonttype": 42,
    "ps.fonttype": 42,
    "figure.dpi": 100.0,
    "savefig.dpi": 300.0,
}


def provenance(runs: Sequence[tuple[str, str]], synthetic: bool) -> str:
    """One line at the foot of a figure: which runs it shows.

    Parameters
    ----------
    runs : (what, key) of each run
    synthetic : whether any scan was made by computation
    """
    shown = ", ".join(f"{what} {key[:12]}" for what, key in runs if key)
    words = ["Runs: " + shown] if shown else []
    if synthetic:
        words.append("Scans are synthetic: computed from a simulated end state.")
    return ".  ".join(words)
