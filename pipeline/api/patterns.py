"""Crease patterns: tessellations, single units, and files in FOLD, CP, SVG or DXF."""

from pipeline.api.cases import remembered
from pipeline.io import fold_file
from sim.origami.pattern import generators
from sim.origami.pattern.pattern import CreasePattern

__all__ = [
    "CreasePattern",
    "from_file",
    "kresling",
    "miura",
    "strip",
    "vertex",
    "waterbomb",
    "yoshimura",
]

miura = remembered(generators.miura)
waterbomb = remembered(generators.waterbomb)
yoshimura = remembered(generators.yoshimura)
strip = remembered(generators.strip)
vertex = remembered(generators.vertex)
kresling = remembered(generators.kresling)
from_file = remembered(fold_file.fold_file)
