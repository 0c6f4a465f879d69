"""Spheres in a point cloud: normals, votes, fit, views. Arrays only, lengths in mm.

Begin with `find`, then `search`, `fit` and `judge`.
"""
