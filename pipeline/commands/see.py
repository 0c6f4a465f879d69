"""Show a run: morphtrack see RUN [--vtk] [--no-open].

RUN is a name (pentapod, simulate/pentapod, compare/cylinder, a run made by hand), the
folder of a run, or a key. Draws picture.png and run.html beside what the run wrote,
where they are not there yet, says what came out, and opens the page. A folder outside
of results may be another's: its own pages are not shown.
"""

import os
import sys
import webbrowser
from pathlib import Path

from pipeline.pages.one_run import write_pictures
from pipeline.results.moving_shape import MovingShape, read_moving_shape
from pipeline.results.told_run import PAGE, PICTURE, shown_path, told
from pipeline.store.named_runs import RUN_HELP, found_run
from pipeline.store.runs import RESULTS, run_record
from pipeline.terminal.arguments import OneLineParser
from pipeline.terminal.errors import DONE, InputError, command

SHOWING = (".html", ".png", ".svg", ".pdf")  # what a run of another step holds to see
STILL = (".png",)  # of them what runs no code


def arguments() -> OneLineParser:
    parser = OneLineParser("see", __doc__)
    parser.add_argument("run", help=RUN_HELP)
    parser.add_argument(
        "--vtk", action="store_true", help="the steps for ParaView, in the folder vtk"
    )
    parser.add_argument("--no-open", action="store_true", help="only say where it is")
    return parser


def seen(directory: Path) -> Path:
    """What of a run is looked at, made where it is not there yet."""
    own = directory.resolve().is_relative_to(RESULTS.resolve())
    if run_record(directory)["step"] == "simulate":
        write_pictures(directory, anew=not own)
        return directory / PAGE
    files = sorted(directory.iterdir(), key=lambda path: path.name)
    for suffix in SHOWING if own else STILL:
        for path in files:
            if path.suffix == suffix:
                return path
    raise InputError(f"{shown_path(directory)} holds nothing to see, only numbers")


def write_vtk(directory: Path) -> Path:
    """The steps of a run in the folder vtk beside them."""
    from pipeline.formats.vtk_series import write_vtk_series

    shape = shape_of(directory)
    steps = range(len(shape.r))
    return write_vtk_series(directory / "vtk", shape.r, shape.links, shape.faces, steps)


def shape_of(directory: Path) -> MovingShape:
    """The shape of a run that moves."""
    shape = read_moving_shape(directory)
    if shape is None:
        raise InputError(f"{shown_path(directory)} has no shape that moves")
    return shape


def can_open() -> bool:
    """Whether a person sits here, before a screen."""
    screen = (
        sys.platform == "darwin"
        or os.environ.get("DISPLAY")
        or os.environ.get("WAYLAND_DISPLAY")
    )
    return bool(screen) and sys.stdout.isatty()


@command
def main(argv: list[str] | None = None) -> int:
    """Say what a run came to, and show it."""
    given = arguments().parse_args(argv)
    directory = found_run(given.run)
    record = run_record(directory)
    page = seen(directory)
    if record["step"] == "simulate":
        print("\n".join(told(record)))
        print(f"picture  {shown_path(directory / PICTURE)}")
    print(f"page     {shown_path(page)}")
    if given.vtk:
        print(f"vtk      {shown_path(write_vtk(directory))}")
    if not given.no_open and can_open():
        webbrowser.open(page.resolve().as_uri())
    return DONE
