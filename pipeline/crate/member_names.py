"""Names of an archive's members: each leads to one file, whatever disk holds it."""

import re
import unicodedata
from collections.abc import Iterable
from pathlib import PurePosixPath, PureWindowsPath

from pipeline.terminal.words import CONTROL

NAME = 255  # bytes of each part of a path, as file systems hold
PATH = 1_000  # bytes of a whole one
# Windows drops dots and blanks that end a name, has devices of these names, and no name
# with these signs: those that unpack put others in their place, or a stream of a file.
CHANGED = re.compile(
    r".*[. ]|.*[<>:\"|?*].*|(con(in\$|out\$)?|prn|aux|nul|(com|lpt)[0-9¹²³]) *(\..*)?",
    re.I,
)


def climbs_out(name: str) -> bool:
    """Whether a name may lead out of the folder that it is relative to."""
    parts = PurePosixPath(name.replace("\\", "/")).parts
    rooted = name.startswith(("/", "\\")) or PureWindowsPath(name).drive != ""
    return rooted or ".." in parts or "\0" in name or "\\" in name


def fault_of_name(name: str) -> str:
    """Why no folder, or none of some system, holds a name as it is; "" if all do."""
    parts = name.removesuffix("/").split("/")
    if climbs_out(name):
        return f"{name!r} climbs out of the archive"
    if (
        any(len(part.encode()) > NAME or part in {"", "."} for part in parts)
        or len(name.encode()) > PATH
        or CONTROL.search(name)
    ):
        return (
            f"{name[:40]!r} is too long for a name, has letters that none has or is "
            "not the plain name of a file"
        )
    if any(map(CHANGED.fullmatch, parts)):
        return f"{name!r} is another name, or none, on Windows"
    return ""


def fault_of_all(names: Iterable[str]) -> str:
    """Which of the names cannot both be there, on any disk; "" if all can.

    Disks may tell neither the case of letters nor Unicode's forms of them apart: names
    are alike by canonical caseless matching (The Unicode Standard, D145).
    """
    seen: dict[str, str] = {}
    files: dict[str, str] = {}
    above: set[str] = set()
    for name in names:
        plain = name.rstrip("/")
        folded = _folded(plain)
        if folded in seen:
            other = seen[folded]
            if other == plain:
                return f"{plain!r} is there twice"
            return f"{other!r} and {plain!r} are one name on disks that fold letters"
        seen[folded] = plain
        if not name.endswith("/"):
            files[folded] = plain
        above.update(map(str, PurePosixPath(folded).parents))
    both = sorted(files[name] for name in above & files.keys())
    return f"{both[0]!r} is a file and a folder" if both else ""


def _folded(name: str) -> str:
    split = unicodedata.normalize("NFD", name)
    return unicodedata.normalize("NFD", split.casefold())
