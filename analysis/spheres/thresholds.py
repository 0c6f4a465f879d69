"""Every threshold of picking: its meaning with its unit, and what set it.

All were set on synthetic scans of random tree mechanisms with rods and clamps, spheres
of radius 6 mm (`tests/bench/bench_spheres.py`); none on a real scan. The last word of a
line says by what:

    noise    error over the Cramer-Rao bound and honest covariances, 0.02 to 0.3 mm
    few      small caps and false picks in scans of few views
    clamps   what is attached to a sphere, and rods and targets taken for spheres
    views    views that are misplaced, adjusted together
    sizes    scans of another radius, or of one known only as a range
    speed    as many spheres in less time
    law      a formula, given here or where it is used
    custom   a convention

`tests/bench/bench_thresholds.py` halves and doubles each. What a user chooses (radius,
smallest cap, tolerances) stands in `picks.PickOptions`.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np


class BiweightThresholds(NamedTuple):
    """Of the biweight: a tuple, since compiled loops read it as constants."""

    # in scales: where a point no longer counts; 96.1 % efficient; law
    tukey: float = 5.0
    steep: float = 0.2  # cosine of incidence below which points do not count; noise
    clusters: int = 6  # cells a cube side within which errors may be correlated; noise
    wide_clusters: int = 2  # the same, of errors that reach over a quarter; views
    most_steps: int = 40  # after which a centre counts as unsettled; noise
    longest: float = 1.9  # times the reweighted step; up to 2 the sum never grows; law


@dataclass(frozen=True)
class AttachmentThresholds:
    """Where something sticks out of a sphere."""

    # height over distance at which attachments leave, smallest; clamps
    slope: float = 0.8
    margin: float = 0.4  # of a right angle over cells; clamps
    rim: float = 1.35  # radii up to which what sticks out is looked for; clamps
    share: float = 0.1  # of the points of a visible cell: as many above hide it; noise
    # scales above the surface from which points are of others; clamps
    stands: float = 3.0
    filled: float = 24.0  # points on the sphere over cells a side squared; noise
    finer: float = 3.0  # small cells a side of a cell; noise


@dataclass(frozen=True)
class FitThresholds:
    """When a fit holds."""

    widest: float = 0.06  # scale of the noise over the radius, at most; noise
    # the same, at least: a 10,000th of it is no rounding error 1,000 radii away; law
    finest: float = 1e-6
    fewest: int = 8  # points that a fit needs; custom
    # scales that a centre may still move before another fit; speed
    coarse: float = 1e-2
    fine: float = 1e-4  # the same in the last one; speed
    tries: int = 2  # times `most_steps` in which a free radius is found; noise
    settled: float = 0.25  # of its sd: what moves less is settled; noise


@dataclass(frozen=True)
class NormalThresholds:
    """What counts as a surface."""

    flat: float = 0.25  # spread along the normal over spread across it, largest; custom
    fewest: int = 5  # points that a normal is computed from; custom
    plane: float = 0.03  # mean squared sine between normals of a plane, largest; law
    cube: float = 0.15  # side of a voting cube over the radius; custom


@dataclass(frozen=True)
class SearchThresholds:
    """Where spheres are looked for."""

    finest: float = 6.0  # voxels a radius, where points are dense enough; speed
    coarsest: float = 3.0  # voxels a radius, however sparse they are; custom
    finest_again: float = 8.0  # the same for the second look; few
    coarsest_again: float = 5.0  # few
    reach: float = 1.5  # radii around a candidate from which points are taken; custom
    patience: int = 60  # candidates in a row that are no spheres: a look is over; few
    most_points: int = 2_000  # that tell whether a candidate is a sphere; speed
    scattered: float = 0.15  # rms over the radius of points that lie on nothing; speed
    hopeless: float = 3.5  # rms over that of other spheres, which no fit mends; speed
    telling: int = 4  # spheres that tell how rough spheres are; custom
    radial: float = 0.75  # cosine between normal and radius on a sphere; custom


@dataclass(frozen=True)
class JudgeThresholds:
    """What is no sphere."""

    fewest: int = 20  # points on a sphere; custom
    facing: float = 0.6  # share of a sphere's points whose normal is radial; clamps
    # the same where the points tell that they lie round; clamps
    facing_round: float = 0.2
    # sd of the free radius over the radius below which they do; clamps
    round: float = 0.03
    inside: float = 0.1  # points inside a sphere over points on it; custom
    open: float = 0.2  # of the points at its height that a sphere may use; clamps
    crowded: float = 8.0  # over its points: how much larger that share is with few; few
    # width of a cap times the share used of points at its height: of 879 spheres of six
    # scanners one in 1,000 has less, of 60 other candidates 44; few
    evident: float = 0.11
    narrow: float = 0.18  # spread of a sphere's points over that of a round cap; clamps
    # the same where the surface goes on beyond the sphere, as a tube's does; clamps
    narrow_beyond: float = 0.35
    # points up to `rise` above a sphere over points on it, and how much more with few
    beyond: float = 0.45  # clamps
    chance_beyond: float = 20.0  # over its points; few
    # the same of what is as wide as a cap: ends of tubes and fingers have 0.7 to 2, of
    # 454 spheres of both scanners in one view to three none has more than 0.55; few
    beyond_wide: float = 0.52
    # cap below which that grows as the rim over the area, cap^-1/2; law
    whole: float = 0.25
    # the same of what lies on a tube of the radius that ends in it, less what it would
    # hide, where nothing rises around that; how much more with few, and by what rises
    # around it: of 924 spheres to 8 of 458 points, and 82 of 645 with 155 around; few
    wall: float = 0.02
    chance_wall: float = 4.0  # over its points; few
    closed: float = 1.0
    # difference of the principal curvatures times the radius, by three of its sd, of
    # what is narrow: spheres to 0.23, as clamps stick to them, tubes' ends from 0.36;
    # sizes
    lengthwise_narrow: float = 0.3
    lengthwise: float = 0.45  # the same of all; 936 spheres have to 0.40; few
    nearest: int = 16  # points that give the normal near a crease; few
    rise: float = 0.3  # radii; clamps
    # radii above a sphere from which points rise, however wide the gate; few
    clear_of_noise: float = 0.12
    # radii along a tube in line with a sphere up to which it is looked for, and points
    # of it over those of the sphere, less three times what it would hide: of 509
    # spheres to 17 of 349, of five ends whose wall is hidden near them from 61 of 221,
    # read before ways were tried by what is on them as far as it reaches; few
    far: float = 3.0
    far_wall: float = 0.15
    chance_far: float = 16.0  # over its points: how much more with few; few
    # widest gate over the radius: clutter and close spheres were read to 0.08; spheres
    # in noise of 0.15 mm on 6 mm, which were lost, have 0.10 and more; few
    sharp: float = 0.1
    # radii between the centres of two solid spheres, at least, errors aside; law
    solid: float = 1.9
    # sd of the free radius over the radius: hardly round; caps of 0.16 in noise of 5 %
    # of the radius have 0.04 to 0.07; few
    vague: float = 0.08
    rough: float = 1.4  # rms over what is typical of the scan's spheres; few
    # how much rougher a sphere may be that many points show clearly; few
    rough_clear: float = 1.43
    many: int = 95  # points; few
    clear: float = 0.2  # of `SphereCandidate.evident`; few
    telling: int = 5  # spheres that tell the radius that all have; custom
    # rms over the radius that is no roughness: single precision 1,000 radii from the
    # origin rounds to 3.5e-5; law
    smooth: float = 1e-4
    rougher: float = 1.2  # the same where points hardly tell a sphere; few
    chance: float = 3.0  # of its sd, by which an rms of few points exceeds that; few
    sparse: float = 0.12  # points a visible area over what is typical; few
    shared: float = 0.3  # of a sphere's points that a better sphere has too; clamps


@dataclass(frozen=True)
class RadiusThresholds:
    """Trials where the radius is known only as a range."""

    factor: float = 1.12  # between two radii that are tried; law
    tolerance: float = 0.09  # of the radius while it is only tried, relative; law
    # visible share that makes a trial count; bits of rods have less; sizes
    cap: float = 0.15
    clear: float = 0.5  # of the points at its height that a trial's sphere uses; sizes
    alike: float = 0.02  # how closely free radii agree, relative; sizes
    most_points: int = 200_000  # that the trials use; speed


@dataclass(frozen=True)
class ViewThresholds:
    """How views are placed."""

    # sd of a view's shift that is believed before it is seen; custom
    misplaced_mm: float = 0.5
    placed_mm: float = 1e-4  # sd that is always believed; custom
    sd_rounds: int = 30  # of estimating that sd; custom
    fewest: int = 4  # spheres from which views can be placed; law
    seen: int = 200  # points on spheres that tell where a view was taken from; custom
    most_points: int = 3_000  # that are asked; speed
    # mean cosine of the steepest twentieth of what one place sees, least; .149 where
    # points are as dense as the rays of a scanner up to grazing ones; law
    grazing: float = 0.1
    farthest: float = 20.0  # scanner's distance over the reach of the spheres; custom
    rounds: int = 5  # of centres and motions in turn; one view needs but two; views


@dataclass(frozen=True)
class RegistrationThresholds:
    """When views are moved before they are merged, and when that is a warning."""

    fewest: int = 3  # spheres that a view shares with others; law
    # noise of the points by which a view is moved: within `BIWEIGHT.tukey` the last
    # adjustment sees its points; law
    far: float = 5.0
    odd: float = 2.0  # the same from which a view is called misplaced; custom
    same: float = 0.9  # radii within which centres of two views are one sphere; law
    matches: int = 2  # times that spheres are matched; custom
    rounds: int = 300  # of motions and centres in turn; custom
    settled: float = 1e-2  # sd of the best centre that a round moves; custom
    slides: float = 2.0  # shift of a cap over an error of the radius, about; law


@dataclass(frozen=True)
class SharedThresholds:
    """When errors that neighbouring points share are believed."""

    certain: float = 3.0  # sd above one; custom
    fewest: int = 5  # spheres, or degrees of freedom, that tell; custom
    points: float = 30.0  # weight of a view's points on a sphere that counts; custom
    # ratio of variances from which its causes are asked; below, chance may be it
    strong: float = 2.0  # views
    surer: float = 1.5  # times that: such a ratio by components of variance; custom
    cells: float = 3.0  # that a sphere shows, over unknowns of its form; custom


@dataclass(frozen=True)
class PatchThresholds:
    """Which components of variance are distinguished."""

    side: int = 6  # patches a cube side; views
    # radii over which fields along lines of sight are correlated; custom
    lengths: tuple[float, ...] = (0.35, 0.8, 2.0, 5.0)
    uneven: float = 0.3  # the same of what is fixed to a sphere, radii; custom
    # of the functions that tell, on what a view sees of a sphere; speed
    degree: int = 2
    degree_merged: int = 4  # the same of merged clouds; speed
    clear: float = 0.05  # size of a function over the largest, to count; custom
    steepest: float = 0.3  # cosine of incidence from which errors grow no more; custom
    # cosine between directions that are one view's: 25 deg; law
    one_view: float = 0.906
    most: int = 500  # functions from which components are estimated; speed
    fewest: int = 5  # spheres; custom
    rank: float = 1e-8  # singular value of an unknown over the largest; custom
    # fall of the deviance that a step promises, below which none is made; custom
    settled: float = 1e-12
    rounds: int = 100  # at most; custom
    shortened: int = 30  # times that a step may be; custom
    damped: float = 1e-3  # of the curvature: what shortens it first; custom
    bent: float = 1e-10  # of the curvature, so that there is one; custom


@dataclass(frozen=True)
class FusedThresholds:
    """When a mesh has the radius that its spheres have in common."""

    # of the median radius: what is farther is another sphere; custom
    near: float = 0.05
    rougher: float = 1.2  # times the rms that may differ from sphere to sphere; sizes
    # radii between two centres: nearer, two spheres would have a fifth in common; law
    apart: float = 1.2
    # sd of a free radius over the radius, above which it is no sphere: clamps 0.033,
    # spheres of caps from 12 % up to 0.011; clamps
    vague: float = 0.025
    cap: float = 0.08  # smallest visible share of a sphere; sizes
    radius_sd_factor: float = 1.5  # of a free radius, as errors are shared; sizes
    # as `JUDGE.beyond_wide`: fusing closes the surface next to spheres, 0.67 of points
    # on them; a tube's end has 0.83 by its geometry; sizes
    beyond_wide: float = 0.75
    # as `JUDGE.wall` and those below it, and at most: Poisson's equation closes meshes
    # below spheres with 0.35 on the tube and 0.09 around, bars have 0.37 or none
    # around; few
    wall: float = 0.06
    chance_wall: float = 20.0
    closed: float = 4.0
    most_wall: float = 0.36
    # as `JUDGE.far_wall`: of spheres to 0.05, one 0.16, of two bars' ends 0.30 and
    # 0.64; few
    far_wall: float = 0.22
    nearest: int = 8  # points that give the normal near a crease, 6 to 16; clamps


@dataclass(frozen=True)
class ViewpointThresholds:
    """From where a merged cloud was seen."""

    steepest_deg: float = 72.0  # incidence at which a view ends; law
    ways: int = 250  # directions that may be views; custom
    side: int = 8  # cells a cube side on which densities are counted; custom
    each: int = 12  # directions a cell over which a view's density is averaged; custom
    # scales from the surface within which points tell of a view; custom
    surface: float = 3.0
    pull_error: float = 0.4  # relative, of the pull towards unknown scanners; noise

    @property
    def steepest(self) -> float:
        """Cosine of the steepest incidence."""
        return float(np.cos(np.deg2rad(self.steepest_deg)))


@dataclass(frozen=True)
class OtherSizeThresholds:
    """What makes another size."""

    most: int = 100  # candidates that are looked at, those with the most points; speed
    most_points: int = 400_000  # that tell a size; all of a large scan take long; speed
    # radii from which points are taken; sizes
    reaches: tuple[float, ...] = (1.3, 0.9, 2.0)
    apart: float = 2.0  # radii from any sphere that was found; sizes
    enough: float = 0.05  # of the points of a sphere that was found; sizes
    fewest_points: int = 50  # that a sphere is fitted to; custom
    alike: float = 0.05  # relative difference of radii of one size; sizes
    fewest: int = 4  # that make a size; custom
    round: float = 0.02  # rms over radius of what is round; sizes
    share: float = 0.5  # of the points nearby that lie on it; sizes
    # radius that can be found, over the radius looked for; custom
    smallest: float = 0.4
    largest: float = 1.8  # the same, largest; custom
    rounds: int = 6  # of the scale and the fit; custom


BIWEIGHT = BiweightThresholds()
ATTACHED = AttachmentThresholds()
FIT = FitThresholds()
NORMALS = NormalThresholds()
SEARCH = SearchThresholds()
JUDGE = JudgeThresholds()
RADIUS = RadiusThresholds()
VIEWS = ViewThresholds()
REGISTRATION = RegistrationThresholds()
SHARED = SharedThresholds()
PATCHES = PatchThresholds()
FUSED = FusedThresholds()
VIEWPOINTS = ViewpointThresholds()
OTHERS = OtherSizeThresholds()
