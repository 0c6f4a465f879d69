"""Where the validation uncertainty comes from: one covariance for each source.

Every covariance is (3n, 3n), mm^2, of errors in the scanned minus the simulated
positions of n nodes, all nodes together: a common cause moves nodes together.

The shape factor S of a scan, eq. (6) of [dJ23], has an uncertainty of its own
(`scanned_shape_factor`). S needs neither labels nor alignment, only all nodes, and the
characteristic length of the simulation's initial configuration, eq. (13); a scan never
supplies it.
"""

from dataclasses import dataclass

import numpy as np

from analysis.comparison.assumptions import UncertaintyOptions
from sim.core.arrays import Floats, Ints
from sim.mechanism.shape_measures import shape_factor


@dataclass(frozen=True)
class ScannedShapeFactor:
    """S of scanned nodes.

    Parameters
    ----------
    S : shape factor less its bias
    u : standard uncertainty
    bias : by how much noise in the positions raises the plain S on average
    """

    S: float
    u: float
    bias: float


def shape_factor_gradient(r: Floats, L: float) -> Floats:
    """dS/dr = (r_j - rbar) / (n S L^2), (n, 3), in the inverse unit of `r`."""
    return np.asarray((r - r.mean(axis=0)) / (len(r) * shape_factor(r, L) * L**2))


def scanned_shape_factor(r: Floats, L: float, C: Floats) -> ScannedShapeFactor:
    """S with the uncertainty and the bias that errors of covariance `C` give it.

    With g the gradient and H = (I - 1 1^T / n) x I_3:

        var S  = g^T C g
        bias   = tr(H C) / (2 n S L^2) - var S / (2 S)

    Parameters
    ----------
    r : (n, 3) scanned nodes, mm
    L : characteristic length of the same nodes in the simulation, mm
    C : (3n, 3n) covariance of all nodes together, mm^2
    """
    n = len(r)
    g = shape_factor_gradient(r, L).ravel()
    variance = float(g @ C @ g)
    plain = shape_factor(r, L)
    blocks = C.reshape(n, 3, n, 3)
    trace = float(np.trace(C)) - float(np.einsum("iaja->", blocks)) / n
    bias = trace / (2 * n * plain * L**2) - variance / (2 * plain)
    return ScannedShapeFactor(plain - bias, float(np.sqrt(variance)), bias)


def scale_covariance(r: Floats, relative_sd: float) -> Floats:
    """Covariance (3n, 3n) of an unknown common scale, which moves all nodes together.

    It adds S * relative_sd to the uncertainty of S.
    """
    away = (r - r.mean(axis=0)).ravel()
    return np.asarray(relative_sd**2 * np.outer(away, away))


CENTRES = "sphere centres"
SCATTER = "excess scatter of rigid lengths"
VIEWS = "registration of views"
SCAN_SCALE = "scale of the scanner"
FORM = "form error of the scanner"
STOP = "convergence of the simulation"
PRINT_SCALE = "scale of the print"
PRINTING = "printing of bodies"
PLAY = "joint play"
INPUT = "link lengths, from simulated prints"
POSE = "pose of the target"
SLOWEST = 0.99  # ratio of successive changes up to which they are summed to the end
REPEATED = 1e-6  # of the largest singular value of the gradients of rigid lengths
SCAN_SOURCES = (CENTRES, SCATTER, VIEWS, SCAN_SCALE, FORM)  # of S; of E, POSE too


def independent(n: int, sd_mm: float) -> Floats:
    """The same error of each node along each axis, each on its own."""
    return np.asarray(sd_mm**2 * np.eye(3 * n))


def length_sd_mm(
    options: UncertaintyOptions, lengths_mm: Floats, scatter_sd_mm: float = 0.0
) -> Floats:
    """(p,) standard deviation of rigid lengths from all but the sphere centres."""
    variance = 2 * options.printing_sd_mm**2
    variance += 2 * options.registration_sd_mm**2 + 2 * scatter_sd_mm**2
    variance += 2 * options.scan_form_sd_mm**2
    scale = np.hypot(options.print_scale_sd, options.scan_scale_sd)
    return np.asarray(np.sqrt(variance + (scale * lengths_mm) ** 2))


