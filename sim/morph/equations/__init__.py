"""Constraints as equations: rows, Jacobian, curvature, projection (eqs. 7 to 12).

Read `rows` (residuals and gradients), `topology` and `system` (where entries are, and
their values), `projection` (eqs. 11 and 12); then for Newton steps `hessian`,
`curvature`, `constraint_forces`, `inertia_correction`, `descent` and `retraction`.
`closing` brings a start onto its constraints.
"""
