"""One Newton method that ends at minima; it knows no solver.

Read `newton` first (what a solver states, the loop, the line search), then `curvature`
(inertia correction, lowest modes, steps through negative curvature).
"""

from sim.core.imported_code import exports

__getattr__, __dir__ = exports(
    __name__,
    {
        "newton": "minimise Problem Step Trial Iterate End line_search halved",
        "curvature": "positive_factor PositiveFactor lowest_mode Spectrum",
    },
)
