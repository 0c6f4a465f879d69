"""One run to look at: picture.png, run.html and a film.

All are made after the run and are none of its results: its digests leave them out.

MP4 is made by the ffmpeg of the machine, or of the package imageio-ffmpeg where it was
added. None is among the packages: those that carry one carry a build under the GPL.
"""

import logging
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import numpy as np

from pipeline.config.hydra import flat
from pipeline.report.moving_shape import (
    AXES,
    MovingShape,
    chosen_columns,
    read_moving_shape,
)
from pipeline.report.scene import TEMPLATES, environment, finished_scene, packed_plotly
from pipeline.runs.atomic_files import replacing, write_text
from pipeline.runs.run_directory import run_record
from pipeline.runs.summary import FILM, PAGE, PICTURE, length_unit, run_lines, run_title
from pipeline.terminal import RunFailedError

if TYPE_CHECKING:
    from matplotlib.animation import AbstractMovieWriter
    from matplotlib.figure import Figure


DOTS_AN_INCH = 200


def run_figure(directory: Path) -> "Figure":
    """The shape at the end of a run and its numbers by step."""
    from analysis.figures.run_picture import run_picture

    record, shape = run_record(directory), read_moving_shape(directory)
    drawing = shape and replace(shape, unit=length_unit(record))
    title = run_title(record)
    size = 0.0 if drawing is None else float(np.ptp(drawing.box, axis=0).max())
    if record["result"].get("cells", 0) > 1:  # a search for the shapes of a mechanism
        from pipeline.figures.read_runs import Row, draw

        return draw("reachable-shapes", [Row(record["name"], directory)]).figure
    return run_picture(drawing, chosen_columns(directory, size), title)


def write_picture(directory: Path) -> Path:
    """Draw a run."""
    path = directory / PICTURE
    with replacing(path) as part:
        run_figure(directory).savefig(part, format="png", dpi=DOTS_AN_INCH)
    return path


def write_page(directory: Path) -> Path:
    """Write the report's view of one run: one file that needs no network."""
    record = run_record(directory)
    scene = finished_scene(directory)
    config = record["identity"]["config"]
    template = environment(lambda path: quote(path.name)).get_template("run.html")
    page = template.render(
        name=run_title(record),
        told="; ".join(run_lines(record, directory)),
        style=(TEMPLATES / "report.css").read_text(encoding="utf-8"),
        scene=scene,
        result=list(dict(record["result"]).items()),
        settings=[(name, str(value)) for name, value in flat(config)],
        found=sorted(p for p in directory.iterdir() if p.is_file()),
        library=packed_plotly() if scene else "",
        scripts=[(TEMPLATES / "report.js").read_text(encoding="utf-8")],
    )
    path = directory / PAGE
    write_text(path, page)
    return path


def write_pictures(directory: Path, *, anew: bool = False) -> None:
    """Both, where they are not there yet, or anew."""
    if anew or not (directory / PICTURE).is_file():
        write_picture(directory)
    if anew or not (directory / PAGE).is_file():
        write_page(directory)


MOST_FRAMES = {".gif": 48, ".mp4": 240}
FRAMES_A_SECOND = {".gif": 12, ".mp4": 30}  # at most
LEAST_SECONDS = 6.0  # of a run with few steps
HELD_SECONDS = 2.0  # of the last step, whose legend is longer
FILM_DOTS_AN_INCH = {".gif": 100, ".mp4": 200}


def ffmpeg() -> str:
    """The program that makes MP4; "" where there is none."""
    try:
        from imageio_ffmpeg import get_ffmpeg_exe
    except ImportError:
        return shutil.which("ffmpeg") or ""
    return shutil.which("ffmpeg") or str(get_ffmpeg_exe())


def write_film(directory: Path, shape: MovingShape, suffix: str) -> Path:
    """Write the moving shape of a run into its folder, none of its results.

    Parameters
    ----------
    suffix : .gif, or .mp4, which asks for ffmpeg
    """
    import matplotlib as mpl
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    from analysis.figures.mechanisms import view_of
    from analysis.figures.run_picture import draw_shape

    figure = Figure(figsize=(4.8, 3.6), layout="constrained")
    FigureCanvasAgg(figure)
    kind: Any = {} if shape.flat else {"projection": "3d"}
    axes = figure.add_subplot(**kind)
    steps = frames(len(shape.r), MOST_FRAMES[suffix])
    writer, path = _writer(suffix, len(steps)), directory / f"{FILM}{suffix}"
    seen = np.isfinite(shape.r).all(axis=(0, 2))  # nodes that are there at every step
    view = shape.film_view or view_of(shape.r[:, seen])
    unit, titles = length_unit(run_record(directory)), stamps(directory, len(shape.r))
    look = {"savefig.bbox": None, "animation.ffmpeg_path": ffmpeg() or "ffmpeg"}
    with mpl.rc_context(look), replacing(path) as part:
        film = part.with_suffix(suffix)
        with (
            _made(part, film),
            writer.saving(figure, str(film), dpi=FILM_DOTS_AN_INCH[suffix]),
        ):
            for step in steps:
                axes.clear()
                now = replace(shape, last=shape.r[step], view=view, unit=unit)
                if step != steps[-1]:  # errors are shown at the end only
                    rest = {n: q[:0] for n, q in now.missing.items()}
                    bare = replace(now, held=now.held[:0], loads=now.loads[:, :0])
                    now = replace(bare, missing=rest)
                draw_shape(axes, now)
                axes.set_title(titles[step], fontsize=7, loc="left", family="monospace")
                if (legend := axes.get_legend()) and shape.folds:
                    legend.set_title("at the end", prop={"size": 6})
                writer.grab_frame()
            for _ in range(round(HELD_SECONDS * writer.fps) - 1):
                writer.grab_frame()
    return path


@contextmanager
def _made(part: Path, film: Path) -> Iterator[None]:
    """Keep a whole film only, as `part`; other output of ffmpeg is printed."""
    chatty = logging.getLogger("matplotlib.animation")
    chatty.setLevel(logging.ERROR)
    try:
        yield
        film.replace(part)
    except subprocess.CalledProcessError as error:
        why = (error.stderr or "").strip().rpartition("\n")[2] or "no reason given"
        raise RunFailedError(
            f"ffmpeg failed with status {error.returncode} ({why}): use --gif instead"
        ) from error
    finally:
        film.unlink(missing_ok=True)


def _writer(suffix: str, count: int) -> "AbstractMovieWriter":
    """Of a film of `count` frames, which few do not rush through."""
    from matplotlib.animation import FFMpegWriter, PillowWriter

    kind = PillowWriter if suffix == ".gif" else FFMpegWriter
    return kind(fps=min(FRAMES_A_SECOND[suffix], max(1, round(count / LEAST_SECONDS))))


def stamps(directory: Path, steps: int) -> list[str]:
    """What stands above each step: its time in s, or its number, as steps.csv says."""
    name, values = next(iter(chosen_columns(directory).items()), ("", np.empty(0)))
    if name not in AXES or len(values) != steps:
        return [""] * steps
    if "step" in name:
        return [f"{name} {value:g}" for value in values]
    largest = float(np.abs(values).max()) or 1.0
    digits = max(0, 2 - int(np.floor(np.log10(largest))))  # three figures at the end
    return [f"{value:.{digits}f} s" for value in values]


def frames(steps: int, most: int) -> list[int]:
    """Evenly chosen steps, each once, first and last among them."""
    chosen = np.unique(np.linspace(0, steps - 1, min(steps, most)).astype(int))
    return [int(step) for step in chosen]
