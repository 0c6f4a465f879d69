"""Spheres of a scan beside two simulations. The scan is synthetic: noise on spheres."""

import numpy as np
from matplotlib.figure import Figure

import morphtrack as mt

RADIUS_MM, SCALE_MM = 6.0, 40.0  # of the printed spheres; mm per unit of the case
sheet = mt.mechanisms.triangle_sheet(rows=1, columns=1, variation=0.1, seed=1)
near, far = (
    mt.simulate(mt.Morph(sheet, target=mt.targets.Sphere(radius, [0.05, 0.03, -2.0])))
    for radius in (2.0, 1.2)
)

rng = np.random.default_rng(0)
centres = SCALE_MM * near.arrays["r"][-1]
ways = rng.standard_normal((len(centres), 800, 3))
ways *= RADIUS_MM / np.linalg.norm(ways, axis=2, keepdims=True)
points = centres[:, None] + rng.normal(ways, 0.05)  # mm
np.savetxt("synthetic.xyz", points.reshape(-1, 3), fmt="%.4f")
found = mt.find_spheres("synthetic.xyz", radius_mm=RADIUS_MM, unit="mm")
figure = Figure(figsize=(4.6, 3.0), layout="constrained")
axes = figure.subplots()
for name, run in {"the run that was scanned": near, "another run": far}.items():
    compared = mt.compare(run, found, scale_mm=SCALE_MM)
    print(f"{name}: {compared.verdict}")
    axes.plot(compared.nodes["distance_mm"], "o", label=f"{name}: {compared.verdict}")
axes.set(xlabel="node", ylabel="simulated to scanned (mm)", yscale="log")
axes.legend()
figure.savefig("compare_scan.png", dpi=100)
