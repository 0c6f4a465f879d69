"""Placing one configuration on another: a rigid motion, and what it leaves over.

The scanner's frame is unknown, so a simulated configuration is moved onto a scanned
one before their nodes are compared.  The six degrees of freedom that the motion
uses up are missing from the differences; their covariance says so.

`PlanarMotion` is a rigid motion in the plane, mirrored or not.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from sim.core.arrays import Floats


@dataclass(frozen=True, eq=False)
class RigidMotion:
    """x -> rotation @ x + translation.

    Parameters
    ----------
    rotation : (3, 3) proper rotation
    translation : (3,)
    """

    rotation: Floats
    translation: Floats

    def __call__(self, x: Floats) -> Floats:
        """Move the points `x`, (..., 3)."""
        return np.asarray(x @ self.rotation.T + self.translation)

    def back(self, x: Floats) -> Floats:
        """Where points (..., 3) were before they were moved to `x`."""
        return np.asarray((x - self.translation) @ self.rotation)

    def turn_covariance(self, covariance: Floats) -> Floats:
        """Express a (3n, 3n) covariance of points in the moved frame."""
        n = len(covariance) // 3
        blocks = covariance.reshape(n, 3, n, 3)
        turned = np.einsum("ab,ibjc,dc->iajd", self.rotation, blocks, self.rotation)
        return np.asarray(turned.reshape(3 * n, 3 * n))


@dataclass(frozen=True, eq=False)
class Alignment:
    """Scanned nodes and the simulated ones moved onto them.

    Parameters
    ----------
    motion : from the simulation's frame to the scan's
    moved : (n, 3) simulated nodes in the scan's frame
    difference : (n, 3) scanned minus moved
    projector : (3n, 3n) takes errors of the scanned nodes to errors of `difference`
    """

    motion: RigidMotion
    moved: Floats
    difference: Floats
    projector: Floats

    @property
    def rms(self) -> float:
        """Root mean square of the node distances."""
        return float(np.sqrt(np.mean(np.sum(self.difference**2, axis=1))))


def fit_rigid_motion(
    x: Floats, y: Floats, weights: Floats | None = None
) -> RigidMotion:
    """The rigid motion of `x` that is nearest to `y`, after Kabsch.

    Parameters
    ----------
    x, y : (..., n, 3) corresponding points; leading axes are fitted one by one
    weights : (n,) inverse variances; equal ones if not given
    """
    w = np.ones(x.shape[-2]) if weights is None else weights
    w = (w / w.sum())[:, None]
    x_mean, y_mean = (w * x).sum(axis=-2), (w * y).sum(axis=-2)
    spread = np.swapaxes(w * (x - x_mean[..., None, :]), -1, -2)
    u, _, vt = np.linalg.svd(spread @ (y - y_mean[..., None, :]))
    # A reflection would fit a mirrored scan; a printed part cannot be reflected.
    u[..., 2] *= np.sign(np.linalg.det(u @ vt))[..., None]
    rotation = np.swapaxes(u @ vt, -1, -2)
    moved_mean = np.einsum("...ab,...b->...a", rotation, x_mean)
    return RigidMotion(rotation, y_mean - moved_mean)


def rigid_modes(x: Floats) -> Floats:
    """The six small rigid motions of the points `x`, as columns of a (3n, 6) matrix."""
    centred = x - x.mean(axis=0)
    shift = np.tile(np.eye(3), (len(x), 1))
    turn = np.stack([np.cross(axis, centred).ravel() for axis in np.eye(3)], axis=1)
    return np.hstack([shift, turn])


def remove_rigid_motion(x: Floats, weights: Floats) -> Floats:
    """Projector (3n, 3n) that takes the best-fitting rigid motion out of errors at `x`.

    With the rigid modes M and weights W it is I - M (M^T W M)^+ M^T W; points on a
    line have five modes only, hence the pseudo-inverse.
    """
    M = rigid_modes(x)
    MtW = M.T * np.repeat(weights, 3)
    return np.eye(3 * len(x)) - M @ np.linalg.pinv(MtW @ M, hermitian=True) @ MtW


def align(
    simulated: Floats, scanned: Floats, weights: Floats | None = None
) -> Alignment:
    """Move the simulated nodes onto the scanned ones.

    Parameters
    ----------
    simulated, scanned : (n, 3) the same nodes in the same order, in one unit
    weights : (n,) inverse variances of a node's position; equal ones if not given
    """
    w = np.ones(len(scanned)) if weights is None else weights / weights.mean()
    motion = fit_rigid_motion(simulated, scanned, w)
    moved = motion(simulated)
    return Alignment(motion, moved, scanned - moved, remove_rigid_motion(moved, w))


@dataclass(frozen=True, eq=False)
class PlanarMotion:
    """x -> rotation @ x + translation.

    Attributes
    ----------
    rotation : (2, 2) orthogonal; of determinant -1 where it mirrors
    translation : (2,)
    """

    rotation: Floats
    translation: Floats

    def __call__(self, x: Floats) -> Floats:
        """Move the points `x`, (..., 2)."""
        return np.asarray(x @ self.rotation.T + self.translation)

    @property
    def mirrored(self) -> bool:
        return bool(np.linalg.det(self.rotation) < 0.0)

    def still(self, angle: float) -> bool:
        """Whether it turns by less than `angle`, rad, and does not mirror."""
        a = float(np.arctan2(self.rotation[1, 0], self.rotation[0, 0]))
        return not self.mirrored and abs(a) < angle


def fit_planar_motion(x: Floats, y: Floats, mirrored: bool = False) -> PlanarMotion:
    """The motion of `x` that is nearest to `y` (n, 2), of the hand asked for."""
    x_mean, y_mean = x.mean(axis=0), y.mean(axis=0)
    u, _, vt = np.linalg.svd((x - x_mean).T @ (y - y_mean))
    hand = -1.0 if mirrored else 1.0
    u[:, 1] *= hand * np.sign(np.linalg.det(u @ vt))
    rotation = (u @ vt).T
    return PlanarMotion(rotation, y_mean - rotation @ x_mean)


def turned(x: Floats, y: Floats, turns: int) -> Iterator[PlanarMotion]:
    """Motions that lay the middle of `x` on that of `y`, evenly round a turn."""
    for hand in (1.0, -1.0):
        for angle in 2.0 * np.pi * np.arange(turns) / turns:
            c, s = np.cos(angle), np.sin(angle)
            rotation = np.array([[c, -hand * s], [s, hand * c]])
            yield PlanarMotion(rotation, y.mean(axis=0) - rotation @ x.mean(axis=0))
