"""Stretching and bending of a discrete rod, with gradient and Hessian in blocks.

Read `elastic` (energies and gradients), `stiffness` (Hessians), `blocks` (their
factorisation), then `tangent` (derivatives by parameters).
"""
