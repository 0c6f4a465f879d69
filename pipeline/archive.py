"""One RO-Crate of everything: python -m pipeline.archive.

Packs code, configurations, data (or their digests), results and the lock file, so that
the figures can be made elsewhere. The same command reads an archive:

  --check FILE                 compare every file with its digest
  --unpack FILE --into DIR     unpack; with --bare without results, to make them anew
  --compare FILE               the runs here beside those of the archive
"""

import argparse
import sys
import zipfile
from pathlib import Path

from pipeline.arguments import OneLineParser
from pipeline.crate.comparison import compare, told
from pipeline.crate.contents import contents
from pipeline.crate.reading import check, unpack
from pipeline.errors import FAILED, InputError, command
from pipeline.files import replacing
from pipeline.runs import RESULTS

ARCHIVE = Path("results/morphtrack.crate.zip")


def write_archive(out: Path, results: Path = RESULTS) -> None:
    """Pack the plan's runs and all they need into `out`, and say what is not in it."""
    from pipeline.crate.description import crate_of

    held = contents(results)
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
    if held.missing:
        first = held.missing[0]
        print(
            f"note: {len(held.missing)} planned runs are missing, such as {first.step} "
            f"{first.name}: the report says why"
        )


def _parser() -> OneLineParser:
    parser = OneLineParser(
        prog="python -m pipeline.archive",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--out", type=Path, default=ARCHIVE, help="where to write it")
    what.add_argument("--check", type=Path, metavar="FILE")
    what.add_argument("--unpack", type=Path, metavar="FILE")
    what.add_argument("--compare", type=Path, metavar="FILE")
    parser.add_argument("--into", type=Path, metavar="DIR", help="a new folder")
    parser.add_argument("--bare", action="store_true", help="leave results out")
    return parser


@command
def main(argv: list[str] | None = None) -> int:
    """Write an archive, or read one."""
    given = _parser().parse_args(argv)
    if (given.unpack is None) != (given.into is None):
        raise InputError("--unpack FILE wants --into DIR, and DIR an archive")
    if given.check is not None:
        print(f"{given.check}: {check(given.check)} digests hold")
    elif given.unpack is not None:
        files = unpack(given.unpack, given.into, bare=given.bare)
        print(f"{given.into}: {files} files; there: make figures, make test")
    elif given.compare is not None:
        found = compare(given.compare, RESULTS)
        print("\n".join(told(found)))
        return FAILED if found.missing or found.different else 0
    else:
        write_archive(given.out)
    return 0


if __name__ == "__main__":
    sys.exit(main())
