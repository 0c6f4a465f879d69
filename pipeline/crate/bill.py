"""The bill of materials of an archive: every package of the lock, as CycloneDX 1.6.

What a package says of its licence comes from its own metadata, where it is installed:
the licence expression, else the classifiers, else the field, else the licence file.
"""

import json
import re
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path
from typing import Any

NAME = "sbom.cdx.json"
FORM = {"bomFormat": "CycloneDX", "specVersion": "1.6", "version": 1}
PINNED = re.compile(r"^([A-Za-z0-9_.\-]+)==([^\s;\\]+)", re.MULTILINE)
HASH = re.compile(r"--hash=sha256:([0-9a-f]{64})")
LONGEST = 60  # of a licence field that is a name, and not the whole text


def pinned(lock: str) -> Iterator[tuple[str, str, list[str]]]:
    """Name, version and SHA-256 digests of each package of a lock file's text."""
    found = list(PINNED.finditer(lock))
    ends = [match.start() for match in found[1:]] + [len(lock)]
    for match, end in zip(found, ends, strict=True):
        yield match[1], match[2], HASH.findall(lock, match.end(), end)


def licence(name: str) -> str:
    """What an installed package says of its licence; "" where nobody says it."""
    try:
        about = metadata.metadata(name)
    except metadata.PackageNotFoundError:
        return ""
    classified = [
        str(line).rpartition("::")[2].strip()
        for line in about.get_all("Classifier") or []
        if str(line).startswith("License ::")
    ]
    (expression, field) = (
        str((about.get_all(key) or [""])[0]).strip()
        for key in ("License-Expression", "License")
    )
    named = field if len(field) <= LONGEST and "\n" not in field else ""
    known = (expression, " OR ".join(classified), named, _of_file(name))
    return next((said for said in known if said and said != "OSI Approved"), "")


def _of_file(name: str) -> str:
    """What the licence file of a package is: MIT by its words, or its first line."""
    for path in metadata.files(name) or []:
        if re.match(r"(?i)(licen[cs]e|copying)", path.name):
            text = path.read_text(encoding="utf-8")
            if "Permission is hereby granted, free of charge" in text:
                return "MIT"
            return next(
                (line.strip() for line in text.splitlines() if line.strip()), ""
            )
    return ""


def _component(name: str, version: str, digests: list[str]) -> dict[str, Any]:
    said = licence(name)
    known = {"licenses": [{"license": {"name": said}}]} if said else {}
    address = f"pkg:pypi/{name.lower()}@{version}"
    return {
        "type": "library",
        "name": name,
        "version": version,
        "purl": address,
        "bom-ref": f"{address}#{digests[0][:12]}" if digests else address,
        "hashes": [{"alg": "SHA-256", "content": digest} for digest in digests],
        **known,
    }


def bill_of_materials(lock: Path) -> str:
    """The bill of the packages that a lock file pins, as JSON text."""
    text = lock.read_text(encoding="utf-8")
    components = [_component(*package) for package in pinned(text)]
    return json.dumps({**FORM, "components": components}, indent=1) + "\n"
