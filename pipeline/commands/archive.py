"""One RO-Crate of everything: morphtrack archive.

Packs code, configurations, data (or their digests), results and the lock file, so that
the figures can be made elsewhere: unzip it, sha256sum -c SHA256SUMS, make figures.
"""

from pathlib import Path

from pipeline.config.workflow_file import read_workflow
from pipeline.crate.archive import ARCHIVE, write_archive
from pipeline.terminal.arguments import OneLineParser
from pipeline.terminal.errors import command
from pipeline.workflow.plan import planned_jobs


def arguments() -> OneLineParser:
    parser = OneLineParser("archive", __doc__)
    parser.add_argument("--out", type=Path, default=ARCHIVE, help="where to write it")
    return parser


@command
def main(argv: list[str] | None = None) -> int:
    """Write an archive."""
    given = arguments().parse_args(argv)
    write_archive(given.out, {job.key for job in planned_jobs(read_workflow())})
    return 0
