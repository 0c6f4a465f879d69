"""A Miura sheet folds by itself, with contact; nearly flat."""

import morphtrack as mt

pattern = mt.patterns.miura(rows=3, columns=3, width=0.02, height=0.02, angle=60.0)
run = mt.simulate(mt.Fold(pattern, fraction=0.95), name="miura")

print(run)
print(f"largest strain of a panel: {100 * run.result['panel_strain']:.3f} %")
mt.plot(run).savefig("fold_miura.png", dpi=100)
