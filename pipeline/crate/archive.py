"""One RO-Crate of code, configurations, data, results and the lock file."""

import hashlib
import zipfile
from collections.abc import Collection, Iterator
from pathlib import Path

from pipeline.crate.contents import contents
from pipeline.store.digests import DIGESTS
from pipeline.store.files import replacing
from pipeline.store.runs import RESULTS

ARCHIVE = Path("results/morphtrack.crate.zip")


def write_archive(out: Path, wanted: Collection[str], results: Path = RESULTS) -> None:
    """Pack the plan's runs and all they need into `out`, and say what is not in it.

    Parameters
    ----------
    wanted : keys of the runs that conf asks for now
    """
    from pipeline.crate.description import crate_of

    held = contents(results, wanted)
    with replacing(out) as temporary:
        crate_of(held, results).write_zip(temporary)
        with zipfile.ZipFile(temporary, "a") as file:
            file.writestr(DIGESTS, "".join(_digests(file)))
    size = out.stat().st_size / 1e6
    print(f"{out}: {len(held.jobs)} runs, {len(held.files)} files, {size:.1f} MB")
    for datum in held.data:
        if not datum.packed:
            print(
                f"note: {datum.path} is outside of this folder: its SHA-256 "
                f"{datum.digest} is in the archive, the file is not"
            )
    if held.missing:
        first = held.missing[0]
        print(
            f"note: {len(held.missing)} planned runs are missing, such as {first.step} "
            f"{first.name}: the report says why"
        )


def _digests(file: zipfile.ZipFile) -> Iterator[str]:
    """A line for each file, as `sha256sum -c` reads it."""
    for name in file.namelist():
        if not name.endswith("/"):
            with file.open(name) as member:
                digest = hashlib.file_digest(member, "sha256")  # type: ignore[arg-type]
            yield f"{digest.hexdigest()}  {name}\n"
