"""How a sheet follows its loading: increments, equilibria, what came of them.

Read `sheet` (mesh, supports, contact), `fold_simulation` (increment by increment),
`load_control` (ways to advance) and `flat_state_branching` (how a flat sheet is left);
then the iterations: `equilibrium`, and `minimise_multifrontal` for many panels.
`outcome` says how a sheet ended, `imperfections` draws imperfect sheets,
`sequential_test` says how many decide.
"""
