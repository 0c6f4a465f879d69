"""A tapered silicone arm in space is bent by two tendons."""

import numpy as np

import morphtrack as mt

arm = mt.robots.arm(
    profile=[[0.0, 0.015], [0.30, 0.006]],  # arc length and radius, m
    tied=0.29,
    offset=[[0.0, 0.011], [0.29, 0.003]],
    angles=[30.0, 150.0],
    tensions=[1.5, 3.0],
)
run = mt.simulate(arm)
tip = run.arrays["nodes"][:, -1]
print(run)
print(f"the tip moves by {1000 * np.linalg.norm(tip[-1] - tip[0]):.0f} mm")
mt.plot(run).savefig("tendon_arm.png", dpi=100)
