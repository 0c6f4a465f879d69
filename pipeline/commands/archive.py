"""One RO-Crate of everything: morphtrack archive.

Packs code, configurations, data (or their digests), results and the lock file, so that
the figures can be made elsewhere. The same command reads an archive:

  --check FILE                 compare every file with its digest
  --unpack FILE --into DIR     unpack; with --bare without results, to make them anew
  --compare FILE               the runs here beside those of the archive
"""

from pathlib import Path

from pipeline.config.workflow_file import read_workflow
from pipeline.crate.archive import ARCHIVE, write_archive
from pipeline.crate.comparison import compare, told
from pipeline.crate.reading import check, unpack
from pipeline.store.runs import RESULTS
from pipeline.terminal.arguments import OneLineParser
from pipeline.terminal.errors import FAILED, InputError, command
from pipeline.workflow.plan import planned_jobs


def arguments() -> OneLineParser:
    parser = OneLineParser("archive", __doc__)
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
    given = arguments().parse_args(argv)
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
        write_archive(given.out, {job.key for job in planned_jobs(read_workflow())})
    return 0
