"""Meshes that scanners' software would make of the views of a virtual scan.

Open3D does what such software does: it averages truncated signed distances of all
views, or solves Poisson's equation for oriented points, and then smooths or decimates.
"""

from enum import Enum
from typing import Any

import numpy as np

from pipeline.scans.open3d_loader import open3d
from sim.core.arrays import Floats, Ints


class Fusion(Enum):
    """What the software did."""

    TSDF = "TSDF"
    POISSON = "Poisson"
    TAUBIN = "TSDF, Taubin"
    LAPLACE = "TSDF, Laplace"
    TENTH = "TSDF, a tenth of its faces"


def fused(
    points: Floats, view: Ints, places: Floats, pitch: float, how: Fusion
) -> tuple[Floats, Ints]:
    """Vertices (n, 3) and triangles (m, 3) of the fused views.

    Parameters
    ----------
    points : (k, 3) mm
    view : (k,) that saw each
    places : (v, 3) of the scanner, mm
    pitch : between neighbouring points of a view, mm
    """
    if how is Fusion.POISSON:
        mesh = _poisson(points, view, places, pitch)
    else:
        mesh = _tsdf(points, view, places, pitch)
    if how is Fusion.TAUBIN:
        mesh = mesh.filter_smooth_taubin(10)
    elif how is Fusion.LAPLACE:
        mesh = mesh.filter_smooth_laplacian(2)
    elif how is Fusion.TENTH:
        mesh = mesh.simplify_quadric_decimation(len(mesh.triangles) // 10)
    return np.asarray(mesh.vertices), np.asarray(mesh.triangles, dtype=np.int64)


def _tsdf(points: Floats, view: Ints, places: Floats, pitch: float) -> Any:
    """Signed distances on voxels of the pitch, cut off at four of them.

    Open3D cuts the coordinates of a pixel to whole ones (isl-org/Open3D, 7580), so its
    middle, whole in `_picture`, is half a pixel further for it.
    """
    o3d = open3d()
    core = o3d.core
    grid = o3d.t.geometry.VoxelBlockGrid(
        ("tsdf", "weight"),
        (core.float32, core.float32),
        ((1,), (1,)),
        voxel_size=pitch,
        block_resolution=16,
        block_count=20_000,
    )
    middle = points.mean(axis=0)
    for number, place in enumerate(places):
        picture, focal, axes = _picture(points[view == number], place, middle, pitch)
        half, pose = len(picture) // 2 + 0.5, np.eye(4)
        pose[:3, :3], pose[:3, 3] = axes, -axes @ place
        camera = np.array([[focal, 0, half], [0, focal, half], [0, 0, 1.0]])
        depth, inside, outside = (
            o3d.t.geometry.Image(core.Tensor(picture)),
            core.Tensor(camera),
            core.Tensor(pose),
        )
        blocks = grid.compute_unique_block_coordinates(
            depth, inside, outside, 1.0, 1e4, 4.0
        )
        grid.integrate(blocks, depth, inside, outside, 1.0, 1e4, 4.0)
    return _without_crumbs(_in_order(grid.extract_triangle_mesh(0.5).to_legacy()))


def _in_order(mesh: Any) -> Any:
    """The same mesh with vertices by their places, and triangles by their vertices:
    Open3D's threads leave them in another order each time."""
    o3d = open3d()
    vertices, faces = np.asarray(mesh.vertices), np.asarray(mesh.triangles)
    order = np.lexsort(vertices.T)
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    faces = rank[faces]
    turn = (faces.argmin(axis=1)[:, None] + np.arange(3)) % 3
    faces = np.take_along_axis(faces, turn, axis=1)
    return o3d.geometry.TriangleMesh(
        o3d.utility.Vector3dVector(vertices[order]),
        o3d.utility.Vector3iVector(faces[np.lexsort(faces.T[::-1])]),
    )


def _picture(
    points: Floats, place: Floats, middle: Floats, pitch: float
) -> tuple[Floats, float, Floats]:
    """Depths of pixels wider than the pitch, the focal length, the camera's axes."""
    forward = (middle - place) / np.linalg.norm(middle - place)
    right = np.cross([0.0, 0.0, 1.0], -forward)
    right /= np.linalg.norm(right)
    axes = np.stack([right, np.cross(forward, right), forward])
    x, y, z = axes @ (points - place).T
    focal = float(np.linalg.norm(middle - place)) / (1.2 * pitch)
    u, v = np.rint(focal * x / z).astype(int), np.rint(focal * y / z).astype(int)
    half = int(max(np.abs(u).max(), np.abs(v).max())) + 2
    depth = np.full((2 * half + 1, 2 * half + 1), np.inf, dtype=np.float32)
    np.minimum.at(depth, (v + half, u + half), z.astype(np.float32))
    return np.where(np.isfinite(depth), depth, 0.0).astype(np.float32), focal, axes


def _poisson(points: Floats, view: Ints, places: Floats, pitch: float) -> Any:
    o3d = open3d()
    cloud = o3d.geometry.PointCloud(o3d.utility.Vector3dVector(points))
    cloud.estimate_normals(o3d.geometry.KDTreeSearchParamHybrid(4 * pitch, 30))
    normals = np.asarray(cloud.normals)
    towards = np.einsum("ij,ij->i", normals, places[view] - points) > 0
    cloud.normals = o3d.utility.Vector3dVector(
        np.where(towards[:, None], normals, -normals)
    )
    mesh, density = o3d.geometry.TriangleMesh.create_from_point_cloud_poisson(
        cloud, width=1.5 * pitch, n_threads=1
    )
    sparse = np.asarray(density) < np.quantile(density, 0.1)
    mesh.remove_vertices_by_mask(sparse)
    return mesh


def _without_crumbs(mesh: Any) -> Any:
    """The mesh without crumbs."""
    group, sizes, _ = mesh.cluster_connected_triangles()
    mesh.remove_triangles_by_mask(np.asarray(sizes)[np.asarray(group)] < 200)
    mesh.remove_unreferenced_vertices()
    return mesh
