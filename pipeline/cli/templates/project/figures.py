"""Draw the figures of the paper and write its numbers."""

from pathlib import Path

import matplotlib.pyplot as plt

import morphtrack as mt

run = mt.load_run("results/linkage")
mt.plot(run).savefig("figure-1.pdf")

figure, ax = plt.subplots(figsize=(3.5, 2.4), layout="constrained")
ax.semilogy(run.steps["step"], run.steps["E"], "o-", markersize=3)
ax.set_xlabel("step")
ax.set_ylabel("rms distance to the goals, $E$")
figure.savefig("figure-2.pdf")

names = {"linkageE": "E", "linkageS": "S"}
lines = [f"\\newcommand{{\\{k}}}{{{run.result[v]:.4f}}}\n" for k, v in names.items()]
Path("numbers.tex").write_text("".join(lines), encoding="utf-8")
