"""Freedoms of a mechanism: rank, redundancy, infinitesimal motions.

Read `mobility` (eqs. 7 to 10 of [dJ23]), then `tangent` (to second order) and
`freedom`. `units` says in which unit of length ranks are taken.
"""
