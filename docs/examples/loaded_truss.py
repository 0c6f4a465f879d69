"""A truss of elastic bars sags under a load: displacement against force."""

from matplotlib.figure import Figure

import morphtrack as mt

nodes = [[0, 0, 0], [1, 0, 0], [2, 0, 0], [0.5, 0.8, 0], [1.5, 0.8, 0]]
links = [[0, 1], [1, 2], [0, 3], [1, 3], [1, 4], [2, 4], [3, 4]]
truss = mt.mechanisms.from_parts(nodes=nodes, links=links, planar="z")
forces, sags = [10.0, 20.0, 40.0, 80.0, 120.0], []
for force in forces:
    loaded = mt.mechanisms.with_loads(
        truss,
        link_stiffness=1000.0,
        supports=[[0, 1, 1, 0], [2, 0, 1, 0]],
        loads=[[1, 0.0, -force, 0.0]],
    )
    run = mt.simulate(mt.Equilibrium(loaded))
    sags.append(-run.arrays["r"][-1, 1, 1])
    print(f"{force:5.0f} N: node 1 sags by {1000 * sags[-1]:.2f} mm")

figure = Figure(figsize=(4.4, 3.0), layout="constrained")
axes = figure.subplots()
axes.plot([1000 * sag for sag in sags], forces, marker="o")
axes.set_xlabel("sag of the middle node (mm)")
axes.set_ylabel("load (N)")
figure.savefig("loaded_truss.png", dpi=100)
