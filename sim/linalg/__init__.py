"""Symmetric factorisations of fixed pattern: order, analyse once, factorise often.

Read `sparse_ldl` (what callers use), then `elimination_order` (which unknown first, and
the places of the factor) and `multifrontal` (the arithmetic); `rank` finds dependent
columns. `skyline` factorises small matrices of changing profile inside compiled loops.
"""
