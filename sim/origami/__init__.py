"""Origami as bars and hinges, with contact: Sect. 4 and 5 of [ZF19].

Read `pattern` (creases and panels), `model` (bars and hinges with stiffness),
`fold_and_load_phases` (what a sheet is asked to do), `folding` (how it follows; begin
with `folding.fold_simulation`), and `mechanics` (stability, modes
and stiffness of what was folded).

From Python: a `CreasePattern`, by `miura` or its own vertices and panels, and a
`SheetMaterial` give a mesh (`concentrated_mesh`, `compliant_mesh`); a `Sheet` is the
mesh with supports and `Contact`; `run` does its phases (`Fold`, `Load`) and yields each
`OrigamiStep`.
"""

from sim.core.imported_code import exports

__getattr__, __dir__ = exports(
    __name__,
    {
        "pattern.pattern": "CreasePattern",
        "pattern.generators": "kresling miura strip vertex waterbomb yoshimura",
        "model.mesh": "BarHingeMesh compliant_mesh concentrated_mesh",
        "model.sheet_material": "SheetMaterial",
        "fold_and_load_phases": "Displace Fold Load",
        "folding.sheet": "Contact Rules Sheet",
        "folding.fold_simulation": "OrigamiStep run",
        "mechanics": "Probe eigenmodes stiffness_along",
    },
)
