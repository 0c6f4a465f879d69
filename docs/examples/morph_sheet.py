"""A sheet of rigid triangles takes the shape of a cylinder."""

import morphtrack as mt

sheet = mt.mechanisms.triangle_sheet(rows=3, columns=3, variation=0.1, seed=1)
cylinder = mt.targets.Cylinder(
    radius=2.0, centre=[0.05, 0.03, -2.0], axis=[1.0, 0.05, 0.0]
)
run = mt.simulate(mt.Morph(sheet, target=cylinder), name="sheet")

print(run)
print(run.steps[["E", "S"]].tail(3))
mt.plot(run).savefig("morph_sheet.png", dpi=100)
