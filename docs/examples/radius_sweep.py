"""How compact a sheet becomes on cylinders of several radii."""

import pandas as pd
from matplotlib.figure import Figure

import morphtrack as mt

sheet = mt.mechanisms.triangle_sheet(rows=2, columns=2, variation=0.1, seed=1)
rows = []
for radius in (1.6, 1.8, 2.0, 2.5, 3.0):
    target = mt.targets.Cylinder(radius, [0.05, 0.03, -radius], [1.0, 0.05, 0.0])
    run = mt.simulate(mt.Morph(sheet, target=target))  # once; afterwards it is read
    rows.append({"radius": radius, "S": run.result["S"], "steps": run.result["steps"]})
table = pd.DataFrame(rows)
print(table)

figure = Figure(figsize=(4.4, 3.0), layout="constrained")
axes = figure.subplots()
axes.plot(table["radius"], table["S"], marker="o")
axes.set_xlabel("radius of the cylinder / length of a link")
axes.set_ylabel("shape factor $S$")
figure.savefig("radius_sweep.png", dpi=100)
