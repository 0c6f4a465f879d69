from pathlib import Path

import pytest

from sim.core import imported_code
from sim.core.imported_code import code_closure


def fake_project(root: Path) -> None:
    (root / "sim").mkdir()
    (root / "pipeline").mkdir()
    (root / "sim" / "__init__.py").write_text('"""Arrays."""\n')
    (root / "pipeline" / "__init__.py").write_text("")
    (root / "sim" / "used.py").write_text("import numpy as np\nX = 1\n")
    (root / "sim" / "unused.py").write_text("X = 2\n")
    (root / "pipeline" / "step.py").write_text("from sim import used\n")


@pytest.fixture
def project(tmp_path, monkeypatch):
    fake_project(tmp_path)
    monkeypatch.setattr(imported_code, "SOURCE_ROOT", tmp_path)
    imported_code._module.cache_clear()
    yield tmp_path
    imported_code._module.cache_clear()


def closure() -> dict[str, str]:
    imported_code._module.cache_clear()
    return code_closure(["pipeline.step"])[0]


@pytest.mark.usefixtures("project")
def test_code_is_what_a_step_imports_however_deep():
    assert set(closure()) == {"pipeline", "pipeline.step", "sim", "sim.used"}


@pytest.mark.usefixtures("project")
def test_imports_from_elsewhere_are_named():
    assert "numpy" in code_closure(["pipeline.step"])[1]


def test_comments_docstrings_and_layout_are_not_code(project):
    before = closure()
    (project / "sim" / "used.py").write_text(
        '"""Words."""\n\nimport numpy as np  # why\n\nX   = 1\n'
    )
    assert closure() == before


def test_an_edit_of_imported_code_is_seen_and_of_other_code_is_not(project):
    before = closure()
    (project / "sim" / "unused.py").write_text("X = 3\n")
    assert closure() == before
    (project / "sim" / "used.py").write_text("import numpy as np\nX = 3\n")
    assert closure() != before
