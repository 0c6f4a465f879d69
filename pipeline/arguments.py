"""Command lines whose complaint is one line."""

import argparse
from pathlib import Path
from typing import Any, NoReturn

from pipeline.errors import InputError


class OneLineParser(argparse.ArgumentParser):
    """A parser that raises InputError where argparse prints its usage and exits."""

    def __init__(self, **options: Any) -> None:
        super().__init__(allow_abbrev=False, **options)

    def error(self, message: str) -> NoReturn:
        raise InputError(f"{message}: {self.prog} --help says what there is")


def output_directory(text: str) -> Path:
    """A directory for results, which may not exist yet."""
    path = Path(text)
    for parent in (path, *path.parents):
        if parent.exists():
            if not parent.is_dir():
                raise argparse.ArgumentTypeError(f"{parent} is a file, no directory")
            break
    return path
