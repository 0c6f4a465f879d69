"""Command lines whose complaint is one line."""

import argparse
import re
from pathlib import Path
from typing import Any, NoReturn

from pipeline.terminal.errors import InputError
from pipeline.terminal.names import close_to


def options_of(parser: argparse.ArgumentParser) -> list[str]:
    """Every option that is a word, as it is typed."""
    words = [word for action in parser._actions for word in action.option_strings]
    return [word for word in words if word.startswith("--")]


class OneLineParser(argparse.ArgumentParser):
    """The arguments of morphtrack NAME; refuses with one line where argparse exits."""

    def __init__(self, name: str, text: str | None, **like: Any) -> None:
        super().__init__(
            prog=f"morphtrack {name}",
            description=text,
            formatter_class=argparse.RawDescriptionHelpFormatter,
            allow_abbrev=False,
            **like,
        )

    def error(self, message: str) -> NoReturn:
        strange = re.match(r"unrecognized arguments: (--[^\s=]+)", message)
        near = close_to(strange.group(1), options_of(self)) if strange else ""
        if strange and strange.group(1) == "--case":
            near = "cases are named without dashes, as case=NAME"
        raise InputError(
            f"{message}: {near or f'{self.prog} --help says what there is'}"
        )


def add_overrides(parser: argparse.ArgumentParser, example: str) -> None:
    """Let values of a composed file be given in other words, after all else."""
    parser.add_argument(
        "words", nargs="*", metavar="key=value", help=f"such as {example}"
    )


def goal_and_overrides(words: list[str]) -> tuple[str, list[str]]:
    """The name that is asked for, "" for everything, and the words key=value."""
    names = [word for word in words if word and "=" not in word]
    if len(names) > 1:
        raise InputError(f"{' '.join(names)}: give one name, or none for everything")
    return "".join(names), [word for word in words if "=" in word]


def output_directory(text: str) -> Path:
    """A directory for results, which may not exist yet."""
    path = Path(text)
    for parent in (path, *path.parents):
        if parent.exists():
            if not parent.is_dir():
                raise argparse.ArgumentTypeError(f"{parent} is a file, no directory")
            break
    return path


def set_parser(name: str, text: str | None) -> OneLineParser:
    """Of a command that does something with the records of a measured set: its name."""
    parser = OneLineParser(name, text)
    parser.add_argument("set", metavar="SET", help="a file of conf/measured")
    parser.add_argument(
        "--records", type=Path, metavar="DIR", help="records of DIR, not those shipped"
    )
    parser.add_argument(
        "--out", type=output_directory, metavar="DIR", help="folder to write into"
    )
    return parser


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
