"""Spheres in a point cloud: normals, votes, fit, views. Arrays only, lengths in mm.

Begin with `find`, then `spheres_of_one_radius` (of `centre_votes`, each fitted by
`centre_fit`), `sphere_criteria` and `joint_adjustment` (all spheres and views together,
with the covariance of `centre_covariance`).
"""
