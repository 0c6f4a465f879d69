"""Other people's sphere finders on the same clouds; needs cgal, pyransac3d, skimage.

CGAL's Efficient RANSAC searches the whole cloud, thinned to 0.5 mm, with the normals
of this repository. Open3D has no spheres: planes are taken out by RANSAC, what is left
is thinned to 0.5 mm and clustered by DBSCAN, and each cluster that a least-squares
sphere fits to 0.1 R with its radius within 0.1 R is one. The others fit one sphere each
to a hand crop: the points within 1.12 R of a click 1 mm off the true centre. Each has
one reasonable setting.
"""

import re
import time

import numpy as np
import pyransac3d
from CGAL.CGAL_Kernel import Point_3, Vector_3
from CGAL.CGAL_Point_set_3 import Point_set_3
from CGAL.CGAL_Shape_detection import efficient_RANSAC
from skimage.measure import ransac

from analysis.spheres.centre_votes import surface
from analysis.spheres.detections import PickOptions
from analysis.spheres.find import find_spheres
from pipeline.scans.open3d_loader import open3d
from sim.core.arrays import Floats
from tests.analysis.spheres.scenes import VirtualScan

R = 6.0


class Ball:
    """The sphere model that scikit-image asks for."""

    theta: Floats

    @classmethod
    def from_estimate(cls, x: Floats) -> "Ball":
        ball = cls()
        ball.estimate(x)
        return ball

    def estimate(self, x: Floats) -> bool:
        A = np.column_stack([2 * x, np.ones(len(x))])
        c = np.linalg.lstsq(A, (x**2).sum(axis=1), rcond=None)[0]
        self.theta = np.append(c[:3], np.sqrt(max(c[3] + c[:3] @ c[:3], 0.0)))
        return True

    def residuals(self, x: Floats) -> Floats:
        return np.abs(np.linalg.norm(x - self.theta[:3], axis=1) - self.theta[3])


def by_cgal(seen: VirtualScan) -> Floats:
    voxels = surface(seen.points, 0.5, 0.5)
    cloud = Point_set_3()
    cloud.add_normal_map()
    for x, n in zip(
        voxels.centroids[voxels.flat], voxels.normals[voxels.flat], strict=True
    ):
        cloud.insert(Point_3(*map(float, x)), Vector_3(*map(float, n)))
    found = efficient_RANSAC(
        cloud, cloud.add_int_map("shape"), min_points=60,
        epsilon=max(3 * seen.sigma, 0.15), cluster_epsilon=1.5, normal_threshold=0.85,
        probability=0.01, planes=True, cylinders=True, spheres=True,
    )  # fmt: skip
    centres = []
    for text in found:
        numbers = [
            float(v) for v in re.findall(r"-?\d+\.?\d*(?:e[-+]?\d+)?", str(text))
        ]
        if "phere" in str(text) and abs(numbers[3] - R) < 0.1 * R:
            centres.append(numbers[:3])
    return np.array(centres).reshape(-1, 3)


def by_open3d(seen: VirtualScan) -> Floats:
    geometry, utility = open3d().geometry, open3d().utility
    gate = max(3 * seen.sigma, 0.15)
    cloud = geometry.PointCloud(utility.Vector3dVector(seen.points))
    cloud = cloud.voxel_down_sample(0.5)
    for _ in range(5):
        _, flat = cloud.segment_plane(gate, 3, 500)
        if len(flat) < 0.1 * len(cloud.points):
            break
        cloud = cloud.select_by_index(flat, invert=True)
    label = np.array(cloud.cluster_dbscan(1.0, 5))
    x = np.asarray(cloud.points)
    centres = []
    for one in range(label.max(initial=-1) + 1):
        near, ball = x[label == one], Ball()
        ball.estimate(near)
        rms = np.sqrt(np.mean(ball.residuals(near) ** 2))
        if len(near) > 20 and rms < 0.1 * R and abs(ball.theta[3] - R) < 0.1 * R:
            centres.append(ball.theta[:3])
    return np.array(centres).reshape(-1, 3)


def by_hand(seen: VirtualScan, rng: np.random.Generator, which: str) -> Floats:
    centres = []
    for centre in seen.parts.centres:
        off = rng.normal(size=3)
        click = centre + off / np.linalg.norm(off)
        x = seen.points[np.linalg.norm(seen.points - click, axis=1) < 1.12 * R]
        gate = max(3 * seen.sigma, 0.15)
        if len(x) < 20:
            continue
        if which == "skimage":
            model, _ = ransac(x, Ball, 4, gate, max_trials=500, rng=rng)
            if model is not None:
                centres.append(model.theta[:3])
        else:
            centres.append(np.asarray(pyransac3d.Sphere().fit(x, gate, 500).center))
    return np.array(centres).reshape(-1, 3)


def compare(name: str, seen: VirtualScan) -> None:
    """Print recall, false picks, median error over the bound, and seconds of each."""
    rng = np.random.default_rng(0)
    for who, find in (
        ("this", lambda: find_spheres(seen.points, PickOptions(R)).centres),
        ("CGAL", lambda: by_cgal(seen)),
        ("Open3D", lambda: by_open3d(seen)),
        ("skimage, hand crops", lambda: by_hand(seen, rng, "skimage")),
        ("pyransac3d, hand crops", lambda: by_hand(seen, rng, "pyransac3d")),
    ):
        start, cpu = time.perf_counter(), time.process_time()
        centres = find()
        wall, cpu = time.perf_counter() - start, time.process_time() - cpu
        gaps = np.linalg.norm(seen.parts.centres[:, None] - centres[None], axis=2)
        best = gaps.min(axis=1, initial=np.inf)
        balls = np.flatnonzero(seen.cap >= 0.12)
        hit = balls[best[balls] < 1.5]
        over = [best[k] / np.sqrt(np.trace(seen.bound(k))) for k in hit] or [np.nan]
        print(
            f"{name}, {who}: recall {len(hit)} of {len(balls)}, "
            f"false {(gaps.min(axis=0, initial=np.inf) > 1.5).sum()}, "
            f"median error {1e3 * np.median(best[hit]):.0f} um, "
            f"over bound {np.median(over):.1f}, CPU {cpu:.1f} s, wall {wall:.1f} s",
            flush=True,
        )
