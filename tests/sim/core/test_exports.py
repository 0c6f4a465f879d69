"""Each solver exports its public names, and imports none of them before it is used."""

import importlib
import pkgutil
import subprocess
import sys
from typing import Any

import pytest

SOLVERS = ("sim.mechanism", "sim.origami", "sim.rods")


@pytest.mark.parametrize("name", SOLVERS)
def test_every_public_name_is_what_its_module_defines_and_no_folder(name):
    package = importlib.import_module(name)
    assert dir(package)
    for public in dir(package):
        found: Any = getattr(package, public)
        assert found.__module__.startswith(f"{name}.")
        assert found.__name__ == public
    folders = {module.name for module in pkgutil.iter_modules(package.__path__)}
    assert not folders & set(dir(package))


def test_a_name_that_is_not_there_is_refused():
    with pytest.raises(ImportError, match="cannot import name 'Cylindre'"):
        from sim.mechanism import Cylindre  # noqa: F401


def test_importing_a_solver_imports_no_module_of_it():
    code = (
        "import sys, sim.mechanism, sim.origami, sim.rods\n"
        "solvers = ('sim.mechanism.', 'sim.origami.', 'sim.rods.')\n"
        "print([m for m in sys.modules if m.startswith(solvers)],"
        " 'numba' in sys.modules, 'numpy' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[] False False"
