"""Every threshold of labelling: its meaning with its unit, and what set it.

All were set on synthetic mechanisms (`tests/analysis/labels`), none on a real
scan. The last word of a line says by what:

    missing  labels of 20 and 60 nodes, a tenth missing and a tenth false: none wrong
    joints   bodies hung on a wrong joint: how many are called different
    scatter  lengths that scatter by more than was stated
    speed    as many labels in less time
    law      a normal law's odds, or a formula where it is used
    custom   a convention

`tests/bench/bench_thresholds.py` halves and doubles each. What a user may choose stands
in `evidence.LabelOptions`.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class StartThresholds:
    """Where a search may start."""

    gate: float = 4.0  # standard deviations of a length that a start must keep; law
    most_per_triple: int = 1_000  # ways to lay three nodes that are weighed; speed
    most_triples: int = 40  # triples of nodes that are laid; speed
    near_nodes: int = 30  # nodes by which the place of a triple is scored; speed
    best: int = 20  # ways left of a triple, by the places around it; speed
    trust: float = 0.5  # in the predicted shape before a label bears it out; custom


@dataclass(frozen=True)
class GrowThresholds:
    """How labels grow and labellings are ranked."""

    branches: int = 4  # spheres tried for a node in one hypothesis; speed
    # ways in which a real shape departs from the predicted; custom
    shape_modes: int = 12
    decisive: float = 10.0  # log-likelihood of lengths that no shape outweighs; joints
    shape_floor_mm: float = 0.3  # departures smaller than this say nothing; custom
    # share of labelled nodes below which a second search is made; scatter
    few: float = 0.5
    wider: float = 5.0  # how much more lengths may scatter in it; scatter


@dataclass(frozen=True)
class WeighThresholds:
    """How far the prediction is listened to, and when a label stands."""

    # trust below which the prediction is not listened to; missing
    unbelieved: float = 0.5
    # trust from which the prediction alone may tie a node; joints
    believed: float = 0.8
    tight: float = 3.0  # standard deviations within which a length counts as right; law
    trusted: float = 0.5  # trust from which it counts with a single length; joints
    by_chance: int = 2  # lengths and places that a sphere may keep by chance; missing
    # log-likelihood that a label tied by prediction must earn; missing
    helped: float = 2.2
    # share labelled otherwise: it is another labelling; joints
    whole_shape: float = 0.25


@dataclass(frozen=True)
class BodyThresholds:
    """What bodies tell."""

    width: float = 4.0  # standard uncertainties within which a length is right; joints
    # chance matches expected, above which a match says nothing; joints
    rare: float = 1e-3
    slender: float = 0.05  # second over first extent: mates count as collinear; custom
    flat: float = 0.05  # volume over edge^3 below which four nodes are coplanar; custom


START = StartThresholds()
GROW = GrowThresholds()
WEIGH = WeighThresholds()
BODY = BodyThresholds()
