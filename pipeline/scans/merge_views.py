"""The views of a scan as one cloud: read, registered, thinned, repeats dropped.

Repeats: a sample of places shows whether points repeat, to rounding: 0.02 s of CPU time
for 1.25 million points. Open3D compares all points to the bit, in 0.8 s.

Registration: spheres are matched as labels are, by the distances between them, and only
where no other match explains them as well. With a plane in sight, FPFH features, RANSAC
and ICP of Open3D 0.20 lay 1 to 7 of 8 neighbouring views wrong, with as many inliers as
right ones. This lays 256 of 256 pairs of such views right, to 0.01 to 0.19 mm, in less
time. A regular structure of which every view shows a part fits itself elsewhere: where
its irregularities are smaller than the errors of centres, no program can tell.
"""

import os
from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np

from analysis.alignment import RigidMotion, fit_rigid_motion
from analysis.labels.assign_labels import label_spheres
from analysis.labels.rigid_distances import Mechanism
from analysis.labels.scoring import LabelOptions
from analysis.spheres.detections import PickOptions, Picks, ViewMotion
from analysis.spheres.find import find_spheres
from analysis.spheres.voxel_grid import bounds
from pipeline.io.length_units import Unit
from pipeline.io.point_cloud import (
    HINT,
    REPEAT,
    SIZE,
    Cloud,
    Thinning,
    expected,
    open_sources,
    read_clouds,
)
from pipeline.io.reader_interface import Choices, check_memory, refused
from pipeline.scans.no_sphere_hints import other_unit
from pipeline.scans.points_on_meshes import spread_out
from pipeline.terminal import InputError
from sim.core.arrays import Bools, Floats, Ints, connected


def without_far(cloud: Cloud, radius_mm: float, choices: Choices) -> Cloud:
    """The cloud, if the grid can hold all its points; salvaged, the part that it can.

    Raises
    ------
    ScanFileError
        E-RANGE, with the farthest of the points that are too far from the median.
    """
    points = cloud.points
    every = len(points) // SIZE.sampled_points + 1
    middle, reach = np.median(points[::every], axis=0), SIZE.widest * radius_mm
    lowest, highest = bounds(points)
    if max(float((middle - lowest).max()), float((highest - middle).max())) <= reach:
        return cloud
    distance = np.abs(points - middle).max(axis=1)
    far = distance > reach
    many = int(far.sum())
    if not choices.salvage:
        x, y, z = points[int(np.argmax(distance))]
        problem = (
            f"{many} of {len(points)} points are more than {reach:.2g} mm from the "
            f"others, the farthest at ({x:.6g}, {y:.6g}, {z:.6g}) mm"
        )
        remedy = "remove them, check the unit, or leave them out with --salvage"
        raise refused("RANGE", cloud.path, problem, remedy)
    note = f"{many} of {len(points)} points lay far from the others and were dropped"
    return cloud.only(~far).noted(note, dropped=cloud.dropped + many)


SLANTED = np.array([1.0, 0.618034, 0.414214])  # planes across it are no scan's walls
REPEATS_BLOCK = 1 << 16  # points at a time


def check_views_differ(clouds: list[Cloud], radius_mm: float) -> None:
    """Refuse a view that is given twice, under another name or in another format."""
    if len(clouds) < 2:
        return
    step = REPEAT.grid * radius_mm
    every = max(len(cloud.points) for cloud in clouds) <= REPEAT.every
    keys = [np.unique(_keys(cloud.points, step, every)) for cloud in clouds]
    for (a, of_a), (b, of_b) in combinations(zip(clouds, keys, strict=True), 2):
        common = len(np.intersect1d(of_a, of_b, assume_unique=True))
        if common > REPEAT.same * max(min(len(of_a), len(of_b)), 1):
            raise InputError(
                f"E-REPEATED {b.path}: repeats {a.path}: name each view once"
            )


