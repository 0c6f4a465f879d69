"""The folder that holds conf and data, for commands that are called from elsewhere."""

import argparse
import contextlib
from collections.abc import Iterator
from pathlib import Path

from pipeline.config.listed import CONF

ROOT = Path(__file__).parents[2]


@contextlib.contextmanager
def project_folder(given: argparse.Namespace) -> Iterator[argparse.Namespace]:
    """Work where conf is: here, or else where the code is.

    Parameters
    ----------
    given : arguments; their paths stay those that were meant
    """
    if CONF.is_dir():
        yield given
        return
    meant = {
        k: v.absolute() if isinstance(v, Path) else v for k, v in vars(given).items()
    }
    with contextlib.chdir(ROOT):
        yield argparse.Namespace(**meant)
