"""What is on the disk, and not only on its way there.

A rename may reach the disk before the content of what is renamed: a power cut then
leaves a finished run with empty files. So a folder is synced before it is called
finished, and the steps of a run before a checkpoint that counts on them. Receipts and
plans are not: an empty one is no receipt, and is made again.
"""

import ctypes
import os
from pathlib import Path


def sync(folder: Path) -> None:
    """Return when all files below `folder` are on the disk, with their names.

    By one call for the whole file system where there is one (Linux): five times
    cheaper than one a file.
    """
    number = os.open(folder, os.O_RDONLY)
    try:
        if not _file_system(number):
            _each(folder)
    finally:
        os.close(number)


def _file_system(number: int) -> bool:
    """Sync the file system of an open folder; whether this machine can."""
    act = getattr(ctypes.CDLL(None, use_errno=True), "syncfs", None)
    if act is None:
        return False
    if act(number) != 0:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))
    return True


def _each(folder: Path) -> None:
    for path in [*folder.rglob("*"), folder]:
        number = os.open(path, os.O_RDONLY)
        try:
            os.fsync(number)
        finally:
            os.close(number)
