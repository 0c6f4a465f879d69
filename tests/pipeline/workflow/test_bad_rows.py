"""What can be built is built; what cannot is named with its reason; exit status 1."""

import re

import numpy as np
import pandas as pd
import pytest
import yaml

from tests.pipeline.conftest import command_in, furnish

pytestmark = [pytest.mark.slow, pytest.mark.together]  # all read one made project

RUN = {"case": "triangles_circle", "overrides": ["case.max_steps=2"]}
BALL = {"sphere_radius_mm": 6.0, "scale_mm": 40.0, "input_draws": 0}
SERIES = {"case": "actuator_law", "synthetic": True}
WORKFLOW = {
    "comparisons": {
        "failed_run": BALL | RUN | {"scan": ["ball.xyz"]},
        "few_spheres": BALL | {"case": "triangles_circle", "scan": ["ball.xyz"]},
        "no_cloud": BALL | {"case": "triangles_circle", "scan": ["cut.ply"]},
    },
    "series": {
        "sound": SERIES | {"measured": "sound.csv"},
        "no_such_quantity": SERIES | {"measured": "other.csv"},
        "no_part": SERIES | {"measured": "no_part.csv"},
    },
    "figures": {"huang-3": {"cases": ["actuator_law"]}},
}
REASONS = {
    "compare failed_run": "it needs simulate failed_run, which is failed",
    "simulate failed_run": "still changes by more than 1e-06 per step after 2",
    "compare few_spheres": "the scan has 1 sphere for 48 nodes",
    "ingest no_cloud": "E-TRUNCATED cut.ply",
    "compare no_cloud": "it needs ingest no_cloud, which is missing",
    "compare_series no_such_quantity": "no column no_such: they have step, time",
    "compare_series no_part": "no_part.csv has no column part",
}


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A folder in which a workflow with many bad rows has run."""
    folder = tmp_path_factory.mktemp("bad")
    furnish(folder)
    (folder / "conf" / "workflow.yaml").write_text(yaml.safe_dump(WORKFLOW))
    rng = np.random.default_rng(0)
    ball = rng.normal(size=(4_000, 3))
    ball *= 6.0 / np.linalg.norm(ball, axis=1, keepdims=True)
    np.savetxt(folder / "ball.xyz", ball, fmt="%.4f")
    (folder / "cut.ply").write_text(
        "ply\nformat ascii 1.0\nelement vertex 9\nproperty float x\nproperty float y\n"
        "property float z\nend_header\n0 0 0\n"
    )
    head = "quantity,at,value,u,part\n"
    (folder / "sound.csv").write_text(f"{head}modulus,0.5,1,0,held out\n")
    (folder / "other.csv").write_text(f"{head}no_such,0.5,1,0,fit\n")
    (folder / "no_part.csv").write_text("quantity,at,value,u\nmodulus,0.5,1,0\n")
    done = command_in(folder)("make")
    assert done.returncode == 1, done.stdout + done.stderr
    assert "error: ingest no_cloud: E-TRUNCATED cut.ply" in done.stderr
    return folder


def test_what_can_be_built_is_built(made):
    results = made / "results"
    assert (results / "figure" / "huang-3" / "huang-3.pdf").is_file()
    table = pd.read_csv(results / "tables" / "series.csv")
    assert table["name"].tolist() == ["sound"]
    assert "soundModulusHeldOutRms" in (results / "numbers.tex").read_text()
    assert not (results / "tables" / "comparisons.csv").exists()


@pytest.mark.parametrize("what", REASONS)
def test_what_is_missing_is_named_with_its_reason(made, what):
    page = (made / "results" / "report" / "index.html").read_text()
    text = re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", page))
    step, name = what.split()
    key = rf"(?:[0-9a-f]{{16}}|{step}/{name})"
    found = re.search(rf"\b{step} {name} {key} (failed|missing) (.{{200}})", text)
    assert found is not None
    assert REASONS[what] in found.group(2)
