"""Measured motions: markers in time, and force by displacement.

Begin with `markers`.
"""
