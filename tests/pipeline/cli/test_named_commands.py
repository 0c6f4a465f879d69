"""Every command and make target that a text names is there."""

import re
from collections.abc import Iterator
from pathlib import Path

from pipeline.cli.app import COMMANDS
from tests.pipeline.conftest import ROOT

MAKEFILE = (ROOT / "Makefile").read_text()
TARGETS = set(re.findall(r"^([a-z-]+)%?:", MAKEFILE, re.M))


def texts() -> Iterator[Path]:
    """What people read: documents, rules, configurations, help and errors."""
    yield from (ROOT / "Makefile", ROOT / "Snakefile")
    yield from sorted(ROOT.glob("*.md"))
    yield from sorted((ROOT / "docs").rglob("*.md"))
    yield from sorted((ROOT / "conf").rglob("*.yaml"))
    for package in ("pipeline", "analysis", "sim"):
        yield from sorted((ROOT / package).rglob("*.py"))
        yield from sorted((ROOT / package).rglob("*.html"))
    templates = sorted((ROOT / "pipeline/cli/templates").rglob("*"))
    yield from (path for path in templates if path.is_file())


def test_no_text_names_a_command_that_is_gone():
    for path in texts():
        text = path.read_text()
        named = re.findall(r"(?<!import )\bmorphtrack ([a-z_]+)", text)
        named += re.findall(r"-m pipeline ([a-z_]+)", text)
        named += re.findall(r"\$\(RUN\) pipeline ([a-z_]+)", text)
        assert set(named) <= set(COMMANDS), path
        assert "-m pipeline." not in text, path
        made = re.findall(
            r"(?:`|\brun |: )make ([a-z]+-?)[a-z0-9-]*(?=`| [A-Z]+=)", text
        )
        made += re.findall(r"(?:\brun |^)make ([a-z]+-?)", text, re.M)
        assert set(made) <= TARGETS | {"test-"}, path


def test_a_target_of_tests_that_a_text_names_is_there():
    said = " ".join(path.read_text() for path in texts())
    assert set(re.findall(r"`make (test-[a-z]+)", said)) <= TARGETS


def test_a_file_of_a_target_s_name_does_not_keep_it_from_running():
    phony = " ".join(re.findall(r"^\.PHONY: (.*)", MAKEFILE, re.M)).split()
    assert TARGETS - {"figure-"} <= {*phony}
