"""The motion of a run as a film: morphtrack film RUN [--gif].

RUN is a name, a folder or a key, as morphtrack see takes it. Writes moving.mp4 beside
what the run wrote, seen as the figures of it are seen; moving.gif with --gif, or where
this machine has no ffmpeg.
"""

from pipeline.commands.see import shape_of
from pipeline.pages.film import ffmpeg, write_film
from pipeline.results.told_run import shown_path
from pipeline.store.named_runs import found_run
from pipeline.terminal.arguments import OneLineParser
from pipeline.terminal.errors import DONE, command

NO_FFMPEG = (
    "note: this machine has no ffmpeg, so a GIF is made (Debian: ffmpeg; or, under the "
    "GPL, .venv/bin/python -m pip install imageio-ffmpeg)"
)


def arguments() -> OneLineParser:
    parser = OneLineParser("film", __doc__)
    parser.add_argument("run", help="name, folder or key")
    parser.add_argument("--gif", action="store_true", help="a GIF in any case")
    return parser


@command
def main(argv: list[str] | None = None) -> int:
    """Make one film."""
    given = arguments().parse_args(argv)
    directory = found_run(given.run)
    shape = shape_of(directory)
    if not (given.gif or ffmpeg()):
        print(NO_FFMPEG)
    suffix = ".gif" if given.gif or not ffmpeg() else ".mp4"
    print(f"film     {shown_path(write_film(directory, shape, suffix))}")
    return DONE