def without_repeats(cloud: Cloud, radius_mm: float) -> Cloud:
    """The cloud with each point once, and a note where some were repeated."""
    points, step = cloud.points, REPEAT.grid * radius_mm
    sample = _keys(points, step, len(points) <= REPEAT.every)
    if len(sample) - len(np.unique(sample)) <= REPEAT.few * len(sample):
        return cloud
    first = np.sort(np.unique(_keys(points, step, True), return_index=True)[1])
    lost = len(points) - len(first)
    note = f"{lost} of {len(points)} points repeat others and were dropped"
    return cloud.noted(note, points=points[first], dropped=cloud.dropped + lost)


def _keys(points: Floats, step: float, every: bool) -> Ints:
    """A number for each place that holds a point; a sample of places unless `every`."""
    found = [np.empty(0, dtype=np.int64)]
    for start in range(0, len(points), REPEATS_BLOCK):
        block = points[start : start + REPEATS_BLOCK]
        cell = np.rint((block if every else block[_sampled(block, step)]) / step)
        x, y, z = cell.astype(np.int64).T
        found.append((x * 0x9E3779B97F4A7C1 + y) * 0x1B873593CC9E2D5 + z)
    return np.concatenate(found)


def _sampled(points: Floats, step: float) -> Bools:
    """Which points belong to the sample: the same place is in it in every cloud."""
    return np.asarray(np.rint(points @ (SLANTED / step)) % REPEAT.sampled == 0)


def read_views(
    scans: list[Path], unit: Unit, choices: Choices, options: PickOptions
) -> list[Cloud]:
    """The clouds of all files, thinned where they are too large to pick from.

    A view given twice is refused, and so is a scan that memory has no room for. Points
    seem to repeat in too large a unit as well: that is looked at first.
    """
    radius_mm = options.radius_mm
    if not scans:
        raise InputError("no scan given: name at least one file of points")
    files = [os.path.realpath(scan) for scan in scans]
    for k, file in enumerate(files):
        if file in files[:k]:
            raise InputError(f"E-REPEATED {scans[k]}: is given twice: name it once")
    sizes = [sum(map(expected, open_sources(scan, choices))) for scan in scans]
    most = min(sum(sizes), SIZE.most_points)
    check_memory(
        scans[0],
        SIZE.bytes_a_point * most,
        f"finding spheres in {most} points",
        "thin the scan",
    )
    share = min(1.0, SIZE.most_points / max(sum(sizes), 1))
    clouds = []
    for scan, size in zip(scans, sizes, strict=True):
        thinning = Thinning(SIZE.voxel * radius_mm, max(int(share * size), 1000))
        clouds += read_clouds(scan, unit, choices, thinning)
    near = [without_far(cloud, radius_mm, choices) for cloud in clouds]
    once = [
        cloud if cloud.is_mesh else without_repeats(cloud, radius_mm) for cloud in near
    ]
    try:
        check_views_differ(once, radius_mm)
    except InputError:
        _check_unit(clouds, unit, options)
        raise
    return [spread_out(cloud, radius_mm) for cloud in once]


