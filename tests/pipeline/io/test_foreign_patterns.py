"""Crease patterns of other programs end as theory, or good sense, says."""

import warnings
from pathlib import Path

import pytest

from pipeline.cases.origami import OrigamiCase
from pipeline.terminal import InputError
from tests.helpers.cases import composed
from tests.pipeline.io.foreign_patterns import FOREIGN, Foreign


def ended(file: Foreign, path: Path) -> str:
    """The verdict of a run, or "refused"."""
    text = file.text.encode() if isinstance(file.text, str) else file.text
    path.write_bytes(text)
    asked = (f"case.path={path}", f"case.phases.0.fraction={file.fraction}")
    try:
        case = composed(OrigamiCase, "fold_file", *asked, *file.more)
    except InputError:
        return "refused"
    recorder = case.recorder()
    for step in case.steps():
        recorder.see(step)
    return str(recorder.summary()["fold"])


@pytest.mark.parametrize("name", FOREIGN)
def test_a_foreign_pattern_ends_as_it_must(name, tmp_path):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert ended(FOREIGN[name], tmp_path / name) in FOREIGN[name].ends
