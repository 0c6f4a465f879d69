"""Names from configuration that become names of folders."""

import re

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
