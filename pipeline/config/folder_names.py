"""Names from configuration that become names of folders."""

import re
from collections.abc import Iterable

from pipeline.terminal.errors import InputError

SOUND = re.compile(r"\w[\w.\- ]*")
LONGEST = 100  # bytes; file systems hold 255, and other names are made of this one


def folder_name(name: str, where: str) -> str:
    """`name`, refused where it would lead out of the folder it is put into."""
    if SOUND.fullmatch(name) is None:
        raise InputError(
            f"{where}: {name!r} becomes the name of a folder: begin it with a letter "
            "or digit and use only letters, digits, '_', '-', '.' and blanks"
        )
    if len(name.encode()) > LONGEST:
        raise InputError(
            f"{where}: {name[:20]!r}... becomes the name of a folder: shorten it to "
            f"{LONGEST} bytes"
        )
    return name


def check_folder_names(names: Iterable[str], where: str) -> None:
    """Refuse names that lead out of a folder, or of which two lead to one place."""
    seen: dict[str, str] = {}
    for name in names:
        other = seen.setdefault(folder_name(name, where).casefold(), name)
        if other != name:
            raise InputError(
                f"{where}: {other!r} and {name!r} are one folder on disks that tell no "
                "case of letters: rename one"
            )
