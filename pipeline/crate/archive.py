"""One RO-Crate of code, configurations, data, results and the lock file."""

import zipfile
from collections.abc import Collection
from pathlib import Path

from pipeline.crate.contents import contents
from pipeline.store.files import replacing
from pipeline.store.runs import RESULTS

ARCHIVE = Path("results/morphtrack.crate.zip")


def write_archive(out: Path, wanted: Collection[str], results: Path = RESULTS) -> None:
    """Pack the plan's runs and all they need into `out`, and say what is not in it.

    Parameters
    ----------
    wanted : keys of the runs that conf asks for now
    """
    from pipeline.crate.description import crate_of, nameless

    held = contents(results, wanted)
    with replacing(out) as temporary:
        crate_of(held, results).write_zip(temporary)
        with zipfile.ZipFile(temporary, "a") as file:
            for job in held.jobs:  # the crate speaks of folders: the archive has them
                file.writestr(f"results/runs/{job.key}/", b"")
    size = out.stat().st_size / 1e6
    print(f"{out}: {len(held.jobs)} runs, {len(held.files)} files, {size:.1f} MB")
    for datum in held.data:
        if not datum.packed:
            print(
                f"note: {datum.path} is outside of this folder: its SHA-256 "
                f"{datum.digest} is in the archive, the file is not"
            )
    if lacks := nameless():
        print(f"note: CITATION.cff gives no {lacks}: what it cites has no address here")
    if held.missing:
        first = held.missing[0]
        print(
            f"note: {len(held.missing)} planned runs are missing, such as {first.step} "
            f"{first.name}: the report says why"
        )
