"""The bill of materials: all of the lock, and nothing that may not be used freely."""

import json
import re
from importlib import metadata

import pytest

from pipeline.crate.bill import bill_of_materials, licence, pinned
from tests.audit.__main__ import LOCKS
from tests.pipeline.conftest import ROOT

LOCK = ROOT / "requirements.lock"
PERMISSIVE = re.compile(
    r"(?i)\b(MIT|BSD|0BSD|Apache|PSF|Python Software Foundation|ISCL?|zlib|MPL|Mozilla"
    r"|LGPL|Lesser General Public|Public Domain|HPND|Unlicense|CC0)"
)
INSTALLED = sorted(
    name
    for name in {
        name for lock in LOCKS for name, _, _ in pinned((ROOT / lock).read_text())
    }
    if any(metadata.distributions(name=name))
)


def is_free(said: str) -> bool:
    """Whether each part of a licence leaves a choice that is permissive."""
    parts = re.split(r"\bAND\b", said)
    return all(any(map(PERMISSIVE.search, p.split(" OR "))) for p in parts)


def test_every_package_of_the_lock_is_a_component_with_its_digests() -> None:
    bill = json.loads(bill_of_materials(LOCK))
    text = LOCK.read_text()
    assert bill["bomFormat"] == "CycloneDX"
    lines = [line for line in text.splitlines() if re.match(r"[a-z0-9]\S*==", line)]
    assert len(bill["components"]) == len(lines) > 100
    digests = [h["content"] for c in bill["components"] for h in c["hashes"]]
    assert sorted(digests) == sorted(re.findall(r"sha256:(\w+)", text))
    assert len({c["bom-ref"] for c in bill["components"]}) == len(lines)
    (numpy, *_) = [c for c in bill["components"] if c["name"] == "numpy"]
    assert numpy["purl"] == f"pkg:pypi/numpy@{numpy['version']}"
    assert "BSD-3-Clause" in numpy["licenses"][0]["license"]["name"]


@pytest.mark.parametrize("name", INSTALLED)
def test_what_runs_may_be_used_freely(name: str) -> None:
    said = licence(name)
    assert is_free(said), f"{name}: {said!r}"


def test_what_may_not_be_used_freely_would_be_seen() -> None:
    assert not is_free("GNU General Public License v3 (GPLv3)")
    assert not is_free("")
    assert not is_free("BSD-3-Clause AND GPL-3.0-or-later")
    assert not is_free("AGPL-3.0-only AND MIT")
    assert is_free("(GPL-2.0-only OR MIT) AND Apache-2.0 WITH LLVM-exception")
    assert licence("no-such-package") == ""
