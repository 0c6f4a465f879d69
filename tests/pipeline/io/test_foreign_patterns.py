"""Crease patterns of other programs: how they are read, and how they end."""

import warnings
from pathlib import Path

import pytest

from pipeline.cases.origami import OrigamiCase
from pipeline.io.fold_file import fold_file
from pipeline.terminal import InputError
from tests.helpers.cases import composed
from tests.pipeline.io.foreign_patterns import DIALECTS, FOREIGN, Foreign


def written(text: str | bytes, path: Path) -> str:
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return str(path)


@pytest.mark.parametrize("name", DIALECTS)
def test_a_dialect_is_read_as_what_it_draws(name, tmp_path):
    text, panels, folds, size = DIALECTS[name]
    found = fold_file(written(text, tmp_path / name))
    assert len(found.panels) == panels
    assert found.assignment[found.creases].tolist() == folds
    assert found.size == pytest.approx(size)


def ended(file: Foreign, path: Path) -> str:
    """The verdict of a run, or "refused"."""
    path = Path(written(file.text, path))
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
