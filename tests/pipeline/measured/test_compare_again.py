"""Committed predictions made again with the code of today, whatever made them.

From what the committed fit told, every value; of one record of each set all sources of
its uncertainty; and the fit sought once more from where it ended.
"""

from collections.abc import Mapping
from dataclasses import replace

import pandas as pd
import pytest

from analysis.measured.fit_with_model_error import Posterior, left_out, linear_about
from analysis.measured.prediction import predicted
from pipeline.measured.fit import measured_and_predicted
from pipeline.measured.prediction_file import (
    FOLDER,
    POSTERIOR,
    Prediction,
    committed,
    read_posterior,
)
from pipeline.measured.records import SetAtHand, at_hand, held_out_records, records_in
from pipeline.measured.set_file import read_set

pytestmark = pytest.mark.long
KEY = ["record", "quantity", "at"]
ONE = {
    "nist_spheres": "SPH102",
    "silicone_beam": "plus_101g_a",
    "circle_square_morpher": "T1_rubber_centerclamp_freefloating_-1.50_11.00",
    "lce_lattices": "HTNI_teeth_1",
    "tendon_tentacle": "m1_u025",
}
MOVED = {  # most of a half width by which a fit made now would move a value
    "silicone_beam": 1e-3,
    "circle_square_morpher": 0.1,
    "lce_lattices": 1e-2,
    "tendon_tentacle": 1e-2,
}


def shipped(name: str) -> tuple[SetAtHand, Posterior, Prediction]:
    at = at_hand(read_set(name).model_dump(mode="json"))
    after, before = read_posterior(at.folder / FOLDER / POSTERIOR), committed(at.folder)
    assert before is not None
    return replace(at, repeat_sd=after.repeat_sd), after, before


def apart(at: SetAtHand, before: Prediction, inputs: Mapping[str, float]) -> float:
    """Largest difference of a value from that committed, over its half width."""
    records = records_in(at, at.folder)
    tables = []
    for record in [
        *records.inputs.values(),
        *held_out_records(at, records.found).inputs.values(),
    ]:
        assert before.holds(record)
        families = at.families(record.words)
        for quantity, series in at.predict(inputs, record).items():
            on = families(quantity).of(series)
            row = {"record": record.name, "quantity": quantity}
            tables.append(pd.DataFrame({**row, "at": on.at.round(9), "now": on.value}))
    was = before.table.assign(at=before.table["at"].round(9))
    both = was.merge(pd.concat(tables), on=KEY, how="outer")
    assert both.notna().all(axis=None)
    return float(((both["now"] - both["value"]).abs() / both["half_width"]).max())


@pytest.mark.parametrize("name", ONE)
def test_a_committed_prediction_is_made_again(name):
    at, after, before = shipped(name)
    assert apart(at, before, after.inputs) < 2e-4
    records = records_in(at, at.folder)
    both = {**records.inputs, **held_out_records(at, records.found).inputs}
    one = both[ONE[name]]
    fitted = [own for key, own in records.inputs.items() if at.is_fitted(key)]
    again = predicted(
        at.predict, one, after, at.inputs, at.families(one.words), at.numerics,
        at.distance(one, fitted),
    )  # fmt: skip
    was = before.of(one.name).reset_index(drop=True)
    pd.testing.assert_frame_equal(again, was, rtol=1e-4, atol=1e-9)


@pytest.mark.parametrize("name", MOVED)
def test_a_fit_made_now_ends_where_the_committed_one_did(name):
    at, after, before = shipped(name)
    records = records_in(at, at.folder)
    fitted = {n: one for n, one in records.inputs.items() if at.is_fitted(n)}
    bare = replace(at, repeat_sd={})  # what repeats differ by is found anew
    at, of, _ = measured_and_predicted(bare, replace(records, inputs=fitted))
    near = linear_about(of, after.inputs)
    again = left_out(near, after.errors, ())
    assert apart(at, before, again.inputs) < MOVED[name]
    for family in {*of.rows["family"]}:
        sd = after.errors[family].sd
        assert again.errors[family].sd == pytest.approx(sd, rel=0.05, abs=1e-9)
