"""The star robot of [Hu20] switches on the limb beside the one it stands on."""

from matplotlib.figure import Figure

import morphtrack as mt

robot = mt.robots.star(duration=4.0)
run = mt.simulate(robot, name="star")
print(run)

x, edges = run.arrays["x"], run.arrays["edges"]
figure = Figure(figsize=(6.0, 2.4), layout="constrained")
axes = figure.subplots()
for k in (0, len(x) // 2, len(x) - 1):
    time = run.steps["time"].iloc[k]
    shape = 1000.0 * x[k][edges]  # (edges, 2 ends, 2)
    lines = axes.plot(*shape.transpose(2, 1, 0), color=f"C{k % 7}")
    lines[0].set_label(f"{time:.1f} s")
axes.axhline(0.0, color="black", linewidth=0.8)
axes.set(xlabel="x (mm)", ylabel="y (mm)", aspect="equal")
axes.legend()
figure.savefig("rolling_robot.png", dpi=100)
