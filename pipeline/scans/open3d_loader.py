"""The one place that imports Open3D.

Open3D links libusb-1.0, which bare machines lack; the libusb-package wheel carries it,
and loading it first spares an installation as root. The graphics libraries that Open3D
also links come from the system. make setup runs this module to say what is missing.
"""

import ctypes
import importlib
import sys
from types import ModuleType

from pipeline.terminal import DONE, InputError, command

SYSTEM_LIBRARIES = "apt-get install libegl1 libgl1 libx11-6"


def open3d() -> ModuleType:
    """The module open3d.

    Raises
    ------
    InputError
        with the command that installs what is missing.
    """
    _load_libusb()
    try:
        import open3d  # as a statement: keys of runs follow it
    except (ImportError, OSError) as error:
        raise InputError(
            f"Open3D cannot be loaded ({error}): install its libraries by "
            f"`{SYSTEM_LIBRARIES}`"
        ) from error
    module: ModuleType = open3d
    return module


def _load_libusb() -> None:
    try:
        package = importlib.import_module("libusb_package")
        ctypes.CDLL(str(package.get_library_path()), mode=ctypes.RTLD_GLOBAL)
    except (ImportError, OSError):
        return  # the system may have its own; if not, importing open3d says so


@command
def main() -> int:
    """Load it once."""
    open3d()
    return DONE


if __name__ == "__main__":
    sys.exit(main())
