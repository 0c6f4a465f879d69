"""Target shapes: surfaces, points, and meshes and clouds of files."""

from pipeline.api.cases import remembered
from pipeline.io import scanned_targets
from sim.mechanism.targets.analytic_surfaces import (
    Circle,
    Cylinder,
    Ellipsoid,
    FourierBlob,
    FourierCylinder,
    Plane,
    Sphere,
)
from sim.mechanism.targets.target_interface import Goals

__all__ = [
    "Circle",
    "Cylinder",
    "Ellipsoid",
    "FourierBlob",
    "FourierCylinder",
    "Goals",
    "Plane",
    "Sphere",
    "cloud_from_file",
    "mesh_from_file",
    "points",
]

points = remembered(scanned_targets.points)
cloud_from_file = remembered(scanned_targets.cloud_file)
mesh_from_file = remembered(scanned_targets.mesh_file)
