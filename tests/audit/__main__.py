"""Known vulnerabilities of what the locks pin: python -m tests.audit PIP-AUDIT.

Asks pip-audit, which asks the package index. An index without advisories skips every
package, which pip-audit calls "no known vulnerabilities": one package is asked for
first, and where it is skipped, or nothing answers, nothing is known and this says so.
Ends with 1 where a version that a lock pins is known to be vulnerable.
"""

import json
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

PINNED = re.compile(r"^([A-Za-z0-9_.\-]+)==([^\s;\\]+)", re.MULTILINE)
LOCKS = (
    "requirements.lock", "pipeline/scans/requirements.lock", "tests/requirements.lock",
    "tests/audit/requirements.lock", "tests/bench/requirements.lock",
)  # fmt: skip


def asked(program: str, packages: Iterable[str]) -> list[dict[str, Any]]:
    """What is known of each package, given as name==version."""
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as file:
        file.write("\n".join(packages))
        file.flush()
        words = [program, "--no-deps", "--disable-pip", "--format", "json"]
        done = subprocess.run([*words, "-r", file.name], capture_output=True, text=True)
    if not done.stdout.strip():
        raise SystemExit(f"error: {program}: {done.stderr.strip()[-300:]}")
    found: list[dict[str, Any]] = json.loads(done.stdout)["dependencies"]
    return found


def told(found: Iterable[dict[str, Any]]) -> tuple[list[str], list[str]]:
    """A line a vulnerability; the names that nothing is known of."""
    wrong = [
        f"{one['name']} {one['version']}: {known['id']}, mended in "
        f"{', '.join(known['fix_versions']) or 'no version yet'}"
        for one in found
        for known in one.get("vulns", [])
    ]
    return wrong, [one["name"] for one in found if "skip_reason" in one]


def main(program: str) -> int:
    """Ask, and say what is known."""
    packages = sorted(
        {
            f"{name}=={version}"
            for lock in LOCKS
            for name, version in PINNED.findall(Path(lock).read_text(encoding="utf-8"))
        }
    )
    try:
        silent = told(asked(program, packages[:1]))[1]
    except SystemExit as error:
        silent = [str(error)]
        print(error)
    if silent:
        print("the package index has no advisories: no vulnerability was looked for")
        return 0
    wrong, unknown = told(asked(program, packages))
    print("\n".join(wrong) or "no known vulnerability", f"in {len(packages)} packages")
    print(*(f"nothing is known of {name}" for name in unknown), sep="\n")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
