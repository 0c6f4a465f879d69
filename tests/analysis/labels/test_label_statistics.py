"""How often labels are wrong or withheld, over many random mechanisms."""

import numpy as np
import pytest

from analysis.labels.assign_labels import label_spheres
from analysis.labels.scoring import LabelOptions
from tests.analysis.mechanisms import nearby_state, random_mechanism, scanned

TRIALS = 200


def labelled(n, angle_deg, first_seed):
    """Wrong labels, right labels and spheres of nodes over all trials.

    A tenth of the nodes is missing and as many spheres are false; lengths that may be
    confused (in one body, and at one joint) differ by 1 mm or more.
    """
    wrong = right = present = 0
    for seed in range(first_seed, first_seed + TRIALS):
        rng = np.random.default_rng(seed)
        mechanism, printed = random_mechanism(n, rng)
        if angle_deg is not None:
            printed = nearby_state(mechanism, rng, angle_deg)
        scan = scanned(printed, rng, missing=n // 10, false=n // 10)
        labels = label_spheres(
            mechanism,
            scan.centres_mm,
            scan.covariances_mm2,
            LabelOptions(length_sd_mm=0.03),
        )
        same = scan.truth[labels.sphere[labels.labelled]] == labels.labelled
        wrong, right = wrong + int((~same).sum()), right + int(same.sum())
        present += n - n // 10
    return wrong, right, present


@pytest.mark.long
@pytest.mark.parametrize("n", [20, 60])
@pytest.mark.parametrize(
    ("angle_deg", "first_seed", "least"), [(None, 10_000, 0.7), (4.0, 20_000, 0.9)]
)
def test_no_label_is_wrong_and_a_near_prediction_leaves_few_spheres_without_one(
    n, angle_deg, first_seed, least
):
    wrong, right, present = labelled(n, angle_deg, first_seed)
    assert wrong == 0
    assert right > least * present
