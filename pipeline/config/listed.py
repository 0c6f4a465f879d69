"""What the folders of conf hold: names, each with what its file says of itself."""

import re
from collections.abc import Iterable
from pathlib import Path

from pipeline.terminal.names import no_such

CONF = Path("conf")
PLAIN = re.compile(r"[\w-]+(,[\w-]+)*")  # names as they stand; more is Hydra's to read


def _files(kind: str) -> list[Path]:
    return sorted((CONF / kind).glob("*.yaml"))


def first_remark(path: Path) -> str:
    """The remark in the first line of a YAML file; empty where there is none."""
    with path.open(encoding="utf-8") as file:
        line = file.readline().strip()
    return line.removeprefix("#").strip() if line.startswith("#") else ""


def listed(kind: str) -> dict[str, str]:
    """The files of conf/<kind> by name, each with its first remark."""
    return {path.stem: first_remark(path) for path in _files(kind)}


def case_names() -> list[str]:
    """The cases that conf/case holds."""
    return [path.stem for path in _files("case")]


def study_names() -> list[str]:
    """The studies that conf/study holds."""
    return [path.stem for path in _files("study")]


def check_cases(words: Iterable[str]) -> None:
    """Refuse a word case=NAME, or case=NAME,NAME, that names what conf/case lacks."""
    for word in words:
        key, _, value = word.partition("=")
        if key == "case" and PLAIN.fullmatch(value):
            for name in value.split(","):
                if name not in case_names():
                    raise no_such("conf/case has no case", name, case_names())