def _check_unit(clouds: list[Cloud], unit: Unit, options: PickOptions) -> None:
    """Refuse views whose spheres are there in another unit."""
    points, _ = merged(clouds)
    points = points[:: len(points) // HINT.most_points + 1]
    if len(find_spheres(points, options).spheres) >= HINT.fewest:
        return
    hint = other_unit(points, unit, options, HINT.fewest)
    if hint:
        raise InputError(
            f"E-UNIT {clouds[0].path}: in {unit.value} the points of all views nearly "
            f"coincide; {hint}"
        )


def merged(clouds: list[Cloud]) -> tuple[Floats, list[Cloud]]:
    """All points in one array, and the clouds as parts of it, to hold them once."""
    if len(clouds) == 1:
        return clouds[0].points, clouds
    points = np.concatenate([cloud.points for cloud in clouds])
    ends = np.cumsum([len(cloud.points) for cloud in clouds]).tolist()
    parts = [
        replace(cloud, points=points[end - len(cloud.points) : end])
        for cloud, end in zip(clouds, ends, strict=True)
    ]
    return points, parts


def check_overlap(clouds: list[Cloud], seen: Bools) -> None:
    """Refuse views without a common sphere, whose relative place is unknown.

    Parameters
    ----------
    seen : (m, v) whether the sphere is seen in the view
    """
    views = np.flatnonzero(seen.any(axis=0))
    if len(views) < 2:
        return
    count = seen[:, views].astype(np.int64)
    _, group = connected(np.argwhere(count.T @ count), len(views))
    apart = np.flatnonzero(group != group[0])
    if len(apart):
        one, other = clouds[views[0]].path, clouds[views[apart[0]]].path
        raise InputError(
            f"E-NO-OVERLAP {other}: shares no sphere with {one}, not even via other "
            "views: scan with overlap, use --register, or merge them into one file and "
            "give --registration-mm"
        )


def blind_views(clouds: list[Cloud], seen: Bools) -> list[str]:
    """A note on each view in which there is no sphere."""
    without = np.flatnonzero(~seen.any(axis=0))
    return [f"{clouds[v].name}: no sphere was found in this view" for v in without]


def settled(points: Floats, view: Ints, motions: Sequence[ViewMotion]) -> Floats:
    """The points (n, 3) after each view was moved to agree with the others."""
    moved = points.copy()
    for motion in motions:
        of_view = view == motion.view
        moved[of_view] = motion(points[of_view])
    return moved


def registration_table(clouds: list[Cloud], picks: Picks) -> list[dict[str, Any]]:
    """A row for each view: by how much it lay off the others, and the uncertainty."""
    return [
        {
            "view": clouds[one.view].name,
            "spheres": one.spheres,
            "offset_mm": one.offset_mm[0],
            "offset_u_mm": one.offset_mm[1],
            "angle_deg": one.angle_deg[0],
            "angle_u_deg": one.angle_deg[1],
            "off_mm": one.off_mm,
            "allowed_mm": one.allowed_mm,
        }
        for one in picks.registrations
    ]


def misplaced(clouds: list[Cloud], picks: Picks) -> str:
    """A remark on views that lie off the others by more than noise, or nothing."""
    found = [
        f"{clouds[one.view].name} by {one.offset_mm[0]:.3g} +- {one.offset_mm[1]:.1g} "
        f"mm and {one.angle_deg[0]:.3g} +- {one.angle_deg[1]:.1g} deg "
        f"({one.spheres} shared spheres)"
        for one in picks.registrations
        if one.misplaced
    ]
    if not found:
        return ""
    return (
        f"misplaced views were moved onto the others: {', '.join(found)}; check that "
        "the print did not move between scans, or rerun with --register"
    )


POSED = ("e57", "ptx")  # formats whose scans come with the scanner's pose
NEAR = 4.0  # rms from the surface of a sphere up to which points are on it
BEHIND = 0.05  # share of a view's points on spheres that may look away from its place


def stated_places(clouds: Sequence[Cloud]) -> Floats | None:
    """(v, 3) the scanner's place for each view, mm; None unless every file says it."""
    if any(cloud.format not in POSED or cloud.viewpoint is None for cloud in clouds):
        return None
    return np.array([cloud.viewpoint for cloud in clouds], dtype=np.float64)


def contradicted(
    places: Floats, points: Floats, view: Ints | None, picks: Picks
) -> list[int]:
    """The views that saw spheres from behind, were their places right.

    Parameters
    ----------
    places : (v, 3) mm
    points : (n, 3) mm
    view : (n,) of each point; None of one view
    """
    number = np.zeros(len(points), np.int64) if view is None else view
    on, away = np.zeros(len(places)), np.zeros(len(places))
    for sphere in picks.spheres:
        box = np.abs(points - sphere.centre).max(axis=1) < 1.1 * sphere.radius
        d, of = points[box] - sphere.centre, number[box]
        near = np.abs(np.linalg.norm(d, axis=1) - sphere.radius) < NEAR * sphere.rms
        d, of, x = d[near], of[near], points[box][near]
        behind = np.einsum("ij,ij->i", d, places[of] - x) < 0.0
        on += np.bincount(of, minlength=len(places))
        away += np.bincount(of[behind], minlength=len(places))
    return [int(v) for v in np.flatnonzero(away > BEHIND * np.maximum(on, 1.0))]


FEWEST = 4  # shared spheres, as many as place views (`analysis.spheres.thresholds`)
# rms distance of shared spheres over its standard uncertainty: of 144 right pairs of
# both virtual scanners at most 1.4
MISFIT = 2.0
SEARCH = LabelOptions(beam=4, runs=4)  # as sure, and twice as fast as with 12 and 8
Spheres = tuple[Floats, Floats]  # centres (n, 3), mm, and covariances (n, 3, 3), mm^2


def registered(clouds: list[Cloud], options: PickOptions) -> tuple[list[Cloud], float]:
    """The clouds in the frame of the one that shows most spheres.

    Returns
    -------
    clouds : with a note on each that was moved
    rms_mm : the largest rms distance between spheres of a view and those of others

    Raises
    ------
    InputError
        E-NO-OVERLAP where a view shares fewer than four spheres with the views that are
        registered already, or fits them in several ways, or badly.
    """
    found = [_spheres(cloud, options) for cloud in clouds]
    first = int(np.argmax([len(centres) for centres, _ in found]))
    clouds, whole, rms_mm = clouds.copy(), found[first], 0.0
    left = [v for v in range(len(clouds)) if v != first]
    while left:
        for v in left:
            own, motion, rms, problem = _match(found[v], whole)
            if not problem:
                break
        else:
            raise InputError(
                f"E-NO-OVERLAP {clouds[v].path}: {problem}: scan views that share more "
                "spheres, or register them with other software"
            )
        note = f"registered by {len(own)} spheres to {rms:.2g} mm rms"
        place = clouds[v].viewpoint
        clouds[v] = clouds[v].noted(
            note,
            points=motion(clouds[v].points),
            viewpoint=place and tuple(motion(np.array(place)).tolist()),
        )
        centres, covariances = (np.delete(one, own, axis=0) for one in found[v])
        turned = motion.rotation @ covariances @ motion.rotation.T
        whole = np.vstack([whole[0], motion(centres)]), np.vstack([whole[1], turned])
        rms_mm = max(rms_mm, rms)
        left.remove(v)
    return clouds, rms_mm


def _spheres(cloud: Cloud, options: PickOptions) -> Spheres:
    spheres = find_spheres(cloud.points, replace(options, fused=cloud.is_mesh)).spheres
    centres = np.array([sphere.centre for sphere in spheres]).reshape(-1, 3)
    covariances = np.array([sphere.covariance for sphere in spheres])
    return centres, covariances.reshape(-1, 3, 3)


def _match(view: Spheres, whole: Spheres) -> tuple[Ints, RigidMotion, float, str]:
    """Spheres of a view that are among others, its motion there, the rms distance that
    it leaves, mm, and why it is not right, if it is not."""
    pairs = combinations(range(len(whole[0])), 2)
    labels = label_spheres(Mechanism(whole[0], tuple(pairs)), *view, SEARCH)
    other, own = labels.labelled, labels.sphere[labels.labelled]
    if len(own) < FEWEST:
        problem = f"shares too few spheres with others ({len(own)}, below {FEWEST})"
        return own, RigidMotion(np.eye(3), np.zeros(3)), np.inf, problem
    x, y = view[0][own], whole[0][other]
    motion = fit_rigid_motion(x, y)
    square = ((motion(x) - y) ** 2).sum(axis=1)
    variance = np.trace(view[1][own] + whole[1][other], axis1=1, axis2=2)
    misfit = np.sqrt((square / variance).sum() / (len(x) - 2))
    problem = "fits the other views in several ways" if labels.group > 1 else ""
    if misfit > MISFIT:
        problem = f"fits the other views {misfit:.1f} times worse than its noise allows"
    return own, motion, float(np.sqrt(square.mean())), problem
