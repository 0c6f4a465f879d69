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


def profile_directory(text: str) -> Path:
    """A folder that tells Snakemake where jobs run."""
    path = Path(text)
    if not (path / "config.yaml").is_file():
        there = sorted(p.parent.name for p in path.parent.glob("*/config.yaml"))
        raise argparse.ArgumentTypeError(
            f"{path} has no config.yaml: there are {', '.join(there) or 'none'}"
        )
    return path


def port_number(text: str) -> int:
    """A number that a port may have."""
    if not (text.isdecimal() and 0 < int(text) < 65536):
        raise argparse.ArgumentTypeError(
            f"a port is a whole number between 1 and 65535, not {text}"
        )
    return int(text)