def play_covariance(nodes_mm: Floats, pairs: Ints, sd_mm: float) -> Floats:
    """Independent errors of each node, less what would change a rigid length.

    With J = U s V^T the gradients of the lengths, I - V V^T keeps the motions that
    rigid bodies permit. Where lengths of a loop repeat each other, singular values are
    as small as the residual of the shape: those below `REPEATED` of the largest count
    as none.

    Parameters
    ----------
    nodes_mm : (n, 3)
    pairs : (p, 2) nodes at constant distances

    Returns
    -------
    (3n, 3n) mm^2, in the frame of `nodes_mm`
    """
    n, p = len(nodes_mm), len(pairs)
    apart = nodes_mm[pairs[:, 1]] - nodes_mm[pairs[:, 0]]
    unit = apart / np.linalg.norm(apart, axis=1, keepdims=True)
    J = np.zeros((p, n, 3))
    J[np.arange(p), pairs[:, 0]] = -unit
    J[np.arange(p), pairs[:, 1]] = unit
    _, s, Vt = np.linalg.svd(J.reshape(p, 3 * n), full_matrices=False)
    tied = Vt[s > REPEATED * s.max(initial=0.0)]
    covariance: Floats = sd_mm**2 * (np.eye(3 * n) - tied.T @ tied)
    return np.asarray((covariance + covariance.T) / 2)


def stop_error(steps: Floats) -> Floats:
    """(n, 3) how far the last step still is from where the steps lead.

    The last changes d, d' of the whole configuration shrink by q = |d'| / |d|; if
    that goes on, d' q / (1 - q) is left.  Where they hardly shrink (q > 0.99) there
    is no end in sight, and a hundred such changes are assumed.

    Parameters
    ----------
    steps : (steps, n, 3) configurations
    """
    if len(steps) < 2:
        return np.zeros(steps.shape[1:])
    last: Floats = steps[-1] - steps[-2]
    if len(steps) < 3:
        return last
    before = np.linalg.norm(steps[-2] - steps[-3])
    q = float(np.linalg.norm(last) / before) if before > 0 else 0.0
    factor = q / (1 - q) if q <= SLOWEST else SLOWEST / (1 - SLOWEST)
    return np.asarray(last * factor)


def sources(
    options: UncertaintyOptions,
    scanned_mm: Floats,
    centres: Floats,
    scatter_sd_mm: float,
    stop_mm: Floats,
    play: Floats,
    input_covariance: Floats | None = None,
) -> dict[str, Floats]:
    """The covariance of each source.

    Parameters
    ----------
    scanned_mm : (n, 3) scanned nodes
    centres : (3n, 3n) of their sphere centres
    scatter_sd_mm : of each node and axis, found from the scatter of rigid lengths
    stop_mm : (n, 3) what the simulation left undone, in the scan's frame
    play : (3n, 3n) of joint play, in the scan's frame
    input_covariance : (3n, 3n) of the shape that wrong link lengths lead to, from a
        Monte Carlo through the solver, in the scan's frame
    """
    n = len(scanned_mm)
    found = {
        CENTRES: centres,
        SCATTER: independent(n, scatter_sd_mm),
        VIEWS: independent(n, options.registration_sd_mm),
        SCAN_SCALE: scale_covariance(scanned_mm, options.scan_scale_sd),
        STOP: np.outer(stop_mm.ravel(), stop_mm.ravel()),
    }
    if options.scan_form_sd_mm:
        found[FORM] = independent(n, options.scan_form_sd_mm)
    if input_covariance is not None:
        found[INPUT] = input_covariance
    return found | {
        PRINT_SCALE: scale_covariance(scanned_mm, options.print_scale_sd),
        PRINTING: independent(n, options.printing_sd_mm),
        PLAY: play,
    }
