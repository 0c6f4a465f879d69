"""A mechanism from its parts: a four-bar linkage whose coupler traces a point."""

import numpy as np

import morphtrack as mt

parts = {
    "nodes": [[0, 0, 0], [4, 0, 0], [0, 1, 0], [4, 2, 0], [2, 3, 0]],
    "bodies": [[2, 3, 4]],  # the coupler, with the node that traces
    "links": [[0, 2], [1, 3]],
    "fixed": [0, 1],
    "planar": "z",
    "unit": "cm",
}
for x in np.linspace(2.0, 2.6, 4):
    aim = {"nodes": [[4, x, 2.9, 0.0]]}
    linkage = mt.mechanisms.from_parts(**parts, target=aim)
    run = mt.simulate(mt.Morph(linkage, method="newton"))
    print(f"goal at x = {x:.1f}: node 4 at {run.arrays['r'][-1, 4].round(3)}")
mt.plot(run).savefig("own_linkage.png", dpi=100)
