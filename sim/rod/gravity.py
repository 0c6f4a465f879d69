"""How strongly everything falls."""

GRAVITY = 9.81  # m/s^2
