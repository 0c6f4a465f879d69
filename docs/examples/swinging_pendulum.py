"""A double pendulum is let go; its energy is kept."""

from matplotlib.figure import Figure

import morphtrack as mt

pendulum = mt.mechanisms.from_parts(
    nodes=[[0, 0, 0], [0.5, 0, 0], [1.0, 0, 0]],
    links=[[0, 1], [1, 2]],
    fixed=[0],
    planar="z",
    masses=[{"nodes": [1], "mass": 1.0}, {"nodes": [2], "mass": 1.0}],
)
body = mt.mechanisms.with_loads(pendulum)
case = mt.Motion(body, duration=2.0, h=0.005, every=2, gravity=[0.0, -9.81, 0.0])
run = mt.simulate(case)
path = run.arrays["r"][:, 2]
energy = run.steps["kinetic"] + run.steps["potential"]
print(f"kinetic energy up to {run.steps['kinetic'].max():.1f} J")
print(f"their sum changes by {energy.max() - energy.min():.1e} J")

figure = Figure(figsize=(4.4, 3.4), layout="constrained")
axes = figure.subplots()
axes.plot(path[:, 0], path[:, 1])
axes.set(xlabel="x (m)", ylabel="y (m)", title="path of the lower mass", aspect="equal")
figure.savefig("swinging_pendulum.png", dpi=100)
