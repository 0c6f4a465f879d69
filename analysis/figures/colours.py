"""How far colours are apart: on paper, in grey, and to the colour-blind.

Luminance and contrast: W3C, WCAG 2.1 (2018), section 1.4.3. Simulated vision: Machado,
Oliveira, Fernandes, IEEE TVCG 15 (2009) 1291, severity 1, on linear RGB. Distance:
CIE 1976 L*a*b*, white D65, Delta E of 1976.
"""

from typing import Any

import numpy as np
from matplotlib import colormaps
from matplotlib.colors import ListedColormap, to_rgb

from sim.arrays import Floats

ON_WHITE = ListedColormap(colormaps["viridis"](np.linspace(0.0, 0.8, 256)))  # no yellow
GREY = np.array([0.2126, 0.7152, 0.0722])
SEEN = {
    "everyone": np.eye(3),
    "protanopes": np.array(
        [
            [0.152286, 1.052583, -0.204868],
            [0.114503, 0.786281, 0.099216],
            [-0.003882, -0.048116, 1.051998],
        ]
    ),
    "deuteranopes": np.array(
        [
            [0.367322, 0.860646, -0.227968],
            [0.280085, 0.672501, 0.047413],
            [-0.011820, 0.042940, 0.968881],
        ]
    ),
}
XYZ = np.array(
    [
        [0.4124564, 0.3575761, 0.1804375],
        [0.2126729, 0.7151522, 0.0721750],
        [0.0193339, 0.1191920, 0.9503041],
    ]
)


def linear(colour: Any) -> Floats:
    """Linear RGB (3,) of a colour."""
    c = np.array(to_rgb(colour))
    found: Floats = np.where(c <= 0.04045, c / 12.92, ((c + 0.055) / 1.055) ** 2.4)
    return found


def lightness(colour: object) -> float:
    """CIE L* of what is left of a colour in grey, 0 to 100."""
    return float(116.0 * _cube_root(np.array(linear(colour) @ GREY)) - 16.0)


def contrast(colour: object, paper: object = "white") -> float:
    """Ratio of luminances, 1 to 21."""
    light = [float(linear(c) @ GREY) + 0.05 for c in (colour, paper)]
    return max(light) / min(light)


def distance(one: object, other: object) -> tuple[float, str]:
    """Least Delta E of two colours, and to whom they are that near."""
    found = {
        who: float(np.linalg.norm(_lab(m @ linear(one)) - _lab(m @ linear(other))))
        for who, m in SEEN.items()
    }
    who = min(found, key=lambda name: found[name])
    return found[who], who


def _lab(rgb: Floats) -> Floats:
    """L*a*b* (3,) of linear RGB."""
    xyz = XYZ @ np.clip(rgb, 0.0, 1.0) / XYZ.sum(axis=1)
    x, y, z = _cube_root(xyz)
    return np.array([116.0 * y - 16.0, 500.0 * (x - y), 200.0 * (y - z)])


def _cube_root(t: Floats) -> Floats:
    """CIE's cube root, a line near zero."""
    small = 6.0 / 29.0
    root: Floats = np.where(t > small**3, np.cbrt(t), t / (3 * small**2) + 4.0 / 29.0)
    return root
