"""Programs of an environment that was moved: they name the place of before."""

import re
import shlex
from pathlib import Path

SETTINGS = "pyvenv.cfg"
MADE_BY = " -m venv "  # in the settings, before the place that venv was told
PYTHON = """#!/bin/sh
'''exec' "{}/bin/python" "$0" "$@"
' '''
"""  # a first line of a program, of a place with spaces or of any length


def name_this_place(environment: Path) -> int:
    """Let its programs name the place where an environment is now.

    Parameters
    ----------
    environment : its folder, links followed

    Returns
    -------
    how many of them named another place
    """
    settings = environment / SETTINGS
    made_by = settings.read_text(encoding="utf-8").partition(MADE_BY)[2]
    old = made_by.partition("\n")[0].removeprefix("--clear ").encode()
    new = str(environment).encode()
    if not old or old == new:
        return 0
    changed = 0
    for path in [*sorted((environment / "bin").iterdir()), settings]:
        content = b"" if path.is_symlink() else path.read_bytes()
        if old in content and new not in content and b"\0" not in content:
            first, _, rest = _renamed(content, old, new).partition(b"\n")
            if content.startswith(b"#!" + old):
                first = PYTHON.format(environment).encode().rstrip()
            path.write_bytes(first + b"\n" + rest)
            changed += path != settings
    return changed


def _renamed(content: bytes, old: bytes, new: bytes) -> bytes:
    """The new place for the old, quoted where a shell is given it bare."""
    quoted = shlex.quote(new.decode()).encode()
    bare = rb"(?P<set>VIRTUAL_ENV[ =])" + re.escape(old) + rb"(?=\n)"

    def named(found: re.Match[bytes]) -> bytes:
        return found["set"] + quoted if found["set"] else new

    return re.sub(bare + b"|" + re.escape(old), named, content)
