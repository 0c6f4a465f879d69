"""Natural curvature and modulus in time, eq. (7) of [Hu20]; who switches limbs on."""
